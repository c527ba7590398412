"""A service whose questions name several memories."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx

from app.settings import load_settings
from support.builders import remembered, store
from support.databases import fresh_database
from support.doctor_check import assert_agent_healthy
from support.openapi_check import keeps_to_the_document
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.urls import name_of

CARS = ("The car is parked at Station Road", "The car stands in Station Road", "The car is red")
MOVED = "The car is parked at Mill Lane in Station Road"


@contextmanager
def open_unsure(server_url: str, template_url: str) -> Iterator[tuple[str, str]]:
    """Give the database and the address of a service whose model takes every candidate for replaced, and is sure of none."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        ScriptedModel(every("UPDATE", 0.5)) as model,
        running(load_settings(database_url=url, llm_base_url=model.url)) as address,
    ):
        yield url, address


@contextmanager
def open_agent(address: str) -> Iterator[httpx.Client]:
    """Give a client of an agent of its own, which must be healthy in the end."""
    headers, hooks = {"X-Agent-Id": f"asking-{uuid4().hex}"}, {"response": [keeps_to_the_document]}
    with httpx.Client(base_url=address, headers=headers, event_hooks=hooks, timeout=60) as client:
        yield client
        assert_agent_healthy(client)


def ask(
    client: httpx.Client, *texts: str, content: str = MOVED
) -> tuple[list[str], dict[str, Any]]:
    """Store the texts and a fact that asks about them; return their ids and the review."""
    ids = remembered(client, *texts)
    answer = store(client, content, classify="model")
    assert answer["review_id"], answer
    return ids, read_review(client, answer["review_id"])


def read_review(client: httpx.Client, review_id: str) -> dict[str, Any]:
    response = client.get(f"/v1/reviews/{review_id}")
    assert response.is_success, response.text
    found: dict[str, Any] = response.json()
    return found
