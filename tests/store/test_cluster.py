"""A database over the nodes of a Citus cluster. What needs no cluster is how the command reads its nodes."""

import asyncio
from itertools import product
from typing import Any

import httpx
import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql

from app.cli import cli
from app.commands.client.calling import Failure
from app.commands.maintenance.distribute import _parse_node, _read_node
from app.domain.agent import AgentId
from app.settings import load_settings
from app.store import schema
from app.store.cluster import find_cluster_faults
from app.store.distribution import Node, distribute_database
from app.store.engine import (
    Patience,
    begin_as_operator,
    begin_for_agent,
    create_engine,
    fetch_rows,
)
from app.store.inserts import create_incoming, move_incoming
from app.store.placement import DISTRIBUTED
from app.store.roles import Role, build_service_url
from support.builders import editor, send
from support.cluster import (
    coordinator,
    distribute,
    list_workers,
    needs_cluster,
    node_urls,
    without_node,
)
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.service import running
from support.urls import name_of

AGENTS = [f"agent-{number}" for number in range(8)]

_RULES = """
    SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = CAST('memories' AS regclass)
    ORDER BY conname
"""
# Write the rows in the order in which they were stored, those of all agents mixed.
_INTERLEAVE = (
    "CREATE INDEX by_id ON memories (id)",
    "CLUSTER memories USING by_id",
    "DROP INDEX by_id",
)
_SPREAD = "SELECT CAST(logicalrelid AS text) FROM pg_dist_partition WHERE partkey IS NOT NULL"


def test_a_node_is_a_host_and_a_port() -> None:
    assert _parse_node("worker-1:5433") == Node("worker-1", 5433)
    assert _read_node("postgresql://me:secret@db.example/memory") == Node("db.example", 5432)


@pytest.mark.parametrize("address", ["worker-1", "worker-1:", ":5432", "worker-1:five"])
def test_another_address_is_refused(address: str) -> None:
    with pytest.raises(Failure, match="write host:port"):
        _parse_node(address)


def test_workers_cannot_reach_a_socket() -> None:
    with pytest.raises(Failure, match="--coordinator"):
        _read_node("postgresql://me@/memory?host=/run/postgresql")


def test_an_embedded_postgres_has_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_DATABASE_URL", raising=False)
    result = CliRunner().invoke(cli, ["distribute", "--worker", "worker-1:5432"])
    assert "set PALIMPSEST_DATABASE_URL" in str(result.exception)


@needs_cluster
def test_every_table_is_spread_once(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        spread = {name for (name,) in connection.execute(_SPREAD)}
    assert spread == set(DISTRIBUTED)
    assert (
        distribute_database(
            database_url, coordinator=coordinator(), workers=list_workers(), shards=4
        )
        == []
    )


async def _list_faults(url: str) -> list[str]:
    engine = create_engine(url, pool_size=1, patience=Patience())
    try:
        async with begin_as_operator(engine) as connection:
            return [fault.sentence for fault in await find_cluster_faults(connection)]
    finally:
        await engine.dispose()


@needs_cluster
def test_a_database_with_memories_is_spread(server_url: str) -> None:
    """Rows move in portions, and a version comes before the one that replaced it."""
    with fresh_database(server_url) as url:
        schema.migrate_database(url, build_service_url(url))
        with (
            running(load_settings(database_url=url)) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            for value, agent in product(("Vim", "Emacs", "Helix"), AGENTS):
                client.headers["X-Agent-Id"] = agent
                send(client, editor(value))
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in _INTERLEAVE:
                connection.execute(statement)
            name = sql.Identifier(name_of(url))
            portion = "ALTER DATABASE {} SET citus.copy_switchover_threshold = '1kB'"
            connection.execute(sql.SQL(portion).format(name))
            rules = connection.execute(_RULES).fetchall()
        distribute(url)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (24,)
            assert connection.execute(_RULES).fetchall() == rules
        assert_healthy(url)


async def _list_seen(url: str, agent: str) -> set[tuple[str, str]]:
    """Each table of agents, and the agents in it that a transaction of this agent sees."""
    engine = create_engine(build_service_url(url), pool_size=1, patience=Patience())
    try:
        async with begin_for_agent(engine, AgentId(agent)) as connection:
            return {
                (table, row["agent_id"])
                for table in DISTRIBUTED
                for row in await fetch_rows(
                    connection, f"SELECT DISTINCT agent_id FROM {table}", {}
                )
            }
    finally:
        await engine.dispose()


@needs_cluster
def test_an_agent_sees_its_own_rows_alone_on_every_node(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for value, agent in product(("Vim", "Emacs"), AGENTS):
            client.headers["X-Agent-Id"] = agent
            send(client, editor(value))
    for agent in AGENTS:
        seen = asyncio.run(_list_seen(database_url, agent))
        assert {name for _, name in seen} == {agent}
        assert {"agents", "memories", "consolidation_log"} <= {table for table, _ in seen}
    assert asyncio.run(_list_seen(database_url, "")) == set()


_PARTS = r"""
    SELECT c.relname FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'agent_id'
    WHERE c.relkind = 'r' AND c.relname ~ '_\d{6,}$'
"""


@needs_cluster
def test_who_logs_in_at_a_worker_sees_no_more(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for agent in AGENTS:
            client.headers["X-Agent-Id"] = agent
            send(client, editor("Vim"))
    found = set()
    for node in node_urls(database_url)[1:]:
        with psycopg.connect(node) as connection:
            connection.execute("SET LOCAL citus.override_table_visibility = off")
            parts = [name for (name,) in connection.execute(_PARTS)]
            for part in parts:
                select = sql.SQL("SELECT DISTINCT agent_id FROM {}").format(sql.Identifier(part))
                found |= {agent for (agent,) in connection.execute(select)}
            connection.execute(sql.SQL("SET LOCAL role = {}").format(sql.Literal(Role.SERVICE)))
            for part in parts:
                select = sql.SQL("SELECT FROM {}").format(sql.Identifier(part))
                assert connection.execute(select).fetchall() == []
    assert found == set(AGENTS)


@needs_cluster
def test_the_doctor_finds_nothing_wrong_with_a_cluster(database_url: str) -> None:
    assert asyncio.run(_list_faults(database_url)) == []


@needs_cluster
def test_the_doctor_names_a_node_that_does_not_answer(database_url: str) -> None:
    worker = list_workers()[0]
    with without_node(database_url, worker):
        [sentence] = asyncio.run(_list_faults(database_url))
    assert sentence == f"The node {worker.host}:{worker.port} does not answer."


@needs_cluster
def test_the_doctor_names_a_node_that_acknowledges_too_early(database_url: str) -> None:
    """A shard that moved from such a node lacked one of 200 facts."""
    worker, url = list_workers()[0], node_urls(database_url)[1]
    with psycopg.connect(url, autocommit=True) as connection:
        name = sql.Identifier(name_of(database_url))
        connection.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(name))
    [sentence] = asyncio.run(_list_faults(database_url))
    assert sentence.startswith(f"The node {worker.host}:{worker.port} has synchronous_commit = off")


_LIST_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = CAST('memories' AS regclass)
      AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""
_MULTIPLY = """
    INSERT INTO incoming_memories ({columns})
    SELECT {values}
    FROM memories m
    CROSS JOIN LATERAL (SELECT number, gen_random_uuid() AS id FROM generate_series(1, 80) AS number)
        AS new
    WHERE m.agent_id = :agent
"""
# Each row has about 1 MB, and is the first of its own chain.
_NEW = {
    "id": "new.id",
    "chain_id": "new.id",
    "content": "repeat('tea ', 250000)",
}


async def _move_large_rows(url: str, agent: AgentId) -> list[dict[str, Any]]:
    with psycopg.connect(url) as connection:
        columns = [name for (name,) in connection.execute(_LIST_COLUMNS)]
    multiply = _MULTIPLY.format(
        columns=", ".join(columns), values=", ".join(_NEW.get(n, f"m.{n}") for n in columns)
    )
    engine = create_engine(url, pool_size=1, patience=Patience())
    try:
        async with begin_for_agent(engine, agent) as connection:
            await create_incoming(connection, "memories")
            await fetch_rows(connection, multiply, {"agent": agent})
            await move_incoming(connection, "memories", columns)
        async with begin_for_agent(engine, agent) as connection:
            count = "SELECT count(*) AS rows, sum(length(content)) AS size FROM memories m"
            return await fetch_rows(
                connection, f"{count} WHERE m.agent_id = :agent", {"agent": agent}
            )
    finally:
        await engine.dispose()


@needs_cluster
def test_rows_that_are_too_many_for_one_portion_arrive(unchecked_database_url: str) -> None:
    agent = AgentId(AGENTS[0])
    with (
        running(load_settings(database_url=unchecked_database_url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60) as client,
    ):
        send(client, editor("Vim"))
    [stored] = asyncio.run(_move_large_rows(unchecked_database_url, agent))
    assert stored["rows"] == 81
    assert stored["size"] > 80_000_000
