"""`python -m bench.cluster ONE CLUSTER`: what calls cost on a cluster, over the same calls on one server.

ONE and CLUSTER are the URLs of databases in which nothing is yet. CLUSTER is that of a coordinator
that knows its workers. Both get the same rows, and are called in turns. A second run with
`--filled` uses what the first one left.
"""

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from app.store import schema
from app.store.distribution import Node, distribute_database
from app.store.tables import metadata
from bench.client import Client
from bench.figures import in_turns
from bench.scale import MODES
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.vectors import cached_vectors
from bench.world import World, asked_texts, fresh_texts, import_pool, known_texts, settle

SIZES = {"small": 267, "medium": 2_190}
OTHERS = [f"other-{number:03}" for number in range(200)]
MEMORIES_OF_OTHERS = 300
SHARDS = 32


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("one")
    parser.add_argument("cluster")
    parser.add_argument("--filled", action="store_true")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    cached_vectors(known_texts())
    if not arguments.filled:
        _fill(arguments.one)
        _copy(arguments.one, arguments.cluster)
        _distribute(arguments.cluster)
    with ExitStack() as servers:
        ports = [
            servers.enter_context(serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url))
            for url in (arguments.cluster, arguments.one)
        ]
        _measure(ports, arguments.rounds)


def _fill(url: str) -> None:
    schema.migrate_database(url)
    import_pool(url, World.LARGE)
    with psycopg.connect(url, autocommit=True) as connection:
        for agent, count in SIZES.items():
            settle(connection, agent, count)
        for name in OTHERS:
            settle(connection, name, MEMORIES_OF_OTHERS)
        connection.execute("VACUUM ANALYZE")


def _copy(source_url: str, target_url: str) -> None:
    """Copy the rows of all tables into a database that is not distributed yet."""
    schema.migrate_database(target_url)
    with psycopg.connect(source_url) as source, psycopg.connect(target_url) as target:
        target.execute("SET session_replication_role = replica")
        for table in metadata.sorted_tables:
            _copy_table(source, target, table.name)


_LIST_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = CAST(%s AS regclass) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""

_Connection = psycopg.Connection[tuple[Any, ...]]


def _copy_table(source: _Connection, target: _Connection, table: str) -> None:
    columns = [sql.Identifier(name) for (name,) in source.execute(_LIST_COLUMNS, [table])]
    names = {"table": sql.Identifier(table), "columns": sql.SQL(", ").join(columns)}
    read = sql.SQL("COPY (SELECT {columns} FROM {table}) TO STDOUT (FORMAT BINARY)").format(**names)
    write = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)").format(**names)
    target.execute(sql.SQL("DELETE FROM {table}").format(**names))
    with source.cursor().copy(read) as rows, target.cursor().copy(write) as copied:
        for portion in rows:
            copied.write(portion)


def _distribute(url: str) -> None:
    with psycopg.connect(url) as connection:
        nodes = connection.execute(
            "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0"
        ).fetchall()
    parts = conninfo_to_dict(url)
    coordinator = Node(str(parts["host"]), int(str(parts["port"])))
    workers = [Node(host, port) for host, port in nodes]
    distribute_database(url, coordinator=coordinator, workers=workers, shards=SHARDS)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


# --- measuring -----------------------------------------------------------------------------------

_Prepare = Callable[[Client, int], bytes]


def _list_calls() -> dict[str, _Prepare]:
    asked, fresh = asked_texts(), fresh_texts()

    def search_by(mode: str) -> _Prepare:
        return lambda client, number: client.prepare(
            "/v1/search", {"query": asked[number % len(asked)], "mode": mode, "limit": 10}
        )

    calls = {f"search, {mode}": search_by(mode) for mode in MODES}
    calls["list"] = lambda client, _: client.asking("/v1/memories?limit=20")
    calls["context"] = lambda client, number: client.asking(
        f"/v1/context?query={quote(asked[number % len(asked)])}"
    )
    calls["store"] = lambda client, number: client.prepare(
        "/v1/memories", {"content": fresh[number]}
    )
    return calls


def _measure(ports: Sequence[int], rounds: int) -> None:
    print(
        "| call | memories | p50 ms | one server | p95 | one server | p50 ratio | p95 ratio |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for agent, count in SIZES.items():
        clients = [Client(port, agent) for port in ports]
        for name, prepare in _list_calls().items():
            cluster, one = (partial(_time_call, client, prepare) for client in clients)
            pair = in_turns(rounds, cluster, one)
            print(f"| {name} | {count:,} | {' | '.join(pair.cells())} |", flush=True)
    _measure_many(ports, rounds)


def _measure_many(ports: Sequence[int], rounds: int) -> None:
    """Search another agent each time. Their parts lie on all nodes."""
    search_hybrid = _list_calls()["search, hybrid"]
    clients = [[Client(port, name) for name in OTHERS] for port in ports]

    def search(side: int, number: int) -> float:
        return _time_call(clients[side][number % len(OTHERS)], search_hybrid, number)

    cluster, one = (partial(search, side) for side in (0, 1))
    pair = in_turns(rounds, cluster, one, warm_up=2 * len(OTHERS))
    print(
        f"| search, hybrid, {len(OTHERS)} agents | {MEMORIES_OF_OTHERS} | {' | '.join(pair.cells())} |"
    )


def _time_call(client: Client, prepare: _Prepare, number: int) -> float:
    return client.timed(prepare(client, number))[0]


if __name__ == "__main__":
    main()
