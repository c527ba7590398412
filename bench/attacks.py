"""Attacks of one key on the other tenants: `python -m bench.attacks NAME PORT KEY SECONDS`.

Each holds a kind of place for as long as it can. A process of its own carries it out, with low priority: it stands for machines elsewhere.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress

from bench.client import build_head, read_answer, read_request
from bench.sentences import questions, sentences

NICENESS = 15
RECEIVER_SECONDS = 12.0
BOATS = " ".join(f"I own boat {number}." for number in range(900))
LONG_TALK = " ".join(
    f"Anna {number} is a vet. She is ok since May {number % 28 + 1}." for number in range(2_000)
)


class Attacker:
    """Calls of one key, for agents below `evil/`."""

    def __init__(self, port: int, key: str, seconds: float) -> None:
        self.port = port
        self.key = key
        self.end = time.monotonic() + seconds
        self._numbers = itertools.count()

    async def call(self, method: str, path: str, body: object = None, agent: str = "") -> int:
        """Make one call over a connection of its own, and return its status, or 0 if it was cut."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            content = b"" if body is None else json.dumps(body).encode()
            writer.write(self._build_head(method, path, agent, len(content)) + content)
            return await read_answer(reader)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            return 0
        finally:
            writer.close()

    async def repeat(self, call: Callable[[], Awaitable[object]], at_once: int) -> None:
        """Make calls, so many at once, until the end of the attack. Who is refused asks again at once."""

        async def repeat_one() -> None:
            while time.monotonic() < self.end:
                await call()

        await asyncio.gather(*(repeat_one() for _ in range(at_once)))

    def name_agent(self) -> str:
        return f"evil/{next(self._numbers)}"

    def _build_head(self, method: str, path: str, agent: str, length: int | None) -> bytes:
        return build_head(
            method, path, key=self.key, agent=agent or self.name_agent(), length=length
        )

    async def send_blanks(self) -> None:
        """Send an import of blanks, a little each few seconds."""
        _reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = self._build_head("POST", "/v1/import", "", None)
        writer.write(head)
        with suppress(OSError):
            while time.monotonic() < self.end:
                piece = b" " * 40_000 + b"\n"
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
                await asyncio.sleep(5)
        writer.close()

    async def read_nothing(self) -> None:
        """Ask for an export, and read nothing of it."""
        _reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1_024)
        writer.write(self._build_head("GET", "/v1/export", "evil/big", 0))
        await asyncio.sleep(max(0, min(25, self.end - time.monotonic())))
        writer.close()


async def send_boats(evil: Attacker) -> None:
    def call() -> Awaitable[int]:
        message = {"role": "user", "content": BOATS}
        body = {"session_id": evil.name_agent(), "messages": [message]}
        return evil.call("POST", "/v1/messages", body)

    await evil.repeat(call, 12)


async def send_batches(evil: Attacker) -> None:
    texts = iter(itertools.cycle(sentences(4_000)))

    def call() -> Awaitable[int]:
        items = [{"content": f"{next(texts)} {time.monotonic_ns()}"} for _ in range(400)]
        return evil.call("POST", "/v1/memories/batch", {"items": items})

    await evil.repeat(call, 40)


async def search(evil: Attacker) -> None:
    texts: Iterator[str] = iter(itertools.cycle(questions(500)))
    await evil.repeat(
        lambda: evil.call("POST", "/v1/search", {"query": next(texts)}, "evil/big"), 150
    )


async def poll_events(evil: Attacker) -> None:
    await evil.repeat(lambda: evil.call("GET", "/v1/events?after=latest&wait=30"), 250)


async def import_slowly(evil: Attacker) -> None:
    await evil.repeat(evil.send_blanks, 10)


async def export_unread(evil: Attacker) -> None:
    await evil.repeat(evil.read_nothing, 10)


async def receive_slowly(evil: Attacker) -> None:
    """Eight webhooks whose receiver takes twelve seconds, with forty events each."""
    async with await asyncio.start_server(_answer_late, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for number in range(8):
            agent = f"evil/hook{number}"
            await evil.call(
                "POST", "/v1/webhooks", {"url": f"http://127.0.0.1:{port}/", "agents": agent}, agent
            )
            items = [{"content": f"{text} {number}"} for text in sentences(40)]
            await evil.call("POST", "/v1/memories/batch", {"items": items}, agent)
        await asyncio.sleep(max(0, evil.end - time.monotonic()))


async def ping(evil: Attacker) -> None:
    """Pings of a receiver that hangs."""
    async with await asyncio.start_server(_answer_late, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", evil.port)
        content = json.dumps({"url": f"http://127.0.0.1:{port}/", "agents": "evil/ping"}).encode()
        writer.write(evil._build_head("POST", "/v1/webhooks", "evil/ping", len(content)) + content)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        webhook = json.loads(await reader.readexactly(length))["id"]
        writer.close()
        await evil.repeat(
            lambda: evil.call("POST", f"/v1/webhooks/{webhook}/ping", None, "evil/ping"), 25
        )


async def send_long_talk(evil: Attacker) -> None:
    """Long messages, which a worker reads."""

    def call() -> Awaitable[int]:
        body = {
            "session_id": evil.name_agent(),
            "messages": [{"role": "user", "content": LONG_TALK}],
        }
        return evil.call("POST", "/v1/messages", body)

    await asyncio.gather(*(call() for _ in range(25)))
    await asyncio.sleep(max(0, evil.end - time.monotonic()))


async def _answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            await read_request(reader)
            await asyncio.sleep(RECEIVER_SECONDS)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


ATTACKS: dict[str, Callable[[Attacker], Coroutine[None, None, None]]] = {
    "12 messages of 900 facts": send_boats,
    "40 batches of 400 facts": send_batches,
    "150 searches": search,
    "250 polls for events": poll_events,
    "10 slow imports": import_slowly,
    "10 exports that nobody reads": export_unread,
    "8 slow receivers": receive_slowly,
    "25 pings": ping,
    "25 long messages": send_long_talk,
}


def main() -> None:
    name, port, key, seconds = sys.argv[1:]
    os.nice(NICENESS)
    asyncio.run(ATTACKS[name](Attacker(int(port), key, float(seconds))))


if __name__ == "__main__":
    main()
