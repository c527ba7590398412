"""R2: an export that a hostile caller changed is refused, or does no harm; an agent whose log cannot be read harms nobody else."""

import asyncio
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from app.jobs.worker import open_jobs
from app.settings import Settings, load_settings
from support.builders import problem, store
from support.databases import fresh_database
from support.doctor_damage import drop_rules, tell
from support.messages import capture, talk
from support.mutants import Mutant, Place, list_mutants, list_places, list_reads
from support.retention import retain
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.transfers import NDJSON, exported, joined, lines_of, other
from support.urls import name_of
from support.webhook_receiver import receiving

SAMPLE, SWAPS = 220, 30
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


# --- mutants --------------------------------------------------------------------------------------


def write_history(client: httpx.Client, model: ScriptedModel, url: str, folder: Path) -> None:
    """Everything that an export can hold: archived operations, reviews of each mode, messages."""
    store(client, "Plays chess")
    store(client, "I take aspirin and metformin", split="auto")
    retain(url, folder, "patient")
    tell(client, model)
    words: dict[str, Any] = {"details": {"seen": [1]}, "sources": ["a letter"], "entities": ["Ed"]}
    words |= {"source": "mail", "session_id": "s", "project": "p", "entity": "Ed"}
    store(client, "Ed has lived in Faro since 2020", **words)
    capture(client, talk("My parrot is called Coco. How are you?", "Do you like parrots?"))
    for mode in ("shadow", "frozen", "live"):
        client.patch("/v1/agents/patient", json={"mode": mode}).raise_for_status()
        for fact in (
            {"content": f"The editor is {mode}", "key": "editor", "value": mode},
            {"content": "Visits on Monday", "lifespan": "project", "project": mode},
        ):
            client.post("/v1/memories", json=fact).raise_for_status()


@pytest.fixture(scope="module")
def hospital(
    server_url: str, template_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, bytes]]:
    """The address of a service, and the export of an agent of it."""
    folder = tmp_path_factory.mktemp("archives")
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        ScriptedModel(every("NONE")) as model,
        running(
            load_settings(
                database_url=url,
                llm_base_url=model.url,
                archive_dir=folder,
                capture_quiet_seconds=0,
            )
        ) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "patient"}, timeout=60) as client,
    ):
        write_history(client, model, url, folder)
        yield address, exported(client)


def pick_mutants(export: bytes) -> list[Mutant]:
    return random.Random(41).sample(list(list_mutants(export)), SAMPLE)


def find_harm(client: httpx.Client, export: bytes, mutant: Mutant) -> list[str]:
    """Import a mutant. Return what a caller must not see then, by its path."""
    answer = client.post("/v1/import", headers=NDJSON, content=mutant.apply(export))
    if answer.status_code == 422:
        refused = problem(answer, 422)
        fields = [step for step in mutant.path if isinstance(step, str)]
        named = refused.get("line") == mutant.line and any(f in refused["detail"] for f in fields)
        return [] if named or refused["type"].endswith("damaged-import") else [refused["detail"]]
    if answer.status_code != 200:
        return [f"import: {answer.status_code}"]
    agent = client.headers["X-Agent-Id"]
    changed = lines_of(mutant.apply(export))[mutant.line - 1]
    harm = []
    for path in list_reads(client, export, agent, near=str(changed)):
        status = client.get(path).status_code
        if status >= 500:
            harm.append(f"{path}: {status}")
    erased = client.post("/v1/erasures", json={"agent_id": agent})
    return harm if erased.status_code == 200 else [*harm, f"erasure: {erased.status_code}"]


def test_an_export_with_one_other_value_is_refused_by_line_and_field_or_does_no_harm(
    hospital: tuple[str, bytes],
) -> None:
    address, export = hospital
    harm = {}
    with httpx.Client(base_url=address, timeout=60) as service:
        for mutant in pick_mutants(export):
            with other(service) as client:
                if found := find_harm(client, export, mutant):
                    harm[str(mutant)] = found
    assert harm == {}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("operation", "after_state", "minus one"),
        ("operation", "before_state", "a word"),
        ("operation", "incoming", "minus one"),
        ("operation", "relation", "a word"),
        ("memory", "dated_by", "a word"),
        ("review", "relation", "turned round"),
        ("review", "relied_on", "a huge number"),
        ("review", "relied_on", "a word"),
        ("review", "judgments", "an object"),
        ("capture", "state", "turned round"),
        ("turn", "skipped", "minus one"),
    ],
)
def test_a_value_that_broke_every_read_of_its_kind_is_refused(
    hospital: tuple[str, bytes], kind: str, field: str, value: str
) -> None:
    address, export = hospital
    lines = lines_of(export)
    place = next(n for n, line in enumerate(lines, 1) if line["type"] == kind and line.get(field))
    with httpx.Client(base_url=address, timeout=60) as service, other(service) as client:
        mutant = Mutant(place, (field,), value).apply(export)
        refused = problem(client.post("/v1/import", headers=NDJSON, content=mutant), 422)
        assert refused["line"] == place
        assert field in refused["detail"]


def test_an_export_whose_ids_lead_elsewhere_is_refused_or_does_no_harm(
    hospital: tuple[str, bytes],
) -> None:
    """An id leads to its own line, to another one, or to none: in a ring, nothing ends."""
    address, export = hospital
    lines = lines_of(export)
    swaps = [
        (place, path, target)
        for place, line in enumerate(lines)
        for path, value in list_places(line)
        for target in ("its own", "another", "none")
        if isinstance(value, str) and ID.fullmatch(value)
    ]
    memory = next(line["id"] for line in lines if line["type"] == "memory")
    with httpx.Client(base_url=address, timeout=30) as service:
        harm = {}
        for place, path, target in random.Random(42).sample(swaps, SWAPS):
            line = json.loads(json.dumps(lines[place]))
            own = line.get("id", memory)
            targets = {"its own": own, "another": memory, "none": str(UUID(int=0))}
            put_value(line, path, targets[target])
            changed = joined([*lines[:place], line, *lines[place + 1 :]])
            with other(service) as client:
                answer = client.post("/v1/import", headers=NDJSON, content=changed)
                if answer.status_code == 422:
                    continue
                faults = [answer.status_code] if answer.status_code != 200 else []
                agent = client.headers["X-Agent-Id"]
                reads = list_reads(client, export, agent, near=str(line))
                faults += [
                    status for path in reads if (status := client.get(path).status_code) >= 500
                ]
                erased = client.post("/v1/erasures", json={"agent_id": agent})
                if faults or erased.status_code != 200:
                    harm[f"{line['type']} {path}: {target}"] = faults
    assert harm == {}


def put_value(line: Any, path: Place, value: str) -> None:
    for step in path[:-1]:
        line = line[step]
    line[path[-1]] = value


def test_what_made_the_log_unreadable_is_refused_by_line_and_field(client: httpx.Client) -> None:
    store(client, "Plays chess")
    lines = lines_of(exported(client))
    place = next(i for i, line in enumerate(lines) if line["type"] == "operation")
    lines[place]["after_state"] = -1
    with other(client) as two:
        refused = problem(two.post("/v1/import", headers=NDJSON, content=joined(lines)), 422)
        assert refused["line"] == place + 1
        assert "after_state: Expected `array`, got `int`" in refused["detail"]
        assert problem(two.post("/v1/import", headers=NDJSON, content="[" * 100_000), 422)


# --- an agent that cannot be read -----------------------------------------------------------------

# Values that imports of earlier versions took, each of which breaks a statement or a read.
POISON = {
    "states that are no array": ("consolidation_log", "after_state = '-1', before_state = '-1'"),
    "a state with another id": (
        "consolidation_log",
        """after_state = '[{"id": true, "belief": {"superseded_by": true}}, "zebra", [1]]'""",
    ),
    "metadata that is a text": (
        "consolidation_log",
        """after_state = jsonb_set(after_state, '{0,metadata}', '"zebra"')""",
    ),
    "signals that are a number": ("consolidation_log", "signals = '-1', opinions = '-1'"),
    "an unknown relation": ("reviews", "relation = 'gnu', judgments = '-1', said = '[]'"),
}


def poison_agent(url: str, agent: str, *changes: tuple[str, str]) -> None:
    with psycopg.connect(url) as connection:
        for table, change in changes:
            statement = f"UPDATE {table} SET {change} WHERE agent_id = %s"
            connection.execute(statement.encode(), [agent])


def serve(url: str) -> Settings:
    return load_settings(database_url=url, webhooks_allow_http=True, webhooks_allow_private=True)


def deliver(settings: Settings) -> None:
    async def run() -> None:
        async with open_jobs(settings) as jobs:
            await jobs.services.deliveries.deliver_due()

    asyncio.run(run())


def store_as(client: httpx.Client, agent: str, content: str) -> str:
    headers = {"X-Agent-Id": agent}
    answer = client.post("/v1/memories", json={"content": content}, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["log_id"])


def test_an_agent_whose_log_cannot_be_read_stops_no_other_agents_events(
    unchecked_database_url: str,
) -> None:
    settings = serve(unchecked_database_url)
    with (
        running(settings) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        receiving() as receiver,
    ):
        path = f"/v1/webhooks/{create_webhook(client, receiver.url)}"
        store_as(client, "evil", "Plays chess")
        drop_rules(unchecked_database_url)
        poison_agent(unchecked_database_url, "evil", POISON["a state with another id"])
        for number in range(2):
            expected = store_as(client, "victim", f"Has {number} dogs")
            deliver(settings)
            assert receiver.ids[-1] == expected
        assert len(receiver.ids) == 2
        state = client.get(path).json()
        assert [one["agent_id"] for one in state["unreadable_agents"]] == ["evil"]
        assert state["unreadable_agents"][0]["next_try_at"]
        assert state["disabled_at"] is None
        assert "palimpsest_webhooks_unreadable_agents 1.0" in client.get("/metrics").text
        evil = {"X-Agent-Id": "evil"}
        problems = client.get("/v1/doctor", headers=evil).json()["problems"]
        assert [one["check"] for one in problems] == ["values", "log_chain"]
        erased = client.post("/v1/erasures", json={"agent_id": "evil"}, headers=evil)
        assert erased.status_code == 200, erased.text
        client.post(f"{path}/enable").raise_for_status()
        deliver(settings)
        assert client.get(path).json()["unreadable_agents"] == []
        assert receiver.ids[-1] == erased.json()["log_id"]
        assert "palimpsest_webhooks_unreadable_agents 0.0" in client.get("/metrics").text


def create_webhook(client: httpx.Client, url: str) -> str:
    answer = client.post("/v1/webhooks", json={"url": url, "agents": "*"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_an_agent_whose_log_cannot_be_read_can_be_erased(
    unchecked_database_url: str, poison: tuple[str, str]
) -> None:
    with (
        ScriptedModel(every("NONE")) as model,
        running(
            load_settings(database_url=unchecked_database_url, llm_base_url=model.url)
        ) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "evil"}, timeout=60) as client,
    ):
        store(client, "The zebra app was written by Anna")
        model.then(every("CONTRADICTION", 0.6))
        store(client, "The zebra app was written by Berta")
        drop_rules(unchecked_database_url)
        poison_agent(unchecked_database_url, "evil", poison)
        erased = client.post("/v1/erasures", json={"agent_id": "evil"})
        assert erased.status_code == 200, erased.text
        with psycopg.connect(unchecked_database_url) as connection:
            for table in ("memories", "consolidation_log", "reviews"):
                rows = connection.execute(f"SELECT * FROM {table}".encode()).fetchall()
                assert "zebra" not in str([v for row in rows for v in row])
