"""`palimpsest hook`: memory for coding agents that call a command with JSON on standard input.

A hook never stops its host: whatever goes wrong is one line on standard error, and the exit status
is 0.
"""

import json
import os
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from app.commands.client.calling import DEFAULT_URL, Agent, ApiKey, Failure, Service, Url
from app.commands.client.transcripts import Turn, make_turn, read_turns

Event = Mapping[str, Any]

PATIENCE: Final = 2.0  # seconds, in all
EVENTS: Final = ("session-start", "user-prompt", "stop")
START_TOKENS: Final = 800
PROMPT_TOKENS: Final = 400
MOST_INPUT: Final = 4_000_000  # characters
# A host of hooks may have no tool for it, but a shell.
_HOW_TO_ANSWER: Final = "Open questions: memory_answer, or `{command} answer ID LETTER...|none`.\n"


def hook(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="session-start, user-prompt or stop.")
    ],
    budget: Annotated[
        int | None,
        typer.Option(help="Tokens of the context: 800 at the start, 400 with a prompt."),
    ] = None,
    patience: Annotated[float, typer.Option(help="Seconds after which it gives up.")] = PATIENCE,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Answer a hook of a coding agent: its JSON on standard input, the context on standard output.

    session-start and user-prompt hand out what is known; stop captures the turns of the
    conversation. The exit status is always 0, so that a service that is down stops nobody.
    """
    service = Service(url=url, agent=agent, api_key=api_key)
    answer, trouble = _run_within(patience, lambda: _answer_hook(event, service, budget))
    if trouble:
        print(f"palimpsest hook {event}: {' '.join(trouble.split())}", file=sys.stderr)
    elif answer:
        print(answer)
    sys.stdout.flush()
    sys.stderr.flush()
    # A call that still waits for the service must not hold the host.
    os._exit(0)


def _run_within(patience: float, work: Callable[[], str]) -> tuple[str, str]:
    """Return the answer, and what went wrong; one of the two is empty."""
    done: list[tuple[str, str]] = []

    def run() -> None:
        try:
            done.append((work(), ""))
        except Failure as problem:
            done.append(("", str(problem)))
        except Exception as problem:
            done.append(("", f"{type(problem).__name__}: {problem}"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(patience)
    return done[0] if done else ("", f"no answer within {patience:g} seconds. Nothing is lost.")


def _answer_hook(name: str, service: Service, budget: int | None) -> str:
    if name not in EVENTS:
        raise Failure(f"there is no such event; there are {', '.join(EVENTS)}.")
    event = _read_event()
    with service.connect() as client:
        if name == "stop":
            session = _get_text(event, "session_id")
            if not session:
                raise Failure("the host names no session_id, so nothing was captured.")
            if turns := _find_turns(event, session):
                client.capture(session, turns)  # type: ignore[arg-type]
            return ""
        if name == "session-start":
            context = client.context(budget_tokens=budget or START_TOKENS, view="brief")
            return _hand_out(context, event, "SessionStart")
        prompt = _get_text(event, "prompt")
        if not prompt:
            return ""
        context = client.context(
            query=prompt[:2000], budget_tokens=budget or PROMPT_TOKENS, view="brief"
        )
        return _hand_out(context, event, "UserPromptSubmit")


def _read_event() -> Event:
    try:
        event = json.loads(sys.stdin.read(MOST_INPUT))
    except (ValueError, RecursionError):
        raise Failure("standard input is not JSON. Is it called as a hook?") from None
    if not isinstance(event, dict):
        raise Failure("standard input is no JSON object. Is it called as a hook?")
    return event


def _hand_out(context: Mapping[str, Any], event: Event, name: str) -> str:
    """Return what hosts put before the model: Claude Code, Codex and Gemini CLI read the same."""
    text = context["text"]
    if not text.strip():
        return ""
    if context.get("questions"):
        # What starts this program in a shell: another one may be called `palimpsest` there.
        program = os.path.abspath(sys.argv[0])
        words = [sys.executable, "-m", "app.cli"] if program.endswith(".py") else [program]
        text += _HOW_TO_ANSWER.format(command=shlex.join(words))
    output = {"hookEventName": _get_text(event, "hook_event_name") or name}
    return json.dumps({"hookSpecificOutput": output | {"additionalContext": text}})


def _find_turns(event: Event, session: str) -> list[Turn]:
    """Return the turns that the event names itself (Gemini CLI), else those of its transcript."""
    at = _get_text(event, "timestamp") or None
    own = [("user", _get_text(event, "prompt")), ("assistant", _get_text(event, "prompt_response"))]
    if own[0][1]:
        return [make_turn(session, role, text, at) for role, text in own if text]
    path = _get_text(event, "transcript_path")
    if not path:
        raise Failure("the host names neither a prompt nor a transcript_path.")
    try:
        return read_turns(Path(path).expanduser(), session)
    except OSError as problem:
        raise Failure(f"{path}: {problem.strerror}") from None


def _get_text(event: Event, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""
