"""`palimpsest capture` and `captures`: send messages, follow, list and undo what became of them."""

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from app.commands.client.calling import Failure, Service, takes_service
from app.commands.client.printing import (
    format_minute,
    make_console,
    print_json,
    print_page,
    print_reverts,
    print_table,
)

if TYPE_CHECKING:
    from palimpsest_client import Client
    from palimpsest_client.models import CaptureAnswer

Message = Any  # an object with a text as its content; the service checks the others

# What the service takes in one call.
MAX_MESSAGES = 200
MAX_CHARACTERS = 100_000
PATIENCE = 60  # seconds without progress of a capture


@takes_service
def capture(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Messages, as a JSON array or one JSON object a line; `-`: standard input.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(help="Session of the messages. Default: the name of the file."),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option(
            help="What reads the facts: rules, model or off. Default: the service's setting.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="auto: store each fact of a sentence of several; off: store it whole.",
            show_default=False,
        ),
    ] = None,
    undo: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Undo all that this capture stored; its messages stay.",
            show_default=False,
        ),
    ] = None,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="With --undo: undo first what was built on it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    *,
    service: Service,
) -> None:
    """Send messages and store the facts that are read from them, or undo that.

    A message without an `id` gets one from its place and its text, so that the same file can be
    sent again.
    """
    if undo is not None:
        if any(choice is not None for choice in (file, session, extract, split)):
            raise Failure("--undo takes no FILE and no other choice than --cascade and --dry-run.")
        return _undo_capture(service, undo, cascade=cascade, dry_run=dry_run)
    if file is None or cascade:
        raise Failure("name the FILE with the messages, or a capture with --undo ID.")
    session = session or _get_default_session(file)
    messages = _name_messages(_read_messages(file))
    choices = {"extract": extract, "split": split, "wait": True, "dry_run": dry_run}
    _send_messages(service, session, messages, choices)


def _undo_capture(service: Service, capture_id: str, *, cascade: bool, dry_run: bool) -> None:
    with service.connect() as client:
        answer = client.undo_capture(capture_id, cascade=cascade, dry_run=dry_run)
    print_json(answer) if service.as_json else print_reverts(answer)


@takes_service
def captures(
    session: Annotated[
        str | None, typer.Option(help="Only those of this session.", show_default=False)
    ] = None,
    state: Annotated[
        str | None, typer.Option(help="pending, done or failed.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    *,
    service: Service,
) -> None:
    """List the calls that stored messages, newest first."""
    with service.connect() as client:
        answer = client.list_captures(session_id=session, state=state, limit=limit).page()
    if service.as_json:
        return print_json(answer)
    headings = ["status", "since", "session", "read", "repeated", "error", "id"]
    print_page(answer, headings, _format_capture)


def _format_capture(capture: Mapping[str, Any]) -> list[str]:
    return [
        capture["state"],
        format_minute(capture["received_at"]),
        capture["session_id"] or "(erased)",
        f"{capture['done']} of {capture['total']}",
        str(capture["repeated"]),
        capture["error"] or "",
        capture["capture_id"],
    ]


def _send_messages(
    service: Service, session: str, messages: list[Message], choices: dict[str, Any]
) -> None:
    """Send the messages in as many calls as it takes, and print what became of each call."""
    answers: list[CaptureAnswer] = []
    with service.connect() as client:
        for part in _split_calls(messages):
            answer = client.capture(session, part, **choices)
            for followed in _follow_captures(client, answer):
                answers.append(followed)
                if not service.as_json:
                    _print_capture(followed)
    if service.as_json:
        print_json({"captures": answers})


def _get_default_session(file: str) -> str:
    if file == "-":
        raise Failure("--session names the session of messages from standard input; add it.")
    return Path(file).stem


# --- the file ------------------------------------------------------------------------------------


def _read_messages(file: str) -> list[Message]:
    """Return the messages of the file. Raises Failure if it holds something else."""
    text = _read_text(file)
    messages: list[Any]
    if text.lstrip().startswith("["):
        messages = _parse_json(text, "the file")
    else:
        lines = enumerate(text.splitlines(), 1)
        messages = [_parse_json(line, f"line {number}") for number, line in lines if line.strip()]
    if not messages:
        raise Failure(f"{file} holds no message.")
    for place, message in enumerate(messages, 1):
        if not (isinstance(message, dict) and isinstance(message.get("content"), str)):
            raise Failure(f"message {place} is no object with a text as its content.")
    return messages


def _read_text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as problem:
        raise Failure(f"{file}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise Failure(f"{file} is not in UTF-8.") from None


def _parse_json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise Failure(f"{place} is not JSON: {problem}") from None


def _name_messages(messages: list[Message]) -> list[Message]:
    """Return the messages, each with an id."""
    named: list[Message] = []
    for place, message in enumerate(messages):
        words = f"{place}\n{message.get('role')}\n{message['content']}"
        digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
        named.append({"id": f"file-{digest[:32]}"} | message)
    return named


def _split_calls(messages: list[Message]) -> Iterator[list[Message]]:
    """Yield the messages in parts, each small enough for one call."""
    part: list[Message] = []
    characters = 0
    for message in messages:
        length = len(message["content"])
        if part and (len(part) == MAX_MESSAGES or characters + length > MAX_CHARACTERS):
            yield part
            part, characters = [], 0
        part.append(message)
        characters += length
    yield part


# --- the answers ---------------------------------------------------------------------------------


def _follow_captures(client: "Client", answer: "CaptureAnswer") -> Iterator["CaptureAnswer"]:
    """Yield the capture of a call at its end, and captures that go on because of the call."""
    yield _follow_capture(client, answer)
    waiting = {m["capture_id"] for m in answer["messages"] if not m["done"]}
    for capture_id in sorted(waiting - {answer["capture_id"]}):
        other = client.get_capture(capture_id)
        yield _follow_capture(client, other)


def _follow_capture(client: "Client", answer: "CaptureAnswer") -> "CaptureAnswer":
    """Return the capture at its end. Raises Failure if it fails or no worker goes on with it."""
    moved_at, done = time.monotonic(), answer["done"]
    while answer["state"] == "pending":
        if time.monotonic() - moved_at > PATIENCE:
            raise Failure(
                f"no worker goes on with capture {answer['capture_id']}. Is one running "
                "(`palimpsest worker`)? The messages are stored."
            )
        time.sleep(0.2)
        assert answer["capture_id"], "only a dry run has none, and it is done when it answers"
        answer = client.get_capture(answer["capture_id"])
        if answer["done"] > done:
            moved_at, done = time.monotonic(), answer["done"]
    if answer["state"] == "failed":
        raise Failure(f"capture {answer['capture_id']} failed: {answer['error']}")
    return answer


def _print_capture(answer: Mapping[str, Any]) -> None:
    console = make_console()
    title = "dry run" if answer["dry_run"] else f"capture {answer['capture_id']}"
    counts = f"{answer['total']} messages, {answer['repeated']} known before"
    redacted = f", {answer['redacted']} secrets taken out" if answer["redacted"] else ""
    console.print(f"[bold]{title}[/bold]: {counts}{redacted}")
    if answer["trouble"]:
        console.print(escape(answer["trouble"]))
    rows = []
    for message in answer["messages"]:
        rows += [_format_fact(message, fact) for fact in message["facts"]]
    print_table(["message", "operation", "fact", "memory"], rows)
    reasons = Counter(
        part["reason"] for message in answer["messages"] for part in message["skipped"]
    )
    if reasons:
        parts = [f"{count} {reason}" for reason, count in reasons.most_common()]
        console.print(f"skipped: {', '.join(parts)}")


def _format_fact(message: Mapping[str, Any], fact: Mapping[str, Any]) -> list[str]:
    waiting = f"review {fact['review_id']}" if fact["review_id"] else ""
    return [
        str(message["position"]),
        fact["operation"] or fact["problem"] or "waits",
        fact["content"] or "(erased)",
        fact["memory_id"] or waiting,
    ]
