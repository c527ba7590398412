"""The document that the code exports is the one that is committed, and answers keep to it."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from app.api.field_words import WORDS
from support.builders import store

ROOT = Path(__file__).parent.parent.parent
DOCUMENT: dict[str, Any] = json.loads((ROOT / "openapi" / "openapi.json").read_text())


def test_the_committed_document_is_the_codes() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    from export_openapi import document

    assert document() == (ROOT / "openapi" / "openapi.json").read_text(), "run `make openapi`"


def test_every_route_says_what_it_does() -> None:
    routes = [route for methods in DOCUMENT["paths"].values() for route in methods.values()]
    assert all(route.get("description") for route in routes)


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_the_pages_need_nothing_from_elsewhere(client: httpx.Client, page: str) -> None:
    shown = client.get(page).text
    needed = re.findall(r"""(?:src|href)=["']([^"']+)["']""", shown)
    assert len(needed) >= 2
    assert [client.get(place).status_code for place in needed] == [200] * len(needed)
    assert not re.search(r"https?://", shown)


READS_BY_POST = {"/v1/search"}
# The answer stored for a retry would hold the secret of a key or of a webhook.
SHOWS_SECRETS = {"/v1/keys", "/v1/keys/{key_id}", "/v1/keys/{key_id}/rotate", "/v1/webhooks"}
# Nothing of an agent is written there, and twice is the same as once; but for a ping, which asks.
OF_WEBHOOKS = {
    "/v1/webhooks/{webhook_id}",
    "/v1/webhooks/{webhook_id}/enable",
    "/v1/webhooks/{webhook_id}/ping",
}


def test_every_route_that_writes_takes_an_idempotency_key_and_no_other_does() -> None:
    routes = {
        (path, method): route
        for path, methods in DOCUMENT["paths"].items()
        for method, route in methods.items()
    }
    without = READS_BY_POST | SHOWS_SECRETS | OF_WEBHOOKS
    writing = {name for name in routes if name[1] != "get" and name[0] not in without}
    keys = {
        name: p
        for name, route in routes.items()
        for p in route.get("parameters", [])
        if p["name"] == "Idempotency-Key"
    }
    assert keys.keys() == writing
    assert len(writing) >= 7
    for key in keys.values():
        assert not key["required"]
        assert all(
            word in key["description"]
            for word in ("Idempotency-Replayed", "422", "410", "24 hours")
        )


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    full = schema.get("anyOf", [schema])[0]  # the other one is the answer in brief
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][full["$ref"].rsplit("/", 1)[1]]
    return found


def test_answers_carry_exactly_what_the_document_says(client: httpx.Client) -> None:
    memory_id = store(client, "Has a dog", session_id="first-session")["memory"]["id"]
    store(client, "Has a cat")
    answers = {
        "/v1/memories": client.get("/v1/memories"),
        "/v1/memories/{memory_id}": client.get(f"/v1/memories/{memory_id}"),
        "/v1/memories/{memory_id}/history": client.get(f"/v1/memories/{memory_id}/history"),
        "/v1/search": client.get("/v1/search", params={"q": "pets"}),
        "/v1/log": client.get("/v1/log"),
        "/v1/context": client.get("/v1/context"),
    }
    for path, answer in answers.items():
        described = resolved(
            DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"]["application/json"][
                "schema"
            ]
        )
        check(described, answer.json())
    stored = client.post("/v1/memories", json={"content": "The dog is called Rex"}).json()
    check(resolved({"$ref": "#/components/schemas/StoreAnswer"}), stored)


def check(described: dict[str, Any], value: dict[str, Any]) -> None:
    """Every property described is there and none other; the same for objects inside."""
    assert set(value) == set(described["properties"]), described["title"]
    for name, inner in described["properties"].items():
        items = inner.get("items", inner)
        options = [o for o in items.get("anyOf", [items]) if "$ref" in o]
        for found in value[name] if isinstance(value[name], list) else [value[name]]:
            if options and isinstance(found, dict):
                check(resolved(options[0]), found)


def list_routes() -> list[dict[str, Any]]:
    return [route for methods in DOCUMENT["paths"].values() for route in methods.values()]


def close_objects(schema: Any) -> Any:
    """Return the schema in which objects with fields take no others."""
    if isinstance(schema, list):
        return [close_objects(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close_objects(each) for name, each in schema.items()}
    return {"additionalProperties": False} | closed if "properties" in schema else closed


def test_every_answer_shows_what_a_service_answered_in_each_view() -> None:
    components = close_objects(DOCUMENT["components"])
    for route in list_routes():
        for status, response in route["responses"].items():
            content = response["content"].get("application/json")
            if status == "default" or content is None:
                continue
            views = content["schema"].get("anyOf", [content["schema"]])
            place = f"{route['operationId']} {status}: run scripts/export_answers.py"
            assert [*content["examples"]] == ["full", "brief"][: len(views)], place
            for view, example in zip(views, content["examples"].values(), strict=False):
                validator = jsonschema_rs.validator_for(view | {"components": components})
                found = [error.message for error in validator.iter_errors(example["value"])]
                assert found == [], place


def test_the_problem_is_one_response_that_names_each_status() -> None:
    for route in list_routes():
        assert [status for status in route["responses"] if status[0] in "45"] == []
        if route["operationId"] not in {"livez", "version"}:
            assert re.findall(r"`(\d+)` [A-Z]", route["responses"]["default"]["description"])


def test_every_summary_is_a_sentence_that_fits_a_line() -> None:
    for route in list_routes():
        assert re.fullmatch(r"[A-Z][a-z]+ .{4,85}[^.:;]", route["summary"]), route["summary"]


def test_required_parameters_come_first_and_headers_last() -> None:
    for route in list_routes():
        parameters = route.get("parameters", [])
        ranks = [(each["in"] == "header", not each["required"]) for each in parameters]
        assert ranks == sorted(ranks), route["operationId"]
    [search] = [route for route in list_routes() if route["operationId"] == "search_by_get"]
    assert [parameter["name"] for parameter in search["parameters"]][:3] == [
        "q",
        "as_of",
        "known_at",
    ]


def iterate_schemas(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for each in node:
            yield from iterate_schemas(each)
    elif isinstance(node, dict):
        yield node
        for name, each in node.items():
            if name not in {"example", "examples"}:
                yield from iterate_schemas(each)


def test_schemas_are_of_kinds_that_every_generator_takes() -> None:
    for schema in iterate_schemas(DOCUMENT):
        assert schema.get("const", True) is not False, schema
        assert re.fullmatch("[ -~]*", str(schema.get("pattern", ""))), schema
        choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
        assert len(choices) != 1 or {"$ref", "enum"} & choices[0].keys(), schema
    for route in list_routes():
        for parameter in route.get("parameters", []):
            is_plain = {"type", "$ref"} & parameter["schema"].keys()
            assert is_plain or parameter["name"] == "after", parameter  # an id, or `latest`


def list_undescribed() -> list[str]:
    """Return every field of a schema and every parameter of a route that nothing is said about."""
    fields = [
        f"{name}.{field}"
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, described in schema.get("properties", {}).items()
        if len(described.get("description", "")) < len("Its id.")
    ]
    parameters = [
        f"{route['operationId']}.{parameter['name']}"
        for methods in DOCUMENT["paths"].values()
        for route in methods.values()
        for parameter in route.get("parameters", [])
        if len(parameter.get("description", "")) < len("Its id.")
    ]
    return fields + parameters


def test_every_field_and_parameter_is_described() -> None:
    assert list_undescribed() == [], "describe it where it is declared, or in app/api/field_words"


def test_no_description_of_a_field_is_for_nothing() -> None:
    text = json.dumps(DOCUMENT)
    unused = [words for words in WORDS.values() if words not in text]
    assert unused == []


def test_names_of_schemas_are_for_readers() -> None:
    assert [name for name in DOCUMENT["components"]["schemas"] if "__" in name] == []


def test_the_groups_of_routes_are_described_in_the_order_of_the_document() -> None:
    described = [group["name"] for group in DOCUMENT["tags"]]
    assert all(group["description"] for group in DOCUMENT["tags"])
    used = [
        tag
        for methods in DOCUMENT["paths"].values()
        for route in methods.values()
        for tag in route["tags"]
    ]
    assert set(used) == set(described)
    assert used[0] == described[0] == "memories"


def test_a_store_shows_what_was_inserted_first_with_links_once_and_fitting_examples() -> None:
    responses = DOCUMENT["paths"]["/v1/memories"]["post"]["responses"]
    assert list(responses)[:2] == ["201", "200"]
    assert [status for status, response in responses.items() if "links" in response] == ["201"]
    for status, operation in (("201", "ADD"), ("200", "NOOP"), ("202", None)):
        shown = responses[status]["content"]["application/json"]["examples"]["full"]["value"]
        assert shown["operation"] == operation


def test_times_are_documented_under_one_name() -> None:
    text = json.dumps(list(DOCUMENT["components"]["schemas"].values()))
    names = re.findall(r'"(asOf|knownAt|validFrom|includeSuperseded)": \{', text)
    parameters = {
        p["name"]
        for methods in DOCUMENT["paths"].values()
        for route in methods.values()
        for p in route.get("parameters", [])
    }
    assert names == []
    [as_of] = [
        p for p in DOCUMENT["paths"]["/v1/search"]["get"]["parameters"] if p["name"] == "as_of"
    ]
    assert as_of["description"].endswith("Also taken as `asOf`.")
    assert parameters.isdisjoint({"asOf", "knownAt", "includeSuperseded"})
