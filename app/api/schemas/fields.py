"""Types of the fields of requests, with their bounds."""

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import from_json

from app.domain.dates.zones import find_zone
from app.domain.fact import MAX_DETAILS_DEPTH
from app.domain.text import is_storable, is_visible

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Target = TypeVar("Target", bound="DataclassInstance")

MAX_CONTENT = 16_000
MAX_ITEMS = 1_000
MAX_LIST = 100
MAX_DETAILS_SIZE = 2_000
MAX_LIMIT = 1_000
MAX_FIELDS = 100  # more than any request has


# Every time of a request, and what goes with the times of a read, is taken in camel case too,
# because the contract that this service keeps to writes `asOf`. Nothing else is.
_CAMEL_NAMES = {
    "asOf": "as_of",
    "knownAt": "known_at",
    "includeSuperseded": "include_superseded",
    "validFrom": "valid_from",
    "validUntil": "valid_until",
    "saidAt": "said_at",
    "sourceDate": "source_date",
}
# A search is asked for under either name, by GET and by POST.
OTHER_NAMES = {**_CAMEL_NAMES, "q": "query", "query": "q"}


class StrictRequest(BaseModel):
    """A request that refuses fields it does not know."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_field_count(cls, fields: Any) -> Any:
        # Otherwise each of a million unknown fields would become an error with a place of its own.
        if isinstance(fields, Mapping) and len(fields) > MAX_FIELDS:
            raise ValueError(f"has more than {MAX_FIELDS} fields; leave the unknown ones out")
        return fields

    @model_validator(mode="before")
    @classmethod
    def _take_other_names(cls, fields: Any) -> Any:
        """Put each field that came under its other name under its own."""
        if not isinstance(fields, Mapping):
            return fields
        renamed = dict(fields)
        for other in fields.keys() & OTHER_NAMES.keys() - cls.model_fields.keys():
            name = OTHER_NAMES[other]
            if name not in cls.model_fields:
                continue
            value = renamed.pop(other)
            if renamed.setdefault(name, value) != value:
                raise ValueError(f"{name} and {other} are one field; give it once")
        return renamed


def build_from_fields(target: type[Target], request: BaseModel, **others: Any) -> Target:
    """Build the dataclass from the fields of the same names, and from `others`.

    A list becomes a tuple in which nothing is repeated. A test compares the types of the fields of
    both.
    """
    values = {}
    for name in _list_common_fields(target, type(request)):
        value = getattr(request, name)
        values[name] = tuple(dict.fromkeys(value)) if isinstance(value, list) else value
    return target(**values | others)


@cache
def _list_common_fields(target: type[Any], request: type[BaseModel]) -> list[str]:
    names = {field.name for field in dataclasses.fields(target)}
    return [name for name in request.model_fields if name in names]


def is_contradiction(one: object, other: object) -> bool:
    """Return True if two names of the same field are both used, with different values."""
    return one is not None and other is not None and one != other


def check_text(text: str) -> str:
    if not is_storable(text):
        raise ValueError("must not contain NUL characters or lone surrogates")
    return text


def _check_worded(text: str) -> str:
    if not is_visible(text):
        raise ValueError("must contain a character that can be seen")
    return check_text(text)


def _check_details(details: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError unless depth and size are within bounds and Postgres can hold everything."""
    remaining = MAX_DETAILS_SIZE
    layer: list[tuple[int, Any]] = [(1, details)]
    while layer:
        depth, value = layer.pop()
        inner_values = _list_inner_values(value)
        remaining -= len(inner_values)
        if depth > MAX_DETAILS_DEPTH or remaining < 1:
            raise ValueError(
                f"must hold at most {MAX_DETAILS_SIZE} values, "
                f"nested at most {MAX_DETAILS_DEPTH} deep"
            )
        _check_detail(value)
        layer += [(depth + 1, inner) for inner in inner_values]
    return details


def _parse_details(text: Any) -> Any:
    """Return the object of a query parameter. Raises ValueError if it is no JSON object."""
    try:
        value = from_json(text) if isinstance(text, str) else text
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise ValueError('must be a JSON object, such as {"ticket": 7}')


def _list_ids(value: Any) -> Any:
    """Return one id as a list of it. Raises ValueError for what is neither an id nor a list."""
    if value is None or isinstance(value, list):
        return value
    try:
        return [UUID(value)]
    except (ValueError, AttributeError):
        raise ValueError("give the id of a memory, or a list of ids") from None


def _check_detail(value: Any) -> None:
    """Raise ValueError if Postgres could not hold the value, whatever is nested in it."""
    if isinstance(value, str):
        _check_detail_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must not contain NaN or Infinity")
    elif isinstance(value, int) and abs(value) >= 10**30:
        raise ValueError("must not contain integers of more than 30 digits")
    elif isinstance(value, dict):
        for name in value:
            _check_detail_text(name)


def _check_detail_text(text: str) -> None:
    check_text(text)
    if len(text) > MAX_CONTENT:
        raise ValueError(f"must not contain texts of more than {MAX_CONTENT} characters")


def _list_inner_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_timezone(name: str) -> str:
    if find_zone(name) is None:
        raise ValueError("must be a name of the IANA time zone database, such as Europe/Lisbon")
    return name


def _check_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic reports a ValueError only
    return value


Content = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CONTENT),
    AfterValidator(_check_worded),
]
Word = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_check_worded),
]
OptionalWord = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=500),
    AfterValidator(check_text),
]
Splitting = Literal["auto", "off"]
TimeZone = Annotated[str, AfterValidator(_check_timezone)]
Words = Annotated[list[Word], Field(max_length=MAX_LIST)]
Details = Annotated[dict[str, Any], AfterValidator(_check_details)]
# In a query, an object is its JSON.
DetailsText = Annotated[
    Details,
    BeforeValidator(_parse_details),
    WithJsonSchema({"type": "string"}),
]
MemoryIds = Annotated[
    list[UUID],
    Field(min_length=1, max_length=MAX_LIST),
    BeforeValidator(_list_ids),
]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
PageSize = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
# The fields of a body are numbers only if they are numbers in JSON; in a query everything is text.
Number = BeforeValidator(_check_number)

DETAILS = (
    f"Free JSON: at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep, "
    "with integers of at most 30 digits "
    f"and texts of at most {MAX_CONTENT} characters, none of them NUL."
)
