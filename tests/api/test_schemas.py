"""Requests build the dataclasses of inner rooms by the names of their fields, so both must agree."""

from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError

from app.api.schemas.log import LogQuery
from app.api.schemas.memories import FilterFields, PatchRequest, StoreRequest
from app.api.schemas.reads import ListQuery, SearchRequest
from app.api.schemas.reverts import RevertsRequest
from app.api.schemas.reviews import ReviewFilterFields, ReviewsQuery
from app.domain.fact import Fact
from app.store.columns import Filters
from app.store.log.entries import LogFilters
from app.store.log.reverts import Selection
from app.store.reviews.reviews import ReviewFilters

# Fields of a dataclass that no request names: the service fills them in.
PAIRS: list[tuple[type[BaseModel], type[Any], set[str]]] = [
    (StoreRequest, Fact, {"merged_from", "derived", "dated_by", "said_in"}),
    (FilterFields, Filters, {"details", "ids", "stale"}),
    (ListQuery, Filters, set()),
    (SearchRequest, Filters, {"ids", "stale"}),
    (LogQuery, LogFilters, set()),
    (RevertsRequest, Selection, {"log_ids"}),
    (ReviewFilterFields, ReviewFilters, {"status"}),
    (ReviewsQuery, ReviewFilters, set()),
]


@pytest.mark.parametrize(("request_type", "target", "own"), PAIRS)
def test_a_request_has_every_field_of_what_it_builds_in_the_same_type(
    request_type: type[BaseModel], target: type[Any], own: set[str]
) -> None:
    hints = get_type_hints(target)
    requested = get_type_hints(request_type)
    names = {field.name for field in fields(target)} - own
    assert names <= request_type.model_fields.keys()
    for name in names:
        for kind in list_types(requested[name]):
            assert any(issubclass(kind, other) for other in list_types(hints[name])), name


@pytest.mark.parametrize(("request_type", "target", "own"), PAIRS)
def test_what_a_request_does_not_name_has_a_default(
    request_type: type[BaseModel], target: type[Any], own: set[str]
) -> None:
    for field in fields(target):
        if field.name in own:
            assert (field.default, field.default_factory) != (MISSING, MISSING)


def list_types(annotation: Any) -> list[type[Any]]:
    """Return the types of an annotation; a list counts as a tuple, because it becomes one."""
    if get_origin(annotation) in (Union, UnionType):
        return [kind for part in get_args(annotation) for kind in list_types(part)]
    kind = get_origin(annotation) or annotation
    return [tuple if kind is list else kind]


@pytest.mark.parametrize("name", ["valid_until", "source", "session_id", "project"])
def test_a_correction_may_empty_what_may_be_missing(name: str) -> None:
    request = PatchRequest.model_validate({name: None})
    assert request.to_metadata() | request.to_corrections() in ({name: None}, {"said_until": None})


@pytest.mark.parametrize(
    "name",
    sorted(PatchRequest.model_fields.keys() - {"valid_until", "source", "session_id", "project"}),
)
def test_a_correction_cannot_empty_what_every_memory_has(name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name} cannot be null"):
        PatchRequest.model_validate({name: None})


def test_words_named_twice_count_once() -> None:
    fact = StoreRequest.model_validate({"content": "Drinks tea", "tags": ["b", "a", "b"]}).to_fact()
    assert fact.tags == ("b", "a")


@pytest.mark.parametrize("blank", [" ", "\t\n", "\u0085", "\u00a0", "\u2028", "\u3000"])
def test_a_text_that_is_trimmed_to_nothing_is_refused(blank: str) -> None:
    with pytest.raises(ValidationError):
        StoreRequest(content=blank)
