"""`palimpsest hook` as a process against a running service, with the JSON that hosts write."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from app.commands.client.conversations import Conversation, Conversations
from app.commands.client.hooks import EVENTS
from app.commands.client.host_tags import strip_additions
from app.commands.client.transcripts import (
    LONGEST_TURN,
    MOST_OF_A_MESSAGE,
    make_turns,
    read_turns,
)
from palimpsest_client import Client
from support.builders import contents, store
from support.questions import CARS, ask, open_agent, open_unsure
from support.service_process import palimpsest

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
DOCS = Path(__file__).parents[3] / "docs" / "guide" / "hooks"


@pytest.fixture
def run(client: httpx.Client, tmp_path: Path) -> Run:
    def run(event: str, said: Any, *words: str, **environment: str) -> Done:
        text = said if isinstance(said, str) else json.dumps(said)
        chosen = {
            "PALIMPSEST_URL": str(client.base_url),
            "PALIMPSEST_AGENT": client.headers["X-Agent-Id"],
            "XDG_STATE_HOME": str(tmp_path / "state"),
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
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        silent = run("session-start", {}, "--patience", "0", PALIMPSEST_URL=address)
    assert (silent.returncode, silent.stdout) == (0, "")
    assert "gave up 0 seconds after its start" in silent.stderr


# What hosts put around the words of a prompt, each followed by what is left of it.
PROMPTS = [
    ("<ide_opened_file>The user opened /x.py.</ide_opened_file>I like tea.", "I like tea."),
    ("<ide_selection>import x\n</ide_selection>\n\nI like tea.", "I like tea."),
    ("<system-reminder>\nI live in Graz\n</system-reminder>\nI like tea.", "I like tea."),
    ("I like tea.\n\n<system-reminder>\nI live in Graz\n</system-reminder>", "I like tea."),
    ("<system-reminder>a</system-reminder> I like <b>tea</b>.\n<ide_selection>b</ide_selection>\n"
     "<ide_diagnostics>c</ide_diagnostics>", "I like <b>tea</b>."),
    ("<system-reminder>I live in Graz</system-reminder>", ""),
    ('<system-reminder priority="high">I live in Graz', ""),
    ("<command-name>/clear</command-name>\n<command-message>clear</command-message>\n"
     "<command-args></command-args>", ""),
    ("<command-message>note</command-message>\n<command-name>/note</command-name>\n"
     "<command-args>I like tea.</command-args>", "I like tea."),
    ("<local-command-stdout>I live in Graz</local-command-stdout>", ""),
    ("<bash-input>ls</bash-input><bash-stdout>I live in Graz</bash-stdout>", ""),
    ("<task-notification>\n<task-id>7</task-id>\n</task-notification>", ""),
    ("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", ""),
    ("<user_query>\nI like tea.\n</user_query>", "I like tea."),
    ("<user-memory-input>I like tea.</user-memory-input>", "I like tea."),
    ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>I live in Graz</INSTRUCTIONS>", ""),
    ("# Context from my IDE setup:\n\n## Open tabs:\n- x.py\n\n## My request for Codex:\nI like tea.",
     "I like tea."),
    ("[Request interrupted by user for tool use]", ""),
    # Nothing of a host.
    ("<3 I like tea.", "<3 I like tea."),
    ("<user_message>I like tea.</user_message>", "<user_message>I like tea.</user_message>"),
    ("<about_me>I like tea.</about_me>", "<about_me>I like tea.</about_me>"),
    ("<div>centre this</div> I like tea.", "<div>centre this</div> I like tea."),
    ("I like tea, see <system-reminder>", "I like tea, see <system-reminder>"),
]  # fmt: skip


@pytest.mark.parametrize(("prompt", "words"), PROMPTS)
def test_of_a_block_the_words_of_the_person_stay(prompt: str, words: str) -> None:
    assert strip_additions(prompt) == words


def test_a_long_block_with_many_tags_is_read_quickly() -> None:
    assert strip_additions("<system-reminder>" * 20_000 + ">") == ""
    text = "I like tea. " + "<b>" * 20_000
    assert strip_additions(text) == text


def test_each_block_of_a_turn_is_judged_by_itself(
    client: httpx.Client, run: Run, tmp_path: Path
) -> None:
    opened = "<ide_opened_file>The user opened the file /home/x.py in the IDE.</ide_opened_file>"
    blocks = [opened, "I live in Oslo.", "<system-reminder>I own a boat.</system-reminder>"]
    line = say([{"type": "text", "text": block} for block in blocks])
    path = write_transcript(tmp_path / "t.jsonl", [line])
    assert run("stop", {"session_id": "ide", "transcript_path": path}).stderr == ""
    assert contents(client) == {"I live in Oslo"}


def read_all(path: Path, start: int = 0) -> list[str]:
    return [turn["content"] for turns, _ in read_turns(path, "s", start) for turn in turns]


def test_a_transcript_is_read_from_a_position(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_transcript(path, [say("One"), {"type": "progress"}, say("Two"), say("Three")])
    ends = [end for _, end in read_turns(path, "s", 0)]
    assert ends[-1] == path.stat().st_size
    assert read_all(path, ends[0]) == ["Two", "Three"]
    assert read_all(path, ends[1] + 5) == ["Three"], "the rest of a line is no line"
    with path.open("a") as file:
        file.write(json.dumps(say("Four")))
    *_, (turns, end) = read_turns(path, "s", ends[-1])
    assert (turns[0]["content"], end) == ("Four", ends[-1]), "a last line may be incomplete"


def test_a_long_turn_is_sent_in_parts(client: httpx.Client, run: Run, tmp_path: Path) -> None:
    log = "\n".join(f"{number} GET /health 200" for number in range(2_000))
    words = f"I live in Oslo.\n{log}\0\nI own a boat."
    path = Path(write_transcript(tmp_path / "t.jsonl", [say(words), say("I like tea.")]))
    parts = read_all(path)
    assert max(map(len, parts)) <= MOST_OF_A_MESSAGE
    assert "\n".join(parts) == f"{words}\nI like tea.".replace("\0", "")
    assert run("stop", {"session_id": "s", "transcript_path": str(path)}).stderr == ""
    [capture] = client.get("/v1/captures").json()["items"]
    assert capture["total"] == len(parts)


class Recorder(ThreadingHTTPServer):
    """A service that keeps what is captured, unless it is to fail."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Recording)
        self.captured: list[tuple[str, str]] = []
        self.status = 200
        self.refused = ""


class Recording(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [message["content"] for message in sent["messages"]]
        status = 422 if self.server.refused in texts else self.server.status
        if status == 200:
            self.server.captured += [(sent["session_id"], text) for text in texts]
        self.send_response(status)
        self.send_header("Content-Type", "application/problem+json")
        self.end_headers()
        self.wfile.write(b'{"type": "about:blank", "title": "no", "detail": "no"}')

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"text": "known"}')

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def hooked(recorder: Recorder, tmp_path: Path) -> Run:
    def hooked(event: str, said: Mapping[str, Any], *words: str) -> Done:
        environment = {
            "PALIMPSEST_URL": f"http://127.0.0.1:{recorder.server_port}",
            "XDG_STATE_HOME": str(tmp_path / "state"),
        }
        words = ("--patience", "60", *words)
        return palimpsest("hook", event, *words, stdin=json.dumps(said), **environment)

    return hooked


def test_turns_that_were_not_sent_are_sent_with_the_next_hook(
    hooked: Run, recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    first = {"session_id": "first", "transcript_path": str(path), "hook_event_name": "Stop"}
    own = {"session_id": "own", "timestamp": "2026-01-05T10:00:00Z", "prompt": "I like tea."}
    assert "known" in hooked("session-start", first).stdout
    # One call holds less, and of a transcript that no hook has seen, fewer bytes are read.
    turns = [f"Turn {number}" for number in range(150)]
    late = "2099-01-01T00:00:00.000Z"
    write_transcript(path, [say(turn, at=late, more="x" * 9_000) for turn in turns])
    recorder.status = 503
    for event, said in (("pre-compact", first), ("session-end", first), ("stop", own)):
        done = hooked(event, said)
        assert (done.returncode, len(done.stderr.splitlines())) == (0, 1), event
    assert recorder.captured == []
    recorder.status = 200
    start = hooked("session-start", {"session_id": "other"})
    assert ("known" in start.stdout, start.stderr) == (True, "")
    expected = {("own", "I like tea."), *(("first", turn) for turn in turns)}
    assert set(recorder.captured) == expected
    assert len(recorder.captured) == len(expected), "none was sent twice"
    assert "I like tea" not in "".join(
        path.read_text() for path in (tmp_path / "state").rglob("*.json")
    )
    hooked("stop", first)
    with path.open("a") as file:
        file.write(json.dumps(say("One more", at=late)) + "\n")
    hooked("stop", first)
    assert len(recorder.captured) == len(expected) + 1


@pytest.mark.parametrize("first", ["session-start", "user-prompt"])
def test_turns_copied_from_a_continued_conversation_are_not_sent_again(
    hooked: Run, recorder: Recorder, tmp_path: Path, first: str
) -> None:
    """Claude Code calls session-start for the old session, and user-prompt for its fork."""
    path = tmp_path / "fork.jsonl"
    event = {"session_id": "fork", "transcript_path": str(path), "prompt": "New"}
    write_transcript(path, [say("Old")])
    hooked(first, event)
    now = datetime.now(UTC).isoformat()
    write_transcript(path, [say("Old"), say("New", at=now)])
    hooked("stop", event | {"prompt": ""})
    assert recorder.captured == [("fork", "New")]


def test_a_clock_that_goes_back_loses_no_turn(
    hooked: Run, recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    event = {"session_id": "s", "transcript_path": str(path)}
    write_transcript(path, [say("Copied")])
    hooked("session-start", event)
    lines = [say("Copied"), say("One", at=datetime.now(UTC).isoformat()), say("Two")]
    write_transcript(path, lines)
    hooked("stop", event)
    with path.open("a") as file:
        file.write(json.dumps(say("Three")) + "\n")
    hooked("stop", event)
    assert recorder.captured == [("s", "One"), ("s", "Two"), ("s", "Three")]


def test_what_another_hook_leaves_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    notes = Conversations("http://localhost", "a")
    [one], [two] = (make_turns("s", "user", text, None) for text in ("One", "Two"))
    notes.save(Conversation("s", None, 0, waiting=[one]))

    class Slow:
        def capture(self, *_: Any) -> None:
            notes.save(Conversation("s", None, 0, waiting=[one, two]))

    conversation = notes.find("s")
    assert conversation
    conversation.send_turns(cast("Client", Slow()), notes)
    left = notes.find("s")
    assert left is not None
    assert left.waiting == [two]


def test_a_path_that_is_none_stops_no_other_conversation(
    hooked: Run, recorder: Recorder, tmp_path: Path
) -> None:
    for path in ("a\0b", "\ud800"):
        done = hooked("stop", {"session_id": path, "transcript_path": path})
        assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    path = write_transcript(tmp_path / "t.jsonl", [say("One")])
    assert hooked("stop", {"session_id": "s", "transcript_path": path}).stderr == ""
    assert recorder.captured == [("s", "One")]


def test_of_a_turn_that_is_a_file_the_beginning_is_sent() -> None:
    parts = make_turns("s", "user", "x" * 5_000_000, None)
    assert sum(len(part["content"]) for part in parts) == LONGEST_TURN


def test_a_turn_that_is_written_twice_is_sent_once(
    client: httpx.Client, run: Run, tmp_path: Path
) -> None:
    path = write_transcript(tmp_path / "t.jsonl", [say("I like tea."), say("I like tea.")])
    assert run("stop", {"session_id": "s", "transcript_path": path}).stderr == ""
    assert [one["total"] for one in client.get("/v1/captures").json()["items"]] == [1]


def test_notes_of_deleted_transcripts_go_after_a_week(
    hooked: Run, recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    write_transcript(path, [say("One")])
    hooked("stop", {"session_id": "s", "transcript_path": str(path)})
    [note] = (tmp_path / "state").rglob("*.json")
    path.unlink()
    hooked("session-start", {})
    assert note.exists()
    os.utime(note, (0, 0))
    assert hooked("session-start", {}).stderr == ""
    assert not note.exists()
    assert recorder.captured == [("s", "One")]


def test_one_refused_turn_holds_up_no_other(
    hooked: Run, recorder: Recorder, tmp_path: Path
) -> None:
    lines = [say("One"), say("Two"), say("Two"), say("Three")]
    path = write_transcript(tmp_path / "t.jsonl", lines)
    recorder.refused = "Two"
    done = hooked("stop", {"session_id": "s", "transcript_path": path})
    assert done.stderr == "palimpsest hook stop: 1 turns were refused: no\n"
    assert recorder.captured == [("s", "One"), ("s", "Three")]


def test_a_start_that_took_all_the_time_is_no_loss(hooked: Run, tmp_path: Path) -> None:
    """The process is older than its patience before it can ask anybody."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        own = {"session_id": "own", "prompt": "I like tea."}
        done = hooked("stop", own, "--patience", "0", "--url", address)
    assert (done.returncode, done.stdout) == (0, "")
    assert "gave up 0 seconds after its start" in done.stderr
    [file] = (tmp_path / "state").rglob("*.json")
    assert [turn["content"] for turn in json.loads(file.read_text())["waiting"]] == ["I like tea."]
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("file", sorted(DOCS.glob("*.json")), ids=lambda path: path.name)
def test_the_files_to_copy_call_events_that_there_are(file: Path) -> None:
    groups = json.loads(file.read_text("utf-8"))["hooks"].values()
    commands = [hook["command"] for group in groups for entry in group for hook in entry["hooks"]]
    command = "'/path/to/palimpsest/.venv/bin/palimpsest' hook "
    assert all(one.startswith(command) for one in commands)
    events = [one.removeprefix(command) for one in commands]
    assert set(events) <= set(EVENTS)
    assert {"session-start", "user-prompt", "stop"} <= set(events)
