"""The lines of a native export as they come in.

Every line is checked by itself; an error names its number.
"""

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

from app.api.ndjson import NumberedLine, NumberedLines
from app.api.problems import invalid_input
from app.api.schemas.fields import TimeZone
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
HEADER_TYPE = "palimpsest"

_CONFIG = ConfigDict(extra="forbid", strict=True)
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
# An escaped NUL, which Postgres cannot hold: an odd number of backslashes before u0000.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def _convert_to_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999") from None


def _keep_as_text(value: Any) -> Jsonb:
    """Return JSON that stays text until it is written: a tree of Python values is much larger."""
    return Jsonb(_encode_json(value), dumps=str)


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("must not be null")
    return value


def _require_object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("must be an object")  # noqa: TRY004 - pydantic reports a ValueError only
    return value


def _parse_vector(text: str) -> NDArray[np.float32]:
    """Return the vector of 32-bit floats in base64. Raises ValueError unless its length is 1."""
    try:
        raw = base64.b64decode(text, validate=True)
        vector = np.frombuffer(raw, "<f4").astype(np.float32)
    except (binascii.Error, ValueError):
        raise ValueError("is not the base64 of 32-bit floats") from None
    if not np.isfinite(vector).all() or abs(float(vector @ vector) - 1) > 0.01:
        raise ValueError("is not of unit length")
    return vector


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
LineTime = Annotated[AwareDatetime, AfterValidator(_convert_to_utc)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Json = Annotated[Any, BeforeValidator(_refuse_null), AfterValidator(_keep_as_text)]
Object = Annotated[Json, BeforeValidator(_require_object)]
Hash = Annotated[
    str, Field(max_length=LONGEST_HASH, pattern="^([0-9a-f]{2})*$"), AfterValidator(bytes.fromhex)
]
Vector = Annotated[str, AfterValidator(_parse_vector)]


def _build_integer_type(bits: int) -> Any:
    bound = 2 ** (bits - 1)
    return Annotated[int, Field(ge=-bound, lt=bound)]


def _choose_line_type(kind: Any) -> Any:
    """Return the type that a value of this column type has on a line."""
    match kind:
        case ARRAY():
            item_type = _choose_line_type(kind.item_type)
            return list[item_type]  # type: ignore[valid-type]  # pydantic reads it at run time
        case sa.UUID():
            return UUID
        case TIMESTAMP():
            return LineTime
        case JSONB():
            return Json
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
            return Number
    raise NotImplementedError(f"{kind!r} has no place in the native format")


def _build_fields(columns: Mapping[str, sa.Column[object]]) -> dict[str, Any]:
    """Return a field for each column. One that may be NULL may be left out, and so may a vector."""
    fields: dict[str, Any] = {}
    for name, column in columns.items():
        kind = _choose_field_type(name, column)
        optional = column.nullable or is_vector(column)
        fields[name] = (kind | None, None) if optional else (kind, ...)
    return fields


def _choose_field_type(name: str, column: sa.Column[object]) -> Any:
    if is_vector(column):
        return Vector
    if name == "timezone":
        return TimeZone
    return Object if name == "details" else _choose_line_type(column.type)


def _build_line_model(section: TableSection) -> type[BaseModel]:
    kind: dict[str, Any] = {"type": (Literal[section.type], ...)}
    fields = kind | _build_fields(section.columns)
    return create_model(f"{section.type.capitalize()}Line", __config__=_CONFIG, **fields)


_LINES = {section.type: _build_line_model(section) for section in SECTIONS}
_Agent = create_model("Agent", __config__=_CONFIG, **_build_fields(AGENT_COLUMNS))


class HeaderLine(BaseModel):
    """The first line of a native export.

    It names the format and the encoder of the vectors, or null if the export holds none, and holds
    the row of the agent itself.
    """

    model_config = _CONFIG

    type: Literal["palimpsest"]
    format: Literal[FORMAT]  # type: ignore[valid-type]
    encoder: Text | None
    dimensions: Annotated[int, Field(gt=0)] | None
    agent: _Agent | None  # type: ignore[valid-type]


class EndLine(BaseModel):
    """The last line: how many lines of each type come before it."""

    model_config = _CONFIG

    type: Literal["end"]
    counts: dict[str, int]


class _TypedLine(BaseModel):
    type: str = ""


def read_type(raw: bytes) -> str:
    """Return the `type` of a line; empty if it has none or is no JSON object."""
    try:
        return _TypedLine.model_validate_json(raw).type
    except ValidationError:
        return ""


def parse_header(line: NumberedLine) -> ExportHeader:
    """Raise BadImportLine unless the line is the header of an export."""
    header = _parse_line(HeaderLine, line)
    agent = vars(header.agent) if header.agent else None
    return ExportHeader(line.number, header.encoder, header.dimensions, agent)


async def read_rows(lines: NumberedLines, *, after: int) -> AsyncIterator[ExportRow]:
    """Yield the rows of an export whose header is on line `after`.

    Raises BadImportLine for a line that is damaged or in the wrong place.
    """
    counts = dict.fromkeys(_LINES, 0)
    async for line in lines:
        # Parsing a line without a type says what is wrong with it, such as that it was cut off.
        kind = read_type(line.raw) or _parse_line(_TypedLine, line).type
        if line.number != after + 1:
            raise BadImportLine(after + 1, "It is blank.")
        if kind == "end":
            _check_counts(line, counts)
            await _check_nothing_follows(lines)
            return
        _check_place(line.number, kind, counts)
        counts[kind] += 1
        after = line.number
        values = vars(_parse_line(_LINES[kind], line))
        yield ExportRow(line.number, kind, values, len(line.raw))
    raise BadImportLine(after + 1, "The `end` line is missing: the export was cut off.")


def _check_place(number: int, kind: str, counts: Mapping[str, int]) -> None:
    """Raise BadImportLine unless lines of this type may follow those counted so far."""
    order = list(counts)
    if kind not in counts:
        raise BadImportLine(number, f"Its type is none of {', '.join(order)}, end.")
    for later in order[order.index(kind) + 1 :]:
        if counts[later]:
            raise BadImportLine(
                number, f"A line of type {kind} may not follow one of type {later}."
            )


def _check_counts(line: NumberedLine, counts: dict[str, int]) -> None:
    """Raise BadImportLine unless the last line counts the same; a type it omits counts as 0."""
    claimed = _parse_line(EndLine, line).counts
    if dict.fromkeys(counts, 0) | claimed != counts:
        raise BadImportLine(
            line.number,
            f"It counts {claimed}, but before it stand {counts}: lines are missing or doubled.",
        )


async def _check_nothing_follows(lines: NumberedLines) -> None:
    async for line in lines:
        raise BadImportLine(line.number, "Nothing may follow the `end` line.")


def _parse_line(model: type[_Model], line: NumberedLine) -> _Model:
    # Searching the pattern in every line would take half of the time of a line.
    if rb"\u0000" in line.raw and _NUL.search(line.raw):
        raise BadImportLine(line.number, "It holds a NUL character.")
    try:
        return model.model_validate_json(line.raw)
    except ValidationError as error:
        raise BadImportLine(line.number, invalid_input(error.errors()).detail + ".") from None
