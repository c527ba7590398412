"""The command line against a running service, and `serve` itself as a process."""

import json
import os
import re
import subprocess
import sys
from uuid import uuid4

import click
import httpx
import psycopg
import pytest

from app.cli import cli
from app.store import schema
from support.databases import fresh_database
from support.service_process import palimpsest


@pytest.fixture
def agent() -> str:
    return f"cli-{uuid4().hex}"


def test_the_verbs_tell_a_story(service: str, agent: str) -> None:
    words = ("--url", service, "--agent", agent)
    slot = ("--kind", "preference", "--category", "tooling", "--key", "editor")
    stored = palimpsest(
        "store", "Uses Vim", *slot, "--value", "Vim", "--valid-from", "2020-01-01", *words, "--json"
    )
    assert stored.returncode == 0, stored.stderr
    first = json.loads(stored.stdout)
    changed = palimpsest("store", "Uses Emacs", *slot, "--value", "Emacs", *words)
    assert "UPDATE" in changed.stdout
    assert first["memory"]["id"] in changed.stdout
    now = palimpsest("search", "editor", *words)
    assert "Uses Emacs" in now.stdout
    assert "Uses Vim" not in now.stdout
    for then in (("--as-of", "2021-01-01"), ("--known-at", first["known_at"])):
        before = palimpsest("search", "editor", *then, *words)
        assert "Uses Vim" in before.stdout
        assert "Uses Emacs" not in before.stdout
    everything = palimpsest("search", "editor", "--include-superseded", *words, "--json")
    assert len(json.loads(everything.stdout)["results"]) == 2
    history = palimpsest("history", first["memory"]["id"], *words)
    assert history.stdout.index("Uses Vim") < history.stdout.index("Uses Emacs")
    assert "superseded" in history.stdout


def test_a_history_marks_where_another_chain_goes_on(service: str, agent: str) -> None:
    words = ("--url", service, "--agent", agent)
    ids = []
    for text in ("Has a dog", "Plays tennis"):
        stored = palimpsest("store", text, *words, "--json")
        ids.append(json.loads(stored.stdout)["memory"]["id"])
    palimpsest("supersede", ids[0], "--by", ids[1], *words)
    for memory_id in ids:
        history = palimpsest("history", memory_id, *words).stdout
        dog, tennis, legend = history.splitlines()[-3:]
        assert ("Has a dog" in dog, "↪" in dog) == (True, False)
        assert ("Plays tennis" in tennis, "current, ↪" in tennis) == (True, True)
        assert "another chain" in legend


def test_a_list_says_where_it_goes_on(service: str, agent: str) -> None:
    words = ("--url", service, "--agent", agent)
    for text in ("Has a dog", "Plays tennis"):
        assert palimpsest("store", text, *words).returncode == 0
    cut, whole = (palimpsest("log", "--limit", limit, *words) for limit in ("1", "2"))
    assert "--limit" in cut.stderr
    assert whole.stderr == ""
    assert [len(listed.stdout.splitlines()) for listed in (cut, whole)] == [2, 3]


def test_a_name_or_key_that_no_header_can_carry_is_refused_in_one_line() -> None:
    for words in (("--agent", "ünal"), ("--agent", "a\nb"), ("--api-key", "schlüssel")):
        refused = palimpsest("search", "editor", *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "printable ASCII" in refused.stderr


def test_what_a_terminal_cannot_show_is_escaped(service: str, agent: str) -> None:
    words = ("--url", service, "--agent", agent)
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    fact = "Lives in Kraków – 日本"
    for command in (
        ("store", fact),
        ("search", "home"),
        ("log",),
        ("context",),
        ("insights",),
        ("demo", "--yes"),
    ):
        done = palimpsest(*command, *words[: 2 if command[0] == "demo" else 4], **ascii_only)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert r"Krak\xf3w" in palimpsest("search", "home", *words, **ascii_only).stdout
    answer = palimpsest("search", "home", *words, "--json", **ascii_only).stdout
    assert answer.isascii()
    assert json.loads(answer)["results"][0]["memory"]["content"] == fact
    prompt = json.dumps({"prompt": "Where is Kraków?", "session_id": "é"}, ensure_ascii=False)
    hooked = palimpsest("hook", "user-prompt", *words, stdin=prompt, **ascii_only)
    assert (hooked.stderr, fact in json.loads(hooked.stdout)["hookSpecificOutput"]["additionalContext"]) == ("", True)  # fmt: skip


def test_the_agent_and_the_address_come_from_the_environment_too(service: str, agent: str) -> None:
    assert (
        palimpsest("store", "Has a dog", PALIMPSEST_URL=service, PALIMPSEST_AGENT=agent).returncode
        == 0
    )
    found = httpx.get(f"{service}/v1/memories", headers={"X-Agent-Id": agent}).json()["items"]
    assert [m["content"] for m in found] == ["Has a dog"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("history", "00000000-0000-0000-0000-000000000000"), "no memory"),
        (("store", " "), "content"),
        (("search", "x", "--as-of", "someday"), "RFC 3339"),
    ],
)
def test_a_failure_is_one_plain_line(service: str, words: tuple[str, ...], said: str) -> None:
    failed = palimpsest(*words, "--url", service)
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert said.lower() in failed.stderr.lower()


def test_no_service_is_said_plainly() -> None:
    failed = palimpsest("search", "x", "--url", "http://127.0.0.1:9")
    assert failed.returncode == 1
    assert "palimpsest serve" in failed.stderr


# What a command for a running service can do without. Each takes longer than the whole command.
HEAVY = {"fastapi", "starlette", "sqlalchemy", "psycopg", "pydantic", "onnxruntime", "numpy"} | {
    "tokenizers", "mcp", "uvicorn", "alembic", "rich", "structlog", "opentelemetry", "jinja2"
}  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("store", "Has a dog"),
        ("search", "dog"),
        ("list",),
        ("log",),
        ("reviews", "list"),
        ("context",),
        ("hook", "session-start"),
    ],
)
def test_commands_import_nothing_of_the_service(
    service: str, agent: str, words: tuple[str, ...]
) -> None:
    code = (
        "import sys, os, json; sys.argv[0] = 'palimpsest'; from app.cli import main\n"
        "def end(status): print('\\nLOADED', *sys.modules); sys.stdout.flush(); leave(status)\n"
        "leave, os._exit = os._exit, end\n"
        "try: main()\n"
        "finally: print('\\nLOADED', *sys.modules)"
    )
    where = {"PALIMPSEST_URL": service, "PALIMPSEST_AGENT": agent}
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        input="{}",
        check=True,
        env=os.environ | where,
    )
    loaded = {name.split(".")[0] for name in done.stdout.partition("\nLOADED ")[2].split()}
    assert "app" in loaded
    assert loaded & HEAVY == set()


def test_this_machine_is_reached_without_a_proxy(service: str, agent: str) -> None:
    proxy = {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "NO_PROXY": ""}
    listed = palimpsest("list", "--url", service, "--agent", agent, **proxy)
    assert (listed.returncode, listed.stderr) == (0, "")


def test_the_help_lists_every_command_by_subject_in_a_line() -> None:
    shown = palimpsest("--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    for title in ("Memory:", "Review and undo:", "Moving data:", "Service:", "Database:"):
        assert f"\n{title}\n" in shown
    context = click.Context(cli)
    for name in cli.list_commands(context):
        assert re.search(rf"^  {name} +[A-Z].*\.$", shown, re.MULTILINE), name
        assert "Example:" in palimpsest_help(name)


def palimpsest_help(name: str) -> str:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    if isinstance(command, click.Group):
        [*_, last] = command.list_commands(context)
        below = command.get_command(context, last)
        assert below is not None
        command = below
    return command.get_help(context)


def test_version_prints_whose_program_it_is_and_the_version() -> None:
    from app import __version__

    assert palimpsest("--version").stdout == f"palimpsest-memory {__version__}\n"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PALIMPSEST_PORT", "http", "PALIMPSEST_PORT"),
        ("PALIMPSEST_HOST", "0.0.0.0", "PALIMPSEST_API_KEY"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_one_line(name: str, value: str, said: str) -> None:
    failed = palimpsest("serve", **{name: value})
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert said in failed.stderr


@pytest.mark.slow
def test_an_external_database_that_is_behind_is_migrated_on_request_only(server_url: str) -> None:
    with fresh_database(server_url) as url:
        refused = palimpsest("serve", PALIMPSEST_DATABASE_URL=url)
        assert refused.returncode == 1
        assert "palimpsest migrate" in refused.stderr
        assert palimpsest("migrate", PALIMPSEST_DATABASE_URL=url).returncode == 0
        schema.claim_encoder(url, "another-model", 3)
        other = palimpsest("serve", "--migrate", PALIMPSEST_DATABASE_URL=url)
        assert other.returncode == 1
        assert "made by another-model" in other.stderr
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)
