"""A scripted model: an OpenAI-compatible server over real HTTP, whose every answer the test decides."""

import asyncio
import base64
import codecs
import json
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import httpx

from app.classification.model.check import PAIRS

TEN_MEGABYTES = 10 * 2**20
_TLS = ssl.create_default_context()


def http() -> httpx.AsyncClient:
    """An HTTP client for a test; one that loads no certificates of its own, which takes longer than most tests."""
    return httpx.AsyncClient(verify=_TLS)


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent, and when."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value

    @property
    def data(self) -> Any:
        """The question's data, as it stands between the tags of the prompt."""
        return json.loads(
            self.json["messages"][-1]["content"].split("<data>\n")[1].split("\n</data>")[0]
        )

    @property
    def candidates(self) -> list[dict[str, Any]]:
        return [candidate for asked in self.data for candidate in asked["candidates"]]

    @property
    def numbers(self) -> list[int]:
        return [candidate["candidate"] for candidate in self.candidates]

    @property
    def texts(self) -> list[str]:
        """Every text of the data, the new ones first."""
        new = [asked["new"]["text"] for asked in self.data]
        return [*new, *(candidate["text"] for candidate in self.candidates)]

    @property
    def response_format(self) -> str | None:
        form: dict[str, Any] | None = self.json.get("response_format")
        return None if form is None else str(form["type"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: an HTTP answer after a delay, or none. `cut` ends the connection after so many bytes of the body."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0
    silent: bool = False
    reset: bool = False
    cut: int | None = None


Step = Answer | Callable[[Request], Answer]


class ScriptedModel:
    """Serves in a thread of its own, as a context manager; the n-th request is answered by the n-th step, the last step repeats."""

    def __init__(self, *steps: Step) -> None:
        self.requests: list[Request] = []
        self._steps = list(steps)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._port = 0

    @property
    def url(self) -> str:
        """The base URL, as PALIMPSEST_LLM_BASE_URL takes it."""
        return f"http://127.0.0.1:{self._port}/v1"

    def then(self, *steps: Step) -> None:
        """Forgets the script and the requests and goes on with these steps."""
        self.requests.clear()
        self._steps[:] = steps

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the scripted model did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        conversations: set[asyncio.Task[None]] = set()

        def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            conversations.add(asyncio.ensure_future(self._converse(reader, writer)))

        server = await asyncio.start_server(converse, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        await asyncio.gather(*conversations, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(await _read(reader), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, as it may
        finally:
            writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        step = self._steps[min(len(self.requests), len(self._steps) - 1)]
        self.requests.append(request)
        answer = step(request) if callable(step) else step
        await self._pause(None if answer.silent else answer.delay)
        if answer.silent:
            return
        if answer.reset:
            linger = struct.pack("ii", 1, 0)  # close with RST
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return
        length = (
            {}
            if "Transfer-Encoding" in answer.headers
            else {"Content-Length": str(len(answer.body))}
        )
        headers = {**length, "Connection": "close", **answer.headers}
        head = f"HTTP/1.1 {answer.status} Scripted\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        writer.write(head.encode("latin-1") + b"\r\n" + answer.body[: answer.cut])
        await writer.drain()

    async def _pause(self, seconds: float | None) -> None:
        """Waits so long, or (None) until the server stops; never longer than that."""
        if seconds != 0.0:
            await asyncio.wait([asyncio.ensure_future(self._stop.wait())], timeout=seconds)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, value in (line.split(":", 1) for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path, _ = first.split(" ", 2)
    return Request(method, path, headers, body)


# --- answers --------------------------------------------------------------------------------------------------------------------


def says(text: str | None, *, finish: str = "stop", usage: bool = True, **message: Any) -> Answer:
    """A chat completion with this text."""
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
    }
    if usage:
        completion["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return Answer(json.dumps(completion).encode())


def judgment(
    candidate: Any,
    relation: Any = "UPDATE",
    confidence: Any = 0.9,
    reason: Any = "Another value now.",
    text: Any = None,
) -> dict[str, Any]:
    return {
        "candidate": candidate,
        "reason": reason,
        "relation": relation,
        "confidence": confidence,
        "text": text,
    }


def answer_text(*judgments: Any, **more: Any) -> str:
    """The JSON of an answer with these judgments. NaN is written as Python writes it."""
    return json.dumps({"judgments": list(judgments), **more})


def judges(*judgments: Any, **more: Any) -> Answer:
    """A right answer with these judgments."""
    return says(answer_text(*judgments, **more))


def every(relation: str, confidence: float = 1.0) -> Callable[[Request], Answer]:
    """The same judgment about every candidate of the request."""
    return lambda request: judges(
        *(judgment(number, relation, confidence) for number in request.numbers)
    )


def quoting(relation: str, confidence: float, *, delay: float = 0.0) -> Callable[[Request], Answer]:
    """A model that quotes the candidates in its reasons."""
    return lambda request: replace(
        judges(
            *(
                judgment(number, relation, confidence, request.texts[number])
                for number in request.numbers
            )
        ),
        delay=delay,
    )


def knows(request: Request) -> Answer:
    """A good model: it answers the pairs of the check of a model as they are."""
    endings = {(pair.incoming, pair.stored) for pair in PAIRS if pair.ends}
    incoming, *stored = request.texts
    relations = ["UPDATE" if (incoming, text) in endings else "NONE" for text in stored]
    return judges(*map(judgment, request.numbers, relations))


def fails(
    status: int, message: str = "scripted failure", *, retry_after: str | None = None
) -> Answer:
    headers = {"Content-Type": "application/json"} | (
        {"Retry-After": retry_after} if retry_after is not None else {}
    )
    return Answer(
        json.dumps({"error": {"message": message, "type": "scripted"}}).encode(), status, headers
    )


def understands(*formats: str | None, answer: Answer) -> Callable[[Request], Answer]:
    """Answers requests of these response formats (None = no format said), and 400 to the others."""
    return lambda request: (
        answer
        if request.response_format in formats
        else fails(400, "response_format.type is not supported")
    )


SILENCE = Answer(silent=True)
RESET = Answer(reset=True)
RIGHT = judges(judgment(1))
TRUNCATED_JSON = says(
    '{"judgments": [{"candidate": 1, "relation": "CONTRADICTION", "confidence": 1.0, "reason": "bec'
)
TRUNCATED_BODY = replace(RIGHT, cut=60)
IN_PROSE = says(f"Sure! Here is my answer:\n```json\n{answer_text(judgment(1))}\n```\nDone.")
REFUSAL = says(None, refusal="I'm sorry, I can't help with that.")
CUT_OFF = says('{"judgments": [', finish="length")
EMPTY = says("")
TEN_MB = says("x" * TEN_MEGABYTES)
TEN_MB_IN_CHUNKS = Answer(
    b"A00000\r\n" + b"x" * TEN_MEGABYTES + b"\r\n0\r\n\r\n",
    headers={"Transfer-Encoding": "chunked"},
)
HTML = Answer(b"<html><body>Welcome to nginx!</body></html>", headers={"Content-Type": "text/html"})
SLOW = replace(RIGHT, delay=2.0)


def right_after(event: threading.Event) -> Step:
    """Answer right, but not before the event."""

    def answer(_: Request) -> Answer:
        assert event.wait(60)
        return RIGHT

    return answer


# --- the obedient model ---------------------------------------------------------------------------------------------------------

# An order and the relation that does it.
_ORDERS = {
    "RETRACTION": r"revok|retract|forget|delet|remov|cancel|erase|wipe|lösch|vergiss|oubli|supprim|borra|olvida"
    r"|删除|忘记|削除|忘れ|удали|забудь|احذف|삭제|hapus|annulla|हटा|\bsil\b",
    "UPDATE": r"supersed|replac|overwrit|outdated|ersetz|remplac|reemplaz|替换|замени|置き換え|استبدل|교체|değiştir",
    "DUPLICATE": r"duplicate|noop|already known|ignore the (new|incoming)|do not store",
    "COMPLEMENT": r"merge|combine",
}
_TAGS = re.compile("[\U000e0020-\U000e007e]")
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]")


def obedient(request: Request) -> Answer:
    """A model that does what any text of the data tells it, as harmfully as it can, and beyond what it was asked.

    It reads hidden and encoded orders too. An order without a number is obeyed for every candidate; what is not understood as
    an order contradicts everything. Then it adds candidates that do not exist.
    """
    orders = "\n".join(reading for text in request.texts for reading in _readings(text))
    if (fake := _fake_answer(orders)) is not None:
        return says(fake)
    relation = next(
        (
            relation
            for relation, order in _ORDERS.items()
            if re.search(order, orders, re.IGNORECASE)
        ),
        "CONTRADICTION",
    )
    named = [
        int(number)
        for number in re.findall(
            r"(?:candidate|kandidat|candidat|candidato)\w*\W{0,3}(\d{1,9})", orders, re.IGNORECASE
        )
    ]
    numbers = [*request.numbers, *named, 0, -1, 10**9]
    return judges(
        *(judgment(number, relation, 1.0, orders[:2000], orders[:20_000]) for number in numbers)
    )


worst = every("CONTRADICTION")


def _readings(text: str) -> list[str]:
    """The text as it stands, and with what may be hidden in it."""
    tags = "".join(chr(ord(c) - 0xE0000) for c in _TAGS.findall(text))
    return [
        text,
        _HIDDEN.sub("", text),
        tags,
        text[::-1],
        codecs.decode(text, "rot13"),
        *map(_decoded, re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text)),
    ]


def _decoded(word: str) -> str:
    return base64.b64decode(word + "=" * (-len(word) % 4), validate=False).decode(
        "utf-8", "replace"
    )


def _fake_answer(orders: str) -> str | None:
    """An answer given ready-made in the data, to be repeated word for word."""
    for start in re.finditer(r'\{\s*"judgments"', orders):
        try:
            _, end = json.JSONDecoder().raw_decode(orders, start.start())
        except ValueError:
            continue
        return orders[start.start() : end]
    return None
