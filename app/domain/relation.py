"""Relations of incoming facts to stored ones, their effects, and the judgments that state them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from app.domain.relationship import LinkType


class Operation(StrEnum):
    """An operation, by the name that the log gives it (DESIGN §1)."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    SUPERSEDE = "SUPERSEDE"
    NOOP = "NOOP"
    AMEND = "AMEND"
    REVERT = "REVERT"
    ERASE = "ERASE"


class Relation(StrEnum):
    """The relation of an incoming fact to a stored one (DESIGN §1)."""

    DUPLICATE = "DUPLICATE"
    UPDATE = "UPDATE"
    CONTRADICTION = "CONTRADICTION"
    RETRACTION = "RETRACTION"
    COMPLEMENT = "COMPLEMENT"
    OVERLAP = "OVERLAP"
    NONE = "NONE"

    @property
    def effect(self) -> "Effect":
        return _EFFECTS[self]


@dataclass(frozen=True, slots=True)
class Effect:
    """The consequences of a relation.

    `operation` is the operation that the relation leads to. `ends_stored`: the stored fact ends.
    `stores_incoming`: the incoming fact is stored. `always_inherits_core`: the incoming fact
    becomes core if the stored one is, whatever the policy says. `link` is the link from an
    incoming fact that was stored without carrying the relation out. `verb` says what the incoming
    fact would do to the stored one.
    """

    operation: Operation
    ends_stored: bool = False
    stores_incoming: bool = True
    always_inherits_core: bool = False
    link: LinkType | None = None
    verb: str = "changes"

    @property
    def changes_stored(self) -> bool:
        return self.operation is not Operation.ADD


_EFFECTS = {
    Relation.DUPLICATE: Effect(
        operation=Operation.NOOP,
        stores_incoming=False,
    ),
    Relation.UPDATE: Effect(
        operation=Operation.UPDATE,
        ends_stored=True,
        link=LinkType.CONTRADICTS,
        verb="replaces",
    ),
    Relation.CONTRADICTION: Effect(
        operation=Operation.UPDATE,
        ends_stored=True,
        always_inherits_core=True,
        link=LinkType.CONTRADICTS,
        verb="replaces",
    ),
    Relation.RETRACTION: Effect(
        operation=Operation.DELETE,
        ends_stored=True,
        link=LinkType.CONTRADICTS,
        verb="ends",
    ),
    Relation.COMPLEMENT: Effect(
        operation=Operation.MERGE,
        verb="completes",
    ),
    Relation.OVERLAP: Effect(operation=Operation.ADD, link=LinkType.RELATED_TO),
    Relation.NONE: Effect(operation=Operation.ADD),
}
"""The one table of relations: a new relation is a member of `Relation` and a row here."""


class Judge(StrEnum):
    """The one who made a judgment or a decision."""

    CALLER = "caller"
    RULE = "rule"
    SIGNALS = "signals"
    LOCAL = "judge"
    MODEL = "model"
    FALLBACK = "fallback"
    SWEEP = "sweep"
    REVIEWER = "reviewer"
    AGENT = "agent"


class Classify(StrEnum):
    """The judges that a store asks (classifyBeforeWrite in reference 000, and more)."""

    OFF = "off"
    RULES = "rules"
    SIGNALS = "signals"
    CASCADE = "cascade"
    MODEL = "model"

    @property
    def reads_signals(self) -> bool:
        return self in (Classify.SIGNALS, Classify.CASCADE, Classify.MODEL)

    @property
    def asks_model(self) -> bool:
        return self in (Classify.CASCADE, Classify.MODEL)


LOCAL_FINDING = "local_judge"
"""The name of what the local judge itself found, among the findings of signals."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One named reason for a relation; `confidence` is its measured reliability, 0 to 1."""

    name: str
    relation: Relation
    confidence: float
    explanation: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """The relation that one judge sees, whether or not it decided; `confidence` is 0 to 1."""

    decided_by: Judge
    relation: Relation
    confidence: float
    reasoning: str


@dataclass(frozen=True, slots=True)
class Judgment:
    """A relation to one stored memory; `confidence` is between 0 and 1.

    `findings` are the signals that fired. `vetoes` say why the two facts cannot be about the same
    thing. `flag` marks a relation that is plausible but unproven, so that somebody should be asked.
    `akin`: the two facts have something in common, so that a veto is worth logging. `opinions` are
    those of all judges of the memory, the overruled ones included. If judges `disagree`, one of
    them saw a change and another none. `new_text` is what the memory is to read: of a complement,
    both facts in one text; of an update that ends only a part of it, the text with that part
    changed.
    """

    memory_id: UUID
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: Judge
    findings: tuple[Finding, ...] = ()
    vetoes: tuple[str, ...] = ()
    flag: bool = False
    akin: bool = True
    opinions: tuple[Opinion, ...] = ()
    disagree: bool = False
    new_text: str | None = None

    @property
    def ends_whole(self) -> bool:
        """Return True if the stored fact ends, and not only a part of it."""
        return self.relation.effect.ends_stored and self.new_text is None


@dataclass(frozen=True, slots=True)
class ModelCost:
    """The cost of a call of the model: HTTP calls, tokens and milliseconds.

    `trouble` says why the model's answer, or a part of it, was not used.
    """

    model: str
    prompt_version: str
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    trouble: str | None = None

    def with_later(self, later: "ModelCost") -> "ModelCost":
        """Return the cost of this call and a later one; the trouble is that of the later one."""
        return replace(
            later,
            llm_calls=self.llm_calls + later.llm_calls,
            prompt_tokens=self.prompt_tokens + later.prompt_tokens,
            completion_tokens=self.completion_tokens + later.completion_tokens,
            ms=self.ms + later.ms,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """The reason for an operation."""

    relation: Relation
    confidence: float
    decided_by: Judge
    reasoning: str
    findings: tuple[Finding, ...] = ()

    @classmethod
    def certain(cls, relation: Relation, decided_by: Judge, reasoning: str) -> "Decision":
        """Return a decision as rules and callers make it: with full confidence."""
        return cls(relation, 1.0, decided_by, reasoning)

    @classmethod
    def from_judgment(cls, judgment: Judgment) -> "Decision":
        return cls(
            relation=judgment.relation,
            confidence=judgment.confidence,
            decided_by=judgment.decided_by,
            reasoning=judgment.reasoning,
            findings=judgment.findings,
        )


# Two judgments whose confidences differ by no more than this are a tie.
TIE = 0.05


@dataclass(frozen=True, slots=True)
class Choice:
    """The operation that judgments lead to.

    `acts_on`: the judgments that the operation carries out, the surest first. `flagged`: the
    judgments that a person should look at.
    """

    operation: Operation
    acts_on: tuple[Judgment, ...] = ()
    flagged: tuple[Judgment, ...] = ()


def decide_operation(judgments: Sequence[Judgment], is_sure: Callable[[Judgment], bool]) -> Choice:
    """Return the operation that the most confident judgment leads to.

    `is_sure` says whether a judgment is confident enough for its judge. If two sure judgments tie
    and lead to different operations, they stop each other: the fact is added, and both are flagged.
    """
    sure: list[Judgment] = []
    flagged: list[Judgment] = []
    for judgment in judgments:
        effect = judgment.relation.effect
        if not effect.changes_stored:
            continue
        if is_sure(judgment) and not judgment.flag:
            sure.append(judgment)
        elif effect.operation is not Operation.NOOP:
            flagged.append(judgment)
    if not sure:
        return Choice(Operation.ADD, flagged=tuple(flagged))
    sure.sort(key=lambda judgment: -judgment.confidence)
    return _choose_among_sure(sure, flagged)


def _choose_among_sure(sure: Sequence[Judgment], flagged: Sequence[Judgment]) -> Choice:
    """Return what the surest judgment leads to, unless a rival ties with it.

    Whatever ends something agrees with other endings. If the fact takes the place of one memory, it
    stands for all that ended.
    """
    best = sure[0]
    effect = best.relation.effect
    agreeing: list[Judgment] = []
    rivals: list[Judgment] = []
    for judgment in sure:
        other = judgment.relation.effect
        if other.operation is effect.operation or (other.ends_stored and effect.ends_stored):
            agreeing.append(judgment)
        elif best.confidence - judgment.confidence <= TIE:
            rivals.append(judgment)
    if rivals:
        return Choice(Operation.ADD, flagged=(best, *rivals, *flagged))
    if not effect.ends_stored:
        return Choice(effect.operation, tuple(agreeing[:1]), tuple(flagged))
    # A stable sort: the surest stay first among those that the fact replaces.
    agreeing.sort(key=lambda judgment: judgment.relation is Relation.RETRACTION)
    return Choice(agreeing[0].relation.effect.operation, tuple(agreeing), tuple(flagged))
