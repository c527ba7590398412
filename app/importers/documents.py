"""The JSON of files, archives and databases, with the line on which each object begins."""

import bisect
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from json.decoder import JSONObject, scanstring  # type: ignore[attr-defined]  # not in the stubs
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # as above
from pathlib import Path, PurePosixPath
from typing import Any

from app.importers.facts import LeftOut, UnreadableFile

_MOST_UNPACKED = 2**30  # bytes
_DATABASE = b"SQLite format 3\0"
_BETWEEN = re.compile(r"[\s,]*")
_UNSEARCHED = (".git", ".venv", "node_modules")  # folders


class Placed(dict[str, Any]):
    """An object of a file, and the line on which it begins, from 1."""

    line: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: one value of JSON, or a list of one object a line.

    Of a folder, an archive or a database, the value is an object: the values of its files by their
    paths, or the rows of its tables by their names. `broken` are the places that hold no JSON, and
    `texts` are Markdown and plain texts by the paths of their files.
    """

    value: Any
    broken: list[LeftOut] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

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

    def list_file_objects(self, pattern: str) -> list[Placed]:
        """Return the objects of the files whose paths end like the pattern."""
        files = [item for one in self.objects for item in one.items()]
        values = [value for name, value in files if PurePosixPath(name).match(pattern)]
        lists = [value if isinstance(value, list) else [value] for value in values]
        return [one for values in lists for one in list_objects(values)]


def list_objects(value: Any) -> list[Placed]:
    values = value if isinstance(value, list) else []
    return [item for item in values if isinstance(item, Placed)]


def parse(source: bytes | Path, patterns: Sequence[str]) -> Document:
    """Return what a file holds, or those files of a folder whose paths end like a pattern.

    Of a database, the patterns are the names of its tables. Raises UnreadableFile and OSError.
    """
    return parse_file(source) if isinstance(source, bytes) else _parse_path(source, patterns)


def _parse_path(path: Path, patterns: Sequence[str]) -> Document:
    if path.is_dir():
        return _parse_files(_read_folder(path, patterns))
    with open(path, "rb") as file:
        if file.read(len(_DATABASE)) == _DATABASE:
            return _parse_database(path, patterns)
    if path.suffix.lower() not in (".md", ".txt"):
        return parse_file(path.read_bytes())
    text = _decode(path.read_bytes())
    blocks = _parse_blocks(text) if text.startswith("---") else []
    return Document(blocks, texts={path.name: text})


def parse_file(content: bytes) -> Document:
    """Return what a file of JSON, of lines of JSON, or of Markdown blocks holds, or an archive.

    Raises UnreadableFile.
    """
    if content.startswith(_DATABASE):
        raise UnreadableFile("is a database, which cannot be read from standard input: name it")
    if content.startswith(b"PK\x03\x04"):
        return _parse_archive(content)
    text = _decode(content)
    if text.startswith("---"):
        return Document(_parse_blocks(text))
    try:
        return Document(_PlacingDecoder(text).decode(text))
    except json.JSONDecodeError as error:
        return _parse_damaged(text, error)


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"is not UTF-8 at byte {error.start}") from None


class _PlacingDecoder(json.JSONDecoder):
    """Makes each object a Placed one."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        super().__init__()
        self._first_line = first_line
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self.parse_object = self._parse_object
        self.parse_string = _parse_string
        self.scan_once = py_make_scanner(self)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """Return the value at a place, and the place behind it. Raises JSONDecodeError."""
        try:
            return super().raw_decode(s, idx)
        except json.JSONDecodeError:
            raise
        except RecursionError:
            raise json.JSONDecodeError("it is nested too deep", s, idx) from None
        except ValueError:
            raise json.JSONDecodeError("a number has too many digits", s, idx) from None

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


# --- damaged JSON --------------------------------------------------------------------------------


def _parse_damaged(text: str, whole: json.JSONDecodeError) -> Document:
    """Return what can be read of a list, or of one value a line. Raises UnreadableFile."""
    document = _parse_list(text) if text.lstrip().startswith("[") else _parse_lines(text)
    if not document.objects:
        where = f"line {whole.lineno}, column {whole.colno}"
        raise UnreadableFile(f"is neither JSON nor lines of JSON: {whole.msg} ({where})")
    return document


def _parse_lines(text: str) -> Document:
    """Return the values of each line: usually one, but some servers write two side by side."""
    document = Document([])
    for number, line in enumerate(text.split("\n"), start=1):
        decoder, place = _PlacingDecoder(line, number), 0
        while rest := line[place:].lstrip():
            try:
                value, place = decoder.raw_decode(line, len(line) - len(rest))
            except json.JSONDecodeError as error:
                reason = f"it is no JSON: {error.msg} (column {error.colno})"
                document.broken.append(LeftOut(number, reason))
                break
            document.value.append(value)
    return document


def _parse_list(text: str) -> Document:
    """Return the items that can be read. After a bad one, the next begins as the first one did."""
    document, decoder, place = Document([]), _PlacingDecoder(text), text.index("[") + 1
    first = re.match(r"\s*\[\s*?(\n[ \t]*)?\{", text)
    while place < len(text):
        between = _BETWEEN.match(text, place)
        assert between, "it matches nothing too"
        place = between.end()
        if text[place : place + 1] in ("]", ""):
            break
        try:
            value, place = decoder.raw_decode(text, place)
            document.value.append(value)
        except json.JSONDecodeError as error:
            line = text.count("\n", 0, place) + 1
            reason = f"it is no JSON: {error.msg} (line {error.lineno}, column {error.colno})"
            document.broken.append(LeftOut(line, reason))
            place = text.find(f"{first[1]}{{", place + 1) if first and first[1] else -1
            if place < 0:
                break
    return document


# --- other containers ----------------------------------------------------------------------------


def _parse_archive(content: bytes) -> Document:
    """Return the JSON files of an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".json")]
            if sum(entry.file_size for entry in entries) > _MOST_UNPACKED:
                raise UnreadableFile("holds more than 1 GiB of JSON")
            return _parse_files((entry.filename, archive.read(entry)) for entry in entries)
    except (zipfile.BadZipFile, ValueError) as error:
        raise UnreadableFile(f"is a damaged archive: {error}") from None


def _read_folder(folder: Path, patterns: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {*_UNSEARCHED})
        for path in sorted(Path(place, name) for name in names):
            if any(path.resolve().match(pattern) for pattern in patterns):
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def _parse_files(files: Iterable[tuple[str, bytes]]) -> Document:
    """Return the values of JSON files and the texts of others. A file that is damaged is named."""
    document = Document(Placed())
    for name, content in files:
        try:
            if not name.endswith(".json"):
                document.texts[name] = _decode(content)
                continue
            part = parse_file(content)
        except UnreadableFile as problem:
            document.broken.append(LeftOut(1, f"{name} {problem}"))
            continue
        document.value[name] = part.value
        document.broken.extend(LeftOut(one.line, f"{name}: {one.reason}") for one in part.broken)
    return document


def _parse_database(path: Path, tables: Sequence[str]) -> Document:
    """Return the rows of these tables, up to where they are damaged. Raises UnreadableFile."""
    document = Document(Placed())
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            statement = "SELECT name FROM sqlite_master WHERE type = 'table'"
            stored = {name for (name,) in database.execute(statement)}
            for table in (name for name in tables if name in stored):
                document.value[table] = rows = []
                try:
                    cursor = database.execute(f"SELECT * FROM {table} ORDER BY rowid")  # noqa: S608  # our names
                    names = [column[0] for column in cursor.description]
                    for number, values in enumerate(cursor, start=1):
                        row = Placed(zip(names, values, strict=True))
                        row.line = number
                        rows.append(row)
                except sqlite3.DatabaseError as error:
                    document.broken.append(LeftOut(len(rows) + 1, f"{table}: {error}"))
    except sqlite3.DatabaseError as error:
        raise UnreadableFile(f"is a damaged database: {error}") from None
    return document


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
