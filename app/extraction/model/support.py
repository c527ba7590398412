"""Checking that a fact of the model rests on words that were said."""

import re
from collections.abc import Sequence

from app.domain.talk import Extraction, Quote, Role, SkipReason, Statement, Turn
from app.domain.text import fold
from app.extraction.model.answer import AnswerFact
from app.extraction.model.prompt import SHOWN_ROLES

MAX_FACT = 1_000
STEM = 4

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_FRAMES = (SkipReason.QUOTATION, SkipReason.CODE, SkipReason.TABLE, SkipReason.LOG)
_COMMON_STARTS = frozenset("the my our we an this there it he she they user".split())


def find_support(
    fact: AnswerFact, turns: Sequence[Turn], places: Sequence[int]
) -> Statement | None:
    """Return the fact as a statement with its quotes; None if it is not supported.

    `places[n - 1]` is the place of turn number n. A fact is supported if its quote stands verbatim
    in a turn of the user, if its proposal stands verbatim in the assistant's last turn before, and
    if it brings in no number and no name of its own.
    """
    quote = _find_quote(fact.quote.words, turns, places[fact.quote.number - 1], Role.USER)
    if quote is None or len(fact.text) > MAX_FACT:
        return None
    quotes = [quote]
    if fact.proposal is not None:
        last = _find_last_assistant(turns, quote.turn)
        proposal = _find_quote(fact.proposal, turns, last, Role.ASSISTANT)
        if proposal is None:
            return None
        quotes.append(proposal)
    words = " ".join(read_quote(each, turns) for each in quotes)
    shown = " ".join(turn.content for turn in turns if turn.role in SHOWN_ROLES)
    if _brings_in_more(fact.text, words, shown):
        return None
    return Statement(fact.text, tuple(quotes), kind=fact.kind)


def drop_framed(extraction: Extraction, by_rules: Extraction) -> Extraction:
    """Return the model's extraction without what it took from quotations and pasted blocks.

    `by_rules` is what the rules make of the same turns: they see such frames by their form.
    """
    for reason in _FRAMES:
        frames = [part.quote for part in by_rules.skipped if part.reason is reason]
        framed = {
            statement
            for statement in extraction.statements
            if any(_contains(frame, statement.quotes[0]) for frame in frames)
        }
        extraction = extraction.drop(framed, reason)
    return extraction


def _contains(frame: Quote, quote: Quote) -> bool:
    return frame.turn == quote.turn and frame.start <= quote.start and quote.end <= frame.end


def read_quote(quote: Quote, turns: Sequence[Turn]) -> str:
    """Return the words of a quote."""
    return turns[quote.turn].content[quote.start : quote.end]


def _find_quote(words: str, turns: Sequence[Turn], place: int | None, role: Role) -> Quote | None:
    if place is None or turns[place].role is not role or not _WORD.search(words):
        return None
    start = turns[place].content.find(words)
    return None if start < 0 else Quote(place, start, start + len(words))


def _find_last_assistant(turns: Sequence[Turn], before: int) -> int | None:
    for place in range(before - 1, -1, -1):
        if turns[place].role is Role.ASSISTANT:
            return place
    return None


def _brings_in_more(fact: str, quoted: str, shown: str) -> bool:
    """Return True if the fact has a number or name of its own, or no word of its quotes.

    Numbers must stand in the quotes. A name may come from any turn that the model saw, because it
    may replace a pronoun.
    """
    if not set(_NUMBER.findall(fact)) <= set(_NUMBER.findall(quoted)):
        return True
    names = {fold(name) for name in _CAPITALISED.findall(fact)} - _COMMON_STARTS
    folded = fold(shown)
    if any(name not in folded for name in names):
        return True
    return not (_list_stems(fact) & _list_stems(quoted))


def _list_stems(text: str) -> set[str]:
    """Return the first letters of each word: "working" and "works" begin alike."""
    return {word[:STEM] for word in _WORD.findall(fold(text))}
