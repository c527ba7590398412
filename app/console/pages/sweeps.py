"""Sweeps: second looks at what is stored."""

from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall

PAGE = 50
_MOST_FINDINGS = 100
_UNDER_WAY = ("queued", "running")


async def show(call: PageCall) -> Response:
    listed = call.client.list_sweeps(limit=PAGE, cursor=call.parameters.get("cursor"))
    page = await listed.page()
    return call.render("sweeps.html", sweeps=page["items"], more=page["next_cursor"])


async def show_one(call: PageCall) -> Response:
    """Show how far a sweep is and what it found; the page asks again while it runs."""
    sweep = await call.client.get_sweep(call.request.path_params["sweep_id"])
    findings = sweep["findings"][:_MOST_FINDINGS]
    ids = {one for finding in findings for one in finding["others"][:1]}
    ids |= {finding["memory_id"] for finding in findings if finding["memory_id"]}
    contents: dict[str, str | None] = {}
    if ids:
        listed = call.client.list_memories(
            ids=sorted(ids)[:200], include_superseded=True, limit=200
        )
        contents = {memory["id"]: memory["content"] for memory in (await listed.page())["items"]}
    return call.render(
        "sweep.html",
        sweep=sweep,
        is_under_way=sweep["status"] in _UNDER_WAY,
        findings=findings,
        contents=contents,
    )


async def start(call: PageCall) -> Response:
    slot: Any = None
    if key := call.form.get("key", "").strip():
        words = {name: call.form.get(name, "").strip() for name in ("entity", "category")}
        slot = {"key": key, **{name: value for name, value in words.items() if value}}
    sweep = await call.client.start_sweep(
        slot=slot,
        dry_run=call.form.get("dry_run") == "1",
        idempotency_key=call.form.get("idempotency_key") or None,
    )
    return call.lead_to(f"/ui/sweeps/{sweep['id']}", done="started")


async def cancel(call: PageCall) -> Response:
    sweep_id = call.request.path_params["sweep_id"]
    await call.client.cancel_sweep(sweep_id)
    return call.lead_to(f"/ui/sweeps/{sweep_id}", done="cancelled")
