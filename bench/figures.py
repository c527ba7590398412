"""Timings, their medians and ratios, and the table they are written to."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import psycopg

from bench.servers import ROOT

RESULTS = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds that the service and the floor took for the same calls, taken in turns."""

    service: Sequence[float]
    floor: Sequence[float]

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return median(self.service) / median(self.floor)

    @property
    def ratio_p95(self) -> float:
        return p95(self.service) / p95(self.floor)

    def cells(self) -> list[str]:
        """p50 and p95 of both in milliseconds, and their ratios."""
        values = [median(self.service), median(self.floor), p95(self.service), p95(self.floor)]
        return [
            *(f"{value * 1e3:.2f}" for value in values),
            f"**{self.ratio:.2f}**",
            f"{self.ratio_p95:.2f}",
        ]


HEAD = ["service p50 ms", "floor p50", "service p95", "floor p95", "p50 ratio", "p95 ratio"]


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def in_turns(
    rounds: int,
    service: Callable[[int], float],
    floor: Callable[[int], float],
    *,
    warm_up: int = 20,
) -> Pair:
    """Calls both once per round, the first of them alternating; what either returns is the seconds it took."""
    taken: tuple[list[float], list[float]] = [], []
    for number in range(warm_up + rounds):
        calls = [(0, service), (1, floor)]
        for side, call in calls if number % 2 else reversed(calls):
            seconds = call(number)
            if number >= warm_up:
                taken[side].append(seconds)
    return Pair(*taken)


@dataclass(slots=True)
class Report:
    """Sections of the results, printed as they come and written at the end."""

    url: str
    quick: bool
    lines: list[str] = field(default_factory=list)

    def section(
        self, title: str, explanation: str, head: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> None:
        table = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
        text = [f"## {title}", "", explanation, "", *table, ""]
        print("\n".join(text), flush=True)
        self.lines += text

    def write(self, path: Path) -> None:
        path.write_text(
            "\n".join([*_heading(self.url, quick=self.quick), *self.lines]).rstrip() + "\n"
        )
        print(f"written to {path}")


def _heading(url: str, *, quick: bool) -> list[str]:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    machine = (
        f"{os.cpu_count()} cores ({_processor()}), load {os.getloadavg()[1]:.1f} over five minutes"
    )
    return [
        "# What the service costs over the least that the same work costs",
        "",
        f"Written by `python -m bench{' --quick' if quick else ''}` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC at {_commit()}.",
        "",
        f"{machine}; Python {platform.python_version()}, {versions}; {_postgres(url)}.",
        "",
        "The floor is a bare Starlette application in a uvicorn process of its own (`bench/floor.py`): it encodes the text once,",
        "runs the same SQL over raw psycopg, prepared, and sends as many bytes as the service does. Both are called in turns over one kept",
        "connection each, from a third process whose own cost is the same on both sides. Times are milliseconds at the client; only the",
        "ratios mean something on another machine, and beside other work they come out too high: it costs most where most is handed over.",
        "",
    ]


_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "psycopg", "onnxruntime")


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()

    changed = " with uncommitted changes in `app/`" if git("status", "--porcelain", "app") else ""
    return f"commit {git('rev-parse', '--short', 'HEAD') or 'unknown'}{changed}"


def _processor() -> str:
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor()


def _postgres(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            """SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
                      current_setting('fsync'), current_setting('synchronous_commit'), current_setting('shared_buffers')"""
        ).fetchone()
    assert row
    return (
        "Postgres {} with pgvector {} (fsync {}, synchronous_commit {}, shared_buffers {})".format(
            *row
        )
    )
