"""`palimpsest doctor` over a database."""

import json
from importlib.util import find_spec

import httpx
import psycopg
import pytest

from app.networks.many_languages import PACKAGE
from app.settings import load_settings
from support.builders import editor, send
from support.service import running
from support.service_process import palimpsest

pytestmark = pytest.mark.slow


@pytest.fixture
def url(unchecked_database_url: str) -> str:
    """A database in which two agents changed their editor."""
    with running(load_settings(database_url=unchecked_database_url)) as address:
        for agent in ("ann", "ben"):
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": agent}, timeout=60
            ) as client:
                send(client, editor("Vim"))
                send(client, editor("Emacs"))
    return unchecked_database_url


def damage(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode()).rowcount > 0


def test_all_holds(url: str) -> None:
    examined = palimpsest("doctor", PALIMPSEST_DATABASE_URL=url)
    assert (examined.returncode, examined.stdout) == (
        0,
        "2 agents examined: everything holds.\n",
    ), examined.stderr


def test_what_is_wrong_is_told_by_the_exit_status_too_and_what_can_be_is_put_right(
    url: str,
) -> None:
    damage(url, "UPDATE memories SET superseded_by = NULL WHERE agent_id = 'ann'")
    damage(url, "UPDATE memories SET importance = 0.1 WHERE agent_id = 'ben' AND value = 'Vim'")
    told = palimpsest("doctor", "--json", PALIMPSEST_DATABASE_URL=url)
    assert told.returncode == 1, told.stderr
    answer = json.loads(told.stdout)
    assert (answer["agents"], answer["repaired"]) == (2, [])
    assert [(p["agent_id"], p["check"], p["repairable"]) for p in answer["problems"]] == [
        ("ann", "chains", True),
        ("ben", "log", False),
    ]
    plain = palimpsest("doctor", "--agent", "ann", PALIMPSEST_DATABASE_URL=url)
    assert plain.returncode == 1
    assert plain.stdout.splitlines() == [
        f"ann: {answer['problems'][0]['problem']} (--repair can put it right)",
        "1 agent examined: 1 problem.",
    ]
    repaired = palimpsest("doctor", "--repair", PALIMPSEST_DATABASE_URL=url)
    assert repaired.returncode == 1
    assert repaired.stdout.splitlines() == [
        f"ann: put right: {answer['problems'][0]['problem']}",
        f"ben: {answer['problems'][1]['problem']}",
        "2 agents examined: 1 problem.",
    ]
    assert palimpsest("doctor", "--agent", "ann", PALIMPSEST_DATABASE_URL=url).returncode == 0


def test_an_agent_that_writes_in_a_language_that_is_not_read_is_told(url: str) -> None:
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "uta"}, timeout=60) as client,
    ):
        for text in ("Ich wohne in Kiel.", "Mein Hund heißt Balu.", "我在北京工作。"):
            send(client, {"content": text})
    examined = palimpsest("doctor", PALIMPSEST_DATABASE_URL=url)
    assert examined.returncode == 0
    assert examined.stdout.splitlines() == [
        "uta: of its last 3 facts 3 are in a language that is not read, so what they change is "
        "noticed only by its key (docs/operate/languages.md).",
        "3 agents examined: everything holds.",
    ]
    asked = {
        "PALIMPSEST_DATABASE_URL": url,
        "PALIMPSEST_LLM_BASE_URL": "http://127.0.0.1:1/v1",
        "PALIMPSEST_LLM_API_KEY": "none",
    }
    told = palimpsest("doctor", "--agent", "uta", "--json", **asked)
    assert json.loads(told.stdout)["unread"] == []


@pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)
def test_what_many_languages_do_not_read_is_told(url: str) -> None:
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for agent, texts in (
            ("uta", ("Ich wohne in Kiel.", "Mein Hund heißt Balu.", "我在北京工作。")),
            ("vera", ("Я живу в Казани.", "Я врач.", "У меня есть кот.")),
        ):
            client.headers["X-Agent-Id"] = agent
            for text in texts:
                send(client, {"content": text})
    many = {"PALIMPSEST_LANGUAGES": "many", "PALIMPSEST_LOCAL_JUDGE": "true"}
    examined = palimpsest("doctor", "--json", PALIMPSEST_DATABASE_URL=url, **many)
    [told] = json.loads(examined.stdout)["unread"]
    assert told.startswith("vera: of its last 3 facts 3 are in a language that is not read")


def test_an_unknown_agent_is_one_plain_line(url: str) -> None:
    refused = palimpsest("doctor", "--agent", "nobody", PALIMPSEST_DATABASE_URL=url)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines()[-1].startswith(
        "palimpsest: Nothing was ever stored for an agent 'nobody'."
    )
    assert "Traceback" not in refused.stderr
