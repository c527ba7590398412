"""The wording in which judges read facts.

A dated fact is read without its dates, as told while it holds. To a judge, the words of a date, of
the future and of the past are reasons to see no change. So "I am moving to Lisbon on 1 February
2027" is read as "I moved to Lisbon", and "I lived in Bristol from 2015 to 2018" as "I live in
Bristol".

A stored fact is read with the spelling that the incoming one has for the same thing.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from app.classification.signals.lemma import reduce_to_lemma
from app.classification.signals.reading import parse_text
from app.classification.signals.token import Token
from app.classification.tenses import CHANGES, PASSIVE_CHANGES, STATES, Tense, VerbGroup, find_verb
from app.domain.dates.words import Word, split_words
from app.domain.fact import BaseFact

_PAST_BY_LEMMA = {reduce_to_lemma(past): past for past in sorted(CHANGES)}
_BE = {"i": "am", "you": "are", "we": "are", "they": "are"}
_NEGATIONS = frozenset(("not", "'t", "no", "never"))


def write_as_holding(fact: BaseFact) -> str:
    """Return the fact as its words would tell it while it holds, if words date it."""
    return fact.content if fact.dated_by is None else _write_as_holding(fact.undated_text)


@lru_cache(maxsize=1024)
def _write_as_holding(text: str) -> str:
    words = split_words(text)
    verb = find_verb(words)
    change = _write_verb(words, verb) if verb else None
    if verb is None or change is None:
        return text
    end, form = change
    before, after = text[: words[verb.first].start].rstrip(), text[words[end - 1].end :]
    return f"{before} {form}{after}"


def _write_verb(words: Sequence[Word], verb: VerbGroup) -> tuple[int, str] | None:
    """Return the end of the words of the verb that change, and the form in their place, if any."""
    lows = [word.low for word in words[verb.first : verb.head + 1]]
    if verb.first == 0 or not _NEGATIONS.isdisjoint(lows):
        return None
    subject, head = words[verb.first - 1].low, lows[-1]
    is_future, is_past = verb.tense is Tense.FUTURE, verb.tense is Tense.PAST
    change = _PAST_BY_LEMMA.get(reduce_to_lemma(head))
    if change and (is_future or verb.tense is Tense.PROGRESSIVE):
        return verb.head + 1, change
    if verb.is_being and (is_future or (is_past and head not in PASSIVE_CHANGES)):
        last = lows.index("be") if is_future else 0
        return verb.first + last + 1, _BE.get(subject, "is")
    if is_future:
        return verb.head + 1, _inflect(head, subject)
    if is_past and head in STATES - CHANGES:
        return verb.head + 1, _inflect(reduce_to_lemma(head), subject)
    return None


def _inflect(verb: str, subject: str) -> str:
    """Return the verb in the present, as the subject wants it."""
    return verb if subject in _BE else f"{verb}s"


_PRESENT_THING = re.compile(
    r"(?P<owner>\b(?:my|our|your|his|her|its|their|the)|['’]s) (?P<adjective>current|present) "
    r"(?P<noun>[^\W\d_]{1,40})",
    re.IGNORECASE,
)


def spell_alike(incoming: str, stored: str) -> str:
    """Return the stored text with the spelling of the incoming one.

    Times of equal value are written alike: "9.30" as "09:30 am". And if the incoming text has "my
    current phone", the stored "my phone" becomes that too: it was the current one when it was told.
    """
    times = {token.norm: token.text for token in _list_times(incoming)}
    for token in _list_times(stored) if times else ():
        stored = stored.replace(token.text, times.get(token.norm, token.text))
    for thing in _PRESENT_THING.finditer(incoming):
        noun = reduce_to_lemma(thing["noun"].lower())
        same_owner = rf"{re.escape(thing['owner'])} (?=([^\W\d_]{{1,40}}))"
        for match in re.finditer(same_owner, stored, re.IGNORECASE):
            if reduce_to_lemma(match[1].lower()) == noun:
                stored = f"{stored[: match.end()]}{thing['adjective']} {stored[match.end() :]}"
                break
    return stored


def _list_times(text: str) -> list[Token]:
    return [token for token in parse_text(text).tokens if token.kind == "time"]
