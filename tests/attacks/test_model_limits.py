"""F7, F10: what callers may spend on a model, and what a model that errs or obeys may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from app.settings import load_settings
from support.builders import store
from support.scripted_model import ScriptedModel, Step, every
from support.service import running

# Neither a word nor a sign of these is of interest to signals.
OPEN = ["Rui looks after the plants of the office", "The plants of the office are with Ines"]


@contextmanager
def obeyed(
    database_url: str, step: Step, **settings: Any
) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    """A service whose model answers each question by this step."""
    with ScriptedModel(step) as model:
        chosen = load_settings(database_url=database_url, llm_base_url=model.url, **settings)
        with running(chosen) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client, model


def test_fresh_agents_get_no_fresh_budget(database_url: str) -> None:
    with obeyed(
        database_url,
        every("NONE"),
        llm_calls_per_minute=2,
        llm_calls_per_minute_per_key=3,
    ) as (client, model):
        for number in range(10):
            client.headers["X-Agent-Id"] = f"agent-{number}"
            store(client, OPEN[0])
            answer = store(client, OPEN[1])
        assert len(model.requests) == 3
        assert answer["operation"] == "ADD"
        assert "The key's budget of 3 questions" in answer["usage"]["trouble"]


@pytest.mark.parametrize("classify", ["cascade", "model"])
def test_a_model_hides_no_fact_by_calling_it_known(database_url: str, classify: str) -> None:
    with obeyed(database_url, every("DUPLICATE"), classify=classify) as (client, model):
        store(client, "The budget of the office is 300 euros")
        answer = store(client, "Ines has the key to the safe")
        assert model.requests
        assert answer["operation"] == "ADD"
        assert "no other judge" in answer["candidates"][0]["reasoning"]
        for question in ("Ines has the key to the safe", "Who has the key?"):
            found = client.post("/v1/search", json={"query": question}).json()["results"]
            assert "Ines has the key to the safe" in [hit["memory"]["content"] for hit in found]
