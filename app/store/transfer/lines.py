"""The lines of a native export as they come in, decoded and checked one by one.

The types of the lines are derived from the columns of the tables, as the format is. An error names
the number of its line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, NoReturn, TypeVar
from uuid import UUID

import msgspec
import numpy as np
import sqlalchemy as sa
from msgspec import Meta
from psycopg.types.json import Jsonb
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, REGCONFIG, TIMESTAMP

from app.domain.dates.zones import find_zone
from app.domain.errors import BadImportLine
from app.store.column_values import ENUMERATIONS, LONGEST_TEXT, check_json, split_place
from app.store.transfer.format import AGENT_COLUMNS, FORMAT, SECTIONS, is_vector

_Line = TypeVar("_Line")

LONGEST_HASH = 128  # hex digits
HEADER_TYPE = "palimpsest"

# An escaped NUL, which Postgres cannot hold: an odd number of backslashes before u0000.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_NULL = msgspec.Raw(b"null")

Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Hash = Annotated[str, Meta(max_length=LONGEST_HASH, pattern="^([0-9a-f]{2})*$")]
Time = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The header of an export.

    `encoder` is None if the export holds no vectors. `agent` is None if the agent never existed.
    """

    number: int
    encoder: str | None
    dimensions: int | None
    agent: dict[str, Any] | None

    @property
    def last_known_at(self) -> datetime | None:
        return None if self.agent is None else self.agent["last_known_at"]


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A line of an export: its length in bytes, and its values by column."""

    number: int
    type: str
    size: int
    values: dict[str, Any]


class ExportEnd(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="end"
):
    """The last line of an export. `counts` are the lines before it, by type."""

    counts: dict[str, int]


# --- types of lines ------------------------------------------------------------------------------


def _build_integer_type(bits: int) -> Any:
    """Return the type of integers in half of the range of these bits: counting can go on."""
    bound: int = 2 ** (bits - 2)
    return Annotated[int, Meta(ge=-bound, le=bound)]


def _choose_type(kind: Any) -> Any:
    """Return the type that a value of this column type has on a line."""
    match kind:
        case ARRAY():
            item_type = _choose_type(kind.item_type)
            return list[item_type]  # type: ignore[valid-type]  # msgspec reads it at run time
        case sa.UUID():
            return UUID
        case TIMESTAMP():
            return Time
        case JSONB():
            return msgspec.Raw
        case BYTEA():
            return Hash
        case REGCONFIG() | sa.Text():
            return Text
        case sa.Boolean():
            return bool
        case sa.SmallInteger():
            return _build_integer_type(16)
        case sa.BigInteger():
            return _build_integer_type(64)
        case sa.Integer():
            return _build_integer_type(32)
        case sa.Double():
            return float
    raise NotImplementedError(f"{kind!r} has no place in the native format")


def _build_field(name: str, column: sa.Column[object]) -> tuple[Any, ...]:
    """Return the field of a column. A value that may be NULL may be left out, as may a vector."""
    values = ENUMERATIONS.get(column.table.name, {}).get(column.name)
    if values is not None:
        kind: Any = Literal[tuple(member.value for member in values)]
    else:
        kind = bytes if is_vector(column) else _choose_type(column.type)
    if not column.nullable and not is_vector(column):
        return (name, kind)
    return (name, kind, _NULL) if kind is msgspec.Raw else (name, kind | None, None)


def _build_line_type(
    name: str, columns: Mapping[str, sa.Column[object]], **options: Any
) -> type[msgspec.Struct]:
    fields = [_build_field(str(name), column) for name, column in columns.items()]
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True, **options)


_AgentRow = _build_line_type("AgentRow", AGENT_COLUMNS)


class _HeaderLine(
    msgspec.Struct,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag=HEADER_TYPE,
):
    """The first line of a native export.

    `encoder` is null if the export holds no vectors. `agent` is the row of the agent itself.
    """

    format: Literal[FORMAT]  # type: ignore[valid-type]
    encoder: Text | None
    dimensions: Annotated[int, Meta(gt=0)] | None
    agent: _AgentRow | None  # type: ignore[valid-type]


class _TypedLine(msgspec.Struct):
    type: str = ""


_SECTION_TYPES = {
    _build_line_type(
        f"{section.type.capitalize()}Line", section.columns, tag_field="type", tag=section.type
    ): section.type
    for section in SECTIONS
}
_TYPES = ", ".join([*(section.type for section in SECTIONS), "end"])
_any_line: Any = reduce(or_, _SECTION_TYPES, ExportEnd)
_header_decoder = msgspec.json.Decoder(_HeaderLine)
_line_decoder = msgspec.json.Decoder(_any_line)
_type_decoder = msgspec.json.Decoder(_TypedLine)


# --- lines ---------------------------------------------------------------------------------------


def is_header(raw: bytes) -> bool:
    """Return whether the line says that it is the header of a native export."""
    try:
        return _type_decoder.decode(raw).type == HEADER_TYPE
    except (msgspec.DecodeError, RecursionError):
        return False


def decode_header(number: int, raw: bytes) -> ExportHeader:
    """Raise BadImportLine unless the line is the header of an export."""
    header = _decode(_header_decoder, number, raw)
    agent = None
    if header.agent is not None:
        agent = msgspec.structs.asdict(header.agent)
        _convert_values(number, _AGENT_VALUES, agent)
        if agent["timezone"] is not None and find_zone(agent["timezone"]) is None:
            _refuse(
                number,
                "agent.timezone",
                "must be a name of the IANA time zone database, such as Europe/Lisbon",
            )
    return ExportHeader(number, header.encoder, header.dimensions, agent)


def decode_line(number: int, raw: bytes) -> ExportRow | ExportEnd:
    """Return the row on a line after the header, or the counts of the last one.

    Raise BadImportLine unless the line is one of these and each of its values fits its column.
    """
    line = _decode(_line_decoder, number, raw)
    if isinstance(line, ExportEnd):
        return line
    values = msgspec.structs.asdict(line)
    section = _SECTION_TYPES[type(line)]
    _convert_values(number, _SECTION_VALUES[section], values)
    return ExportRow(number, section, len(raw), values)


def _decode(decoder: "msgspec.json.Decoder[_Line]", number: int, raw: bytes) -> _Line:
    # Searching the pattern in every line would take half of the time of a line.
    if rb"\u0000" in raw and _NUL.search(raw):
        raise BadImportLine(number, "It holds a NUL character.")
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        reason, place = split_place(str(error))
        if place == ".type":
            reason = f"Its type is none of {_TYPES}"
        elif place:
            reason = f"{place.removeprefix('.')}: {reason}"
        raise BadImportLine(number, f"{reason}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadImportLine(number, f"Invalid JSON: {error}.") from None


def _refuse(number: int, name: str, reason: str) -> NoReturn:
    raise BadImportLine(number, f"{name}: {reason}.") from None


# --- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conversions:
    """The names of the columns of a line whose values are not written as they are, by type."""

    times: list[str]
    lists_of_times: list[str]
    hashes: list[str]
    vectors: list[str]
    documents: list[tuple[str, sa.Column[object]]]


def _list_conversions(columns: Mapping[str, sa.Column[object]]) -> _Conversions:
    conversions = _Conversions([], [], [], [], [])
    for name, column in columns.items():
        match column.type:
            case TIMESTAMP():
                conversions.times.append(name)
            case ARRAY(item_type=TIMESTAMP()):
                conversions.lists_of_times.append(name)
            case BYTEA():
                conversions.hashes.append(name)
            case JSONB():
                conversions.documents.append((name, column))
        if is_vector(column):
            conversions.vectors.append(name)
    return conversions


_SECTION_VALUES = {section.type: _list_conversions(section.columns) for section in SECTIONS}
_AGENT_VALUES = _list_conversions(AGENT_COLUMNS)


def _convert_values(number: int, conversions: _Conversions, values: dict[str, Any]) -> None:
    """Replace values by those to write. Raise BadImportLine for a value that cannot be."""
    for name in conversions.times:
        time = values[name]
        if time is not None and time.tzinfo is not UTC:
            values[name] = _convert_to_utc(number, name, time)
    for name in conversions.lists_of_times:
        values[name] = [_convert_to_utc(number, name, time) for time in values[name]]
    for name in conversions.hashes:
        if values[name] is not None:
            values[name] = bytes.fromhex(values[name])
    for name, column in conversions.documents:
        if column.nullable and values[name] == _NULL:
            values[name] = None
        else:
            values[name] = _check_document(number, name, column, bytes(values[name]))
    for name in conversions.vectors:
        if values[name] is not None:
            values[name] = _read_vector(number, name, values[name])


def _convert_to_utc(number: int, name: str, time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        _refuse(number, name, "lies outside of the years 1 to 9999")


def _check_document(number: int, name: str, column: sa.Column[object], text: bytes) -> Jsonb:
    """Return JSON that stays text until it is written: its numbers stay as they are."""
    try:
        check_json(column.table.name, column.name, text)
    except ValueError as error:
        message, place = split_place(str(error))
        _refuse(number, name + place, message)
    return Jsonb(text, dumps=bytes)


def _read_vector(number: int, name: str, raw: bytes) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the vector in these bytes, which are 32-bit floats, unless its length is not 1."""
    if len(raw) % 4:
        _refuse(number, name, "is not the base64 of 32-bit floats")
    vector = np.frombuffer(raw, "<f4").astype(np.float32)
    # The length of a vector with a value that is no number is none either.
    if not abs(float(vector @ vector) - 1) <= 0.01:
        _refuse(number, name, "is not of unit length")
    return vector
