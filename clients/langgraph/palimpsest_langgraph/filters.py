"""Conditions on the values of items and on namespaces, as LangGraph's own stores read them."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.store.base import ListNamespacesOp, MatchCondition

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
# Up to here, a float and an integer that are equal are the same number in JSON too.
_MOST_EXACT = 2**53
_OPERATORS = ("$eq", "$ne", *_ORDERS)


def check_filter(condition: Mapping[str, Any] | None) -> None:
    """Raise ValueError, with words, for what cannot be answered."""
    for name, wanted in (condition or {}).items():
        if name.startswith("$"):
            raise ValueError(
                f"Filter {name} is not supported: conditions on fields are joined by and; ask "
                "once for each alternative."
            )
        if isinstance(wanted, Mapping):
            _check_operators(name, wanted)


def _check_operators(name: str, wanted: Mapping[str, Any]) -> None:
    for word, operand in wanted.items():
        if not word.startswith("$"):
            continue
        if word not in _OPERATORS:
            known = ", ".join(_OPERATORS)
            raise ValueError(f"Operator {word} of field {name!r} is not supported: use {known}.")
        if word in _ORDERS and not (_is_number(operand) or isinstance(operand, str)):
            raise ValueError(f"{word} of field {name!r} compares with a number or a text.")


def find_contained(condition: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what every value that passes contains, so that the service may look for it."""
    contained = {name: _find_one(wanted) for name, wanted in (condition or {}).items()}
    # A name with a period may be a path, and a field that is missing passes for None.
    return {
        name: one for name, one in contained.items() if "." not in name and one not in (None, {})
    }


def _find_one(wanted: Any) -> Any:
    """Return what a field that passes contains; None if the service compares it otherwise."""
    if isinstance(wanted, Mapping):
        if any(word.startswith("$") for word in wanted):
            return _find_one(wanted.get("$eq"))
        return find_contained(wanted)
    if isinstance(wanted, str) or (_is_number(wanted) and abs(wanted) <= _MOST_EXACT):
        return wanted
    return wanted if isinstance(wanted, bool) else None


def passes_filter(value: Mapping[str, Any], condition: Mapping[str, Any] | None) -> bool:
    conditions = (condition or {}).items()
    return all(_matches(_read_field(value, name), wanted) for name, wanted in conditions)


def _read_field(value: Any, name: str) -> Any:
    """Return a field, by its name or by a path of names such as `user.level`; None without it."""
    if not isinstance(value, Mapping):
        return None
    if name in value or "." not in name:
        return value.get(name)
    first, _, rest = name.partition(".")
    return _read_field(value.get(first), rest)


def _matches(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(word.startswith("$") for word in wanted):
            return all(_apply(word, value, operand) for word, operand in wanted.items())
        return isinstance(value, Mapping) and passes_filter(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(map(_matches, value, wanted))
        )
    # JSON has no true that equals 1.
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _apply(word: str, value: Any, operand: Any) -> bool:
    if word == "$eq":
        return _matches(value, operand)
    if word == "$ne":
        return not _matches(value, operand)
    are_numbers = _is_number(value) and _is_number(operand)
    are_texts = isinstance(value, str) and isinstance(operand, str)
    return (are_numbers or are_texts) and _ORDERS[word](value, operand)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- namespaces ---------------------------------------------------------------------------------


def find_common_prefix(op: ListNamespacesOp) -> tuple[str, ...]:
    """Return the labels with which every namespace that matches begins."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = list(condition.path)
            return tuple(path[: path.index("*")] if "*" in path else path)
    return ()


def choose_namespaces(
    namespaces: set[tuple[str, ...]], op: ListNamespacesOp
) -> list[tuple[str, ...]]:
    """Return the namespaces that match, cut to the depth, in order."""
    conditions = op.match_conditions or ()
    matching = {
        namespace[: op.max_depth]
        for namespace in namespaces
        if all(_matches_path(namespace, condition) for condition in conditions)
    }
    return sorted(matching)[op.offset : op.offset + op.limit]


def _matches_path(namespace: Sequence[str], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
