"""The client against the real service: over the network, and over ASGI in the same process."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from app.main import create_app
from app.settings import load_settings
from palimpsest_client import AsyncClient, BrokenOff, Client, Conflict, Invalid, NotFound

CLIENT = Path(__file__).parents[2] / "clients" / "python"


@pytest.fixture
def memory(service: str) -> Iterator[Client]:
    """A client of the shared service, as an agent nobody else is."""
    with Client(service, agent=f"client-{uuid4().hex}") as client:
        yield client


def store_homes(client: Client) -> tuple[str, str]:
    """Porto from 2020 and Lisbon from 2026; return their ids."""
    ids = []
    for value, since in (("Porto", date(2020, 1, 1)), ("Lisbon", datetime(2026, 1, 1, tzinfo=UTC))):
        stored = client.store(f"Lives in {value}", key="home", value=value, valid_from=since)
        assert stored["memory"]
        ids.append(stored["memory"]["id"])
    return ids[0], ids[1]


def test_a_change_is_stored_found_and_told(memory: Client) -> None:
    porto, lisbon = store_homes(memory)
    [hit] = memory.search("Where do I live?")["results"]
    assert hit["memory"]["id"] == lisbon
    assert [version["id"] for version in memory.history(porto)] == [porto, lisbon]
    preference = {"kind": "preference", "category": "tooling", "key": "editor"}
    memory.store("Uses Helix", value="Helix", **preference)  # type: ignore[arg-type] # texts
    assert memory.preference("tooling", "editor")["value"] == "Helix"
    assert "Lisbon" in memory.context()["text"]
    assert "replaced" in memory.why_memory(porto)["events"][-1]["sentence"]


def test_a_view_reads_what_was_true_and_known_then(memory: Client) -> None:
    before = datetime.now(UTC)
    porto, _ = store_homes(memory)
    then = memory.at(as_of="2021")
    assert [hit["memory"]["id"] for hit in then.search("home")["results"]] == [porto]
    assert [found["id"] for found in then.list_memories()] == [porto]
    assert "Porto" in then.context()["text"]
    assert then.get_memory(porto)["status"] == "current"
    assert then.search("home", as_of="2026-02")["results"][0]["memory"]["id"] != porto
    assert memory.at(known_at=before).search("home")["results"] == []
    assert list(memory.at(known_at=before, as_of="2021").list_memories()) == []
    assert memory.get_memory(porto)["status"] == "superseded"


def test_a_view_of_a_time_refuses_what_is_not_of_that_time(memory: Client) -> None:
    then = memory.at(as_of="2021")
    for call in (
        lambda: then.store("x"),
        lambda: then.get_stats("x"),
        lambda: then.relationships("x").page(),  # these have no time of validity
        lambda: then.export().blocks(),
    ):
        with pytest.raises(ValueError, match="as_of"):
            call()


def test_a_view_of_another_agent_leaves_the_client_as_it_is(memory: Client) -> None:
    other = memory.agent(f"client-{uuid4().hex}")
    other.store("Has a dog")
    assert [m["content"] for m in other.list_memories()] == ["Has a dog"]
    assert list(memory.list_memories()) == []
    assert [m["content"] for m in other.at(as_of=datetime.now(UTC)).list_memories()]


def test_lists_go_on_over_all_pages(memory: Client) -> None:
    items = [{"content": f"Owns book {number}"} for number in range(5)]
    memory.store_batch(items, atomic=True)  # type: ignore[arg-type] # a list of mappings
    found = memory.list_memories(limit=2)
    assert len(list(found)) == 5
    assert [len(page["items"]) for page in found.pages()] == [2, 2, 1]
    assert len(found.page()["items"]) == 2
    assert len(list(memory.list_memories(limit=2, cursor=found.page()["next_cursor"]))) == 3
    assert {entry["operation"] for entry in memory.list_log(limit=3)} == {"ADD"}


def test_a_problem_is_an_error_by_what_a_caller_does(memory: Client) -> None:
    with pytest.raises(Invalid) as invalid:
        memory.store(" ")
    assert (invalid.value.status, invalid.value.type) == (422, "urn:palimpsest:problem:invalid")
    assert invalid.value.errors[0]["at"] == "content"
    assert invalid.value.request_id
    with pytest.raises(NotFound, match="no memory"):
        memory.get_memory(uuid4())
    with pytest.raises(NotFound):
        memory.get_memory("../memories")
    with pytest.raises(NotFound, match="No preference"):
        memory.preference("..", "agents")
    first, _ = store_homes(memory)
    with pytest.raises(Conflict):
        memory.amend(first, tags=["x"], if_match='"0"')


def test_a_change_empties_a_field_by_none_and_leaves_the_others(memory: Client) -> None:
    stored = memory.store("Has a dog", source="chat", tags=["pets"])["memory"]
    assert stored
    amended = memory.amend(stored["id"], source=None, importance=0.9)["memory"]
    assert amended
    assert (amended["source"], amended["importance"], amended["tags"]) == (None, 0.9, ["pets"])
    memory.store("x")
    agent = memory.get_agent(str(memory._view.agent))["agent_id"]
    assert memory.patch_agent(agent, mode="shadow")["mode"] == "shadow"
    assert memory.patch_agent(agent, timezone="Europe/Lisbon")["mode"] == "shadow"
    assert memory.patch_agent(agent, mode=None)["mode"] is None


def test_an_export_is_imported_into_another_agent(memory: Client) -> None:
    store_homes(memory)
    lines = list(memory.export(vectors=False))
    assert lines[-1]["type"] == "end"
    copied = memory.agent(f"client-{uuid4().hex}")
    [answer] = copied.import_history(memory.export().blocks())
    assert answer["counts"]["memory"] == 2
    assert len(list(copied.list_memories(include_superseded=True))) == 2
    with pytest.raises(Conflict):
        copied.import_history(lines)
    dated = memory.agent(f"client-{uuid4().hex}")
    line = {"content": "Lives in Porto", "valid_from": "2020-01-01"}
    assert dated.import_history([line])[0]["line"] == 1


def test_an_export_without_its_last_line_is_broken_off() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b'{"type":"memory"}\n')

    with (
        Client("http://here", transport=httpx.MockTransport(answer)) as client,
        pytest.raises(BrokenOff, match="Export again"),
    ):
        list(client.export())


def test_address_key_and_agent_come_from_the_environment(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = f"client-{uuid4().hex}"
    monkeypatch.setenv("PALIMPSEST_URL", service)
    monkeypatch.setenv("PALIMPSEST_AGENT", agent)
    monkeypatch.setenv("PALIMPSEST_API_KEY", "a key")
    with Client() as client:
        client.store("Has a dog")
        assert client.get_agent(agent)["memories"] == 1
        assert client._http.headers["X-API-Key"] == "a key"


@pytest.mark.parametrize("wrong", [{"agent": "ünal"}, {"agent": "a\nb"}, {"api_key": "schlüssel"}])
def test_what_no_header_can_carry_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        Client(**wrong)  # type: ignore[arg-type] # one of two texts


@asynccontextmanager
async def in_process(database_url: str) -> AsyncIterator[AsyncClient]:
    """A client of an application in this process."""
    app = create_app(load_settings(database_url=database_url))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with AsyncClient("http://localhost", agent="ada", transport=transport) as client:
            yield client


async def tell_a_story(database_url: str) -> None:
    async with in_process(database_url) as client:
        first = await client.store("Lives in Porto", key="home", value="Porto", valid_from="2020")
        await client.store("Lives in Lisbon", key="home", value="Lisbon", valid_from="2026")
        assert first["memory"]
        assert (await client.search("home"))["results"][0]["memory"]["value"] == "Lisbon"
        then = client.at(as_of="2021")
        assert (await then.search("home"))["results"][0]["memory"]["value"] == "Porto"
        assert [m["value"] async for m in then.list_memories()] == ["Porto"]
        versions = client.history(first["memory"]["id"])
        assert [version["value"] async for version in versions] == ["Porto", "Lisbon"]
        assert [len(page["operations"]) async for page in versions.pages()] == [2]
        assert (await client.list_log(limit=1).page())["next_cursor"]
        blocks = [block async for block in client.export().blocks()]
        assert [line["type"] async for line in client.export()][-1] == "end"
        other = client.agent("grace")
        [answer] = await other.import_history(client.export().blocks())
        assert answer["counts"]["memory"] == 2
        with pytest.raises(Conflict):
            await other.import_history(blocks)
        with pytest.raises(NotFound):
            await client.get_memory(uuid4())
        with pytest.raises(ValueError, match="as_of"):
            await then.store("x")
        assert "palimpsest_" in await client.metrics()


def test_the_same_methods_work_asynchronously_in_the_process_of_the_service(
    database_url: str,
) -> None:
    asyncio.run(tell_a_story(database_url))


def test_the_lines_of_its_readme_work(service: str) -> None:
    readme = (CLIENT / "README.md").read_text()
    code = readme.split("```python\n")[1].split("```")[0]
    command = [sys.executable, "-c", code]
    environment = {"PALIMPSEST_URL": service, "PYTHONPATH": str(CLIENT)}
    environment["PALIMPSEST_AGENT"] = f"client-{uuid4().hex}"
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert "Lisbon" in done.stdout.splitlines()[0]
    assert "Porto" in done.stdout.splitlines()[1]


def test_it_needs_httpx_and_nothing_of_the_service() -> None:
    code = "import json, sys, palimpsest_client; print(json.dumps(sorted(sys.modules)))"
    environment = {"PYTHONPATH": str(CLIENT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert "httpx" in loaded
    assert loaded & {"app", "fastapi", "pydantic", "sqlalchemy", "numpy"} == set()
