"""`palimpsest capture` as a process against a running service."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.messages import list_contents
from support.service_process import palimpsest

HOME = {"role": "user", "content": "I live in Lisbon. How are you?"}
SISTER = {"role": "user", "content": "My sister is called Anna."}


def run_capture(
    client: httpx.Client, service: str, *words: str, status: int = 0
) -> tuple[str, str]:
    """Run the command as the client's agent, and return what it printed and its complaints."""
    agent = client.headers["X-Agent-Id"]
    done = palimpsest("capture", *words, "--url", service, "--agent", agent)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def write_lines(folder: Path, *messages: dict[str, Any]) -> str:
    file = folder / "monday.jsonl"
    file.write_text("\n".join(map(json.dumps, messages)) + "\n")
    return str(file)


def test_a_file_of_lines_becomes_memories_and_can_be_sent_again(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    file = write_lines(tmp_path, HOME, SISTER)
    printed, _ = run_capture(client, service, file)
    assert "2 messages, 0 known before" in printed
    assert "skipped: 1 small_talk" in printed
    stored = list_contents(client)
    assert len(stored) == 2
    printed, _ = run_capture(client, service, file, "--json")
    [answer] = json.loads(printed)["captures"]
    assert (answer["session_id"], answer["repeated"]) == ("monday", 2)
    assert list_contents(client) == stored


def test_a_dry_run_of_an_array_stores_nothing(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([HOME, SISTER]))
    printed, _ = run_capture(client, service, str(file), "--dry-run", "--session", "other")
    assert printed.startswith("dry run")
    assert list_contents(client) == []


def test_more_messages_than_one_call_takes_are_sent_in_several(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    many = [{"role": "user", "content": f"Hello {number}!"} for number in range(230)]
    file = write_lines(tmp_path, *many)
    printed, _ = run_capture(client, service, file, "--json", "--extract", "off")
    assert [answer["total"] for answer in json.loads(printed)["captures"]] == [200, 30]


def run_palimpsest(client: httpx.Client, service: str, *words: str, status: int = 0) -> str:
    """Run a command as the client's agent, and return what it printed or its complaints."""
    agent = client.headers["X-Agent-Id"]
    done = palimpsest(*words, "--url", service, "--agent", agent)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def test_captures_are_listed_and_undone(client: httpx.Client, service: str, tmp_path: Path) -> None:
    for session in ("one", "two"):
        run_capture(client, service, write_lines(tmp_path, HOME), "--session", session)
    items = json.loads(run_palimpsest(client, service, "captures", "--json"))["items"]
    assert [item["session_id"] for item in items] == ["two", "one"]
    printed = run_palimpsest(client, service, "captures", "--session", "one", "--state", "done")
    heading, row = printed.splitlines()
    assert heading.split()[-2:] == ["id", "session"]
    assert row.split()[-2:] == [items[1]["capture_id"], "one"]
    assert "1 of 1" in row
    first = items[1]["capture_id"]
    undo = ("capture", "--undo", first, "--cascade")
    assert "REVERT" in run_palimpsest(client, service, *undo, "--dry-run")
    assert list_contents(client) != []
    assert "REVERT" in run_palimpsest(client, service, *undo)
    assert list_contents(client) == []
    assert "nothing that still stands" in run_palimpsest(client, service, *undo)


ID = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "FILE"),
        (("talk.jsonl", "--cascade"), "--undo"),
        (("talk.jsonl", "--undo", ID), "no FILE"),
        (("--undo", ID, "--split", "off"), "no FILE"),
        (("--undo", ID), "no capture"),
    ],
)
def test_a_call_that_contradicts_itself_is_refused(
    client: httpx.Client, service: str, words: tuple[str, ...], complaint: str
) -> None:
    assert complaint in run_palimpsest(client, service, "capture", *words, status=1)


def test_a_sentence_of_several_facts_is_split_or_stays_whole(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    both = {"role": "user", "content": "I live in Lisbon and my sister is called Anna."}
    run_capture(client, service, write_lines(tmp_path, both), "--split", "off")
    assert len(list_contents(client)) == 1
    text = "I work in Leeds, but my wife works in York"
    assert "ADD" in run_palimpsest(client, service, "store", text, "--split", "off", "--dry-run")
    printed = run_palimpsest(client, service, "store", text, "--split", "auto")
    assert printed.count("ADD") == 2
    assert len(list_contents(client)) == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no message"),
        ("{", "line 1 is not JSON"),
        ('{"role": "user"}', "messages.0.content"),
        ('["a"]', "message 1"),
        ('{"role": "narrator", "content": "x"}', "messages.0.role"),
    ],
)
def test_what_is_no_message_is_named(
    client: httpx.Client, service: str, tmp_path: Path, text: str, complaint: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    assert complaint in run_capture(client, service, str(file), status=1)[1]


def test_standard_input_needs_a_session(client: httpx.Client, service: str) -> None:
    assert "--session" in run_capture(client, service, "-", status=1)[1]
