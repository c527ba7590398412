"""claude-mem: its SQLite database, and what its script exports."""

import json
from typing import Any

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    Talk,
    UnreadableRecord,
    check_text,
    drop_empty,
    list_values,
    pick_fields,
    read_time,
    read_words,
)

NAME = "claude-mem"
FILES = ("observations", "session_summaries", "user_prompts", "*.json")

_SUMMARIES = ("session_summaries", "summaries")
_PROMPTS = ("user_prompts", "prompts")
_DETAILS = ("title", "subtitle", "narrative", "files_read", "files_modified")
_SUMMARY_DETAILS = ("request", "investigated", "completed", "next_steps", "notes", "files_edited")


def matches(document: Document) -> bool:
    """Return True if there are observations of sessions."""
    records = [*_list_rows(document, "observations"), *_list_rows(document, *_SUMMARIES)]
    return any("memory_session_id" in record for record in records)


def read(document: Document) -> Reading:
    """Return the facts of observations, what sessions learned, and the prompts as talks."""
    reading = Reading()
    for names, read_record in (
        (("observations",), _read_observation),
        (_SUMMARIES, _read_summary),
    ):
        for record in _list_rows(document, *names):
            with reading.leave_out_unreadable(record.line, f"{names[0]} {record.get('id')}"):
                reading.facts += read_record(record)
    talks: dict[str, Talk] = {}
    for record in _list_rows(document, *_PROMPTS):
        session = f"{NAME}:{record.get('content_session_id')}"
        with reading.leave_out_unreadable(record.line, f"prompt {record.get('id')}"):
            message = _read_prompt(record)
            talks.setdefault(session, Talk(record.line, session, [])).messages.append(message)
    for talk in talks.values():
        reading.add_talk(talk)
    return reading


def _list_rows(document: Document, *names: str) -> list[Placed]:
    rows = [row for one in document.objects for name in names for row in list_values(one.get(name))]
    return [row for row in rows if isinstance(row, Placed)]


def _read_observation(record: Placed) -> list[SourceFact]:
    """Return its facts; an observation without facts is one itself."""
    facts = [str(fact).strip() for fact in list_values(_read_list(record.get("facts"))) if fact]
    title = str(record.get("title") or "").strip()
    body = str(record.get("narrative") or record.get("text") or record.get("subtitle") or "")
    whole = ": ".join(part for part in (title, body.strip()) if part)
    if not facts and not whole:
        raise UnreadableRecord("it has no facts, title or text")
    tags = [record.get("type"), *read_words(_read_list(record.get("concepts")))]
    return [
        _build_fact(record, f"observation {record.get('id')}/{place}", text, _DETAILS, tags)
        for place, text in enumerate(facts or [whole])
    ]


def _read_summary(record: Placed) -> list[SourceFact]:
    learned = str(record.get("learned") or "").strip()
    if not learned:
        raise UnreadableRecord("it says nothing that was learned")
    name = f"summary {record.get('id')}"
    return [_build_fact(record, name, learned, _SUMMARY_DETAILS, ["session summary"])]


def _build_fact(
    record: Placed, name: str, text: str, details: tuple[str, ...], tags: list[Any]
) -> SourceFact:
    """Return a fact. Ids count the rows of one database, so the session belongs to the name."""
    session = str(record.get("memory_session_id") or "")
    project = str(record.get("project") or "")
    return SourceFact(
        line=record.line,
        origin=f"{session}/{name}",
        content=check_text(text),
        learned_at=read_time(record, "created_at_epoch", "created_at"),
        words=drop_empty({"tags": read_words(tags), "session_id": session, "project": project}),
        details=pick_fields(record, details),
    )


def _read_prompt(record: Placed) -> dict[str, Any]:
    text = record.get("prompt_text")
    if not isinstance(text, str) or not text.strip():
        raise UnreadableRecord("it has no prompt_text")
    at = read_time(record, "created_at_epoch", "created_at")
    name = f"prompt-{record.get('prompt_number') or record.get('id')}"
    return {"id": name, "role": "user", "content": text, "at": at}


def _read_list(value: Any) -> Any:
    """Return a list that the database holds as JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return [value]
