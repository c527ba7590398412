"""Which of several stored texts has a value that an incoming text names."""

from collections.abc import Sequence

from app.classification.signals.reading import parse_text

_NAMING = frozenset(("name", "code", "number", "version", "money", "percent", "time", "date"))


def find_only_bearer(stored: Sequence[str], incoming: str) -> int | None:
    """Return the place of the one stored text that has a name or number of the incoming text.

    Return None if no name or number of it stands in exactly one text, or if several texts have one.
    """
    named = _find_names(incoming)
    items = [_find_names(text) for text in stored]
    bearers: set[int] = set()
    for name in named:
        having = [place for place, names in enumerate(items) if name in names]
        if len(having) == 1:
            bearers.update(having)
    return bearers.pop() if len(bearers) == 1 else None


def _find_names(text: str) -> frozenset[str]:
    reading = parse_text(text)
    return frozenset(item for item in reading.items if reading.kinds.get(item) in _NAMING)
