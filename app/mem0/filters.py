"""The filters of mem0 as conditions on memories, and what a read of this service needs of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any

from app.api.times import parse_time
from app.mem0.owners import IDS, Unsupported

# A memory as a filter sees it: a list of values for each field, metadata as `metadata.KEY`.
Fields = Mapping[str, Sequence[Any]]
Test = Callable[[Fields], bool]

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
_SAME = ("eq", "ne", "in", "nin")
# The comparisons of each field. The first one is meant by a value alone.
_COMPARISONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(IDS, _SAME),
    **dict.fromkeys(("created_at", "updated_at"), ("eq", "ne", *_ORDERS)),
    "categories": ("in", "nin", "eq", "ne", "contains"),
    "memory_ids": ("in", "nin"),
    "keywords": ("icontains", "contains"),
    "metadata": (*_SAME, "contains", "icontains", *_ORDERS),
}


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition on a memory.

    Each memory that meets it has one of the `ids` by each name, the `details`, and one of
    `tags_any`. If it `is_exact`, each memory that has them meets it.
    """

    test: Test
    ids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    tags_any: tuple[str, ...] = ()
    is_exact: bool = False


def read_clause(filters: Mapping[str, Any]) -> Clause:
    """Return the condition that all of these filters hold. Raises Unsupported."""
    clauses: list[Clause] = []
    for name, value in filters.items():
        if name in ("AND", "OR", "NOT"):
            clauses.append(_read_group(name, value))
        elif name == "metadata" and isinstance(value, dict):
            for key, inner in value.items():
                clauses += _read_field(name, f"metadata.{key}", inner)
        elif name in _COMPARISONS and name != "metadata":
            clauses += [] if value is None else _read_field(name, name, value)
        else:
            raise Unsupported(
                f"The filter {name} is not supported: filter by ids, categories, metadata, "
                "created_at, updated_at, keywords or memory_ids."
            )
    return _join_all(clauses)


def _read_group(name: str, value: Any) -> Clause:
    members = value if isinstance(value, list) else [value]
    if not all(isinstance(member, dict) for member in members):
        raise Unsupported(f"{name} must be a list of filters.")
    clauses = [read_clause(member) for member in members]
    if name == "AND" or (name == "OR" and len(clauses) == 1):
        return _join_all(clauses)
    if name == "NOT":
        return Clause(lambda memory: not any(clause.test(memory) for clause in clauses))
    ids: dict[str, frozenset[str]] = {}
    for each in IDS:
        if all(each in clause.ids for clause in clauses):
            ids[each] = frozenset().union(*(clause.ids[each] for clause in clauses))
    return Clause(lambda memory: any(clause.test(memory) for clause in clauses), ids)


def _join_all(clauses: Sequence[Clause]) -> Clause:
    ids: dict[str, frozenset[str]] = {}
    details: dict[str, Any] = {}
    for clause in clauses:
        for name, values in clause.ids.items():
            ids[name] = ids.get(name, values) & values
        details = {**clause.details, **details}
    lists = [clause.tags_any for clause in clauses if clause.tags_any]
    agree = all(ids.values()) and all(
        clause.details.items() <= details.items() for clause in clauses
    )
    return Clause(
        lambda memory: all(clause.test(memory) for clause in clauses),
        ids,
        details,
        tags_any=lists[0] if lists else (),
        is_exact=agree and len(lists) < 2 and all(clause.is_exact for clause in clauses),
    )


def _read_field(kind: str, name: str, value: Any) -> list[Clause]:
    """Return the conditions on a field, which is a value or has a value for each comparison."""
    by_default = "in" if isinstance(value, list) else _COMPARISONS[kind][0]
    clauses: list[Clause] = []
    for operator, wanted in [*value.items()] if isinstance(value, dict) else [(by_default, value)]:
        if operator not in _COMPARISONS[kind]:
            words = ", ".join(_COMPARISONS[kind])
            raise Unsupported(f"{operator} of {name} is not supported: {words} are.")
        values = wanted if isinstance(wanted, list) else [wanted]
        if not values or not all(isinstance(each, str | int | float) for each in values):
            raise Unsupported(f"The filter {name} must be a text, a number or true, or a list.")
        clauses.append(_read_comparison(kind, name, operator, values))
    return clauses


def _read_comparison(kind: str, name: str, operator: str, values: list[Any]) -> Clause:
    if kind in ("created_at", "updated_at"):
        values = [_read_time(name, each) for each in values]
    elif kind != "metadata":
        values = [str(each) for each in values]
    if kind == "categories" and operator == "contains":
        operator = "eq"
    compare = _build_comparison(operator, values)
    clause = Clause(lambda memory: compare(memory.get(name, ())))
    if operator not in ("eq", "in") or "*" in values:
        return clause
    if kind in IDS:
        return Clause(clause.test, ids={name: frozenset(values)}, is_exact=len(values) == 1)
    if kind == "categories":
        return Clause(clause.test, tags_any=tuple(values), is_exact=True)
    if kind == "metadata" and len(values) == 1:
        key = name.removeprefix("metadata.")
        return Clause(clause.test, details={key: values[0]}, is_exact=True)
    return clause


def _read_time(name: str, value: Any) -> datetime:
    try:
        return parse_time(value)
    except ValueError as problem:
        raise Unsupported(f"The filter {name}: {problem}.") from None


def _build_comparison(operator: str, wanted: list[Any]) -> Callable[[Sequence[Any]], bool]:
    """Return whether the values of a field meet a comparison. Any value meets `*`."""
    if operator in _ORDERS:
        return lambda values: any(_is_ordered(operator, one, wanted[0]) for one in values)
    if operator == "contains":
        return lambda values: any(str(wanted[0]) in str(one) for one in values)
    if operator == "icontains":
        part = str(wanted[0]).casefold()
        return lambda values: any(part in str(one).casefold() for one in values)
    is_meant = operator in ("eq", "in")
    if "*" in wanted:
        return lambda values: bool(values) is is_meant
    return lambda values: any(one in wanted for one in values) is is_meant


def _is_ordered(operator: str, one: Any, other: Any) -> bool:
    """Return True if two numbers, texts or times stand in this order."""
    for kind in ((int, float), str, datetime):
        if isinstance(one, kind) and isinstance(other, kind):
            return _ORDERS[operator](one, other)
    return False
