"""Finding turns that state nothing, so that no model need be asked about them."""

from collections.abc import Sequence
from typing import Final

from app.domain.language import is_english
from app.domain.talk import Extraction, Role, SkipReason, Turn
from app.extraction.confirmations import find_confirmation_end

# Above this probability of being worth keeping, a text may state something.
MOST_OF_SMALL_TALK: Final = 0.0075

# Requests are none of these: "always answer in German" and "forget about the trip" are requests.
_REASONS = frozenset(
    {
        SkipReason.SMALL_TALK,
        SkipReason.QUESTION,
        SkipReason.NO_STATEMENT,
        SkipReason.CODE,
        SkipReason.TABLE,
        SkipReason.LOG,
        SkipReason.REPEATED_CONTEXT,
        SkipReason.REDACTED,
    }
)


def list_small_talk(turns: Sequence[Turn], first: int, read: Extraction) -> list[str] | None:
    """Return the texts of the users' turns from `first` on, if only small talk was found.

    `read` is what the network makes of the turns. The texts are the turns and their parts. None if
    a turn may state something: what is no small talk, an answer to the assistant, or no English.
    """
    texts: list[str] = []
    for place, turn in enumerate(turns):
        if place < first or turn.role is not Role.USER:
            continue
        if any(statement.quotes[0].turn == place for statement in read.statements):
            return None
        parts = [part for part in read.skipped if part.quote.turn == place]
        if any(part.reason not in _REASONS for part in parts):
            return None
        # The turn may answer or confirm what the assistant said just before.
        before = turns[place - 1] if place else None
        is_confirmation = find_confirmation_end(turn.content) > 0
        if before and before.role is Role.ASSISTANT and (is_confirmation or "?" in before.content):
            return None
        if not is_english(turn.content):
            return None
        spans = [turn.content[part.quote.start : part.quote.end] for part in parts]
        texts += [text.strip() for text in (turn.content, *spans) if text.strip()]
    return texts
