"""What was said in a session, and the facts that are read from it."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.fact import Kind

# The lines around a context that is handed out for a prompt. What stands between them is ours, and
# is never read as something new.
CONTEXT_BEGINS = "[memory context begins]"
CONTEXT_ENDS = "[memory context ends]"
# Begins the line that stands in a message for a part that is no text, or too long.
LEFT_OUT = "[left out: "


class Role(StrEnum):
    """Who speaks: only what a user says becomes a fact about the user."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session.

    `id` is the caller's name for it, unique in the session; None if the caller gave none. `name` is
    the name of the speaker. `at` is the moment at which it was said, aware and in UTC.
    """

    role: Role
    content: str
    at: datetime
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim part of a turn: the place of the turn in the call, and a half-open span in it."""

    turn: int
    start: int
    end: int

    def overlaps(self, other: "Quote") -> bool:
        return self.turn == other.turn and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that was read from talk, in words that can be understood without the talk.

    `quotes` are the words that it rests on. The first is the user's own. `is_note` is True if the
    user wants it to be remembered, in these words. A standing instruction to the assistant is a
    preference.
    """

    text: str
    quotes: tuple[Quote, ...]
    is_note: bool = False
    kind: Kind = Kind.FACT


class SkipReason(StrEnum):
    """Why a part of the talk becomes no fact."""

    EVENT = "event"
    QUESTION = "question"
    WISH = "wish"
    QUOTATION = "quotation"
    SMALL_TALK = "small_talk"
    CODE = "code"
    TABLE = "table"
    LOG = "log"
    REQUEST = "request"
    ASSISTANT = "assistant"
    OTHER_ROLE = "other_role"
    REPEATED_CONTEXT = "repeated_context"
    UNSUPPORTED = "unsupported"
    UNCLEAR_PRONOUN = "unclear_pronoun"
    REDACTED = "redacted"
    LEFT_OUT = "left_out"
    NOT_PERSONAL = "not_personal"
    NO_STATEMENT = "no_statement"
    LANGUAGE_NOT_READ = "language_not_read"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of a turn that became no fact, and the reason."""

    quote: Quote
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was read from some turns. Every sentence of theirs is in one of the two."""

    statements: tuple[Statement, ...]
    skipped: tuple[Skipped, ...]

    def drop(self, dropped: AbstractSet[Statement], reason: SkipReason) -> "Extraction":
        """Return the extraction with these statements among what was skipped."""
        left = tuple(statement for statement in self.statements if statement not in dropped)
        skipped = [Skipped(each.quotes[0], reason) for each in self.statements if each in dropped]
        return Extraction(left, (*self.skipped, *skipped))
