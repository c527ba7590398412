"""A fact: its text, its chain on both axes, why it is believed, and putting it right."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from app.console.drawing import LEFT, NARROW, WIDE, draw_chain
from app.console.memories import find_memories
from app.console.page_call import PageCall, find

_LISTED = 20


async def show(call: PageCall) -> Response:
    """Show the fact at the moment of the page, with all that is known about it today."""
    memory_id = call.request.path_params["memory_id"]
    client, reader = call.client, call.reader
    memory, there, why, beliefs, reviews, ties = await asyncio.gather(
        client.get_memory(memory_id),
        find(reader.get_memory(memory_id)),  # it may not have been known then
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
        drawings=[
            draw_chain(beliefs, call.as_of or call.now, call.known_at or call.now, frame)
            for frame in (WIDE, NARROW)
        ],
        left=LEFT,
        contents=contents,
        versions=beliefs["versions"],
        reviews=reviews["items"],
        ties=[_name_tie(tie, memory_id) for tie in ties["items"]],
        fields=list_fields(memory),
    )


# How the other fact stands to this one, by the type of the link and whether this is its source.
_TIES = {
    ("supersedes", True): "replaced",
    ("supersedes", False): "replaced by",
    ("merged_into", True): "merged into",
    ("merged_into", False): "merged from",
    ("contradicts", True): "contradicts",
    ("contradicts", False): "contradicted by",
    ("expands", True): "says more than",
    ("expands", False): "said in more words by",
    ("references", True): "rests on",
    ("references", False): "what rests on this:",
    ("causes", True): "causes",
    ("causes", False): "caused by",
    ("enables", True): "makes possible",
    ("enables", False): "made possible by",
    ("sequential", True): "followed by",
    ("sequential", False): "follows",
}


def _name_tie(tie: Mapping[str, Any], memory_id: str) -> tuple[str, str]:
    """Return how the other fact of a link stands to this one, and its id."""
    is_source = tie["source_id"] == memory_id
    words = _TIES.get((tie["type"], is_source), "related to")
    return words, tie["target_id"] if is_source else tie["source_id"]


def list_fields(memory: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is set of a memory beside its text, each with the name that people read."""
    slot = (memory["entity"], memory["category"], memory["key"])
    values = [
        ("about", " / ".join(filter(None, slot))),
        ("value", memory["value"]),
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
        at=None if never_true else call.read_time("at"),
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
        valid_from=call.read_time("valid_from"),
        if_match=call.form.get("etag"),
        idempotency_key=call.form.get("idempotency_key"),
    )
    memory = answer["memory"]
    assert memory is not None
    return call.lead_to(f"/ui/facts/{memory['id']}", as_of=None, known_at=None, done="corrected")
