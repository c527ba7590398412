"""Answers, printed for a person at the terminal."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

PIPE_WIDTH = 400
UNBROKEN_COLUMNS = ("score", "status", "operation", "id")


def make_console() -> Console:
    """Return a console of the terminal's width; in a pipe, each row stays on one line."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False)


def print_json(answer: Mapping[str, Any]) -> None:
    """Print an answer, and escape in JSON's own way what standard output cannot show."""
    is_unicode = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(answer, indent=2, ensure_ascii=not is_unicode))


def print_change(answer: Mapping[str, Any]) -> None:
    """Print what a write did, and which memories ended by it."""
    console = make_console()
    operation, review_id = answer["operation"], answer["review_id"]
    title = operation or f"held back as review {review_id}:"
    dry_run = " (dry run)" if answer["dry_run"] else ""
    console.print(f"[bold]{title}[/bold] {escape(answer['decision']['reasoning'])}{dry_run}")
    print_memories([answer["memory"]] if answer["memory"] else [])
    if operation and review_id:
        console.print(f"waits for a person: review {review_id}")
    if answer["superseded"]:
        ended = (f"{memory['id']} {memory['content'] or ''}" for memory in answer["superseded"])
        console.print("ended: " + escape("; ".join(ended)))
    if answer["stale"]:
        ids = ", ".join(stale["memory_id"] for stale in answer["stale"])
        console.print(f"look whether still right, as what it rests on ended: {ids}")


def print_reverts(answer: Mapping[str, Any]) -> None:
    """Print what each undone operation came to."""
    for result in answer["results"]:
        print_change(result)
    if not answer["results"]:
        make_console().print("It did nothing that still stands.")


MEMORY_HEADINGS = ["status", "valid from", "until", "content", "id"]


def print_memories(memories: Sequence[Mapping[str, Any]]) -> None:
    """Print a row per memory; for no memories, the heading alone."""
    print_table(MEMORY_HEADINGS, list(map(_format_memory, memories)))


def print_history(answer: Mapping[str, Any]) -> None:
    """Print a row per version, with a mark where one took the place of a version elsewhere."""
    entered = {joint["by"] for joint in answer["joints"]}
    rows = []
    for version in answer["versions"]:
        status, *others = _format_memory(version)
        rows.append([f"{status} ↪" if version["id"] in entered else status, *others])
    print_table(MEMORY_HEADINGS, rows)
    if entered:
        make_console().print("↪ took the place of a version of another chain")


def print_hits(hits: Sequence[Mapping[str, Any]]) -> None:
    """Print a row per hit of a search, with its score."""
    rows = []
    for hit in hits:
        status, *others = _format_memory(hit["memory"])
        status += ", in question" if hit["in_question"] else ""
        rows.append([f"{hit['score']:.3f}", status, *others])
    headings = ["score", *MEMORY_HEADINGS] if rows else MEMORY_HEADINGS
    print_table(headings, rows)


def _format_memory(memory: Mapping[str, Any]) -> list[str]:
    return [
        _describe_status(memory),
        format_minute(memory["valid_from"]),
        format_minute(memory["valid_until"]),
        memory["content"] or "(erased)",
        memory["id"],
    ]


def _describe_status(memory: Mapping[str, Any]) -> str:
    status = str(memory["status"])
    return f"{status}, stale" if memory["stale_because"] else status


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """Print a table without lines. Ids and words of the system stay on one line."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in UNBROKEN_COLUMNS)
    for row in rows:
        table.add_row(*map(escape, row))
    make_console().print(table)


def print_page(
    answer: Mapping[str, Any],
    headings: list[str],
    format_item: Callable[[Mapping[str, Any]], list[str]],
) -> None:
    """Print a row per item of a list. Standard error says whether the list goes on."""
    print_table(headings, list(map(format_item, answer["items"])))
    note_more(answer)


def note_more(answer: Mapping[str, Any]) -> None:
    """Say on standard error if a list goes on."""
    if answer["next_cursor"]:
        print("There are more: take a higher --limit, or narrower filters.", file=sys.stderr)


def format_minute(time: str | None) -> str:
    """Return a time of an answer to the minute, in UTC; nothing for None."""
    return time[:16].replace("T", " ") if time else ""
