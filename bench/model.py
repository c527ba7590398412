"""What a slow model costs those who only search: searches while fifty stores wait for a model that thinks for two seconds."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

from bench.client import Client
from bench.figures import Report, p95
from bench.servers import SERVICE, serving
from bench.world import World, asked_texts, fresh_texts

STORES = 50
THINKS = 2.0


def measure(report: Report, world: World, *, searches: int) -> None:
    """Writes a section: searches of an idle service, and beside the waiting stores."""
    with (
        _slow_model() as url,
        serving(SERVICE, PALIMPSEST_DATABASE_URL=world.url, PALIMPSEST_LLM_BASE_URL=url) as port,
    ):
        _search(port, 30)
        idle = _search(port, searches)
        with ThreadPoolExecutor(STORES) as pool:
            waiting = [pool.submit(_store, port, text) for text in fresh_texts()[-STORES:]]
            time.sleep(0.5)  # by then all of them have been read and encoded
            beside: list[float] = []
            while not all(store.done() for store in waiting):
                beside += _search(port, 20)
            calls = sum(store.result() for store in waiting)
    report.section(
        "Searches beside a slow model",
        f"`POST /v1/search` in an agent of 1,000 memories, alone and while {STORES} stores wait for a model that takes {THINKS:g} s "
        f"({calls} calls to it). Goal: p95 within 1.5.",
        [
            "searches idle",
            "beside",
            "p50 idle ms",
            "p50 beside",
            "p95 idle",
            "p95 beside",
            "p95 ratio",
        ],
        [
            [str(len(idle)), str(len(beside))]
            + [
                f"{value * 1e3:.2f}"
                for value in (median(idle), median(beside), p95(idle), p95(beside))
            ]
            + [f"**{p95(beside) / p95(idle):.2f}**"]
        ],
    )


def _search(port: int, times: int) -> list[float]:
    client = Client(port, World.SMALL)
    queries = [client.prepare("/v1/search", {"query": text}) for text in asked_texts()[:times]]
    taken = [client.timed(queries[i % len(queries)])[0] for i in range(times)]
    client.close()
    return taken


def _store(port: int, text: str) -> int:
    """Stores a fact in another agent; how many calls to the model it took."""
    client = Client(port, "slow")
    answer = json.loads(client.post("/v1/memories", {"content": text, "classify": "model"}))
    client.close()
    calls: int = answer["usage"]["llm_calls"]
    return calls


class _Model(BaseHTTPRequestHandler):
    """Answers every question after a while: nothing relates."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(THINKS)
        said = json.dumps({"judgments": []})
        body = json.dumps(
            {"choices": [{"message": {"content": said}, "finish_reason": "stop"}], "usage": {}}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent: its log would stand between the figures."""


@contextmanager
def _slow_model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
