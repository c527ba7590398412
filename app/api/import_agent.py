"""The lines of a native export as they come in: every one is checked by itself, with its number in what is said of it."""

import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, REGCONFIG, TIMESTAMP

from app.api.problems import invalid_input
from app.domain.errors import BadImportLine
from app.services.import_agent import ExportHeader, ExportRow
from app.store.transfer.format import (
    AGENT_COLUMNS,
    FORMAT,
    SECTIONS,
    TableSection,
    is_vector,
)

_Model = TypeVar("_Model", bound=BaseModel)

LONGEST_TEXT = 100_000  # characters; no text that this service stores is as long
LONGEST_HASH = 128  # hex digits

_CONFIG = ConfigDict(extra="forbid", strict=True)
# An escaped NUL, which Postgres cannot hold: an odd number of backslashes before u0000.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999") from None


def _json_text(value: Any) -> Jsonb:
    """Kept as text until it is written: a tree of Python values takes many times the room."""
    return Jsonb(json.dumps(value, ensure_ascii=False, allow_nan=False), dumps=str)


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("must not be null")
    return value


def _require_object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("must be an object")  # noqa: TRY004 - pydantic tells a ValueError to the caller
    return value


def _vector_from_base64(text: str) -> NDArray[np.float32]:
    try:
        vector = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except (binascii.Error, ValueError):
        raise ValueError("is not the base64 of 32-bit floats") from None
    if not np.isfinite(vector).all() or abs(float(vector @ vector) - 1) > 0.01:
        raise ValueError("is not of unit length")
    return vector


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Time = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Json = Annotated[Any, BeforeValidator(_refuse_null), AfterValidator(_json_text)]
Object = Annotated[Json, BeforeValidator(_require_object)]
Hash = Annotated[
    str, Field(max_length=LONGEST_HASH, pattern="^([0-9a-f]{2})*$"), AfterValidator(bytes.fromhex)
]
Vector = Annotated[str, AfterValidator(_vector_from_base64)]


def _integer_type(bits: int) -> Any:
    return Annotated[int, Field(ge=-(2 ** (bits - 1)), lt=2 ** (bits - 1))]


def _wire_type(kind: Any) -> Any:
    """What a column of this type is on a line."""
    match kind:
        case ARRAY():
            return list[_wire_type(kind.item_type)]  # type: ignore[misc]  # pydantic reads it at run time
        case sa.UUID():
            return UUID
        case TIMESTAMP():
            return Time
        case JSONB():
            return Json
        case BYTEA():
            return Hash
        case REGCONFIG() | sa.Text():
            return Text
        case sa.Boolean():
            return bool
        case sa.SmallInteger():
            return _integer_type(16)
        case sa.BigInteger():
            return _integer_type(64)
        case sa.Integer():
            return _integer_type(32)
        case sa.Double():
            return Number
    raise NotImplementedError(f"{kind!r} has no place in the native format")


def _fields_from_columns(columns: Mapping[str, sa.Column[object]]) -> dict[str, Any]:
    """Return a field for each column. One that may be NULL may be left out, and so may a vector."""
    fields: dict[str, Any] = {}
    for name, column in columns.items():
        kind = (
            Vector
            if is_vector(column)
            else Object
            if name == "details"
            else _wire_type(column.type)
        )
        optional = column.nullable or is_vector(column)
        fields[name] = (kind | None, None) if optional else (kind, ...)
    return fields


def _line_model(section: TableSection) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "type": (Literal[section.type], ...),
        **_fields_from_columns(section.columns),
    }
    return create_model(f"{section.type.capitalize()}Line", __config__=_CONFIG, **fields)


_LINES = {section.type: _line_model(section) for section in SECTIONS}
_Agent = create_model("Agent", __config__=_CONFIG, **_fields_from_columns(AGENT_COLUMNS))


class HeaderLine(BaseModel):
    """The first line of a native export: its format, who made the vectors (null: none are in it), and the agent's own row."""

    model_config = _CONFIG

    type: Literal["palimpsest"]
    format: Literal[FORMAT]  # type: ignore[valid-type]
    encoder: Text | None
    dimensions: Annotated[int, Field(gt=0)] | None
    agent: _Agent | None  # type: ignore[valid-type]


class EndLine(BaseModel):
    """The last line: how many of each type stand before it."""

    model_config = _CONFIG

    type: Literal["end"]
    counts: dict[str, int]


class _Type(BaseModel):
    type: str = ""


def type_of(raw: bytes) -> str:
    """The `type` of a line; empty where it says none or is no JSON object."""
    try:
        return _Type.model_validate_json(raw).type
    except ValidationError:
        return ""


def parse_header(number: int, raw: bytes) -> ExportHeader:
    """Raises BadImportLine."""
    line = _parse_line(HeaderLine, number, raw)
    return ExportHeader(
        number, line.encoder, line.dimensions, vars(line.agent) if line.agent else None
    )


async def read_rows(
    lines: AsyncIterator[tuple[int, bytes]], *, after: int
) -> AsyncIterator[ExportRow]:
    """The rows of an export, whose header is on line `after`. Raises BadImportLine where a line is not good, or not in its place."""
    counts = dict.fromkeys(_LINES, 0)
    async for number, raw in lines:
        kind = (
            type_of(raw) or _parse_line(_Type, number, raw).type
        )  # a line that is cut off is told as that
        if number != after + 1:
            raise BadImportLine(after + 1, "It is blank.")
        if kind == "end":
            await _check_end(_parse_line(EndLine, number, raw), number, counts, lines)
            return
        _check_place(number, kind, counts)
        counts[kind] += 1
        after = number
        yield ExportRow(number, kind, vars(_parse_line(_LINES[kind], number, raw)), len(raw))
    raise BadImportLine(after + 1, "The `end` line is missing: the export was cut off.")


def _check_place(number: int, kind: str, counts: Mapping[str, int]) -> None:
    order = list(counts)
    if kind not in counts:
        raise BadImportLine(number, f"Its type is none of {', '.join(order)}, end.")
    if begun := [later for later in order[order.index(kind) + 1 :] if counts[later]]:
        raise BadImportLine(number, f"A line of type {kind} may not follow one of type {begun[0]}.")


async def _check_end(
    line: EndLine, number: int, counts: dict[str, int], rest: AsyncIterator[tuple[int, bytes]]
) -> None:
    if dict.fromkeys(counts, 0) | line.counts != counts:  # an older export does not know every type
        raise BadImportLine(
            number,
            f"It counts {line.counts}, but before it stand {counts}: lines are missing or doubled.",
        )
    async for after, _ in rest:
        raise BadImportLine(after, "Nothing may follow the `end` line.")


def _parse_line(model: type[_Model], number: int, raw: bytes) -> _Model:
    if rb"\u0000" in raw and _NUL.search(raw):  # the search alone took half of the time of a line
        raise BadImportLine(number, "It holds a NUL character.")
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise BadImportLine(number, invalid_input(error.errors()).detail + ".") from None
