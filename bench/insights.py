"""What insights into a long history cost over counting the rows that they read."""

import tempfile
import time
from pathlib import Path

import psycopg

from app.embedding.local import LocalEmbedder
from app.store import schema
from app.store.embedded import embedded_postgres
from bench import history
from bench.client import Client
from bench.figures import Report, in_turns
from bench.servers import SERVICE, serving

AGENT = "old"
OTHERS = 10

_READS = {
    "churn": ("memories",),
    "flip_flops": ("memories",),
    "lifetimes": ("memories",),
    "retire_rates": ("consolidation_log",),
    "signals": ("consolidation_log", "reviews"),
    "stale_constraints": ("memories", "reviews", "memory_relationships"),
    "chain_lengths": ("memories",),
}
_HEAD = ["section", "p50 ms", "count p50", "p95", "count p95", "p50 ratio", "p95 ratio"]


def measure(report: Report, *, rounds: int, lines: int) -> None:
    """Writes a section: an agent with so many slots and chains, beside ten others with as many between them."""
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        schema.migrate_database(url)
        others = {f"other-{number}": lines // OTHERS for number in range(OTHERS)}
        history.make(url, {AGENT: lines} | others, dimensions=LocalEmbedder.dimensions)
        with (
            serving(SERVICE, PALIMPSEST_DATABASE_URL=url) as port,
            psycopg.connect(url, autocommit=True) as connection,
        ):
            client = Client(port, AGENT)
            rows = [_row(client, connection, section, rounds) for section in _READS]
            client.close()
            counted = {
                table: _count(connection, table)[1]
                for table in ("memories", "consolidation_log", "reviews")
            }
    told = ", ".join(f"{number:,} of {table}" for table, number in counted.items())
    report.section(
        "Insights",
        f"`GET /v1/insights?section=…` of an agent with {told}, beside as many of {OTHERS} others; {rounds} calls each, in turns with"
        " `SELECT count(*)` over the agent's rows in the tables that the section reads. Goal: under 200 ms for 100,000 memories.",
        _HEAD,
        rows,
    )


def _row(
    client: Client, connection: psycopg.Connection[tuple[int]], section: str, rounds: int
) -> list[str]:
    request = client.asking(f"/v1/insights?section={section}")
    pair = in_turns(
        rounds,
        lambda _: client.timed(request)[0],
        lambda _: sum(_count(connection, table)[0] for table in _READS[section]),
        warm_up=5,
    )
    return [section, *pair.cells()]


def _count(connection: psycopg.Connection[tuple[int]], table: str) -> tuple[float, int]:
    """Seconds that counting the agent's rows took, and how many there are."""
    started = time.perf_counter()
    row = connection.execute(
        f"SELECT count(*) FROM {table} WHERE agent_id = %s".encode(), [AGENT]
    ).fetchone()
    assert row
    return time.perf_counter() - started, row[0]
