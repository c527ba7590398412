"""The tables for SQLAlchemy Core. DESIGN §5 says what each is for.

A test compares them with a migrated database.
"""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import (
    ARRAY,
    BYTEA,
    JSONB,
    REGCONFIG,
    TIMESTAMP,
    TSVECTOR,
    UUID,
)

from app.domain.relation import Relation
from app.domain.relationship import BINDING
from app.store.columns import BELIEF, MEMORY_COLUMNS
from app.store.fragments import ONE_VALUE

metadata = sa.MetaData()

_TIME = TIMESTAMP(timezone=True)


agents = sa.Table(
    "agents",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("last_known_at", _TIME, nullable=False),
    sa.Column("last_erased_at", _TIME),
    sa.Column("mode", sa.Text),
    sa.Column("log_folded_until", _TIME),
    sa.Column("log_head", BYTEA),
    sa.Column("timezone", sa.Text),
    sa.Column("closures_counted_from", _TIME),
)

memories = sa.Table(
    "memories",
    metadata,
    *[
        column.to_sqlalchemy(primary_key=column.name in ("agent_id", "id"))
        for column in MEMORY_COLUMNS
    ],
    sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="memories_agent_fkey"),
    sa.ForeignKeyConstraint(
        ["agent_id", "chain_id"],
        ["memories.agent_id", "memories.id"],
        name="memories_chain_fkey",
    ),
    sa.ForeignKeyConstraint(
        ["agent_id", "superseded_by"],
        ["memories.agent_id", "memories.id"],
        name="memories_superseded_by_fkey",
    ),
    sa.ForeignKeyConstraint(
        ["agent_id", "ended_by"],
        ["memories.agent_id", "memories.id"],
        name="memories_ended_by_fkey",
    ),
    sa.ForeignKeyConstraint(
        ["agent_id", "contradicted_by"],
        ["memories.agent_id", "memories.id"],
        name="memories_contradicted_by_fkey",
    ),
    sa.Index("memories_chain", "agent_id", "chain_id"),
    sa.Index("memories_fuzzy_hash", "agent_id", "fuzzy_hash"),
    sa.Index(
        "memories_slot", "agent_id", "slot_hash", postgresql_where=sa.text("slot_key IS NOT NULL")
    ),
    # Every memory is in it. The condition keeps statements about the present from it, for which it
    # would be the worse index, though the planner cannot know that.
    sa.Index(
        "memories_valid_from",
        *("agent_id", "valid_from"),
        postgresql_where=sa.text("revision >= 0"),
    ),
    sa.Index("memories_warm", "agent_id", "valid_until", postgresql_where=sa.text("NOT cold")),
    sa.Index("memories_created", "agent_id", "created_at", "id"),
    sa.Index(
        "memories_backdated",
        *("agent_id", "created_at", "id", "valid_from"),
        postgresql_where=sa.text("valid_from < created_at"),
    ),
    sa.Index(
        "memories_constraints",
        *("agent_id", "created_at"),
        postgresql_where=sa.text("kind = 'constraint' AND NOT cold"),
    ),
    sa.Index(
        "memories_core",
        *("agent_id", "created_at"),
        postgresql_where=sa.text("tier = 'core' AND NOT cold"),
    ),
    sa.Index(
        "memories_important",
        *("agent_id", "importance", "created_at"),
        postgresql_where=sa.text("importance > 0.5 AND NOT cold"),
    ),
    sa.Index("memories_merged", "agent_id", "id", postgresql_where=sa.text("merged_from <> '{}'")),
    sa.Index(
        "memories_derived",
        "agent_id",
        "derived_hash",
        postgresql_where=sa.text("derived_hash IS NOT NULL"),
    ),
    sa.Index(
        "memories_session",
        "agent_id",
        "session_id",
        postgresql_where=sa.text("session_id IS NOT NULL"),
    ),
    sa.Index(
        "memories_project", "agent_id", "project", postgresql_where=sa.text("project IS NOT NULL")
    ),
    sa.Index(
        "memories_look_again", "agent_id", "id", postgresql_where=sa.text("look_again IS NOT NULL")
    ),
    sa.Index(
        "memories_superseded_by",
        "agent_id",
        "superseded_by",
        postgresql_where=sa.text("superseded_by IS NOT NULL"),
    ),
    sa.Index(
        "memories_of_slots",
        *("agent_id", "slot_hash", "valid_from", "asserted_at", "id"),
        postgresql_include=[
            "chain_id",
            "kind",
            "value_hash",
            "folded_hash",
            "valid_until",
            "created_at",
        ],
        postgresql_where=sa.text(f"NOT void AND {ONE_VALUE}"),
    ),
    sa.Index(
        "memories_of_chains",
        *("agent_id", "chain_id", "valid_from", "asserted_at", "id"),
        postgresql_include=["kind", "value_hash", "folded_hash", "valid_until", "created_at"],
        postgresql_where=sa.text(f"NOT void AND NOT ({ONE_VALUE})"),
    ),
)

memory_beliefs = sa.Table(
    "memory_beliefs",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("memory_id", UUID, primary_key=True),
    sa.Column("known_until", _TIME, nullable=False),
    *[column.to_sqlalchemy(primary_key=column.name == "known_from") for column in BELIEF],
    sa.ForeignKeyConstraint(
        ["agent_id", "memory_id"],
        ["memories.agent_id", "memories.id"],
        name="memory_beliefs_memory_fkey",
    ),
    sa.Index(
        "memory_beliefs_superseded_by",
        "agent_id",
        "superseded_by",
        postgresql_where=sa.text("superseded_by IS NOT NULL"),
    ),
    # Temporary versions may leave the chains of others.
    sa.Index(
        "memory_beliefs_elsewhere",
        "agent_id",
        "chain_id",
        postgresql_where=sa.text("temporary AND chain_id <> memory_id"),
    ),
)

memory_usage = sa.Table(
    "memory_usage",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("memory_id", UUID, primary_key=True),
    sa.Column("access_count", sa.BigInteger, nullable=False),
    sa.Column("last_accessed_at", _TIME),
    sa.Column("last_reinforced_at", _TIME),
    sa.Column("use_count", sa.BigInteger, nullable=False),
    sa.ForeignKeyConstraint(
        ["agent_id", "memory_id"],
        ["memories.agent_id", "memories.id"],
        name="memory_usage_memory_fkey",
    ),
    sa.Index(
        "memory_usage_used",
        "agent_id",
        "last_accessed_at",
        postgresql_where=sa.text("last_accessed_at IS NOT NULL"),
    ),
)

# The condition that judges decided an operation. A review that expires is a NOOP by rule, and
# decides nothing about a fact.
JUDGED = "decided_by NOT IN ('caller', 'reviewer') AND (operation <> 'NOOP' OR relation <> 'NONE')"
# The condition that the signals of an operation led to it. The decision of a reviewer or
# an agent repeats the signals of the review, which led to the review.
_WITHOUT_EFFECT = sorted(r.value for r in Relation if not r.effect.changes_stored)
_HAS_EFFECT = f"relation NOT IN ({', '.join(map(repr, _WITHOUT_EFFECT))})"
LED_TO = f"{_HAS_EFFECT} AND decided_by NOT IN ('reviewer', 'agent')"
# The condition that an operation ended memories because judges said so. `Plan.closures` has the
# same rule.
CLOSES = f"""{_HAS_EFFECT} AND (
    (decided_by IN ('signals', 'judge', 'model', 'agent')
        AND operation NOT IN ('ADD', 'NOOP', 'AMEND'))
    OR (decided_by = 'sweep' AND (signals <> '[]' OR model IS NOT NULL))
)"""

# The condition that an operation has opinions or vetoes on some memories.
HAS_OPINIONS = "coalesce(opinions, vetoed) <> '[]'"

consolidation_log = sa.Table(
    "consolidation_log",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="consolidation_log_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("source_memory_ids", ARRAY(UUID), nullable=False),
    sa.Column("target_memory_id", UUID),
    sa.Column("relation", sa.Text, nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Column("reasoning", sa.Text, nullable=False),
    sa.Column("signals", JSONB, nullable=False),
    sa.Column("decided_by", sa.Text, nullable=False),
    sa.Column("incoming", JSONB),
    sa.Column("before_state", JSONB, nullable=False),
    sa.Column("after_state", JSONB, nullable=False),
    sa.Column("model", sa.Text),
    sa.Column("prompt_version", sa.Text),
    sa.Column("usage", JSONB),
    sa.Column("duration_ms", sa.Double),
    sa.Column("session_id", sa.Text),
    sa.Column("request_id", sa.Text),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("reverts", UUID),
    sa.Column("reverted_by", UUID),
    # Only operations from before opinions were logged have something in `vetoed`.
    sa.Column("opinions", JSONB),
    sa.Column("vetoed", JSONB, nullable=False),
    sa.Column("actor", sa.Text),
    sa.Column("previous_hash", BYTEA),
    sa.Column("hash", BYTEA),
    sa.Column("content_digest", BYTEA),
    sa.Column("content_salt", BYTEA),
    sa.Column(
        "signal_names",
        JSONB,
        sa.Computed("jsonb_path_query_array(signals, '$[*].name')", persisted=True),
    ),
    sa.Index(
        "consolidation_log_request",
        "agent_id",
        "request_id",
        postgresql_where=sa.text("request_id IS NOT NULL"),
    ),
    sa.Index(
        "consolidation_log_session",
        "agent_id",
        "session_id",
        postgresql_where=sa.text("session_id IS NOT NULL"),
    ),
    sa.Index("consolidation_log_created", "agent_id", "created_at", "id"),
    sa.Index("consolidation_log_target", "agent_id", "target_memory_id"),
    sa.Index(
        "consolidation_log_reverts",
        "agent_id",
        "reverts",
        postgresql_where=sa.text("reverts IS NOT NULL"),
    ),
    sa.Index(
        "consolidation_log_opinions",
        *("agent_id", "created_at", "id"),
        postgresql_where=sa.text(HAS_OPINIONS),
    ),
    sa.Index(
        "consolidation_log_troubled",
        *("agent_id", "id"),
        postgresql_where=sa.text("jsonb_typeof(usage -> 'trouble') = 'string'"),
    ),
    sa.Index("consolidation_log_sources", "source_memory_ids", postgresql_using="gin"),
    sa.Index(
        "consolidation_log_signals",
        *("agent_id", "signal_names", "created_at", "id"),
        postgresql_include=["reverted_by"],
        postgresql_where=sa.text(f"signal_names <> '[]' AND {LED_TO}"),
    ),
    sa.Index(
        "consolidation_log_decided",
        *("agent_id", "decided_by", "confidence", "created_at", "id"),
        postgresql_include=["operation", "reverted_by"],
        postgresql_where=sa.text(JUDGED),
    ),
    sa.Index(
        "consolidation_log_closures",
        *("agent_id", "created_at"),
        postgresql_where=sa.text(CLOSES),
    ),
)

# The operations of an archive file while an erasure edits them; empty but for its transaction.
archived_log = sa.Table(
    "archived_log",
    metadata,
    *[
        sa.Column(
            column.name, column.type, primary_key=column.primary_key, nullable=column.nullable
        )
        for column in consolidation_log.columns
        if column.computed is None
    ],
    sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="archived_log_agent_fkey"),
)

# A relationship of a type by which one memory rests on another.
BINDS = f"type IN ({', '.join(repr(link.value) for link in BINDING)})"

memory_relationships = sa.Table(
    "memory_relationships",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("source_id", UUID, primary_key=True),
    sa.Column("target_id", UUID, primary_key=True),
    sa.Column("type", sa.Text, primary_key=True),
    sa.Column("log_id", UUID),
    sa.Column("created_at", _TIME, nullable=False),
    sa.ForeignKeyConstraint(
        ["agent_id", "source_id"],
        ["memories.agent_id", "memories.id"],
        name="memory_relationships_source_fkey",
    ),
    sa.ForeignKeyConstraint(
        ["agent_id", "target_id"],
        ["memories.agent_id", "memories.id"],
        name="memory_relationships_target_fkey",
    ),
    sa.Index("memory_relationships_target", "agent_id", "target_id"),
    sa.Index("memory_relationships_binding", "agent_id", postgresql_where=sa.text(BINDS)),
)

reviews = sa.Table(
    "reviews",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="reviews_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("relation", sa.Text, nullable=False),
    sa.Column("memory_id", UUID),
    sa.Column("log_id", UUID),
    sa.Column("judgments", JSONB, nullable=False),
    sa.Column("relied_on", JSONB, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("said", JSONB),
    sa.Column("incoming", JSONB),
    sa.Column("note", sa.Text),
    sa.Column("decided_at", _TIME),
    sa.Column("decision_log_id", UUID),
    sa.Column("shown", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.ForeignKeyConstraint(
        ["agent_id", "memory_id"], ["memories.agent_id", "memories.id"], name="reviews_memory_fkey"
    ),
    sa.Index("reviews_created", "agent_id", "status", "created_at", "id"),
    sa.Index("reviews_memory", "agent_id", "memory_id"),
    sa.Index("reviews_log", "agent_id", "log_id", postgresql_where=sa.text("log_id IS NOT NULL")),
)

log_checkpoints = sa.Table(
    "log_checkpoints",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("memory_id", UUID, primary_key=True),
    sa.Column("told", JSONB, nullable=False),
    sa.Column("sealed", JSONB, nullable=False),
    sa.ForeignKeyConstraint(
        ["agent_id", "memory_id"],
        ["memories.agent_id", "memories.id"],
        name="log_checkpoints_memory_fkey",
    ),
)

log_archives = sa.Table(
    "log_archives",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="log_archives_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("file", sa.Text),
    sa.Column("sha256", BYTEA),
    sa.Column("operations", sa.Integer, nullable=False),
    sa.Column("first_at", _TIME, nullable=False),
    sa.Column("last_at", _TIME, nullable=False),
)

# One row for each operation that a checkpoint covers. An operation without an archive is still in
# the log, because something there needs it.
folded_operations = sa.Table(
    "folded_operations",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="folded_operations_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("archive_id", UUID),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("decided_by", sa.Text, nullable=False),
    sa.Column("request_id", sa.Text),
    sa.Column("memory_ids", ARRAY(UUID), nullable=False),
    sa.Column("stands", sa.Boolean, nullable=False),
    sa.Column("proposed", sa.Boolean, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("actor", sa.Text),
    sa.Column("previous_hash", BYTEA),
    sa.Column("hash", BYTEA),
    sa.ForeignKeyConstraint(
        ["agent_id", "archive_id"],
        ["log_archives.agent_id", "log_archives.id"],
        name="folded_operations_archive_fkey",
    ),
    sa.Index("folded_operations_created", "agent_id", "created_at"),
    sa.Index(
        "folded_operations_undone", "agent_id", "created_at", postgresql_where=sa.text("NOT stands")
    ),
)

sweeps = sa.Table(
    "sweeps",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="sweeps_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("slot", JSONB),
    sa.Column("slot_hash", BYTEA),
    sa.Column("since", _TIME),
    sa.Column("dry_run", sa.Boolean, nullable=False),
    sa.Column("total", sa.Integer),
    sa.Column("examined", sa.Integer, nullable=False),
    sa.Column("counts", JSONB, nullable=False),
    sa.Column("findings", JSONB, nullable=False),
    sa.Column("place", UUID),
    sa.Column("runner", UUID),
    sa.Column("alive_at", _TIME),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("started_at", _TIME),
    sa.Column("finished_at", _TIME),
    sa.Index("sweeps_created", "agent_id", "created_at", "id"),
    sa.Index(
        "sweeps_open", "agent_id", "id", postgresql_where=sa.text("status IN ('queued', 'running')")
    ),
)

captures = sa.Table(
    "captures",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="captures_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("session_id", sa.Text),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("extract", sa.Text, nullable=False),
    sa.Column("split", sa.Boolean, nullable=False),
    sa.Column("trust", sa.SmallInteger, nullable=False),
    sa.Column("may_end_stated", sa.Boolean, nullable=False),
    sa.Column("extractor", sa.Text),
    sa.Column("trouble", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("request_id", sa.Text),
    sa.Column("turns", sa.Integer, nullable=False),
    sa.Column("repeated", sa.Integer, nullable=False),
    sa.Column("redacted", sa.Integer, nullable=False),
    sa.Column("received_at", _TIME, nullable=False),
    sa.Column("finished_at", _TIME),
    sa.Column("due_at", _TIME),
    sa.Column("runner", UUID),
    sa.Column("alive_at", _TIME),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("error", sa.Text),
    sa.Index("captures_open", "agent_id", "id", postgresql_where=sa.text("state = 'pending'")),
    sa.Index("captures_received", "agent_id", "received_at", "id"),
)

turns = sa.Table(
    "turns",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("capture_id", UUID, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("session_id", sa.Text),
    sa.Column("message_id", sa.Text),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("name", sa.Text),
    sa.Column("content", sa.Text),
    sa.Column("said_at", _TIME, nullable=False),
    sa.Column("offset_minutes", sa.SmallInteger),
    sa.Column("received_at", _TIME, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.Column("skipped", JSONB, nullable=False),
    sa.Column("language", REGCONFIG, nullable=False),
    sa.Column(
        "lexemes",
        TSVECTOR,
        sa.Computed(
            "to_tsvector(language, pair_characters(coalesce(name || ' ', '') || content, true))"
        ),
    ),
    sa.Column("embedding", HALFVEC),
    sa.ForeignKeyConstraint(
        ["agent_id", "capture_id"],
        ["captures.agent_id", "captures.id"],
        name="turns_capture_fkey",
    ),
    sa.UniqueConstraint("agent_id", "capture_id", "position", name="turns_position"),
    sa.Index("turns_session", "agent_id", "session_id", "id"),
    sa.Index(
        "turns_message",
        "agent_id",
        "session_id",
        "message_id",
        unique=True,
        postgresql_where=sa.text("message_id IS NOT NULL"),
    ),
    sa.Index(
        "turns_received",
        "agent_id",
        "received_at",
        postgresql_where=sa.text("content IS NOT NULL"),
    ),
    sa.CheckConstraint("content IS NOT NULL OR embedding IS NULL", name="turns_embedding"),
    sa.Index(
        "turns_unembedded",
        "id",
        postgresql_where=sa.text("embedding IS NULL AND content IS NOT NULL"),
    ),
)

captured_facts = sa.Table(
    "captured_facts",
    metadata,
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("turn_id", UUID, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("content", sa.Text),
    sa.Column("quotes", JSONB, nullable=False),
    sa.Column("operation", sa.Text),
    sa.Column("memory_id", UUID),
    sa.Column("log_id", UUID),
    sa.Column("review_id", UUID),
    sa.Column("problem", sa.Text),
    sa.ForeignKeyConstraint(
        ["agent_id", "turn_id"], ["turns.agent_id", "turns.id"], name="captured_facts_turn_fkey"
    ),
    sa.ForeignKeyConstraint(
        ["agent_id", "memory_id"],
        ["memories.agent_id", "memories.id"],
        name="captured_facts_memory_fkey",
    ),
    sa.Index("captured_facts_turn", "agent_id", "turn_id", "place"),
    sa.Index("captured_facts_memory", "agent_id", "memory_id"),
)

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="idempotency_keys_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("key_hash", BYTEA, primary_key=True),
    sa.Column("fingerprint", BYTEA),
    sa.Column("status", sa.SmallInteger, nullable=False),
    sa.Column("headers", JSONB, nullable=False),
    sa.Column("answer", BYTEA),
    sa.Column("mentioned_ids", ARRAY(UUID), nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Index("idempotency_keys_created", "agent_id", "created_at"),
)

agent_indexes = sa.Table(
    "agent_indexes",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="agent_indexes_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("covers_until", _TIME, nullable=False),
    sa.Column("covers_id", UUID, nullable=False),
    sa.Column("memories", sa.BigInteger, nullable=False),
    sa.Column("live", sa.BigInteger, nullable=False),
    sa.Column("built_at", _TIME, nullable=False),
    sa.Column("counted_at", _TIME, nullable=False),
    sa.Column("stats", JSONB),
    sa.Column("stats_seconds", sa.Double),
    sa.Column("strengths_as_of", _TIME),
    sa.Column("strengths_seconds", sa.Double),
    sa.Column("insights", JSONB),
    sa.Column("insights_ids", ARRAY(UUID)),
    sa.Column("insights_as_of", _TIME),
    sa.Column("insights_seconds", sa.Double),
)

# The memories of a large agent by strength, a thousand in a row.
counted_strengths = sa.Table(
    "counted_strengths",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="counted_strengths_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("as_of", _TIME, primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),
    sa.Column("counted_until", _TIME, nullable=False),
    sa.Column("ids", ARRAY(UUID), nullable=False),
    sa.Column("strengths", ARRAY(sa.Double), nullable=False),
    sa.Column("last_strength", sa.Double, nullable=False),
    sa.Column("last_id", UUID, nullable=False),
)

# Each large agent has a partition. What search needs of its memories is there once more.
indexed_memories = sa.Table(
    "indexed_memories",
    metadata,
    sa.Column("agent_id", sa.Text, nullable=False),
    sa.Column("id", UUID, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("slot_category", sa.Text, nullable=False),
    sa.Column("embedding", HALFVEC, nullable=False),
    sa.Column("lexemes", TSVECTOR, nullable=False),
    postgresql_partition_by="LIST (agent_id)",
)

frequent_words = sa.Table(
    "frequent_words",
    metadata,
    sa.Column(
        "agent_id",
        sa.Text,
        sa.ForeignKey("agents.agent_id", name="frequent_words_agent_fkey"),
        primary_key=True,
    ),
    sa.Column("word", sa.BigInteger, primary_key=True),
    sa.Column("memories", sa.BigInteger, nullable=False),
)

encoder = sa.Table(
    "encoder",
    metadata,
    sa.Column("the_one", sa.Boolean, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("dimensions", sa.Integer, nullable=False),
    sa.Column("next_name", sa.Text),
    sa.Column("next_dimensions", sa.Integer),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("secret_hash", BYTEA, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("scopes", ARRAY(sa.Text), nullable=False),
    sa.Column("agents", ARRAY(sa.Text), nullable=False),
    sa.Column("trust_ceiling", sa.SmallInteger, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("expires_at", _TIME),
    sa.Column("revoked_at", _TIME),
    sa.Column("last_used_at", _TIME),
)

console_sessions = sa.Table(
    "console_sessions",
    metadata,
    sa.Column("cookie_hash", BYTEA, primary_key=True),
    sa.Column("sealed_key", BYTEA, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("expires_at", _TIME, nullable=False),
)

oauth_grants = sa.Table(
    "oauth_grants",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column(
        "key_id",
        sa.Text,
        sa.ForeignKey("api_keys.id", name="oauth_grants_key_fkey", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("redirect_uri", sa.Text, nullable=False),
    sa.Column("challenge", sa.Text, nullable=False),
    sa.Column("audience", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("scopes", ARRAY(sa.Text), nullable=False),
    sa.Column("code_hash", BYTEA, nullable=False),
    sa.Column("access_id", sa.Text, unique=True),
    sa.Column("access_hash", BYTEA),
    sa.Column("access_expires_at", _TIME),
    sa.Column("refresh_hash", BYTEA),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("expires_at", _TIME, nullable=False),
    sa.Index("oauth_grants_key_idx", "key_id"),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", UUID, primary_key=True),
    sa.Column("agents", sa.Text, nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("operations", ARRAY(sa.Text), nullable=False),
    sa.Column("secret", BYTEA, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("next_try_at", _TIME),
    sa.Column("disabled_at", _TIME),
    sa.Column("disabled_because", sa.Text),
    sa.Column("runner", UUID),
    sa.Column("alive_at", _TIME),
    sa.Column("expires_at", _TIME),
)

webhook_positions = sa.Table(
    "webhook_positions",
    metadata,
    sa.Column(
        "webhook_id",
        UUID,
        sa.ForeignKey("webhooks.id", name="webhook_positions_webhook_fkey", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("at", _TIME, nullable=False),
    sa.Column("id", UUID, nullable=False),
    sa.Column("unreadable_since", _TIME),
    sa.Column("next_try_at", _TIME),
    sa.Index(
        "webhook_positions_unreadable",
        "agent",
        postgresql_where=sa.text("unreadable_since IS NOT NULL"),
    ),
)

webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column(
        "webhook_id",
        UUID,
        sa.ForeignKey("webhooks.id", name="webhook_deliveries_webhook_fkey", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("id", UUID, primary_key=True),
    sa.Column("message_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("agent", sa.Text),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("at", _TIME, nullable=False),
    sa.Column("status", sa.SmallInteger),
    sa.Column("problem", sa.Text),
    sa.Column("duration_ms", sa.Double, nullable=False),
)
