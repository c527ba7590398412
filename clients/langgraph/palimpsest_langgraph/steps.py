"""What the store does, as steps that yield calls: the same for both clients."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from palimpsest_client import Conflict, NotFound
from palimpsest_client.documents import (
    PACKED,
    Steps,
    collect_memories,
    find_memory,
    is_storable,
    list_versions,
    retract_documents,
    unpack_value,
    write_documents,
)
from palimpsest_langgraph.filters import (
    check_filter,
    choose_namespaces,
    find_common_prefix,
    find_contained,
    passes_filter,
)
from palimpsest_langgraph.items import (
    INDEXED,
    ItemVersion,
    build_document,
    build_item,
    build_search_item,
    build_slot,
    build_version,
    filter_prefix,
    read_namespace,
    read_time,
    read_ttl,
)

Found = TypeVar("Found")

MAX_HITS = 1_000  # of one search
# A read moves the end of an item only if a tenth of its life has passed: each move is logged.
_WORTH_MOVING = 0.9


class TooManyToFilter(ValueError):
    """The service ranks no further, and what it ranked holds too few items that pass a filter."""


def run_operations(ops: Iterable[Op], fields: Sequence[str], *, is_past: bool) -> Steps[Any]:
    """Return the results of the operations, in order.

    As in LangGraph's own stores, reads see what was before the batch, and of several puts under one
    key the last one is carried out.
    """
    results: list[Result] = []
    puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
    for op in ops:
        validate_op_namespace(op)
        if isinstance(op, PutOp):
            puts[op.namespace, op.key] = op
            results.append(None)
        else:
            results.append((yield from _read(op, is_past=is_past)))
    yield from _write(list(puts.values()), fields)
    return results


def _read(op: Op, *, is_past: bool) -> Steps[Any]:
    if isinstance(op, ListNamespacesOp):
        return (yield from _list_namespaces(op))
    if not isinstance(op, GetOp | SearchOp):
        raise TypeError(f"Unknown operation: {type(op).__name__}")
    read = _get(op) if isinstance(op, GetOp) else _search(op)
    memories, result = yield from read
    if op.refresh_ttl and not is_past:
        yield from _refresh(memories)
    return result


# --- reads --------------------------------------------------------------------------------------


def _get(op: GetOp) -> Steps[tuple[list[Any], Item | None]]:
    memory = yield from find_memory(**build_slot(op.namespace, op.key))
    return ([memory], build_item(memory)) if memory else ([], None)


def _search(op: SearchOp) -> Steps[tuple[list[Any], list[SearchItem]]]:
    check_filter(op.filter)
    if op.query and op.query.strip():
        hits = yield from _rank(op)
        shown = hits[op.offset : op.offset + op.limit]
        found = [build_search_item(hit["memory"], _get_similarity(hit)) for hit in shown]
        return [hit["memory"] for hit in shown], found
    memories = yield from _list_newest(op)
    return memories, [build_search_item(memory) for memory in memories]


def _list_newest(op: SearchOp) -> Steps[list[Any]]:
    most = op.offset + op.limit

    def pick(memory: Any) -> Any:
        return memory if passes_filter(unpack_value(memory["details"]), op.filter) else None

    memories: list[Any] = []
    for filters in _list_filters(op):
        if "details" in filters:
            filters["details"] = json.dumps(filters["details"])
        memories += yield from collect_memories(filters, pick, most=most)
    memories.sort(key=lambda memory: (memory["created_at"], memory["id"]), reverse=True)
    return memories[op.offset : most]


def _list_filters(op: SearchOp) -> list[dict[str, Any]]:
    """Return the service's filters that leave every item that passes, each under one of them.

    The service compares values as they are in JSON; those that stand as parts are read all.
    """
    filters, contained = filter_prefix(op.namespace_prefix), find_contained(op.filter)
    if not contained or not is_storable(contained):
        return [filters]
    return [filters | {"details": details} for details in (contained, PACKED)]


def _rank(op: SearchOp) -> Steps[list[Any]]:
    """Return the hits that pass the filter, nearest first: at least as many as the operation shows.

    Of hits that are about as near, the service puts the newest first; LangGraph's stores put the
    nearest first.
    """
    hits: list[Any] = []
    for filters in _list_filters(op):
        hits += yield from _rank_under(filters, op)
    return sorted(hits, key=_get_similarity, reverse=True)


def _get_similarity(hit: Any) -> float:
    """Return the cosine of a hit, which can be compared with those of other searches."""
    similarity: float = hit["scores"]["vector"]
    return similarity


def _rank_under(filters: dict[str, Any], op: SearchOp) -> Steps[list[Any]]:
    """Return hits that pass the filter. So many are read that enough pass."""
    filters["tags_all"] = [*filters.get("tags_all", ()), INDEXED]
    most = op.offset + op.limit
    size = min(MAX_HITS, most * 4 if op.filter else most)
    while True:
        answer = yield _search_call(op.query, filters, size)
        hits = [hit for hit in answer["results"] if _passes(hit, op)]
        has_more = answer["truncated"] or len(answer["results"]) == size
        if len(hits) >= most or not has_more:
            return hits
        if size == MAX_HITS or answer["truncated"]:
            raise TooManyToFilter(
                f"Only the best {len(answer['results'])} items of {op.namespace_prefix} are "
                f"ranked, and {len(hits)} of them pass; {most} are needed. Name a longer "
                "namespace, ask for fewer, or search without a query."
            )
        size = min(MAX_HITS, size * 4)


def _search_call(query: str | None, filters: Mapping[str, Any], size: int) -> Any:
    return lambda client: client.search(query, **filters, mode="vector", limit=size)


def _passes(hit: Mapping[str, Any], op: SearchOp) -> bool:
    return passes_filter(unpack_value(hit["memory"]["details"]), op.filter)


def _list_namespaces(op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
    filters = filter_prefix(find_common_prefix(op))
    namespaces = yield from collect_memories(filters, read_namespace)
    return choose_namespaces(set(namespaces), op)


def list_history(namespace: Sequence[str], key: str) -> Steps[list[ItemVersion]]:
    versions = yield from list_versions(**build_slot(namespace, key))
    return [build_version(memory) for memory in versions]


# --- writes -------------------------------------------------------------------------------------


def _write(puts: Sequence[PutOp], fields: Sequence[str]) -> Steps[None]:
    stored = [op for op in puts if op.value is not None]
    memories = yield from write_documents([build_document(op, fields) for op in stored])
    for memory in memories:
        yield from _end_in_time(memory, read_time(memory["valid_from"]))
    for op in puts:
        if op.value is None:
            yield from retract_documents(**build_slot(op.namespace, op.key))


def _refresh(memories: Iterable[Any]) -> Steps[None]:
    """Begin the lives of the items anew, because they were read."""
    for memory in memories:
        ttl, until = read_ttl(memory), memory["valid_until"]
        if ttl is None or until is None:
            continue
        now = datetime.now(read_time(until).tzinfo)
        if read_time(until) - now < timedelta(minutes=ttl * _WORTH_MOVING):
            yield from _end_in_time(memory, now)


def _end_in_time(memory: Any, start: datetime) -> Steps[None]:
    """State the end of an item that has a time to live.

    A store with a stated end would cover the version before it, which would then hold again; a
    correction states an end and brings nothing back.
    """
    ttl = read_ttl(memory)
    if ttl is None:
        return
    until = start + timedelta(minutes=ttl)
    try:
        yield lambda client: client.amend(memory["id"], valid_until=until)
    except (Conflict, NotFound):
        return  # Somebody has deleted it in the meantime.
