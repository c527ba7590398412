"""The client: its connections, and the views of it for other agents and other times."""

import json
import os
import re
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import httpx

from palimpsest_client.async_operations import AsyncOperations
from palimpsest_client.errors import (
    BrokenOff,
    Invalid,
    NoAnswer,
    PalimpsestError,
    build_error,
    read_answer,
)
from palimpsest_client.exports import AsyncExport, Export
from palimpsest_client.operations import Operations
from palimpsest_client.positions import LatestPosition
from palimpsest_client.requests import Request, Time, encode_line
from palimpsest_client.retries import Outcome, Retries

DEFAULT_URL = "http://127.0.0.1:8000"

Line = Mapping[str, Any] | bytes


@dataclass(frozen=True)
class _View:
    """Whose memories are read and written, and the times at which they are read."""

    agent: str | None
    as_of: Time | None = None
    known_at: Time | None = None

    def __post_init__(self) -> None:
        _check_agent(self.agent)

    def adapt(self, request: Request) -> Request:
        times = {"as_of": self.as_of, "known_at": self.known_at}
        return request.fill_times({name: at for name, at in times.items() if at is not None})

    def list_headers(self) -> dict[str, str]:
        return {} if self.agent is None else {"X-Agent-Id": self.agent}


class _Viewed:
    """What both clients share: the service, and views of them."""

    _view: _View
    _http: httpx.Client | httpx.AsyncClient

    @property
    def base_url(self) -> str:
        return str(self._http.base_url)

    def agent(self, name: str) -> Self:
        """Return a view of this client for another agent."""
        return self._see(replace(self._view, agent=name))

    def at(self, *, as_of: Time | None = None, known_at: Time | None = None) -> Self:
        """Return a view of this client that reads what was true and known at these times.

        It refuses, with ValueError, writes and reads that take neither time.
        """
        return self._see(replace(self._view, as_of=as_of, known_at=known_at))

    def _see(self, view: _View) -> Self:
        other = copy(self)
        other._view = view
        return other


class Client(_Viewed, Operations):
    """A client of a running service. Its methods are the operations of the service.

    `agent` and `at` return views of it, which share its connections. It may be used by several
    threads. Its reads see its earlier writes, and those of its views, on read replicas too. Close
    it when it is no longer needed, or use it as a context manager.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        agent: str | None = None,
        retries: Retries = Retries(),  # noqa: B008 - it is immutable
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Choose the service, the key and the agent. Nothing is sent yet.

        Args:
            base_url: The address of the service. Default: PALIMPSEST_URL, else
                http://127.0.0.1:8000.
            api_key: Its key. Default: PALIMPSEST_API_KEY, else none is sent.
            agent: Whose memory. Default: PALIMPSEST_AGENT, else what the service chooses: the only
                agent of the key, or `default`.
            retries: What is tried again, and for how long.
            timeout: Seconds without progress after which a try has failed.
            transport: What carries the calls instead of the network.

        Raises:
            ValueError: A key or name that no header can carry.
        """
        self._view = _View(agent or os.environ.get("PALIMPSEST_AGENT") or None)
        self._retries = retries
        self._position = LatestPosition()
        self._timeout = timeout
        self._http: httpx.Client = httpx.Client(
            base_url=_choose_url(base_url),
            headers=_build_headers(api_key),
            timeout=timeout,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections, which views share."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, request: Request) -> Any:
        request = self._view.adapt(request)
        with _name_key(request):
            return read_answer(self._send(request))

    def _send(self, request: Request) -> httpx.Response:
        """Return the answer of the last try, whatever its status. Raises NoAnswer."""
        began, tried = time.monotonic(), 0
        while True:
            outcome, tried = self._try(request), tried + 1
            elapsed = time.monotonic() - began
            pause = self._retries.find_pause(request, outcome, tried=tried, elapsed=elapsed)
            if pause is None:
                return _require_answer(outcome, self.base_url)
            time.sleep(pause)

    def _try(self, request: Request) -> Outcome:
        try:
            response = self._http.send(_build(self._http, self._view, request, self._position))
        except httpx.TransportError as trouble:
            return trouble
        self._position.note(response)
        return response

    def _export(self, request: Request) -> Export:
        request = self._view.adapt(request)
        return Export(lambda: self._open_answer(request))

    def _import(self, request: Request, lines: Iterable[Line]) -> list[dict[str, Any]]:
        request = self._view.adapt(request)
        with _name_key(request), self._open_answer(request, map(encode_line, lines)) as response:
            return [json.loads(line) for line in response.iter_lines()]

    @contextmanager
    def _open_answer(
        self, request: Request, content: Iterable[bytes] | None = None
    ) -> Iterator[httpx.Response]:
        """Open the answer of a call that is tried once, because it streams."""
        sent = _build(
            self._http, self._view, request, self._position, content, patience=self._timeout
        )
        with _explain_stream(self.base_url):
            response = self._http.send(sent, stream=True)
            self._position.note(response)
            try:
                if not response.is_success:
                    response.read()
                    raise build_error(response)
                yield response
            finally:
                response.close()


class AsyncClient(_Viewed, AsyncOperations):
    """A client of a running service for asynchronous code, as Client is for other code."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        agent: str | None = None,
        retries: Retries = Retries(),  # noqa: B008 - it is immutable
        timeout: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Choose the service, the key and the agent, as Client does. Nothing is sent yet.

        With `httpx.ASGITransport(app)` as transport it calls an application in its own process.
        """
        self._view = _View(agent or os.environ.get("PALIMPSEST_AGENT") or None)
        self._retries = retries
        self._position = LatestPosition()
        self._timeout = timeout
        self._http: httpx.AsyncClient = httpx.AsyncClient(
            base_url=_choose_url(base_url),
            headers=_build_headers(api_key),
            timeout=timeout,
            transport=transport,
        )

    async def close(self) -> None:
        """Close the connections, which views share."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, request: Request) -> Any:
        request = self._view.adapt(request)
        with _name_key(request):
            return read_answer(await self._send(request))

    async def _send(self, request: Request) -> httpx.Response:
        """Return the answer of the last try, whatever its status. Raises NoAnswer."""
        from anyio import sleep

        began, tried = time.monotonic(), 0
        while True:
            outcome, tried = await self._try(request), tried + 1
            elapsed = time.monotonic() - began
            pause = self._retries.find_pause(request, outcome, tried=tried, elapsed=elapsed)
            if pause is None:
                return _require_answer(outcome, self.base_url)
            await sleep(pause)

    async def _try(self, request: Request) -> Outcome:
        try:
            sent = _build(self._http, self._view, request, self._position)
            response = await self._http.send(sent)
        except httpx.TransportError as trouble:
            return trouble
        self._position.note(response)
        return response

    def _export(self, request: Request) -> AsyncExport:
        request = self._view.adapt(request)
        return AsyncExport(lambda: self._open_answer(request))

    async def _import(
        self, request: Request, lines: Iterable[Line] | AsyncIterable[Line]
    ) -> list[dict[str, Any]]:
        request = self._view.adapt(request)
        with _name_key(request):
            async with self._open_answer(request, _encode_lines(lines)) as response:
                return [json.loads(line) async for line in response.aiter_lines()]

    @asynccontextmanager
    async def _open_answer(
        self, request: Request, content: AsyncIterable[bytes] | None = None
    ) -> AsyncIterator[httpx.Response]:
        """Open the answer of a call that is tried once, because it streams."""
        sent = _build(
            self._http, self._view, request, self._position, content, patience=self._timeout
        )
        with _explain_stream(self.base_url):
            response = await self._http.send(sent, stream=True)
            self._position.note(response)
            try:
                if not response.is_success:
                    await response.aread()
                    raise build_error(response)
                yield response
            finally:
                await response.aclose()


def _choose_url(base_url: str | None) -> str:
    """Return the address of the service. One without a scheme, as `localhost:8000`, is http."""
    url = base_url or os.environ.get("PALIMPSEST_URL") or DEFAULT_URL
    return url if "://" in url else f"http://{url}"


def _build_headers(api_key: str | None) -> dict[str, str]:
    from palimpsest_client import __version__

    key = api_key or os.environ.get("PALIMPSEST_API_KEY")
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ValueError("api_key: give printable ASCII characters only")
    headers = {"User-Agent": f"palimpsest-memory-client/{__version__}"}
    return headers | {"X-API-Key": key} if key else headers


def _check_agent(agent: str | None) -> None:
    if agent is not None and not re.fullmatch(r"[\x21-\x7e]{1,128}", agent):
        raise ValueError(
            "agent: give 1 to 128 printable ASCII characters without blanks; "
            "percent-encode others, as in Zo%C3%AB"
        )


def _build(
    http: httpx.Client | httpx.AsyncClient,
    view: _View,
    request: Request,
    position: LatestPosition,
    content: Iterable[bytes] | AsyncIterable[bytes] | None = None,
    *,
    patience: float | None = None,
) -> httpx.Request:
    """Return the request for the wire. Raises Invalid if it fits into none.

    The answer to a stream of lines (`patience` in seconds) may begin long after its call.
    """
    headers = view.list_headers() | request.list_headers()
    if request.is_read:
        headers |= position.list_headers()
    if content is not None:
        headers["Content-Type"] = "application/x-ndjson"
    body = request.encode_body() if content is None else content
    path, query = request.fill_path(), request.list_query()
    try:
        built = http.build_request(
            request.method, path, params=query, content=body, headers=headers
        )
    except httpx.InvalidURL:
        raise Invalid("The call is too long for an address: shorten it.", status=422) from None
    if patience is not None:
        built.extensions["timeout"] = httpx.Timeout(patience, read=None).as_dict()
    return built


def _require_answer(outcome: Outcome, base_url: str) -> httpx.Response:
    if isinstance(outcome, httpx.TransportError):
        raise _explain_silence(base_url, outcome)
    return outcome


def _explain_silence(base_url: str, trouble: Exception) -> NoAnswer:
    return NoAnswer(f"no answer from {base_url}: {trouble or type(trouble).__name__}")


@contextmanager
def _name_key(request: Request) -> Iterator[None]:
    """Name the Idempotency-Key of a call in its error, so that it can be repeated."""
    try:
        yield
    except PalimpsestError as error:
        error.idempotency_key = request.idempotency_key
        raise


@contextmanager
def _explain_stream(base_url: str) -> Iterator[None]:
    try:
        yield
    except httpx.RemoteProtocolError as trouble:
        raise BrokenOff(f"the connection broke off: {trouble}.") from None
    except httpx.TransportError as trouble:
        raise _explain_silence(base_url, trouble) from None


async def _encode_lines(lines: Iterable[Line] | AsyncIterable[Line]) -> AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield encode_line(line)
    else:
        for line in lines:
            yield encode_line(line)
