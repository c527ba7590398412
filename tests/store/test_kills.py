"""Kill -9 at any moment: what was acknowledged is there, and nothing is half done."""

import random
import threading
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import editor
from support.depth import DEEP
from support.doctor_check import assert_healthy
from support.scripted_model import Answer, Request, ScriptedModel, judges, judgment
from support.service import running
from support.service_process import Served, await_model_check, served

KILLS = 50 if DEEP else 2
BATCH = 40


class Writer:
    """Sends one write and keeps what was acknowledged."""

    def __init__(self, service: Served, agent: str, method: str, path: str, body: Any) -> None:
        self.answer: dict[str, Any] | None = None
        self._call = (service.address, agent, method, path, body)
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        address, agent, method, path, body = self._call
        try:
            response = httpx.request(
                method, address + path, json=body, headers={"X-Agent-Id": agent}, timeout=30
            )
        except httpx.HTTPError:
            return
        if response.is_success:
            self.answer = response.json()

    def killed_after(self, service: Served, seconds: float) -> dict[str, Any] | None:
        """What was acknowledged before the service was killed."""
        time.sleep(seconds)
        service.process.kill()
        service.process.wait(30)
        self._thread.join(40)
        return self.answer


def everything(database_url: str, agent: str) -> list[dict[str, Any]]:
    """What the next service over the database lists."""
    params = {"include_superseded": True, "limit": 1000}
    with running(load_settings(database_url=database_url)) as address:
        response = httpx.get(
            f"{address}/v1/memories", params=params, headers={"X-Agent-Id": agent}, timeout=30
        )
    assert response.is_success, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


def told(service: Served, agent: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
    response = httpx.request(
        method, service.address + path, json=body, headers={"X-Agent-Id": agent}, timeout=30
    )
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("kill", range(KILLS))
def test_killed_between_judge_and_apply(kill: int, tmp_path: Path, database_url: str) -> None:
    """The model answers at a random moment around the kill."""
    pick, agent = random.Random(kill), f"kill-{uuid4().hex}"

    def contradicts(request: Request) -> Answer:
        time.sleep(pick.random() * 0.2)
        return judges(*(judgment(number, "CONTRADICTION", 0.95) for number in request.numbers))

    with ScriptedModel(contradicts) as model:
        environment = {
            "PALIMPSEST_DATABASE_URL": database_url,
            "PALIMPSEST_LLM_BASE_URL": model.url,
        }
        with served(tmp_path, **environment) as service:
            await_model_check(service.address)
            old = told(
                service,
                agent,
                "POST",
                "/v1/memories",
                {"content": "The Falcon app was written by Anna", "classify": False},
            )["memory"]
            writing = Writer(
                service,
                agent,
                "POST",
                "/v1/memories",
                {"content": "The Falcon app was written by Bertha"},
            )
            acknowledged = writing.killed_after(service, 0.05 + pick.random() * 0.25)
    found = {m["id"]: m for m in everything(database_url, agent)}
    if acknowledged:
        assert acknowledged["memory"]["id"] in found
    assert len(found) in (1, 2)
    assert (found[old["id"]]["status"] == "superseded") is (len(found) == 2)
    assert_healthy(database_url)


@pytest.mark.slow
@pytest.mark.parametrize("kill", range(KILLS))
def test_killed_in_the_middle_of_a_batch(kill: int, tmp_path: Path, database_url: str) -> None:
    pick, agent = random.Random(kill), f"kill-{uuid4().hex}"
    items = [
        editor(f"Editor {n}") if n % 3 else {"content": f"Fact number {n} of {BATCH}"}
        for n in range(BATCH)
    ]
    with served(tmp_path, PALIMPSEST_DATABASE_URL=database_url) as service:
        told(service, agent, "POST", "/v1/memories", editor("Vim"))
        writing = Writer(service, agent, "POST", "/v1/memories/batch", {"items": items})
        acknowledged = writing.killed_after(service, pick.random() * 0.5)
    found = {m["id"] for m in everything(database_url, agent)}
    if acknowledged:
        assert {r["memory"]["id"] for r in acknowledged["results"]} <= found
    assert len(found) in (1, 1 + BATCH), "all of it or nothing"
    assert_healthy(database_url)


@pytest.mark.slow
@pytest.mark.parametrize("kill", range(KILLS))
def test_killed_in_the_middle_of_a_cascade_revert(
    kill: int, tmp_path: Path, database_url: str
) -> None:
    pick, agent = random.Random(kill), f"kill-{uuid4().hex}"
    with served(tmp_path, PALIMPSEST_DATABASE_URL=database_url) as service:
        results = told(
            service,
            agent,
            "POST",
            "/v1/memories/batch",
            {"items": [editor(f"Editor {n}") for n in range(BATCH)]},
        )["results"]
        writing = Writer(
            service, agent, "POST", f"/v1/log/{results[0]['log_id']}/revert", {"cascade": True}
        )
        acknowledged = writing.killed_after(service, pick.random() * 0.3)
    undone = sum(m["status"] == "reverted" for m in everything(database_url, agent))
    if acknowledged:
        assert undone == BATCH
    assert undone in (0, BATCH), "all of it or nothing"
    assert_healthy(database_url)
