"""A story for a first visit: three homes and two editors, learnt over three years."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from starlette.responses import Response

from app.console.page_call import PageCall

_HOME = {"entity": "user", "key": "city"}
_EDITOR = {"entity": "user", "category": "tooling", "key": "editor", "kind": "preference"}
# Text, slot, days ago since when it is true, and days ago when it was learnt. Braga was learnt
# last, so what was believed of Porto's end changed with it.
_HISTORY: tuple[tuple[str, Mapping[str, str], int, int], ...] = (
    ("I live in Porto", _HOME, 1000, 995),
    ("I use Vim", _EDITOR, 900, 900),
    ("I moved to Lisbon", _HOME, 300, 280),
    ("I switched to Zed", _EDITOR, 240, 240),
    ("I went back to Vim", _EDITOR, 120, 100),
    ("Before Lisbon I spent a winter in Braga", _HOME, 420, 60),
)


def name_story_agent(viewer: Mapping[str, Any]) -> str | None:
    """Return an agent for the story that the viewer's key may write, None if there is none."""
    if "write" not in viewer["scopes"] or viewer["trust_ceiling"] < 100:
        return None
    for allowed in viewer["agents"]:
        if allowed.endswith("*"):
            return f"{allowed.removesuffix('*')}story-{uuid4().hex[:8]}"
    return None


async def store(call: PageCall) -> Response:
    """Store the story into the agent of the address, unless it has memories of its own."""
    agent = await call.find_agent()
    if agent and agent["memories"] > 0:
        return call.lead_to("/ui")
    midnight = call.now.replace(hour=0, minute=0, second=0, microsecond=0)
    lines = []
    for content, slot, true_for, learnt_before in _HISTORY:
        times = {
            "valid_from": (midnight - timedelta(days=true_for)).isoformat(),
            "created_at": (midnight - timedelta(days=learnt_before)).isoformat(),
        }
        lines.append({**slot, "content": content, **times})
    imported = await call.client.import_history(lines)
    stay = (call.now + timedelta(days=4)).date()
    await call.client.store("Never book flights before nine", kind="constraint", tier="core")
    await call.client.store(
        f"I am staying at the Ibis in Madrid until {stay.day} {stay:%B %Y}",
        entity="user",
        key="city",
    )
    # The second home: its chain shows the move that became known late.
    return call.lead_to(f"/ui/facts/{imported[2]['id']}")
