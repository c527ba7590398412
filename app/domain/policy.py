"""The settings that a plan depends on."""

from dataclasses import dataclass

from app.domain.agent import Mode
from app.domain.relation import Judge, Judgment, Operation


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings a plan depends on."""

    max_closures: int = 3
    core_inheritance: str = "any"
    signals_sure: float = 0.7
    model_sure: float = 0.8
    may_merge: bool = True
    may_supersede: bool = True
    may_delete: bool = True
    fallback: str = "add"
    mode: Mode = Mode.LIVE
    human_review: bool = False

    def mode_of(self, chosen: Mode | None) -> Mode:
        """The mode of an agent that chose one, or none; where a person must see every change, live is shadow."""
        mode = chosen or self.mode
        return Mode.SHADOW if mode is Mode.LIVE and self.human_review else mode

    def is_sure(self, judgment: Judgment) -> bool:
        """Whether a judgment is confident enough to be acted on."""
        return judgment.confidence >= (
            self.model_sure if judgment.decided_by is Judge.MODEL else self.signals_sure
        )

    def allows_operation(self, operation: Operation) -> bool:
        """Whether judgments may lead to this operation (reference 003's `enable_*`)."""
        switches = {
            Operation.MERGE: self.may_merge,
            Operation.UPDATE: self.may_supersede,
            Operation.DELETE: self.may_delete,
        }
        return switches.get(operation, True)
