"""Schemas as code generators and readers take them best.

Pydantic writes `anyOf` for every value that may be null, and a title for every field.
"""

from collections.abc import Iterator
from typing import Any

from app.api.field_words import iterate_routes

Schema = dict[str, Any]

_NULL = {"type": "null"}


def simplify_schemas(document: dict[str, Any]) -> None:
    """Write `type: [string, null]` for an `anyOf` of these, and leave the titles of fields out.

    A parameter that is null is not sent, so null is no value of one.
    """
    for route in iterate_routes(document):
        for parameter in route.get("parameters", ()):
            schema = parameter["schema"]
            if _NULL in schema.get("anyOf", ()):
                schema["anyOf"].remove(_NULL)
            _simplify(schema)
        for content in _list_contents(route):
            _simplify(content["schema"])
    for schema in document["components"]["schemas"].values():
        for inner in _list_inner_schemas(schema):
            _simplify(inner)


def _list_contents(route: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for place in (route.get("requestBody", {}), *route["responses"].values()):
        yield from place.get("content", {}).values()


def _list_inner_schemas(schema: Schema) -> Iterator[Schema]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    for name in ("items", "additionalProperties", "contentSchema"):
        if isinstance(schema.get(name), dict):
            yield schema[name]


def _simplify(schema: Schema) -> None:
    for inner in _list_inner_schemas(schema):
        _simplify(inner)
    schema.pop("title", None)
    choices = schema.get("anyOf", [])
    values = [choice for choice in choices if choice != _NULL]
    if len(values) != 1:
        return
    [value] = values
    if len(choices) == 1:
        del schema["anyOf"]
        schema |= value | schema
    elif isinstance(value.get("type"), str) and value.keys().isdisjoint({"enum", "const"}):
        del schema["anyOf"]
        schema |= value | schema | {"type": [value["type"], "null"]}
