"""Every route has an example that works as pasted into Swagger UI, for someone who has run the examples of a store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.api.examples import STORE
from app.main import create_app
from app.settings import load_settings
from support.builders import list_ended, store
from support.databases import fresh_database
from support.keys import ROOT_KEY, calling, issue
from support.messages import capture
from support.service import running
from support.urls import name_of

Route = dict[str, Any]

DOCUMENT: dict[str, Any] = create_app(load_settings(host="127.0.0.1")).openapi()

# How one gets what a path asks for by id: a person copies it from the answer to a store.
PASTED = {
    "memory_id": lambda answer: answer["memory"]["id"],
    "log_id": lambda answer: answer["log_id"],
    "review_id": lambda answer: answer["review_id"],
    "agent_id": lambda answer: answer["agent_id"],
    "sweep_id": lambda answer: answer["sweep_id"],
    "capture_id": lambda answer: answer["capture_id"],
    "key_id": lambda answer: answer["key_id"],
    "webhook_id": lambda answer: answer["webhook_id"],
}


# The same in a body.
PASTED_IN_BODY = {
    "target_id": lambda client: store(client, "Walks in the park every morning")["memory"]["id"]
}

NOWHERE = "https://no-such-host.invalid/"

# An import brings history: it is for an agent that knows nothing later yet.
FOR_A_NEW_AGENT = {"/v1/import"}


@dataclass(frozen=True)
class Pasted:
    """A call with the examples of its parameters and one of the examples of its body."""

    method: str
    path: str
    route: Route
    media: str | None = None
    body: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)


def routes() -> Iterator[tuple[str, str, Route]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, route in methods.items():
            yield method, path, route


def bodies(route: Route) -> list[tuple[str | None, str, Any]]:
    """Media type, name and value of every example of a body."""
    content = route.get("requestBody", {}).get("content", {})
    named = [
        (media, name, example["value"])
        for media, body in content.items()
        for name, example in body.get("examples", {}).items()
    ]
    plain = [
        (media, "example", body["example"]) for media, body in content.items() if "example" in body
    ]
    return [*named, *plain] or [(None, "call", None)]


def example_of(parameter: dict[str, Any]) -> Any:
    """What Swagger UI fills the field of a parameter with; None for nothing."""
    named = [example["value"] for example in parameter.get("examples", {}).values()]
    return next(iter(named), parameter.get("example", parameter["schema"].get("example")))


def calls() -> Iterator[Any]:
    for method, path, route in routes():
        filled = {p["name"]: example_of(p) for p in route.get("parameters", [])}
        parameters = {name: value for name, value in filled.items() if value is not None}
        for media, name, body in bodies(route):
            yield pytest.param(
                Pasted(method, path, route, media, body, parameters), id=f"{method} {path} {name}"
            )


@pytest.mark.parametrize(
    ("method", "path", "route"),
    [pytest.param(*route, id=" ".join(route[:2])) for route in routes()],
)
def test_every_body_and_every_required_parameter_has_an_example(
    method: str, path: str, route: Route
) -> None:
    if "requestBody" in route:
        assert bodies(route)[0][0], "the body has no example"
    for parameter in (p for p in route.get("parameters", []) if p["required"]):
        if parameter["name"] in PASTED:
            assert "paste" in parameter["description"], (
                f"{parameter['name']} does not say where one gets it"
            )
        else:
            assert example_of(parameter) is not None, (
                f"{parameter['name']} has no example, nor a way to get one in PASTED"
            )


@pytest.fixture(scope="module")
def issuing_service(server_url: str, template_url: str) -> Iterator[str]:
    """The address of a service that asks for keys. Only such a service issues some."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
    ):
        yield address


@pytest.mark.parametrize("call", [call for call in calls() if "/v1/keys" in call.id])
def test_every_example_about_keys_works_as_pasted(issuing_service: str, call: Pasted) -> None:
    with calling(issuing_service, ROOT_KEY) as client:
        path = call.path.format(key_id=issue(client)["id"])
        response = client.request(call.method, path, json=call.body)
    assert response.is_success, response.text


@pytest.mark.parametrize("call", [call for call in calls() if "/v1/keys" not in call.id])
def test_every_example_works_as_pasted(client: httpx.Client, call: Pasted) -> None:
    for example in STORE.values():
        client.post("/v1/memories", json=example["value"]).raise_for_status()
    store(client, "Alice lives in Porto", trust=90)
    waits = store(client, "Alice moved to Lisbon", trust=10)["review_id"]
    sweep = client.post("/v1/sweeps").json()["id"]
    stored = store(client, "Has a dog") | {
        "agent_id": client.headers["X-Agent-Id"],
        "review_id": waits,
        "key_id": "no key is issued here",
        "sweep_id": sweep,
        "webhook_id": client.post("/v1/webhooks", json={"url": NOWHERE}).json()["id"],
        "capture_id": capture(client, "My boat is called Ada.")["capture_id"],
    }
    ids = {name: found(stored) for name, found in PASTED.items()}
    body = call.body
    if isinstance(body, dict):
        body = body | {
            name: paste(client) for name, paste in PASTED_IN_BODY.items() if name in body
        }
    places = {p["name"]: p["in"] for p in call.route.get("parameters", [])}
    query = {name: value for name, value in call.parameters.items() if places[name] == "query"}
    agent = {"X-Agent-Id": f"new-{uuid4().hex}"} if call.path in FOR_A_NEW_AGENT else {}
    response = client.request(
        call.method,
        call.path.format(**ids | call.parameters),
        params=query,
        content=body if isinstance(body, str) else json.dumps(body) if call.media else None,
        headers=({"Content-Type": call.media} if call.media else {}) | agent,
    )
    assert response.is_success, response.text
    assert str(response.status_code) in call.route["responses"]
    if call.path in {"/v1/search", "/v1/memories"} and "results" in response.text:
        assert response.json()["results"], "the example finds nothing"


def test_the_examples_of_a_store_tell_a_story_in_their_order(client: httpx.Client) -> None:
    plain, *answers = [
        client.post("/v1/memories", json=example["value"]).json() for example in STORE.values()
    ]
    assert plain["operation"] == "ADD"
    assert [answer["operation"] for answer in answers] == [
        "ADD",
        "UPDATE",
        "ADD",
        "ADD",
        "ADD",
        "ADD",
        "ADD",
        "UPDATE",
    ]
    assert list_ended(answers[1]) == [answers[0]["memory"]["id"]]
    assert [answer["dry_run"] for answer in answers] == [False] * 7 + [True]
