"""What an agent believes: now, or at any moment on both axes of time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.pages.story import name_story_agent
from app.console.times import read_moved_sliders
from palimpsest_client import AsyncClient

PAGE = 50
_FILTERS = ("q", "entity", "category", "key", "kind")

Memory = Mapping[str, Any]
# The facts of a category, and the categories of an entity, in the order of their names.
Group = tuple[str, list[tuple[str, list[Memory]]]]


@dataclass(frozen=True, slots=True)
class Mark:
    """What is different today about a fact of the past: `kind` is "gone" or "changed"."""

    kind: str
    words: str


async def show(call: PageCall) -> Response:
    """Show the facts that hold at the moment of the page."""
    filters = {name: call.parameters[name] for name in _FILTERS if call.parameters.get(name)}
    if moved := read_moved_sliders(call.parameters, call.now):
        return call.lead_to("/ui", **filters, **moved)
    (facts, more), today = await asyncio.gather(
        _read_facts(call, filters), _read_today(call, filters)
    )
    if not facts and not filters and await call.find_agent() is None:
        address = str(call.request.base_url).rstrip("/")
        story_agent = name_story_agent(call.viewer)
        return call.render("welcome.html", story_agent=story_agent, address=address)
    marks, since_then = await _compare_with_today(call, facts, today)
    return call.render(
        "now.html",
        facts=facts,
        groups=[] if "q" in filters else group_facts(facts),
        more=more,
        filters=filters,
        marks=marks,
        since_then=since_then,
    )


async def _read_today(call: PageCall, filters: Mapping[str, str]) -> Sequence[Memory]:
    """Return what is believed today, if the page looks back; a search is not compared."""
    if not call.looks_back or "q" in filters:
        return ()
    page = await call.client.list_memories(limit=PAGE, **_list_slot_filters(filters)).page()
    return page["items"]


async def _compare_with_today(
    call: PageCall, facts: Sequence[Memory], today: Sequence[Memory]
) -> tuple[dict[str, Mark], list[Memory]]:
    """Return what is different today about the facts, and what is believed only since then."""
    if not call.looks_back:
        return {}, []
    same, then = await asyncio.gather(
        _read_by_ids(call.client, facts), _read_by_ids(call.reader, today)
    )
    since_then = []
    for fact in today:
        if fact["id"] not in then or then[fact["id"]]["status"] != "current":
            since_then.append(fact)
    return mark_differences(facts, same), since_then


async def _read_by_ids(client: AsyncClient, facts: Sequence[Memory]) -> dict[str, Memory]:
    """Return the same memories at another moment, by their ids."""
    if not facts:
        return {}
    ids = [fact["id"] for fact in facts]
    page = await client.list_memories(ids=ids, include_superseded=True, limit=len(ids)).page()
    return {memory["id"]: memory for memory in page["items"]}


def mark_differences(facts: Iterable[Memory], today: Mapping[str, Memory]) -> dict[str, Mark]:
    """Return a mark for each fact that no longer holds today, or holds since another time."""
    marks = {}
    for fact in facts:
        now = today.get(fact["id"])
        if now is None or now["status"] != "current":
            marks[fact["id"]] = Mark("gone", f"today: {now['status'] if now else 'unknown'}")
        elif now["valid_from"] != fact["valid_from"]:
            marks[fact["id"]] = Mark("changed", "today: true from another time")
    return marks


async def _read_facts(
    call: PageCall, filters: Mapping[str, str]
) -> tuple[list[Memory], str | None]:
    """Return a page of facts, best first for a search, and the cursor of the next page."""
    slot = _list_slot_filters(filters)
    if query := filters.get("q"):
        answer = await call.reader.search(query, limit=PAGE, **slot)
        return [result["memory"] for result in answer["results"]], None
    cursor = call.parameters.get("cursor")
    page = await call.reader.list_memories(limit=PAGE, cursor=cursor, **slot).page()
    return list(page["items"]), page["next_cursor"]


def _list_slot_filters(filters: Mapping[str, str]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if name != "q"}


def group_facts(facts: Iterable[Memory]) -> list[Group]:
    """Return the facts by entity and category, the user's first."""
    groups: dict[str, dict[str, list[Memory]]] = {}
    for fact in facts:
        groups.setdefault(fact["entity"], {}).setdefault(fact["category"], []).append(fact)
    ordered = sorted(groups.items(), key=lambda group: (group[0] != "user", group[0]))
    return [(entity, sorted(categories.items())) for entity, categories in ordered]
