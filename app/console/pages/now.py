"""What an agent believes: now, or at any moment on both axes of time."""

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.pages.story import name_story_agent
from app.console.times import read_moved_sliders
from palimpsest_client import NotFound

PAGE = 100
_FILTERS = ("q", "entity", "category", "key", "kind")

Memory = Mapping[str, Any]
# The facts of a category, and the categories of an entity, in the order of their names.
Group = tuple[str, list[tuple[str, list[Memory]]]]


async def show(call: PageCall) -> Response:
    """Show the facts that hold at the moment of the page."""
    filters = {name: call.parameters[name] for name in _FILTERS if call.parameters.get(name)}
    if moved := read_moved_sliders(call.parameters, call.now):
        return call.lead_to("/ui", **filters, **moved)
    agent = await _find_agent(call)
    if agent is None:
        address = str(call.request.base_url).rstrip("/")
        return call.render(
            "welcome.html", story_agent=name_story_agent(call.viewer), address=address
        )
    facts, more = await _read_facts(call, filters)
    return call.render(
        "now.html",
        facts=facts,
        groups=[] if "q" in filters else group_facts(facts),
        more=more,
        filters=filters,
        marks={},
    )


async def _find_agent(call: PageCall) -> Mapping[str, Any] | None:
    """Return None if nothing was ever written to the agent of the page."""
    assert call.agent is not None
    try:
        return await call.client.get_agent(call.agent)
    except NotFound:
        return None


async def _read_facts(
    call: PageCall, filters: Mapping[str, str]
) -> tuple[list[Memory], str | None]:
    """Return a page of facts, best first for a search, and the cursor of the next page."""
    slot: dict[str, Any] = {name: value for name, value in filters.items() if name != "q"}
    if query := filters.get("q"):
        answer = await call.reader.search(query, limit=PAGE, **slot)
        return [result["memory"] for result in answer["results"]], None
    cursor = call.parameters.get("cursor")
    page = await call.reader.list_memories(limit=PAGE, cursor=cursor, **slot).page()
    return list(page["items"]), page["next_cursor"]


def group_facts(facts: Iterable[Memory]) -> list[Group]:
    """Return the facts by entity and category, the user's first."""
    groups: dict[str, dict[str, list[Memory]]] = {}
    for fact in facts:
        groups.setdefault(fact["entity"], {}).setdefault(fact["category"], []).append(fact)
    ordered = sorted(groups.items(), key=lambda group: (group[0] != "user", group[0]))
    return [(entity, sorted(categories.items())) for entity, categories in ordered]
