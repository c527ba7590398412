"""`palimpsest import --from …`: the files of other products, and the report of each import."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.client.calling import Failure, Service
from app.commands.client.captures import follow_captures, split_calls
from app.importers.facts import LeftOut, Reading, SourceFact, Talk, UnreadableFile
from app.importers.lines import Earlier, Lines, build_lines, name_tag
from app.importers.products import read_product

if TYPE_CHECKING:
    from palimpsest_client import Client
    from palimpsest_client.models import CaptureAnswer

_MOST_REFUSED = 20
_MOST_OWNERS = 10


def import_from(
    service: Service, product: str, *, file: str, owner: str | None, dry_run: bool
) -> None:
    """Import a file or a folder of another product, and print the report."""
    try:
        reading = read_product(sys.stdin.buffer.read() if file == "-" else Path(file), product)
    except UnreadableFile as problem:
        raise Failure(f"{file} {problem}.") from None
    except OSError as problem:
        raise Failure(f"{file}: {problem.strerror}") from None
    facts = _choose_owner(reading.facts, owner)
    with service.connect() as client:
        tag = name_tag(product)
        pages = client.list_memories(tags_any=[tag], include_superseded=True, limit=1_000)
        earlier = Earlier({**memory} for memory in pages)
        new = [fact for fact in facts if not earlier.has(product, fact)]
        obstacle = _find_obstacle(client, service.agent, new)
        lines = build_lines(
            product, facts, earlier, now=datetime.now(UTC), with_known_times=obstacle is None
        )
        if not dry_run:
            _send_lines(client, lines)
            _send_changes(client, lines)
        captures = list(_send_talks(client, reading.talks, dry_run=dry_run))
    if new:
        reading.notes.append(_describe_known_times(product, new, obstacle))
    _print_report(reading, lines, of_others=len(reading.facts) - len(facts), dry_run=dry_run)
    if reading.talks:
        _print_talks(reading, captures, dry_run=dry_run)


def _choose_owner(facts: Sequence[SourceFact], owner: str | None) -> list[SourceFact]:
    """Return the facts of one owner. Raises Failure if it is open which one is meant."""
    counts = Counter(fact.owner for fact in facts)
    listed = [f"{name or '(nobody)'} ({count})" for name, count in counts.most_common(_MOST_OWNERS)]
    others = len(counts) - len(listed)
    more = f" and {others} others" if others else ""
    owners = f"It has those of {', '.join(listed) or 'nobody'}{more}."
    if owner is not None and owner not in counts:
        raise Failure(f"The file has no memories of {owner}. {owners}")
    if owner is None and len(counts) > 1:
        raise Failure(
            f"The file has the memories of several. {owners} Import each into an agent of its own: "
            "`--of NAME --agent AGENT`."
        )
    return [fact for fact in facts if owner in (None, fact.owner)]


def _find_obstacle(client: "Client", agent: str, facts: Sequence[SourceFact]) -> str | None:
    """Return the known time of the agent that lies after those of the facts, if there is one.

    Known times never go back, so an agent that learned something later takes no earlier ones.
    """
    from palimpsest_client import NotFound

    try:
        last: str | None = client.get_agent(agent)["last_known_at"]
    except NotFound:
        return None
    learned = [fact.learned_at for fact in facts if fact.learned_at]
    is_later = last is not None and learned and min(learned) < datetime.fromisoformat(last)
    return last if is_later else None


def _describe_known_times(product: str, facts: Sequence[SourceFact], obstacle: str | None) -> str:
    if not any(fact.learned_at for fact in facts):
        return f"Known times: now. The file does not say when {product} learned its facts."
    if obstacle:
        return (
            f"Known times: now, because the agent learned something at {obstacle} and known times "
            f"never go back. When {product} learned each fact is its said_at and in its details. "
            "An agent that holds nothing takes the known times too."
        )
    return f"Known times: those of {product}."


def _send_lines(client: "Client", lines: Lines) -> None:
    """Import all lines in one transaction. A fact that the service refuses is left out.

    Raises Failure if it refuses too many.
    """
    from palimpsest_client import Invalid

    for _ in range(_MOST_REFUSED):
        if not lines.lines:
            return
        sent = [json.dumps(one.fields, ensure_ascii=False).encode() + b"\n" for one in lines.lines]
        # The same lines have the same key: a broken call may be repeated.
        key = "import-" + hashlib.sha256(b"".join(sent)).hexdigest()
        try:
            client.import_history(sent, idempotency_key=key)
        except Invalid as problem:
            place = problem.problem.get("line")
            if not isinstance(place, int):
                raise
            refused = lines.lines[place - 1].fact
            reason = problem.detail.partition(": ")[2] or problem.detail
            lines.left_out.append(LeftOut(refused.line, f"{refused.origin}: {reason}"))
            lines.lines = [line for line in lines.lines if line.fact is not refused]
        else:
            return
    raise Failure(f"The service refused more than {_MOST_REFUSED} facts. Nothing was stored.")


def _send_changes(client: "Client", lines: Lines) -> None:
    """Carry out the changes, which become known now. One that the service refuses is left out."""
    from palimpsest_client import Conflict, Invalid, NotFound

    for change in tuple(lines.changes):
        call = client.supersede if change.is_new_text else client.amend
        try:
            call(change.memory_id, **change.fields)
        except (Conflict, Invalid, NotFound) as problem:
            lines.changes.remove(change)
            reason = f"{change.fact.origin}: as {change.memory_id}: {problem.detail}"
            lines.left_out.append(LeftOut(change.fact.line, reason))


def _send_talks(
    client: "Client", talks: Sequence[Talk], *, dry_run: bool
) -> Iterator["CaptureAnswer"]:
    """Send conversations, the oldest first, and yield what became of their messages.

    A message that was sent before is known by its id.
    """
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    sending = track(
        sorted(talks, key=_find_start),
        "sending conversations",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    for talk in sending:
        messages = [m | {"at": m["at"].isoformat() if m["at"] else None} for m in talk.messages]
        for part in split_calls(messages):
            answer = client.capture(talk.session_id, part, wait=True, dry_run=dry_run)
            yield from follow_captures(client, answer)


def _find_start(talk: Talk) -> datetime:
    """Return the time of the first message; one without times is as of now."""
    times = [message["at"] for message in talk.messages if message["at"]]
    return min(times, default=datetime.now(UTC))


def _print_report(reading: Reading, lines: Lines, *, of_others: int, dry_run: bool) -> None:
    left_out = sorted([*reading.left_out, *lines.left_out], key=lambda one: one.line)
    versions = len(lines.lines) - lines.fact_count
    counts: dict[str, Any] = {
        "read": reading.count,
        "would store" if dry_run else "stored": lines.fact_count,
        "duplicates": lines.duplicates,
        "left out": len(left_out),
    }
    if lines.changes:
        counts["would update" if dry_run else "updated"] = len(lines.changes)
    if of_others:
        counts["of others"] = of_others
    more = f" (and {versions} known ends)" if versions else ""
    print(", ".join(f"{name} {count:,}" for name, count in counts.items()) + more)
    if dry_run:
        _print_plan(lines)
    for one in left_out:
        print(f"line {one.line}: {one.reason.rstrip('.')}.")
    for note in reading.notes:
        print(note)


def _print_plan(lines: Lines) -> None:
    """Print what would become of each fact, with the start and the end that it would have."""
    facts = {id(line.fact): line for line in lines.lines}
    for line in facts.values():
        start, end = line.fields.get("valid_from"), line.fields.get("valid_until")
        dates = [f"{word} {time[:10]}" for word, time in (("from", start), ("until", end)) if time]
        print(f"line {line.fact.line}: store {line.fact.content!r} {' '.join(dates)}".rstrip())
    for change in lines.changes:
        verb = "supersede" if change.is_new_text else "end"
        print(f"line {change.fact.line}: {verb} {change.memory_id}: {change.fact.content!r}")


def _print_talks(reading: Reading, captures: Sequence["CaptureAnswer"], *, dry_run: bool) -> None:
    """Print how many messages were sent, and what became of the facts in them."""
    sent = sum(len(talk.messages) for talk in reading.talks)
    # A capture is answered again with each call whose messages it has.
    answers = {answer["capture_id"] or place: answer for place, answer in enumerate(captures)}
    repeated = sum(answer["repeated"] for answer in captures)
    facts = [
        fact
        for answer in answers.values()
        for message in answer["messages"]
        if not message["repeated"]
        for fact in message["facts"]
    ]
    would = "would be " if dry_run else ""
    print(
        f"Conversations {len(reading.talks):,}, messages {sent:,}, {repeated:,} known before, "
        f"{len(facts):,} facts {would}read from them."
    )
    for fact in facts if dry_run else ():
        print(f"{fact['operation'] or 'waits'}: {fact['content']!r}")
