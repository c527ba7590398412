"""The clause around a phrase of time: its words, its tense and its verb."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.dates.names import EASTER_DAYS, FEASTS, MONTHS, WEEKDAYS
from app.domain.dates.phrase_kinds import Phrase
from app.domain.dates.scan import get_low, get_word, skip_low
from app.domain.dates.verb_groups import (
    COORDINATORS,
    NO_VERB,
    SUBJECTS,
    Tense,
    VerbGroup,
    list_verbs,
)
from app.domain.dates.words import Word, WordKind


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause of a phrase: the half-open place of its words, and its verb.

    `is_subordinate` is True behind words such as "which", "because" and "when". `is_later` is True
    if another clause with a verb of its own stands before it in the sentence. `is_verb_behind` is
    True if the verb stands behind the phrase. `sentence` is the half-open place of the sentence.
    """

    first: int
    end: int
    verb: VerbGroup
    is_subordinate: bool
    is_later: bool
    is_verb_behind: bool
    sentence: tuple[int, int]

    @property
    def tense(self) -> Tense:
        return self.verb.tense


# A clause is read so far and no farther, which keeps the work linear in the text.
_WINDOW = 40
_SENTENCE_ENDS = frozenset(".!?;\n")
_SUBORDINATORS = frozenset(
    """
    which who whom whose that because when while if unless although though whereas where as cos cuz
    coz until before after whenever once
    """.split()
)
_ONLY_BEFORE_SUBJECTS = frozenset("as until before after once".split())
_POSSESSIVES = frozenset("my our his her their".split())


def find_clause(words: Sequence[Word], phrase: Phrase) -> Clause:
    """Return the clause that the phrase stands in."""
    sentence = _skip_announcement(words, phrase, _find_sentence(words, phrase))
    first, is_subordinate = _find_first(words, sentence[0], phrase.first)
    end = _find_end(words, phrase.end, sentence[1])
    verb = _find_verb_before(words, first, phrase.first)
    behind = NO_VERB if verb.tense is not Tense.NONE else _find_verb_behind(words, phrase.end, end)
    is_later = first > sentence[0] and bool(list_verbs(words, sentence[0], first))
    return Clause(
        first,
        end,
        verb if verb.tense is not Tense.NONE else behind,
        is_subordinate,
        is_later,
        behind.tense is not Tense.NONE,
        sentence,
    )


def _find_sentence(words: Sequence[Word], phrase: Phrase) -> tuple[int, int]:
    first = phrase.first
    while first > max(0, phrase.first - _WINDOW) and not is_sentence_end(words, first - 1):
        first -= 1
    end = phrase.end
    while end < min(len(words), phrase.end + _WINDOW) and not is_sentence_end(words, end):
        end += 1
    return first, end


def _skip_announcement(
    words: Sequence[Word], phrase: Phrase, sentence: tuple[int, int]
) -> tuple[int, int]:
    """Return the sentence without its "please note that" or "just so you know"."""
    first, end = sentence
    is_courtesy = get_low(words, skip_low(words, first, "just")) == "so"
    for at in range(first + 1, phrase.first):
        low, before = get_low(words, at), get_low(words, at - 1)
        is_announced = before in _ANNOUNCING or (
            before == "you" and get_low(words, at - 2) in _INFORMING
        )
        if low == "that" and is_announced:
            return at + 1, end
        if is_courtesy and low in (",", ":") and "you" in {w.low for w in words[first:at]}:
            return at + 1, end
    return sentence


_ANNOUNCING = frozenset("announce note confirm mention add remember reminder know notice".split())
_INFORMING = frozenset("inform remind tell notify advise".split())


def is_sentence_end(words: Sequence[Word], place: int) -> bool:
    """Return True for a mark that ends a sentence, other than the dot of "Dr." and "St."."""
    low = get_low(words, place)
    if low not in _SENTENCE_ENDS:
        return False
    is_inside = place + 1 < len(words) and words[place].end == words[place + 1].start
    is_short = low == "." and get_low(words, place - 1) in _ABBREVIATIONS
    return not is_short and not (is_inside and get_word(words, place + 1).kind is not WordKind.MARK)


_ABBREVIATIONS = frozenset("dr mr mrs ms st prof jr sr no approx e g i vs etc inc ltd co".split())


def _find_first(words: Sequence[Word], start: int, place: int) -> tuple[int, bool]:
    """Return the first place of the clause before a phrase, and True if it is subordinate."""
    comma = None
    for at in range(place - 1, start - 1, -1):
        low = get_low(words, at)
        if low in _SUBORDINATORS and _opens_clause(words, at, start):
            return (at + 1, True) if comma is None else (comma + 1, False)
        is_boundary = low in COORDINATORS or low in (",", ":", "—", "–")
        if is_boundary and (_has_subject(words, at + 1) or _has_name(words, at)):
            return at + 1, False
        if low in COORDINATORS and at == place - 1 and at > start:
            return place, False
        if low == "," and comma is None:
            comma = at
    return start, False


def _opens_clause(words: Sequence[Word], place: int, start: int) -> bool:
    low = get_low(words, place)
    following = get_low(words, place + 1)
    if low == "that":
        return place > start
    if low in _ONLY_BEFORE_SUBJECTS:
        is_named = low in ("after", "before", "once") and _is_name(words, place + 1)
        return is_named or following in SUBJECTS or following in _POSSESSIVES
    return following != "of"


def _is_name(words: Sequence[Word], place: int) -> bool:
    """Return True for the "Napoleon" of "after Napoleon took over", but not for "June"."""
    word = get_word(words, place)
    is_date = word.low in MONTHS or word.low in WEEKDAYS or word.low in _FEAST_WORDS
    return word.is_capitalised and not is_date


_FEAST_WORDS = frozenset(name[0] for name in (*FEASTS, *EASTER_DAYS))


def _has_subject(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return low in SUBJECTS or low in _POSSESSIVES


def _has_name(words: Sequence[Word], place: int) -> bool:
    """Return True for ", and Anna", which opens a clause of its own."""
    is_both = get_low(words, place) in COORDINATORS and get_low(words, place - 1) == ","
    return is_both and get_word(words, place + 1).is_capitalised


def _find_end(words: Sequence[Word], place: int, last: int) -> int:
    for at in range(place, last):
        low = get_low(words, at)
        if low in _SUBORDINATORS and _opens_clause(words, at, place - 1):
            return at
        is_boundary = low in COORDINATORS or (low == "," and at > place)
        if is_boundary and _has_subject(words, at + 1):
            return at
    return last


def _find_verb_before(words: Sequence[Word], first: int, end: int) -> VerbGroup:
    """Return the last verb of those words; one that follows an auxiliary counts for both."""
    groups = list_verbs(words, first, end)
    return groups[-1] if groups else NO_VERB


def _find_verb_behind(words: Sequence[Word], place: int, end: int) -> VerbGroup:
    """Return the first verb behind a phrase, up to the next comma."""
    first = place + (get_low(words, place) == ",")
    last = first
    while last < end and get_low(words, last) != ",":
        last += 1
    groups = list_verbs(words, first, last)
    return groups[0] if groups else NO_VERB
