"""The parameters of each call of mem0, by their types.

A parameter that is false or empty asks for nothing. What a call does not have is refused by name if
it asks for something.
"""

import ast
import json
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from app.api.message_forms import read_message
from app.api.schemas.captures import MessageText
from app.api.schemas.fields import Content, Details, Fraction, PageSize, check_text
from app.api.times import parse_spoken_time
from app.domain.talk import Role

MOST_MESSAGES = 1_000
MOST_ITEMS = 1_000
MOST_NAMES = 100
MOST_OF_ADDRESS = 65_536

# They choose a form of answer that is the only one here, or something that is done always: hits are
# ranked already.
_WITHOUT_EFFECT = frozenset(
    ("version", "api_version", "output_format", "async_mode", "org_id", "project_id", "source")
) | frozenset(("keyword_search", "latest_only", "delete_linked", "rerank"))


def _find_end_of_day(value: Any) -> datetime:
    day = parse_spoken_time(value).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return day + timedelta(days=1)
    except OverflowError:
        raise ValueError("must be before the last day of the year 9999") from None


def _list_messages(value: Any) -> Any:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, dict):
        value = [value]
    return [*map(read_message, value)] if isinstance(value, list) else value


def _read_id(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _read_filters(value: Any) -> Any:
    """Return the filters, which clients write into an address as Python or JSON."""
    if not isinstance(value, str):
        return value
    # What an address can hold. Python's own reader takes a thousand bytes for each character.
    readers = (json.loads, ast.literal_eval) if len(value) <= MOST_OF_ADDRESS else ()
    for read in readers:
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(value)
    raise ValueError(
        "came as a text that is no object, as Node's client sends it here: name the ids instead"
    )


Name = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(check_text)]
Identifier = Annotated[Name, BeforeValidator(_read_id)] | dict[Name, Any] | list[Name]
Filters = Annotated[Details, BeforeValidator(_read_filters)]
Moment = Annotated[datetime, BeforeValidator(parse_spoken_time)]
EndOfDay = Annotated[datetime, BeforeValidator(_find_end_of_day)]


class Parameters(BaseModel):
    """The parameters of a call."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, fields: Any) -> Any:
        """Drop what is empty; an end that is null takes the end away."""
        if not isinstance(fields, dict):
            return fields
        return {
            name: value
            for name, value in fields.items()
            if value not in (None, "") or name == "expiration_date"
        }

    @model_validator(mode="after")
    def _refuse_others(self) -> Self:
        for name, value in (self.model_extra or {}).items():
            if value and name not in _WITHOUT_EFFECT:
                raise ValueError(f"{name} is not supported by this service: leave it out")
        return self


class AnyParameters(BaseModel):
    """The parameters of a call that looks at none."""


class Ids(Parameters):
    """Whose memories are meant, and which of them. Each id may be a filter that names one."""

    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    app_id: Identifier | None = None
    run_id: Identifier | None = None
    filters: Filters | None = None


class Selection(Ids):
    """Which memories are meant."""

    categories: (
        Name | Annotated[list[Name], Field(max_length=MOST_NAMES)] | dict[Name, Any] | None
    ) = None


class Listing(Selection):
    """A list, all at once or page by page. `cursor` comes with the address of the next page."""

    page: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    page_size: PageSize | None = None
    cursor: Name | None = None
    top_k: PageSize | None = None
    limit: PageSize | None = None
    show_expired: bool = False


class Question(Selection):
    """A search."""

    query: Content
    top_k: PageSize | None = None
    limit: PageSize | None = None
    threshold: Fraction | None = None
    fields: Annotated[list[Name], Field(max_length=MOST_NAMES)] | None = None
    reference_date: Moment | None = None
    show_expired: bool = False


class Message(Parameters):
    """A message of an addition."""

    role: Role
    content: MessageText = ""
    name: Name | None = None


class NewMemories(Ids):
    """An addition."""

    messages: Annotated[
        list[Message],
        BeforeValidator(_list_messages),
        Field(min_length=1, max_length=MOST_MESSAGES),
    ]
    metadata: Details | None = None
    infer: bool = True
    immutable: bool = False
    timestamp: Moment | None = None
    expiration_date: EndOfDay | None = None


class Update(Parameters):
    """Another text of a memory, its metadata or its end."""

    memory_id: Name | None = None
    text: Content | None = None
    data: Content | None = None
    metadata: Details | None = None
    timestamp: Moment | None = None
    expiration_date: EndOfDay | None = None


class ItemUpdate(Update):
    """An update of a batch."""

    memory_id: Name


class ItemDeletion(Parameters):
    """A deletion of a batch."""

    memory_id: Name


class Updates(Parameters):
    """A batch of updates."""

    memories: Annotated[list[ItemUpdate], Field(max_length=MOST_ITEMS)]


class Deletions(Parameters):
    """A batch of deletions."""

    memories: Annotated[list[ItemDeletion], Field(max_length=MOST_ITEMS)]
