"""Every statement keeps the rules by which a Citus cluster can run it (docs/decisions/0020)."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from app.store.placement import DISTRIBUTED, LOCAL, REFERENCE
from app.store.tables import metadata
from support.recorded_statements import read_statements
from support.statement_rules import Database, find_broken_rules
from support.store_statements import (
    has_parts,
    is_template,
    list_composed,
    list_constants,
    split_template,
    squeeze,
)

GOLDEN = Path(__file__).parent / "golden" / "statements.sql"

# Statements about more than one agent, for the operator and for workers. Citus asks all nodes.
OF_MANY_AGENTS = {
    "agents _LIST": "the page of agents that a key may see, with their counts",
    "agent_indexes _LIST": "the directory of indexes",
    "agent_indexes _LIST_LARGE": "which agents should have an index",
    "captures.runs _COUNT_PENDING": "captures of a key that wait for a worker",
    "captures.runs _WAITING": "captures that wait for a runner",
    "captures.vectors _LIST_UNEMBEDDED": "messages without a vector",
    "doctor.reads _AGENT_IDS": "the agents to examine",
    "doctor.reads count_agents": "the agents to examine",
    "log.events _KNOWN_TIMES": "which of the agents that are watched were written to",
    "reembed _LIST_WAITING": "the next memories without a vector of the next model",
    "reembed count_unembedded": "how many those are",
    "sweeps.runs _WAITING": "sweeps of dead workers, of one agent or of all",
    "sweeps.runs _DUE": "agents to sweep",
    "sweeps.work _AGENTS_WITH_MARKS": "agents to sweep",
    "webhooks _DUE": "webhooks with something to send",
}

# Rows that come in lie in a temporary table of the session. Set operations may read it together
# with a table of agents, which joins may not.
_CHECKS_INCOMING = re.compile(r"SELECT(\w+)ASidFROMincoming_\w+WHERE\1ISNOTNULLEXCEPT")

# What the recording lacks, by its function or constant: statements without a table of agents or
# about many agents, and repairs, which change one row of one table.
NOT_RECORDED = {
    "agent_indexes try_lock",
    "agent_indexes drop_index",
    "doctor.reads _SET_IN_TABLE",
    "doctor.reads count_agents",
    "distribution distribute_database",
    "reembed lock_reembedding",
    "reembed begin_reembedding",
    "reembed _set_storage",
    "reembed count_unembedded",
    "schema _open_migration",
    "engine open_owner_session",
    "wrong_values _build_emptying",
}


RECORDED = read_statements(GOLDEN.read_text())
CONSTANTS = [(name, text) for name, text in list_constants() if not is_template(text)]
ALLOWED = {squeeze(text) for name, text in CONSTANTS if name in OF_MANY_AGENTS}


def list_statements() -> Iterator[str]:
    """Yield each statement once: the recorded ones, and the constants of the modules."""
    seen = set(ALLOWED)
    for text in [*RECORDED, *(text for _, text in CONSTANTS)]:
        if squeeze(text) not in seen and not _CHECKS_INCOMING.match(squeeze(text)):
            seen.add(squeeze(text))
            yield text


@pytest.fixture(scope="module")
def database(template_url: str) -> Database:
    with psycopg.connect(template_url) as connection:
        rows = connection.execute(
            "SELECT proname, CASE WHEN bool_or(provolatile = 'v') THEN 'v'"
            " WHEN bool_or(provolatile = 's') THEN 's' ELSE 'i' END FROM pg_proc GROUP BY proname"
        ).fetchall()
    return Database(frozenset(DISTRIBUTED), dict(rows))


def test_every_statement_keeps_the_rules(database: Database) -> None:
    broken = {
        text: rules for text in list_statements() if (rules := find_broken_rules(text, database))
    }
    assert not broken, "\n\n".join(f"{rules}\n{text}" for text, rules in broken.items())


@pytest.mark.slow
def test_a_condition_less_breaks_a_rule(database: Database) -> None:
    """Each condition of each statement is needed: no other one hides that it is gone."""
    unnoticed = []
    for text in list_statements():
        for condition in re.finditer(r"\b(\w+\.)?agent_id = :agent\b", text):
            without = f"{text[: condition.start()]}true{text[condition.end() :]}"
            if not find_broken_rules(without, database):
                unnoticed.append(f"{condition[0]}\n{text}")
    assert not unnoticed, "\n\n".join(unnoticed)


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        (
            "SELECT 1 FROM memories m JOIN reviews r ON r.agent_id = m.agent_id"
            " WHERE m.agent_id = :agent",
            "reviews r is not narrowed by agent_id = :agent",
        ),
        (
            "SELECT 1 FROM memories m WHERE m.agent_id = :agent OR m.cold",
            "memories m is not narrowed by agent_id = :agent",
        ),
        (
            "SELECT 1 FROM agents WHERE agent_id = :agent"
            " AND EXISTS (SELECT FROM memories WHERE chain_id = :id)",
            "memories memories is not narrowed by agent_id = :agent",
        ),
        ("SELECT count(*) FROM memories", "memories memories is not narrowed by agent_id = :agent"),
        (
            "UPDATE sweeps SET alive_at = clock_timestamp() WHERE agent_id = :agent",
            "clock_timestamp() is volatile, in a change",
        ),
        (
            "DELETE FROM sweeps WHERE agent_id = :agent AND id ="
            " (SELECT id FROM sweeps WHERE agent_id = :agent AND alive_at < clock_timestamp())",
            "clock_timestamp() is volatile, in a change",
        ),
        (
            "UPDATE sweeps SET alive_at = alive_at - CAST(:lease AS interval)"
            " WHERE agent_id = :agent",
            "time and interval is stable and reads a column, in a change",
        ),
        (
            "INSERT INTO agents AS a (agent_id) VALUES (:agent) ON CONFLICT (agent_id)"
            " DO UPDATE SET created_at = date_trunc('minute', a.created_at)",
            "date_trunc is not immutable, in ON CONFLICT",
        ),
        (
            "SELECT (SELECT count(*) FROM pg_ts_config) FROM agents WHERE agent_id = :agent",
            "the catalog pg_ts_config is read with the tables of agents",
        ),
        (
            "SELECT 1 FROM memories m JOIN incoming_memories i ON i.id = m.id"
            " WHERE m.agent_id = :agent",
            "the temporary incoming_memories is read with the tables of agents",
        ),
    ],
)
def test_a_broken_rule_is_found(statement: str, rule: str, database: Database) -> None:
    assert find_broken_rules(statement, database) == [rule]


def test_the_list_of_cross_agent_statements_is_no_longer_than_it_must_be(
    database: Database,
) -> None:
    named = {name for name, _ in [*CONSTANTS, *list_composed()]}
    assert named >= set(OF_MANY_AGENTS)
    for name, text in CONSTANTS:
        assert name not in OF_MANY_AGENTS or find_broken_rules(text, database), name


@pytest.mark.parametrize("name", sorted(OF_MANY_AGENTS))
def test_a_statement_of_many_agents_locks_no_rows(name: str) -> None:
    """Citus locks rows of one agent at a time only."""
    texts = [text for other, text in CONSTANTS if other == name]
    assert not [text for text in texts if re.search(r"\bFOR (UPDATE|SHARE)\b", text)]


def test_the_recording_has_every_statement_that_is_composed() -> None:
    recorded = [squeeze(text) for text in RECORDED]
    templates = [(name, text) for name, text in list_constants() if is_template(text)]
    missing = set()
    for name, text in [*list_composed(), *templates]:
        parts = split_template(text)
        if not any(has_parts(statement, parts) for statement in recorded):
            missing.add(name)
    assert missing == NOT_RECORDED


def test_every_table_has_its_place() -> None:
    assert set(DISTRIBUTED) | set(REFERENCE) | set(LOCAL) >= set(metadata.tables)
    for name, table in metadata.tables.items():
        assert (name in DISTRIBUTED) == ("agent_id" in table.columns), name
    for name in DISTRIBUTED:
        # The table of the agents' indexes is partitioned by agent; its parts have keys.
        key = [column.name for column in metadata.tables[name].primary_key]
        assert key[:1] == ["agent_id"] or name == "indexed_memories", name


def test_a_distributed_table_points_to_earlier_ones_only() -> None:
    for number, name in enumerate(DISTRIBUTED):
        referred = {key.column.table.name for key in metadata.tables[name].foreign_keys}
        assert referred <= {*DISTRIBUTED[: number + 1], *REFERENCE}, name
