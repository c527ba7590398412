"""`python -m bench.agents [--agents 1000] [--memories 1000000]`: what many agents in one database cost each other.

The agents' sizes follow Zipf's law. The agent of the middle rank is called in turns with the same
agent alone in a database of its own on the same server.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count, cycle
from statistics import median
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import httpx
import psutil
import psycopg
from sqlalchemy import make_url

from app.domain.agent import AgentId
from app.store import agent_indexes, search
from app.store.columns import Filters
from app.store.engine import (
    Patience,
    begin_for_agent,
    create_engine,
    fetch_rows,
    get_driver,
)
from app.store.index_scope import list_choice_values
from app.store.memories import Point
from bench.client import Client
from bench.figures import p95
from bench.scale import INDEXED_FROM, MODES, build_index, grow
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.sweep import await_first_sweep, sweeping_worker
from bench.vectors import KnownVectors
from bench.world import (
    POOL,
    World,
    asked_texts,
    database,
    fresh_texts,
    known_texts,
    settle,
    stored_texts,
)

ALONE = "alone"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.agents", description=__doc__)
    parser.add_argument("--agents", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=1_000_000, help="of all agents")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=20, help="of each measured load")
    parser.add_argument("--minutes", type=float, default=5, help="of writing")
    arguments = parser.parse_args()
    sizes = _list_sizes(arguments.agents, arguments.memories)
    names = [f"agent-{rank:05}" for rank in range(1, len(sizes) + 1)]
    middle = len(names) // 2
    with database() as url:
        alone = _fill(url, dict(zip(names, sizes, strict=True)), middle)
        print(f"{len(names):,} agents of {sizes[0]:,} to {sizes[-1]:,} memories", flush=True)
        _print_middle(url, alone, names[middle], arguments.rounds)
        for place in (url, alone):
            asyncio.run(_print_planning(place, names[middle]))
        _print_neighbours(url, names, arguments.seconds)
        _print_processes(url, names, arguments.seconds)
        _print_writing(url, names, arguments.minutes)


def _list_sizes(agents: int, memories: int) -> list[int]:
    """Return the sizes by Zipf's law, the largest first."""
    whole = sum(1 / rank for rank in range(1, agents + 1))
    return [max(1, round(memories / whole / rank)) for rank in range(1, agents + 1)]


def _fill(url: str, sizes: dict[str, int], middle: int) -> str:
    """Make the agents, and a second database with one of them. Return the address of that one."""
    only = list(sizes)[middle]
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {ALONE} TEMPLATE palimpsest")
    alone = make_url(url).set(database=ALONE).render_as_string(hide_password=False)
    with psycopg.connect(alone, autocommit=True) as connection:
        settle(connection, only, sizes[only])
        connection.execute("DELETE FROM memories WHERE agent_id = %s", [World.LARGE])
        connection.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        for agent, size in sizes.items():
            if size < POOL:
                settle(connection, agent, size)
            else:
                grow(url, agent, size)
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    for agent, size in sizes.items():
        if size >= INDEXED_FROM:
            build_index(url, agent)
    return alone


# --- one agent among many ------------------------------------------------------------------------

_Prepare = Callable[[Client, int], bytes]


def _list_calls() -> dict[str, _Prepare]:
    asked, fresh = asked_texts(), cycle(fresh_texts())

    def search_by(mode: str) -> _Prepare:
        return lambda client, number: client.prepare(
            "/v1/search", {"query": asked[number % len(asked)], "mode": mode, "limit": 10}
        )

    calls = {f"search, {mode}": search_by(mode) for mode in MODES}
    calls["store"] = lambda client, number: client.prepare(
        "/v1/memories", {"content": next(fresh), "session_id": uuid4().hex}
    )
    return calls


def _print_middle(url: str, alone: str, agent: str, rounds: int) -> None:
    print(
        f"\n{agent}, among all and alone, in turns\n\n"
        "| call | p50 ms | alone | p95 | alone | p95 ratio |\n| --- | --- | --- | --- | --- | --- |"
    )
    with ExitStack() as servers:
        clients = [Client(servers.enter_context(_serve(place)), agent) for place in (url, alone)]
        for name, prepare in _list_calls().items():
            taken: list[list[float]] = [[], []]
            for number in range(rounds + 20):
                for side in (0, 1) if number % 2 else (1, 0):
                    seconds, _ = clients[side].timed(prepare(clients[side], number))
                    if number >= 20:
                        taken[side].append(seconds)
            times = [1e3 * each(side) for each in (median, p95) for side in taken]
            cells = " | ".join(f"{value:.2f}" for value in times)
            print(f"| {name} | {cells} | **{times[2] / times[3]:.2f}** |", flush=True)


@contextmanager
def _serve(url: str) -> Iterator[int]:
    with serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url) as port:
        yield port


# --- planning ------------------------------------------------------------------------------------

_HOW_PLANNED = """
    SELECT coalesce(sum(generic_plans), 0) AS generic, coalesce(sum(custom_plans), 0) AS custom
    FROM pg_prepared_statements
"""


async def _print_planning(url: str, agent: str) -> None:
    """Print how long the server plans a search, and how often it plans one again that it knows."""
    text = asked_texts()[0]
    [vector] = await KnownVectors(known_texts()).encode([text])
    values: dict[str, Any] = {"agent": agent, "as_of": None, "known_at": None, "used_by": None}
    values |= {"query": text, "language": "english", "encoder": KnownVectors.name}
    values |= {"limit": 10, "min_score": 0.0, "max_bytes": 10**7, **list_choice_values()}
    engine = create_engine(url, pool_size=1, patience=Patience())
    for mode in MODES:
        values["vector"] = None if mode == "text" else vector
        statement, filters = search.build_search_statement(mode, Filters(), Point())
        async with begin_for_agent(engine, AgentId(agent)) as connection:
            await (get_driver(connection)).execute("DEALLOCATE ALL")
            planned = []
            for _ in range(20):
                [row] = await fetch_rows(
                    connection, f"EXPLAIN (SUMMARY, FORMAT JSON) {statement}", values | filters
                )
                planned.append(row["QUERY PLAN"][0]["Planning Time"])
            for _ in range(20):
                await fetch_rows(connection, statement, values | filters)
            [how] = await fetch_rows(connection, _HOW_PLANNED, {})
        print(
            f"- {mode}: planned in {median(planned):.2f} ms; prepared and called 20 times:"
            f" {how['custom']} times planned anew, {how['generic']} times not",
            flush=True,
        )
    await engine.dispose()


# --- neighbours ----------------------------------------------------------------------------------

# Spells of work and of idleness take turns, because other work on the machine comes and goes.
SPELLS = 5

_BESIDE = ("search, hybrid", "store")
# The seconds that each call took, by its name.
_Times = dict[str, list[float]]


def _print_neighbours(url: str, names: Sequence[str], seconds: float) -> None:
    print(
        "\nSearches and stores of the middle agent beside what another does\n\n"
        "| beside | call | p50 idle ms | beside | p95 idle | beside | p95 ratio |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    largest, second = names[:2]
    works: dict[str, Callable[[int, Event], None]] = {
        "an import": _import_until,
        "a sweep": lambda port, stop: _sweep_until(port, url, second, stop),
        "an index is built": lambda port, stop: _index_until(url, largest, stop),
    }
    for name, work in works.items():
        with _serve(url) as port:
            client = Client(port, names[len(names) // 2])
            idle: _Times = {call: [] for call in _BESIDE}
            beside: _Times = {call: [] for call in _BESIDE}
            _call_for(client, 2, {call: [] for call in _BESIDE})
            for _ in range(SPELLS):
                _call_for(client, seconds / SPELLS, idle)
                with _working(work, port):
                    _call_for(client, seconds / SPELLS, beside)
            _print_beside(name, idle, beside)


@contextmanager
def _working(work: Callable[[int, Event], None], port: int) -> Iterator[None]:
    stop = Event()
    working = Thread(target=work, args=(port, stop))
    working.start()
    time.sleep(1)
    try:
        yield
    finally:
        stop.set()
        working.join()


def _call_for(client: Client, seconds: float, taken: _Times) -> None:
    """Add the seconds that searches and stores took, one after the other."""
    calls = _list_calls()
    end = time.perf_counter() + seconds
    for number in count():
        for name, times in taken.items():
            times.append(client.timed(calls[name](client, number))[0])
        if time.perf_counter() > end:
            return


def _print_beside(name: str, idle: _Times, beside: _Times) -> None:
    for call in idle:
        times = [1e3 * each(taken[call]) for each in (median, p95) for taken in (idle, beside)]
        cells = " | ".join(f"{value:.2f}" for value in times)
        print(f"| {name} | {call} | {cells} | **{times[3] / times[2]:.2f}** |", flush=True)


def _import_until(port: int, stop: Event) -> None:
    lines = "\n".join(json.dumps({"content": text}) for text in stored_texts())
    while not stop.is_set():
        headers = {"X-Agent-Id": f"importing-{uuid4()}", "Content-Type": "application/x-ndjson"}
        httpx.post(
            f"http://127.0.0.1:{port}/v1/import", content=lines, headers=headers, timeout=600
        ).raise_for_status()


def _sweep_until(port: int, url: str, agent: str, stop: Event) -> None:
    client = Client(port, agent)
    client.post("/v1/sweeps", {})
    client.close()
    with sweeping_worker(url):
        await_first_sweep(url)
        stop.wait()


def _index_until(url: str, agent: str, stop: Event) -> None:
    while not stop.is_set():
        asyncio.run(_drop_index(url, agent))
        build_index(url, agent)


async def _drop_index(url: str, agent: str) -> None:
    engine = create_engine(url, pool_size=1, patience=Patience())
    async with begin_for_agent(engine, AgentId(agent)) as connection:
        await agent_indexes.drop_index(connection, AgentId(agent))
    await engine.dispose()


# --- processes -----------------------------------------------------------------------------------


def _print_processes(url: str, names: Sequence[str], seconds: float) -> None:
    """Print what several processes of the service answer together.

    The client, the server of the database and they share the cores. So the searches per second of
    computing, of the service and the database together, say what a machine with more cores would do.
    """
    print(
        "\n| processes | searches/s | per second of computing | of that with one process |\n"
        "| --- | --- | --- | --- |"
    )
    first = 0.0
    for processes in (1, 2, 4):
        with ExitStack() as servers:
            ports = [servers.enter_context(_serve(url)) for _ in range(processes)]
            _search_all(ports, names, 3)
            before = _measure_computing(url)
            searches = _search_all(ports, names, seconds)
            computing = _measure_computing(url) - before
        each = searches / computing
        first = first or each
        print(
            f"| {processes} | {searches / seconds:.0f} | {each:.1f} | **{each / first:.2f}** |",
            flush=True,
        )


def _search_all(ports: Sequence[int], names: Sequence[str], seconds: float) -> int:
    """Search agents of all sizes over two connections to each process. Return how many answered."""
    answered: list[int] = []
    threads = [
        Thread(
            target=lambda p=port, n=turn: answered.append(_search_until(p, names[n::7], seconds))
        )
        for port in ports
        for turn in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered)


def _search_until(port: int, names: Sequence[str], seconds: float) -> int:
    clients = [Client(port, name) for name in names[:20]]
    search_hybrid = _list_calls()["search, hybrid"]
    end = time.perf_counter() + seconds
    for number in count():
        client = clients[number % len(clients)]
        client.timed(search_hybrid(client, number))
        if time.perf_counter() > end:
            return number
    raise AssertionError


def _measure_computing(url: str) -> float:
    """Return the processor seconds of the services and of the database, so far."""
    with psycopg.connect(url) as connection:
        server = psutil.Process(connection.info.backend_pid).parent()
    assert server
    seconds = 0.0
    for process in [*psutil.Process().children(recursive=True), *server.children()]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system
    return seconds


# --- writing -------------------------------------------------------------------------------------

WRITES_PER_SECOND = 200
WRITERS = 8
# Facts in a call. Two cores carry 30 single stores a second.
BATCH = 25
TABLES = ("memories", "consolidation_log", "memory_usage")

_SIZES = """
    SELECT
        sum(pg_table_size(CAST(name AS regclass))) / 1e6,
        sum(pg_indexes_size(CAST(name AS regclass))) / 1e6
    FROM unnest(CAST(%s AS text[])) AS name
"""
_DEAD = """
    SELECT round(100.0 * n_dead_tup / greatest(n_live_tup, 1), 1), autovacuum_count
    FROM pg_stat_user_tables WHERE relname = 'memories'
"""


def _print_writing(url: str, names: Sequence[str], minutes: float) -> None:
    """Print how the tables grow while facts replace each other, and how much of that is empty."""
    before = _read_sizes(url)
    with ExitStack() as servers:
        ports = [servers.enter_context(_serve(url)) for _ in range(2)]
        written = _write_all(ports, names, minutes * 60)
    after = _read_sizes(url)
    with psycopg.connect(url, autocommit=True) as connection:
        [dead] = connection.execute(_DEAD)
        for table in TABLES:
            connection.execute(f"VACUUM FULL {table}")
    compact = _read_sizes(url)
    print(
        f"\n{written:,} facts replaced others in {minutes:g} minutes ({written / minutes / 60:.0f}/s"
        f" of {WRITES_PER_SECOND} offered); {dead[0]} % of the rows of memories are dead,"
        f" {dead[1]} automatic vacuums of it\n\n"
        "| MB | before | after | written anew | after / written anew |\n"
        "| --- | --- | --- | --- | --- |"
    )
    for name, *sizes in zip(("tables", "indexes"), before, after, compact, strict=True):
        cells = " | ".join(f"{size:.0f}" for size in sizes)
        print(f"| {name} | {cells} | **{sizes[1] / sizes[2]:.2f}** |", flush=True)


def _read_sizes(url: str) -> tuple[float, float]:
    with psycopg.connect(url, autocommit=True) as connection:
        [sizes] = connection.execute(_SIZES, [list(TABLES)])
        return float(sizes[0]), float(sizes[1])


def _write_all(ports: Sequence[int], names: Sequence[str], seconds: float) -> int:
    written: list[int] = []
    threads = [
        Thread(
            target=lambda n=number: written.append(
                _write_until(ports[n % len(ports)], names[n::WRITERS], seconds)
            )
        )
        for number in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(written)


def _write_until(port: int, names: Sequence[str], seconds: float) -> int:
    """Store facts that replace each other in batches, at a steady pace. Return their number."""
    clients = [Client(port, name) for name in names[:50]]
    texts = cycle(fresh_texts())
    started = time.perf_counter()
    for number in count():
        due = started + number * BATCH * WRITERS / WRITES_PER_SECOND
        if due > started + seconds or time.perf_counter() > started + seconds:
            return number * BATCH
        time.sleep(max(0.0, due - time.perf_counter()))
        client = clients[number % len(clients)]
        items = [_build_fact(number, place, next(texts)) for place in range(BATCH)]
        client.post("/v1/memories/batch", {"items": items})
    raise AssertionError


def _build_fact(call: int, place: int, content: str) -> dict[str, str]:
    """Return a fact whose slot holds a value since an earlier call with the same agent."""
    slot = {"category": "bench", "key": f"slot {place}", "value": str(call)}
    return {"content": content, **slot}


if __name__ == "__main__":
    main()
