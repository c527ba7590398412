"""What the service takes and answers.

Written by scripts/generate_client.py from the OpenAPI document; do not edit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from palimpsest_client.requests import Id, Time

__all__ = [
    "AcceptRequest",
    "ActorOut",
    "AgentOut",
    "AgentPatch",
    "AgentsAnswer",
    "AnswerItem",
    "AnsweredOut",
    "AnswersAnswer",
    "AnswersRequest",
    "BandOut",
    "BatchAnswer",
    "BatchRequest",
    "BeliefOut",
    "BeliefsAnswer",
    "BelievedVersionOut",
    "BriefAnswered",
    "BriefAnswersAnswer",
    "BriefBatchAnswer",
    "BriefCandidate",
    "BriefCaptureAnswer",
    "BriefCaptureSummary",
    "BriefCapturedFact",
    "BriefCapturesAnswer",
    "BriefContextAnswer",
    "BriefDecideAnswer",
    "BriefDecided",
    "BriefHistoryAnswer",
    "BriefListAnswer",
    "BriefMemory",
    "BriefOperation",
    "BriefPart",
    "BriefResult",
    "BriefRevertAnswer",
    "BriefRevertsAnswer",
    "BriefReview",
    "BriefReviewDetail",
    "BriefReviewsAnswer",
    "BriefSearchAnswer",
    "BriefStoreAnswer",
    "BriefTurn",
    "BriefWriteAnswer",
    "CandidateOut",
    "CaptureAnswer",
    "CaptureState",
    "CapturedFactOut",
    "CapturedMessageOut",
    "CapturesAnswer",
    "ChainLengthsOut",
    "ChurnOut",
    "Classify",
    "ContextAnswer",
    "ContextItemOut",
    "ContextQuestionOut",
    "CountsOut",
    "CoverOut",
    "DatedByOut",
    "DecideAnswer",
    "DecideRequest",
    "DecidedOut",
    "DecisionOut",
    "DecisionRequest",
    "DeliveryOut",
    "DerivedSlotOut",
    "DoctorAnswer",
    "EndAnswer",
    "EndRequest",
    "EndedOut",
    "ErasureAnswer",
    "ErasureRequest",
    "EventKind",
    "EventOut",
    "EventsAnswer",
    "ExtractBy",
    "FeedEvent",
    "FindingOut",
    "FlipFlopOut",
    "Health",
    "HealthProblem",
    "HintName",
    "HintOut",
    "HistoryAnswer",
    "HoldingOut",
    "InsightsAnswer",
    "IssuedKeyOut",
    "JointOut",
    "Judge",
    "JudgmentOut",
    "KeyOut",
    "KeyRequest",
    "KeysAnswer",
    "Kind",
    "KindLivesOut",
    "LengthOut",
    "Lifespan",
    "LifetimesOut",
    "LinkAnswer",
    "LinkRequest",
    "LinkType",
    "ListAnswer",
    "ListedCapture",
    "LogAnswer",
    "LogEntryOut",
    "LongChainOut",
    "MemoryOut",
    "MessageRequest",
    "MessagesRequest",
    "Mode",
    "ModelOut",
    "NamedMemoryOut",
    "NewWebhookOut",
    "Operation",
    "OperationOut",
    "Origin",
    "PartOut",
    "PatchRequest",
    "Precision",
    "Problem",
    "QuoteOut",
    "Ready",
    "ReceiptOut",
    "Relation",
    "RelationshipOut",
    "RelationshipsAnswer",
    "ReplicaOut",
    "ResultOut",
    "RetireRateOut",
    "RetractRequest",
    "RevertAnswer",
    "RevertRequest",
    "RevertsAnswer",
    "RevertsRequest",
    "ReviewDetailOut",
    "ReviewFilterFields",
    "ReviewOut",
    "ReviewSource",
    "ReviewStatus",
    "ReviewsAnswer",
    "Role",
    "RotateRequest",
    "Scope",
    "SearchAnswer",
    "SearchRequest",
    "Section",
    "ShadowReport",
    "SignalOut",
    "SignalRecordOut",
    "SkipReason",
    "SkippedOut",
    "SlotLivesOut",
    "SlotOut",
    "SlotRequest",
    "StaleConstraintOut",
    "StaleOut",
    "StatsOut",
    "Status",
    "StoreAnswer",
    "StoreRequest",
    "StrengthsOut",
    "SupersedeRequest",
    "SupersededOut",
    "SweepOut",
    "SweepRequest",
    "SweepStatus",
    "SweepSummary",
    "SweepsAnswer",
    "SweptSlotOut",
    "Tier",
    "TurnOut",
    "UndoRequest",
    "UnreadableAgentOut",
    "UsageOut",
    "ValueOut",
    "Version",
    "View",
    "WebhookOut",
    "WebhookRequest",
    "WebhookWithDeliveriesOut",
    "WebhooksAnswer",
    "WhyAnswer",
    "WindowOut",
    "WriteAnswer",
]

CaptureState = Literal["pending", "done", "failed"]

Classify = Literal["off", "rules", "signals", "cascade", "model"]

DatedByOut = TypedDict(
    "DatedByOut",
    {
        "text": str,
        "span": list[int],
        "from": str | None,
        "until": str | None,
        "precision": "Precision",
    },
)

EventKind = Literal[
    "ADD",
    "UPDATE",
    "DELETE",
    "MERGE",
    "SUPERSEDE",
    "NOOP",
    "AMEND",
    "REVERT",
    "ERASE",
    "KEPT_APART",
    "NOT_DONE",
    "PROPOSED",
    "DECIDED",
]

ExtractBy = Literal["network", "model", "off"]

HintName = Literal[
    "unstable_slot",
    "flip_flop",
    "conflicts_with_constraint",
    "similar_rejected_before",
    "ends_nothing_stored",
    "forgets_nothing_stored",
    "repetition_not_joined",
    "date_left_open",
    "language_not_read",
]

Judge = Literal[
    "caller", "rule", "signals", "judge", "model", "fallback", "sweep", "reviewer", "agent"
]

Kind = Literal["fact", "preference", "decision", "constraint"]

Lifespan = Literal["session", "project", "permanent"]

LinkType = Literal[
    "references",
    "contradicts",
    "expands",
    "similar",
    "sequential",
    "causes",
    "enables",
    "supersedes",
    "merged_into",
    "related_to",
]

Mode = Literal["live", "shadow", "frozen"]

Operation = Literal[
    "ADD", "UPDATE", "DELETE", "MERGE", "SUPERSEDE", "NOOP", "AMEND", "REVERT", "ERASE"
]

Origin = Literal["store", "request", "schedule"]

Precision = Literal["instant", "day", "week", "month", "quarter", "season", "year", "decade"]

Relation = Literal[
    "DUPLICATE", "UPDATE", "CONTRADICTION", "RETRACTION", "COMPLEMENT", "OVERLAP", "NONE"
]

ReviewSource = Literal[
    "low_confidence",
    "judges_disagree",
    "shadow",
    "frozen",
    "constraint",
    "cap",
    "trust",
    "sweep",
    "fallback",
]

ReviewStatus = Literal["pending", "accepted", "rejected", "expired", "overtaken"]

Role = Literal["user", "assistant", "system", "tool"]

Scope = Literal["read", "write", "review", "erase", "admin"]

Section = Literal[
    "churn",
    "flip_flops",
    "lifetimes",
    "retire_rates",
    "signals",
    "stale_constraints",
    "chain_lengths",
]

SkipReason = Literal[
    "event",
    "question",
    "wish",
    "quotation",
    "small_talk",
    "code",
    "table",
    "log",
    "request",
    "assistant",
    "other_role",
    "repeated_context",
    "unsupported",
    "unclear_pronoun",
    "redacted",
    "left_out",
    "not_personal",
    "no_statement",
    "language_not_read",
]

Status = Literal[
    "current",
    "scheduled",
    "covered",
    "superseded",
    "retracted",
    "merged",
    "expired",
    "reverted",
    "erased",
]

SweepStatus = Literal["queued", "running", "done", "failed", "cancelled"]

Tier = Literal["core", "semantic"]

View = Literal["full", "brief"]


class AcceptRequest(TypedDict):
    """An acceptance, and what it is about if the review names several memories."""

    note: NotRequired[str | None]
    """A reason, for people."""
    memories: NotRequired[Sequence[Id] | None]
    """The ids of the candidates that the review is right about. A review that leaves a choice
    needs them."""


class ActorOut(TypedDict):
    """Who calls, and what the key of the call allows."""

    actor: str
    """The name in the log: `root`, `anonymous`, `key:` and an id, or `token:` …"""
    scopes: "list[Scope]"
    """The kinds of calls that the key allows."""
    agents: list[str]
    """Ids of agents; `acme/*`: all below; `*`: all."""
    agent: str | None
    """The agent of a call that names none; null if every call must name one."""
    trust_ceiling: int
    """The highest trust that calls with this key may give, 0 to 100."""
    expires_at: str | None
    """When it ends; null: never."""


class AgentOut(TypedDict):
    """An agent, and how much it knows."""

    agent_id: str
    """Whose memories these are: the value of X-Agent-Id."""
    created_at: str
    """When it was first written to."""
    last_known_at: str | None
    """The known time of its last write."""
    mode: "Mode | None"
    """What becomes of changes; null: as the settings say."""
    timezone: str | None
    """The time zone of the dates in its words; null: as the settings say."""
    memories: int
    """Versions stored, those that no longer hold included."""


class AgentPatch(TypedDict):
    """What to change about an agent. What is left out stays."""

    mode: NotRequired["Mode | str | None"]
    """live, shadow or frozen; null: as the settings say."""
    timezone: NotRequired[str | None]
    """The time zone in which the dates in its words are read, by its IANA name, such as
    Europe/Lisbon; null: as the settings say."""


class AgentsAnswer(TypedDict):
    """Agents in order of their ids."""

    items: "list[AgentOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class AnswerItem(TypedDict):
    """An answer to one question."""

    question: str
    """The handle in the question, `4f2a01`, or the id of its review."""
    choice: list[str] | str
    """The letters of what ended, or is so; `none`, or an empty list, for none."""
    note: NotRequired[str | None]
    """Why, for the log."""


class AnsweredOut(TypedDict):
    """What one answer came to."""

    question: str
    """As the call named it."""
    review_id: str | None
    """Null if no review waits or waited under that name."""
    result: "WriteAnswer | Problem"
    """What came of it: the answer to the write, or a problem."""


class AnswersAnswer(TypedDict):
    """One result per answer, in order: what a decision answers, or a problem."""

    results: "list[AnsweredOut]"
    """One result for each entry, in order."""


class AnswersRequest(TypedDict):
    """Answers of the agent's own model, each for itself."""

    answers: "Sequence[AnswerItem]"
    """One for each question."""


class BandOut(TypedDict):
    """Proposals of one relation, judge and confidence band."""

    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    decided_by: str
    """Which judge proposed them."""
    confidence_from: float
    """The band is a tenth wide."""
    proposed: int
    """How many changes were proposed."""
    accepted: int
    """How many of them a person accepted."""
    rejected: int
    """How many of them a person rejected."""
    pending: int
    """How many reviews wait."""
    expired: int
    """How many were never decided, because what they were about changed."""
    overtaken: int
    """Closed because another decision settled them."""
    precision: float | None
    """Accepted among the accepted and rejected."""
    examples: list[str]
    """The latest reviews of the band."""


class BatchAnswer(TypedDict):
    """One result per item, in order: what a single store answers, or a problem."""

    waiting: dict[str, int]
    """How many of the items left a change that was not made and waits for a decision, by the
    source of its review, most first; empty if none did. `cap`: one store, or judges within
    an hour, may end no more; a `history` has no cap of an hour."""
    results: "list[StoreAnswer | Problem]"
    """One result for each entry, in order."""


class BatchRequest(TypedDict):
    """Facts to store in order. Each item is a store request; one that cannot be stored fails
    alone unless `atomic`. An item takes no `dry_run`."""

    items: "Sequence[StoreRequest]"
    """The entries of this page."""
    atomic: NotRequired[bool]
    """true: one bad item refuses the whole batch. Default: a bad item fails alone."""
    history: NotRequired[bool]
    """The items are a history that the caller vouches for: judges may end as many memories as
    they find, and these endings do not count against `PALIMPSEST_MAX_CLOSURES_PER_HOUR`.
    The key needs a trust ceiling of 100."""


class BeliefOut(TypedDict):
    """What was believed of a version's place in the chain, for a stretch of known time."""

    known_from: str
    """The known time from which it was believed."""
    known_until: str | None
    """Null: it is still believed. If a version's last belief here ended, it left the chain."""
    valid_from: str
    """When it became true in the world."""
    valid_until: str | None
    """Null: no end was believed."""
    said_until: str | None
    """The end that was stated."""
    temporary: bool
    """It covered what came before it, and ended none of it."""
    covered: "list[CoverOut]"
    """The times in which it did not hold, because temporary memories covered it."""
    withdrawn: bool
    """true: it was believed never to have been true."""
    retracted_at: str | None
    """When it was retracted; null: it was not."""
    superseded_by: str | None
    """The memory that replaced it; null: none has."""


class BeliefsAnswer(TypedDict):
    """The beliefs by which versions stand or stood in a chain. Each covers a rectangle: from
    `valid_from` to `valid_until`, as believed from `known_from` to `known_until`."""

    chain_id: str
    """The chain of successive versions of one fact; all of them have the same."""
    versions: "list[BelievedVersionOut]"
    """What stands or once stood in the chain, in the order of `created_at`."""
    truncated: bool
    """True if the earliest were left out: of over 200 versions or 2,000 beliefs."""


class BelievedVersionOut(TypedDict):
    """A version that stands or once stood in a chain, with the beliefs by which it did."""

    id: str
    """Its id."""
    content: str | None
    """Null if it was erased."""
    kind: "Kind"
    """What sort of statement: fact, preference, decision or constraint."""
    created_at: str
    """When it became known to the service."""
    erased_at: str | None
    """When it was erased; null: it was not."""
    beliefs: "list[BeliefOut]"
    """In the order in which they became known."""


class BriefAnswered(TypedDict):
    """What one answer came to."""

    question: str
    """As the call named it."""
    review_id: NotRequired[str | None]
    """Left out if there is no such review."""
    result: "BriefWriteAnswer | Problem"
    """What deciding it came to."""


class BriefAnswersAnswer(TypedDict):
    """One result per answer, in order."""

    results: "list[BriefAnswered]"
    """One result for each entry, in order."""


class BriefBatchAnswer(TypedDict):
    """One result per item, in order."""

    waiting: NotRequired[dict[str, int]]
    """How many changes wait for a decision, by the source of their reviews."""
    results: "list[BriefStoreAnswer | Problem]"
    """One result for each entry, in order."""


class BriefCandidate(TypedDict):
    """A stored memory that the question may concern; `sentence` has its text."""

    letter: str
    """Its letter in the question, by which an answer chooses it."""
    memory_id: str
    """The memory concerned."""


class BriefCaptureAnswer(TypedDict):
    """How far the messages of a call are read, and the facts."""

    capture_id: NotRequired[str | None]
    """Left out on a dry run."""
    state: "CaptureState"
    """How it stands."""
    total: int
    """Messages of this capture, without the repeated ones."""
    done: int
    """How many of them have been read."""
    facts: "list[BriefCapturedFact]"
    """In the order of the messages."""
    trouble: NotRequired[str | None]
    """Why the model's answer, or a part of it, was not used."""
    error: NotRequired[str | None]
    """What stopped it last."""
    dry_run: NotRequired[bool]
    """Whether nothing was written, because the call asked only what would happen."""


class BriefCaptureSummary(TypedDict):
    """How far the messages of a call are read."""

    capture_id: str
    """What GET /v1/captures/ID takes."""
    session_id: NotRequired[str | None]
    """Left out where the session was erased."""
    state: "CaptureState"
    """How it stands."""
    total: int
    """Its messages, without the repeated ones."""
    done: int
    """How many of them have been read."""
    received_at: str
    """When it arrived."""
    error: NotRequired[str | None]
    """What stopped it last."""


class BriefCapturedFact(TypedDict):
    """A fact that was read from a message, and what became of it."""

    position: int
    """The place of its message in the call, from 0."""
    content: NotRequired[str | None]
    """Left out where it was erased."""
    operation: NotRequired["Operation | None"]
    """Left out where it waits as a review, or for a `problem`."""
    memory_id: NotRequired[str | None]
    """The memory that says it."""
    superseded: NotRequired["list[SupersededOut]"]
    """What it ended. Left out in answers of later calls."""
    log_id: NotRequired[str | None]
    """What undoes it."""
    review_id: NotRequired[str | None]
    """The review that waits for a person."""
    problem: NotRequired[str | None]
    """Why it could not be stored."""
    repeated: NotRequired[bool]
    """An earlier capture has its message, and stored it."""


class BriefCapturesAnswer(TypedDict):
    """A page of captures, newest first."""

    items: "list[BriefCaptureSummary]"
    """The entries of this page."""
    next_cursor: NotRequired[str | None]
    """Send it as `cursor` for the next page; null: this page is the last."""


class BriefContextAnswer(TypedDict):
    """What holds, as text for a prompt."""

    text: str
    """The words."""
    tokens: int
    """Tokens of the text, by estimate."""
    left_out: NotRequired[int]
    """How many others hold that did not fit."""
    questions: NotRequired["list[ContextQuestionOut]"]
    """The questions in the text."""


class BriefDecideAnswer(TypedDict):
    """One result per review, in order."""

    results: "list[BriefDecided]"
    """One result for each entry, in order."""


class BriefDecided(TypedDict):
    """What became of one review."""

    review_id: str
    """The review; null where there is none."""
    result: "BriefWriteAnswer | Problem"
    """What deciding it came to."""


class BriefHistoryAnswer(TypedDict):
    """The line of a memory, oldest first, and the operations on it."""

    current: NotRequired[str | None]
    """The version that holds at as_of."""
    versions: "list[BriefMemory]"
    """The versions, oldest first."""
    joints: NotRequired["list[JointOut]"]
    """Where it goes on in another chain."""
    operations: "list[BriefOperation]"
    """What changed them."""
    next_cursor: NotRequired[str | None]
    """Send it as `cursor` for the next page; null: this page is the last."""


class BriefListAnswer(TypedDict):
    """A page of memories."""

    items: "list[BriefMemory]"
    """The entries of this page."""
    next_cursor: NotRequired[str | None]
    """Send it as `cursor` for the next page; null: this page is the last."""
    strength_as_of: NotRequired[str | None]
    """The order is that of the strengths at this time, if it is there."""


class BriefMemory(TypedDict):
    """A version in brief."""

    id: str
    """Its id."""
    content: NotRequired[str | None]
    """Left out where it was erased."""
    status: "Status"
    """How it stands at the moment of the answer."""
    valid_from: str
    """When it became true in the world."""
    valid_until: NotRequired[str | None]
    """Left out where no end is known."""
    stale: NotRequired[bool]
    """What it rests on has ended: look whether it is still right."""


class BriefOperation(TypedDict):
    """One operation."""

    id: str
    """Its id."""
    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    target_memory_id: NotRequired[str | None]
    """The memory that it made or changed."""
    reasoning: str
    """The reasons in words."""
    created_at: str
    """When it became known to the service."""


class BriefPart(TypedDict):
    """A part of a text that was split, and what storing it came to."""

    text: str
    """The words."""
    answer: "BriefWriteAnswer | Problem"
    """What storing it came to."""


class BriefResult(TypedDict):
    """A memory found, and how well it matches."""

    id: str
    """Its id."""
    content: NotRequired[str | None]
    """Left out where it was erased."""
    status: "Status"
    """How it stands at the moment of the answer."""
    valid_from: str
    """When it became true in the world."""
    valid_until: NotRequired[str | None]
    """Left out where no end is known."""
    stale: NotRequired[bool]
    """What it rests on has ended: look whether it is still right."""
    score: float
    """The chance that it answers the question, 0 to 1, beside the others that may."""
    in_question: NotRequired[list[str]]
    """The reviews that wait and concern it."""


class BriefRevertAnswer(TypedDict):
    """What undoing did; `superseded` names what it withdrew."""

    operation: NotRequired["Operation | None"]
    """Left out where the agent is frozen and the fact waits as a review."""
    memory: NotRequired["BriefMemory | None"]
    """The memory concerned; null where there is none to show."""
    superseded: NotRequired["list[SupersededOut]"]
    """What it ended."""
    log_id: NotRequired[str | None]
    """What undoes it. Left out on a dry run."""
    review_id: NotRequired[str | None]
    """The review that waits for a person."""
    question: NotRequired[str | None]
    """That review, for the agent's own model."""
    dry_run: NotRequired[bool]
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired[list[str]]
    """What should be known before acting on it."""
    stale: NotRequired[list[str]]
    """What rests on a memory that it ended."""
    reverted: list[str]
    """The operations undone, newest first."""


class BriefRevertsAnswer(TypedDict):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[str]
    """The operations undone."""
    results: "list[BriefWriteAnswer]"
    """What undoing each of them did."""
    dry_run: NotRequired[bool]
    """Whether nothing was written, because the call asked only what would happen."""


class BriefReview(TypedDict):
    """A change that waits for a person, or waited."""

    id: str
    """Its id."""
    status: "ReviewStatus"
    """How it stands at the moment of the answer."""
    source: "ReviewSource"
    """Where it comes from, such as a file or a tool."""
    sentence: str
    """The question, with both texts."""
    candidates: NotRequired["list[BriefCandidate]"]
    """What the question may concern."""
    memory_id: NotRequired[str | None]
    """The fact that was stored beside, for now."""
    note: NotRequired[str | None]
    """What the person said who decided it."""
    created_at: str
    """When it became known to the service."""


class BriefReviewDetail(TypedDict):
    """A review with what accepting it now would do."""

    id: str
    """Its id."""
    status: "ReviewStatus"
    """How it stands at the moment of the answer."""
    source: "ReviewSource"
    """Where it comes from, such as a file or a tool."""
    sentence: str
    """The question, with both texts."""
    candidates: NotRequired["list[BriefCandidate]"]
    """What the question may concern."""
    memory_id: NotRequired[str | None]
    """The fact that was stored beside, for now."""
    note: NotRequired[str | None]
    """What the person said who decided it."""
    created_at: str
    """When it became known to the service."""
    before: NotRequired["list[BriefMemory]"]
    """What it is about, as it stands."""
    after: NotRequired["list[BriefMemory]"]
    """The same, once it is accepted."""
    obstacle: NotRequired[str | None]
    """Why it cannot be accepted as things are."""


class BriefReviewsAnswer(TypedDict):
    """A page of reviews, newest first."""

    items: "list[BriefReview]"
    """The entries of this page."""
    next_cursor: NotRequired[str | None]
    """Send it as `cursor` for the next page; null: this page is the last."""


class BriefSearchAnswer(TypedDict):
    """Best first."""

    results: "list[BriefResult]"
    """One result for each entry, in order."""
    turns: NotRequired["list[BriefTurn]"]
    """Messages, if they were to be searched."""
    window: NotRequired["WindowOut | None"]
    """The time that the query asks about."""
    truncated: NotRequired[bool]
    """Others were found: narrow the search."""


class BriefStoreAnswer(TypedDict):
    """What a store did; of a text that was split, what the first of its parts did."""

    operation: NotRequired["Operation | None"]
    """Left out where the agent is frozen and the fact waits as a review."""
    memory: NotRequired["BriefMemory | None"]
    """The memory concerned; null where there is none to show."""
    superseded: NotRequired["list[SupersededOut]"]
    """What it ended."""
    log_id: NotRequired[str | None]
    """What undoes it. Left out on a dry run."""
    review_id: NotRequired[str | None]
    """The review that waits for a person."""
    question: NotRequired[str | None]
    """That review, for the agent's own model."""
    dry_run: NotRequired[bool]
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired[list[str]]
    """What should be known before acting on it."""
    stale: NotRequired[list[str]]
    """What rests on a memory that it ended."""
    parts: NotRequired["list[BriefPart]"]
    """The parts of a text that was split, in order."""


class BriefTurn(TypedDict):
    """A message that was found."""

    role: "Role"
    """Who spoke."""
    name: NotRequired[str | None]
    """Its name."""
    content: str
    """The fact in words."""
    said_at: str
    """When it was said."""
    score: float
    """The chance that it answers the question, 0 to 1, beside the others that may."""


class BriefWriteAnswer(TypedDict):
    """What a write did."""

    operation: NotRequired["Operation | None"]
    """Left out where the agent is frozen and the fact waits as a review."""
    memory: NotRequired["BriefMemory | None"]
    """The memory concerned; null where there is none to show."""
    superseded: NotRequired["list[SupersededOut]"]
    """What it ended."""
    log_id: NotRequired[str | None]
    """What undoes it. Left out on a dry run."""
    review_id: NotRequired[str | None]
    """The review that waits for a person."""
    question: NotRequired[str | None]
    """That review, for the agent's own model."""
    dry_run: NotRequired[bool]
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired[list[str]]
    """What should be known before acting on it."""
    stale: NotRequired[list[str]]
    """What rests on a memory that it ended."""


class CandidateOut(TypedDict):
    """A stored memory the fact was compared with; `relation` is null where nothing certain can
    be said."""

    id: str
    """Its id."""
    content: str
    """The fact in words."""
    similarity: float | None
    """Cosine of the two texts, -1 to 1."""
    relation: "Relation | None"
    """How the fact stands to this one; null: it was not judged."""
    confidence: float | None
    """How sure the judge was, 0 to 1; null: it was not judged."""
    reasoning: str | None
    """The reasons in words."""
    signals: "list[SignalOut]"
    """The reasons that rules found, each with a confidence."""
    vetoes: list[str]
    """Why the two cannot be about the same thing."""


class CaptureAnswer(TypedDict):
    """The messages of a call, how far they are read, and the facts of each."""

    capture_id: str | None
    """Null on a dry run."""
    session_id: str | None
    """Null if the session was erased."""
    state: "CaptureState"
    """How it stands."""
    extract: "ExtractBy"
    """What was asked to read the facts."""
    extractor: "ExtractBy | None"
    """What read them. `rules` if the model failed for a part of them."""
    trouble: str | None
    """Why the model's answer, or a part of it, was not used."""
    trust: int
    """The trust of the facts."""
    redacted: int
    """Secrets that were taken out of the messages."""
    total: int
    """Messages of this capture, without the repeated ones."""
    done: int
    """How many of them have been read."""
    repeated: int
    """Messages of the call that an earlier capture has."""
    error: str | None
    """What stopped it last."""
    received_at: str
    """When it arrived."""
    due_at: str | None
    """A worker reads it then, if no further messages of the session come before."""
    finished_at: str | None
    """When it ended; null: not yet."""
    dry_run: bool
    """Whether nothing was stored, because the call asked what would be."""
    messages: "list[CapturedMessageOut]"
    """The messages, each with the facts read from it and what became none."""


class CapturedFactOut(TypedDict):
    """A fact that was read from a message, and what became of it."""

    content: str | None
    """Null if it was erased, or if the message is too old."""
    quotes: "list[QuoteOut]"
    """The words that it rests on, the speaker's own first. Facts of one sentence have the same
    quotes."""
    operation: "Operation | None"
    """Null if the agent is frozen and it waits as a review, or for a `problem`."""
    memory_id: str | None
    """The memory that says it."""
    log_id: str | None
    """The operation in the log; null where none was written."""
    review_id: str | None
    """The review; null where there is none."""
    problem: str | None
    """Why it could not be stored."""
    answer: "WriteAnswer | Problem | None"
    """What storing it came to. Null in answers of later calls."""


class CapturedMessageOut(TypedDict):
    """A message, the facts that were read from it, and what of it became no fact."""

    position: int
    """Its place in the call, from 0."""
    id: str | None
    """The id that the caller gave it; null: none."""
    role: "Role"
    """Who spoke."""
    name: str | None
    """The name of the speaker; null: none."""
    content: str | None
    """As it is stored: without secrets, and with spaces for parts that were erased. Null if no
    word is left, or if it is too old."""
    at: str
    """When it was said."""
    capture_id: str
    """The capture that has it."""
    repeated: bool
    """True if an earlier capture has it. It was not stored again."""
    done: bool
    """False while its facts are not read yet."""
    facts: "list[CapturedFactOut]"
    """The facts that were read from it, and what became of each."""
    skipped: "list[SkippedOut]"
    """The parts that became no fact, each with the reason."""


class CapturesAnswer(TypedDict):
    """Captures, newest first; the messages of each stand in the capture itself."""

    items: "list[ListedCapture]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class ChainLengthsOut(TypedDict):
    """How many versions chains have; withdrawn ones are not counted."""

    histogram: "list[LengthOut]"
    """The shortest first, all of them."""
    longest: "list[LongChainOut]"
    """The longest first."""


class ChurnOut(TypedDict):
    """How often another value followed."""

    slot: "SlotOut | None"
    """Null where no key was given."""
    chain_id: str | None
    """Null where the slot holds one value at a time: then all its chains are one line of
    values."""
    content: str | None
    """Text of the newest value; null where it was erased."""
    current: str | None
    """The value that holds now."""
    kind: "Kind"
    """Of what came. A slot whose values are of several kinds has an entry for each."""
    changes: int
    """How often the value changed."""
    first_changed_at: str
    """In valid time."""
    last_changed_at: str
    """In valid time."""
    memory_ids: list[str]
    """The values, newest first; 20 at most."""
    versions: int
    """How many values there are in all."""


class ContextAnswer(TypedDict):
    """What holds, by kind, most useful first: as text for a prompt, and as items in the order
    of the text."""

    text: str
    """The context as text, ready for a prompt."""
    tokens: int
    """Tokens of the text, by the same estimate."""
    items: "dict[str, list[ContextItemOut]]"
    """The memories of the text, by kind."""
    left_out: int
    """How many others hold that did not fit. Equal texts count once where both were read. In a
    large agent, which has an index, no more than 3,000 are counted."""
    questions: "list[ContextQuestionOut]"
    """The open questions at the end of the text: POST /v1/reviews/answers."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class ContextItemOut(TypedDict):
    """A memory, the line it takes in the text, how useful it is, 0 to 1, and what should be
    known before acting on it."""

    memory: "MemoryOut"
    """The memory concerned; null where there is none to show."""
    line: str
    """The line of the text that stands for it."""
    usefulness: float
    """What it was chosen by: strength, and nearness to the query."""
    in_question: list[str]
    """The reviews that wait and ask whether it ended, or whether it ends another."""
    hints: "list[HintOut]"
    """`unstable_slot`, `flip_flop`: ask before acting on it."""


class ContextQuestionOut(TypedDict):
    """A question that waits, and the line it takes in the text."""

    review_id: str
    """The review; null where there is none."""
    handle: str
    """What names it in an answer, as the id of the review does."""
    line: str
    """The line of the text that stands for it."""
    letters: dict[str, str]
    """The memories that its letters stand for."""


class CountsOut(TypedDict):
    """What a sweep came to, so far."""

    superseded: NotRequired[int]
    """Memories ended in favour of another."""
    covered: NotRequired[int]
    """Memories that one with a stated end covers until then."""
    duplicates: NotRequired[int]
    """Memories withdrawn because another says the same."""
    retracted: NotRequired[int]
    """Memories ended because another tells of their end."""
    merged: NotRequired[int]
    """Pairs of memories made into one."""
    reviews: NotRequired[int]
    """Questions to a person."""
    postponed: NotRequired[int]
    """Memories to be looked at again: their judges failed, or something moved meanwhile."""


class CoverOut(TypedDict):
    """A time in which a memory does not hold because temporary memories cover it."""

    since: str
    """From then on it does not hold."""
    until: str
    """From then on the memory holds again."""


class DecideAnswer(TypedDict):
    """One result per review, in order: what a single decision answers, or a problem."""

    results: "list[DecidedOut]"
    """One result for each entry, in order."""


class DecideRequest(TypedDict):
    """Several decisions at once: these reviews, or the newest pending ones that match, `limit`
    at most."""

    decision: Literal["accept", "reject"] | str
    """`accept` or `reject`."""
    ids: NotRequired[Sequence[Id] | None]
    """The reviews to decide."""
    filter: NotRequired["ReviewFilterFields | None"]
    """Decide every waiting review that fits, instead of those named by `ids`."""
    limit: NotRequired[int | None]
    """With filter: how many at most."""
    memories: NotRequired[Mapping[str, list[str]] | None]
    """To accept: the candidates that are chosen, by the id of their review."""
    note: NotRequired[str | None]
    """A reason, for people."""


class DecidedOut(TypedDict):
    """What became of one review."""

    review_id: str
    """The review that was decided."""
    result: "WriteAnswer | Problem"
    """What came of it: the answer to the write, or a problem."""


class DecisionOut(TypedDict):
    """Why the operation was chosen."""

    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure it is, 0 to 1."""
    decided_by: str
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    reasoning: str
    """The reasons in words."""
    signals: "list[SignalOut]"
    """The reasons that rules found, each with a confidence."""


class DecisionRequest(TypedDict):
    """A decision, with what the person wants to say about it."""

    note: NotRequired[str | None]
    """A reason, for people."""


class DeliveryOut(TypedDict):
    """One try to send a message."""

    message_id: str
    """The header `webhook-id`: the id of the event."""
    type: str
    """`ping`, or `operation.` and the operation."""
    agent_id: str | None
    """Whose event it was; null for a ping."""
    attempt: int
    """Which try of this message it was, from 1."""
    at: str
    """When it was sent."""
    status: int | None
    """The status of the answer; null: there was none."""
    problem: str | None
    """Why it was not taken; null: it was."""
    duration_ms: float
    """How long it took, in milliseconds."""


class DerivedSlotOut(TypedDict):
    """What a text was read to be about. It finds candidates and decides nothing; a key that
    the caller gives wins."""

    entity: str
    """Who or what it is about, such as `user`; part of the slot (entity, category, key), which
    holds one value at a time."""
    key: str
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""
    value: str
    """The value that was read."""


class DoctorAnswer(TypedDict):
    """What does not hold; nothing where all is well."""

    problems: "list[HealthProblem]"
    """The rules that something breaks; empty where all is well."""
    left_out: int
    """How many more there are than the 1,000 told."""


class EndAnswer(TypedDict):
    """What ended."""

    ended: list[str]
    """The memories that ended. None: there was nothing to end, or it ended before."""
    kept: int
    """How many others of it hold at that moment or later: those that live longer, or begin
    after `at`."""
    known_at: str | None
    """The known time of the last of its operations; null where nothing ended."""
    log_ids: list[str]
    """The operation of each memory that ended, in their order."""


class EndRequest(TypedDict):
    """When it ended, and why."""

    at: NotRequired[Time | None]
    """When it ended. Default: now; what has not begun by now is then withdrawn."""
    reason: NotRequired[str | None]
    """Why, for the log."""


class EndedOut(TypedDict):
    """A memory that another is tied to, and that has ended since the tie was made."""

    memory_id: str
    """The memory concerned."""
    type: "LinkType"
    """How the two are tied; the link may go either way."""
    status: "Status"
    """How it ended."""
    ended_at: str
    """When it stopped being true; of one `reverted` or `erased`, when that became known."""


class ErasureAnswer(TypedDict):
    """What was erased, with a receipt."""

    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    erased: list[str]
    """The memories that were erased."""
    receipt: "ReceiptOut"
    """Digests of what was erased, which prove it to whoever has a copy."""
    known_at: str
    """The known time of this write."""
    log_id: str
    """The operation in the log; null where none was written."""
    archives_pending: list[str]
    """Archive files that still hold what was erased, because they could not be removed;
    retention tries again."""


class ErasureRequest(TypedDict):
    """What to erase: exactly one of a chain, a session, the agent."""

    chain_id: NotRequired[Id | None]
    """A fact with all its versions: the id of its chain, or of any version."""
    session_id: NotRequired[str | None]
    """All that was said in a session."""
    agent_id: NotRequired[str | None]
    """Everything of this agent: repeat its id to confirm."""
    cascade: NotRequired[bool]
    """Erase also what the texts were merged into."""


class EventOut(TypedDict):
    """One thing that happened to the memory's chain: an operation, a review, or a fact that
    was kept apart from it."""

    kind: "EventKind"
    """What sort of statement: fact, preference, decision or constraint."""
    at: str
    """When it became known."""
    valid: str | None
    """The moment in valid time that it is about: a start, or an end that moved."""
    sentence: str
    """It in words, for people."""
    log_id: str | None
    """The operation in the log; null where none was written."""
    review_id: str | None
    """The review; null where there is none."""
    decided_by: str | None
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    actor: str | None
    """Who wrote the operation, as `actor` in the log."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float | None
    """How sure it is, 0 to 1."""
    signals: "list[SignalOut]"
    """The reasons that rules found, each with a confidence."""
    memory_ids: list[str]
    """The memories concerned."""


class EventsAnswer(TypedDict):
    """Events in their order, and where to go on."""

    items: "list[FeedEvent]"
    """The entries of this page."""
    after: str
    """Send it as `after` with the next call."""
    archived_until: str | None
    """Up to this time, operations have left the log for archives, and the events begin behind
    it. Null: nothing is left out."""


class FeedEvent(TypedDict):
    """One operation in ids, without any text: `GET /v1/log/{id}` has the whole of it."""

    id: str
    """The operation; where to go on from, too."""
    at: str
    """When it became known to the service."""
    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    memory_id: str | None
    """The memory that it wrote or is about."""
    memory_ids: list[str]
    """The memories that it read to decide, or changed; those that it erased."""
    superseded: list[str]
    """The memories whose place another one took by this operation."""
    review_id: str | None
    """The review that it left."""
    decided_review_id: str | None
    """The review that it decided."""
    reverts: str | None
    """The operation that it undid."""
    decided_by: "Judge"
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    actor: str | None
    """Who wrote it: the caller's key, `anonymous` without one, or a sweep."""


class FindingOut(TypedDict):
    """One thing that a sweep did or asks. The log tells the whole of it: its actor is `sweep:`
    with the sweep's id."""

    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    memory_id: str | None
    """The memory in whose favour."""
    others: list[str]
    """The memories that end, or would."""
    confidence: float
    """How sure it is, 0 to 1."""
    signals: list[str]
    """The reasons that rules found, each with a confidence."""
    review: bool
    """Whether a person is asked."""


class FlipFlopOut(TypedDict):
    """A value that came back after one other: A, B, A."""

    slot: "SlotOut | None"
    """Null where no key was given."""
    chain_id: str | None
    """Null where the slot holds one value at a time: then all its chains are one line of
    values."""
    content: str | None
    """Text of the newest value; null where it was erased."""
    current: str | None
    """The value that holds now."""
    kind: "Kind"
    """Of the value that came back last."""
    returns: int
    """How often a value came back."""
    latest: "list[ValueOut]"
    """The latest return: A, B, and A again."""
    memory_ids: list[str]
    """The values that came back, newest first; 20 at most."""


class Health(TypedDict):
    """All is well."""

    status: str
    """`ok` or `ready`."""


class HealthProblem(TypedDict):
    """A rule that something breaks."""

    agent_id: str
    """Whose memories these are: the value of X-Agent-Id."""
    check: str
    """Which rule: chains, beliefs, log, links, hashes, vectors, ...; docs/operate/doctor.md
    lists them."""
    ids: list[str]
    """The memories, operations, reviews or keys that break it."""
    problem: str
    """What is wrong, in plain words."""
    repairable: bool
    """Whether `palimpsest doctor --repair` can put it right."""


class HintOut(TypedDict):
    """What should be known before acting on a fact."""

    name: "HintName"
    """What the hint warns of."""
    sentence: str
    """It in words, for people."""
    memory_ids: list[str]
    """The memories concerned."""


class HistoryAnswer(TypedDict):
    """The line of a memory, oldest first, and the operations on it: its chain, and the
    versions of other chains that came before or after it. All pages of one history show the
    same picture."""

    chain_id: str
    """The chain of the memory that was asked for."""
    current: str | None
    """The version that holds at as_of, on whichever page: of the memory's chain, else of those
    that took its place."""
    versions: "list[MemoryOut]"
    """The versions, oldest first."""
    joints: "list[JointOut]"
    """Where versions of this page were superseded by one of another chain."""
    operations: "list[OperationOut]"
    """The operations that made and changed these versions, oldest first."""
    next_cursor: str | None
    """For `cursor`: a long history goes on there. Null on its last page."""
    log_archived_until: str | None
    """Where operations were archived since the chain began: the known time of the last. Up to
    then, some may be missing."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class HoldingOut(TypedDict):
    """What holds now."""

    memories: int
    """How many memories."""
    by_kind: dict[str, int]
    """By the kind of memory."""
    by_tier: dict[str, int]
    """How many memories of each tier."""
    by_lifespan: dict[str, int]
    """How many memories of each lifespan."""
    strength: "StrengthsOut"
    """The strengths of those that hold, 0 to 1."""


class InsightsAnswer(TypedDict):
    """What a history tells of itself, as believed now. A section that was not asked for is
    null."""

    churn: "list[ChurnOut] | None"
    """By slot or chain, and kind; the most changes first."""
    flip_flops: "list[FlipFlopOut] | None"
    """By slot or chain; the most returns first."""
    lifetimes: "LifetimesOut | None"
    """How long values hold."""
    retire_rates: "list[RetireRateOut] | None"
    """By judge and confidence; the most undone first."""
    signals: "list[SignalRecordOut] | None"
    """The one that errs most first."""
    stale_constraints: "list[StaleConstraintOut] | None"
    """Those with most against them first, then those affirmed longest ago."""
    chain_lengths: "ChainLengthsOut | None"
    """How many versions the chains have."""
    counted_at: str | None
    """When the sections of a large agent were counted, except stale_constraints; null: now."""
    counted_since: str | None
    """Of a large agent, the newest 5,000 memories, operations and reviews of the window at
    most are counted: what became known from this time on. Sections that were counted at
    `counted_at` count everything. Null: all of the window was counted."""
    log_archived_until: str | None
    """Where operations of that window were archived: the known time of the last. Retire rates
    and signals do not count them."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class IssuedKeyOut(TypedDict):
    """A new key, with its secret."""

    id: str
    """The id of the key, which is no secret."""
    name: str
    """Its name."""
    scopes: "list[Scope]"
    """The kinds of calls that the key allows."""
    agents: list[str]
    """The agents that the key is for: ids, `acme/*` for all with that beginning, or `*`."""
    trust_ceiling: int
    """The highest trust that calls with this key may give, 0 to 100."""
    created_at: str
    """When it became known to the service."""
    created_by: str
    """`root`, `command`, or `key:` and the id of a key."""
    expires_at: str | None
    """When it ends; null: never."""
    revoked_at: str | None
    """When it was revoked; null: it was not."""
    last_used_at: str | None
    """Written once a minute."""
    key: str
    """What callers send. It is shown only here, and stored nowhere."""


class JointOut(TypedDict):
    """A place at which a history goes on in another chain."""

    superseded: str
    """The version after which it goes on elsewhere."""
    by: str
    """The version of another chain that took its place."""


class JudgmentOut(TypedDict):
    """What was said of one stored memory."""

    memory_id: str
    """The memory concerned."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure it is, 0 to 1."""
    reasoning: str
    """The reasons in words."""
    decided_by: str
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    signals: "list[SignalOut]"
    """The reasons that rules found, each with a confidence."""


class KeyOut(TypedDict):
    """A key, without its secret."""

    id: str
    """The id of the key, which is no secret."""
    name: str
    """Its name."""
    scopes: "list[Scope]"
    """The kinds of calls that the key allows."""
    agents: list[str]
    """The agents that the key is for: ids, `acme/*` for all with that beginning, or `*`."""
    trust_ceiling: int
    """The highest trust that calls with this key may give, 0 to 100."""
    created_at: str
    """When it became known to the service."""
    created_by: str
    """`root`, `command`, or `key:` and the id of a key."""
    expires_at: str | None
    """When it ends; null: never."""
    revoked_at: str | None
    """When it was revoked; null: it was not."""
    last_used_at: str | None
    """Written once a minute."""


class KeyRequest(TypedDict):
    """A key to issue."""

    name: str
    """For people: who uses it, and what for."""
    scopes: "Sequence[Scope | str]"
    """The calls that it allows. None contains another."""
    agents: Sequence[str]
    """Ids of agents, `acme/*` for every id that begins with `acme/`, `*` for all."""
    trust_ceiling: NotRequired[int]
    """The highest trust that it may give to a fact, 0 to 100."""
    expires_at: NotRequired[Time | None]
    """When it ends. Default: never."""


class KeysAnswer(TypedDict):
    """Keys in order of their ids, those that have ended included."""

    items: "list[KeyOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class KindLivesOut(TypedDict):
    """Lives of the values of one kind."""

    ended: int
    """How many values have ended; what never held is not counted."""
    open: int
    """How many hold now; their days are not counted."""
    mean_days: float | None
    """The mean of the days that a value held; null where none has ended."""
    median_days: float | None
    """The median of the days that a value held; null where none has ended."""
    memory_ids: list[str]
    """Values that have ended, newest first; 20 at most."""
    kind: "Kind"
    """The kind of memory that these figures are of."""


class LengthOut(TypedDict):
    """How many chains have that many versions."""

    length: int
    """How many versions the chain has."""
    chains: int
    """How many chains are of that length."""


class LifetimesOut(TypedDict):
    """How long values hold."""

    by_kind: "list[KindLivesOut]"
    """By the kind of memory."""
    by_slot: "list[SlotLivesOut]"
    """Of slots and chains in which a value has ended; the shortest mean first."""


class LinkAnswer(TypedDict):
    """The link, and the write that made it: this call, or the one that had made it before."""

    relationship: "RelationshipOut"
    """The link."""
    log_id: str | None
    """The operation in the log; null where none was written."""
    known_at: str
    """The known time of the write that made the link."""


class LinkRequest(TypedDict):
    """A link to another memory. It ends nothing, whatever its type: to put a memory in
    another's place, POST .../supersede."""

    type: "LinkType | str"
    """What the memory of the path is to the target."""
    target_id: Id
    """`id` of the other memory: paste one from the answer to a store, a list or a search."""


class ListAnswer(TypedDict):
    """Memories, newest known first or strongest first. All pages of one list show the same
    picture."""

    items: "list[MemoryOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last. A page of a large
    agent may have fewer items than `limit`, or none, and others follow."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""
    strength_as_of: str | None
    """The order is that of the strengths at this time, which a worker counted; null: that of
    as_of, or the list is not sorted by strength."""


class ListedCapture(TypedDict):
    """A capture in a list: its beginning, and what was read from it."""

    capture_id: str | None
    """Null on a dry run."""
    session_id: str | None
    """Null if the session was erased."""
    state: "CaptureState"
    """How it stands."""
    extract: "ExtractBy"
    """What was asked to read the facts."""
    extractor: "ExtractBy | None"
    """What read them. `rules` if the model failed for a part of them."""
    trouble: str | None
    """Why the model's answer, or a part of it, was not used."""
    trust: int
    """The trust of the facts."""
    redacted: int
    """Secrets that were taken out of the messages."""
    total: int
    """Messages of this capture, without the repeated ones."""
    done: int
    """How many of them have been read."""
    repeated: int
    """Messages of the call that an earlier capture has."""
    error: str | None
    """What stopped it last."""
    received_at: str
    """When it arrived."""
    due_at: str | None
    """A worker reads it then, if no further messages of the session come before."""
    finished_at: str | None
    """When it ended; null: not yet."""
    first_words: str | None
    """Up to 200 characters of its first message; null if no word is left."""
    facts: int
    """Facts that were read from its messages."""
    skipped: int
    """Parts of its messages that became no fact."""


class LogAnswer(TypedDict):
    """Operations, newest first."""

    items: "list[LogEntryOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class LogEntryOut(TypedDict):
    """One operation, with everything it read and wrote."""

    id: str
    """Its id."""
    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    source_memory_ids: list[str]
    """The memories that it started from."""
    target_memory_id: str | None
    """The memory that it made or changed."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure the judge was, 0 to 1; null: nobody was asked."""
    reasoning: str
    """The reasons in words."""
    decided_by: str
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    actor: str | None
    """Who wrote it: the caller's key, `anonymous` without one, or `sweep:` with the sweep's
    id; null for operations from before actors were noted."""
    created_at: str
    """When it became known to the service."""
    review: "ReviewSource | None"
    """The reason of the review that it left, if it left one. An ADD with one is a fact that
    was stored beside what it may change; in shadow mode the reason is shadow."""
    signals: list[Any]
    """The reasons that rules found, each with a confidence."""
    incoming: dict[str, Any] | None
    """What the caller sent; null where it was erased."""
    before_state: list[dict[str, Any]]
    """The memories concerned, before the operation."""
    after_state: list[dict[str, Any]]
    """The memories concerned, after the operation."""
    model: str | None
    """The language model that was asked; null: none."""
    prompt_version: str | None
    """The version of the prompt for the model; null: none was asked."""
    usage: dict[str, Any] | None
    """What the judges cost."""
    duration_ms: float | None
    """How long the operation took, in milliseconds."""
    session_id: str | None
    """The session (conversation) in which it was said."""
    request_id: str | None
    """The X-Request-Id of the call."""
    reverts: str | None
    """The operation that this one undid."""
    reverted_by: str | None
    """The operation that undid this one."""
    chain_hash: str | None
    """SHA-256 in hexadecimal over this operation and the hash of the one before; null for
    operations from before the log was a chain."""
    opinions: list[dict[str, Any]]
    """What each judge said of the memories in which one of them saw a change or a repetition,
    also if its word did not count; ten memories at most. `not_done` has what was proposed
    and not done, and the reason. `vetoes` say why a memory that is alike is about something
    else."""


class LongChainOut(TypedDict):
    """One of the longest chains."""

    chain_id: str
    """The chain of successive versions of one fact; all of them have the same."""
    slot: "SlotOut | None"
    """The entity, category and key it is about; null: no key was named."""
    content: str | None
    """Text of its newest version; null where it was erased."""
    kind: "Kind"
    """What sort of statement: fact, preference, decision or constraint."""
    length: int
    """How many versions the chain has."""
    memory_ids: list[str]
    """Its versions, newest first; 20 at most."""


class MemoryOut(TypedDict):
    """One version, with its status at the (as_of, known_at) of the read."""

    id: str
    """Its id."""
    chain_id: str
    """The chain of successive versions of one fact; all of them have the same."""
    content: str | None
    """Null where it was erased."""
    kind: "Kind"
    """What sort of statement: fact, preference, decision or constraint."""
    status: "Status"
    """How it stands at the moment of the answer."""
    entity: str
    """Who or what it is about, such as `user`; part of the slot (entity, category, key), which
    holds one value at a time."""
    category: str
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: str | None
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""
    value: str | None
    """The value of the key, such as `Helix`, apart from the sentence."""
    single_valued: bool | None
    """Whether its slot holds one value at a time; null: as the key says."""
    valid_from: str
    """When it became true in the world."""
    valid_until: str | None
    """When it stopped being true, or will; null: it holds until further notice."""
    said_until: str | None
    """The end that its words or its caller stated; null: none."""
    temporary: bool
    """It was stored with a stated end: what it covers in its chain resumes then."""
    covered: "list[CoverOut]"
    """The times within which temporary memories cover it, in order."""
    said_at: str
    """When its words were spoken, as far as a caller said so."""
    said_in: str | None
    """The same on all facts that were split from one sentence; null on others."""
    dated_by: "DatedByOut | None"
    """The words that `valid_from` or `valid_until` were read from, when stored."""
    retracted_at: str | None
    """When it was retracted; null: it was not."""
    created_at: str
    """When it became known to the service."""
    erased_at: str | None
    """When it was erased; null: it was not."""
    supersedes_id: str | None
    """The memory that it replaced; null: none."""
    superseded_by: str | None
    """The memory that replaced it; null: none has."""
    superseded_at: str | None
    """When it became known that something newer replaced it."""
    contradicted_by: str | None
    """The later memory whose claim spoke against this one: set when it was superseded, too."""
    merged_from: list[str]
    """The memories whose texts were merged into this one."""
    derived: "DerivedSlotOut | None"
    """What the text was read to be about, where that is safe."""
    tier: "Tier"
    """`core` keeps a floor under its strength; `semantic` fades."""
    importance: float
    """How much it matters, 0 to 1."""
    strength: float
    """0 to 1 at `as_of`: importance, halved once per half-life since it was last said; core
    keeps 0.60. It never hides."""
    access_count: int
    """How often it was said again. A counter of now, no part of the ETag."""
    last_reinforced_at: str | None
    """When it was last said again, if that was known at `known_at`."""
    use_count: int
    """In how many minutes it was answered to a search, a context or by its id. A counter of
    now."""
    last_accessed_at: str | None
    """When it was last used so, if no later than `known_at`."""
    stale_because: "list[EndedOut]"
    """What it rests on and what has ended since: empty, or a reason to look whether it is
    still right. No part of the ETag."""
    confidence: float
    """How sure it is, 0 to 1."""
    trust: int
    """How far its source is trusted, 0 to 100. Less trust ends nothing stated with more."""
    lifespan: "Lifespan"
    """Whether it ends with its session, with its project, or with neither."""
    tags: list[str]
    """Words of your own, to filter by."""
    entities: list[str]
    """Names that the fact mentions."""
    sources: list[str]
    """All that it rests on: documents, addresses, ids of your own."""
    source: str | None
    """Where it comes from, such as a file or a tool."""
    session_id: str | None
    """The session (conversation) in which it was said."""
    project: str | None
    """The project it belongs to, by name."""
    details: dict[str, Any]
    """The free JSON stored with it."""
    etag: str
    """For If-Match."""


class MessageRequest(TypedDict):
    """A message of a session."""

    id: NotRequired[str | None]
    """A name of your own for it, unique in the session. A message whose id the session has
    already is not stored again."""
    role: "Role | str"
    """Who speaks. Facts are read from what users say."""
    name: NotRequired[str | None]
    """The name of the speaker."""
    content: str
    """What was said, in full."""
    at: NotRequired[Time | None]
    """When it was said. Default: now."""


class MessagesRequest(TypedDict):
    """Messages of a session, in the order in which they were said."""

    session_id: NotRequired[str | None]
    """A name of your own for the conversation. Default: a session of the call's own, which the
    answer names."""
    messages: "Sequence[MessageRequest | Mapping[str, Any]]"
    """Together at most 100,000 characters. Each as it is here, or as an SDK writes it
    (docs/guide/messages.md#forms-of-messages)."""
    extract: NotRequired["ExtractBy | str | None"]
    """What reads facts from them. Default: what PALIMPSEST_EXTRACT says. `model` falls back to
    the rules if the model does not answer; `off` stores the messages alone."""
    split: NotRequired[Literal["auto", "off"] | str]
    """off: a sentence of several facts stays one. What a model reads is never split."""
    wait: NotRequired[bool | None]
    """true: answer with the facts. false: answer at once (202); a worker reads the messages
    together with the next of the session, which costs a model far less. Default: false
    where a model reads and PALIMPSEST_CAPTURE_QUIET_SECONDS is not 0."""
    dry_run: NotRequired[bool]
    """true: answer with what would be done and write nothing; for messages of at most 1,000
    facts."""


class ModelOut(TypedDict):
    """The language model, as this process found it."""

    name: str
    """Its name."""
    checked_at: str | None
    """When it was last asked about pairs with known answers; null before."""
    trouble: str | None
    """What is wrong with it and what to do about it; null if nothing is known."""


class NamedMemoryOut(TypedDict):
    """A stored memory that the question may concern."""

    letter: str
    """Its letter in `sentence`, which it keeps."""
    memory_id: str
    """The memory concerned."""
    content: str | None
    """Its text; null once it is erased."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure it is, 0 to 1."""
    valid_from: str | None
    """When it became true in the world."""


class NewWebhookOut(TypedDict):
    """A new webhook, with its secret."""

    id: str
    """Its id."""
    url: str
    """Where events are sent."""
    agents: str
    """Whose events: an agent's id, `acme/*`, or `*` for all."""
    operations: "list[Operation]"
    """Only events of these; empty: all."""
    created_at: str
    """When it became known to the service."""
    created_by: str
    """Who created it, as `actor` in the log."""
    expires_at: str | None
    """When its key ends, and the webhook with it; null: its key has no end."""
    failures: int
    """How many tries failed in a row."""
    next_try_at: str | None
    """When what failed is tried again; null: nothing has to wait."""
    disabled_at: str | None
    """When it was disabled; null: it is not."""
    disabled_because: str | None
    """Why it was disabled."""
    secret: str
    """What the receiver verifies signatures with. It is shown only here."""


class OperationOut(TypedDict):
    """One operation, in short."""

    id: str
    """Its id."""
    operation: "Operation"
    """What was done: ADD, UPDATE, NOOP and so on."""
    source_memory_ids: list[str]
    """The memories that it started from."""
    target_memory_id: str | None
    """The memory that it made or changed."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure it is, 0 to 1."""
    reasoning: str
    """The reasons in words."""
    decided_by: str
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    actor: str | None
    """Who wrote it: the caller's key, `anonymous` without one, or `sweep:` with the sweep's
    id; null for operations from before actors were noted."""
    created_at: str
    """When it became known to the service."""


class PartOut(TypedDict):
    """A part of a text that was split."""

    text: str
    """The words."""
    span: list[int]
    """The words of the request that belong to this part alone: characters from 0, the end
    excluded."""
    answer: "WriteAnswer | Problem"
    """What storing it came to."""


class PatchRequest(TypedDict):
    """Corrections. What is left out stays; `valid_until: null` opens the stated end. Content
    is never changed: supersede it."""

    valid_from: NotRequired[Time]
    """When it became true in the world. Also taken as `validFrom`."""
    valid_until: NotRequired[Time | None]
    """When it stopped being true, or will; null: it holds until further notice. Also taken as
    `validUntil`."""
    tier: NotRequired["Tier | str"]
    """`core` keeps a floor under its strength; `semantic` fades."""
    importance: NotRequired[float]
    """How much it matters, 0 to 1."""
    confidence: NotRequired[float]
    """How sure it is, 0 to 1."""
    tags: NotRequired[Sequence[str]]
    """Words of your own, to filter by."""
    entities: NotRequired[Sequence[str]]
    """Names that the fact mentions."""
    sources: NotRequired[Sequence[str]]
    """All that it rests on: documents, addresses, ids of your own."""
    source: NotRequired[str | None]
    """Where it comes from, such as a file or a tool."""
    session_id: NotRequired[str | None]
    """The session (conversation) in which it was said."""
    project: NotRequired[str | None]
    """The project it belongs to, by name."""
    trust: NotRequired[int]
    """How far its source is trusted, 0 to 100. Less trust ends nothing stated with more."""
    lifespan: NotRequired["Lifespan | str"]
    """Whether it ends with its session, with its project, or with neither."""
    details: NotRequired[Mapping[str, Any]]
    """Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30
    digits and texts of at most 16000 characters, none of them NUL."""


class Problem(TypedDict):
    """An error (RFC 9457). `detail` says what to do; further members carry ids."""

    type: str
    """A name for this kind of problem, which does not change."""
    title: str
    """The problem in a few words."""
    status: int
    """The status of the answer."""
    detail: str
    """What is the case, and what to do about it."""


class QuoteOut(TypedDict):
    """A verbatim part of a message."""

    capture_id: str
    """The capture that has the message."""
    position: int
    """The place of the message in that capture, from 0."""
    message_id: str | None
    """The caller's own `id` of the message."""
    role: "Role"
    """Who said it."""
    start: int
    """Characters of the message, from 0, secrets taken out before."""
    end: int
    """Where it ends: characters from 0, the end excluded."""
    text: str | None
    """Null if it was erased, or if the message is too old."""


class Ready(TypedDict):
    """The service can serve. Without its replicas it still can: the primary answers then.
    Without its model it can too: facts are judged without one."""

    status: str
    """How it stands at the moment of the answer."""
    replicas: "list[ReplicaOut]"
    """The read replicas of the settings."""
    model: "ModelOut | None"
    """The model of the settings; null if there is none."""


class ReceiptOut(TypedDict):
    """Proof of what was erased, for whoever kept the text: HMAC-SHA256 of it (UTF-8) under
    `key`, in hexadecimal."""

    algorithm: str
    """How the digests were made."""
    key: str | None
    """Told once and kept nowhere: null where a retry gets this answer again."""
    digests: dict[str, str]
    """A digest of each erased text, by the id of its memory."""


class RelationshipOut(TypedDict):
    """A link from one memory to another."""

    source_id: str
    """The memory from which the link goes."""
    target_id: str
    """The memory to which the link goes."""
    type: "LinkType"
    """What the source is to the target."""
    strength: float
    """How firmly its type ties: 0.8 for similar and related_to, 1.0 for the others."""
    created_at: str
    """The known time of the write that made it."""
    log_id: str | None
    """The operation that made it; reverting that one removes it."""


class RelationshipsAnswer(TypedDict):
    """The links of a memory in both directions, latest first. All pages of one list show the
    same picture."""

    items: "list[RelationshipOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class ReplicaOut(TypedDict):
    """A read replica, as this process sees it."""

    name: str
    """Its host and port."""
    used: bool
    """Whether reads go to it."""
    lag_seconds: float | None
    """How old its answers may be, at most; null if that is not known."""
    trouble: str | None
    """Why it is refused; null if it is not. Too much lag alone is no trouble."""


class ResultOut(TypedDict):
    """A memory found, how well it matches and why it holds."""

    memory: "MemoryOut"
    """The memory concerned; null where there is none to show."""
    score: float
    """The chance that it answers the question, 0 to 1, beside the others that may."""
    scores: dict[str, float]
    """`vector`: cosine; `text`: how much the rare words in common say."""
    why: str
    """Since when it holds and what it replaced, in a sentence."""
    in_question: list[str]
    """The reviews that wait and ask whether it ended, or whether it ends another."""


class RetireRateOut(TypedDict):
    """What one judge decided with a confidence in one band."""

    decided_by: str
    """Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer."""
    confidence_from: float
    """The band begins with it."""
    confidence_to: float
    """The band ends before it; the last one with it."""
    decided: int
    """Stores that were decided so, and what sweeps changed."""
    retired: int
    """Those of them that ended something: UPDATE, DELETE, SUPERSEDE."""
    rate: float
    """Retired among the decided."""
    reverted: int
    """Of the retired, those undone since."""
    log_ids: list[str]
    """Of the retired: those undone first, newest first; 20 at most."""


class RetractRequest(TypedDict):
    """How a memory ends without a successor: `at` a time, or as `never_true`."""

    at: NotRequired[Time | None]
    """When it stopped being true. Default: now."""
    reason: NotRequired[str | None]
    """Why, for people and for the log."""
    never_true: NotRequired[bool]
    """true: it was never true; what it replaced holds again."""


class RevertAnswer(TypedDict):
    """What undoing did; `superseded` names what it withdrew."""

    operation: "Operation | None"
    """Null where the agent is frozen and the fact waits as a review."""
    memory: "MemoryOut | None"
    """The memory concerned; null where there is none to show."""
    superseded: "list[SupersededOut]"
    """What it ended."""
    decision: "DecisionOut"
    """The relation that the write rests on, who found it and why."""
    candidates: "list[CandidateOut]"
    """The stored memories that the fact was compared with, and what was judged."""
    adjusted: list[str]
    """Others whose interval moved."""
    known_at: str
    """The known time of this write."""
    log_id: str | None
    """Null on a dry run."""
    review_id: str | None
    """The review that waits for a person, if this write left one."""
    question: NotRequired[str | None]
    """That review as one line for the agent's own model, which answers it by POST
    /v1/reviews/answers; null if there is none, or if only a person may decide it."""
    usage: "UsageOut"
    """What the judges cost."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired["list[HintOut]"]
    """What should be known before acting on it."""
    stale: NotRequired["list[StaleOut]"]
    """What rests on a memory that it ended, and holds on: look whether it is still right."""
    reverted: list[str]
    """The operations undone, newest first: with cascade, those built on it too."""


class RevertRequest(TypedDict):
    """How an operation is undone."""

    cascade: NotRequired[bool]
    """Undo first what was built on it; without this, 409 lists that."""
    store: NotRequired[bool]
    """Of a NOOP or DELETE: store what was said as a memory of its own too."""


class RevertsAnswer(TypedDict):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[str]
    """The operations that were undone."""
    results: "list[WriteAnswer]"
    """What undoing each of them did."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""


class RevertsRequest(TypedDict):
    """Which operations to undo: those that meet all criteria, of which one at least is needed.
    Those that were undone before are left out."""

    log_ids: NotRequired[Sequence[Id] | None]
    """These operations of the log."""
    operation: NotRequired["Operation | str | None"]
    """Only operations of this kind."""
    sweep_id: NotRequired[Id | None]
    """What a sweep did."""
    request_id: NotRequired[str | None]
    """X-Request-Id of the call that did them: a batch, an import."""
    session_id: NotRequired[str | None]
    """Only operations of this session."""
    source: NotRequired[str | None]
    """`source` of the facts that were sent."""
    decided_by: NotRequired["Judge | str | None"]
    """Which judge decided."""
    actor: NotRequired[str | None]
    """Who wrote them, as `actor` in the log. With `since`: all that a key wrote since then."""
    since: NotRequired[Time | None]
    """From this time on."""
    until: NotRequired[Time | None]
    """Up to this time."""
    capture_id: NotRequired[Id | None]
    """What stored the facts of a capture."""
    cascade: NotRequired[bool]
    """Undo also what was built on them; without this, 409 lists that."""
    dry_run: NotRequired[bool]
    """true: answer with what would be undone and write nothing."""


class ReviewDetailOut(TypedDict):
    """A review with what accepting it now would do."""

    id: str
    """Its id."""
    status: "ReviewStatus"
    """How it stands at the moment of the answer."""
    source: "ReviewSource"
    """Where it comes from, such as a file or a tool."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    sentence: str
    """The question, with both texts."""
    content: str | None
    """The text of what is new; null once it is erased."""
    candidates: "list[NamedMemoryOut]"
    """What the question may concern, likeliest first. While it waits, only what no other
    decision has ended."""
    judgments: "list[JudgmentOut]"
    """What each judge said of each memory concerned."""
    memory_id: str | None
    """The fact that was stored beside, for now."""
    held: dict[str, Any] | None
    """The store that a frozen agent keeps back."""
    log_id: str | None
    """The operation in the log; null where none was written."""
    decision_log_id: str | None
    """The operation that the decision led to."""
    note: str | None
    """A reason, for people."""
    created_at: str
    """When it became known to the service."""
    decided_at: str | None
    """When a person decided it; null while it waits."""
    before: "list[MemoryOut]"
    """The memory as it is without the change."""
    after: "list[MemoryOut]"
    """The memory as it would be after the change."""
    obstacle: str | None
    """Why it cannot be accepted as things are."""


class ReviewFilterFields(TypedDict):
    """What reviews are narrowed to."""

    source: NotRequired["ReviewSource | str | None"]
    """Where it comes from, such as a file or a tool."""
    relation: NotRequired["Relation | str | None"]
    """How the incoming fact stands to the stored one."""
    memory_id: NotRequired[Id | None]
    """The fact stored beside, or a memory that the proposal is about."""
    min_confidence: NotRequired[float | None]
    """Only those whose judge was at least so sure, 0 to 1."""


class ReviewOut(TypedDict):
    """A change that waits for a person, or waited."""

    id: str
    """Its id."""
    status: "ReviewStatus"
    """How it stands at the moment of the answer."""
    source: "ReviewSource"
    """Where it comes from, such as a file or a tool."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    sentence: str
    """The question, with both texts."""
    content: str | None
    """The text of what is new; null once it is erased."""
    candidates: "list[NamedMemoryOut]"
    """What the question may concern, likeliest first. While it waits, only what no other
    decision has ended."""
    judgments: "list[JudgmentOut]"
    """What each judge said of each memory concerned."""
    memory_id: str | None
    """The fact that was stored beside, for now."""
    held: dict[str, Any] | None
    """The store that a frozen agent keeps back."""
    log_id: str | None
    """The operation in the log; null where none was written."""
    decision_log_id: str | None
    """The operation that the decision led to."""
    note: str | None
    """A reason, for people."""
    created_at: str
    """When it became known to the service."""
    decided_at: str | None
    """When a person decided it; null while it waits."""


class ReviewsAnswer(TypedDict):
    """Reviews, newest first."""

    items: "list[ReviewOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class RotateRequest(TypedDict):
    """How a key is replaced."""

    overlap: NotRequired[int]
    """Seconds for which the old key still works, so that callers can change."""


class SearchAnswer(TypedDict):
    """Best first."""

    results: "list[ResultOut]"
    """The memories found, best first."""
    turns: "list[TurnOut]"
    """Messages, if they were to be searched."""
    window: "WindowOut | None"
    """The time that the words of the query ask about, if they were read so."""
    truncated: bool
    """True if others were found, but the answer is as large as one may be
    (`PALIMPSEST_MAX_ANSWER_BYTES`). Narrow the search to see them."""
    approximate: bool
    """True if the agent's index found the results: one that is nearer may be missing. `exact`
    rules that out."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class SearchRequest(TypedDict):
    """A search. Without dates: what holds now, as far as is known."""

    kind: NotRequired["Kind | str | None"]
    """What sort of statement: fact, preference, decision or constraint."""
    entity: NotRequired[str | None]
    """Who or what it is about, such as `user`; part of the slot (entity, category, key), which
    holds one value at a time."""
    category: NotRequired[str | None]
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: NotRequired[str | None]
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""
    session_id: NotRequired[str | None]
    """The session (conversation) in which it was said."""
    project: NotRequired[str | None]
    """The project it belongs to, by name."""
    said_in: NotRequired[Id | None]
    """The facts that were split from one sentence."""
    tags_any: NotRequired[Sequence[str]]
    """Only memories with at least one of these tags."""
    tags_all: NotRequired[Sequence[str]]
    """Only memories with all of these tags."""
    min_importance: NotRequired[float | None]
    """Only memories of at least this importance, 0 to 1."""
    query: str
    """What to search for, in words. Also taken as `q`."""
    details: NotRequired[Mapping[str, Any] | None]
    """Only memories whose `details` hold all of this, nested too; of a list, some of its
    values."""
    limit: NotRequired[int]
    """How many entries at most."""
    mode: NotRequired[Literal["hybrid", "vector", "text"] | str]
    """How to search: by meaning (`vector`), by words (`text`), or by both."""
    min_score: NotRequired[float]
    """Leave out results that score lower, 0 to 1."""
    focus: NotRequired[bool]
    """Leave out what hardly answers: results below a score of 0.03."""
    include: NotRequired[Sequence[Literal["turns"]]]
    """`turns`: search messages, too, by meaning and words. They are answered beside the
    results."""
    sort: NotRequired[Literal["score", "strength"] | str]
    """Order of the memories found: best match first, or strongest first. It never hides one."""
    as_of: NotRequired[Time | None]
    """What was true at that time. Also taken as `asOf`."""
    known_at: NotRequired[Time | None]
    """As far as was known at that time. Also taken as `knownAt`."""
    include_superseded: NotRequired[bool]
    """Search every version, not only what holds. Also taken as `includeSuperseded`."""
    exact: NotRequired[bool]
    """Look at every memory, even if the agent has an index. An agent without one is always
    searched like that."""
    read_dates: NotRequired[bool]
    """Read words such as "in March", "last week" or "since 2024" as the time that the question
    asks about: what held then is searched too, and comes first, above all what began or
    ended then. The answer shows the `window`. Only questions about the present are read so."""


class ShadowReport(TypedDict):
    """What shadow mode would have changed, so that thresholds can be chosen before going live."""

    bands: "list[BandOut]"
    """The proposals by relation, judge and confidence."""


class SignalOut(TypedDict):
    """A named reason, with its measured reliability."""

    name: str
    """Its name."""
    relation: "Relation"
    """How the incoming fact stands to the stored one."""
    confidence: float
    """How sure it is, 0 to 1."""
    explanation: str
    """The reason in words."""


class SignalRecordOut(TypedDict):
    """How what one signal led to fared, and how people decided what it proposed. Compare
    `confidence_here` with `confidence`."""

    name: str
    """Its name."""
    stand: int
    """Operations that it led to, alone or with others, and that stand."""
    reverted: int
    """Operations that it led to and that were undone."""
    accepted: int
    """Reviews of its proposals that a person accepted."""
    rejected: int
    """Reviews of its proposals that a person rejected."""
    expired: int
    """How many were never decided, because what they were about changed."""
    pending: int
    """How many reviews wait."""
    overruled: int
    """Stores in which it fired, and another judge's word counted more."""
    error_rate: float | None
    """(reverted + rejected) / (stand + reverted + accepted + rejected); null where nothing was
    decided."""
    confidence: float | None
    """What the table of confidences says; null where it does not know the signal."""
    confidence_here: float | None
    """What these figures say by the table's formula, (right + 1) / (right + wrong + 2); null
    where nothing was decided."""
    log_ids: list[str]
    """The operations: those undone first, newest first; 20 at most."""
    review_ids: list[str]
    """The reviews: those rejected first, newest first; 20 at most."""


class SkippedOut(TypedDict):
    """A part of a message that became no fact."""

    text: str | None
    """The words."""
    start: int
    """Where it begins: characters from 0."""
    end: int
    """Where it ends: characters from 0, the end excluded."""
    reason: "SkipReason"
    """Why, for people and for the log."""


class SlotLivesOut(TypedDict):
    """Lives of the values of one slot or chain."""

    slot: "SlotOut | None"
    """Null where no key was given."""
    chain_id: str | None
    """Null where the slot holds one value at a time: then all its chains are one line of
    values."""
    content: str | None
    """Text of the newest value; null where it was erased."""
    current: str | None
    """The value that holds now."""
    ended: int
    """How many values have ended; what never held is not counted."""
    open: int
    """How many hold now; their days are not counted."""
    mean_days: float | None
    """The mean of the days that a value held; null where none has ended."""
    median_days: float | None
    """The median of the days that a value held; null where none has ended."""
    memory_ids: list[str]
    """Values that have ended, newest first; 20 at most."""


class SlotOut(TypedDict):
    """What values are about, in the words of the newest."""

    entity: str
    """Who or what it is about, such as `user`; part of the slot (entity, category, key), which
    holds one value at a time."""
    category: str
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: str
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""


class SlotRequest(TypedDict):
    """One slot, in the words of its memories."""

    entity: NotRequired[str | None]
    """Default: user."""
    category: NotRequired[str | None]
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: str
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""


class StaleConstraintOut(TypedDict):
    """A constraint that holds and may not be meant any more."""

    memory_id: str
    """The memory concerned."""
    slot: "SlotOut | None"
    """The entity, category and key it is about; null: no key was named."""
    content: str | None
    """Null where it was erased."""
    valid_from: str
    """Since when it holds."""
    last_affirmed_at: str
    """When it was last stored, confirmed or corrected."""
    days: int
    """Since then."""
    reasons: list[str]
    """Why it is here, in words."""
    contradictions: int
    """Later facts that contradict it."""
    contradicted_by: list[str]
    """Those facts, newest first; 20 at most."""
    pending: int
    """Reviews that would end it and wait."""
    rejected: int
    """Such reviews that were rejected."""
    review_ids: list[str]
    """Those reviews, newest first; 20 at most."""


class StaleOut(TypedDict):
    """A memory that holds, though what it rests on has ended: look whether it is still right."""

    memory_id: str
    """The memory concerned."""
    stale_because: "list[EndedOut]"
    """What it rests on and what has ended since."""


class StatsOut(TypedDict):
    """An agent in numbers, of one moment."""

    agent_id: str
    """Whose memories these are: the value of X-Agent-Id."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    first_known_at: str | None
    """The known time of the oldest operation in the log."""
    last_known_at: str | None
    """The known time of the last write."""
    memories: int
    """Versions stored, those that no longer hold included."""
    by_status: dict[str, int]
    """How many versions have each status."""
    holding: "HoldingOut"
    """The memories that hold at that moment."""
    chains: int
    """Facts with all their versions."""
    crowded_slots: int
    """Slots that hold one value at a time, where several memories hold: unclassified or kept
    apart."""
    beliefs: int
    """Earlier beliefs kept for reads at an earlier `known_at`."""
    relationships: int
    """How many links there are."""
    look_again: int
    """Memories whose judges gave no answer, or whose candidates moved meanwhile."""
    stale: int
    """Memories that hold and rest on one that has ended (`stale_because`)."""
    text_bytes: int
    """Bytes of the contents in UTF-8."""
    operations: int
    """How many operations the log has."""
    log_head: str | None
    """`chain_hash` of the last operation. Keep it outside of this service: the log up to there
    cannot be changed without another hash. Null before the first operation."""
    log_length: int
    """Operations in the chain that `log_head` ends."""
    by_operation: dict[str, int]
    """How many operations of each kind the log has."""
    by_operation_last_week: dict[str, int]
    """How many of them became known in the seven days before `as_of`."""
    by_judge: dict[str, int]
    """Who decided them."""
    reviews: dict[str, int]
    """How many reviews there are, by status."""


class StoreAnswer(TypedDict):
    """What a store did; of a text that was split, what the first of its parts did."""

    operation: "Operation | None"
    """Null where the agent is frozen and the fact waits as a review."""
    memory: "MemoryOut"
    """The memory concerned; null where there is none to show."""
    superseded: "list[SupersededOut]"
    """What it ended."""
    decision: "DecisionOut"
    """The relation that the write rests on, who found it and why."""
    candidates: "list[CandidateOut]"
    """The stored memories that the fact was compared with, and what was judged."""
    adjusted: list[str]
    """Others whose interval moved."""
    known_at: str
    """The known time of this write."""
    log_id: str | None
    """Null on a dry run."""
    review_id: str | None
    """The review that waits for a person, if this write left one."""
    question: NotRequired[str | None]
    """That review as one line for the agent's own model, which answers it by POST
    /v1/reviews/answers; null if there is none, or if only a person may decide it."""
    usage: "UsageOut"
    """What the judges cost."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired["list[HintOut]"]
    """What should be known before acting on it."""
    stale: NotRequired["list[StaleOut]"]
    """What rests on a memory that it ended, and holds on: look whether it is still right."""
    parts: NotRequired["list[PartOut]"]
    """The parts of a text that was split, in order; else empty."""


class StoreRequest(TypedDict):
    """A fact to store."""

    content: str
    """The fact in words."""
    kind: NotRequired["Kind | str | None"]
    """Default `fact`."""
    entity: NotRequired[str | None]
    """Who or what it is about. Default `user`."""
    category: NotRequired[str | None]
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: NotRequired[str | None]
    """Which attribute. A key holds one value at a time unless `single_valued` is false."""
    value: NotRequired[str | None]
    """The value of the key, such as `Helix`, apart from the sentence."""
    single_valued: NotRequired[bool | None]
    """Whether its slot holds one value at a time; null: as the key says."""
    details: NotRequired[Mapping[str, Any]]
    """Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30
    digits and texts of at most 16000 characters, none of them NUL. Of a decision:
    rationale, alternatives, related_files."""
    tier: NotRequired["Tier | str | None"]
    """`core` keeps a floor under its strength; `semantic` fades."""
    importance: NotRequired[float | None]
    """0 to 1. Default 0.5."""
    confidence: NotRequired[float | None]
    """0 to 1. Default 1."""
    tags: NotRequired[Sequence[str]]
    """Words of your own, to filter by."""
    entities: NotRequired[Sequence[str]]
    """Names that the fact mentions."""
    sources: NotRequired[Sequence[str]]
    """All that it rests on: documents, addresses, ids of your own."""
    source: NotRequired[str | None]
    """Where it comes from, such as a file or a tool."""
    session_id: NotRequired[str | None]
    """The session (conversation) in which it was said."""
    project: NotRequired[str | None]
    """The project it belongs to, by name."""
    trust: NotRequired[int | None]
    """0 to 100. Default 50."""
    lifespan: NotRequired["Lifespan | str | None"]
    """Whether it ends with its session or with its project. Default `permanent`: with neither."""
    said_at: NotRequired[Time | None]
    """When the words were spoken. Relative dates count from it. Default: now. Also taken as
    `saidAt`."""
    valid_from: NotRequired[Time | None]
    """When it became true in the world. Default: what its words say, else `said_at`. Also
    taken as `validFrom`."""
    source_date: NotRequired[Time | None]
    """Another name for `valid_from`. Also taken as `sourceDate`."""
    valid_until: NotRequired[Time | None]
    """A stated end. Default: what its words say. Also taken as `validUntil`."""
    supersedes: NotRequired[Sequence[Id] | None]
    """The memory, or memories, that it replaces."""
    classify: NotRequired["bool | Classify | str | None"]
    """Which judges are asked; false: none but exact-duplicate detection; true or left out: as
    configured."""
    read_dates: NotRequired[bool | None]
    """Whether the words are read for dates, which set `valid_from` and `valid_until` if the
    request does not. Default: true, but false with `classify: false`."""
    split: NotRequired[Literal["auto", "off"] | str]
    """auto: a text of several facts is stored as its parts, each a fact with the other fields
    of the request, and all with one `said_in`. With `key`, `value` or `supersedes` it stays
    whole."""
    dry_run: NotRequired[bool]
    """true: answer with what would be done and write nothing."""


class StrengthsOut(TypedDict):
    """How strong what holds is: the mean, and the three values that cut it into quarters.
    Nulls where nothing holds."""

    as_of: NotRequired[str | None]
    """When the worker counted a large agent last: the `as_of` of all numbers. An agent without
    an index is counted at once, so this is left out."""
    mean: float | None
    """The mean."""
    lower_quartile: float | None
    """A quarter of them are weaker."""
    median: float | None
    """Half of them are weaker."""
    upper_quartile: float | None
    """A quarter of them are stronger."""


class SupersedeRequest(TypedDict):
    """What takes a memory's place: new `content`, or `by` alone, the id of a stored memory."""

    content: NotRequired[str | None]
    """The fact in words."""
    kind: NotRequired["Kind | str | None"]
    """Default `fact`."""
    entity: NotRequired[str | None]
    """Who or what it is about. Default `user`."""
    category: NotRequired[str | None]
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: NotRequired[str | None]
    """Which attribute. A key holds one value at a time unless `single_valued` is false."""
    value: NotRequired[str | None]
    """The value of the key, such as `Helix`, apart from the sentence."""
    single_valued: NotRequired[bool | None]
    """Whether its slot holds one value at a time; null: as the key says."""
    details: NotRequired[Mapping[str, Any]]
    """Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30
    digits and texts of at most 16000 characters, none of them NUL. Of a decision:
    rationale, alternatives, related_files."""
    tier: NotRequired["Tier | str | None"]
    """`core` keeps a floor under its strength; `semantic` fades."""
    importance: NotRequired[float | None]
    """0 to 1. Default 0.5."""
    confidence: NotRequired[float | None]
    """0 to 1. Default 1."""
    tags: NotRequired[Sequence[str]]
    """Words of your own, to filter by."""
    entities: NotRequired[Sequence[str]]
    """Names that the fact mentions."""
    sources: NotRequired[Sequence[str]]
    """All that it rests on: documents, addresses, ids of your own."""
    source: NotRequired[str | None]
    """Where it comes from, such as a file or a tool."""
    session_id: NotRequired[str | None]
    """The session (conversation) in which it was said."""
    project: NotRequired[str | None]
    """The project it belongs to, by name."""
    trust: NotRequired[int | None]
    """0 to 100. Default 50."""
    lifespan: NotRequired["Lifespan | str | None"]
    """Whether it ends with its session or with its project. Default `permanent`: with neither."""
    said_at: NotRequired[Time | None]
    """When the words were spoken. Relative dates count from it. Default: now. Also taken as
    `saidAt`."""
    valid_from: NotRequired[Time | None]
    """When it became true in the world. Default: what its words say, else `said_at`. Also
    taken as `validFrom`."""
    source_date: NotRequired[Time | None]
    """Another name for `valid_from`. Also taken as `sourceDate`."""
    valid_until: NotRequired[Time | None]
    """A stated end. Default: what its words say. Also taken as `validUntil`."""
    by: NotRequired[Id | None]
    """The id of a stored memory that takes its place, instead of new `content`."""
    read_dates: NotRequired[bool]
    """Whether the words are read for dates, which set `valid_from` and `valid_until` if the
    request does not."""


class SupersededOut(TypedDict):
    """A memory that a write ended."""

    id: str
    """Its id."""
    content: NotRequired[str | None]
    """Null where it was erased, or on a late retry."""


class SweepOut(TypedDict):
    """A sweep, how far it is, and what it found."""

    id: str
    """The id of the sweep."""
    status: "SweepStatus"
    """How it stands at the moment of the answer."""
    origin: "Origin"
    """What it came from."""
    slot: "SweptSlotOut | None"
    """The slot it is about; null: all of them, or one whose words were erased."""
    since: str | None
    """Only memories that became known from then on; null: all."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""
    total: int | None
    """Memories to examine; null before it is counted."""
    examined: int
    """How many memories have been looked at."""
    progress: float | None
    """Of 1; null before the memories are counted."""
    counts: "CountsOut"
    """What came of it: numbers by outcome."""
    error: str | None
    """Why it failed; null: it did not."""
    created_at: str
    """When it became known to the service."""
    started_at: str | None
    """When it began; null: not yet."""
    finished_at: str | None
    """When it ended; null: not yet."""
    findings: "list[FindingOut]"
    """In the order found, 1,000 at most."""


class SweepRequest(TypedDict):
    """What to look at again: by default everything of the agent."""

    agent_id: NotRequired[str | None]
    """The agent of this call, to make sure."""
    slot: NotRequired["SlotRequest | None"]
    """This slot alone."""
    since: NotRequired[Time | None]
    """What became known since then, and what is marked to be looked at again."""
    dry_run: NotRequired[bool]
    """true: `findings` tell what would be done, and nothing is."""


class SweepSummary(TypedDict):
    """A sweep and how far it is."""

    id: str
    """The id of the sweep."""
    status: "SweepStatus"
    """How it stands at the moment of the answer."""
    origin: "Origin"
    """What it came from."""
    slot: "SweptSlotOut | None"
    """The slot it is about; null: all of them, or one whose words were erased."""
    since: str | None
    """Only memories that became known from then on; null: all."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""
    total: int | None
    """Memories to examine; null before it is counted."""
    examined: int
    """How many memories have been looked at."""
    progress: float | None
    """Of 1; null before the memories are counted."""
    counts: "CountsOut"
    """What came of it: numbers by outcome."""
    error: str | None
    """Why it failed; null: it did not."""
    created_at: str
    """When it became known to the service."""
    started_at: str | None
    """When it began; null: not yet."""
    finished_at: str | None
    """When it ended; null: not yet."""


class SweepsAnswer(TypedDict):
    """Sweeps, newest first; what each found stands in the sweep itself."""

    items: "list[SweepSummary]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class SweptSlotOut(TypedDict):
    """The slot of a sweep, in the words of whoever asked."""

    entity: str | None
    """Who or what it is about, such as `user`; part of the slot (entity, category, key), which
    holds one value at a time."""
    category: str | None
    """The area of the key, such as `tooling`; part of the slot (entity, category, key), which
    holds one value at a time. Empty: none."""
    key: str
    """Which attribute, such as `editor`; part of the slot (entity, category, key), which holds
    one value at a time."""


class TurnOut(TypedDict):
    """A message that was found: what was said, which need not be so."""

    id: str
    """Its id."""
    capture_id: str
    """The capture that has the message."""
    session_id: str | None
    """The session (conversation) in which it was said."""
    role: "Role"
    """Who spoke."""
    name: str | None
    """Its name."""
    content: str
    """The fact in words."""
    said_at: str
    """When it was said."""
    score: float
    """The chance that it answers the question, 0 to 1, beside the others that may."""


class UndoRequest(TypedDict):
    """How a capture is undone."""

    cascade: NotRequired[bool]
    """Undo also what was built on it; without this, 409 lists that."""
    dry_run: NotRequired[bool]
    """true: answer with what would be undone and write nothing."""


class UnreadableAgentOut(TypedDict):
    """An agent whose events the webhook does not get, because they cannot be read."""

    agent_id: str
    """Whose memories these are: the value of X-Agent-Id."""
    since: str
    """When they could not be read for the first time."""
    next_try_at: str | None
    """When they are read again; null: at once."""


class UsageOut(TypedDict):
    """What asking a model took; zeros where none was asked."""

    llm_calls: int
    """Calls to the language model."""
    prompt_tokens: int
    """Tokens that the model read."""
    completion_tokens: int
    """Tokens that the model wrote."""
    ms: float
    """Milliseconds that the judges took."""
    trouble: str | None
    """Why the model's answer was not used, or what of it was ignored."""


class ValueOut(TypedDict):
    """A value and since when it was true."""

    memory_id: str
    """The memory concerned."""
    valid_from: str
    """When this value began to hold."""


class Version(TypedDict):
    """What runs here."""

    version: str
    """The version of this service."""
    encoder: str
    """The model that makes the vectors of this service."""


class WebhookOut(TypedDict):
    """A webhook, without its secret."""

    id: str
    """Its id."""
    url: str
    """Where events are sent."""
    agents: str
    """Whose events: an agent's id, `acme/*`, or `*` for all."""
    operations: "list[Operation]"
    """Only events of these; empty: all."""
    created_at: str
    """When it became known to the service."""
    created_by: str
    """Who created it, as `actor` in the log."""
    expires_at: str | None
    """When its key ends, and the webhook with it; null: its key has no end."""
    failures: int
    """How many tries failed in a row."""
    next_try_at: str | None
    """When what failed is tried again; null: nothing has to wait."""
    disabled_at: str | None
    """When it was disabled; null: it is not."""
    disabled_because: str | None
    """Why it was disabled."""


class WebhookRequest(TypedDict):
    """A webhook to create."""

    url: str
    """Where events are sent: an https address in the public internet."""
    agents: NotRequired[str | None]
    """Whose events: an agent's id, `acme/*` for every id that begins with `acme/`, or `*` for
    all. Default: the agent of the call."""
    operations: NotRequired["Sequence[Operation | str]"]
    """Only events of these operations. Default: all."""


class WebhookWithDeliveriesOut(TypedDict):
    """A webhook, its last tries, and the agents whose events it does not get."""

    id: str
    """Its id."""
    url: str
    """Where events are sent."""
    agents: str
    """Whose events: an agent's id, `acme/*`, or `*` for all."""
    operations: "list[Operation]"
    """Only events of these; empty: all."""
    created_at: str
    """When it became known to the service."""
    created_by: str
    """Who created it, as `actor` in the log."""
    expires_at: str | None
    """When its key ends, and the webhook with it; null: its key has no end."""
    failures: int
    """How many tries failed in a row."""
    next_try_at: str | None
    """When what failed is tried again; null: nothing has to wait."""
    disabled_at: str | None
    """When it was disabled; null: it is not."""
    disabled_because: str | None
    """Why it was disabled."""
    deliveries: "list[DeliveryOut]"
    """The last 20 tries, newest first."""
    unreadable_agents: "list[UnreadableAgentOut]"
    """The first 20 agents whose events cannot be read. `palimpsest doctor` says what is wrong
    with an agent; the webhook gets the events of all others."""


class WebhooksAnswer(TypedDict):
    """Webhooks in order of their ids."""

    items: "list[WebhookOut]"
    """The entries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this page is the last."""


class WhyAnswer(TypedDict):
    """The memory as it stands, why in a sentence or two, and all that led to it, in the order
    in which it became known."""

    memory: "MemoryOut"
    """The memory concerned; null where there is none to show."""
    summary: str
    """Its story in a sentence."""
    events: "list[EventOut]"
    """What happened to it, oldest first."""
    truncated: bool
    """True if the first events are left out, because the answer is as large as one may be
    (`PALIMPSEST_MAX_ANSWER_BYTES`). Ask an earlier version of its chain, at an earlier
    `known_at`, to see them."""
    log_archived_until: str | None
    """Where operations were archived since the chain began: the known time of the last. Up to
    then, some may be missing."""
    quotes: NotRequired["list[QuoteOut]"]
    """The parts of messages that say it: those that it was read from, and those that repeated
    it. `capture_id` leads to their capture."""
    as_of: str
    """The valid time that the answer describes: what was true then."""
    known_at: str
    """The known time that the answer describes: as far as was known then."""


class WindowOut(TypedDict):
    """The time that a question asks about. An end that its words leave open is null."""

    text: str
    """The words of the question that name it."""
    start: str | None
    """The first moment of the time."""
    end: str | None
    """The first moment after the time."""


class WriteAnswer(TypedDict):
    """What a write did. On NOOP `memory` is the stored one that says it already; on DELETE the
    one that says the end, or null."""

    operation: "Operation | None"
    """Null where the agent is frozen and the fact waits as a review."""
    memory: "MemoryOut | None"
    """The memory concerned; null where there is none to show."""
    superseded: "list[SupersededOut]"
    """What it ended."""
    decision: "DecisionOut"
    """The relation that the write rests on, who found it and why."""
    candidates: "list[CandidateOut]"
    """The stored memories that the fact was compared with, and what was judged."""
    adjusted: list[str]
    """Others whose interval moved."""
    known_at: str
    """The known time of this write."""
    log_id: str | None
    """Null on a dry run."""
    review_id: str | None
    """The review that waits for a person, if this write left one."""
    question: NotRequired[str | None]
    """That review as one line for the agent's own model, which answers it by POST
    /v1/reviews/answers; null if there is none, or if only a person may decide it."""
    usage: "UsageOut"
    """What the judges cost."""
    dry_run: bool
    """Whether nothing was written, because the call asked only what would happen."""
    redacted: NotRequired[int]
    """Secrets that were taken out of the request."""
    hints: NotRequired["list[HintOut]"]
    """What should be known before acting on it."""
    stale: NotRequired["list[StaleOut]"]
    """What rests on a memory that it ended, and holds on: look whether it is still right."""
