"""Count what one call runs of the project's own code, and print it.

    python scripts/trace_calls.py

Each call goes to an application in this process, over an embedded Postgres. Counted is what runs on
the thread of the event loop: functions, the modules and classes that they belong to, and how deep
they call one another.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx

from app.main import create_app
from app.settings import load_settings
from app.store.embedded import embedded_postgres

ROOT = Path(__file__).parent.parent
APP = f"{ROOT / 'app'}{os.sep}"
EDITOR = {"kind": "preference", "category": "tooling", "key": "editor", "value": "Vim"}
LINES = "".join(f'{{"content": "Saw bird {number}"}}\n' for number in range(3))


@dataclass(slots=True)
class Trace:
    """The code that ran, and the most frames of it that stood on one another."""

    codes: set[CodeType] = field(default_factory=set)
    deepest: int = 0

    def note_call(self, frame: FrameType, event: str, _: Any) -> None:
        is_function = frame.f_code.co_flags & CO_OPTIMIZED  # and not the body of a class
        if event != "call" or not is_function or not frame.f_code.co_filename.startswith(APP):
            return
        self.codes.add(frame.f_code)
        depth, outer = 0, frame
        while outer is not None:
            depth += outer.f_code.co_filename.startswith(APP)
            outer = outer.f_back  # type: ignore[assignment]
        self.deepest = max(self.deepest, depth)

    def describe(self) -> str:
        functions = [code for code in self.codes if not code.co_name.startswith("<")]
        modules = {code.co_filename for code in functions}
        classes = {
            (code.co_filename, code.co_qualname.rsplit(".", 2)[-2])
            for code in functions
            if "." in code.co_qualname and "<locals>" not in code.co_qualname
        }
        counts = (len(functions), len(modules), self.deepest, len(classes))
        return " | ".join(f"{count:9}" for count in counts)


@contextmanager
def trace() -> Iterator[Trace]:
    """Count the calls of the block."""
    traced = Trace()
    sys.setprofile(traced.note_call)
    try:
        yield traced
    finally:
        sys.setprofile(None)


async def measure(client: httpx.AsyncClient, agent: str, *, prints: bool) -> None:
    """Make each call for an agent that holds nothing yet, and print what it ran."""

    async def call(name: str, method: str, path: str, **sent: Any) -> httpx.Response:
        headers = {"X-Agent-Id": agent} | sent.pop("headers", {})
        with trace() as traced:
            answer = await client.request(method, path, headers=headers, **sent)
        answer.raise_for_status()
        if prints and name:
            print(f"| {name:24} | {traced.describe()} |")
        return answer

    async def store(name: str, content: str, **more: Any) -> Any:
        answer = await call(name, "POST", "/v1/memories", json={"content": content} | more)
        return answer.json()["memory"]

    await store("", "Uses Emacs", **EDITOR | {"value": "Emacs"})
    await store("", "I live in Porto")
    await store("store with a key", "Uses Vim", **EDITOR)
    await store("store", "Bread is on the table")
    moved = await store("store that ends another", "I moved to Lisbon")
    await call("search", "GET", "/v1/search", params={"q": "Where do I live?"})
    await call("context", "GET", "/v1/context", params={"query": "Where do I live?"})
    await call("history", "GET", f"/v1/memories/{moved['id']}/history")
    await call("", "PATCH", f"/v1/agents/{agent}", json={"mode": "shadow"})
    await store("", "I moved to Faro")
    [review, *_] = (await call("", "GET", "/v1/reviews")).json()["items"]
    await call("accept a review", "POST", f"/v1/reviews/{review['id']}/accept", json={})
    await call("erase", "POST", "/v1/erasures", json={"chain_id": moved["chain_id"]})
    imported = {"Content-Type": "application/x-ndjson", "X-Agent-Id": f"imported-{agent}"}
    await call("import of three lines", "POST", "/v1/import", content=LINES, headers=imported)
    messages = [{"role": "user", "content": "I adopted a dog."}]
    await call("messages", "POST", "/v1/messages", json={"messages": messages, "session_id": "s"})


async def run(url: str) -> None:
    app = create_app(load_settings(database_url=url))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client,
    ):
        # The first calls of a process import and compile what they need.
        await measure(client, "warm", prints=False)
        print("| call                     | functions |   modules |    frames |   classes |")
        print("| --- | --- | --- | --- | --- |")
        await measure(client, "counted", prints=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, embedded_postgres(Path(folder)) as url:
        migrate = [sys.executable, "-m", "app.cli", "migrate"]
        environment = os.environ | {"PALIMPSEST_DATABASE_URL": url}
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        asyncio.run(run(url))


if __name__ == "__main__":
    main()
