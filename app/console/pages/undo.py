"""Undoing operations, a capture or a sweep: first what it will do, then doing it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import ImmutableMultiDict
from starlette.responses import Response

from app.console.login import OWN_PATH
from app.console.memories import find_memories
from app.console.page_call import PageCall
from palimpsest_client import Conflict

MOST = 200
_SHOWN = 20

Memory = Mapping[str, Any]
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What undoing does to memories; each is in one of the three lists, and there once."""

    withdrawn: Sequence[Memory] = ()
    believed: Sequence[Memory] = ()
    adjusted: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The operations that will be undone, or those that an obstacle keeps from it."""

    log_ids: Sequence[str]
    built_on: Sequence[str] = ()
    obstacle: str = ""
    effects: Effects = Effects()
    is_done: bool = False


async def preview(call: PageCall) -> Response:
    """Show what undoing will do, and write nothing."""
    chosen = _read_choice(call.request.query_params)
    if not chosen:
        return call.render_problem(422, "Nothing is chosen", "Choose what to undo in the log.")
    outlook = await _look_ahead(call, chosen)
    entries, built_on, others = await asyncio.gather(
        _read_entries(call, outlook.log_ids),
        _read_entries(call, outlook.built_on),
        find_memories(call, outlook.effects.adjusted[:MOST]),
    )
    return call.render(
        "undo.html",
        chosen=_list_fields(call.request.query_params),
        outlook=outlook,
        entries=entries,
        built_on=built_on,
        others=list(others.values()),
        most=MOST,
        back=read_way_back(call),
    )


async def _look_ahead(call: PageCall, chosen: Mapping[str, Any]) -> Outlook:
    named = chosen.get("log_ids", [])
    try:
        answer = await call.client.revert_many(**chosen, dry_run=True)
    except Conflict as problem:
        built_on = problem.problem.get("log_ids", [])
        obstacle = str(problem.problem.get("title") or problem.detail)
        return Outlook(log_ids=named, built_on=built_on, obstacle=obstacle)
    reverted = answer["reverted"]
    effects = find_effects(answer["results"])
    return Outlook(log_ids=reverted or named, effects=effects, is_done=not reverted)


async def _read_entries(call: PageCall, log_ids: Sequence[str]) -> list[Entry]:
    entries = await asyncio.gather(*map(call.client.get_log_entry, log_ids[:_SHOWN]))
    return list(entries)


def find_effects(results: Iterable[Mapping[str, Any]]) -> Effects:
    """Return what a dry run says of each memory; several operations may have touched one."""
    withdrawn: dict[str, Memory] = {}
    touched: dict[str, Memory] = {}
    adjusted: dict[str, None] = {}
    for result in results:
        withdrawn |= {gone["id"]: gone for gone in result["superseded"]}
        adjusted |= dict.fromkeys(result["adjusted"])
        if memory := result["memory"]:
            touched[memory["id"]] = memory
    believed = {one: memory for one, memory in touched.items() if memory["status"] != "reverted"}
    return Effects(
        withdrawn=[memory for one, memory in withdrawn.items() if one not in believed],
        believed=list(believed.values()),
        adjusted=[one for one in adjusted if one not in withdrawn | touched],
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
    if chosen:
        chosen["cascade"] = fields.get("cascade") == "1"
    return chosen


def _list_fields(fields: ImmutableMultiDict[str, str]) -> list[tuple[str, str]]:
    """Return the choice as fields of a form."""
    chosen = []
    for name in ("log_id", "capture_id", "sweep_id", "cascade"):
        for value in fields.getlist(name)[:MOST]:
            chosen.append((name, value))
    return chosen


def read_way_back(call: PageCall) -> str:
    """Return the page of the console that the viewer came from, without its parameters."""
    path = call.parameters.get("back", "/ui/log")
    return path if OWN_PATH.fullmatch(path) else "/ui/log"
