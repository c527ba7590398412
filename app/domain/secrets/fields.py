"""The texts of a request, each in its field."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Fields of free text, in which a mark may take a secret's place. The others name or identify
# something: two of them would become the same.
_FREE_TEXT = frozenset({"content", "value", "details", "reason", "note", "name"})
# No request that is taken is nested so deep.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class TextField:
    """A text and its place: `container[index]`, or the index itself where `is_index`.

    `label` is the word that the caller gives the value, if any: the name of a detail, the key of a
    slot.
    """

    path: str
    container: Any
    index: Any
    text: str
    label: str | None
    is_free_text: bool
    is_index: bool = False


def list_text_fields(request: Any) -> Iterator[TextField]:
    """Yield the texts and numbers of parsed JSON. They may be replaced in their containers."""
    layers: list[tuple[Any, str, bool, bool, int]] = [(request, "", False, False, 0)]
    while layers:
        container, path, is_free, in_details, depth = layers.pop()
        if depth > _DEEPEST:
            continue
        is_object = isinstance(container, dict)
        pairs = container.items() if is_object else enumerate(container)
        for index, value in list(pairs):
            place = f"{path}.{index}".lstrip(".") if is_object else f"{path}[{index}]"
            is_text = is_free or (is_object and index in _FREE_TEXT)
            if in_details and is_object:
                yield TextField(path, container, index, index, None, False, is_index=True)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if isinstance(value, dict | list):
                within = in_details or index == "details"
                layers.append((value, place, is_text, within, depth + 1))
            elif isinstance(value, str) or (in_details and is_number):
                label = _find_label(container, index, path) if is_text else None
                yield TextField(place, container, index, str(value), label, is_text)


def _find_label(container: Any, index: Any, path: str) -> str | None:
    """Return the name of a detail, which that of its list is too, or the key beside a value."""
    if isinstance(container, list):
        return path.rpartition(".")[2]
    if index == "value":
        return str(container.get("key") or "") or None
    return str(index) if index not in _FREE_TEXT else None
