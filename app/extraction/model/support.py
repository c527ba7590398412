"""Checking that a fact of the model rests on words that were said."""

import re
from collections.abc import Iterable, Sequence

from app.domain.talk import Quote, Role, Statement, Turn
from app.domain.text import fold
from app.extraction.model.answer import AnswerFact, QuotedTurn

MAX_FACT = 1_000
STEM = 4

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_COMMON_STARTS = frozenset("the my our we an this there it he she they user".split())


def find_support(
    fact: AnswerFact, turns: Sequence[Turn], places: Sequence[int]
) -> Statement | None:
    """Return the fact as a statement with its quotes; None if it is not supported.

    `places[n - 1]` is the place of turn number n. A fact is supported if its quote stands verbatim
    in a turn of the user, if its proposal stands verbatim in the assistant's last turn before, and
    if it brings in no number and no name of its own.
    """
    quote = _find_quote(fact.quote, turns, places, Role.USER)
    if quote is None or len(fact.text) > MAX_FACT:
        return None
    quotes = [quote]
    if fact.proposal is not None:
        proposal = _find_quote(fact.proposal, turns, places, Role.ASSISTANT)
        if proposal is None or proposal.turn != _find_last_assistant(turns, quote.turn):
            return None
        quotes.append(proposal)
    words = " ".join(read_quote(each, turns) for each in quotes)
    shown = " ".join(_read_texts(turns, places))
    if _brings_in_more(fact.text, words, shown):
        return None
    return Statement(fact.text, tuple(quotes))


def read_quote(quote: Quote, turns: Sequence[Turn]) -> str:
    """Return the words of a quote."""
    return turns[quote.turn].content[quote.start : quote.end]


def _find_quote(
    quoted: QuotedTurn, turns: Sequence[Turn], places: Sequence[int], role: Role
) -> Quote | None:
    place = places[quoted.number - 1]
    turn = turns[place]
    if turn.role is not role or not _WORD.search(quoted.words):
        return None
    start = turn.content.find(quoted.words)
    return None if start < 0 else Quote(place, start, start + len(quoted.words))


def _find_last_assistant(turns: Sequence[Turn], before: int) -> int | None:
    for place in range(before - 1, -1, -1):
        if turns[place].role is Role.ASSISTANT:
            return place
    return None


def _read_texts(turns: Sequence[Turn], places: Sequence[int]) -> Iterable[str]:
    return (turns[place].content for place in places)


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
