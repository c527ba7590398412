"""Names of memories and moments in stories. Dates are in UTC."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.domain.context import to_safe_line

MAX_QUOTED = 100
MAX_LISTED = 3


@dataclass(frozen=True, slots=True)
class MemoryNames:
    """Names memories by their texts in the story of the memory `about`."""

    texts: Mapping[UUID, str | None]
    about: UUID

    def name_memory(self, memory_id: UUID) -> str:
        if memory_id not in self.texts:
            return f"memory {memory_id}"
        text = self.texts[memory_id]
        return "an erased memory" if text is None else quote_text(text)

    def name_memories(self, ids: Iterable[UUID]) -> str:
        return join_names(list(map(self.name_memory, ids)))

    def find_safe_note(self, note: str | None, about: Iterable[UUID]) -> str | None:
        """Return a person's note, or None if one of these memories is erased: it may be quoted."""
        is_erased = any(self.texts.get(memory_id, "") is None for memory_id in about)
        return None if is_erased else note


def quote_text(text: str) -> str:
    """Return the text in quotation marks, on one line, cut after MAX_QUOTED characters."""
    line = to_safe_line(text)
    if len(line) > MAX_QUOTED:
        line = line[: MAX_QUOTED - 1] + "…"
    return f"“{line}”"


def join_names(names: Sequence[str]) -> str:
    """Return the names as a list in words, with the number of those after MAX_LISTED."""
    shown = list(names[:MAX_LISTED])
    if len(names) > MAX_LISTED:
        shown.append(f"{len(names) - MAX_LISTED} more")
    if len(shown) < 2:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def format_moment(time: datetime) -> str:
    """Return the date if the time is midnight in UTC, else the time to the minute."""
    time = time.astimezone(UTC)
    is_midnight = time == time.replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{time:%Y-%m-%d}" if is_midnight else f"{time:%Y-%m-%d %H:%M} UTC"
