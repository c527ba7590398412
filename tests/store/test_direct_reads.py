"""Reads that go to the node of their agent, not through the coordinator."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.settings import load_settings
from app.store import engine as engine_module
from app.store import nodes as nodes_module
from app.store.distribution import Node
from app.store.engine import (
    Patience,
    TimelyConnection,
    connect_for_agent,
    create_engine,
    dispose_engine,
    fetch_rows,
    get_driver,
)
from app.store.known_time import settle_known_time
from app.store.placement import DISTRIBUTED
from app.store.roles import Role, build_service_url
from support.builders import editor, send
from support.cluster import SHARDS, list_workers, needs_cluster, node_urls
from support.service import running
from support.urls import name_of, with_node

pytestmark = needs_cluster

# So many that some lie in the same part.
AGENTS = [AgentId(f"agent-{number}") for number in range(3 * SHARDS)]

# The clocks of the nodes and of this process are one.
A_MOMENT = timedelta(milliseconds=1)

_READ = "SELECT m.content FROM memories m WHERE m.agent_id = :agent"
_FIND_PART = "SELECT get_shard_id_for_distribution_column('memories', CAST(%s AS text))"


@contextmanager
def serving(url: str) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.fixture
def filled_url(database_url: str) -> str:
    """A database in which each agent has a fact that names it."""
    with serving(database_url) as client:
        for agent in AGENTS:
            client.headers["X-Agent-Id"] = agent
            send(client, editor(f"Vim of {agent}"))
    return database_url


@asynccontextmanager
async def open_engine(url: str) -> AsyncIterator[AsyncEngine]:
    """A pool of the service's own login, which is no superuser, after a first read of each agent."""
    engine = create_engine(
        build_service_url(url), pool_size=2, patience=Patience(), reads_nodes=True
    )
    try:
        for agent in AGENTS:
            await read(engine, agent)
        yield engine
    finally:
        await dispose_engine(engine)


async def read(engine: AsyncEngine, agent: AgentId, statement: str = _READ) -> list[dict[str, Any]]:
    async with connect_for_agent(engine, agent) as connection:
        return await fetch_rows(connection, statement, {"agent": agent})


def get_timely(connection: AsyncConnection) -> TimelyConnection:
    driver = get_driver(connection)
    assert isinstance(driver, TimelyConnection)
    return driver


async def await_node(engine: AsyncEngine, agent: AgentId) -> int:
    """Return the port of the node at which the agent is read, as soon as one is."""
    for _ in range(500):
        async with connect_for_agent(engine, agent) as connection:
            driver = get_timely(connection)
            if driver.direct is not None:
                return driver.info.port
        await asyncio.sleep(0.01)
    raise AssertionError("the agent is read through the coordinator")


@contextmanager
def without_coordinator(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise AssertionError("the read went through the coordinator")

    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "_connect_to_coordinator", refuse)
        yield


def test_reads_go_to_the_nodes(filled_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read_all() -> set[int]:
        async with open_engine(filled_url) as engine:
            ports = {await await_node(engine, agent) for agent in AGENTS}
            with without_coordinator(monkeypatch):
                for agent in AGENTS:
                    [row] = await read(engine, agent)
                    assert f"of {agent} " in row["content"]
        return ports

    assert asyncio.run(read_all()) == {worker.port for worker in list_workers()}


def test_an_agent_sees_its_own_rows_alone_in_a_part_that_it_shares(
    filled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a statement that names no agent shows those of another."""
    with psycopg.connect(filled_url) as connection:
        parts = {agent: connection.execute(_FIND_PART, [agent]).fetchone() for agent in AGENTS}
    assert len(set(parts.values())) < len(AGENTS)

    async def list_seen(agent: AgentId, engine: AsyncEngine) -> set[tuple[str, str]]:
        await await_node(engine, agent)
        with without_coordinator(monkeypatch):
            return {
                (table, row["agent_id"])
                for table in DISTRIBUTED
                for row in await read(engine, agent, f"SELECT t.agent_id FROM {table} t")
            }

    async def check_all() -> None:
        async with open_engine(filled_url) as engine:
            for agent in AGENTS:
                seen = await list_seen(agent, engine)
                assert {owner for _, owner in seen} == {agent}
                assert {"agents", "memories", "consolidation_log"} <= {table for table, _ in seen}

    asyncio.run(check_all())


def test_a_read_after_a_move_sees_what_was_written_after_it(
    filled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old node still has the rows of before, because somebody reads them there."""
    first, second = list_workers()
    monkeypatch.setattr(nodes_module, "BELIEVED_FOR", 3600.0)

    async def read_around_move() -> None:
        async with open_engine(filled_url) as engine:
            ports = {agent: await await_node(engine, agent) for agent in AGENTS}
            with _holding_parts(filled_url, first):
                _move_all(filled_url, first, second)
                with serving(filled_url) as client:
                    for agent in AGENTS:
                        client.headers["X-Agent-Id"] = agent
                        send(client, editor("Emacs"))
                for agent in AGENTS:
                    contents = {row["content"] for row in await read(engine, agent)}
                    assert any("Emacs" in content for content in contents), ports[agent]
                await asyncio.sleep(1.1)  # the places are read again after a second at the earliest
                await read(engine, AGENTS[0])
                assert {await await_node(engine, agent) for agent in AGENTS} == {second.port}

    asyncio.run(read_around_move())


@contextmanager
def _holding_parts(url: str, node: Node) -> Iterator[None]:
    """Nobody can drop the parts of `memories` at the node while the block lasts."""
    with psycopg.connect(with_node(url, node.host, node.port)) as connection:
        connection.execute("SET LOCAL citus.override_table_visibility = off")
        parts = connection.execute(
            r"SELECT relname FROM pg_class WHERE relname ~ '^memories_\d{6,}$' AND relkind = 'r'"
        ).fetchall()
        assert parts
        for (part,) in parts:
            connection.execute(sql.SQL("SELECT FROM {} LIMIT 1").format(sql.Identifier(part)))
        yield


def _move_all(url: str, source: Node, target: Node) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        parts = admin.execute(
            "SELECT shardid FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)"
            " JOIN pg_dist_node USING (groupid) WHERE nodeport = %s"
            " AND logicalrelid = CAST('memories' AS regclass)",
            [source.port],
        ).fetchall()
        assert parts
        for (part,) in parts:
            admin.execute(
                "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')",
                [part, source.host, source.port, target.host, target.port],
            )


def test_nodes_that_refuse_the_service_are_read_through_the_coordinator(
    filled_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for url in node_urls(filled_url)[1:]:
        with psycopg.connect(url, autocommit=True) as connection:
            names = {"database": sql.Identifier(name_of(url))}
            roles = sql.SQL(", ").join(map(sql.Identifier, Role))
            for statement in (
                sql.SQL("REVOKE CONNECT ON DATABASE {database} FROM PUBLIC"),
                sql.SQL("GRANT CONNECT ON DATABASE {database} TO {roles}"),
            ):
                connection.execute("SET citus.enable_ddl_propagation = off")
                connection.execute(statement.format(roles=roles, **names))

    async def read_for_a_while() -> None:
        async with open_engine(filled_url) as engine:
            for agent in AGENTS:
                assert len(await read(engine, agent)) == 1
                await asyncio.sleep(0.02)
                async with connect_for_agent(engine, agent) as connection:
                    assert get_timely(connection).direct is None

    with caplog.at_level(logging.WARNING, logger="app.store.nodes"):
        asyncio.run(read_for_a_while())
    messages = sorted(record.message for record in caplog.records)
    assert len(messages) == len(list_workers())
    assert all("is read through the coordinator: " in message for message in messages)


def test_a_read_of_an_agent_that_nobody_wrote_to_leaves_none_behind(filled_url: str) -> None:
    stranger = AgentId("stranger")

    async def settle() -> None:
        async with open_engine(filled_url) as engine:
            await await_node(engine, stranger)
            async with connect_for_agent(engine, stranger) as connection:
                assert get_timely(connection).direct is not None
                await settle_known_time(connection, stranger, datetime.now(UTC) - A_MOMENT)

    asyncio.run(settle())
    with psycopg.connect(filled_url) as connection:
        found = connection.execute("SELECT FROM agents WHERE agent_id = %s", [stranger]).fetchall()
    assert found == []


def test_a_read_at_a_known_time_waits_for_the_write_under_way(filled_url: str) -> None:
    agent = AGENTS[0]

    async def settle_beside_write() -> None:
        async with open_engine(filled_url) as engine:
            await await_node(engine, agent)
            async with connect_for_agent(engine, agent) as connection:
                assert get_timely(connection).direct is not None
                settled = asyncio.create_task(
                    settle_known_time(connection, agent, datetime.now(UTC) - A_MOMENT)
                )
                with psycopg.connect(filled_url) as writer:
                    lock = "SELECT FROM agents WHERE agent_id = %s FOR UPDATE"
                    writer.execute(lock, [agent])
                    await asyncio.sleep(0.5)
                    assert not settled.done()
                await settled

    asyncio.run(settle_beside_write())


def test_a_read_whose_session_at_the_node_ended_is_answered(filled_url: str) -> None:
    async def end_sessions_and_read() -> None:
        async with open_engine(filled_url) as engine:
            for _, agent in product(range(2), AGENTS):
                await await_node(engine, agent)
                async with connect_for_agent(engine, agent) as connection:
                    _end_sessions(filled_url)
                    rows = await fetch_rows(connection, _READ, {"agent": agent})
                assert len(rows) == 1

    asyncio.run(end_sessions_and_read())


def _end_sessions(url: str) -> None:
    """End the sessions of the service's login at the workers."""
    for node in node_urls(url)[1:]:
        with psycopg.connect(node, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename = 'palimpsest'"
            )
