"""What a served process writes: a line for each request, and never a key or the text of a fact."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app import logs
from app.settings import load_settings
from support.scripted_model import ScriptedModel, Step, fails, knows, says
from support.service_process import Served, await_model_check, served
from support.transfers import NDJSON

pytestmark = pytest.mark.slow

API_KEY = "api-key-planted-0001-0123456789abcdef"
LLM_KEY = "llm-key-planted-0002"
PASSWORD = "password-planted-0003"
AGENT = {"X-API-Key": API_KEY, "X-Agent-Id": "ann"}

# Planted in what callers send, each in a way of its own to go wrong.
FACTS = [f"planted{number:02}fact" for number in range(1, 13)]


def with_password(url: str) -> str:
    return url.replace("://postgres@", f"://postgres:{PASSWORD}@")


@contextmanager
def service(
    folder: Path, database_url: str, model: ScriptedModel, **environment: str
) -> Iterator[Served]:
    url = with_password(database_url)
    assert PASSWORD in url
    settings = {
        "DATABASE_URL": url,
        "API_KEY": API_KEY,
        "LLM_BASE_URL": model.url,
        "LLM_API_KEY": LLM_KEY,
        "LLM_TRIES": "1",
    }
    with served(
        folder, **{f"PALIMPSEST_{name}": value for name, value in settings.items()}, **environment
    ) as running:
        await_model_check(running.address)
        yield running


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


TROUBLES: list[Step] = [
    fails(401, f"the key {LLM_KEY} is wrong for {FACTS[0]}"),
    fails(500, FACTS[0]),
    says(FACTS[0]),
]


def live_through_everything(client: httpx.Client, model: ScriptedModel, database_url: str) -> None:
    """Successes, refusals, model trouble and errors of the service, with a fact in each."""

    def store(content: str, **more: Any) -> int:
        return client.post("/v1/memories", json={"content": content, **more}).status_code

    assert store(f"Has a {FACTS[0]} as a pet") == 201
    for trouble in TROUBLES:
        model.then(trouble)
        assert store(f"Has another {FACTS[0]} {id(trouble)} as a pet", classify="model") == 201
    assert store(FACTS[1], colour=FACTS[1]) == 422
    assert client.get("/v1/search", params={"q": FACTS[2]}).status_code == 200
    assert client.get("/v1/search", params={"q": FACTS[2], "mode": FACTS[2]}).status_code == 422
    assert client.get(f"/v1/preferences/tooling/{FACTS[3]}").status_code == 404
    assert client.get(f"/{FACTS[4]}").status_code == 404
    assert (
        client.post(
            "/v1/import",
            headers=NDJSON,
            content=json.dumps({"content": FACTS[5], "kind": FACTS[5]}),
        ).status_code
        == 422
    )
    assert client.post("/v1/memories", content=f'{{"content": "{FACTS[6]}').status_code == 422
    assert client.get("/v1/memories", headers={"X-API-Key": f"{API_KEY}x"}).status_code == 401
    assert (
        client.get("/v1/memories", headers={"X-Agent-Id": f"{FACTS[7]} with spaces"}).status_code
        == 422
    )
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no room for %', NEW.content USING DETAIL = NEW.content, HINT = NEW.content; END $$""")
        admin.execute(
            "CREATE TRIGGER fail BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        assert store(FACTS[8], classify=False) == 500
        batch = [{"content": f"{FACTS[9]} {n}", "classify": False} for n in range(60)]
        assert client.post("/v1/memories/batch", json={"items": batch}).status_code == 500
        admin.execute("DROP TRIGGER fail ON memories")
        admin.execute(
            "ALTER TABLE memories ADD CONSTRAINT no_room CHECK (content NOT LIKE '%fact') NOT VALID"
        )
        assert store(FACTS[10], classify=False) == 409
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        admin.execute("ALTER TABLE memories RENAME TO gone")
        # Unavailable if the service meets a killed connection first.
        assert store(FACTS[11]) in (500, 503)


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_key_and_no_fact_is_ever_written(
    tmp_path: Path, unchecked_database_url: str, form: str
) -> None:
    with (
        ScriptedModel(*TROUBLES) as model,
        service(
            tmp_path,
            unchecked_database_url,
            model,
            PALIMPSEST_LOG_LEVEL="debug",
            PALIMPSEST_LOG_FORMAT=form,
        ) as running,
        httpx.Client(base_url=running.address, headers=AGENT, timeout=60) as client,
    ):
        live_through_everything(client, model, unchecked_database_url)
        assert model.requests, "the model was asked"
        running.stop()
    written = (tmp_path / "service.log").read_text()
    assert [secret for secret in (API_KEY, LLM_KEY, PASSWORD, *FACTS) if secret in written] == []
    assert "RaiseException" in written, "errors are written with where they happened"
    assert "services/remember.py" in written


def test_each_request_is_one_line_with_its_route_and_request_id(
    tmp_path: Path, database_url: str
) -> None:
    with ScriptedModel(says("")) as model, service(tmp_path, database_url, model) as running:
        with httpx.Client(base_url=running.address, headers=AGENT) as client:
            memory = client.post(
                "/v1/memories", json={"content": "Has a dog"}, headers={"X-Request-Id": "one"}
            ).json()["memory"]["id"]
            client.get(f"/v1/memories/{memory}?as_of=2026-01-01", headers={"X-Request-Id": "two"})
            client.get("/v1/search?q=dog", headers={"X-Request-Id": "three"})
        assert running.stop() == 0
    told = lines(running.log)
    requests = {line["request_id"]: line for line in told if line["event"] == "request"}
    assert [requests[name]["route"] for name in ("one", "two", "three")] == [
        "/v1/memories",
        "/v1/memories/{memory_id}",
        "/v1/search",
    ]
    assert [requests[name]["status"] for name in ("one", "two", "three")] == [201, 200, 200]
    assert requests["one"]["method"] == "POST"
    assert requests["one"]["agent"] == "ann"
    assert requests["one"]["duration_ms"] > 0
    assert len(requests) == 3, "health checks are not told"
    assert any(line["logger"] == "uvicorn.error" for line in told), (
        "uvicorn writes in the same form"
    )


def test_an_error_of_the_service_is_one_line_with_its_request_id(
    tmp_path: Path, database_url: str
) -> None:
    with ScriptedModel(says("")) as model, service(tmp_path, database_url, model) as running:
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("ALTER TABLE memories RENAME TO gone")
        answer = httpx.get(
            f"{running.address}/v1/memories", headers=AGENT | {"X-Request-Id": "broken"}
        )
        assert answer.status_code == 500
        assert answer.headers["x-request-id"] == "broken"
        assert answer.json()["type"] == "urn:palimpsest:problem:unexpected"
    [error] = [line for line in lines(running.log) if line["level"] == "error"]
    assert error["request_id"] == "broken"
    assert "psycopg.errors.UndefinedTable: 42P01" in error["exception"]


def test_the_level_silences_what_is_less_important(tmp_path: Path, database_url: str) -> None:
    with (
        ScriptedModel(knows) as model,
        service(tmp_path, database_url, model, PALIMPSEST_LOG_LEVEL="warning") as running,
    ):
        assert httpx.get(f"{running.address}/v1/memories", headers=AGENT).status_code == 200
    assert running.log.read_text() == ""


# --- the renderer ------------------------------------------------------------------------------------------------------


def rendered(
    message: str, *words: object, logger: str = "app", error: BaseException | None = None
) -> dict[str, Any]:
    told = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord(logger, logging.ERROR, "", 1, message, words, told)
    line: dict[str, Any] = json.loads(logs.formatter(as_json=True, keys=[API_KEY]).format(record))
    return line


def rendered_for_person(message: str, level: int = logging.INFO, **values: object) -> str:
    record = logging.LogRecord("app", level, "", 1, message, (), None)
    vars(record).update(values)
    line = logs.formatter(as_json=False, keys=[]).format(record)
    return re.sub(r"\x1b\[\d+m", "", line)


REQUEST = {
    "method": "POST",
    "route": "/v1/memories",
    "status": 201,
    "duration_ms": 34.4,
    "request_id": "5e0f",
    "agent": "default",
    "actor": "anonymous",
}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "POST /v1/memories 201 34 ms"),
        ({"agent": "ada", "actor": "root"}, "POST /v1/memories 201 34 ms actor=root agent=ada"),
        ({"agent": None, "actor": None, "status": 401}, "POST /v1/memories 401 34 ms"),
        ({"status": 500}, "POST /v1/memories 500 34 ms request_id=5e0f"),
    ],
)
def test_a_person_reads_a_request_in_a_phrase(values: dict[str, object], words: str) -> None:
    line = rendered_for_person("request", **REQUEST | values)
    assert re.fullmatch(rf"\d\d:\d\d:\d\d \[info\] {re.escape(words)}", line), line


def test_a_person_reads_where_trouble_was_logged() -> None:
    assert rendered_for_person("Ready").endswith("[info] Ready")
    assert rendered_for_person("Lost", logging.ERROR).endswith("[error] Lost [app]")


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@host/name",
        "postgresql+psycopg://me:s3cret@host:5432/name?x=1",
        "host=h password=s3cret user=me",
        "host=h password='s3cret word' user=me",
        "https://me:s3cret@models/v1",
    ],
)
def test_passwords_in_addresses_become_stars(address: str) -> None:
    said = rendered("cannot connect to %s", address)["event"]
    assert "s3cret" not in said
    assert "***" in said


def test_keys_become_stars_wherever_they_stand() -> None:
    assert rendered(f"sent {API_KEY}!")["event"] == "sent ***!"


def test_the_secret_of_an_issued_key_becomes_stars_and_its_id_stays() -> None:
    key = f"pal_0123456789abcdef_{'5' * 64}"
    assert rendered(f"sent {key}!")["event"] == "sent pal_0123456789abcdef_***!"


def test_the_signature_of_a_token_is_starred_out() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhcHAifQ.c2lnbmF0dXJl-_c2lnbmF0dXJl"
    logged = "sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhcHAifQ.***!"
    assert rendered(f"sent {token}!")["event"] == logged


def test_a_traceback_tells_where_and_what_kind_through_all_causes_but_no_words() -> None:
    inner = raised(ValueError("planted inner"))
    outer = raised(RuntimeError("planted outer"))
    outer.__cause__ = inner
    outer.add_note("planted note")
    group = raised(ExceptionGroup("planted group", [outer, raised(KeyError("planted key"))]))
    told = rendered("failed", error=group)["exception"]
    assert "planted" not in told
    for kind in ("ExceptionGroup", "RuntimeError", "ValueError", "KeyError"):
        assert f"builtins.{kind}: (message withheld)" in told
    assert "in raised" in told


def test_what_the_system_says_is_told() -> None:
    assert (
        "Connection refused"
        in rendered(
            "failed", error=raised(ConnectionRefusedError(111, "Connection refused", "planted"))
        )["exception"]
    )


def test_a_forgotten_task_does_not_quote_its_error() -> None:
    message = "Task exception was never retrieved\nfuture: <Task finished exception=ValueError('planted')>"
    assert (
        rendered(message, logger="asyncio", error=raised(ValueError("planted")))["event"]
        == "Task exception was never retrieved"
    )


def test_embedding_the_application_leaves_logging_alone(database_url: str) -> None:
    from app.main import create_app

    before = (
        logging.getLogger().handlers[:],
        logging.getLogger().level,
        logging.getLogger("uvicorn").handlers[:],
    )
    app = create_app(load_settings(database_url=database_url))

    async def live() -> None:
        async with app.router.lifespan_context(app):
            pass

    asyncio.run(live())
    assert before == (
        logging.getLogger().handlers[:],
        logging.getLogger().level,
        logging.getLogger("uvicorn").handlers[:],
    )
