"""Whether searching costs an agent more as the database grows by other agents' memories."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median

import numpy as np
import psycopg
from sqlalchemy import make_url

from bench.client import Client
from bench.figures import Report, in_turns
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.world import World, asked_texts, database, settle

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
MODES = ("vector", "hybrid")
PARTS = 3  # of the calls at each size: an exponent is fitted to each part, and how far they lie apart says what to think of them


def measure(report: Report, *, rounds: int, sizes: Sequence[int]) -> None:
    """Writes a section: one agent of 1,000 memories searched at every size, in turns with the same agent in a database of its own."""
    taken: dict[str, list[tuple[list[float], list[float]]]] = {mode: [] for mode in MODES}
    with (
        database() as url,
        _still(url) as still,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE pool AS TABLE memories")
        connection.execute("TRUNCATE memories, consolidation_log CASCADE")
        settle(connection, World.SMALL, 1_000, pool="pool")
        for size, known in zip(sizes, (0, *sizes), strict=False):
            for number in range(known // 1_000, size // 1_000):
                settle(connection, f"other-{number:03}", 1_000, pool="pool")
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
            for mode in MODES:
                taken[mode].append(_searched(url, still, mode, rounds))
    report.section(
        "Growth",
        "`POST /v1/search` without the encoder, limit 10, for one agent of 1,000 memories beside so many of other agents; p50 in"
        f" milliseconds, {rounds} calls each, in turns with the same agent alone in a database of its own on the same server. The exponent"
        " is that of their ratio over the number of other memories, which leaves a busy machine out; in brackets, of thirds of the"
        " calls. Goal: 0.05.",
        ["mode", *(f"{size:,}" for size in sizes), "exponent"],
        [row for mode in MODES for row in _rows(mode, sizes, taken[mode])],
    )


@contextmanager
def _still(url: str) -> Iterator[str]:
    """A copy of the database as it is, with the one agent alone."""
    name = "still"
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE palimpsest")
        still = make_url(url).set(database=name).render_as_string(hide_password=False)
        with psycopg.connect(still, autocommit=True) as inner:
            inner.execute("CREATE TABLE pool AS TABLE memories")
            inner.execute("TRUNCATE memories, consolidation_log CASCADE")
            settle(inner, World.SMALL, 1_000, pool="pool")
            inner.execute("VACUUM ANALYZE")
        yield still


def _searched(url: str, still: str, mode: str, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds that searches took here and in the database that stays small. New servers at each size: they plan by its statistics."""
    asked = asked_texts()
    with (
        serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url) as port,
        serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=still) as still_port,
    ):
        clients = [Client(port, World.SMALL), Client(still_port, World.SMALL)]

        def search(client: Client, number: int) -> float:
            return client.timed(
                client.prepare(
                    "/v1/search", {"query": asked[number % len(asked)], "mode": mode, "limit": 10}
                )
            )[0]

        pair = in_turns(
            rounds,
            lambda number: search(clients[0], number),
            lambda number: search(clients[1], number),
        )
    return list(pair.service), list(pair.floor)


def _rows(
    mode: str, sizes: Sequence[int], taken: Sequence[tuple[list[float], list[float]]]
) -> list[list[str]]:
    here = [[f"{median(calls[side]) * 1e3:.2f}" for calls in taken] for side in (0, 1)]
    parts = [
        _exponent(sizes, [(grown[part::PARTS], still[part::PARTS]) for grown, still in taken])
        for part in range(PARTS)
    ]
    exponent = f"**{_exponent(sizes, taken):.3f}** ({min(parts):.3f} to {max(parts):.3f})"
    return [[mode, *here[0], exponent], [f"{mode}, alone", *here[1], ""]]


def _exponent(
    sizes: Sequence[int], taken: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> float:
    ratios = [median(grown) / median(still) for grown, still in taken]
    return float(np.polyfit(np.log(sizes), np.log(ratios), 1)[0])
