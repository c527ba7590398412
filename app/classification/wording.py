"""The wording in which judges read dated facts: without the dates, as told while they hold.

The dates are known. To a judge, the words of a date, of the future and of the past are reasons to
see no change. So "I am moving to Lisbon on 1 February 2027" is read as "I moved to Lisbon", and
"I lived in Bristol from 2015 to 2018" as "I live in Bristol".
"""

from collections.abc import Sequence
from functools import lru_cache

from app.classification.signals.lemma import reduce_to_lemma
from app.domain.dates import verbs
from app.domain.dates.verb_groups import Tense, VerbGroup, list_verbs
from app.domain.dates.words import Word, split_words
from app.domain.fact import BaseFact

_PAST_BY_LEMMA = {reduce_to_lemma(past): past for past in sorted(verbs.CHANGES)}
_BE = {"i": "am", "you": "are", "we": "are", "they": "are"}
_NEGATIONS = frozenset(("not", "'t", "no", "never"))


def tell_as_holding(fact: BaseFact) -> str:
    """Return the fact as its words would tell it while it holds, if words date it."""
    return fact.content if fact.dated_by is None else _tell_as_holding(fact.undated_text)


@lru_cache(maxsize=1024)
def _tell_as_holding(text: str) -> str:
    words = split_words(text)
    groups = list_verbs(words, 0, len(words))
    if not groups:
        return text
    first, end, told = _tell_verb(words, groups[0])
    if not told:
        return text
    before, after = text[: words[first].start].rstrip(), text[words[end - 1].end :]
    return f"{before} {told}{after}".lstrip()


def _tell_verb(words: Sequence[Word], verb: VerbGroup) -> tuple[int, int, str]:
    """Return the half-open place of the verb that is told otherwise, and how; "" if none is."""
    lows = [word.low for word in words[verb.first : verb.head + 1]]
    end, told = verb.head + 1, ""
    subject = words[verb.first - 1].low
    if verb.first == 0 or not _NEGATIONS.isdisjoint(lows):
        return verb.first, end, ""
    if verb.tense in (Tense.FUTURE, Tense.PROGRESSIVE):
        told = _PAST_BY_LEMMA.get(reduce_to_lemma(lows[-1]), "")
        if verb.tense is Tense.FUTURE and not told:
            if verb.is_being:
                end, told = verb.first + lows.index("be") + 1, _BE.get(subject, "is")
            else:
                told = _inflect(lows[-1], subject)
    elif verb.tense is Tense.PAST and lows[-1] not in verbs.PASSIVE_CHANGES:
        if verb.is_being:
            end, told = verb.first + 1, _BE.get(subject, "is")
        elif lows[-1] in verbs.STATES and lows[-1] not in verbs.CHANGES:
            told = _inflect(reduce_to_lemma(lows[-1]), subject)
    return verb.first, end, told


def _inflect(verb: str, subject: str) -> str:
    """Return the verb in the present, as the subject wants it."""
    return verb if subject in _BE else f"{verb}s"
