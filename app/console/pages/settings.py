"""The settings of an agent, and erasing."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall

# What becomes of changes, in words, by the name of the mode; none: as the service is set.
MODES = {
    "": "as the service is set",
    "live": "live: sure changes are made, others become reviews",
    "shadow": "shadow: every change becomes a review, nothing is ended",
    "frozen": "frozen: nothing is written",
}
ZONES = (
    "UTC",
    "Europe/London",
    "Europe/Lisbon",
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "Asia/Tokyo",
    "Australia/Sydney",
)
# What may be erased, in words, by the name of the API's field.
ERASABLE = {
    "agent_id": "everything of this agent",
    "session_id": "all that was said in a session",
    "chain_id": "one fact with all its versions",
}


async def show(call: PageCall) -> Response:
    """Show how changes are made to this agent, and what the agent holds."""
    agent = await call.find_agent()
    figures = None
    if agent and call.parameters.get("figures") == "1":
        figures = await call.client.get_stats(agent["agent_id"])
    return await _render(call, agent, figures=figures)


async def save(call: PageCall) -> Response:
    assert call.agent is not None
    await call.client.patch_agent(
        call.agent,
        mode=call.form.get("mode") or None,
        timezone=call.form.get("timezone", "").strip() or None,
    )
    return call.lead_to("/ui/agent", done="saved")


async def erase(call: PageCall) -> Response:
    """Erase, and show the receipt: it is told once, so no other page could show it."""
    scope = call.form.get("scope", "")
    if call.form.get("confirmation", "").strip() != call.agent:
        detail = "Type the id of the agent exactly, to confirm. Nothing was erased."
        return await _render(call, await call.find_agent(), status=422, problem=detail)
    if scope not in ERASABLE:
        detail = "Choose what to erase. Nothing was erased."
        return await _render(call, await call.find_agent(), status=422, problem=detail)
    what = call.agent if scope == "agent_id" else call.form.get("what", "").strip()
    named: dict[str, Any] = {scope: what}
    answer = await call.client.erase(
        **named,
        cascade=call.form.get("cascade") == "1",
        idempotency_key=call.form.get("idempotency_key") or None,
    )
    return call.render("erased.html", answer=answer, scope=ERASABLE[scope])


async def _render(
    call: PageCall,
    agent: Mapping[str, Any] | None,
    *,
    status: int = 200,
    figures: Mapping[str, Any] | None = None,
    problem: str = "",
) -> Response:
    ready = await call.client.readyz()
    return call.render(
        "settings.html",
        status,
        agent=agent,
        model=ready["model"],
        figures=figures,
        problem=problem,
        modes=MODES,
        zones=ZONES,
        erasable=ERASABLE,
    )
