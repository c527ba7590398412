"""Agents with a history worth exporting, and what tests do with exports."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
import psycopg

from app.settings import load_settings
from support.builders import contents, store
from support.databases import fresh_database
from support.messages import capture, talk
from support.random_history import TEXTS, random_writes
from support.retention import retain
from support.scripted_model import ScriptedModel, every
from support.service import running

TYPES = [
    "memory",
    "belief",
    "usage",
    "operation",
    "checkpoint",
    "archive",
    "folded",
    "relationship",
    "review",
    "capture",
    "turn",
    "captured",
]


ODD_TEXT = "Größe «10», \\u0000 as text, a line\nbreak, 日本 \U0001f600"
ODD_DETAILS = {"a": [1, 0.1, 1e300, -2.5e-7, 12345678901234567890, None, {"ä": "\u2028"}], "": ""}

NDJSON = {"Content-Type": "application/x-ndjson"}


def rich_history(
    client: httpx.Client, model: ScriptedModel, seed: int, archive: Callable[[], object]
) -> None:
    """Stores, updates, retractions, amendments, merges, links, reviews, duplicates, backdated and scheduled facts, messages; the first few
    operations are archived."""
    pick = random.Random(seed)
    store(client, "Plays chess")
    store(client, "Plays chess")
    store(client, "I take aspirin and metformin", split="auto")
    archive()
    falcon = iter([every("NONE"), every("COMPLEMENT"), every("OVERLAP")])
    for text in TEXTS:
        model.then(next(falcon) if "Falcon" in text else every("NONE"))
        store(client, text, tags=[pick.choice("xyz")], tier=pick.choice(["core", "semantic"]))
    model.then(every("UPDATE", 0.6))
    store(client, "I was born in Porto")
    store(client, "I was born in Lisbon")
    model.then(every("NONE"))
    store(client, ODD_TEXT, details=ODD_DETAILS)
    store(client, "Lives in Porto", key="home", value="Porto", valid_from="2020-01-01")
    store(
        client,
        "Lives in Faro",
        key="home",
        value="Faro",
        valid_from="2019-01-01",
        valid_until="2019-06-01",
    )
    capture(client, talk("My parrot is called Coco. How are you?", "Do you like parrots?"))
    random_writes(client, pick, 60)


@contextmanager
def telling(server_url: str, template_url: str) -> Iterator[tuple[httpx.Client, str]]:
    """A service with three agents of a rich history, told-0 to told-2, a client of the first, and their database."""
    template = str(psycopg.conninfo.conninfo_to_dict(template_url)["dbname"])
    with (
        fresh_database(server_url, template=template) as url,
        TemporaryDirectory(prefix="palimpsest-test-") as folder,
        ScriptedModel(every("NONE")) as model,
        running(
            load_settings(
                database_url=url,
                llm_base_url=model.url,
                pool_size=4,
                use_flush_seconds=3600,
                capture_quiet_seconds=0,
            )
        ) as address,
    ):
        for seed in range(3):
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": f"told-{seed}"}, timeout=60
            ) as client:
                rich_history(
                    client, model, seed, partial(retain, url, Path(folder), f"told-{seed}")
                )
        with httpx.Client(base_url=address, headers={"X-Agent-Id": "told-0"}, timeout=60) as client:
            yield client, url


def other(client: httpx.Client, agent: str | None = None) -> httpx.Client:
    """A client of the same service as another agent, by default one that holds nothing."""
    return httpx.Client(
        base_url=client.base_url,
        headers={"X-Agent-Id": agent or f"other-{uuid4().hex}"},
        timeout=60,
    )


def exported(client: httpx.Client, **params: Any) -> bytes:
    response = client.get("/v1/export", params=params)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("application/x-ndjson")
    return response.content


def lines_of(export: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export.split(b"\n")[:-1]]


def joined(lines: list[Any]) -> bytes:
    return b"".join(
        line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() + b"\n"
        for line in lines
    )


def brought_back(client: httpx.Client, export: bytes) -> dict[str, int]:
    response = client.post("/v1/import", headers=NDJSON, content=export)
    assert response.status_code == 200, response.text
    [line] = [json.loads(line) for line in response.text.splitlines()]
    assert line["type"] == "imported"
    counts: dict[str, int] = line["counts"]
    return counts


def holds_nothing(client: httpx.Client) -> bool:
    return (
        contents(client, include_superseded=True) == set()
        and client.get("/v1/log").json()["items"] == []
    )
