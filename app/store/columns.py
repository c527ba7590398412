"""Every column of `memories`, declared once: its type, and what each use of a memory does with it.

The tables, the row writer, the reads, the filters, the export, erase and the doctor's rules are
derived from here. `tests/store/test_columns.py` compares the declaration with a live database.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import sqlalchemy as sa
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects.postgresql import (
    ARRAY,
    BYTEA,
    JSONB,
    REGCONFIG,
    TIMESTAMP,
    TSVECTOR,
    UUID,
    dialect,
)

from app.domain.text import fold

_TIME = TIMESTAMP(timezone=True)
_DIALECT = dialect()  # type: ignore[no-untyped-call]


class Wording(StrEnum):
    """The amount of a caller's text that a column can hold."""

    NONE = "none"
    TEXT = "text"
    MADE_FROM_TEXT = "made_from_text"  # hashes, vectors and search words


@dataclass(frozen=True, slots=True)
class Filter:
    """A parameter that narrows a read, and its condition on a memory `m`."""

    parameter: str
    condition: str
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of `memories`.

    `erased` is the SQL value that erase sets; None keeps the column. An erased column that belongs
    to the chain keeps its value until the last version of the chain is erased. `log_path` is the
    place in a log state of a memory: the key, and the key inside its object. `patchable` columns
    are metadata that a call corrects in place. `versioned` columns are part of every belief. An
    insert writes the `inserted` columns; the others get a value later or from the database.
    """

    name: str
    type: sa.types.TypeEngine[Any]
    nullable: bool = False
    wording: Wording = Wording.NONE
    erased: str | None = None
    of_chain: bool = False
    versioned: bool = False
    log_path: str | None = None
    patchable: bool = False
    filters: tuple[Filter, ...] = ()
    exported: bool = True
    inserted: bool = True
    computed: str | None = None

    @property
    def log_key(self) -> str | None:
        """Return the key of a log state that holds the column, None if no key does."""
        return self.log_path and self.log_path.partition(".")[0]

    def to_sqlalchemy(self, *, primary_key: bool = False) -> sa.Column[Any]:
        computed = [sa.Computed(self.computed, persisted=True)] if self.computed else []
        return sa.Column(
            self.name,
            self.type,
            *computed,
            nullable=self.nullable,
            primary_key=primary_key,
        )


def _equals(name: str) -> tuple[Filter, ...]:
    return (Filter(name, f"m.{name} = :{name}"),)


def _equals_folded(name: str) -> tuple[Filter, ...]:
    return (Filter(name, f"m.slot_{name} = :{name}", folded=True),)


BELIEF = (
    Column(name="chain_id", type=UUID(), versioned=True, log_path="chain_id"),
    Column(name="valid_from", type=_TIME, versioned=True, log_path="belief.valid_from"),
    Column(name="asserted_at", type=_TIME, versioned=True, log_path="belief.asserted_at"),
    Column(
        name="said_until", type=_TIME, nullable=True, versioned=True, log_path="belief.said_until"
    ),
    Column(
        name="retracted_at",
        type=_TIME,
        nullable=True,
        versioned=True,
        log_path="belief.retracted_at",
    ),
    Column(name="void", type=sa.Boolean(), versioned=True, log_path="belief.void"),
    Column(name="ended_by", type=UUID(), nullable=True, versioned=True, log_path="belief.ended_by"),
    Column(
        name="contradicted_by",
        type=UUID(),
        nullable=True,
        versioned=True,
        log_path="belief.contradicted_by",
    ),
    Column(name="merged", type=sa.Boolean(), versioned=True, log_path="belief.merged"),
    Column(name="temporary", type=sa.Boolean(), versioned=True, log_path="belief.temporary"),
    Column(name="tier", type=sa.Text(), versioned=True, log_path="belief.tier"),
    Column(name="covered", type=ARRAY(_TIME), versioned=True, log_path="belief.covered"),
    Column(
        name="valid_until", type=_TIME, nullable=True, versioned=True, log_path="belief.valid_until"
    ),
    Column(
        name="superseded_by",
        type=UUID(),
        nullable=True,
        versioned=True,
        log_path="belief.superseded_by",
    ),
    Column(
        name="superseded_at",
        type=_TIME,
        nullable=True,
        versioned=True,
        log_path="belief.superseded_at",
    ),
    Column(name="known_from", type=_TIME, versioned=True, log_path="belief.known_from"),
)

_IDENTITY = (
    Column(name="agent_id", type=sa.Text(), exported=False),
    Column(
        name="id",
        type=UUID(),
        log_path="id",
        filters=(Filter("ids", "m.id = ANY(CAST(:ids AS uuid[]))"),),
    ),
    Column(name="created_at", type=_TIME, log_path="created_at"),
    Column(name="revision", type=sa.Integer(), log_path="revision"),
    Column(name="erased_at", type=_TIME, nullable=True, inserted=False),
)

# The words of a slot are shared by every version of a chain.
_SLOT = (
    Column(
        name="entity",
        type=sa.Text(),
        wording=Wording.TEXT,
        erased="''",
        of_chain=True,
        log_path="entity",
    ),
    Column(
        name="category",
        type=sa.Text(),
        wording=Wording.TEXT,
        erased="''",
        of_chain=True,
        log_path="category",
    ),
    Column(
        name="key",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        of_chain=True,
        log_path="key",
    ),
    Column(
        name="single_valued",
        type=sa.Boolean(),
        nullable=True,
        erased="NULL",
        of_chain=True,
        log_path="single_valued",
    ),
    Column(
        name="slot_entity",
        type=sa.Text(),
        wording=Wording.TEXT,
        erased="''",
        of_chain=True,
        filters=_equals_folded("entity"),
    ),
    Column(
        name="slot_category",
        type=sa.Text(),
        wording=Wording.TEXT,
        erased="''",
        of_chain=True,
        filters=_equals_folded("category"),
    ),
    Column(
        name="slot_key",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        of_chain=True,
        filters=_equals_folded("key"),
    ),
    Column(
        name="slot_hash",
        type=BYTEA(),
        wording=Wording.MADE_FROM_TEXT,
        erased=":nowhere",
        of_chain=True,
    ),
)

_WORDS = (
    Column(name="content", type=sa.Text(), wording=Wording.TEXT, erased="''", log_path="content"),
    Column(
        name="value",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="value",
    ),
    Column(
        name="details",
        type=JSONB(),
        wording=Wording.TEXT,
        erased="'{}'",
        log_path="details",
        patchable=True,
        filters=(Filter("details", "m.details @> CAST(:details AS jsonb)"),),
    ),
    Column(
        name="dated_by",
        type=JSONB(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="dated_by",
    ),
    Column(
        name="tags",
        type=ARRAY(sa.Text),
        wording=Wording.TEXT,
        erased="'{}'",
        log_path="tags",
        patchable=True,
        filters=(
            Filter("tags_any", "m.tags && CAST(:tags_any AS text[])"),
            Filter("tags_all", "m.tags @> CAST(:tags_all AS text[])"),
        ),
    ),
    Column(
        name="entities",
        type=ARRAY(sa.Text),
        wording=Wording.TEXT,
        erased="'{}'",
        log_path="entities",
        patchable=True,
    ),
    Column(
        name="sources",
        type=ARRAY(sa.Text),
        wording=Wording.TEXT,
        erased="'{}'",
        log_path="sources",
        patchable=True,
    ),
    Column(
        name="source",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="source",
        patchable=True,
    ),
    Column(
        name="session_id",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="session_id",
        patchable=True,
        filters=_equals("session_id"),
    ),
    Column(
        name="project",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="project",
        patchable=True,
        filters=_equals("project"),
    ),
)

_PLAIN_CLAIMS = (
    Column(name="kind", type=sa.Text(), log_path="kind", filters=_equals("kind")),
    Column(
        name="importance",
        type=sa.Double(),
        log_path="importance",
        patchable=True,
        filters=(Filter("min_importance", "m.importance >= :min_importance"),),
    ),
    Column(name="confidence", type=sa.Double(), log_path="confidence", patchable=True),
    Column(name="trust", type=sa.SmallInteger(), log_path="trust", patchable=True),
    Column(name="lifespan", type=sa.Text(), log_path="lifespan", patchable=True),
    Column(name="merged_from", type=ARRAY(UUID), log_path="merged_from"),
    Column(name="said_at", type=_TIME, nullable=True, log_path="said_at"),
    Column(
        name="said_in",
        type=UUID(),
        nullable=True,
        log_path="said_in",
        filters=_equals("said_in"),
    ),
)

# What the service computes from the words of a memory, so that searches and rules find it.
_MADE_FROM_WORDS = (
    Column(name="content_hash", type=BYTEA(), wording=Wording.MADE_FROM_TEXT, erased="''"),
    Column(name="fuzzy_hash", type=BYTEA(), wording=Wording.MADE_FROM_TEXT, erased="''"),
    Column(name="folded_hash", type=BYTEA(), wording=Wording.MADE_FROM_TEXT, erased="''"),
    Column(
        name="value_hash",
        type=BYTEA(),
        nullable=True,
        wording=Wording.MADE_FROM_TEXT,
        erased="NULL",
    ),
    Column(
        name="embedding",
        type=Vector(),
        nullable=True,
        wording=Wording.MADE_FROM_TEXT,
        erased="NULL",
    ),
    # Another database makes the vectors of a change of the embeddings again.
    Column(
        name="embedding_next",
        type=Vector(),
        nullable=True,
        wording=Wording.MADE_FROM_TEXT,
        erased="NULL",
        exported=False,
        inserted=False,
    ),
    Column(name="language", type=REGCONFIG()),
    Column(
        name="lexemes",
        type=TSVECTOR(),
        nullable=True,
        wording=Wording.MADE_FROM_TEXT,
        exported=False,
        inserted=False,
        computed="to_tsvector(language, pair_characters(content, true))",
    ),
    Column(
        name="derived_entity",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="derived.entity",
    ),
    Column(
        name="derived_key",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="derived.key",
    ),
    Column(
        name="derived_value",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="derived.value",
    ),
    Column(
        name="derived_hash",
        type=BYTEA(),
        nullable=True,
        wording=Wording.MADE_FROM_TEXT,
        erased="NULL",
    ),
    # The reason for another look can quote a model, which saw the text.
    Column(
        name="look_again",
        type=sa.Text(),
        nullable=True,
        wording=Wording.TEXT,
        erased="NULL",
        log_path="look_again",
    ),
)

# A cold row is worth no visit by a read of the present. That is a matter of this database alone and
# says nothing about the memory, so it is part of no revision, belief, log state or export.
_STORAGE = (Column(name="cold", type=sa.Boolean(), exported=False, inserted=False),)

MEMORY_COLUMNS = (
    *_IDENTITY,
    *_SLOT,
    *_WORDS,
    *_PLAIN_CLAIMS,
    *_MADE_FROM_WORDS,
    *_STORAGE,
    *BELIEF,
)


def _list_names(columns: Iterable[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


COLUMN_NAMES = _list_names(MEMORY_COLUMNS)
BELIEF_COLUMNS = _list_names(BELIEF)
PATCHABLE = frozenset(column.name for column in MEMORY_COLUMNS if column.patchable)
NULLABLE_PATCHABLE = tuple(
    column.name for column in MEMORY_COLUMNS if column.patchable and column.nullable
)

ERASED_WITH_MEMORY = tuple(
    column for column in MEMORY_COLUMNS if column.erased is not None and not column.of_chain
)
ERASED_WITH_CHAIN = tuple(
    column for column in MEMORY_COLUMNS if column.erased is not None and column.of_chain
)


def _list_log_keys(columns: Iterable[Column]) -> list[str]:
    keys = [column.log_key for column in columns if column.log_key is not None]
    return list(dict.fromkeys(keys))


# Marks for another look come and go without an operation, so the log does not follow them.
_NOT_FOLLOWED = ("id", "look_again")


@cache
def list_logged_columns(*, erased: bool) -> tuple[str, ...]:
    """Return the values of a memory that replaying the log restores; an erased one lost some."""
    names = [
        column.name if column.versioned else column.log_key
        for column in MEMORY_COLUMNS
        if column.log_key not in _NOT_FOLLOWED and not (erased and column.erased is not None)
    ]
    return tuple(dict.fromkeys(name for name in names if name is not None))


# The keys that erasing takes out of a memory's states in the log.
ERASED_LOG_KEYS = _list_log_keys(ERASED_WITH_MEMORY)
ERASED_LOG_KEYS_OF_CHAIN = _list_log_keys(ERASED_WITH_CHAIN)


def set_erased_sql(columns: Iterable[Column]) -> str:
    """Return the assignments of an UPDATE that erases these columns."""
    return ",\n        ".join(f"{column.name} = {column.erased}" for column in columns)


def not_erased_sql(columns: Iterable[Column]) -> str:
    """Return the condition that one of these columns of a memory `m` still has a value."""
    conditions = [f"m.{column.name} IS DISTINCT FROM {column.erased}" for column in columns]
    return "\n        OR ".join(conditions)


def find_copy_type(column: sa.Column[Any]) -> str:
    """Return the name by which psycopg knows the type in a binary COPY."""
    if isinstance(column.type, REGCONFIG):
        return "oid"  # psycopg has no regconfig; Postgres sends one as an oid
    return column.type.compile(dialect=_DIALECT).lower()


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a read; None or empty does not narrow it.

    Words of the slot compare folded. Each field is the parameter of a filter that a column
    declares, except `stale`, which is computed.
    """

    ids: tuple[uuid.UUID, ...] = ()
    kind: str | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    session_id: str | None = None
    project: str | None = None
    said_in: uuid.UUID | None = None
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    min_importance: float | None = None
    details: Mapping[str, Any] | None = None
    stale: bool | None = None


def build_filter_conditions(filters: Filters) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions of these filters on a memory `m`, and their parameters."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    for column in MEMORY_COLUMNS:
        for declared in column.filters:
            value = getattr(filters, declared.parameter)
            if value is None or value == ():
                continue
            conditions.append(declared.condition)
            parameters[declared.parameter] = _to_parameter(declared, value)
    if filters.min_importance is not None and filters.min_importance > 0.5:
        # Postgres reads the index of important memories only if the statement itself says this.
        conditions.append("m.importance > 0.5")
    return conditions, parameters


def _to_parameter(declared: Filter, value: Any) -> Any:
    if declared.folded:
        return fold(value)
    if isinstance(value, Mapping):
        return json.dumps(value)
    return list(value) if isinstance(value, tuple) else value
