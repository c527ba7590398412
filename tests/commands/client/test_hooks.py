"""`palimpsest hook` as a process against a running service, with the JSON that hosts write."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.commands.client.transcripts import MOST_TURNS, read_turns
from support.builders import contents, store
from support.questions import CARS, ask, open_agent, open_unsure
from support.service_process import palimpsest

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
DOCS = Path(__file__).parents[3] / "docs" / "guide" / "hooks"


@pytest.fixture
def run(client: httpx.Client) -> Run:
    def run(event: str, said: Any, *words: str, **environment: str) -> Done:
        text = said if isinstance(said, str) else json.dumps(said)
        chosen = {
            "PALIMPSEST_URL": str(client.base_url),
            "PALIMPSEST_AGENT": client.headers["X-Agent-Id"],
        }
        words = ("--patience", "60", *words)
        return palimpsest("hook", event, *words, stdin=text, **chosen | environment)

    return run


def write_transcript(path: Path, lines: Sequence[Mapping[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return str(path)


def say(text: Any, role: str = "user", at: str = "2026-01-05T10:00:00Z", **more: Any) -> Any:
    return {"type": role, "message": {"role": role, "content": text}, "timestamp": at, **more}


def test_a_session_starts_with_what_is_known(client: httpx.Client, run: Run) -> None:
    nothing = run("session-start", {"session_id": "s", "hook_event_name": "SessionStart"})
    assert (nothing.stdout, nothing.stderr, nothing.returncode) == ("", "", 0)

    store(client, "Never commit to main", kind="constraint")
    done = run("session-start", {"session_id": "s", "hook_event_name": "SessionStart"})
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "Never commit to main" in output["additionalContext"]


def test_a_prompt_is_answered_under_the_hosts_own_name(client: httpx.Client, run: Run) -> None:
    store(client, "Uses Helix as editor")
    event = {"hook_event_name": "BeforeAgent", "prompt": "Which editor do I use?"}
    output = json.loads(run("user-prompt", event).stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "BeforeAgent"
    assert "Uses Helix as editor" in output["additionalContext"]
    assert run("user-prompt", {"hook_event_name": "BeforeAgent"}).stdout == ""


def test_open_questions_are_handed_out_with_how_to_answer(
    server_url: str, template_url: str, run: Run
) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as asking:
        _, found = ask(asking, *CARS)
        where = {"PALIMPSEST_URL": address, "PALIMPSEST_AGENT": asking.headers["X-Agent-Id"]}
        for event, said in (
            ("session-start", {}),
            ("user-prompt", {"prompt": "Where is the car?"}),
        ):
            output = json.loads(run(event, said, **where).stdout)["hookSpecificOutput"]
            context, _, after = output["additionalContext"].partition("[memory context ends]")
            assert f"- Q {found['id'][-6:]}: " in context
            assert f"`{sys.executable} -m app.cli answer" in after, "not any command of that name"


def test_turns_are_captured_once_however_often_the_agent_stops(
    client: httpx.Client, run: Run, tmp_path: Path
) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl",
        [
            {"type": "summary", "summary": "I live in Oslo"},
            say("I live in Porto and work as a nurse."),
            say([{"type": "text", "text": "Noted."}], "assistant", "2026-01-05T10:00:01Z"),
            say([{"type": "tool_result", "content": "I live in Rome"}]),
            say("I live in Bergen", isMeta=True),
            say("I live in Kiel", isSidechain=True),
            say("<system-reminder>I live in Graz</system-reminder>"),
            {"payload": {"role": "user", "content": [{"type": "input_text", "text": "Hi!"}]}},
        ],
    )
    event = {"session_id": "talk", "transcript_path": path, "stop_hook_active": False}
    for _ in range(3):
        done = run("stop", event)
        assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)

    assert contents(client) == {"I live in Porto", "I work as a nurse"}
    totals = [each["total"] for each in client.get("/v1/captures").json()["items"]]
    assert totals[-1] == 3
    assert len(client.get("/v1/log").json()["items"]) == 2


def test_a_host_that_sends_the_turn_itself_needs_no_transcript(
    client: httpx.Client, run: Run
) -> None:
    event = {
        "session_id": "talk",
        "timestamp": "2026-01-05T10:00:00Z",
        "prompt": "My dog is called Figo.",
        "prompt_response": "Nice. I live in the cloud.",
    }
    assert run("stop", event).returncode == 0
    assert contents(client) == {"My dog is called Figo"}


def test_what_the_hook_handed_out_is_not_captured(
    client: httpx.Client, run: Run, tmp_path: Path
) -> None:
    store(client, "I live in Porto")
    start = json.loads(run("session-start", {"session_id": "s"}).stdout)
    context = start["hookSpecificOutput"]["additionalContext"]
    path = write_transcript(tmp_path / "t.jsonl", [say(f"{context}\nWhat is the weather like?")])
    run("stop", {"session_id": "s", "transcript_path": path})
    assert len(client.get("/v1/log").json()["items"]) == 1


@pytest.mark.parametrize(
    ("event", "said", "trouble"),
    [
        ("session-start", "no JSON", "standard input is not JSON"),
        ("session-start", "[1]", "no JSON object"),
        ("pre-tool", "{}", "there is no such event"),
        ("stop", "{}", "no session_id"),
        ("stop", '{"session_id": "s"}', "neither a prompt nor a transcript_path"),
        ("stop", '{"session_id": "s", "transcript_path": "/no/such/file"}', "No such file"),
    ],
)
def test_trouble_is_one_line_and_stops_nobody(
    run: Run, event: str, said: str, trouble: str
) -> None:
    done = run(event, said)
    assert (done.returncode, done.stdout) == (0, "")
    assert trouble in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_service_that_is_down_or_silent_stops_nobody(run: Run) -> None:
    down = run("session-start", {}, PALIMPSEST_URL="http://127.0.0.1:9")
    assert (down.returncode, down.stdout, len(down.stderr.splitlines())) == (0, "", 1)
    silent = run("session-start", {}, "--patience", "0")
    assert (silent.returncode, silent.stdout) == (0, "")
    assert "no answer within 0 seconds" in silent.stderr


def test_of_a_long_transcript_the_last_turns_are_read(tmp_path: Path) -> None:
    lines = [say(f"Turn {number} " + "x" * 5000) for number in range(500)]
    path = Path(write_transcript(tmp_path / "t.jsonl", lines))
    turns = read_turns(path, "s")
    assert 0 < len(turns) <= MOST_TURNS
    assert turns[-1]["content"].startswith("Turn 499 ")
    assert len({turn["id"] for turn in turns}) == len(turns)


@pytest.mark.parametrize("file", sorted(DOCS.glob("*.json")), ids=lambda path: path.name)
def test_the_files_to_copy_call_the_three_events(file: Path) -> None:
    groups = json.loads(file.read_text("utf-8"))["hooks"].values()
    commands = [hook["command"] for group in groups for entry in group for hook in entry["hooks"]]
    command = "'/path/to/palimpsest/.venv/bin/palimpsest' hook"
    assert commands == [f"{command} {e}" for e in ("session-start", "user-prompt", "stop")]
