"""Undoing operations, a capture or a sweep: first what it will do, then doing it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from starlette.datastructures import ImmutableMultiDict
from starlette.responses import Response

from app.console.page_call import PageCall
from palimpsest_client import Conflict

MOST = 200
_SHOWN = 20


async def preview(call: PageCall) -> Response:
    """Show what undoing will do, and write nothing."""
    chosen = _read_choice(call.request.query_params)
    if not chosen:
        return call.render_problem(422, "Nothing is chosen", "Choose what to undo in the log.")
    results: Sequence[Mapping[str, Any]] = []
    log_ids, later, obstacle = chosen.get("log_ids", []), [], ""
    try:
        answer = await call.client.revert_many(**chosen, dry_run=True)
        results, log_ids = answer["results"], log_ids or answer["reverted"]
    except Conflict as problem:
        later = list(problem.problem.get("log_ids", []))
        obstacle = str(problem.problem.get("title") or problem.detail)
    entries = await asyncio.gather(*map(call.client.get_log_entry, log_ids[:_SHOWN]))
    built_on = await asyncio.gather(*map(call.client.get_log_entry, later[:_SHOWN]))
    return call.render(
        "undo.html",
        chosen=_list_fields(call.request.query_params),
        entries=entries,
        count=len(log_ids),
        results=results[:MOST],
        obstacle=obstacle,
        built_on=built_on,
        back=read_way_back(call),
        idempotency_key=uuid4().hex,
    )


async def undo(call: PageCall) -> Response:
    chosen = _read_choice(call.form)
    if not chosen:
        return call.render_problem(422, "Nothing is chosen", "Choose what to undo in the log.")
    await call.client.revert_many(**chosen, idempotency_key=call.form.get("idempotency_key"))
    return call.lead_to(read_way_back(call), as_of=None, known_at=None, done="undone")


def _read_choice(fields: ImmutableMultiDict[str, str]) -> dict[str, Any]:
    """Return what is to be undone, as arguments of the client; empty if nothing is named."""
    chosen: dict[str, Any] = {}
    if log_ids := fields.getlist("log_id")[:MOST]:
        chosen["log_ids"] = log_ids
    for name in ("capture_id", "sweep_id"):
        if value := fields.get(name):
            chosen[name] = value
    return chosen | {"cascade": fields.get("cascade") == "1"} if chosen else {}


def _list_fields(fields: ImmutableMultiDict[str, str]) -> list[tuple[str, str]]:
    """Return the choice as fields of a form."""
    names = ("log_id", "capture_id", "sweep_id", "cascade")
    return [(name, value) for name in names for value in fields.getlist(name)[:MOST]]


def read_way_back(call: PageCall) -> str:
    """Return the page of the console that the viewer came from, without its parameters."""
    path = call.parameters.get("back", "/ui/log")
    is_own = path == "/ui" or path.startswith("/ui/")
    return path if is_own and "\\" not in path and "?" not in path else "/ui/log"
