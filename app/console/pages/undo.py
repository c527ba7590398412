"""Undoing operations: first what it will do, then doing it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from starlette.responses import Response

from app.console.page_call import PageCall
from palimpsest_client import Conflict

MOST = 200


async def preview(call: PageCall) -> Response:
    """Show what undoing the named operations will do, and write nothing."""
    log_ids = call.request.query_params.getlist("log_id")[:MOST]
    if not log_ids:
        return call.render_problem(422, "Nothing is chosen", "Choose what to undo in the log.")
    cascade = call.parameters.get("cascade") == "1"
    entries = await asyncio.gather(*map(call.client.get_log_entry, log_ids[:20]))
    results: Sequence[Mapping[str, Any]] = []
    obstacle, later = "", []
    try:
        answer = await call.client.revert_many(log_ids=log_ids, cascade=cascade, dry_run=True)
        results = answer["results"]
    except Conflict as problem:
        later = list(problem.problem.get("log_ids", []))[:MOST]
        obstacle = str(problem.problem.get("title") or problem.detail)
    after = await asyncio.gather(*map(call.client.get_log_entry, later[:20]))
    return call.render(
        "undo.html",
        entries=entries,
        results=results,
        obstacle=obstacle,
        built_on=after,
        log_ids=log_ids,
        cascade=cascade,
        back=read_way_back(call),
        idempotency_key=uuid4().hex,
    )


async def undo(call: PageCall) -> Response:
    await call.client.revert_many(
        log_ids=call.form.getlist("log_id")[:MOST],
        cascade=call.form.get("cascade") == "1",
        idempotency_key=call.form.get("idempotency_key"),
    )
    return call.lead_to(read_way_back(call), as_of=None, known_at=None, done="undone")


def read_way_back(call: PageCall) -> str:
    """Return the page of the console that the viewer came from, without its parameters."""
    path = call.parameters.get("back", "/ui/log")
    is_own = path == "/ui" or path.startswith("/ui/")
    return path if is_own and "\\" not in path and "?" not in path else "/ui/log"
