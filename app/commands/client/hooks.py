"""`palimpsest hook`: memory for coding agents that call a command with JSON on standard input.

A hook never stops its host: whatever goes wrong is one line on standard error, and the exit status
is 0.
"""

import json
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from app.commands.client.calling import DEFAULT_URL, Agent, ApiKey, Failure, Service, Url
from app.commands.client.conversations import Conversation, Conversations, find_start
from app.commands.client.host_tags import strip_additions
from app.commands.client.transcripts import Turn, make_turns
from app.commands.parameters import Argument, Option, list_choices
from app.commands.program import find_own_command

if TYPE_CHECKING:
    from palimpsest_client import Client

Event = Mapping[str, Any]

# Seconds after the start of the process: hosts give 5, and Claude Code 1.5 at the end of a session.
EVENTS: Final = {
    "session-start": 4.0,
    "user-prompt": 3.0,
    "stop": 4.0,
    "pre-compact": 4.0,
    "session-end": 1.2,
}
MOMENT: Final = 0.2  # seconds
MOST_AGE: Final = 60.0  # seconds
GRACE: Final = timedelta(seconds=10)
START_TOKENS: Final = 800
PROMPT_TOKENS: Final = 400
MOST_INPUT: Final = 4_000_000  # characters
# A host of hooks may have no tool for it, but a shell.
_HOW_TO_ANSWER: Final = "Open questions: memory_answer, or `{command} answer ID LETTER...|none`.\n"


@dataclass
class _Outcome:
    answer: str = ""
    trouble: str = ""


def hook(
    event: Annotated[str, Argument(metavar="EVENT", help=f"{list_choices(list(EVENTS))}.")],
    budget: Annotated[
        int | None,
        Option(help="Tokens of the context: 800 at the start, 400 with a prompt."),
    ] = None,
    patience: Annotated[
        float | None,
        Option(
            help="Seconds after the start of the command when it gives up. Default: 4; 3 before a "
            "prompt, 1.2 at the end of a session.",
        ),
    ] = None,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Answer a hook of a coding agent, whose JSON is on standard input.

    session-start and user-prompt print what is known; stop, pre-compact and session-end capture
    the turns of the conversation. The exit status is always 0, so that a service that is down stops
    nobody.
    """
    service = Service(url=url, agent=agent, api_key=api_key)
    limit = EVENTS.get(event, 4.0) if patience is None else patience
    outcome = _run_until(limit, lambda outcome: _answer_hook(event, service, budget, outcome))
    if outcome.answer:
        print(outcome.answer)
    if outcome.trouble:
        print(f"palimpsest hook {event}: {' '.join(outcome.trouble.split())}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    # A call that still waits for the service must not hold the host.
    os._exit(0)


def _run_until(limit: float, work: Callable[[_Outcome], None]) -> _Outcome:
    """Return the outcome as it is when the work ends, or when this process is `limit` seconds old.

    Turns that were not sent stay with their conversation.
    """
    outcome = _Outcome()

    def run() -> None:
        try:
            work(outcome)
        except Failure as problem:
            outcome.trouble = str(problem)
        except Exception as problem:
            outcome.trouble = f"{type(problem).__name__}: {problem}"

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    # Even where the start took all the time, the event is read and remembered.
    thread.join(max(MOMENT, limit - _measure_age()))
    if thread.is_alive():
        outcome.trouble = (
            f"gave up {limit:g} seconds after its start. What was not sent is sent with the next "
            "hook."
        )
    return outcome


def _measure_age() -> float:
    """Return the seconds since this process was started, or those of its work if none says when."""
    try:
        fields = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, AttributeError):
        return time.process_time()
    # The clocks of some sandboxes are not those of their /proc.
    return age if 0 <= age < MOST_AGE else time.process_time()


def _answer_hook(name: str, service: Service, budget: int | None, outcome: _Outcome) -> None:
    if name not in EVENTS:
        raise Failure(f"there is no such event; there are {', '.join(EVENTS)}.")
    event = _read_event()
    conversations = Conversations(service.url, service.agent)
    hands_out = name in ("session-start", "user-prompt")
    own = _update_conversation(name, event, conversations)
    if own is None and not hands_out:
        raise Failure("the host names no session_id, so nothing was captured.")
    with service.connect() as client:
        if hands_out:
            outcome.answer = _read_context(client, name, event, budget)
        if name != "user-prompt":
            outcome.trouble = _send_turns(client, conversations, None if hands_out else own)


def _read_event() -> Event:
    try:
        event = json.loads(sys.stdin.read(MOST_INPUT))
    except (ValueError, RecursionError):
        raise Failure("standard input is not JSON. Is it called as a hook?") from None
    if not isinstance(event, dict):
        raise Failure("standard input is no JSON object. Is it called as a hook?")
    return event


# --- handing out ---------------------------------------------------------------------------------


def _read_context(client: "Client", name: str, event: Event, budget: int | None) -> str:
    """Return what hosts put before the model: Claude Code, Codex and Gemini CLI read the same."""
    if name == "session-start":
        usual_name = "SessionStart"
        context = client.context(budget_tokens=budget or START_TOKENS, view="brief")
    elif prompt := _get_text(event, "prompt"):
        usual_name = "UserPromptSubmit"
        context = client.context(
            query=prompt[:2000], budget_tokens=budget or PROMPT_TOKENS, view="brief"
        )
    else:
        return ""
    text = context["text"]
    if not text.strip():
        return ""
    if context.get("questions"):
        text += _HOW_TO_ANSWER.format(command=shlex.join(find_own_command()))
    output = {"hookEventName": _get_text(event, "hook_event_name") or usual_name}
    return json.dumps({"hookSpecificOutput": output | {"additionalContext": text}})


# --- capturing -----------------------------------------------------------------------------------


def _update_conversation(
    name: str, event: Event, conversations: Conversations
) -> Conversation | None:
    """Remember what an event says of its conversation, before a service is asked.

    Return the conversation; None if the host names none.
    """
    session = _get_text(event, "session_id")
    if not session:
        return None
    turns = _list_turns(event, session) if name == "stop" else []
    path = _get_text(event, "transcript_path")
    transcript = str(Path(path).expanduser().absolute()) if path and not turns else None
    conversation = conversations.find(session)
    if conversation is None:
        conversation = Conversation(session, transcript, sent=0)
        if transcript:
            conversation.sent = find_start(transcript)
        if name in ("session-start", "user-prompt"):
            # A host may write the first prompt before it calls this hook.
            conversation.begun_at = (datetime.now(UTC) - GRACE).isoformat()
    else:
        conversation.transcript = transcript or conversation.transcript
    conversation.waiting += turns
    conversations.save(conversation)
    return conversation


def _list_turns(event: Event, session: str) -> list[Turn]:
    """Return the turns that the event has itself, as those of Gemini CLI after an answer."""
    prompt = strip_additions(_get_text(event, "prompt"))
    if not prompt:
        return []
    at = _get_text(event, "timestamp") or None
    response = _get_text(event, "prompt_response")
    return [
        *make_turns(session, "user", prompt, at),
        *make_turns(session, "assistant", response, at),
    ]


def _send_turns(client: "Client", conversations: Conversations, own: Conversation | None) -> str:
    """Send the turns of the conversation, and what other ones have left. Return what went wrong."""
    troubles: list[str] = []
    session = own.session if own else ""
    for conversation in [*([own] if own else []), *conversations.list_others(session)]:
        if not (conversation.transcript or conversation.waiting):
            troubles.append("the host names neither a prompt nor a transcript_path")
            continue
        try:
            refusals = conversation.send_turns(client, conversations)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            troubles.append(f"{conversation.transcript}: {reason}")
        else:
            if refusals:
                troubles.append(f"{len(refusals)} turns were refused: {refusals[0]}")
    return "; ".join(troubles)


def _get_text(event: Event, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""
