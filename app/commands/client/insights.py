"""`palimpsest insights`."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from app.commands.client.calling import (
    DEFAULT_URL,
    Agent,
    ApiKey,
    AsJson,
    Url,
    answer_of,
    client_of,
    drop_unset,
)
from app.commands.client.printing import format_minute, make_console, print_json, print_table
from app.domain.insights import Section

Entry = dict[str, Any]


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
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show what keeps changing, how long values hold, and which judges and signals err. It changes nothing."""
    asked = drop_unset(
        section=[s.value for s in section or []],
        since=since,
        until=until,
        limit=limit,
        stale_days=stale_days,
    )
    with client_of(url, agent, api_key) as client:
        answer = answer_of(client, "GET", "/v1/insights", params=asked)
    if as_json:
        return print_json(answer)
    for name in section or Section:
        _PRINTED[name](answer[name])


def _describe_subject(entry: Entry) -> str:
    """The words of the slot, else the text, else that it is gone."""
    if entry["slot"]:
        return " / ".join(word for word in entry["slot"].values() if word)
    return entry["content"] or "(erased)"


def _print_section(title: str, headings: list[str], rows: list[list[str]]) -> None:
    """A table with its title; where there is nothing to tell, that."""
    make_console().print(f"[bold]{title}[/bold]")
    print_table(headings, rows) if rows else make_console().print("nothing")
    make_console().print()


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _first_id(ids: list[str]) -> str:
    return ids[0] if ids else ""


def _print_churn(entries: list[Entry]) -> None:
    rows = [
        [
            str(e["changes"]),
            e["kind"],
            _describe_subject(e),
            format_minute(e["last_changed_at"]),
            _first_id(e["memory_ids"]),
        ]
        for e in entries
    ]
    _print_section("What keeps changing", ["changes", "kind", "about", "last", "id"], rows)


def _print_flip_flops(entries: list[Entry]) -> None:
    rows = [
        [
            str(e["returns"]),
            _describe_subject(e),
            *(format_minute(v["valid_from"]) for v in e["latest"]),
            e["latest"][2]["memory_id"],
        ]
        for e in entries
    ]
    _print_section("What went back (A, B, A)", ["times", "about", "A", "B", "A again", "id"], rows)


def _print_lifetimes(lifetimes: dict[str, list[Entry]]) -> None:
    named = [(e["kind"], e) for e in lifetimes["by_kind"]] + [
        (_describe_subject(e), e) for e in lifetimes["by_slot"]
    ]
    rows = [
        [
            name,
            *map(_format_number, (e["mean_days"], e["median_days"])),
            str(e["ended"]),
            str(e["open"]),
        ]
        for name, e in named
    ]
    _print_section("How long values hold, in days", ["of", "mean", "median", "ended", "open"], rows)


def _print_retire_rates(entries: list[Entry]) -> None:
    rows = [
        [
            e["decided_by"],
            f"{e['confidence_from']} to {e['confidence_to']}",
            *(str(e[n]) for n in ("decided", "retired", "reverted")),
            _first_id(e["log_ids"]),
        ]
        for e in entries
    ]
    _print_section(
        "What judges retired", ["by", "confidence", "decided", "retired", "undone", "id"], rows
    )


def _print_signals(entries: list[Entry]) -> None:
    counts = ("stand", "reverted", "accepted", "rejected", "expired", "pending")
    rows = [
        [
            e["name"],
            *map(_format_number, (e["error_rate"], e["confidence"], e["confidence_here"])),
            *(str(e[n]) for n in counts),
        ]
        for e in entries
    ]
    _print_section("Which signals err", ["signal", "errs", "confidence", "here", *counts], rows)


def _print_stale_constraints(entries: list[Entry]) -> None:
    rows = [
        [
            e["content"] or "(erased)",
            "; ".join(e["reasons"]),
            format_minute(e["last_affirmed_at"]),
            e["memory_id"],
        ]
        for e in entries
    ]
    _print_section("Constraints in doubt", ["constraint", "why", "last affirmed", "id"], rows)


def _print_chain_lengths(lengths: dict[str, list[Entry]]) -> None:
    _print_section(
        "How many versions chains have",
        ["versions", "chains"],
        [[str(e["length"]), str(e["chains"])] for e in lengths["histogram"]],
    )
    _print_section(
        "The longest chains",
        ["versions", "about", "id"],
        [[str(e["length"]), _describe_subject(e), e["chain_id"]] for e in lengths["longest"]],
    )


_PRINTED: dict[Section, Callable[[Any], None]] = {
    Section.CHURN: _print_churn,
    Section.FLIP_FLOPS: _print_flip_flops,
    Section.LIFETIMES: _print_lifetimes,
    Section.RETIRE_RATES: _print_retire_rates,
    Section.SIGNALS: _print_signals,
    Section.STALE_CONSTRAINTS: _print_stale_constraints,
    Section.CHAIN_LENGTHS: _print_chain_lengths,
}
