"""The settings that a plan depends on."""

from dataclasses import dataclass

from app.domain.agent import Mode
from app.domain.relation import Judge, Judgment, Operation


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that a plan depends on. No `max_closures_per_hour`, 0, is no limit."""

    max_closures: int = 3
    max_closures_per_hour: int = 10
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
        """Return the mode of an agent that chose this one, or none.

        If a person must see every change, live means shadow.
        """
        mode = chosen or self.mode
        return Mode.SHADOW if mode is Mode.LIVE and self.human_review else mode

    def is_sure(self, judgment: Judgment) -> bool:
        """Return True if the judgment is confident enough to be acted on."""
        by_model = judgment.decided_by is Judge.MODEL
        return judgment.confidence >= (self.model_sure if by_model else self.signals_sure)

    def allows_operation(self, operation: Operation) -> bool:
        """Return True if judgments may lead to this operation (`enable_*` in reference 003)."""
        match operation:
            case Operation.MERGE:
                return self.may_merge
            case Operation.UPDATE:
                return self.may_supersede
            case Operation.DELETE:
                return self.may_delete
            case _:
                return True
