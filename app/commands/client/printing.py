"""Answers, printed for a person at the terminal.

On a terminal, a list has a few narrow columns with short ids and dates, and its texts in the last
and widest one. In a pipe, and with `--long`, it has whole ids and times, and each row is one line.
"""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from app.commands.client.shown_ids import show_id

NARROWEST_TEXT = 24  # cells
_TIME = re.compile(r"\d{4}-\d\d-\d\dT")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Answer = Mapping[str, Any]


def print_text(text: str = "", *, title: str = "") -> None:
    """Print a text, behind a bold title if there is one."""
    words = [style(clean_text(title), bold=True)] if title else []
    print(" ".join([*words, *([clean_text(text)] if text or not title else [])]))


def style(text: str, **chosen: Any) -> str:
    """Return the text in a style of `click.style`, if it goes to a terminal that shows colors."""
    is_colored = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return click.style(text, **chosen) if is_colored else text


def print_json(answer: Answer) -> None:
    """Print an answer, and escape in JSON's own way what standard output cannot show."""
    is_unicode = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(answer, indent=2, ensure_ascii=not is_unicode))


def is_long() -> bool:
    """Whether whole ids and times are shown, each row on one line."""
    context = click.get_current_context(silent=True)
    is_wanted = context is not None and bool(context.params.get("long"))
    return is_wanted or not sys.stdout.isatty()


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """Print a table without lines. The last column is as wide as the terminal lets it be.

    On a narrow terminal, it stands below the others.
    """
    cells = [[clean_text(" ".join(cell.split())) for cell in row] for row in rows]
    widths = [max(map(_measure, column)) for column in zip(headings, *cells, strict=True)]
    indent = sum(widths[:-1]) + 2 * len(widths[:-1])
    columns = sys.maxsize if is_long() else shutil.get_terminal_size().columns
    is_narrow = columns - indent < NARROWEST_TEXT
    indent = 2 if is_narrow else indent
    print(style(_join_cells(headings, widths), bold=True))
    for row in cells:
        lines = _wrap(row[-1], columns - indent)
        first = "" if is_narrow else lines.pop(0)
        print(_join_cells([*row[:-1], first], widths))
        for line in lines:
            print(" " * indent + line)


def _join_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - _measure(cell)) for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def clean_text(text: str) -> str:
    """Return the text without what would control the terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def format_id(whole: str | None) -> str:
    """Return an id, on a terminal only its end, which commands take too."""
    if whole is None or is_long():
        return whole or ""
    return show_id(whole)


def _measure(text: str) -> int:
    """Return how many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def _wrap(text: str, room: int) -> list[str]:
    """Return lines of at most `room` cells, broken between words or in a word that is longer."""
    if _measure(text) <= room:
        return [text]
    lines, line, width = [], "", 0
    for sign in text:
        if width + _measure(sign) > room:
            head, _, tail = line.rpartition(" ")
            lines.append(head or line)
            line = tail if head else ""
            width = _measure(line)
        line += sign
        width += _measure(sign)
    return [*lines, line]


def note_more(answer: Answer) -> None:
    """Say on standard error if a list goes on."""
    if answer["next_cursor"]:
        print("There are more: take a higher --limit, or narrower filters.", file=sys.stderr)


def format_minute(time: str | None) -> str:
    """Return a time of an answer to the minute, in UTC; nothing for None."""
    return time[:16].replace("T", " ") if time else ""


def format_time(time: str | None) -> str:
    """Return a time of an answer as a day; to the minute in a pipe and with `--long`."""
    if is_long() or not time:
        return format_minute(time)
    day = datetime.fromisoformat(time)
    return f"{day.day} {day:%b %Y}"


# --- writes --------------------------------------------------------------------------------------


def print_change(answer: Answer) -> None:
    """Print what a write did, and which memories ended by it."""
    operation, review_id = answer["operation"], answer["review_id"]
    dry_run = " (dry run)" if answer["dry_run"] else ""
    print_text(
        f"{answer['decision']['reasoning']}{dry_run}",
        title=operation or f"held back as review {format_id(review_id)}:",
    )
    if answer["memory"]:
        print_memories([answer["memory"]])
    if operation and review_id:
        print_text(f"waits for a person: review {format_id(review_id)}")
    if answer["superseded"]:
        ended = (
            f"{format_id(memory['id'])} {memory['content'] or ''}"
            for memory in answer["superseded"]
        )
        print_text(f"ended: {'; '.join(ended)}")
    if answer["stale"]:
        ids = ", ".join(format_id(stale["memory_id"]) for stale in answer["stale"])
        print_text(f"look whether still right, as what it rests on ended: {ids}")


def print_store(answer: Answer) -> None:
    """Print what a store did. A part of a text may be answered with a problem."""
    parts = [part["answer"] for part in answer["parts"]]
    for change in parts or [answer]:
        if "operation" in change:
            print_change(change)
        else:
            print_text(change["detail"])


def print_reverts(answer: Answer) -> None:
    """Print what each undone operation came to."""
    for result in answer["results"]:
        print_change(result)
    if not answer["results"]:
        print_text("It did nothing that still stands.")


def print_erasure(answer: Answer) -> None:
    """Print which memories were erased, and the receipt. The receipt is shown whole."""
    erased_ids = answer["erased"]
    print_text(
        f"{len(erased_ids)} memories: {', '.join(map(format_id, erased_ids))}", title="ERASE"
    )
    print_text(
        f"receipt {answer['log_id']}, key {answer['receipt']['key']} "
        "(told once: keep it to prove what was erased)"
    )


def print_mode(answer: Answer) -> None:
    """Print the mode of an agent."""
    mode = answer["mode"] or "as the settings say"
    print_text(f"{answer['agent_id']}: {mode}")


def print_ended(answer: Answer) -> None:
    """Print which memories ended with a session or a project."""
    print_text(f"ended {len(answer['ended'])}, {answer['kept']} go on")
    for memory_id in answer["ended"]:
        print_text(format_id(memory_id))


# --- memories ------------------------------------------------------------------------------------


def print_memories(memories: Sequence[Answer]) -> None:
    """Print a row per memory; for no memories, the heading alone."""
    print_table(*_list_memories(memories, [""] * len(memories)))


def print_history(answer: Answer) -> None:
    """Print a row per version, with a mark where one took the place of a version elsewhere."""
    entered = {joint["by"] for joint in answer["joints"]}
    marks = ["↪" if version["id"] in entered else "" for version in answer["versions"]]
    print_table(*_list_memories(answer["versions"], marks))
    if entered:
        print_text("↪ took the place of a version of another chain")


def print_page(answer: Answer) -> None:
    """Print a row per memory of a list."""
    print_memories(answer["items"])
    note_more(answer)


def print_hits(answer: Answer) -> None:
    """Print a row per hit of a search, with its score."""
    hits = answer["results"]
    marks = ["in question" if hit["in_question"] else "" for hit in hits]
    headings, rows = _list_memories([hit["memory"] for hit in hits], marks)
    digits = 3 if is_long() else 2
    scored = [[f"{hit['score']:.{digits}f}", *row] for hit, row in zip(hits, rows, strict=True)]
    print_table(["score", *headings] if rows else headings, scored)


def _list_memories(
    memories: Sequence[Answer], marks: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of memories. A short row names only an unusual status."""
    rows = []
    are_open = all(memory["valid_until"] is None for memory in memories)
    for memory, mark in zip(memories, marks, strict=True):
        stale = "stale" if memory["stale_because"] else ""
        remarks = ", ".join(filter(None, [memory["status"], stale, mark]))
        times = [format_time(memory["valid_from"]), format_time(memory["valid_until"])]
        text = memory["content"] or "(erased)"
        if is_long():
            rows.append([remarks, *times, memory["id"], text])
            continue
        remarks = remarks.removeprefix("current").removeprefix(", ")
        text += f" ({remarks})" if remarks else ""
        rows.append([format_id(memory["id"]), *times[: 1 if are_open else 2], text])
    if is_long():
        return ["status", "valid from", "until", "id", "text"], rows
    return ["id", "since", *([] if are_open else ["until"]), "text"], rows


def print_memory(memory: Answer) -> None:
    """Print all that is stated of a memory, a line each. Ids are whole."""
    print_text(title=memory["content"] or "(erased)")
    rows = []
    for name, value in memory.items():
        if name == "content" or value in (None, [], {}, ""):
            continue
        if isinstance(value, str):
            text = format_time(value) if _TIME.match(value) else value
        else:
            text = json.dumps(value, ensure_ascii=False)
        rows.append([name.replace("_", " "), text])
    print_table(["field", "value"], rows)


def print_story(answer: Answer) -> None:
    """Print why a memory is as it is, with a row per event."""
    print_text(title=answer["memory"]["content"] or "An erased memory")
    print_text(f"{answer['summary']}\n")
    rows = []
    for event in answer["events"]:
        times = [format_time(event["at"]), format_time(event["valid"])]
        rows.append([*times, event["kind"], event["sentence"]])
    print_table(["known since", "true from", "what", "story"], rows)
    if answer["truncated"]:
        print("The first events are left out: the answer would be too large.", file=sys.stderr)


# --- lists ---------------------------------------------------------------------------------------


def print_log(answer: Answer) -> None:
    """Print a row per operation; a short one has the text, or the reason if there is none."""
    rows = []
    for entry in answer["items"]:
        text = (entry["incoming"] or {}).get("content") or ""
        time = format_time(entry["created_at"])
        row = [time, entry["operation"], format_id(entry["id"])]
        if is_long():
            who = [entry["decided_by"], entry["actor"] or ""]
            rows.append(
                [*row, *who, f"{text} – {entry['reasoning']}" if text else entry["reasoning"]]
            )
        else:
            rows.append([*row, text or entry["reasoning"]])
    who = ["by", "actor"] if is_long() else []
    print_table(["known at", "operation", "id", *who, "text"], rows)
    note_more(answer)


def print_agents(answer: Answer) -> None:
    """Print a row per agent."""
    rows = []
    for agent in answer["items"]:
        last = format_time(agent["last_known_at"])
        rows.append([str(agent["memories"]), last, agent["agent_id"]])
    print_table(["memories", "last known at", "agent"], rows)
    note_more(answer)


def print_links(answer: Answer) -> None:
    """Print a row per link."""
    rows = []
    for link in answer["items"]:
        ends = [format_id(link["source_id"]), link["type"], format_id(link["target_id"])]
        rows.append([format_time(link["created_at"]), *ends, format_id(link["log_id"])])
    print_table(["known since", "source", "type", "target", "operation"], rows)
    note_more(answer)


def print_captures(answer: Answer) -> None:
    """Print a row per capture."""
    rows = []
    for capture in answer["items"]:
        session = capture["session_id"] or "(erased)"
        error = f": {capture['error']}" if capture["error"] else ""
        rows.append(
            [
                capture["state"],
                format_time(capture["received_at"]),
                f"{capture['done']} of {capture['total']}",
                str(capture["repeated"]),
                format_id(capture["capture_id"]),
                f"{session}{error}",
            ]
        )
    print_table(["status", "since", "read", "repeated", "id", "session"], rows)
    note_more(answer)


def print_reviews(answer: Answer) -> None:
    """Print a row per review: its question."""
    rows = []
    for review in answer["items"]:
        since = format_time(review["created_at"])
        status = [review["status"], review["source"]] if is_long() else []
        rows.append([format_id(review["id"]), since, *status, review["sentence"]])
    print_table(["id", "since", *(["status", "source"] if is_long() else []), "question"], rows)
    note_more(answer)


def print_review(review: Answer) -> None:
    """Print a review with the memories before and after."""
    print_text(review["sentence"], title=review["status"])
    for one in review["candidates"]:
        print_text(
            f"({one['letter']}) {one['content'] or '(erased)'} {format_id(one['memory_id'])}"
        )
    for one in review["judgments"]:
        decision = f"{one['relation']} {one['confidence']:.2f} ({one['decided_by']})"
        print_text(f"{decision}: {one['reasoning']}")
    for side in ("before", "after"):
        print_text(title=side)
        print_memories(review[side])
    if review["obstacle"]:
        print_text(review["obstacle"])


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
            yield [full_name, format_time(value)]
        else:
            yield [full_name, str(value)]
