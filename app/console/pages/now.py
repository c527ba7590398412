"""What an agent remembers: now, or at any moment on both axes of time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from app.console.memories import Memory, find_memories
from app.console.page_call import PageCall, find
from app.console.pages.story import name_story_agent
from app.console.subjects import group_by_subject

PAGE = 200
_FILTERS = ("q", "entity", "category", "key", "kind", "stale")
# Operations after which something else holds than before.
_CHANGES = ("UPDATE", "SUPERSEDE", "DELETE", "MERGE", "REVERT")


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of a fact of the past since then, and what replaced it, if anything did."""

    words: str
    at: str | None = None
    successor: Memory | None = None


async def show(call: PageCall) -> Response:
    """Show the facts that hold at the moment of the page, and the agent in numbers."""
    filters = call.pick_parameters(_FILTERS)
    is_home = not filters and not call.looks_back and "cursor" not in call.parameters
    (facts, more), stats = await asyncio.gather(
        _read_facts(call, filters), _find_stats(call, is_wanted=is_home)
    )
    if is_home and stats is None:
        address = str(call.request.base_url).rstrip("/")
        story_agent = name_story_agent(call.viewer)
        return call.render("welcome.html", story_agent=story_agent, address=address)
    return call.render(
        "now.html",
        facts=facts,
        subjects=[] if "q" in filters else group_by_subject(facts),
        more=more,
        filters=filters,
        marks=await _find_marks(call, facts) if call.looks_back else {},
        stats=stats,
        changed=sum(stats["by_operation_last_week"][name] for name in _CHANGES) if stats else 0,
    )


async def _find_stats(call: PageCall, *, is_wanted: bool) -> Mapping[str, Any] | None:
    """Return the agent in numbers, None if nothing was ever written to it."""
    assert call.agent is not None
    return await find(call.client.get_stats(call.agent)) if is_wanted else None


async def _find_marks(call: PageCall, facts: Sequence[Memory]) -> dict[str, Mark]:
    """Return a mark for each fact of the past that no longer holds, or from another time on."""
    today = await find_memories(call, [fact["id"] for fact in facts])
    successors = await find_memories(call, [fact["superseded_by"] for fact in today.values()])
    return mark_differences(facts, today, successors)


def mark_differences(
    facts: Iterable[Memory], today: Mapping[str, Memory], successors: Mapping[str, Memory]
) -> dict[str, Mark]:
    """Return what is different today about each of the facts, by its id."""
    marks = {}
    for fact in facts:
        now = today.get(fact["id"])
        if now is None:
            marks[fact["id"]] = Mark("unknown today")
        elif now["status"] != "current":
            successor = successors.get(now["superseded_by"] or "")
            marks[fact["id"]] = Mark(_ENDS[now["status"]], now["valid_until"], successor)
        elif now["valid_from"] != fact["valid_from"]:
            marks[fact["id"]] = Mark("today true from another day on:", now["valid_from"])
    return marks


# What became of a fact that does not hold, by its status.
_ENDS = {
    "superseded": "replaced",
    "merged": "merged",
    "retracted": "ended",
    "expired": "ended as stated",
    "reverted": "withdrawn",
    "erased": "erased",
    "scheduled": "moved to the future",
    "covered": "something else holds for a while",
}


async def _read_facts(
    call: PageCall, filters: Mapping[str, str]
) -> tuple[list[Memory], str | None]:
    """Return a page of facts, best first for a search, and the cursor of the next page."""
    wanted: dict[str, Any] = {name: text for name, text in filters.items() if name != "q"}
    if query := filters.get("q"):
        wanted.pop("stale", None)
        answer = await call.reader.search(query, limit=50, **wanted)
        return [result["memory"] for result in answer["results"]], None
    wanted["stale"] = True if "stale" in filters else None
    cursor = call.parameters.get("cursor")
    page = await call.reader.list_memories(limit=PAGE, cursor=cursor, **wanted).page()
    return list(page["items"]), page["next_cursor"]
