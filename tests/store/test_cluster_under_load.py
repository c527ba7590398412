"""A cluster while many write: a shard moves, or a worker goes away.

Callers hear 503 at worst, nothing acknowledged is lost, and whoever wrote reads it at once.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from app.store.distribution import Node
from support.cluster import list_workers, needs_cluster, without_node
from support.service import running
from support.writers import wait_until

pytestmark = needs_cluster

AGENTS = [f"agent-{number}" for number in range(16)]
WRITERS = 4

_PLACES = """
    SELECT agent, shard.shardid, node.nodename, node.nodeport
    FROM unnest(CAST(%s AS text[])) AS agent
    CROSS JOIN LATERAL (
        SELECT get_shard_id_for_distribution_column('memories', agent) AS shardid
    ) AS shard
    JOIN pg_dist_placement AS place ON place.shardid = shard.shardid
    JOIN pg_dist_node AS node ON node.groupid = place.groupid
"""


@dataclass
class Load:
    """What writers were answered: ids by agent, and how often each status came for an agent.

    `reads` are of the memories that were just stored.
    """

    address: str
    stored: dict[str, set[str]] = field(default_factory=lambda: {agent: set() for agent in AGENTS})
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    reads: Counter[tuple[str, int]] = field(default_factory=Counter)
    stop: Event = field(default_factory=Event)

    def write(self, writer: int, agents: Sequence[str]) -> None:
        with httpx.Client(base_url=self.address, timeout=60) as client:
            for number in count():
                agent = agents[number % len(agents)]
                value = f"{writer}.{number}"
                body = {"content": f"Number {value}", "key": f"slot {number % 7}", "value": value}
                headers = {"X-Agent-Id": agent}
                answer = client.post("/v1/memories", json=body, headers=headers)
                self.statuses[agent, answer.status_code] += 1
                if answer.is_success:
                    memory = answer.json()["memory"]["id"]
                    self.stored[agent].add(memory)
                    read = client.get(f"/v1/memories/{memory}", headers=headers)
                    self.reads[agent, read.status_code] += 1
                else:
                    time.sleep(0.1)
                if self.stop.is_set():
                    return

    def count_of(self, status: int, agents: Sequence[str]) -> int:
        return sum(self.statuses[agent, status] for agent in agents)

    def await_stored(self, agents: Sequence[str], more: int = 20) -> None:
        """Waits until so many more facts of these agents were stored."""
        enough = self.count_of(201, agents) + more
        wait_until(lambda: self.count_of(201, agents) >= enough)

    def await_refused(self, agents: Sequence[str]) -> None:
        before = self.count_of(503, agents)
        wait_until(lambda: self.count_of(503, agents) > before)

    def assert_nothing_lost(self, url: str) -> None:
        with psycopg.connect(url) as connection:
            rows = connection.execute("SELECT agent_id, CAST(id AS text) FROM memories").fetchall()
        for agent, ids in self.stored.items():
            assert ids <= {memory for of, memory in rows if of == agent}


@contextmanager
def load(url: str) -> Iterator[Load]:
    """Lets writers write for all agents while the block lasts.

    Afterwards all that was stored must be there, and callers must have heard 503 at worst.
    """
    with running(load_settings(database_url=url)) as address:
        under_way = Load(address)
        writers = [
            Thread(target=under_way.write, args=[writer, AGENTS[writer::WRITERS]])
            for writer in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        try:
            under_way.await_stored(AGENTS)
            yield under_way
        finally:
            under_way.stop.set()
            for writer in writers:
                writer.join()
    assert {status for _, status in under_way.statuses} <= {201, 503}
    assert {status for _, status in under_way.reads} <= {200, 503}
    under_way.assert_nothing_lost(url)


def list_places(connection: psycopg.Connection[tuple[Any, ...]]) -> list[tuple[str, int, Node]]:
    """Each agent, the shard of its memories and the node of that."""
    rows = connection.execute(_PLACES, [AGENTS]).fetchall()
    return [(agent, shard, Node(host, port)) for agent, shard, host, port in rows]


@pytest.mark.parametrize("mode", ["block_writes", "force_logical"])
def test_a_shard_moves_to_another_worker(database_url: str, mode: str) -> None:
    first, second = list_workers()
    with load(database_url) as under_way, psycopg.connect(database_url, autocommit=True) as admin:
        agents = [agent for agent, _, node in list_places(admin) if node == first]
        shards = {shard for _, shard, node in list_places(admin) if node == first}
        for shard in shards:
            admin.execute(
                "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, %s)",
                [shard, first.host, first.port, second.host, second.port, mode],
            )
        assert {node for *_, node in list_places(admin)} == {second}
        under_way.await_stored(agents)


def test_a_worker_goes_away_and_comes_back(database_url: str) -> None:
    first, _ = list_workers()
    with load(database_url) as under_way:
        with psycopg.connect(database_url) as admin:
            places = list_places(admin)
        lost = [agent for agent, _, node in places if node == first]
        others = [agent for agent, _, node in places if node != first]
        assert lost
        assert others
        for _ in range(3):
            with without_node(database_url, first):
                under_way.await_refused(lost)
                under_way.await_stored(others)
            under_way.await_stored(lost)
