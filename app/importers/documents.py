"""The JSON of a file, with the line on which each object begins."""

import bisect
import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from json.decoder import JSONObject, scanstring  # type: ignore[attr-defined]  # not in the stubs
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # as above
from typing import Any

from app.importers.facts import LeftOut, UnreadableFile

_MOST_UNPACKED = 2**30  # bytes


class Placed(dict[str, Any]):
    """An object of a file, and the line on which it begins, from 1."""

    line: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: one value of JSON, or a list of one object a line.

    `broken` are the lines that hold no JSON.
    """

    value: Any
    broken: list[LeftOut] = field(default_factory=list)

    @property
    def objects(self) -> list[Placed]:
        """Return the objects of a list, or the only object."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return [value for value in values if isinstance(value, Placed)]

    def list_records(self, *names: str) -> list[Placed]:
        """Return the objects of the lists of these names, else the objects of the file."""
        records: list[Placed] = []
        is_list = False
        for one in self.objects:
            for name in names:
                if name in one:
                    is_list = True
                    records += list_objects(one[name])
        return records if is_list else self.objects


def list_objects(value: Any) -> list[Placed]:
    values = value if isinstance(value, list) else []
    return [item for item in values if isinstance(item, Placed)]


def parse_file(content: bytes) -> Document:
    """Return what a file of JSON, of lines of JSON, or of Markdown blocks holds, or an archive.

    Raises UnreadableFile.
    """
    if content.startswith(b"PK\x03\x04"):
        return _parse_archive(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"is not UTF-8 at byte {error.start}") from None
    if text.startswith("---"):
        return Document(_parse_blocks(text))
    try:
        return Document(_parse_json(text))
    except json.JSONDecodeError as error:
        return _parse_lines(text, error)


def _parse_json(text: str, first_line: int = 1) -> Any:
    """Return the value of the text. Raises JSONDecodeError."""
    try:
        return _PlacingDecoder(text, first_line).decode(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deep", text, 0) from None
    except ValueError:
        raise json.JSONDecodeError("a number has too many digits", text, 0) from None


class _PlacingDecoder(json.JSONDecoder):
    """Makes each object a Placed one."""

    def __init__(self, text: str, first_line: int) -> None:
        super().__init__()
        self._first_line = first_line
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self.parse_object = self._parse_object
        self.parse_string = _parse_string
        self.scan_once = py_make_scanner(self)

    def _parse_object(self, place: tuple[str, int], *others: Any) -> tuple[Placed, int]:
        value, end = JSONObject(place, *others)
        placed = Placed({_mend_text(name): inner for name, inner in value.items()})
        placed.line = self._first_line + bisect.bisect_left(self._ends, place[1])
        return placed, end


def _parse_string(text: str, start: int, strict: bool) -> tuple[str, int]:
    value, end = scanstring(text, start, strict)
    return _mend_text(value), end


def _mend_text(text: str) -> str:
    """Return the text with U+FFFD for each half of a character that was cut in two."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _parse_lines(text: str, whole: json.JSONDecodeError) -> Document:
    """Return one value a line. Raises UnreadableFile if the first line is no JSON either."""
    values, broken = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(_parse_json(line, number))
        except json.JSONDecodeError as error:
            broken.append(LeftOut(number, f"it is no JSON: {error.msg} (column {error.colno})"))
    if not values or (broken and broken[0].line < values[0].line):
        where = f"line {whole.lineno}, column {whole.colno}"
        raise UnreadableFile(f"is neither JSON nor lines of JSON: {whole.msg} ({where})")
    return Document(values, broken)


# --- other containers ----------------------------------------------------------------------------


def _parse_archive(content: bytes) -> Document:
    """Return the JSON files of an archive as one object, by their names."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".json")]
            if sum(entry.file_size for entry in entries) > _MOST_UNPACKED:
                raise UnreadableFile("holds more than 1 GiB of JSON")
            files = {entry.filename: _parse_json(archive.read(entry).decode()) for entry in entries}
    except (zipfile.BadZipFile, ValueError) as error:
        raise UnreadableFile(f"is a damaged archive: {error}") from None
    return Document(Placed(files))


def _parse_blocks(text: str) -> list[Placed]:
    """Return the blocks of a Markdown file: lines `name: value` between `---`, and then a text."""
    parts = re.split(r"(?m)^---[ \t]*\r?$", text)
    blocks = []
    line = 1
    for place in range(1, len(parts), 2):
        block = Placed()
        for field_line in parts[place].splitlines():
            name, colon, value = field_line.partition(":")
            if colon:
                block[name.strip()] = value.strip()
        block.line = line + parts[place - 1].count("\n")
        block["text"] = parts[place + 1].strip() if place + 1 < len(parts) else ""
        line = block.line + parts[place].count("\n")
        blocks.append(block)
    return blocks
