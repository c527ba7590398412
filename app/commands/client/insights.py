"""`palimpsest insights`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from app.commands.client.calling import Service, takes_service
from app.commands.client.printing import (
    Answer,
    format_id,
    format_time,
    print_json,
    print_table,
    print_text,
)
from app.commands.parameters import Option
from app.domain.insights import Section

Entry = Mapping[str, Any]

_SIGNAL_COUNTS = ("stand", "reverted", "accepted", "rejected", "expired", "pending", "overruled")


@takes_service
def insights(
    section: Annotated[list[Section] | None, Option(help="Only this; may be repeated.")] = None,
    since: Annotated[
        str | None, Option(metavar="TIME", help="Count what became known at that time or later.")
    ] = None,
    until: Annotated[
        str | None, Option(metavar="TIME", help="Count what became known before that time.")
    ] = None,
    limit: Annotated[int, Option(min=1, max=1000, help="Entries per section.")] = 20,
    stale_days: Annotated[
        int,
        Option(min=1, help="After how many days without a word a constraint counts as stale."),
    ] = 180,
    exact: Annotated[
        bool, Option("--exact", help="Count all of the window, however large the agent is.")
    ] = False,
    *,
    service: Service,
) -> None:
    """Show what keeps changing, and which judges and signals err.

    It changes nothing.
    """
    with service.connect() as client:
        answer: Answer = client.get_insights(
            section=section,
            since=since,
            until=until,
            limit=limit,
            stale_days=stale_days,
            exact=exact,
        )
    if service.as_json:
        return print_json(answer)
    for name in section or Section:
        _PRINTERS[name](answer[name])
    if answer["counted_since"]:
        since_when = format_time(answer["counted_since"])
        print_text(
            f"Only what became known since {since_when} is counted. --exact counts everything."
        )


def _print_section(title: str, headings: list[str], rows: list[list[str]]) -> None:
    """Print a title and a table, or the word "nothing" if there are no rows."""
    print_text(title=title)
    if rows:
        print_table(headings, rows)
    else:
        print_text("nothing")
    print_text()


def _describe_subject(entry: Entry) -> str:
    """Return the words of the slot; without a slot, the text or a word for erased text."""
    if entry["slot"]:
        return " / ".join(filter(None, entry["slot"].values()))
    return entry["content"] or "(erased)"


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _get_first(ids: list[str]) -> str:
    return format_id(ids[0]) if ids else ""


def _print_churn(entries: list[Entry]) -> None:
    rows = []
    for entry in entries:
        last = format_time(entry["last_changed_at"])
        about = _describe_subject(entry)
        ids = entry["memory_ids"]
        rows.append([str(entry["changes"]), entry["kind"], last, _get_first(ids), about])
    _print_section("What keeps changing", ["changes", "kind", "last", "id", "about"], rows)


def _print_flip_flops(entries: list[Entry]) -> None:
    rows = []
    for entry in entries:
        starts = [format_time(value["valid_from"]) for value in entry["latest"]]
        last_id = entry["latest"][-1]["memory_id"]
        rows.append([str(entry["returns"]), *starts, format_id(last_id), _describe_subject(entry)])
    headings = ["times", "A", "B", "A again", "id", "about"]
    _print_section("What went back (A, B, A)", headings, rows)


def _print_lifetimes(lifetimes: Mapping[str, list[Entry]]) -> None:
    rows = []
    for entry in (*lifetimes["by_kind"], *lifetimes["by_slot"]):
        name = entry["kind"] if "kind" in entry else _describe_subject(entry)
        days = [_format_number(entry["mean_days"]), _format_number(entry["median_days"])]
        rows.append([*days, str(entry["ended"]), str(entry["open"]), name])
    headings = ["mean", "median", "ended", "open", "of"]
    _print_section("How long values hold, in days", headings, rows)


def _print_retire_rates(entries: list[Entry]) -> None:
    rows = []
    for entry in entries:
        confidence = f"{entry['confidence_from']} to {entry['confidence_to']}"
        counts = [str(entry[name]) for name in ("decided", "retired", "reverted")]
        rows.append([entry["decided_by"], confidence, *counts, _get_first(entry["log_ids"])])
    headings = ["by", "confidence", "decided", "retired", "undone", "id"]
    _print_section("What judges retired", headings, rows)


def _print_signals(entries: list[Entry]) -> None:
    rows = []
    for entry in entries:
        rates = [entry["error_rate"], entry["confidence"], entry["confidence_here"]]
        counts = [str(entry[name]) for name in _SIGNAL_COUNTS]
        rows.append([entry["name"], *map(_format_number, rates), *counts])
    headings = ["signal", "errs", "confidence", "here", *_SIGNAL_COUNTS]
    _print_section("Which signals err", headings, rows)


def _print_stale_constraints(entries: list[Entry]) -> None:
    rows = []
    for entry in entries:
        text, reasons = entry["content"] or "(erased)", "; ".join(entry["reasons"])
        affirmed = format_time(entry["last_affirmed_at"])
        rows.append([affirmed, format_id(entry["memory_id"]), f"{text} ({reasons})"])
    headings = ["last affirmed", "id", "constraint"]
    _print_section("Constraints in doubt", headings, rows)


def _print_chain_lengths(lengths: Mapping[str, list[Entry]]) -> None:
    rows = [[str(entry["length"]), str(entry["chains"])] for entry in lengths["histogram"]]
    _print_section("How many versions chains have", ["versions", "chains"], rows)
    rows = []
    for entry in lengths["longest"]:
        chain_id = format_id(entry["chain_id"])
        rows.append([str(entry["length"]), chain_id, _describe_subject(entry)])
    _print_section("The longest chains", ["versions", "id", "about"], rows)


_PRINTERS: dict[Section, Callable[[Any], None]] = {
    Section.CHURN: _print_churn,
    Section.FLIP_FLOPS: _print_flip_flops,
    Section.LIFETIMES: _print_lifetimes,
    Section.RETIRE_RATES: _print_retire_rates,
    Section.SIGNALS: _print_signals,
    Section.STALE_CONSTRAINTS: _print_stale_constraints,
    Section.CHAIN_LENGTHS: _print_chain_lengths,
}
