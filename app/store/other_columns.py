"""Every column and JSON field outside `memories`, declared once: what erase does with it.

`columns` declares the table `memories`. `tests/store/test_columns.py` compares both declarations
with a live database, with the JSON in it, and with what an erasure leaves.
"""

from dataclasses import dataclass, fields
from enum import StrEnum

from app.domain.fact import Fact
from app.store.columns import BELIEF_COLUMNS, MEMORY_COLUMNS, PATCHABLE


class Erasure(StrEnum):
    """The fate of a value about an erased memory."""

    STAYS = "kept"  # it holds no text of a caller
    NAME = "name"  # a caller chose it as a name for a call or an agent; it stays
    REMOVED = "removed"  # it holds a text, or a hash of one, and is removed or emptied
    BY_FIELD = "by_field"  # JSON; each field says for itself


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field of a JSON column.

    In its path, `[]` stands for every item of an array, `{id}` for a key that is an id, `{time}`
    for a key that is a time, `{name}` for any other key that data chooses, and `**` for anything.
    """

    path: str
    erasure: Erasure = Erasure.STAYS


@dataclass(frozen=True, slots=True)
class OtherColumn:
    """A column of a table other than `memories`. An export contains the column if `exported`."""

    name: str
    erasure: Erasure = Erasure.STAYS
    json: tuple[JsonField, ...] = ()
    exported: bool = True


def _list_plain(*names: str) -> tuple[OtherColumn, ...]:
    return tuple(OtherColumn(name) for name in names)


def _list_hidden(*names: str) -> tuple[OtherColumn, ...]:
    """Return columns that no export contains."""
    return tuple(OtherColumn(name, exported=False) for name in names)


def _list_fields(prefix: str, *names: str) -> tuple[JsonField, ...]:
    return tuple(JsonField(f"{prefix}{name}") for name in names)


def _list_removed(prefix: str, *names: str) -> tuple[JsonField, ...]:
    return tuple(JsonField(f"{prefix}{name}", Erasure.REMOVED) for name in names)


_AGENT = OtherColumn("agent_id", Erasure.NAME, exported=False)

# --- JSON that several columns share -------------------------------------------------------------

# These arrays and objects of a fact have something inside.
_INSIDE = {
    "details": "details.**",
    "tags": "tags[]",
    "entities": "entities[]",
    "sources": "sources[]",
    "merged_from": "merged_from[]",
    "dated_by": "dated_by.**",
}


def _list_fact_fields(prefix: str) -> tuple[JsonField, ...]:
    """Return the fields of a fact that a call sent in. All of them are removed."""
    names = [field.name for field in fields(Fact) if field.name != "derived"]
    return _list_removed(prefix, *(_INSIDE.get(name, name) for name in names))


def _list_state_fields() -> tuple[JsonField, ...]:
    """Return the fields of a memory in `before_state` and `after_state`."""
    states: list[JsonField] = []
    for column in MEMORY_COLUMNS:
        if column.log_path is None:
            continue
        erasure = Erasure.STAYS if column.erased is None else Erasure.REMOVED
        path = _INSIDE.get(column.log_path, column.log_path)
        states.append(JsonField(f"[].{path}", erasure))
        if column.name in PATCHABLE:
            states.append(JsonField(f"[].metadata.{path}", erasure))
    # A fact also states the claims that its first belief was made from.
    claims = _list_fields("[].", "valid_from", "valid_until", "tier")
    return (*states, *claims)


def _list_findings(prefix: str, *, removed: bool) -> tuple[JsonField, ...]:
    if removed:
        return _list_removed(prefix, "name", "relation", "confidence", "explanation")
    return (
        *_list_fields(prefix, "name", "relation", "confidence"),
        JsonField(f"{prefix}explanation", Erasure.REMOVED),
    )


def _list_judgments(prefix: str) -> tuple[JsonField, ...]:
    return (
        *_list_fields(prefix, "memory_id", "relation", "confidence", "decided_by", "flag", "akin"),
        *_list_fields(prefix, "disagree"),
        JsonField(f"{prefix}reasoning", Erasure.REMOVED),
        JsonField(f"{prefix}new_text", Erasure.REMOVED),
        JsonField(f"{prefix}vetoes[]", Erasure.REMOVED),
        *_list_findings(f"{prefix}findings[].", removed=True),
        *_list_opinions(f"{prefix}opinions[]."),
    )


def _list_opinions(prefix: str) -> tuple[JsonField, ...]:
    return _list_removed(prefix, "decided_by", "relation", "confidence", "reasoning")


def _list_corrections(prefix: str) -> tuple[JsonField, ...]:
    """Return the claims that accepting a review corrects."""
    return (
        *_list_fields(prefix, "valid_from", "said_until", "retracted_at", "lifespan"),
        *_list_removed(prefix, "session_id", "project"),
    )


_STATES = (
    *_list_state_fields(),
    *_list_fields("[].", "access_count"),
    *_list_fields("[].links[].", "source", "target", "type"),
    *_list_fields("[].review.", "source", "relation", "successor", "said"),
    # Earlier operations have a sentence that names memories by their ids.
    JsonField("[].review.sentence"),
    JsonField("[].review.relied_on[][]"),
    *_list_corrections("[].review.said."),
    *(
        JsonField(field.path, Erasure.REMOVED)
        for field in _list_judgments("[].review.judgments[].")
    ),
    *_list_fields("[].settled.", "review_id", "before", "after", "chosen[]"),
    JsonField("[].settled.note", Erasure.REMOVED),
    # The receipt of an erasure: a digest under a key that the service does not keep.
    *_list_fields("[].", "erased_at", "hmac"),
)

# What judges said of a memory goes with the memory, and with the fact that they judged.
_OPINIONS = (
    *_list_removed("[].", "memory_id", "signals[]", "vetoes[]"),
    *_list_removed("[].not_done.", "relation", "reason"),
    *_list_opinions("[].opinions[]."),
)

# --- the tables ----------------------------------------------------------------------------------

OTHER_COLUMNS: dict[str, tuple[OtherColumn, ...]] = {
    "agents": (
        _AGENT,
        *_list_plain("created_at", "last_known_at", "last_erased_at", "mode", "log_folded_until"),
        *_list_plain("log_head", "timezone", "closures_counted_from"),
    ),
    "memory_beliefs": (_AGENT, *_list_plain("memory_id", "known_until", *BELIEF_COLUMNS)),
    "memory_usage": (
        _AGENT,
        *_list_plain(
            "memory_id", "access_count", "last_accessed_at", "last_reinforced_at", "use_count"
        ),
    ),
    "memory_relationships": (
        _AGENT,
        *_list_plain("source_id", "target_id", "type", "log_id", "created_at"),
    ),
    "consolidation_log": (
        _AGENT,
        *_list_plain("id", "operation", "source_memory_ids", "target_memory_id", "relation"),
        *_list_plain("confidence", "decided_by", "model", "prompt_version", "duration_ms"),
        *_list_plain("created_at", "reverts", "reverted_by", "actor"),
        *_list_plain("previous_hash", "hash"),
        # The digest stays, so that the chain of the log can be verified. Without the salt, a text
        # cannot be found by trying its digest.
        *_list_plain("content_digest"),
        OtherColumn("content_salt", Erasure.REMOVED),
        OtherColumn("reasoning", Erasure.REMOVED),
        OtherColumn("signals", Erasure.BY_FIELD, _list_findings("[].", removed=False)),
        OtherColumn("signal_names", Erasure.BY_FIELD, _list_fields("[]", ""), exported=False),
        OtherColumn("incoming", Erasure.REMOVED, _list_fact_fields("")),
        OtherColumn("before_state", Erasure.BY_FIELD, _STATES),
        OtherColumn("after_state", Erasure.BY_FIELD, _STATES),
        OtherColumn(
            "usage",
            Erasure.BY_FIELD,
            (
                *_list_fields("", "model", "prompt_version", "llm_calls", "prompt_tokens"),
                *_list_fields("", "completion_tokens", "ms"),
                JsonField("trouble", Erasure.REMOVED),
            ),
        ),
        OtherColumn("session_id", Erasure.REMOVED),
        OtherColumn("request_id", Erasure.NAME),
        OtherColumn("opinions", Erasure.BY_FIELD, _OPINIONS),
        OtherColumn("vetoed", Erasure.BY_FIELD, _list_removed("[].", "memory_id", "veto")),
    ),
    "reviews": (
        _AGENT,
        *_list_plain("id", "status", "source", "relation", "memory_id", "log_id"),
        *_list_plain("created_at", "decided_at", "decision_log_id"),
        OtherColumn("judgments", Erasure.BY_FIELD, _list_judgments("[].")),
        OtherColumn("relied_on", Erasure.BY_FIELD, _list_fields("", "{id}")),
        OtherColumn("said", Erasure.BY_FIELD, _list_corrections("")),
        OtherColumn(
            "incoming",
            Erasure.REMOVED,
            (
                *_list_fact_fields("fact."),
                *_list_removed("", "supersedes[]", "classify", "is_episode"),
            ),
        ),
        OtherColumn("note", Erasure.REMOVED),
        # How often a context showed it says nothing to another service.
        OtherColumn("shown", exported=False),
    ),
    "log_checkpoints": (
        _AGENT,
        *_list_plain("memory_id"),
        OtherColumn(
            "told",
            Erasure.BY_FIELD,
            (
                *_list_fields("row.", "created_at", "revision", "kind", "importance"),
                *_list_fields(
                    "row.", "confidence", "trust", "lifespan", "merged_from[]", "said_at", "said_in"
                ),
                *_list_fields("row.", *BELIEF_COLUMNS),
                *_list_fields("", "past.{time}", "inserted_by[]", "access_count"),
                *_list_fields("", "last_reinforced_at"),
                *_list_fields("links[].", "source", "target", "type", "log_id"),
            ),
        ),
        # A hash of a text finds the text again.
        OtherColumn("sealed", Erasure.BY_FIELD, _list_removed("", "{name}")),
    ),
    # No row outlasts the transaction of an erasure.
    "archived_log": (
        *_list_hidden("agent_id", "id", "operation", "source_memory_ids", "target_memory_id"),
        *_list_hidden("relation", "confidence", "reasoning", "signals", "decided_by", "incoming"),
        *_list_hidden("before_state", "after_state", "model", "prompt_version", "usage"),
        *_list_hidden("duration_ms", "session_id", "request_id", "created_at", "reverts"),
        *_list_hidden("reverted_by", "opinions", "vetoed", "actor", "previous_hash", "hash"),
        *_list_hidden("content_digest", "content_salt"),
    ),
    # Erase writes an archive file anew without what was erased, or removes the file.
    "log_archives": (
        _AGENT,
        *_list_plain("id", "operations", "first_at", "last_at"),
        OtherColumn("file", exported=False),
        OtherColumn("sha256", exported=False),
    ),
    "folded_operations": (
        _AGENT,
        *_list_plain("id", "archive_id", "operation", "decided_by", "memory_ids", "stands"),
        *_list_plain("proposed", "created_at", "actor", "previous_hash", "hash"),
        OtherColumn("request_id", Erasure.NAME),
    ),
    "sweeps": (
        _AGENT,
        *_list_plain("id", "status", "origin", "since", "dry_run", "total", "examined"),
        *_list_plain("place", "runner", "alive_at", "failures", "error"),
        *_list_plain("created_at", "started_at", "finished_at"),
        OtherColumn("slot", Erasure.REMOVED, _list_removed("", "entity", "category", "key")),
        OtherColumn("slot_hash", Erasure.REMOVED),
        OtherColumn(
            "counts",
            Erasure.BY_FIELD,
            (
                *_list_fields("", "superseded", "covered", "retracted", "merged", "duplicates"),
                *_list_fields("", "reviews", "postponed"),
            ),
        ),
        OtherColumn(
            "findings",
            Erasure.BY_FIELD,
            (
                *_list_fields("[].", "operation", "relation", "memory_id", "others[]"),
                *_list_fields("[].", "confidence", "signals[]", "review"),
            ),
        ),
    ),
    "captures": (
        _AGENT,
        OtherColumn("session_id", Erasure.REMOVED),
        *_list_plain("id", "state", "extract", "split", "trust", "may_end_stated"),
        *_list_plain("extractor", "actor"),
        *_list_plain("turns", "repeated", "redacted", "received_at", "finished_at"),
        *_list_plain("failures", "error"),
        OtherColumn("request_id", Erasure.NAME),
        OtherColumn("due_at", exported=False),
        OtherColumn("runner", exported=False),
        OtherColumn("alive_at", exported=False),
        # What was wrong with a model's answer may quote the answer.
        OtherColumn("trouble", Erasure.REMOVED),
    ),
    "turns": (
        _AGENT,
        OtherColumn("session_id", Erasure.REMOVED),
        OtherColumn("message_id", Erasure.REMOVED),
        *_list_plain("id", "capture_id", "position", "role", "said_at", "received_at", "done"),
        *_list_plain("offset_minutes", "language"),
        OtherColumn("name", Erasure.REMOVED),
        OtherColumn("content", Erasure.REMOVED),
        OtherColumn("lexemes", Erasure.REMOVED, exported=False),
        OtherColumn("embedding", Erasure.REMOVED, exported=False),
        OtherColumn("skipped", Erasure.BY_FIELD, _list_fields("[].", "start", "end", "reason")),
    ),
    "captured_facts": (
        _AGENT,
        *_list_plain("id", "turn_id", "place", "operation", "memory_id", "log_id", "review_id"),
        *_list_plain("problem"),
        OtherColumn("content", Erasure.REMOVED),
        OtherColumn("quotes", Erasure.BY_FIELD, _list_fields("[].", "turn_id", "start", "end")),
    ),
    "idempotency_keys": (
        _AGENT,
        OtherColumn("key_hash", Erasure.NAME),
        OtherColumn("fingerprint", Erasure.REMOVED),
        OtherColumn("answer", Erasure.REMOVED),
        *_list_plain("status", "mentioned_ids", "created_at"),
        OtherColumn("headers", Erasure.BY_FIELD, _list_fields("", "{name}")),
    ),
    # An index has a copy of what it finds memories by. Erasing removes the row.
    "agent_indexes": (
        _AGENT,
        *_list_hidden("covers_until", "covers_id", "memories", "live", "built_at", "counted_at"),
        *_list_hidden("stats_seconds", "strengths_as_of", "strengths_seconds"),
        *_list_hidden("insights_ids", "insights_as_of", "insights_seconds"),
        OtherColumn("stats", Erasure.BY_FIELD, _list_fields("", "{name}.**"), exported=False),
        OtherColumn("insights", Erasure.REMOVED, _list_removed("", "{name}[].**"), exported=False),
    ),
    "counted_strengths": (
        _AGENT,
        *_list_hidden("as_of", "place", "counted_until", "ids", "strengths"),
        *_list_hidden("last_strength", "last_id"),
    ),
    "indexed_memories": (
        _AGENT,
        *_list_hidden("id", "created_at"),
        OtherColumn("slot_category", Erasure.REMOVED, exported=False),
        OtherColumn("embedding", Erasure.REMOVED, exported=False),
        OtherColumn("lexemes", Erasure.REMOVED, exported=False),
    ),
    # A word is there as a hash, and only one that many memories have. Erasing removes the rows of
    # the words of erased memories.
    "frequent_words": (_AGENT, *_list_hidden("word", "memories")),
    "encoder": _list_plain("the_one", "name", "dimensions", "next_name", "next_dimensions"),
    "api_keys": (
        *_list_plain("id", "secret_hash", "scopes", "trust_ceiling"),
        *_list_plain("created_at", "created_by", "expires_at", "revoked_at", "last_used_at"),
        OtherColumn("name", Erasure.NAME),
        OtherColumn("agents", Erasure.NAME),
    ),
    "console_sessions": _list_plain("cookie_hash", "sealed_key", "actor", "expires_at"),
    "oauth_grants": (
        *_list_plain("id", "key_id", "client_id", "redirect_uri", "challenge", "scopes"),
        *_list_plain("code_hash", "access_id", "access_hash", "access_expires_at"),
        *_list_plain("refresh_hash", "created_at", "expires_at"),
        OtherColumn("audience", Erasure.NAME),
        OtherColumn("agent", Erasure.NAME),
    ),
    "webhooks": (
        *_list_plain("id", "url", "operations", "secret", "created_at", "created_by", "failures"),
        *_list_plain("next_try_at", "disabled_at", "disabled_because", "runner", "alive_at"),
        *_list_plain("expires_at"),
        OtherColumn("agents", Erasure.NAME),
    ),
    "webhook_positions": (
        *_list_plain("webhook_id", "at", "id", "unreadable_since", "next_try_at"),
        OtherColumn("agent", Erasure.NAME),
    ),
    "webhook_deliveries": (
        *_list_plain("webhook_id", "id", "message_id", "type", "attempt", "at", "status"),
        *_list_plain("problem", "duration_ms"),
        OtherColumn("agent", Erasure.NAME),
    ),
}

# The job library makes and owns the tables of this schema. A job names an agent, and a sweep or a
# capture. It carries nothing else, which is all that this project answers for.
JOB_SCHEMA = "jobs"
JOB_ARGUMENTS = (
    JsonField("agent", Erasure.NAME),
    JsonField("sweep_id"),
    JsonField("capture_id"),
    JsonField("timestamp"),
)

# Alembic owns this table.
UNDECLARED_TABLES = frozenset({"alembic_version"})

NOT_EXPORTED = {
    table: frozenset(column.name for column in columns if not column.exported)
    for table, columns in OTHER_COLUMNS.items()
} | {"memories": frozenset(column.name for column in MEMORY_COLUMNS if not column.exported)}
