"""`palimpsest serve`: its embedded Postgres, and the check of its model."""

import asyncio
import json
import logging
import re
import signal
from pathlib import Path
from types import SimpleNamespace

import httpx
import psutil
import pytest
from fastapi import FastAPI

from app import serving
from app.settings import load_settings
from app.store.embedded import embedded_postgres
from app.wiring import build_budget, build_chat, build_model_checker
from support.scripted_model import (
    RESET,
    SILENCE,
    ScriptedModel,
    Step,
    every,
    fails,
    http,
    knows,
)
from support.scripted_vectors import embeds
from support.service import running
from support.service_process import await_model_check, palimpsest, served

pytestmark = pytest.mark.slow


def postmaster(folder: Path) -> int | None:
    file = folder / "postgres" / "postmaster.pid"
    return int(file.read_text().splitlines()[0]) if file.exists() else None


def test_serve_starts_its_own_postgres_and_stops_it(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        assert (
            httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).status_code
            == 201
        )
        pid = postmaster(tmp_path)
        assert pid is not None
        assert psutil.pid_exists(pid)
    assert postmaster(tmp_path) is None
    with embedded_postgres(tmp_path) as url, running(load_settings(database_url=url)) as address:
        assert len(httpx.get(f"{address}/v1/memories").json()["items"]) == 1


def test_after_a_kill_the_next_start_takes_the_database_over(data_folder: Path) -> None:
    with served(data_folder) as service:
        stored = httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).json()[
            "memory"
        ]["id"]
        service.process.send_signal(signal.SIGKILL)
        service.process.wait(10)
        pid = postmaster(data_folder)
    assert pid is not None
    assert psutil.pid_exists(pid), "Postgres outlives the service"
    with served(data_folder) as service:
        assert postmaster(data_folder) == pid
        assert httpx.get(f"{service.address}/v1/memories/{stored}").json()["content"] == "Has a dog"
        examined = palimpsest("doctor", PALIMPSEST_DATA_DIR=str(data_folder))
        assert (examined.returncode, examined.stdout) == (
            0,
            "1 agent examined: everything holds.\n",
        ), examined.stderr
    assert postmaster(data_folder) is None, "the takeover stops it in the end"


def test_workers_share_the_port_and_the_database_and_stay_small(data_folder: Path) -> None:
    with served(data_folder, "--workers", "2") as service:
        stored = httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).json()[
            "memory"
        ]["id"]
        for _ in range(20):
            assert httpx.get(f"{service.address}/v1/memories/{stored}").status_code == 200
        services = [
            p
            for p in psutil.Process(service.process.pid).children(recursive=True)
            if "python" in p.name()
        ]
        resident = [p.memory_info().rss / 2**20 for p in services]
        assert max(resident) <= 300, "an idle service process stays under 300 MB"
    assert postmaster(data_folder) is None


def test_reembed_joins_the_postgres_of_a_running_service_and_leaves_it_running(
    data_folder: Path,
) -> None:
    with ScriptedModel(embeds(8)) as server, served(data_folder) as service:
        assert (
            httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).status_code
            == 201
        )
        remote = {
            "PALIMPSEST_EMBEDDING_BASE_URL": server.url,
            "PALIMPSEST_EMBEDDING_MODEL": "scripted",
            "PALIMPSEST_EMBEDDING_DIMENSIONS": "8",
        }
        changed = palimpsest("reembed", PALIMPSEST_DATA_DIR=str(data_folder), **remote)
        assert "made by scripted/8 (8 dimensions) now" in changed.stdout, changed.stderr
        assert httpx.post(f"{service.address}/v1/search", json={"query": "dog"}).status_code == 503
        assert (
            httpx.get(f"{service.address}/v1/memories").json()["items"][0]["content"] == "Has a dog"
        )
    assert postmaster(data_folder) is None


# --- the model at the start ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "trouble"),
    [
        (knows, None),
        (fails(401, "wrong key"), "answered 401: check PALIMPSEST_LLM_API_KEY."),
        (RESET, "cannot be reached: check PALIMPSEST_LLM_BASE_URL"),
        (every("CONTRADICTION"), "ends what holds: 5 of 5."),
    ],
)
def test_a_wrong_model_is_told_at_once_and_leaves_the_service_ready(
    tmp_path: Path, database_url: str, step: Step, trouble: str | None
) -> None:
    with (
        ScriptedModel(step) as model,
        served(
            tmp_path,
            PALIMPSEST_DATABASE_URL=database_url,
            PALIMPSEST_LLM_BASE_URL=model.url,
            PALIMPSEST_LLM_TRIES="1",
        ) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
    ):
        answer = await_model_check(service.address)
        assert (answer["trouble"] is None) is (trouble is None)
        client.post("/v1/memories", json={"content": "Has a dog", "classify": False})
        usable = re.search(
            r'palimpsest_model_usable{model="gpt-4o-mini"} (.+)', client.get("/metrics").text
        )
        page = client.get("/ui/agent", params={"agent": "default"}).text
        lines = [json.loads(line) for line in service.log.read_text().splitlines()]
        assert usable
    events = {line["event"]: line["level"] for line in lines}
    assert f"docs: {service.address}/docs; data: " in "".join(events)
    assert "; model: gpt-4o-mini; " in "".join(events)
    if trouble is None:
        assert float(usable[1]) == 1
        assert "gpt-4o-mini, checked" in page
        assert events["The model gpt-4o-mini answers: 10 of 10 known pairs right"] == "info"
    else:
        assert float(usable[1]) == 0
        assert trouble in answer["trouble"]
        assert answer["trouble"] in page
        assert events[answer["trouble"]] == "warning"


def test_readiness_does_not_wait_for_a_model_that_is_silent(
    tmp_path: Path, database_url: str
) -> None:
    with (
        ScriptedModel(SILENCE) as model,
        served(
            tmp_path, PALIMPSEST_DATABASE_URL=database_url, PALIMPSEST_LLM_BASE_URL=model.url
        ) as service,
    ):
        answer = httpx.get(f"{service.address}/readyz").json()["model"]
        assert answer == {"name": "gpt-4o-mini", "checked_at": None, "trouble": None}


def test_a_model_in_trouble_is_checked_until_it_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serving, "MODEL_AGAIN_AFTER", 0)
    caplog.set_level(logging.INFO, "app.serving")

    async def check() -> None:
        async with http() as client:
            settings = load_settings(llm_base_url=model.url, llm_tries=1)
            checker = build_model_checker(
                settings, build_chat(settings, client), build_budget(settings)
            )
            app = FastAPI()
            app.state.services = SimpleNamespace(model_checker=checker)
            await serving._check_model(app)

    with ScriptedModel(fails(401), fails(401), fails(500), knows) as model:
        asyncio.run(check())
        assert len(model.requests) == 3 + 3
    unauthorized, failing, answers = caplog.messages
    assert "answered 401" in unauthorized
    assert "errors of its server" in failing
    assert answers == "The model gpt-4o-mini answers: 10 of 10 known pairs right"
