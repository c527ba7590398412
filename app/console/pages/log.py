"""The log: who did what, one entry as a whole, and choosing what to undo."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.times import read_time

PAGE = 50
OPERATIONS = (
    "ADD",
    "UPDATE",
    "SUPERSEDE",
    "DELETE",
    "MERGE",
    "NOOP",
    "AMEND",
    "REVERT",
    "ERASE",
)
# What an operation did, in words.
DEEDS = {
    "ADD": "stored",
    "UPDATE": "stored in place of another",
    "SUPERSEDE": "put in place of another",
    "DELETE": "ended",
    "MERGE": "merged",
    "NOOP": "changed nothing",
    "AMEND": "corrected",
    "REVERT": "undid an operation",
    "ERASE": "erased",
}
JUDGES = ("caller", "rule", "signals", "judge", "model", "fallback", "sweep", "reviewer")
_FILTERS = ("operation", "decided_by", "actor", "session_id", "memory_id", "since", "until")


async def show(call: PageCall) -> Response:
    """Show the operations of an agent, newest first."""
    filters = {name: call.parameters[name] for name in _FILTERS if call.parameters.get(name)}
    times = {name: read_time(filters.get(name)) for name in ("since", "until")}
    wanted: dict[str, Any] = {**filters, **times}
    listed = call.client.list_log(limit=PAGE, cursor=call.parameters.get("cursor"), **wanted)
    page = await listed.page()
    return call.render(
        "log.html",
        entries=page["items"],
        contents=await read_contents(call, page["items"]),
        more=page["next_cursor"],
        filters=filters,
        operations=OPERATIONS,
        deeds=DEEDS,
        judges=JUDGES,
    )


async def read_contents(
    call: PageCall, entries: Iterable[Mapping[str, Any]]
) -> dict[str, str | None]:
    """Return the texts of the memories that operations were about, by their ids."""
    ids: set[str] = set()
    for entry in entries:
        ids.update(entry["source_memory_ids"][:2])
        ids.update(filter(None, [entry["target_memory_id"]]))
    if not ids:
        return {}
    listed = call.client.list_memories(ids=sorted(ids)[:200], include_superseded=True, limit=200)
    return {memory["id"]: memory["content"] for memory in (await listed.page())["items"]}


async def show_entry(call: PageCall) -> Response:
    """Show an operation with what it read and wrote."""
    entry = await call.client.get_log_entry(call.request.path_params["log_id"])
    return call.render(
        "log_entry.html",
        entry=entry,
        deeds=DEEDS,
        contents=await read_contents(call, [entry]),
        changes=list_changes(entry["before_state"], entry["after_state"]),
    )


Change = tuple[str, Any, Any]


def list_changes(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[tuple[str, list[Change]]]:
    """Return what is different in each memory: its id, and fields with the values of both."""
    old = {state["id"]: _flatten(state) for state in before if "id" in state}
    new = {state["id"]: _flatten(state) for state in after if "id" in state}
    listed = []
    for memory_id in dict.fromkeys([*old, *new]):
        one, other = old.get(memory_id, {}), new.get(memory_id, {})
        names = sorted(one.keys() | other.keys())
        changes = [(n, one.get(n), other.get(n)) for n in names if one.get(n) != other.get(n)]
        listed.append((memory_id, changes))
    return listed


def _flatten(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a state, those of its belief among them."""
    plain = {name: value for name, value in state.items() if name != "belief"}
    return plain | dict(state.get("belief") or {})
