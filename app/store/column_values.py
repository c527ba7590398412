"""The values of columns that are checked: members of enumerations, and JSON by its schema.

A write makes nothing else (`store/log/state` encodes the JSON of the log), an import takes nothing
else, and the doctor reports what is there anyway. The CHECKs of the database hold the enumerations,
and whether JSON is an array or an object. `tests/store/test_column_values.py` compares them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from app.domain.agent import Mode
from app.domain.captures import CaptureState, ExtractBy
from app.domain.dates.dated_text import Precision
from app.domain.fact import MAX_DETAILS_DEPTH, Kind, Lifespan, Tier
from app.domain.relation import Classify, Judge, Operation, Relation
from app.domain.relationship import LinkType
from app.domain.talk import Role, SkipReason
from app.planning.opinions import Reason
from app.planning.plan import ReviewSource, ReviewStatus
from app.store.sweeps.runs import Origin, SweepStatus

LONGEST_TEXT = 100_000  # characters; no text that this service stores is as long

# --- enumerations --------------------------------------------------------------------------------

ENUMERATIONS: Mapping[str, Mapping[str, type[StrEnum]]] = {
    "agents": {"mode": Mode},
    "memories": {"kind": Kind, "tier": Tier, "lifespan": Lifespan},
    "memory_beliefs": {"tier": Tier},
    "consolidation_log": {"operation": Operation, "relation": Relation, "decided_by": Judge},
    "folded_operations": {"operation": Operation, "decided_by": Judge},
    "memory_relationships": {"type": LinkType},
    "reviews": {"status": ReviewStatus, "source": ReviewSource, "relation": Relation},
    "captures": {"state": CaptureState, "extract": ExtractBy, "extractor": ExtractBy},
    "turns": {"role": Role},
    "captured_facts": {"operation": Operation},
    "sweeps": {"status": SweepStatus, "origin": Origin},
}

# --- JSON ----------------------------------------------------------------------------------------


class _Time:
    """A time as writes have it: in UTC, to the microsecond."""


def _build_details_type() -> Any:
    """Return the type of the free JSON of a memory."""
    value = scalar = str | int | float | bool | None
    for _ in range(MAX_DETAILS_DEPTH):
        value = scalar | list[value] | dict[str, value]  # type: ignore[valid-type]
    return dict[str, value]  # type: ignore[valid-type]  # msgspec reads it at run time


_Details: Any = _build_details_type()
_Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Share = Annotated[float, Meta(ge=0, le=1)]
# Half of what an integer of Postgres holds, so that counting can go on.
_Count = Annotated[int, Meta(ge=0, le=2**30)]
_Offset = Annotated[int, Meta(ge=0, le=LONGEST_TEXT)]
_Trust = Annotated[int, Meta(ge=0, le=100)]
_Milliseconds = Annotated[float, Meta(ge=0)]
_Span = tuple[_Offset, _Offset]


class _Object(Struct, kw_only=True, forbid_unknown_fields=True):
    """An object. A field that a write may leave out has UNSET as its default."""


_DatedBy = msgspec.defstruct(
    "_DatedBy",
    [
        ("text", str),
        ("span", _Span),
        ("from", _Time | None),  # no class can have a field of this name
        ("until", _Time | None),
        ("precision", Precision),
    ],
    bases=(_Object,),
)


class _DerivedSlot(_Object):
    entity: str
    key: str
    value: str


class _Patchable(_Object):
    """The metadata of a memory that a call corrects in place."""

    details: _Details | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    entities: list[str] | UnsetType = UNSET
    sources: list[str] | UnsetType = UNSET
    source: str | UnsetType | None = UNSET
    session_id: str | UnsetType | None = UNSET
    project: str | UnsetType | None = UNSET
    importance: _Share | UnsetType = UNSET
    confidence: _Share | UnsetType = UNSET
    trust: _Trust | UnsetType = UNSET
    lifespan: Lifespan | UnsetType = UNSET


class _Fact(_Patchable):
    """A fact without the fields that are empty; all of its words may have been erased."""

    content: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    entity: str | UnsetType = UNSET
    category: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    value: str | UnsetType = UNSET
    single_valued: bool | UnsetType = UNSET
    tier: Tier | UnsetType = UNSET
    valid_from: _Time | UnsetType = UNSET
    valid_until: _Time | UnsetType = UNSET
    said_at: _Time | UnsetType = UNSET
    said_in: _Id | UnsetType = UNSET
    dated_by: _DatedBy | UnsetType = UNSET  # type: ignore[valid-type]  # msgspec reads it
    merged_from: list[_Id] | UnsetType = UNSET
    derived: _DerivedSlot | UnsetType = UNSET


class _IncomingFact(_Fact, kw_only=True):
    """A fact as a caller stated it, which has a text."""

    content: str


class _Belief(_Object):
    valid_from: _Time
    asserted_at: _Time
    said_until: _Time | None
    retracted_at: _Time | None
    void: bool
    ended_by: _Id | None
    contradicted_by: _Id | None
    merged: bool
    tier: Tier
    valid_until: _Time | None
    superseded_by: _Id | None
    superseded_at: _Time | None
    known_from: _Time
    temporary: bool | UnsetType = UNSET
    covered: list[_Time] | UnsetType = UNSET


class _Finding(_Object):
    name: str
    relation: Relation
    confidence: _Share
    explanation: str


class _Opinion(_Object):
    decided_by: Judge
    relation: Relation
    confidence: _Share
    reasoning: str


class _Judgment(_Object):
    memory_id: _Id
    relation: Relation
    confidence: _Share
    reasoning: str
    decided_by: Judge
    findings: list[_Finding]
    vetoes: list[str]
    flag: bool
    akin: bool
    opinions: list[_Opinion] | UnsetType = UNSET
    disagree: bool | UnsetType = UNSET
    new_text: str | UnsetType | None = UNSET


class _NotDone(_Object):
    relation: Relation
    reason: Reason


class _JudgedMemory(_Object):
    memory_id: _Id
    opinions: list[_Opinion]
    signals: list[str]
    vetoes: list[str]
    not_done: _NotDone | UnsetType = UNSET


class _Veto(_Object):
    memory_id: _Id
    veto: str


class _ModelCost(_Object):
    model: str
    prompt_version: str
    llm_calls: _Count
    prompt_tokens: _Count
    completion_tokens: _Count
    ms: _Milliseconds
    trouble: str | None


class _Link(_Object):
    source: _Id
    target: _Id
    type: LinkType


class _Corrections(_Object):
    """The claims that accepting a review corrects."""

    valid_from: _Time | UnsetType | None = UNSET
    said_until: _Time | UnsetType | None = UNSET
    retracted_at: _Time | UnsetType | None = UNSET
    lifespan: Lifespan | UnsetType | None = UNSET
    session_id: str | UnsetType | None = UNSET
    project: str | UnsetType | None = UNSET


class _Review(_Object):
    """A new review. Erasing takes the judgments away; earlier operations have a sentence."""

    source: ReviewSource
    relation: Relation
    relied_on: list[tuple[_Id, _Count]]
    judgments: list[_Judgment] | UnsetType = UNSET
    corrections: _Corrections | UnsetType | None = msgspec.field(name="said", default=UNSET)
    successor: _Id | UnsetType | None = UNSET
    sentence: str | UnsetType = UNSET


class _ReviewDecision(_Object):
    review_id: _Id
    before: ReviewStatus
    after: ReviewStatus
    note: str | None
    chosen: list[_Id] | UnsetType = UNSET


class _State(_Fact):
    """One state of an operation: of a version, a correction or an erasure, or one of the rest."""

    id: _Id | UnsetType = UNSET
    chain_id: _Id | UnsetType = UNSET
    revision: _Count | UnsetType = UNSET
    created_at: _Time | UnsetType = UNSET
    belief: _Belief | UnsetType = UNSET
    look_again: str | UnsetType = UNSET
    access_count: _Count | UnsetType = UNSET
    metadata: _Patchable | UnsetType = UNSET
    erased_at: _Time | UnsetType = UNSET
    hmac: _Digest | UnsetType = UNSET
    links: list[_Link] | UnsetType = UNSET
    review: _Review | UnsetType = UNSET
    settled: _ReviewDecision | UnsetType = UNSET

    def __post_init__(self) -> None:
        parts = (self.belief, self.metadata, self.erased_at, self.links, self.review, self.settled)
        if sum(part is not UNSET for part in parts) != 1:
            raise ValueError(
                "A state has one of belief, metadata, erased_at, links, review, settled"
            )
        if self.id is UNSET and (self.links, self.review, self.settled) == (UNSET, UNSET, UNSET):
            raise ValueError("Object missing required field `id`")
        if self.belief is not UNSET and UNSET in (self.chain_id, self.revision, self.created_at):
            raise ValueError("A version has chain_id, revision and created_at")


class _HeldBack(_Object):
    """A store that waits in a review."""

    fact: _IncomingFact
    supersedes: list[_Id]
    classify: Classify | None
    is_episode: bool | UnsetType = UNSET


class _CheckpointRow(_Belief, kw_only=True):
    chain_id: _Id
    created_at: _Time
    revision: _Count
    kind: Kind
    importance: _Share
    confidence: _Share
    trust: _Trust
    lifespan: Lifespan
    merged_from: list[_Id] | UnsetType = UNSET
    said_at: _Time | UnsetType | None = UNSET
    said_in: _Id | UnsetType | None = UNSET


class _CheckpointLink(_Object):
    target: _Id
    type: LinkType
    log_id: _Id


class _Checkpoint(_Object):
    row: _CheckpointRow
    past: dict[_Time, _Digest]
    inserted_by: list[_Id]
    access_count: _Count
    last_reinforced_at: _Time | None
    links: list[_CheckpointLink]


class _SkippedSpan(_Object):
    start: _Offset
    end: _Offset
    reason: SkipReason


class _Quote(_Object):
    turn_id: _Id
    start: _Offset
    end: _Offset


class _SweptSlot(_Object):
    entity: str | None
    category: str | None
    key: str


JSON_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "memories": {"details": _Details, "dated_by": _DatedBy},
    "consolidation_log": {
        "signals": list[_Finding],
        "incoming": _IncomingFact,
        "before_state": list[_State],
        "after_state": list[_State],
        "usage": _ModelCost,
        "opinions": list[_JudgedMemory],
        "vetoed": list[_Veto],
    },
    "reviews": {
        "judgments": list[_Judgment],
        "relied_on": dict[_Id, _Count],
        "said": _Corrections,
        "incoming": _HeldBack,
    },
    "log_checkpoints": {"told": _Checkpoint, "sealed": dict[str, _Digest]},
    "turns": {"skipped": list[_SkippedSpan]},
    "captured_facts": {"quotes": list[_Quote]},
    "sweeps": {
        "slot": _SweptSlot,
        "counts": dict[str, _Count],
        "findings": list[dict[str, Any]],
    },
    "idempotency_keys": {"headers": dict[str, str]},
    # These are computed anew from the memories.
    "agent_indexes": {"stats": dict[str, Any], "insights": dict[str, Any]},
}

_UTC = timedelta(0)


def _read_time(kind: type, text: Any) -> Any:
    """Return a time for msgspec. Raise ValueError unless it is one as writes have it."""
    assert kind is _Time
    if not isinstance(text, str):
        raise ValueError("Expected a time")  # noqa: TRY004 - msgspec reports a ValueError only
    _check_time(text)
    return _A_TIME


# Nobody reads what was decoded.
_A_TIME = _Time()


@lru_cache(maxsize=1024)  # most times of an operation are one and the same
def _check_time(text: str) -> None:
    time = datetime.fromisoformat(text)
    written = time.isoformat(timespec="microseconds")
    if time.utcoffset() != _UTC or text not in (written, time.isoformat()):
        raise ValueError("Expected a time in UTC to the microsecond")


_DECODERS = {
    (table, column): msgspec.json.Decoder(schema, dec_hook=_read_time)
    for table, schemas in JSON_SCHEMAS.items()
    for column, schema in schemas.items()
}


def check_json(table: str, column: str, text: bytes | str) -> None:
    """Raise ValueError unless the JSON fits the schema of its column.

    The message ends with the place in the JSON, as msgspec has it.
    """
    try:
        _DECODERS[table, column].decode(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def find_wrong_values(table: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the columns of a row whose values no write leaves, each with the path in its JSON.

    The row has JSON as text. A path quotes nothing of what is stored.
    """
    for column, enumeration in ENUMERATIONS.get(table, {}).items():
        if row[column] is not None and row[column] not in {*enumeration}:
            yield column, ""
    for column in JSON_SCHEMAS.get(table, {}):
        if row[column] is not None:
            try:
                check_json(table, column, row[column])
            except ValueError as error:
                yield column, split_place(str(error))[1]


_PLACE = re.compile(r"(.*) - at (?:`key` in )?`\$(.+)`", re.DOTALL)


def split_place(message: str) -> tuple[str, str]:
    """Return what msgspec says is wrong, and the path to it: `.field` or `[index]` for each step.

    The path of the whole is empty.
    """
    placed = _PLACE.fullmatch(message)
    return (placed[1], placed[2]) if placed else (message, "")
