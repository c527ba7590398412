"""Types of the fields of requests, with their bounds."""

import math
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from app.domain.text import is_storable

MAX_CONTENT = 16_000


MAX_ITEMS = 1_000


MAX_LIST = 100


MAX_DETAILS_DEPTH = 8


MAX_DETAILS_SIZE = 2_000


MAX_LIMIT = 1_000


def check_text(text: str) -> str:
    if not is_storable(text):
        raise ValueError("must not contain NUL characters or lone surrogates")
    return text


def _check_details(details: dict[str, Any]) -> dict[str, Any]:
    """Bounded in depth and size, and nothing in it that Postgres cannot hold."""
    remaining = MAX_DETAILS_SIZE
    layer: list[tuple[int, Any]] = [(1, details)]
    while layer:
        depth, value = layer.pop()
        remaining -= 1
        if depth > MAX_DETAILS_DEPTH or remaining < 0:
            raise ValueError(
                f"must hold at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep"
            )
        if isinstance(value, str):
            _check_detail_text(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("must not contain NaN or Infinity")
        elif isinstance(value, int) and abs(value) >= 10**30:
            raise ValueError("must not contain integers of more than 30 digits")
        elif isinstance(value, dict):
            for name in value:
                _check_detail_text(name)
            layer += [(depth + 1, inner) for inner in value.values()]
        elif isinstance(value, list):
            layer += [(depth + 1, inner) for inner in value]
    return details


def _check_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic tells a ValueError to the caller
    return value


def _check_detail_text(text: str) -> None:
    check_text(text)
    if len(text) > MAX_CONTENT:
        raise ValueError(f"must not contain texts of more than {MAX_CONTENT} characters")


# What the document says of texts: no NUL; where one must say something, a character that is not trimmed away.
_TEXT = {"pattern": r"^[^\u0000]*$"}


_SAYING = {"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}


Content = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CONTENT),
    AfterValidator(check_text),
    Field(json_schema_extra=_SAYING),
]


Word = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(check_text),
    Field(json_schema_extra=_SAYING),
]


OptionalWord = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=500),
    AfterValidator(check_text),
    Field(json_schema_extra=_TEXT),
]


Words = Annotated[list[Word], Field(max_length=MAX_LIST)]


Details = Annotated[dict[str, Any], AfterValidator(_check_details)]


Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


Number = BeforeValidator(_check_number)  # for bodies; in a query everything is text


DETAILS = (
    f"Free JSON: at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep, with integers of at most 30 digits "
    f"and texts of at most {MAX_CONTENT} characters, none of them NUL."
)


class StrictRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")


def build_schema_requirement(name: str) -> dict[str, Any]:
    """In the document: an object in which that field says something."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
