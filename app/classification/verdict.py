"""What is judged of a fact: its candidates, and the verdict on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from app.classification.local.reading import Reading
from app.classification.names import RenamedText
from app.domain.relation import Judgment, ModelCost
from app.domain.version import Memory


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored memory to compare with a fact.

    `similarity` is the cosine of their vectors; None if the memory was not ranked by its vector.
    """

    memory: Memory
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgments on the candidates, in order, and the model's cost.

    `look_again` is the reason for another look, if there is one. `retracts` is True if the fact
    says that something ended. If the `gate_closed`, a model is set and was not asked.
    `knows_language` is False if candidates were judged and nobody reads the language of the fact.
    """

    judgments: tuple[Judgment, ...] = ()
    model_cost: ModelCost | None = None
    look_again: str | None = None
    retracts: bool = False
    gate_closed: bool = False
    knows_language: bool = True


@dataclass(frozen=True, slots=True)
class LocalVerdict:
    """What signals and the local judge say, without a model.

    `texts` are those of the candidates as they were read, and `readings` are what the local judge
    read of them, both by the candidates' ids. It reads no candidate that is far away, and nothing
    at all unless it `can_read` the fact, whose language it may lack.
    """

    verdict: Verdict = field(default_factory=Verdict)
    texts: Mapping[UUID, RenamedText] = field(default_factory=dict)
    readings: Mapping[UUID, Reading] = field(default_factory=dict)
    can_read: bool = False

    @property
    def ends_something(self) -> bool:
        """Return True if a stored fact ends by the verdict, and not only by a review of it."""
        return any(each.ends_whole and not each.flag for each in self.verdict.judgments)
