"""An export, line by line as it arrives."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

import httpx

from palimpsest_client.errors import BrokenOff

_LAST_LINE = b'{"type":"end"'
_BLOCK = 2**16  # bytes
_TAIL = 2**12  # bytes; the last line of an export is shorter


class Export:
    """The lines of an export. Each iteration asks for a new one.

    Raises BrokenOff at the end of an export that is not complete. `end` is the last line, with the
    counts, when an iteration has come to it.
    """

    end: dict[str, Any] | None = None

    def __init__(self, open_answer: Callable[[], AbstractContextManager[httpx.Response]]) -> None:
        self._open_answer = open_answer

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rest = b""
        for block in self.blocks():
            *lines, rest = (rest + block).split(b"\n")
            yield from map(json.loads, lines)

    def blocks(self) -> Iterator[bytes]:
        """Yield the export as bytes, to be written to a file as they arrive."""
        tail = b""
        with self._open_answer() as response:
            for block in response.iter_bytes(_BLOCK):
                tail = (tail + block)[-_TAIL:]
                yield block
        self.end = _read_end(tail)


class AsyncExport:
    """The lines of an export, as Export has them."""

    end: dict[str, Any] | None = None

    def __init__(
        self, open_answer: Callable[[], AbstractAsyncContextManager[httpx.Response]]
    ) -> None:
        self._open_answer = open_answer

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        rest = b""
        async for block in self.blocks():
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield json.loads(line)

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the export as bytes, to be written to a file as they arrive."""
        tail = b""
        async with self._open_answer() as response:
            async for block in response.aiter_bytes(_BLOCK):
                tail = (tail + block)[-_TAIL:]
                yield block
        self.end = _read_end(tail)


def _read_end(tail: bytes) -> dict[str, Any]:
    """Return the last line. Raises BrokenOff unless it says that the export is complete."""
    last = tail.rpartition(b"\n")[0].rpartition(b"\n")[2]
    if not last.startswith(_LAST_LINE):
        raise BrokenOff("the export was cut off: its last line is missing. Export again.")
    end: dict[str, Any] = json.loads(last)
    return end
