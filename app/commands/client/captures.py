"""`palimpsest capture` and `captures`: send messages, follow, list and undo what became of them."""

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from app.commands.client.calling import (
    DryRun,
    Failure,
    Limit,
    Service,
    prints_answer,
    takes_service,
)
from app.commands.client.printing import (
    Answer,
    format_id,
    print_captures,
    print_json,
    print_reverts,
    print_table,
    print_text,
)
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Argument, Option

if TYPE_CHECKING:
    from palimpsest_client import Client
    from palimpsest_client.models import CaptureAnswer

Message = Any  # an object, in any form that the service takes

# What the service takes in one call.
MAX_MESSAGES = 200
MAX_CHARACTERS = 100_000
PATIENCE = 60  # seconds without progress of a capture


@takes_service
def capture(
    file: Annotated[
        str | None,
        Argument(
            metavar="[FILE]",
            help="Messages, as a JSON array or one JSON object a line; `-`: standard input.",
        ),
    ] = None,
    session: Annotated[
        str | None,
        Option(help="Session of the messages. Default: the name of the file."),
    ] = None,
    extract: Annotated[
        str | None,
        Option(
            help="What reads the facts: rules, model or off. Default: the service's setting.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        Option(
            help="auto: store each fact of a sentence of several; off: store it whole.",
        ),
    ] = None,
    undo: Annotated[
        str | None,
        Option(
            metavar="ID",
            help="Undo all that this capture stored; its messages stay.",
            type=ShortId(),
        ),
    ] = None,
    cascade: Annotated[
        bool, Option("--cascade", help="With --undo: undo first what was built on it.")
    ] = False,
    dry_run: DryRun = False,
    *,
    service: Service,
) -> None:
    """Send messages and store the facts in them, or undo that.

    A message without an `id` gets one from its place and its text, so that the same file can be
    sent again.
    """
    if undo is not None:
        if any(choice is not None for choice in (file, session, extract, split)):
            raise Failure("--undo takes no FILE and no other choice than --cascade and --dry-run.")
        with service.connect() as client:
            undone = client.undo_capture(undo, cascade=cascade, dry_run=dry_run)
        return print_json(undone) if service.as_json else print_reverts(undone)
    if file is None or cascade:
        raise Failure("name the FILE with the messages, or a capture with --undo ID.")
    if not session and file == "-":
        raise Failure("--session names the session of messages from standard input; add it.")
    session = session or Path(file).stem
    messages = _read_messages(file)
    answers: list[CaptureAnswer] = []
    with service.connect() as client:
        for part in _split_calls(messages):
            answer = client.capture(
                session, part, extract=extract, split=split, wait=True, dry_run=dry_run
            )
            for followed in _follow_captures(client, answer):
                answers.append(followed)
                if not service.as_json:
                    _print_capture(followed)
    if service.as_json:
        print_json({"captures": answers})


@prints_answer(print_captures)
def captures(
    session: Annotated[str | None, Option(help="Only those of this session.")] = None,
    state: Annotated[str | None, Option(help="pending, done or failed.")] = None,
    limit: Limit = 50,
    *,
    service: Service,
) -> Answer:
    """List the calls that stored messages, newest first."""
    with service.connect() as client:
        return client.list_captures(session_id=session, state=state, limit=limit).page()


# --- the file ------------------------------------------------------------------------------------


def _read_messages(file: str) -> list[Message]:
    """Return the messages of the file, each with an id. Raises Failure for another content."""
    text = _read_text(file)
    messages: list[Any] = []
    if text.lstrip().startswith("["):
        messages = _parse_json(text, "the file")
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                messages.append(_parse_json(line, f"line {number}"))
    if not messages:
        raise Failure(f"{file} holds no message.")
    named: list[Message] = []
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise Failure(f"message {place + 1} is no object.")
        words = f"{place}\n{json.dumps(message, sort_keys=True)}"
        digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
        named.append({"id": f"file-{digest[:32]}"} | message)
    return named


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


def _split_calls(messages: list[Message]) -> Iterator[list[Message]]:
    """Yield the messages in parts, each small enough for one call."""
    part: list[Message] = []
    characters = 0
    for message in messages:
        length = len(json.dumps(message, ensure_ascii=False))
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
        yield _follow_capture(client, client.get_capture(capture_id))


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


def _print_capture(answer: Answer) -> None:
    title = "dry run" if answer["dry_run"] else f"capture {format_id(answer['capture_id'])}"
    counts = f"{answer['total']} messages, {answer['repeated']} known before"
    redacted = f", {answer['redacted']} secrets taken out" if answer["redacted"] else ""
    print_text(f"{counts}{redacted}", title=f"{title}:")
    if answer["trouble"]:
        print_text(answer["trouble"])
    rows = []
    reasons: Counter[str] = Counter()
    for message in answer["messages"]:
        reasons.update(part["reason"] for part in message["skipped"])
        for fact in message["facts"]:
            waiting = f"review {format_id(fact['review_id'])}" if fact["review_id"] else ""
            operation = fact["operation"] or fact["problem"] or "waits"
            text = fact["content"] or "(erased)"
            memory = format_id(fact["memory_id"]) or waiting
            rows.append([str(message["position"]), operation, memory, text])
    if rows:
        print_table(["message", "operation", "memory", "fact"], rows)
    if reasons:
        parts = [f"{count} {reason}" for reason, count in reasons.most_common()]
        print_text(f"skipped: {', '.join(parts)}")
