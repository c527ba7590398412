"""`python -m bench.bulk [--lines 20000]`: what an import takes over encoding its lines, how fast an export is restored, and batches.

Restoring and batches of 1,000 that nobody judges are compared with the least that the same work costs: a COPY of the same rows by a
superuser, into the same tables with their indexes.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import httpx
import psycopg
from psycopg import sql

from app.embedding.local import LocalEmbedder
from app.networks import FairThreads
from app.services.import_history import CHUNK
from app.settings import load_settings
from app.store import schema
from app.store.embedded import embedded_postgres
from bench.search import servers
from bench.sentences import sentences
from bench.servers import SERVICE, SERVICE_WITHOUT_ENCODER, serving
from bench.store import compare_batches
from bench.world import all_texts

NDJSON = {"Content-Type": "application/x-ndjson"}
TABLES = ("memories", "consolidation_log")
BATCHES = 12


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bulk", description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    texts = list(islice(cycle(sentences(15_000)), arguments.lines))
    lines = [f"{number}: {text}" for number, text in enumerate(texts)]
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        schema.migrate_database(url)
        with serving(SERVICE, PALIMPSEST_DATABASE_URL=url) as port:
            _measure_import(port, lines)
        with serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url) as port:
            _measure_restore(port, url, len(lines), arguments.rounds)
        _measure_batches(url)


def _measure_import(port: int, lines: Sequence[str]) -> None:
    """Import half of the lines before they are encoded here, and half of them afterwards."""
    half = len(lines) // 2
    imported = _import_lines(port, lines[:half])
    encoded = asyncio.run(_encode_lines(lines))
    imported += _import_lines(port, lines[half:])
    print(
        f"Import of {len(lines):,} lines: {imported:.1f} s; encoding them: {encoded:.1f} s; "
        f"{imported / encoded:.2f} times",
        flush=True,
    )


def _import_lines(port: int, lines: Sequence[str]) -> float:
    body = "".join(f"{json.dumps({'content': line})}\n" for line in lines)
    return _post(port, "imported", body.encode())


async def _encode_lines(lines: Sequence[str]) -> float:
    embedder = LocalEmbedder(FairThreads(load_settings().network_threads))
    await embedder.encode(["warm"])
    started = time.perf_counter()
    for first in range(0, len(lines), CHUNK):
        await embedder.encode(lines[first : first + CHUNK])
    return time.perf_counter() - started


def _post(port: int, agent: str, body: bytes) -> float:
    started = time.perf_counter()
    response = httpx.post(
        f"http://127.0.0.1:{port}/v1/import",
        content=body,
        headers={"X-Agent-Id": agent, **NDJSON},
        timeout=None,
    )
    if response.is_error:
        raise RuntimeError(response.text)
    return time.perf_counter() - started


def _measure_restore(port: int, url: str, memories: int, rounds: int) -> None:
    """Restore the agent and copy its rows, in turns."""
    export = httpx.get(
        f"http://127.0.0.1:{port}/v1/export?vectors=true",
        headers={"X-Agent-Id": "imported"},
        timeout=None,
    ).content
    for number in range(rounds):
        restored = _post(port, f"restored-{number}", export)
        copied = _copy_rows(url, f"copied-{number}")
        print(
            f"Restoring {memories:,} memories and as many operations: {restored:.1f} s, "
            f"{memories / restored:,.0f} memories/s; COPY: {copied:.1f} s; "
            f"{restored / copied:.2f} times",
            flush=True,
        )


def _measure_batches(url: str) -> None:
    with servers(url, encoder=False) as (service, floor):
        pair = compare_batches(service, floor, {"classify": False}, BATCHES, iter(all_texts()))
    print(
        f"A batch of 1,000, not judged, encoder left out: {median(pair.service) * 1e3:.0f} ms; "
        f"COPY: {median(pair.floor) * 1e3:.0f} ms; {pair.ratio:.2f} times, p95 {pair.ratio_p95:.2f}"
    )


def _copy_rows(url: str, agent: str) -> float:
    with psycopg.connect(url) as source, psycopg.connect(url) as target:
        target.execute(
            "INSERT INTO agents SELECT %s, created_at, last_known_at FROM agents"
            " WHERE agent_id = 'imported'",
            [agent],
        )
        seconds = 0.0
        for table in TABLES:
            blocks, columns = _read_rows(source, table, agent)
            statement = sql.SQL("COPY {} (agent_id, {}) FROM STDIN (FORMAT BINARY)")
            started = time.perf_counter()
            with target.cursor().copy(statement.format(sql.Identifier(table), columns)) as copy:
                for block in blocks:
                    copy.write(block)
            seconds += time.perf_counter() - started
        started = time.perf_counter()
        target.commit()
        return seconds + time.perf_counter() - started


def _read_rows(
    source: psycopg.Connection[tuple[object, ...]], table: str, agent: str
) -> tuple[list[bytes], sql.Composable]:
    """Return the rows of the imported agent as those of another, as a COPY takes them."""
    names = source.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = CAST(%s AS regclass)"
        " AND attnum > 1 AND NOT attisdropped AND attgenerated = ''",
        [table],
    )
    columns = sql.SQL(", ").join(sql.Identifier(str(name)) for (name,) in names)
    statement = sql.SQL(
        "COPY (SELECT {}, {} FROM {} WHERE agent_id = 'imported') TO STDOUT (FORMAT BINARY)"
    )
    query = statement.format(sql.Literal(agent), columns, sql.Identifier(table))
    with source.cursor().copy(query) as copy:
        return [bytes(block) for block in copy], columns


if __name__ == "__main__":
    main()
