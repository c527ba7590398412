"""The log: every operation, in plain words, and what it read and wrote."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from starlette.responses import Response

from app.console.memories import Memory, find_memories
from app.console.page_call import PageCall
from app.domain.relation import Operation

PAGE = 50
# The memories of a row that are shown by their texts.
_MOST_OTHERS = 3
_FILTERS = ("operation", "decided_by", "actor", "session_id", "memory_id")
_TIMES = ("since", "until")

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a memory before and after an operation; None if it had none."""

    field: str
    before: Any
    after: Any

    @property
    def is_one(self) -> bool:
        return bool(self.before != self.after)

    @property
    def is_time(self) -> bool:
        return self.field.endswith(("_at", "_from", "_until")) or self.field == "said_until"


async def show(call: PageCall) -> Response:
    """Show a page of the log, newest first."""
    filters = call.pick_parameters((*_FILTERS, *_TIMES))
    wanted: dict[str, Any] = {name: filters.get(name) for name in _FILTERS}
    wanted |= {name: call.read_time(name) for name in _TIMES}
    cursor = call.parameters.get("cursor")
    page = await call.client.list_log(limit=PAGE, cursor=cursor, **wanted).page()
    entries = page["items"]
    return call.render(
        "log.html",
        days=_group_by_day(entries),
        memories=await find_memories(call, _list_ids(entries)),
        more=page["next_cursor"],
        filters=filters,
        list_others=list_others,
        may_undo=call.may("review") and any(can_be_undone(entry) for entry in entries),
        can_be_undone=can_be_undone,
    )


async def show_entry(call: PageCall) -> Response:
    """Show one operation: what came in, what it changed, and who decided on what grounds."""
    entry = await call.client.get_log_entry(call.request.path_params["log_id"])
    states = list_states(entry)
    before = {state["id"] for state in entry["before_state"] if "id" in state}
    written = states.keys() - before
    return call.render(
        "log_entry.html",
        entry=entry,
        states=states,
        changes=list_changes(states),
        readable=_READABLE,
        written=written,
        memories=await find_memories(call, [*_list_ids([entry]), *states]),
        beyond=[state for state in entry["after_state"] if "id" not in state],
        list_others=list_others,
        write_json=_write_json,
        may_undo=call.may("review") and can_be_undone(entry),
    )


def _group_by_day(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Return the days of entries that are in order, each with the time of its first entry."""
    days = [list(day) for _, day in groupby(entries, key=lambda entry: entry["created_at"][:10])]
    return [(day[0]["created_at"], day) for day in days]


def can_be_undone(entry: Entry) -> bool:
    return entry["operation"] != Operation.ERASE and entry["reverted_by"] is None


def list_others(entry: Entry) -> list[str]:
    """Return the memories that an operation was about besides the one that it wrote."""
    others = [one for one in entry["source_memory_ids"] if one != entry["target_memory_id"]]
    return others[:_MOST_OTHERS]


def _list_ids(entries: Iterable[Entry]) -> list[str | None]:
    ids: list[str | None] = []
    for entry in entries:
        ids += [entry["target_memory_id"], *list_others(entry)]
    return ids


def list_states(entry: Entry) -> dict[str, list[Difference]]:
    """Return the fields of each memory before and after the operation, by its id."""
    before = _flatten_states(entry["before_state"])
    after = _flatten_states(entry["after_state"])
    for one in before.keys() & after.keys():
        # Only the state before an end has the text, which no operation changes.
        if "content" in before[one]:
            after[one].setdefault("content", before[one]["content"])
    ids = dict.fromkeys((*before, *after))
    return {one: _compare(before.get(one, {}), after.get(one, {})) for one in ids}


# The fields of a memory that say something to people.
_READABLE = {
    "valid_from": "true from",
    "valid_until": "true until",
    "void": "withdrawn",
    "kind": "kind",
    "tier": "tier",
    "value": "value",
    "importance": "importance",
    "trust": "trust",
}


def list_changes(states: Mapping[str, Sequence[Difference]]) -> dict[str, list[Difference]]:
    """Return the differences of each memory that say something to people, by its id."""
    return {
        memory_id: [field for field in fields if field.is_one and field.field in _READABLE]
        for memory_id, fields in states.items()
    }


def _flatten_states(states: Iterable[Memory]) -> dict[str, dict[str, Any]]:
    """Return the fields of each memory by its id, and those of what was believed of it."""
    memories = {}
    for state in states:
        if "id" in state:
            fields = dict(state)
            memory_id = fields.pop("id")
            belief = fields.pop("belief", None) or {}
            memories[memory_id] = fields | belief
    return memories


def _compare(before: Memory, after: Memory) -> list[Difference]:
    """Return the fields that either side has, those that differ first."""
    names = sorted({*before, *after})
    fields = []
    for name in names:
        field = Difference(name, before.get(name), after.get(name))
        if (field.before, field.after) != (None, None):
            fields.append(field)
    return sorted(fields, key=lambda field: not field.is_one)


def _write_json(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)
