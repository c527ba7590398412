"""The JSON of the log and of reviews: the one module that knows its keys, to encode and to decode.

A log row keeps `incoming` (the fact of the call), `signals`, `opinions`, `usage`, and two lists of
states, `before_state` and `after_state`. A state is one of these objects:

- a version: `id`, `chain_id`, `revision`, `created_at`, `belief`. A belief leaves out `temporary`
  and `covered` if it is neither. The state before its end has the text of a version as `content`.
  If the operation inserted the version, the keys of its fact follow; `content` is left out if
  `incoming` has the same text; a merged memory has its first `access_count` too;
- a correction: `id` and `metadata`, the corrected columns of a memory;
- `links`, `review` or `settled` alone: relationships, the new review, the decided review;
- an erasure: `id`, `erased_at`, `hmac` (written by store/erasures.py).

`opinions` has an object for each memory in which a judge saw something: `memory_id`, `opinions`,
`signals`, `vetoes`, and `not_done` with the `relation` that was not carried out and the `reason`.
Operations from before have `vetoed` instead, with `memory_id` and `veto`; it is empty since.

A review keeps `judgments`, `relied_on`, `said` (corrections of claims) and `incoming` (the store
that waits).

The objects of findings, opinions, judgments, derived slots, relationships, decided reviews,
stores that wait and the cost of a model have the fields of their classes as keys.

`store/column_values` declares the type of each value, for imports and the doctor. Some SQL looks
into this JSON by the same keys. A key that changes here changes there too: the redactions of
store/redactions.py, the rules of store/doctor, the steps of store/log/replay.py, `links` and
`review` in store/log/retention.py and store/log/reverts.py, `judgments` in store/insights and
store/reviews, and the indexes and checks of store/tables.py.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from app.domain.dates.dated_text import DatedBy, Precision
from app.domain.fact import FACT_FIELDS, BaseFact, Fact, Kind, Lifespan, Tier
from app.domain.log_chain import encode_plain
from app.domain.relation import (
    Classify,
    Finding,
    Judge,
    Judgment,
    Opinion,
    Relation,
)
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Belief, Version
from app.planning.audit.replay import MemoryState
from app.planning.opinions import JudgedMemory, Reason
from app.planning.plan import Insertion, Plan, ReviewDecision, ReviewStatus

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json = Mapping[str, Any]

# --- plain values ------------------------------------------------------------------------------


dump_json = json.JSONEncoder(default=encode_plain, ensure_ascii=False).encode


def to_jsonb(value: object) -> Jsonb:
    """Return a parameter that is written as JSON, with times in UTC to the microsecond."""
    return Jsonb(value, dumps=dump_json)


def encode_fields(value: "DataclassInstance") -> dict[str, Any]:
    """Return an object with the names of the value's fields as keys."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _decode_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _decode_id(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


# --- beliefs and versions ----------------------------------------------------------------------


# What a belief has if its object leaves these keys out.
_ORDINARY: dict[str, Any] = {"temporary": False, "covered": []}


def encode_belief(belief: Belief) -> Json:
    stored: dict[str, Any] = {
        "valid_from": belief.valid_from,
        "asserted_at": belief.asserted_at,
        "said_until": belief.said_until,
        "retracted_at": belief.retracted_at,
        "void": belief.void,
        "ended_by": belief.ended_by,
        "contradicted_by": belief.contradicted_by,
        "merged": belief.merged,
        "tier": belief.tier,
        "valid_until": belief.valid_until,
        "superseded_by": belief.superseded_by,
        "superseded_at": belief.superseded_at,
        "known_from": belief.known_from,
    }
    if belief.temporary:
        stored["temporary"] = True
    if belief.covered:
        stored["covered"] = belief.covered
    return stored


def decode_belief(stored: Json) -> Belief:
    """Return the belief of a state, or of any JSON object that has the columns of a belief."""
    stored = {**_ORDINARY, **stored}
    return Belief(
        chain_id=UUID(stored["chain_id"]),
        valid_from=datetime.fromisoformat(stored["valid_from"]),
        asserted_at=datetime.fromisoformat(stored["asserted_at"]),
        said_until=_decode_time(stored["said_until"]),
        retracted_at=_decode_time(stored["retracted_at"]),
        void=stored["void"],
        ended_by=_decode_id(stored["ended_by"]),
        contradicted_by=_decode_id(stored["contradicted_by"]),
        merged=stored["merged"],
        temporary=stored["temporary"],
        tier=Tier(stored["tier"]),
        covered=tuple(map(datetime.fromisoformat, stored["covered"])),
        valid_until=_decode_time(stored["valid_until"]),
        superseded_by=_decode_id(stored["superseded_by"]),
        superseded_at=_decode_time(stored["superseded_at"]),
        known_from=_decode_time(stored["known_from"]),
    )


def _encode_version(version: Version) -> dict[str, Any]:
    return {
        "id": version.id,
        "chain_id": version.chain_id,
        "revision": version.revision,
        "created_at": version.created_at,
        "belief": encode_belief(version.belief),
    }


# --- facts -------------------------------------------------------------------------------------

_FACT_KEYS = tuple(name for name in FACT_FIELDS if name != "derived")
# A merge adds its sources, which no caller states.
_STATED_KEYS = tuple(name for name in _FACT_KEYS if name != "merged_from")
_NOTHING: tuple[Any, ...] = (None, (), {})


def encode_stated_fact(fact: BaseFact) -> dict[str, Any]:
    """Return the fact without the fields that are empty, and without its derived slot."""
    values = {name: getattr(fact, name) for name in _FACT_KEYS}
    if fact.dated_by is not None:
        values["dated_by"] = encode_dated_by(fact.dated_by)
    return {name: value for name, value in values.items() if value not in _NOTHING}


def encode_dated_by(dated_by: DatedBy) -> Json:
    return {
        "text": dated_by.text,
        "span": [dated_by.start, dated_by.end],
        "from": dated_by.holds_from,
        "until": dated_by.holds_until,
        "precision": dated_by.precision,
    }


def decode_dated_by(stored: Json) -> DatedBy:
    start, end = stored["span"]
    return DatedBy(
        text=stored["text"],
        start=start,
        end=end,
        holds_from=_decode_time(stored["from"]),
        holds_until=_decode_time(stored["until"]),
        precision=Precision(stored["precision"]),
    )


def encode_fact(fact: BaseFact) -> dict[str, Any]:
    """Return the fact with its derived slot, without the fields that are empty."""
    stored = encode_stated_fact(fact)
    if fact.derived is not None:
        stored["derived"] = encode_fields(fact.derived)
    return stored


_FACT_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "kind": Kind,
    "tier": Tier,
    "lifespan": Lifespan,
    "valid_from": datetime.fromisoformat,
    "valid_until": datetime.fromisoformat,
    "said_at": datetime.fromisoformat,
    "said_in": UUID,
    "dated_by": decode_dated_by,
    "tags": tuple,
    "entities": tuple,
    "sources": tuple,
}


def decode_fact(stored: Json) -> Fact:
    """Return the fact as its caller stated it."""
    stated = {name: stored[name] for name in _STATED_KEYS if name in stored}
    for name in _FACT_DECODERS.keys() & stated.keys():
        stated[name] = _FACT_DECODERS[name](stated[name])
    return Fact(**stated)


# --- judgments ---------------------------------------------------------------------------------


def encode_findings(findings: Iterable[Finding]) -> Sequence[Json]:
    return list(map(encode_fields, findings))


def decode_findings(stored: Iterable[Json]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            name=finding["name"],
            relation=Relation(finding["relation"]),
            confidence=finding["confidence"],
            explanation=finding["explanation"],
        )
        for finding in stored
    )


def _decode_opinions(stored: Iterable[Json]) -> tuple[Opinion, ...]:
    return tuple(
        Opinion(
            decided_by=Judge(opinion["decided_by"]),
            relation=Relation(opinion["relation"]),
            confidence=opinion["confidence"],
            reasoning=opinion["reasoning"],
        )
        for opinion in stored
    )


def encode_judgments(judgments: Iterable[Judgment]) -> Sequence[Json]:
    stored = []
    for judgment in judgments:
        findings = encode_findings(judgment.findings)
        opinions = list(map(encode_fields, judgment.opinions))
        stored.append(encode_fields(judgment) | {"findings": findings, "opinions": opinions})
    return stored


def decode_judgments(stored: Iterable[Json]) -> tuple[Judgment, ...]:
    return tuple(
        Judgment(
            memory_id=UUID(judgment["memory_id"]),
            relation=Relation(judgment["relation"]),
            confidence=judgment["confidence"],
            reasoning=judgment["reasoning"],
            decided_by=Judge(judgment["decided_by"]),
            findings=decode_findings(judgment["findings"]),
            vetoes=tuple(judgment["vetoes"]),
            flag=judgment["flag"],
            akin=judgment["akin"],
            opinions=_decode_opinions(judgment.get("opinions", ())),
            disagree=judgment.get("disagree", False),
            new_text=judgment.get("new_text"),
        )
        for judgment in stored
    )


# --- opinions ----------------------------------------------------------------------------------


def encode_opinions(judged: Iterable[JudgedMemory]) -> Sequence[Json]:
    encoded = []
    for memory in judged:
        stored: dict[str, Any] = {
            "memory_id": memory.memory_id,
            "opinions": list(map(encode_fields, memory.opinions)),
            "signals": memory.signals,
            "vetoes": memory.vetoes,
        }
        if memory.reason is not None:
            stored["not_done"] = {"relation": memory.proposed, "reason": memory.reason}
        encoded.append(stored)
    return encoded


def list_opinions(row: Mapping[str, Any]) -> Sequence[Json]:
    """Return the opinions in a row of the log; of an old operation, its vetoes as such."""
    opinions: list[Json] = list(row["opinions"] or ())
    for veto in row["vetoed"]:
        only_veto = {"opinions": [], "signals": [], "vetoes": [veto["veto"]]}
        opinions.append({"memory_id": veto["memory_id"], **only_veto})
    return opinions


def decode_opinions(row: Mapping[str, Any]) -> tuple[JudgedMemory, ...]:
    judged = []
    for stored in list_opinions(row):
        not_done = stored.get("not_done")
        memory = JudgedMemory(
            memory_id=UUID(stored["memory_id"]),
            opinions=_decode_opinions(stored["opinions"]),
            signals=tuple(stored["signals"]),
            vetoes=tuple(stored["vetoes"]),
            proposed=Relation(not_done["relation"]) if not_done else None,
            reason=Reason(not_done["reason"]) if not_done else None,
        )
        judged.append(memory)
    return tuple(judged)


# --- reviews -----------------------------------------------------------------------------------


def encode_relied_on(revisions: Iterable[tuple[UUID, int]]) -> Json:
    return {str(memory_id): revision for memory_id, revision in revisions}


def decode_relied_ids(stored: Mapping[str, int]) -> list[UUID]:
    """Return the memories that a proposal relies on, without their revisions."""
    return list(map(UUID, stored))


def decode_relied_on(stored: Mapping[str, int]) -> tuple[tuple[UUID, int], ...]:
    return tuple((UUID(memory_id), revision) for memory_id, revision in stored.items())


_CORRECTION_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "valid_from": datetime.fromisoformat,
    "said_until": datetime.fromisoformat,
    "retracted_at": datetime.fromisoformat,
    "lifespan": Lifespan,
    "session_id": str,
    "project": str,
}


def decode_corrections(stored: Json | None) -> dict[str, Any] | None:
    """Return the claims that accepting a review corrects, None if there are none."""
    if not stored:
        return None
    return {name: value and _CORRECTION_DECODERS[name](value) for name, value in stored.items()}


@dataclass(frozen=True, slots=True)
class Incoming:
    """A store that waits in a review, as its caller asked for it."""

    fact: Fact
    supersedes: tuple[UUID, ...]
    classify: Classify | None
    is_episode: bool = False


def encode_incoming(incoming: Incoming) -> Json:
    return encode_fields(incoming) | {"fact": encode_fact(incoming.fact)}


def decode_incoming(stored: Json) -> Incoming:
    classify = stored["classify"]
    return Incoming(
        fact=decode_fact(stored["fact"]),
        supersedes=tuple(map(UUID, stored["supersedes"])),
        classify=Classify(classify) if classify else None,
        is_episode=stored.get("is_episode", False),
    )


# --- states of operations ----------------------------------------------------------------------


def encode_states_before(
    plan: Plan, metadata: Json | None, texts: Mapping[UUID, str]
) -> Sequence[Json]:
    """Return the states before the plan.

    `metadata` has the values that it will correct, and `texts` those of the versions that it ends.
    """
    states: list[Json] = []
    for change in plan.changed:
        state = _encode_version(change.before)
        if change.is_end and change.before.id in texts:
            state["content"] = texts[change.before.id]
        states.append(state)
    if metadata is not None:
        states.append(_encode_metadata(plan, metadata))
    if plan.unlinked:
        states.append(_encode_links(plan.unlinked))
    return states


def encode_states_after(plan: Plan) -> Sequence[Json]:
    states: list[Json] = [_encode_insertion(inserted, plan) for inserted in plan.inserted]
    states += [_encode_version(change.after) for change in plan.changed]
    if plan.links:
        states.append(_encode_links(plan.links))
    if plan.review:
        review = {
            "source": plan.review.source,
            "relation": plan.review.relation,
            "judgments": encode_judgments(plan.review.judgments),
            "relied_on": plan.review.relied_on,
            "said": plan.review.corrections,
            "successor": plan.review.successor,
        }
        states.append({"review": review})
    if plan.settled:
        settled = encode_fields(plan.settled)
        if plan.settled.chosen is None:
            del settled["chosen"]
        states.append({"settled": settled})
    if plan.metadata:
        states.append(_encode_metadata(plan, plan.metadata))
    return states


def _encode_insertion(inserted: Insertion, plan: Plan) -> Json:
    """Return the version and its fact, whose text is left out if `incoming` has the same."""
    fact = encode_fact(inserted.fact)
    if plan.look_again:
        fact["look_again"] = plan.look_again
    if plan.confirmations and inserted.version.id == plan.target:
        fact["access_count"] = plan.confirmations
    if plan.incoming is not None and plan.incoming.content == inserted.fact.content:
        del fact["content"]
    return _encode_version(inserted.version) | fact


def _encode_metadata(plan: Plan, metadata: Json) -> Json:
    return {"id": str(plan.target), "metadata": metadata}


def _encode_links(links: Iterable[Relationship]) -> Json:
    return {"links": list(map(encode_fields, links))}


def decode_beliefs(states: Iterable[Json]) -> dict[UUID, Belief]:
    """Return the belief of every version among these states, in their order."""
    beliefs = {}
    for state in states:
        if "belief" in state:
            belief = {**state["belief"], "chain_id": state["chain_id"]}
            beliefs[UUID(state["id"])] = decode_belief(belief)
    return beliefs


def decode_metadata(states: Iterable[Json]) -> tuple[UUID, Json] | None:
    """Return the memory whose metadata the operation corrected, and its values."""
    for state in states:
        if "metadata" in state:
            return UUID(state["id"]), state["metadata"]
    return None


def decode_links(states: Iterable[Json]) -> tuple[Relationship, ...]:
    links = []
    for state in states:
        for link in state.get("links", ()):
            source, target = UUID(link["source"]), UUID(link["target"])
            links.append(Relationship(source, target, LinkType(link["type"])))
    return tuple(links)


def decode_settled(states: Iterable[Json]) -> ReviewDecision | None:
    """Return the review that the operation decided, if any."""
    for state in states:
        if "settled" in state:
            settled = state["settled"]
            chosen = settled.get("chosen")
            return ReviewDecision(
                review_id=UUID(settled["review_id"]),
                before=ReviewStatus(settled["before"]),
                after=ReviewStatus(settled["after"]),
                note=settled["note"],
                chosen=None if chosen is None else tuple(map(UUID, chosen)),
            )
    return None


def decode_memory_state(state: Json, incoming_content: str | None) -> MemoryState:
    """Return the state of one memory in the plain values of the log, for replaying it.

    Only an insertion carries a whole fact; its text may stand in `incoming` alone.
    """
    columns = dict(state)
    columns.pop("id", None)
    belief, metadata = columns.pop("belief", None), columns.pop("metadata", None)
    chain_id = columns.pop("chain_id", None)
    confirmations = columns.pop("access_count", 0)
    is_insertion = "kind" in columns
    if is_insertion:
        columns.setdefault("content", incoming_content)
    return MemoryState(
        columns=columns,
        belief=belief and {**_ORDINARY, **belief, "chain_id": chain_id},
        metadata=metadata,
        is_insertion=is_insertion,
        confirmations=confirmations,
    )
