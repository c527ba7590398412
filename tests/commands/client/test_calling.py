"""Commands that talk to a running service."""

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from app.domain.talk import CONTEXT_BEGINS, CONTEXT_ENDS
from support.service_process import palimpsest

NOBODY = "00000000-0000-0000-0000-000000000000"
SLOT = ("--kind", "preference", "--category", "tooling", "--key", "editor")


@pytest.fixture
def words(service: str) -> tuple[str, ...]:
    """The options that name the service and an agent of one's own."""
    return ("--url", service, "--agent", f"cli-{uuid4().hex}")


def stored(words: tuple[str, ...], content: str, *more: str) -> str:
    """The id of a fact just stored."""
    done = palimpsest("store", content, *more, *words, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["memory"]["id"])


def test_context_prints_what_holds_ready_to_paste(words: tuple[str, ...]) -> None:
    stored(words, "Uses Vim", *SLOT, "--value", "Vim", "--valid-from", "2020-01-01")
    stored(words, "Uses Helix", *SLOT, "--value", "Helix", "--valid-from", "2026-01-05")
    marked = f"{CONTEXT_BEGINS}\n## Preferences\n- Uses Helix (since 2026-01-05)\n{CONTEXT_ENDS}\n"
    assert palimpsest("context", *words).stdout == marked
    assert (
        "Uses Vim" in palimpsest("context", "which editor?", "--as-of", "2021-01-01", *words).stdout
    )
    assert palimpsest("context", "--budget", "3", *words).stdout == ""
    assert json.loads(palimpsest("context", "--json", *words).stdout)["left_out"] == 0


def test_supersede_and_retract_change_what_holds_and_the_log_tells(words: tuple[str, ...]) -> None:
    first = stored(words, "Has a dog")
    changed = palimpsest("supersede", first, "Has a cat called [Tom]", *words)
    assert "UPDATE" in changed.stdout
    assert "Has a cat called [Tom]" in changed.stdout
    assert f"ended: {first}" in changed.stdout
    other = stored(words, "Lives with a tomcat", "--valid-from", "2020-01-01")
    ended = palimpsest(
        "retract", other, "--reason", "Said so", "--at", "2026-01-05", *words, "--json"
    )
    assert json.loads(ended.stdout)["operation"] == "DELETE"
    assert palimpsest("context", *words).stdout.count("\n- ") == 1
    log = palimpsest("log", *words)
    assert [line.split()[2] for line in log.stdout.splitlines()[1:]] == [
        "DELETE",
        "ADD",
        "UPDATE",
        "ADD",
    ]
    assert "Has a cat called [Tom]" in log.stdout
    only = palimpsest("log", "--memory", first, "--operation", "ADD", *words, "--json")
    assert [entry["target_memory_id"] for entry in json.loads(only.stdout)["items"]] == [first]


def test_a_stored_memory_can_take_the_place(words: tuple[str, ...]) -> None:
    first, second = stored(words, "Has a dog"), stored(words, "It rains in Paris")
    assert "SUPERSEDE" in palimpsest("supersede", first, "--by", second, *words).stdout


def test_never_true_withdraws(words: tuple[str, ...]) -> None:
    first = stored(words, "Has a dog")
    assert palimpsest("retract", first, "--never-true", *words).returncode == 0
    assert "reverted" in palimpsest("history", first, *words).stdout


def test_why_tells_the_story_readably(words: tuple[str, ...]) -> None:
    first = stored(
        words, "Uses Vim [the editor]", *SLOT, "--value", "Vim", "--valid-from", "2020-01-01"
    )
    second = stored(words, "Uses Helix", *SLOT, "--value", "Helix", "--valid-from", "2026-01-05")
    told = palimpsest("why", first, *words)
    assert told.returncode == 0, told.stderr
    content, summary, blank, heading, *events = [line.rstrip() for line in told.stdout.splitlines()]
    assert (content, blank) == ("Uses Vim [the editor]", "")
    assert summary.startswith("Held from 2020-01-01 to 2026-01-05, known since ")
    assert "; replaced by “Uses Helix” on " in summary
    assert heading.split("  ")[0] == "known since"
    assert [line.split()[4] for line in events] == ["ADD", "UPDATE"]
    assert "“Uses Helix” replaced “Uses Vim [the editor]”, true from 2026-01-05" in events[1]
    then = json.loads(palimpsest("why", second, "--json", *words).stdout)["events"][0]["at"]
    assert palimpsest("why", first, "--known-at", then, *words).stdout.count("UPDATE") == 0
    assert (
        palimpsest("why", first, "--as-of", "2021-01-01", *words)
        .stdout.splitlines()[1]
        .startswith("Holds since 2020-01-01 until")
    )


def test_agents_are_listed(words: tuple[str, ...]) -> None:
    stored(words, "Has a dog")
    listed = palimpsest("agents", "--limit", "1000", "--url", words[1])
    [row] = [line for line in listed.stdout.splitlines() if line.endswith(words[3])]
    assert row.split()[0] == "1"


def test_an_address_without_a_scheme_is_http(words: tuple[str, ...]) -> None:
    bare = words[1].removeprefix("http://")
    assert palimpsest("agents", PALIMPSEST_URL=bare).returncode == 0


def test_words_without_quotes_are_told_what_to_do() -> None:
    failed = palimpsest("search", "where", "do", "I", "live")
    assert failed.returncode == 2
    assert "Put a text of several words in quotes." in failed.stderr


def test_address_agent_and_key_come_from_the_environment(words: tuple[str, ...]) -> None:
    environment = {
        "PALIMPSEST_URL": words[1],
        "PALIMPSEST_AGENT": words[3],
        "PALIMPSEST_API_KEY": "not needed here",
    }
    first = stored(words, "Has a dog")
    assert "Has a dog" in palimpsest("context", **environment).stdout
    assert "Has a dog" in palimpsest("log", **environment).stdout
    assert palimpsest("supersede", first, "Has a cat", **environment).returncode == 0
    assert palimpsest("agents", **environment).returncode == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("supersede", NOBODY, "x"), "no memory"),
        (("supersede", NOBODY), "--by"),
        (("supersede", NOBODY, "x", "--by", NOBODY), "--by"),
        (("retract", NOBODY, "--at", "someday"), "RFC 3339"),
        (("context", "--as-of", "someday"), "RFC 3339"),
        (("why", NOBODY), "no memory"),
        (("log", "--operation", "GUESS"), "operation"),
    ],
)
def test_a_failure_is_one_plain_line(
    words: tuple[str, ...], command: tuple[str, ...], said: str
) -> None:
    failed = palimpsest(*command, *words)
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert said.lower() in failed.stderr.lower()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("retract",), "Missing argument 'ID'"),
        (("why", "nonsense"), "'nonsense' is no id"),
        (("history", ""), "'' is no id"),
        (("reviews", "show", "../memories"), "'../memories' is no id"),
        (("context", "--budget", "0"), "'--budget'"),
        (("context", "--colour", "red"), "No such option '--colour'"),
        (("remember", "x"), "No such command 'remember'"),
        (("reviews", "guess"), "No such command 'guess'"),
    ],
)
def test_a_call_that_is_wrong_is_one_plain_line_that_names_the_help(
    command: tuple[str, ...], said: str
) -> None:
    failed = palimpsest(*command)
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert said in failed.stderr
    assert "--help`" in failed.stderr


def test_without_a_command_the_help_is_shown() -> None:
    shown = palimpsest()
    assert shown.returncode == 2
    assert "supersede" in shown.stdout + shown.stderr


def test_the_shell_completes_commands() -> None:
    script = Path(sys.executable).parent / "palimpsest"
    shown = subprocess.run(
        ["bash", "-c", f"{script} --show-completion bash"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "_PALIMPSEST_COMPLETE=bash_complete" in shown.stdout
    asking = {
        "_PALIMPSEST_COMPLETE": "bash_complete",
        "COMP_WORDS": "palimpsest con",
        "COMP_CWORD": "1",
    }
    completed = subprocess.run(
        [script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **asking},
    )
    assert completed.stdout.split() == ["plain,context", "plain,connect"]


@pytest.mark.slow
def test_links_are_made_and_listed_and_what_is_stale_shows(words: tuple[str, ...]) -> None:
    street, trams = stored(words, "The street is wet"), stored(words, "Trams are late")
    made = palimpsest("link", street, "causes", trams, *words)
    assert f"{street} causes {trams}" in made.stdout
    assert f"{street}  causes  {trams}" in palimpsest("links", trams, *words).stdout
    told = json.loads(palimpsest("links", street, "--json", *words).stdout)["items"]
    assert [(tie["source_id"], tie["type"], tie["target_id"]) for tie in told] == [
        (street, "causes", trams)
    ]
    ended = palimpsest("retract", street, *words)
    assert "look whether still right" in ended.stdout
    assert trams in ended.stdout
    found = palimpsest("search", "trams", *words).stdout
    assert "current, stale" in found
    assert "retracted" in palimpsest("history", street, *words).stdout
    refused = palimpsest("link", street, "likes", trams, *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
