"""`palimpsest insights`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from app.commands.client.calling import Service, takes_service
from app.commands.client.printing import format_minute, make_console, print_json, print_table
from app.domain.insights import Section

Entry = Mapping[str, Any]


@takes_service
def insights(
    section: Annotated[
        list[Section] | None, typer.Option(help="Only this; may be repeated.", show_default=False)
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Count what became known at that time or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Count what became known before that time.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Entries per section.")] = 20,
    stale_days: Annotated[
        int,
        typer.Option(
            min=1, help="After how many days without a word a constraint counts as stale."
        ),
    ] = 180,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count all of the window, however large the agent is.")
    ] = False,
    *,
    service: Service,
) -> None:
    """Show what keeps changing, how long values hold, and which judges and signals err.

    It changes nothing.
    """
    with service.connect() as client:
        answer: Mapping[str, Any] = client.get_insights(
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
        _PRINTED[name](answer[name])
    if answer["counted_since"]:
        since_when = format_minute(answer["counted_since"])
        make_console().print(
            f"Only what became known since {since_when} is counted. --exact counts everything."
        )


def _describe_subject(entry: Entry) -> str:
    """Return the words of the slot; without a slot, the text or a word for erased text."""
    if entry["slot"]:
        return " / ".join(filter(None, entry["slot"].values()))
    return entry["content"] or "(erased)"


def _print_section(title: str, headings: list[str], rows: Iterable[list[str]]) -> None:
    """Print a title and a table, or the word "nothing" if there are no rows."""
    console = make_console()
    console.print(f"[bold]{title}[/bold]")
    rows = list(rows)
    if rows:
        print_table(headings, rows)
    else:
        console.print("nothing")
    console.print()


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _get_first(ids: list[str]) -> str:
    return ids[0] if ids else ""


def _format_counts(entry: Entry, names: Iterable[str]) -> list[str]:
    return [str(entry[name]) for name in names]


def _print_churn(entries: list[Entry]) -> None:
    headings = ["changes", "kind", "about", "last", "id"]
    _print_section("What keeps changing", headings, map(_format_churn, entries))


def _format_churn(entry: Entry) -> list[str]:
    return [
        str(entry["changes"]),
        entry["kind"],
        _describe_subject(entry),
        format_minute(entry["last_changed_at"]),
        _get_first(entry["memory_ids"]),
    ]


def _print_flip_flops(entries: list[Entry]) -> None:
    headings = ["times", "about", "A", "B", "A again", "id"]
    _print_section("What went back (A, B, A)", headings, map(_format_flip_flop, entries))


def _format_flip_flop(entry: Entry) -> list[str]:
    first, second, again = entry["latest"]
    return [
        str(entry["returns"]),
        _describe_subject(entry),
        format_minute(first["valid_from"]),
        format_minute(second["valid_from"]),
        format_minute(again["valid_from"]),
        again["memory_id"],
    ]


def _print_lifetimes(lifetimes: Mapping[str, list[Entry]]) -> None:
    rows = []
    for entry in lifetimes["by_kind"]:
        rows.append(_format_lifetime(entry["kind"], entry))
    for entry in lifetimes["by_slot"]:
        rows.append(_format_lifetime(_describe_subject(entry), entry))
    headings = ["of", "mean", "median", "ended", "open"]
    _print_section("How long values hold, in days", headings, rows)


def _format_lifetime(name: str, entry: Entry) -> list[str]:
    mean, median = _format_number(entry["mean_days"]), _format_number(entry["median_days"])
    return [name, mean, median, *_format_counts(entry, ("ended", "open"))]


def _print_retire_rates(entries: list[Entry]) -> None:
    headings = ["by", "confidence", "decided", "retired", "undone", "id"]
    _print_section("What judges retired", headings, map(_format_retire_rate, entries))


def _format_retire_rate(entry: Entry) -> list[str]:
    return [
        entry["decided_by"],
        f"{entry['confidence_from']} to {entry['confidence_to']}",
        *_format_counts(entry, ("decided", "retired", "reverted")),
        _get_first(entry["log_ids"]),
    ]


_SIGNAL_COUNTS = (
    "stand",
    "reverted",
    "accepted",
    "rejected",
    "expired",
    "pending",
    "overruled",
)


def _print_signals(entries: list[Entry]) -> None:
    headings = ["signal", "errs", "confidence", "here", *_SIGNAL_COUNTS]
    _print_section("Which signals err", headings, map(_format_signal, entries))


def _format_signal(entry: Entry) -> list[str]:
    return [
        entry["name"],
        _format_number(entry["error_rate"]),
        _format_number(entry["confidence"]),
        _format_number(entry["confidence_here"]),
        *_format_counts(entry, _SIGNAL_COUNTS),
    ]


def _print_stale_constraints(entries: list[Entry]) -> None:
    headings = ["constraint", "why", "last affirmed", "id"]
    _print_section("Constraints in doubt", headings, map(_format_stale_constraint, entries))


def _format_stale_constraint(entry: Entry) -> list[str]:
    return [
        entry["content"] or "(erased)",
        "; ".join(entry["reasons"]),
        format_minute(entry["last_affirmed_at"]),
        entry["memory_id"],
    ]


def _print_chain_lengths(lengths: Mapping[str, list[Entry]]) -> None:
    histogram = [_format_counts(entry, ("length", "chains")) for entry in lengths["histogram"]]
    _print_section("How many versions chains have", ["versions", "chains"], histogram)
    longest = map(_format_long_chain, lengths["longest"])
    _print_section("The longest chains", ["versions", "about", "id"], longest)


def _format_long_chain(entry: Entry) -> list[str]:
    return [str(entry["length"]), _describe_subject(entry), entry["chain_id"]]


_PRINTED: dict[Section, Callable[[Any], None]] = {
    Section.CHURN: _print_churn,
    Section.FLIP_FLOPS: _print_flip_flops,
    Section.LIFETIMES: _print_lifetimes,
    Section.RETIRE_RATES: _print_retire_rates,
    Section.SIGNALS: _print_signals,
    Section.STALE_CONSTRAINTS: _print_stale_constraints,
    Section.CHAIN_LENGTHS: _print_chain_lengths,
}
