"""`palimpsest model check`, and what the doctor says of the model."""

import json
import socket

import pytest

from support.scripted_model import ScriptedModel, Step, every, fails, knows, says
from support.service_process import palimpsest

pytestmark = pytest.mark.slow

KEY = "model-key-planted"


def check(model: ScriptedModel, **settings: str) -> tuple[int, str]:
    """The exit status of the command and what it prints."""
    done = palimpsest(
        "model",
        "check",
        PALIMPSEST_LLM_BASE_URL=model.url,
        PALIMPSEST_LLM_API_KEY=KEY,
        PALIMPSEST_LLM_TRIES="1",
        **settings,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_a_good_model_is_told_with_its_cost_and_its_verdicts() -> None:
    with ScriptedModel(knows) as model:
        status, printed = check(model, PALIMPSEST_LLM_MODEL="good-1")
        assert len(model.requests) == 3
    assert status == 0
    assert f"good-1 at {model.url.split('/')[2]}" in printed
    assert "prompt relate." in printed
    assert "json_schema" in printed
    assert "3 calls in" in printed
    assert "300 prompt and 60 answer tokens" in printed
    assert "10 of 10 right; ended what holds: 0." in printed
    assert "I was born in Leeds." in printed


def test_the_form_that_the_server_understands_is_told() -> None:
    with ScriptedModel(fails(400, "response_format.type is not supported"), knows) as model:
        assert "answers as json_object" in check(model)[1]


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        (fails(401, "wrong key"), "answered 401: check PALIMPSEST_LLM_API_KEY."),
        (fails(404, "no such model"), "check PALIMPSEST_LLM_MODEL and PALIMPSEST_LLM_BASE_URL"),
        (says("Sure, they all differ!"), "gives answers that cannot be read: take a stronger one"),
        (every("UPDATE"), "ends what holds: 5 of 5. Take a stronger one"),
        (every("UPDATE", 0.5), "misses what ends: it found 0 of 5."),
        (every("NONE"), "misses what ends: it found 0 of 5."),
    ],
)
def test_a_model_of_no_use_is_told_with_what_to_do(step: Step, advice: str) -> None:
    with ScriptedModel(step) as model:
        status, printed = check(model)
    assert status == 1
    assert f"The model gpt-4o-mini at {model.url.split('/')[2]} " in printed
    assert advice in printed


def test_the_words_of_the_server_are_shown_without_the_key() -> None:
    with ScriptedModel(fails(401, f"Wrong key {KEY}, see your account")) as model:
        _, printed = check(model)
    assert "see your account" in printed
    assert KEY not in printed


def test_nobody_listens_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        done = palimpsest("model", "check", PALIMPSEST_LLM_BASE_URL=url, PALIMPSEST_LLM_TRIES="1")
    assert done.returncode == 1
    assert "cannot be reached: check PALIMPSEST_LLM_BASE_URL" in done.stdout


def test_no_model_is_one_plain_line() -> None:
    done = palimpsest("model", "check")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "PALIMPSEST_LLM_BASE_URL" in line


def test_the_doctor_names_the_trouble_and_calls_the_database_healthy(database_url: str) -> None:
    with ScriptedModel(fails(401)) as model:
        settings = {"PALIMPSEST_DATABASE_URL": database_url, "PALIMPSEST_LLM_BASE_URL": model.url}
        plain = palimpsest("doctor", **settings)
        as_json = palimpsest("doctor", "--json", **settings)
    trouble, result = plain.stdout.splitlines()
    assert "answered 401: check PALIMPSEST_LLM_API_KEY." in trouble
    assert result == "0 agents examined: everything holds."
    assert json.loads(as_json.stdout)["model_trouble"] == trouble
    assert (plain.returncode, as_json.returncode) == (0, 0)
