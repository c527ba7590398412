"""Answers for a person at the terminal."""

import json
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def make_console() -> Console:
    """As wide as the terminal; into a pipe, wide enough for a row to stay a line."""
    return Console(width=None if sys.stdout.isatty() else 400, highlight=False)


def print_json(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))


def print_change(answer: dict[str, Any]) -> None:
    """What a write did, and what it ended."""
    tried = " (dry run)" if answer["dry_run"] else ""
    done = answer["operation"] or f"held back as review {answer['review_id']}:"
    make_console().print(f"[bold]{done}[/bold] {escape(answer['decision']['reasoning'])}{tried}")
    print_memories([answer["memory"]] if answer["memory"] else [])
    if answer["operation"] and answer["review_id"]:
        make_console().print(f"waits for a person: review {answer['review_id']}")
    if answer["superseded"]:
        make_console().print("ended: " + ", ".join(answer["superseded"]))
    if answer["stale"]:
        make_console().print(
            "look whether still right, as what it rests on ended: "
            + ", ".join(stale["memory_id"] for stale in answer["stale"])
        )


def print_memories(memories: list[dict[str, Any]], scores: list[float] | None = None) -> None:
    """A row per memory; the heading alone for none."""
    rows = [
        [
            _describe_status(m),
            format_minute(m["valid_from"]),
            format_minute(m["valid_until"]),
            m["content"] or "(erased)",
            m["id"],
        ]
        for m in memories
    ]
    if scores:
        rows = [[f"{score:.3f}", *row] for score, row in zip(scores, rows, strict=True)]
    print_table(
        [*(["score"] if scores else []), "status", "valid from", "until", "content", "id"], rows
    )


def _describe_status(memory: dict[str, Any]) -> str:
    return f"{memory['status']}, stale" if memory["stale_because"] else str(memory["status"])


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """A table without lines; ids and words of the system are never broken."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(
            heading, overflow="fold", no_wrap=heading in ("score", "status", "operation", "id")
        )
    for row in rows:
        table.add_row(*map(escape, row))
    make_console().print(table)


def print_page(
    answer: dict[str, Any], headings: list[str], row: Callable[[dict[str, Any]], list[str]]
) -> None:
    """A row per item of a list, and beside the output a word where the list goes on."""
    print_table(headings, [row(item) for item in answer["items"]])
    if answer["next_cursor"]:
        print("There are more: take a higher --limit.", file=sys.stderr)


def format_minute(time: str | None) -> str:
    """A time of an answer to the minute, in UTC; nothing for none."""
    return time[:16].replace("T", " ") if time else ""
