"""What a reader makes of a file: facts with the dates of their product, and what was left out."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

MOST_CHARACTERS = 16_000  # of a content
_MOST_OF_WORD = 500
_FIRST_MILLISECOND = (
    1e11  # larger numbers count milliseconds: as seconds they name a year above 5000
)


class UnreadableFile(Exception):
    """The file cannot be read; the message says what it is, without a subject."""


class UnreadableRecord(Exception):
    """A record cannot become a fact; the message is the reason."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a file that is not stored."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class SourceFact:
    """A fact of another product.

    `origin` names it in that product, the same in each export. `learned_at` is when that product
    learned it, and `end_learned_at` when it learned of the end. Facts of one `chain` replace each
    other by their starts. `owner` is whose memory it is.
    """

    line: int
    origin: str
    content: str
    learned_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    end_learned_at: datetime | None = None
    said_at: datetime | None = None
    chain: str | None = None
    owner: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: messages with `id`, `role`, `content` and `at`, in their order.

    The service reads the facts in it, as of any conversation.
    """

    line: int
    session_id: str
    messages: list[dict[str, Any]]


@dataclass(slots=True)
class Reading:
    """What a file holds for this service. `notes` are sentences about what it cannot carry."""

    facts: list[SourceFact] = field(default_factory=list)
    talks: list[Talk] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.facts) + len(self.left_out)

    def leave_out(self, line: int, reason: str) -> None:
        self.left_out.append(LeftOut(line, reason))

    @contextmanager
    def leave_out_unreadable(self, line: int, name: str) -> Iterator[None]:
        """Leave out a record, by its line and name, if it turns out to be unreadable."""
        try:
            yield
        except UnreadableRecord as problem:
            self.leave_out(line, f"{name}: {problem}")

    def add_talk(self, talk: Talk) -> None:
        """Add a conversation without the messages that are too long, which are left out."""
        messages = []
        for message in talk.messages:
            with self.leave_out_unreadable(talk.line, f"message {message['id']}"):
                messages.append(message | {"content": check_text(message["content"].strip())})
        if messages := [message for message in messages if message["content"]]:
            self.talks.append(Talk(talk.line, talk.session_id, messages))


# --- reading fields ------------------------------------------------------------------------------


def read_text(record: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that holds a text. Raises UnreadableRecord."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return check_text(value.strip())
    raise UnreadableRecord(f"it has no {' or '.join(names)}")


def check_text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise UnreadableRecord(f"its text has {len(text):,} of at most {MOST_CHARACTERS:,} letters")
    return text


def read_time(record: Mapping[str, Any], *names: str) -> datetime | None:
    """Return the first of these fields that holds a time, in UTC.

    A time without a zone is taken for UTC. Raises UnreadableRecord.
    """
    name = next((name for name in names if record.get(name) not in (None, "")), None)
    if name is None:
        return None
    value: Any = record[name]
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(
                value / 1000 if value > _FIRST_MILLISECOND else value, UTC
            )
        time = datetime.fromisoformat(value)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise UnreadableRecord(f"its {name} is no time: {value!r}") from None


def read_day_after(record: Mapping[str, Any], name: str) -> datetime | None:
    """Return the end of the named day. Raises UnreadableRecord."""
    day = read_time(record, name)
    if day is None:
        return None
    try:
        return day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    except OverflowError:
        raise UnreadableRecord(f"its {name} is the last day of the calendar") from None


def read_words(value: Any) -> list[str]:
    """Return the words of a list, or of a text with commas; those that are too long are cut."""
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple):
        return []
    texts = [str(word).strip()[:_MOST_OF_WORD] for word in words if word is not None]
    return [text for text in dict.fromkeys(texts) if text][:100]


def check_interval(start: datetime | None, end: datetime | None) -> None:
    """Raise UnreadableRecord if the end does not lie after the start."""
    if start and end and end <= start:
        raise UnreadableRecord(
            f"it ends ({end.isoformat()}) before it begins ({start.isoformat()})"
        )


def list_values(value: Any) -> list[Any]:
    """Return the values of a list, and none of anything else."""
    return value if isinstance(value, list) else []


def get_object(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object of a field, and an empty one if the field holds none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def pick_fields(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return those of the named fields that hold something."""
    return drop_empty({name: record.get(name) for name in names})


def drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
