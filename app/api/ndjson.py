"""Lines of JSON in the body of a request."""

import codecs
from collections.abc import AsyncIterator
from typing import NamedTuple

from app.domain.errors import BadImportLine
from app.turns import Turn

NDJSON = "application/x-ndjson"
MAX_LINE_BYTES = 2**20
MAX_BLANK_LINES = 1_000


class NumberedLine(NamedTuple):
    """A line and its number in the body; the first is number 1."""

    number: int
    raw: bytes


class NumberedLines:
    """The lines of a stream that are not blank.

    Reading raises BadImportLine for a line of more than `longest` bytes, and for blank lines
    without end.
    """

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self.longest = MAX_LINE_BYTES
        self._lines = self._number_lines(stream)

    def __aiter__(self) -> AsyncIterator[NumberedLine]:
        return self._lines

    async def __anext__(self) -> NumberedLine:
        return await anext(self._lines)

    async def _number_lines(self, stream: AsyncIterator[bytes]) -> AsyncIterator[NumberedLine]:
        turn = Turn()
        number = last = 0
        async for line in self._split_lines(stream):
            number += 1
            raw = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if len(raw) > self.longest:
                raise BadImportLine(number, f"It is longer than {self.longest} bytes.")
            if number > last + MAX_BLANK_LINES:
                raise BadImportLine(number, f"{MAX_BLANK_LINES} blank lines stand before it.")
            if raw.strip():
                last = number
                yield NumberedLine(number, raw)
            await turn.pass_on()

    async def _split_lines(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield each line when it ends, and a line that grows too long at once, to be refused."""
        rest = bytearray()
        async for chunk in stream:
            first, *others = chunk.split(b"\n")
            rest += first
            for line in others:
                yield bytes(rest)
                rest = bytearray(line)
            if len(rest) > self.longest:
                yield bytes(rest)
        if rest:
            yield bytes(rest)
