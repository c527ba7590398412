"""What the worst texts of one agent cost the others: their searches and stores, while a batch is worked on and after its caller hung up."""

import threading
import time
from collections.abc import Callable, Sequence
from statistics import median

from bench.client import Client
from bench.figures import Report, p95
from bench.servers import SERVICE, serving
from bench.world import World, asked_texts, fresh_texts

# Each is the whole batch of a caller who means harm; the last one is a usual batch, which is judged.
BATCHES: dict[str, list[str]] = {
    '30 × 16,000 "ΐ"': [f"{number} " + "\u0390" * 15_990 for number in range(30)],
    '60 × 1,000 "A "': [f"{number} " + "A " * 990 for number in range(60)],
    '60 × 500 "1/1/"': [f"{number} " + "1/1/" * 495 for number in range(60)],
    "1,000 facts": list(fresh_texts()[:1_000]),
}
SECONDS = 12.0


def measure(report: Report, world: World, *, seconds: float = SECONDS) -> None:
    """Writes a section: searches and stores of an agent of 1,000 memories, alone, beside each batch, and after it was given up."""
    rows = []
    for name, texts in BATCHES.items():
        with serving(SERVICE, PALIMPSEST_DATABASE_URL=world.url) as port:
            rows += _measure_beside(port, name, texts, seconds)
    report.section(
        "Searches and stores beside the worst batch",
        f"Another agent sends the batch and hangs up after {seconds:g} s. Milliseconds at the client, which shares the machine. "
        "Goal: p95 of the searches beside it within 3 times idle.",
        [
            "batch",
            "call",
            "p50 idle",
            "beside",
            "after",
            "p95 idle",
            "beside",
            "after",
            "p95 ratio",
        ],
        rows,
    )


def _measure_beside(port: int, name: str, texts: Sequence[str], seconds: float) -> list[list[str]]:
    caller = _Caller(port)
    caller.call_for(1.0)
    idle = caller.call_for(seconds / 3)
    hostile = Client(port, f"hostile-{time.monotonic_ns()}")
    batch = hostile.prepare("/v1/memories/batch", {"items": [{"content": t} for t in texts]})
    waiting = threading.Thread(target=_send_batch, args=(hostile, batch), daemon=True)
    waiting.start()
    time.sleep(0.5)
    beside = caller.call_for(seconds)
    hostile.hang_up()
    time.sleep(0.5)
    after = caller.call_for(seconds / 3)
    rows = []
    for call in idle:
        times = [idle[call], beside[call], after[call]]
        cells = [f"{median(taken) * 1e3:.0f}" for taken in times]
        cells += [f"{p95(taken) * 1e3:.0f}" for taken in times]
        rows.append([name, call, *cells, f"**{p95(beside[call]) / p95(idle[call]):.1f}**"])
    return rows


def _send_batch(client: Client, batch: bytes) -> None:
    try:
        client.timed(batch)
    except (OSError, RuntimeError):
        return  # it hung up


class _Caller:
    """Somebody who searches, stores and looks if the service lives, in turns."""

    def __init__(self, port: int) -> None:
        self._client = Client(port, World.SMALL)
        self._number = 0
        self._calls: dict[str, Callable[[], bytes]] = {
            "search": self._prepare_search,
            "store": self._prepare_store,
            "/livez": lambda: self._client.asking("/livez"),
        }

    def call_for(self, seconds: float) -> dict[str, list[float]]:
        """The seconds that each call took, by its name."""
        taken: dict[str, list[float]] = {call: [] for call in self._calls}
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or not all(taken.values()):
            self._number += 1
            for call, prepare in self._calls.items():
                taken[call].append(self._client.timed(prepare())[0])
        return taken

    def _prepare_search(self) -> bytes:
        texts = asked_texts()
        return self._client.prepare("/v1/search", {"query": texts[self._number % len(texts)]})

    def _prepare_store(self) -> bytes:
        text = f"{fresh_texts()[-self._number]} Ticket {time.monotonic_ns()}."
        return self._client.prepare("/v1/memories", {"content": text})
