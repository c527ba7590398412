"""A fact: its text, its chain on both axes, why it is believed, and putting it right."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

from starlette.responses import Response

from app.console.drawing import LEFT, draw_chain
from app.console.memories import find_memories
from app.console.page_call import PageCall
from app.console.times import read_moved_sliders, read_time
from palimpsest_client import NotFound

_LISTED = 20

Answer = TypeVar("Answer")


async def show(call: PageCall) -> Response:
    """Show the fact at the moment of the page, with all that is known about it today."""
    memory_id = call.request.path_params["memory_id"]
    if moved := read_moved_sliders(call.parameters, call.now):
        return call.lead_to(f"/ui/facts/{memory_id}", **moved)
    client, reader = call.client, call.reader
    memory, there, why, beliefs, reviews, ties = await asyncio.gather(
        client.get_memory(memory_id),
        _find(reader.get_memory(memory_id)),
        client.why_memory(memory_id),
        client.beliefs(memory_id),
        client.list_reviews(memory_id=memory_id, limit=_LISTED).page(),
        client.relationships(memory_id, limit=_LISTED).page(),
    )
    contents = {version["id"]: version["content"] for version in beliefs["versions"]}
    ends = set()
    for tie in ties["items"]:
        ends |= {tie["source_id"], tie["target_id"]}
    tied = await find_memories(call, sorted(ends - contents.keys()))
    contents |= {memory_id: memory["content"] for memory_id, memory in tied.items()}
    return call.render(
        "fact.html",
        memory=memory,
        there=there,
        why=why,
        drawing=draw_chain(beliefs, call.as_of or call.now, call.known_at or call.now),
        left=LEFT,
        contents=contents,
        versions=beliefs["versions"],
        reviews=reviews["items"],
        ties=ties["items"],
        fields=list_fields(memory),
        idempotency_key=uuid4().hex,
    )


async def _find(answer: Awaitable[Answer]) -> Answer | None:
    """Return None if the memory was not known at the moment of the page."""
    try:
        return await answer
    except NotFound:
        return None


def list_fields(memory: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is set of a memory beside its text, each with the name that people read."""
    dated = memory["dated_by"]
    slot = (memory["entity"], memory["category"], memory["key"])
    values = [
        ("about", " / ".join(filter(None, slot))),
        ("value", memory["value"]),
        ("dated by the words", f"“{dated['text']}”" if dated else None),
        ("importance", f"{memory['importance']:.2f}, strength {memory['strength']:.2f}"),
        ("confidence", f"{memory['confidence']:.2f}, trust {memory['trust']}"),
        ("confirmed", f"{memory['access_count']} times" if memory["access_count"] else None),
        ("tags", ", ".join(memory["tags"])),
        ("source", memory["source"]),
        ("session", memory["session_id"]),
        ("project", memory["project"]),
    ]
    return [(name, value) for name, value in values if value]


async def retract(call: PageCall) -> Response:
    """End the fact, or declare that it was never true."""
    memory_id = call.request.path_params["memory_id"]
    never_true = call.form.get("never_true") == "1"
    await call.client.retract(
        memory_id,
        at=None if never_true else read_time(call.form.get("at", "").strip()),
        reason=call.form.get("reason", "").strip() or None,
        never_true=never_true,
        if_match=call.form.get("etag"),
        idempotency_key=call.form.get("idempotency_key"),
    )
    return call.lead_to(f"/ui/facts/{memory_id}", as_of=None, known_at=None, done="retracted")


async def correct(call: PageCall) -> Response:
    """Put a new text in the place of the fact."""
    answer = await call.client.supersede(
        call.request.path_params["memory_id"],
        content=call.form.get("content", "").strip(),
        valid_from=read_time(call.form.get("valid_from", "").strip()),
        if_match=call.form.get("etag"),
        idempotency_key=call.form.get("idempotency_key"),
    )
    memory = answer["memory"]
    assert memory is not None
    return call.lead_to(f"/ui/facts/{memory['id']}", as_of=None, known_at=None, done="corrected")
