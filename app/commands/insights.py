"""`palimpsest insights`."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from app.commands.asking import DEFAULT_URL, Agent, ApiKey, AsJson, Url, answer_of, client_of, said
from app.commands.printing import console, minute, print_json, print_table
from app.domain.insights import Section

Entry = dict[str, Any]


def insights(
    section: Annotated[list[Section] | None, typer.Option(help="Only this; may be repeated.", show_default=False)] = None,
    since: Annotated[str | None, typer.Option(help="Count what became known at that time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Count what became known before that time.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Entries per section.")] = 20,
    stale_days: Annotated[int, typer.Option(min=1, help="After how many days without a word a constraint counts as stale.")] = 180,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show what keeps changing, how long values hold, and which judges and signals err. It changes nothing."""
    asked = said(section=[s.value for s in section or []], since=since, until=until, limit=limit, stale_days=stale_days)
    with client_of(url, agent, api_key) as client:
        answer = answer_of(client, "GET", "/v1/insights", params=asked)
    if as_json:
        return print_json(answer)
    for name in section or Section:
        _PRINTED[name](answer[name])


def _about(entry: Entry) -> str:
    """The words of the slot, else the text, else that it is gone."""
    if entry["slot"]:
        return " / ".join(word for word in entry["slot"].values() if word)
    return entry["content"] or "(erased)"


def _print(title: str, headings: list[str], rows: list[list[str]]) -> None:
    """A table with its title; where there is nothing to tell, that."""
    console().print(f"[bold]{title}[/bold]")
    print_table(headings, rows) if rows else console().print("nothing")
    console().print()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _first(ids: list[str]) -> str:
    return ids[0] if ids else ""


def _churn(entries: list[Entry]) -> None:
    rows = [[str(e["changes"]), e["kind"], _about(e), minute(e["last_changed_at"]), _first(e["memory_ids"])] for e in entries]
    _print("What keeps changing", ["changes", "kind", "about", "last", "id"], rows)


def _flip_flops(entries: list[Entry]) -> None:
    rows = [[str(e["returns"]), _about(e), *(minute(v["valid_from"]) for v in e["latest"]), e["latest"][2]["memory_id"]] for e in entries]
    _print("What went back (A, B, A)", ["times", "about", "A", "B", "A again", "id"], rows)


def _lifetimes(told: dict[str, list[Entry]]) -> None:
    named = [(e["kind"], e) for e in told["by_kind"]] + [(_about(e), e) for e in told["by_slot"]]
    rows = [[name, *map(_number, (e["mean_days"], e["median_days"])), str(e["ended"]), str(e["open"])] for name, e in named]
    _print("How long values hold, in days", ["of", "mean", "median", "ended", "open"], rows)


def _retire_rates(entries: list[Entry]) -> None:
    rows = [
        [
            e["decided_by"],
            f"{e['confidence_from']} to {e['confidence_to']}",
            *(str(e[n]) for n in ("decided", "retired", "reverted")),
            _first(e["log_ids"]),
        ]
        for e in entries
    ]
    _print("What judges retired", ["by", "confidence", "decided", "retired", "undone", "id"], rows)


def _signals(entries: list[Entry]) -> None:
    counts = ("stand", "reverted", "accepted", "rejected", "expired", "pending")
    rows = [
        [e["name"], *map(_number, (e["error_rate"], e["confidence"], e["confidence_here"])), *(str(e[n]) for n in counts)] for e in entries
    ]
    _print("Which signals err", ["signal", "errs", "confidence", "here", *counts], rows)


def _stale_constraints(entries: list[Entry]) -> None:
    rows = [[e["content"] or "(erased)", "; ".join(e["reasons"]), minute(e["last_affirmed_at"]), e["memory_id"]] for e in entries]
    _print("Constraints in doubt", ["constraint", "why", "last affirmed", "id"], rows)


def _chain_lengths(told: dict[str, list[Entry]]) -> None:
    _print("How many versions chains have", ["versions", "chains"], [[str(e["length"]), str(e["chains"])] for e in told["histogram"]])
    _print("The longest chains", ["versions", "about", "id"], [[str(e["length"]), _about(e), e["chain_id"]] for e in told["longest"]])


_PRINTED: dict[Section, Callable[[Any], None]] = {
    Section.CHURN: _churn,
    Section.FLIP_FLOPS: _flip_flops,
    Section.LIFETIMES: _lifetimes,
    Section.RETIRE_RATES: _retire_rates,
    Section.SIGNALS: _signals,
    Section.STALE_CONSTRAINTS: _stale_constraints,
    Section.CHAIN_LENGTHS: _chain_lengths,
}
