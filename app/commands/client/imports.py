"""`palimpsest import --from …`: the files of other products, and the report of each import."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from app.commands.client.calling import Failure, Service
from app.importers.facts import LeftOut, Reading, SourceFact, UnreadableFile
from app.importers.lines import Earlier, Line, Lines, build_lines, name_tag
from app.importers.products import read_product

if TYPE_CHECKING:
    from palimpsest_client import Client

_MOST_REFUSED = 20
_MOST_OWNERS = 10


class Report(NamedTuple):
    """What became of a file."""

    product: str
    reading: Reading
    lines: Lines
    notes: list[str]
    of_others: int


def import_from(
    service: Service, product: str, content: bytes, *, file: str, owner: str | None, dry_run: bool
) -> None:
    """Import the file of another product, and print the report."""
    try:
        reading = read_product(content, product)
    except UnreadableFile as problem:
        raise Failure(f"{file} {problem}.") from None
    facts = _choose_owner(reading.facts, owner)
    with service.connect() as client:
        report = _import_facts(client, service.agent, product, reading, facts, dry_run=dry_run)
    _print_report(report, dry_run=dry_run)


def _choose_owner(facts: Sequence[SourceFact], owner: str | None) -> list[SourceFact]:
    """Return the facts of one owner. Raises Failure if it is open which one is meant."""
    counts = Counter(fact.owner for fact in facts)
    if owner is not None and owner not in counts:
        raise Failure(f"The file has no memories of {owner}. {_list_owners(counts)}")
    if owner is None and len(counts) > 1:
        raise Failure(
            f"The file has the memories of several. {_list_owners(counts)} Import each into an "
            "agent of its own: `--of NAME --agent AGENT`."
        )
    return [fact for fact in facts if owner in (None, fact.owner)]


def _list_owners(counts: Counter[str]) -> str:
    listed = [f"{name or '(nobody)'} ({count})" for name, count in counts.most_common(_MOST_OWNERS)]
    others = len(counts) - len(listed)
    return f"It has those of {', '.join(listed)}{f' and {others} others' if others else ''}."


def _import_facts(
    client: "Client",
    agent: str,
    product: str,
    reading: Reading,
    facts: list[SourceFact],
    *,
    dry_run: bool,
) -> Report:
    earlier = _read_earlier(client, product)
    new = [fact for fact in facts if not earlier.has(product, fact)]
    obstacle = _find_obstacle(client, agent, new)
    lines = build_lines(
        product,
        facts,
        earlier,
        now=datetime.now(UTC),
        with_known_times=obstacle is None,
    )
    if not dry_run:
        _send_lines(client, lines)
        _send_changes(client, lines)
    known_times = [_describe_known_times(product, new, obstacle)] if new else []
    others = len(reading.facts) - len(facts)
    return Report(product, reading, lines, [*reading.notes, *known_times], others)


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


def _read_earlier(client: "Client", product: str) -> Earlier:
    pages = client.list_memories(tags_any=[name_tag(product)], include_superseded=True, limit=1_000)
    return Earlier({**memory} for memory in pages)


def _send_lines(client: "Client", lines: Lines) -> None:
    """Import all lines in one transaction. A fact that the service refuses is left out.

    Raises Failure if it refuses too many.
    """
    from palimpsest_client import Invalid

    for _ in range(_MOST_REFUSED):
        if not lines.lines:
            return
        try:
            client.import_history(_write(lines.lines), idempotency_key=_make_key(lines.lines))
        except Invalid as problem:
            place = problem.problem.get("line")
            if not isinstance(place, int):
                raise
            _leave_out(lines, lines.lines[place - 1].fact, problem.detail)
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


def _leave_out(lines: Lines, fact: SourceFact, detail: str) -> None:
    reason = detail.partition(": ")[2] or detail
    lines.left_out.append(LeftOut(fact.line, f"{fact.origin}: {reason}"))
    lines.lines = [line for line in lines.lines if line.fact is not fact]


def _write(lines: Sequence[Line]) -> list[bytes]:
    return [json.dumps(line.fields, ensure_ascii=False).encode() + b"\n" for line in lines]


def _make_key(lines: Sequence[Line]) -> str:
    """Return the same Idempotency-Key for the same lines: a broken call may be repeated."""
    return "import-" + hashlib.sha256(b"".join(_write(lines))).hexdigest()


def _print_report(report: Report, *, dry_run: bool) -> None:
    lines = report.lines
    left_out = sorted([*report.reading.left_out, *lines.left_out], key=lambda one: one.line)
    versions = len(lines.lines) - lines.fact_count
    counts: dict[str, Any] = {
        "read": report.reading.count,
        "would store" if dry_run else "stored": lines.fact_count,
        "duplicates": lines.duplicates,
        "left out": len(left_out),
    }
    if lines.changes:
        counts["would update" if dry_run else "updated"] = len(lines.changes)
    if report.of_others:
        counts["of others"] = report.of_others
    more = f" (and {versions} known ends)" if versions else ""
    print(", ".join(f"{name} {count:,}" for name, count in counts.items()) + more)
    for one in left_out:
        print(f"line {one.line}: {one.reason.rstrip('.')}.")
    for note in report.notes:
        print(note)
