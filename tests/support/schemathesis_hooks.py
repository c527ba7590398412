"""What schemathesis cannot know of this service by itself."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import schemathesis
from hypothesis import strategies

from app.api.schemas.fields import MAX_CONTENT
from app.domain.text import INVISIBLE

TALLY = Path(os.environ["PALIMPSEST_HONESTY_TALLY"])
MANY, MOST = 20, 1_000
NDJSON = "application/x-ndjson"
REFUSALS = {400, 413, 415, 422}
# Messages have the forms of SDKs too, which the document names and does not describe.
BOUNDED_IN_WORDS = {"details", "messages", "timezone"}
# What the document says in words, because not every code generator takes the pattern: a text of
# these lengths has no NUL, and a character that is not trimmed away. U+0085 is trimmed, but is no
# space in a schema's patterns.
LENGTHS_OF_WORDS = {(1, 500), (1, MAX_CONTENT)}
WORDED = rf"^[^\u0000]*[^\s\u0085\u0000{INVISIBLE}][^\u0000]*$"
SAID_IN_WORDS = ("NUL", "the calendar has no such day")
# Statuses, and the header that each brings along.
HEADERS = {401: "www-authenticate", 429: "retry-after"}
VALID_KEY = re.compile(r"[!-~]([ -~]{0,253}[!-~])?")
ABOUT_A_FIELD = re.compile(r"Line \d+: (?P<field>[a-z_]+)[.\d]*: ")


@schemathesis.serializer(NDJSON)
def lines(_context: schemathesis.SerializationContext, value: Any) -> dict[str, Any]:
    """An array is a line per item; an example is text already."""
    return {
        "data": value
        if isinstance(value, str | bytes)
        else "\n".join(map(json.dumps, value if isinstance(value, list) else [value]))
    }


@schemathesis.deserializer(NDJSON)
def items(
    _context: schemathesis.DeserializationContext, response: schemathesis.Response
) -> list[Any]:
    return [json.loads(line) for line in response.content.splitlines()]


schemathesis.openapi.format(
    "date-or-time",
    strategies.datetimes(timezones=strategies.just(UTC)).map(datetime.isoformat)
    | strategies.dates(min_value=date(1000, 1, 1)).map(date.isoformat)
    | strategies.integers(1000, 9999).map(str),
)


def iterate_schemas(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for each in node:
            yield from iterate_schemas(each)
    elif isinstance(node, dict):
        yield node
        yield from iterate_schemas(list(node.values()))


@schemathesis.hook
def before_load_schema(_context: schemathesis.HookContext, document: dict[str, Any]) -> None:
    """Lines are made, and checked, by the schema of a line; and texts are made that can be seen.

    Ids in examples of answers would be taken for agents, which know nothing.
    """
    for schema in iterate_schemas(document):
        if (schema.get("minLength"), schema.get("maxLength")) in LENGTHS_OF_WORDS:
            schema["pattern"] = WORDED
    for methods in document["paths"].values():
        for route in methods.values():
            for place in (route.get("requestBody", {}), *route["responses"].values()):
                if lines := place.get("content", {}).get(NDJSON):
                    lines["schema"] = lines["schema"]["contentSchema"]
            for response in route["responses"].values():
                for content in response.get("content", {}).values():
                    content.pop("examples", None)


@schemathesis.hook
def filter_case(_context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """A full batch takes seconds, and the bounds of every field of an item would each be tried in one."""
    items = case.body.get("items") if isinstance(case.body, dict) else None
    return not (isinstance(items, list) and MANY < len(items) <= MOST)


@schemathesis.hook
def before_call(
    _context: schemathesis.HookContext, case: schemathesis.Case, _kwargs: dict[str, Any]
) -> None:
    """A valid Idempotency-Key is new for every call, as the document asks: generated ones are all alike. And the agents that are used
    here are not frozen: every write would be a 503 from then on."""
    if case.method == "PATCH" and case.path_parameters.get("agent_id") in {
        "default",
        "led-by-links",
    }:
        case.path_parameters["agent_id"] = "another"
    key = case.headers.get("Idempotency-Key")
    if isinstance(key, str) and VALID_KEY.fullmatch(key):
        case.headers["Idempotency-Key"] = f"{key[:200]}{uuid4().hex}"


@schemathesis.hook
def after_call(
    _context: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response
) -> None:
    """Written down, so that the test can see which answers were looked at."""
    with TALLY.open("a") as tally:
        tally.write(f"{case.operation.label} {response.status_code}\n")


@schemathesis.check
def names_each_error(
    _context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """The problems of a route are one response, whose description names each status."""
    if response.status_code == 405:  # of a method that the document does not have
        return
    described = case.operation.responses.find_by_status_code(response.status_code)
    assert described, f"{response.status_code} is not in the document"
    if response.status_code >= 400:
        assert f"`{response.status_code}`" in described.definition["description"]
        header = HEADERS.get(response.status_code)
        assert header is None or header in response.headers


@schemathesis.check
def takes_what_the_document_allows(
    _context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """What keeps to the document is refused only for what it says of several fields together, or of what is stored."""
    if (
        case.meta
        and case.meta.generation.mode.is_positive
        and response.headers["content-type"][0].endswith("json")
    ):
        for problem in problems(response.json()):
            places = {place for place in refused_places(problem) if arrives_as_allowed(case, place)}
            assert not places, (
                f"the document allows {places}, the service does not: {problem['detail']}"
            )


def arrives_as_allowed(case: schemathesis.Case, place: str) -> bool:
    """Not so a generated path value with a percent sign: it is taken for encoded, and another value arrives. Nor a header whose
    pattern asks for more than letters and digits: schemathesis makes up no other characters, whatever the pattern."""
    if (parameter := case.operation.path_parameters.get(place)) is not None:
        return parameter.get_validator().is_valid(unquote(str(case.path_parameters[place])))
    if (header := case.operation.headers.get(place)) is not None:
        return header.get_validator().is_valid(case.headers[place])
    return True


def problems(answer: Any) -> Iterator[dict[str, Any]]:
    """The refusals in an answer: the answer itself, or some of the results of a batch."""
    if not isinstance(answer, dict):  # lines
        return
    if answer.get("type") == "urn:palimpsest:problem:batch-refused":
        yield from (found for found in answer["items"].values() if found["status"] in REFUSALS)
    else:
        yield from (
            found for found in answer.get("results", [answer]) if found.get("status") in REFUSALS
        )


def refused_places(problem: dict[str, Any]) -> Iterator[str]:
    """Fields that were refused by themselves."""
    if problem["status"] != 422:
        places = ["the body"]
    elif problem["type"].endswith("bad-line"):
        places = [found["field"]] if (found := ABOUT_A_FIELD.match(problem["detail"])) else []
    else:
        places = [
            error["at"]
            for error in problem.get("errors", [])
            if not any(words in error["reason"] for words in SAID_IN_WORDS)
        ]
    yield from (place for place in places if place and place.split(".")[0] not in BOUNDED_IN_WORDS)
