"""Answers, printed for a person at the terminal."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

PIPE_WIDTH = 400
UNBROKEN_COLUMNS = ("score", "status", "operation", "id")
MEMORY_HEADINGS = ["status", "valid from", "until", "content", "id"]

Answer = Mapping[str, Any]


def make_console() -> Console:
    """Return a console of the terminal's width; in a pipe, each row stays on one line."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False)


def print_json(answer: Answer) -> None:
    """Print an answer, and escape in JSON's own way what standard output cannot show."""
    is_unicode = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(answer, indent=2, ensure_ascii=not is_unicode))


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """Print a table without lines. Ids and words of the system stay on one line."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in UNBROKEN_COLUMNS)
    for row in rows:
        table.add_row(*map(escape, row))
    make_console().print(table)


def note_more(answer: Answer) -> None:
    """Say on standard error if a list goes on."""
    if answer["next_cursor"]:
        print("There are more: take a higher --limit, or narrower filters.", file=sys.stderr)


def format_minute(time: str | None) -> str:
    """Return a time of an answer to the minute, in UTC; nothing for None."""
    return time[:16].replace("T", " ") if time else ""


# --- writes --------------------------------------------------------------------------------------


def print_change(answer: Answer) -> None:
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


def print_store(answer: Answer) -> None:
    """Print what a store did. A part of a text may be answered with a problem."""
    parts = [part["answer"] for part in answer["parts"]]
    for change in parts or [answer]:
        if "operation" in change:
            print_change(change)
        else:
            make_console().print(escape(change["detail"]))


def print_reverts(answer: Answer) -> None:
    """Print what each undone operation came to."""
    for result in answer["results"]:
        print_change(result)
    if not answer["results"]:
        make_console().print("It did nothing that still stands.")


def print_erasure(answer: Answer) -> None:
    """Print which memories were erased, and the receipt."""
    erased_ids = answer["erased"]
    console = make_console()
    console.print(f"[bold]ERASE[/bold] {len(erased_ids)} memories: {', '.join(erased_ids)}")
    console.print(
        f"receipt {answer['log_id']}, key {answer['receipt']['key']} "
        "(told once: keep it to prove what was erased)"
    )


def print_mode(answer: Answer) -> None:
    """Print the mode of an agent."""
    mode = answer["mode"] or "as the settings say"
    make_console().print(f"{answer['agent_id']}: {mode}")


def print_ended(answer: Answer) -> None:
    """Print which memories ended with a session or a project."""
    make_console().print(f"ended {len(answer['ended'])}, {answer['kept']} go on")
    for memory_id in answer["ended"]:
        print(memory_id)


# --- memories ------------------------------------------------------------------------------------


def print_memories(memories: Sequence[Answer]) -> None:
    """Print a row per memory; for no memories, the heading alone."""
    print_table(MEMORY_HEADINGS, list(map(_format_memory, memories)))


def print_history(answer: Answer) -> None:
    """Print a row per version, with a mark where one took the place of a version elsewhere."""
    entered = {joint["by"] for joint in answer["joints"]}
    rows = []
    for version in answer["versions"]:
        status, *others = _format_memory(version)
        rows.append([f"{status} ↪" if version["id"] in entered else status, *others])
    print_table(MEMORY_HEADINGS, rows)
    if entered:
        make_console().print("↪ took the place of a version of another chain")


def print_hits(answer: Answer) -> None:
    """Print a row per hit of a search, with its score."""
    rows = []
    for hit in answer["results"]:
        status, *others = _format_memory(hit["memory"])
        status += ", in question" if hit["in_question"] else ""
        rows.append([f"{hit['score']:.3f}", status, *others])
    headings = ["score", *MEMORY_HEADINGS] if rows else MEMORY_HEADINGS
    print_table(headings, rows)


def _format_memory(memory: Answer) -> list[str]:
    stale = ", stale" if memory["stale_because"] else ""
    return [
        f"{memory['status']}{stale}",
        format_minute(memory["valid_from"]),
        format_minute(memory["valid_until"]),
        memory["content"] or "(erased)",
        memory["id"],
    ]


def print_story(answer: Answer) -> None:
    """Print why a memory is as it is, with a row per event."""
    title = escape(answer["memory"]["content"] or "An erased memory")
    make_console().print(f"[bold]{title}[/bold]\n{escape(answer['summary'])}\n")
    rows = []
    for event in answer["events"]:
        times = [format_minute(event["at"]), format_minute(event["valid"])]
        rows.append([*times, event["kind"], event["sentence"]])
    print_table(["known since", "true from", "what", "story"], rows)
    if answer["truncated"]:
        print("The first events are left out: the answer would be too large.", file=sys.stderr)


# --- lists ---------------------------------------------------------------------------------------


def print_log(answer: Answer) -> None:
    """Print a row per operation."""
    rows = []
    for entry in answer["items"]:
        incoming = entry["incoming"] or {}
        rows.append(
            [
                format_minute(entry["created_at"]),
                entry["operation"],
                entry["decided_by"],
                entry["actor"] or "",
                entry["reasoning"],
                incoming.get("content") or "",
                entry["id"],
            ]
        )
    print_table(["known at", "operation", "by", "actor", "why", "text", "id"], rows)
    note_more(answer)


def print_agents(answer: Answer) -> None:
    """Print a row per agent."""
    rows = []
    for agent in answer["items"]:
        last = format_minute(agent["last_known_at"])
        rows.append([agent["agent_id"], str(agent["memories"]), last])
    print_table(["id", "memories", "last known at"], rows)
    note_more(answer)


def print_links(answer: Answer) -> None:
    """Print a row per link."""
    rows = []
    for link in answer["items"]:
        ends = [link["source_id"], link["type"], link["target_id"]]
        rows.append([format_minute(link["created_at"]), *ends, link["log_id"] or ""])
    print_table(["known since", "source", "type", "target", "id"], rows)
    note_more(answer)


def print_captures(answer: Answer) -> None:
    """Print a row per capture."""
    rows = []
    for capture in answer["items"]:
        rows.append(
            [
                capture["state"],
                format_minute(capture["received_at"]),
                capture["session_id"] or "(erased)",
                f"{capture['done']} of {capture['total']}",
                str(capture["repeated"]),
                capture["error"] or "",
                capture["capture_id"],
            ]
        )
    print_table(["status", "since", "session", "read", "repeated", "error", "id"], rows)
    note_more(answer)


def print_reviews(answer: Answer) -> None:
    """Print two lines per review."""
    console = make_console()
    for review in answer["items"]:
        console.print(f"[bold]{escape(review['sentence'])}[/bold]")
        since = format_minute(review["created_at"])
        console.print(f"  {review['status']} since {since}, {review['source']}: {review['id']}")
    note_more(answer)


def print_review(review: Answer) -> None:
    """Print a review with the memories before and after."""
    console = make_console()
    console.print(f"[bold]{review['status']}[/bold] {escape(review['sentence'])}")
    for one in review["candidates"]:
        text = escape(one["content"] or "(erased)")
        console.print(f"({one['letter']}) {text} {one['memory_id']}")
    for one in review["judgments"]:
        decision = f"{one['relation']} {one['confidence']:.2f} ({one['decided_by']})"
        console.print(f"{decision}: {one['reasoning']}", markup=False)
    for side in ("before", "after"):
        console.print(f"[bold]{side}[/bold]")
        print_memories(review[side])
    if review["obstacle"]:
        console.print(review["obstacle"])


def print_stats(answer: Answer) -> None:
    """Print a row per number of an agent."""
    print_table(["what", "how many"], list(_list_stats(answer)))


def _list_stats(answer: Answer, title: str = "") -> Iterator[list[str]]:
    """Yield a row per number. Zero counts within a group are left out."""
    for name, value in answer.items():
        full_name = f"{title}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _list_stats(value, f"{full_name}: ")
        elif value is None or (title and not value):
            continue
        elif isinstance(value, float):
            yield [full_name, f"{value:.3f}"]
        elif isinstance(value, str) and name.endswith(("_at", "_of")):
            yield [full_name, format_minute(value)]
        else:
            yield [full_name, str(value)]
