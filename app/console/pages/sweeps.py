"""Sweeps: starting one, and how far each is."""

from collections.abc import Mapping

from starlette.responses import Response

from app.console.memories import find_memories
from app.console.page_call import PageCall
from app.console.words import CHANGES
from palimpsest_client.models import SlotRequest

PAGE = 50
FINDINGS = 100
# What a sweep came to, one and many, by the name of the count.
COUNTS = {
    "superseded": ("memory replaced", "memories replaced"),
    "covered": ("memory covered for a while", "memories covered for a while"),
    "duplicates": ("duplicate withdrawn", "duplicates withdrawn"),
    "retracted": ("memory ended", "memories ended"),
    "merged": ("pair merged", "pairs merged"),
    "reviews": ("question to a person", "questions to a person"),
    "postponed": ("memory to look at again", "memories to look at again"),
}
ORIGINS = {"request": "a call", "schedule": "the clock", "store": "a store"}
STATUSES = {
    "queued": "waits for a worker",
    "running": "is running",
    "done": "is done",
    "failed": "failed",
    "cancelled": "was cancelled",
}


async def show(call: PageCall) -> Response:
    """List the sweeps of the agent, newest first."""
    return await _render_list(call)


async def start(call: PageCall) -> Response:
    """Start a sweep of the whole agent, or of one slot."""
    slot = _read_slot(call.form)
    if call.form.get("scope") == "slot" and slot is None:
        return await _render_list(call, 422, "Name the key of the slot. Nothing was started.")
    sweep = await call.client.start_sweep(
        slot=slot,
        dry_run=call.form.get("dry_run") == "1",
        idempotency_key=call.form.get("idempotency_key") or None,
    )
    return call.lead_to(f"/ui/sweeps/{sweep['id']}")


async def show_sweep(call: PageCall) -> Response:
    """Show how far a sweep is, and what it found."""
    sweep = await call.client.get_sweep(call.request.path_params["sweep_id"])
    end = call.first + FINDINGS
    findings = sweep["findings"][call.first : end]
    ids: list[str | None] = []
    for finding in findings:
        ids += [finding["memory_id"], *finding["others"][:3]]
    return call.render(
        "sweep.html",
        sweep=sweep,
        runs=sweep["status"] in ("queued", "running"),
        findings=findings,
        memories=await find_memories(call, ids),
        next_first=end if end < len(sweep["findings"]) else None,
        counts=COUNTS,
        statuses=STATUSES,
        origins=ORIGINS,
        changes=CHANGES,
    )


async def cancel(call: PageCall) -> Response:
    """Stop a sweep where it is."""
    sweep = await call.client.cancel_sweep(call.request.path_params["sweep_id"])
    return call.lead_to(f"/ui/sweeps/{sweep['id']}")


async def _render_list(call: PageCall, status: int = 200, problem: str = "") -> Response:
    cursor = call.parameters.get("cursor")
    page = await call.client.list_sweeps(limit=PAGE, cursor=cursor).page()
    return call.render(
        "sweeps.html",
        status,
        sweeps=page["items"],
        more=page["next_cursor"],
        problem=problem,
        counts=COUNTS,
        statuses=STATUSES,
        origins=ORIGINS,
    )


def _read_slot(form: Mapping[str, str]) -> SlotRequest | None:
    """Return the slot of the form, None if the sweep is of the whole agent."""
    key = form.get("key", "").strip()
    if form.get("scope") != "slot" or not key:
        return None
    slot = SlotRequest(key=key)
    if entity := form.get("entity", "").strip():
        slot["entity"] = entity
    if category := form.get("category", "").strip():
        slot["category"] = category
    return slot
