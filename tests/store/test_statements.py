"""The SQL that every route sends stands in a committed file, and Postgres accepts all of it."""

import asyncio
import json
import math
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.main import create_app
from app.services import agent_indexes
from app.services.agent_indexes import AgentIndexKeeper
from app.services.retention import Retention, RetentionSettings
from app.settings import load_settings
from app.store.engine import Patience, create_engine
from app.store.log.archive_files import Archives
from support.cluster import needs_one_server
from support.keys import ROOT_KEY
from support.recorded_statements import (
    RecordedCall,
    format_calls,
    number_parameters,
    read_statements,
    record_statements,
    run_recorded,
)

GOLDEN = Path(__file__).parent / "golden" / "statements.sql"
DOCUMENT = json.loads((Path(__file__).parents[2] / "openapi" / "openapi.json").read_text())

VIM = {
    "content": "Uses Vim",
    "kind": "preference",
    "category": "tooling",
    "key": "editor",
    "value": "Vim",
    "session_id": "first-session",
}
EMACS = VIM | {"content": "Uses Emacs", "value": "Emacs"}
HISTORY = '{"content": "Lives in Porto", "key": "home", "created_at": "2020-03-02"}\n'


class Recorder:
    """A client whose calls are recorded under the routes that they call."""

    def __init__(self, client: httpx.AsyncClient, app: Any) -> None:
        self._client, self._app = client, app
        self.calls: list[RecordedCall] = []

    async def call(
        self, route: str, variant: str = "", *, status: int = 200, **request: Any
    ) -> Any:
        """Call a route such as "POST /v1/search", record it and return the answer.

        `ids` fill the path.
        """
        label = f"{route} ({variant})" if variant else route
        method, path = route.split()
        path = path.format(**request.pop("ids", {}))

        async def send() -> httpx.Response:
            response = await self._client.request(method, path, **request)
            # What a route leaves to the background is sent before the next route is called.
            await self._app.state.services.sweep_requests.wait_until_idle()
            return response

        recorded, response = await run_recorded(label, send)
        assert response.status_code == status, f"{label}: {response.text}"
        self.calls.append(recorded)
        is_json = response.headers.get("content-type", "").startswith("application/json")
        return response.json() if is_json else response.text

    async def work(self, task: str, run: Callable[[AgentId], Awaitable[Any]], of: AgentId) -> None:
        """Record what a worker does for an agent."""
        recorded, _ = await run_recorded(f"a worker: {task}", lambda: run(of))
        self.calls.append(recorded)

    async def store(self, **fact: Any) -> Any:
        """Store a fact that other calls need, and return the answer."""
        response = await self._client.post("/v1/memories", json=fact)
        assert response.is_success, response.text
        return response.json()


@asynccontextmanager
async def open_recorder(url: str) -> AsyncIterator[Recorder]:
    # Only a service that asks for a key issues others.
    app = create_app(load_settings(database_url=url, use_flush_seconds=3600, api_key=ROOT_KEY))
    transport = httpx.ASGITransport(app)
    headers = {"X-Agent-Id": "alice", "X-API-Key": ROOT_KEY}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client,
    ):
        await client.get("/readyz")  # a pool's first connection asks about the server
        with record_statements():
            yield Recorder(client, app)


async def record_every_call(url: str) -> list[RecordedCall]:
    async with open_recorder(url) as recorder:
        await call_memories(recorder)
        await call_reads(recorder)
        await call_log_and_reviews(recorder)
        await call_agents_and_work(recorder)
        await call_messages(recorder)
        await call_transfer(recorder)
        await call_endings(recorder)
        await call_keys(recorder)
        await call_webhooks(recorder)
        await call_worker(recorder, url)
        return recorder.calls


async def call_memories(recorder: Recorder) -> None:
    call = recorder.call
    vim = await call("POST /v1/memories", "a first fact", status=201, json=VIM)
    key = {"Idempotency-Key": "emacs"}
    await call("POST /v1/memories", "a new value of a slot", status=201, json=EMACS, headers=key)
    await call("POST /v1/memories", "a dry run", json=VIM | {"dry_run": True})
    items = {"items": [{"content": "Has a dog called Rex"}, {"content": "Drinks tea"}]}
    batch = await call("POST /v1/memories/batch", json=items)
    dog, tea = ({"memory_id": item["memory"]["id"]} for item in batch["results"])
    ids = {"memory_id": vim["memory"]["id"]}
    link = {"type": "causes", "target_id": dog["memory_id"]}
    await call("POST /v1/memories/{memory_id}/relationships", ids=tea, json=link, status=201)
    await call("GET /v1/memories/{memory_id}/relationships", ids=tea)
    await call("PATCH /v1/memories/{memory_id}", ids=dog, json={"importance": 0.9})
    other = {"content": "Has a cat called Tom"}
    await call("POST /v1/memories/{memory_id}/supersede", ids=dog, json=other, status=201)
    await call("POST /v1/memories/{memory_id}/retract", ids=tea, json={"reason": "Said so"})
    await call("GET /v1/memories/{memory_id}", ids=ids)
    await call("GET /v1/memories/{memory_id}/history", ids=ids)
    await call("GET /v1/memories/{memory_id}/beliefs", ids=ids)
    await call("GET /v1/memories/{memory_id}/why", ids=ids)


async def call_reads(recorder: Recorder) -> None:
    call = recorder.call
    past = {"as_of": "2026-01-01", "known_at": "2026-01-01"}
    narrowed = {"kind": "preference", "category": "tooling", "tags_any": "work", "stale": "false"}
    for mode in ("hybrid", "vector", "text"):
        await call("POST /v1/search", mode, json={"query": "which editor?", "mode": mode})
    await call("POST /v1/search", "hybrid, in the past", json={"query": "which editor?"} | past)
    await call("GET /v1/search", params={"q": "which editor?"})
    await call("GET /v1/search", "of a year", params={"q": "which editor in 2020?"})
    await call("GET /v1/memories")
    await call("GET /v1/memories", "narrowed", params=narrowed)
    await call("GET /v1/memories", "in the past", params=past)
    await call("GET /v1/memories", "by all that is known since", params={"as_of": "2026-01-01"})
    await call("GET /v1/memories", "by strength", params={"sort": "strength"})
    await call("GET /v1/preferences/{category}/{key}", ids={"category": "tooling", "key": "editor"})
    await call("GET /v1/preferences/{key}", ids={"key": "editor"}, status=404)
    await call("GET /v1/context")
    await call("GET /v1/context", "with a query", params={"query": "which editor?"})


async def make_review(recorder: Recorder, person: str) -> dict[str, str]:
    """Store a fact, and another one of less trust that would end it; return the review's id."""
    await recorder.store(content=f"{person} lives in Porto", trust=90)
    answer = await recorder.store(content=f"{person} moved to Lisbon", trust=10)
    return {"review_id": answer["review_id"]}


async def call_log_and_reviews(recorder: Recorder) -> None:
    call = recorder.call
    page = await call("GET /v1/log")
    await call("GET /v1/log", "narrowed", params={"operation": "ADD", "session_id": "x"})
    ids = {"log_id": page["items"][0]["id"]}
    await call("GET /v1/log/{log_id}", ids=ids)
    await call("GET /v1/events")
    await call("GET /v1/events", "after one", params={"after": ids["log_id"]})
    await call("GET /v1/events", "from now on", params={"after": "latest"})
    await call("POST /v1/log/{log_id}/revert", ids=ids, json={"cascade": False})
    reviews = [await make_review(recorder, person) for person in ("Alice", "Bob", "Dora")]
    await call("GET /v1/reviews")
    await call("GET /v1/reviews", "narrowed", params={"source": "trust", "min_confidence": 0.5})
    await call("GET /v1/reviews/{review_id}", ids=reviews[0])
    await call("POST /v1/reviews/{review_id}/reject", ids=reviews[0], json={"note": "No"})
    await call("POST /v1/reviews/{review_id}/accept", ids=reviews[1], json={"note": "Yes"})
    many = {"decision": "reject", "filter": {"source": "trust"}, "limit": 50}
    await call("POST /v1/reviews/decide", json=many)
    answers = [{"question": reviews[2]["review_id"], "choice": []}]
    await call("POST /v1/reviews/answers", json={"answers": answers})
    await call("GET /v1/shadow/report")


async def call_agents_and_work(recorder: Recorder) -> None:
    call = recorder.call
    alice = {"agent_id": "alice"}
    await call("GET /v1/agents")
    await call("GET /v1/actor")
    await call("GET /v1/agents/{agent_id}", ids=alice)
    await call("PATCH /v1/agents/{agent_id}", ids=alice, json={"mode": "live"})
    await call("GET /v1/agents/{agent_id}/stats", ids=alice)
    slot = {"slot": {"category": "tooling", "key": "editor"}}
    sweep = await call("POST /v1/sweeps", json=slot, status=202)
    ids = {"sweep_id": sweep["id"]}
    await call("GET /v1/sweeps")
    await call("GET /v1/sweeps/{sweep_id}", ids=ids)
    await call("POST /v1/sweeps/{sweep_id}/cancel", ids=ids)
    await call("GET /v1/doctor")
    await call("GET /v1/insights")
    for route in ("GET /livez", "GET /readyz", "GET /metrics", "GET /version"):
        await call(route)


async def call_messages(recorder: Recorder) -> None:
    call = recorder.call
    messages = [
        {"id": "m1", "role": "user", "content": "My boat is called Ada. How are you?"},
        {"id": "m2", "role": "assistant", "content": "Fine!"},
    ]
    body = {"session_id": "talk", "messages": messages}
    await call("POST /v1/messages", "a dry run", json=body | {"dry_run": True})
    headers = {"Idempotency-Key": "talk"}
    answer = await call("POST /v1/messages", "a fact", json=body, headers=headers)
    await call("POST /v1/messages", "sent again", json=body)
    many = [{"role": "user", "content": f"How are you, {number}?"} for number in range(41)]
    long = {"session_id": "long", "messages": many}
    await call("POST /v1/messages", "for a worker", status=202, json=long)
    ids = {"capture_id": answer["capture_id"]}
    await call("GET /v1/captures")
    await call("GET /v1/captures", "filtered", params={"session_id": "talk", "state": "done"})
    await call("GET /v1/captures/{capture_id}", ids=ids)
    await call("POST /v1/captures/{capture_id}/undo", ids=ids)


async def call_transfer(recorder: Recorder) -> None:
    export = await recorder.call("GET /v1/export")
    await recorder.call("GET /v1/export", "with vectors", params={"vectors": "true"})
    lines = {"Content-Type": "application/x-ndjson"}
    for agent, variant, body in (("bob", "a history", HISTORY), ("carol", "an export", export)):
        headers = lines | {"X-Agent-Id": agent}
        await recorder.call("POST /v1/import", variant, content=body, headers=headers)


async def call_endings(recorder: Recorder) -> None:
    call = recorder.call
    session = {"session_id": "first-session"}
    away = await recorder.store(content="Is away", lifespan="session", **session)
    plan = await recorder.store(content="Store UTC", lifespan="project", project="almanac")
    await recorder.store(content="Ship in May", lifespan="project", project="almanac")
    await call("DELETE /v1/memories/{memory_id}", ids={"memory_id": plan["memory"]["id"]})
    over = {"reason": "The conversation is over"}
    await call("POST /v1/sessions/{session_id}/end", ids=session, json=over)
    await call("POST /v1/projects/{project}/end", ids={"project": "almanac"}, json=over)
    await call("POST /v1/reverts", json=session)
    ids = {"memory_id": away["memory"]["id"]}
    await call("DELETE /v1/memories/{memory_id}", "erase", ids=ids, params={"erase": "true"})
    await call("POST /v1/erasures", json=session)


async def call_keys(recorder: Recorder) -> None:
    call = recorder.call
    wanted = {"name": "a key", "scopes": ["read"], "agents": ["alice"]}
    issued = await call("POST /v1/keys", status=201, json=wanted)
    await call("GET /v1/keys")
    await call("GET /v1/memories", "with an issued key", headers={"X-API-Key": issued["key"]})
    ids = {"key_id": issued["id"]}
    await call("POST /v1/keys/{key_id}/rotate", ids=ids, status=201)
    await call("DELETE /v1/keys/{key_id}", ids=ids)


async def call_webhooks(recorder: Recorder) -> None:
    call = recorder.call
    wanted = {"url": "https://no-such-host.invalid/", "operations": ["UPDATE"]}
    created = await call("POST /v1/webhooks", status=201, json=wanted)
    ids = {"webhook_id": created["id"]}
    await call("POST /v1/webhooks/{webhook_id}/ping", ids=ids)
    await call("POST /v1/webhooks/{webhook_id}/enable", ids=ids)
    await call("GET /v1/webhooks")
    await call("GET /v1/webhooks/{webhook_id}", ids=ids)
    await call("DELETE /v1/webhooks/{webhook_id}", ids=ids)


async def call_worker(recorder: Recorder, url: str) -> None:
    """Do what workers do for an agent, and search the index that one of them builds."""
    engine = create_engine(url, pool_size=3, patience=Patience())
    days = load_settings()
    half_lives = HalfLives(days.half_life_days_semantic, days.half_life_days_core)
    keeper = AgentIndexKeeper(engine, half_lives, from_live=1, most=10, memory="64MB")
    settings = RetentionSettings(*[timedelta(microseconds=1)] * 3)
    alice = AgentId("alice")
    with TemporaryDirectory() as folder:
        archives = Archives(Path(folder), may_make=True)
        retention = Retention(engine, archives, settings)
        await recorder.work("what retention would do", retention.preview_retention, alice)
        await recorder.work("retention", retention.retain_agent, alice)
        await recorder.work("an index", keeper.build_index, alice)
        await engine.dispose()
    with patch.object(agent_indexes, "BELIEVED_FOR", 0.0):
        body = {"query": "which editor?"}
        await recorder.call("POST /v1/search", "of a large agent", json=body)
        await recorder.call("POST /v1/memories", "of a large agent", status=201, json=VIM)
        await recorder.call("GET /v1/context", "of a large agent")
        await call_lists(recorder)
        await recorder.call("GET /v1/insights", "of a large agent")
        window = {"since": "2020-01-01"}
        await recorder.call("GET /v1/insights", "of a window of a large agent", params=window)
        await recorder.call(
            "GET /v1/agents/{agent_id}/stats", "of a large agent", ids={"agent_id": "alice"}
        )


async def call_lists(recorder: Recorder) -> None:
    """List memories of a large agent in each order, at each sort of point, on both pages."""
    then = datetime.now(UTC).isoformat()
    variants: dict[str, dict[str, Any]] = {
        "of a large agent": {},
        "of a large agent, then": {"as_of": then},
        "of a large agent, as believed then": {"known_at": then},
        "of a session of a large agent": {"session_id": "s1"},
        "of what is stale in a large agent": {"stale": True},
        "of a large agent, by strength": {"sort": "strength"},
    }
    for variant, params in variants.items():
        first = await recorder.call("GET /v1/memories", variant, params={"limit": 1, **params})
        if first["next_cursor"]:
            more = {"limit": 1, "cursor": first["next_cursor"], **params}
            await recorder.call("GET /v1/memories", f"{variant}, page 2", params=more)


@pytest.fixture
def recorded(database_url: str) -> list[RecordedCall]:
    # What a call reads does not depend on how long those before it took.
    with patch.object(agent_indexes, "BELIEVED_FOR", math.inf):
        return asyncio.run(record_every_call(database_url))


@needs_one_server
def test_the_statements_of_every_route_are_those_of_the_committed_file(
    recorded: list[RecordedCall],
) -> None:
    text = format_calls(recorded)
    if os.environ.get("PALIMPSEST_WRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert GOLDEN.read_text() == text, "run `make golden` and read what changed"


def test_the_file_has_every_route_of_the_document() -> None:
    routes = {
        f"{method.upper()} {path}"
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
    }
    headings = re.findall(r"^-- ===== ([A-Z]+ \S+)", GOLDEN.read_text(), re.MULTILINE)
    assert routes == set(headings)


# Postgres prepares no COPY, SET, LOCK and ANALYZE.
PREPARED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")


@needs_one_server
def test_postgres_can_explain_every_statement_of_the_file(template_url: str) -> None:
    """A parameter has the type that Postgres infers for it, and no value."""
    refused = []
    with psycopg.connect(template_url, autocommit=True) as connection:
        for statement in read_statements(GOLDEN.read_text()):
            if "CREATE TEMP TABLE" in statement:
                # The statements after this one read it. Each is a transaction of its own here.
                connection.execute(re.sub(r"ON\s+COMMIT\s+DROP", "", statement).encode())
            if statement.startswith(PREPARED):
                try:
                    explain(connection, statement)
                except psycopg.Error as problem:
                    refused.append(f"{problem}\n{statement}")
    assert not refused, "\n\n".join(refused)


def explain(connection: psycopg.Connection, statement: str) -> None:
    numbered, names = number_parameters(statement)
    nulls = ", ".join(["NULL"] * len(names))
    values = f"({nulls})" if names else ""
    connection.execute(f"PREPARE golden AS {numbered}".encode())
    connection.execute(f"EXPLAIN EXECUTE golden{values}".encode())
    connection.execute("DEALLOCATE golden")
