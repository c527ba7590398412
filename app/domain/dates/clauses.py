"""The clause around a phrase of time: its words, its tense and its verb."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.dates import verbs
from app.domain.dates.phrases import Phrase
from app.domain.dates.reading import get_low, get_word
from app.domain.dates.words import Word, WordKind


class Tense(Enum):
    """The tense of the verb that a phrase of time belongs to."""

    PAST = auto()
    PLUPERFECT = auto()
    PERFECT = auto()
    PRESENT = auto()
    PROGRESSIVE = auto()
    FUTURE = auto()
    MODAL = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause of a phrase: the half-open place of its words, its tense, the place of its verb.

    `verb` is the place of the word that carries the meaning, None if no verb is known.
    `is_subordinate` is True behind words such as "which", "because" and "when".
    """

    first: int
    end: int
    tense: Tense
    verb: int | None
    is_subordinate: bool


# A clause is read so far and no farther, which keeps the work linear in the text.
_WINDOW = 40

_SENTENCE_ENDS = frozenset(".!?;:")
_SUBORDINATORS = frozenset(
    """
    which who whom whose that because when while if unless although though whereas where as
    """.split()
)
_COORDINATORS = frozenset("and but so or then".split())
_SUBJECTS = frozenset("i you he she we they it im ive there this that".split())


def find_clause(words: Sequence[Word], phrase: Phrase) -> Clause:
    """Return the clause that the phrase stands in."""
    first, is_subordinate = _find_first(words, phrase.first)
    end = _find_end(words, phrase.end)
    tense, verb = _find_tense(words, first, end, phrase)
    return Clause(first, end, tense, verb, is_subordinate)


def _is_sentence_end(words: Sequence[Word], place: int) -> bool:
    return get_low(words, place) in _SENTENCE_ENDS and get_low(words, place) != ""


def _find_first(words: Sequence[Word], place: int) -> tuple[int, bool]:
    for at in range(place - 1, max(-1, place - _WINDOW), -1):
        low = get_low(words, at)
        if _is_sentence_end(words, at):
            return at + 1, False
        if low in _SUBORDINATORS and _opens_clause(words, at):
            return at + 1, True
        if low in _COORDINATORS and _has_subject(words, at + 1):
            return at + 1, False
        if low == "," and _has_subject(words, at + 1):
            return at + 1, False
    return max(0, place - _WINDOW + 1), False


def _opens_clause(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    if low == "that":
        return get_low(words, place - 1) not in ("of", "in", "on", "at", "for", "with")
    if low == "as":
        return get_low(words, place + 1) in _SUBJECTS
    return True


def _has_subject(words: Sequence[Word], place: int) -> bool:
    return get_low(words, place) in _SUBJECTS or get_low(words, place) in (
        "my",
        "our",
        "his",
        "her",
        "their",
    )


def _find_end(words: Sequence[Word], place: int) -> int:
    last = min(len(words), place + _WINDOW)
    for at in range(place, last):
        low = get_low(words, at)
        if _is_sentence_end(words, at) or (low in _SUBORDINATORS and _opens_clause(words, at)):
            return at
        if low in _COORDINATORS and _has_subject(words, at + 1):
            return at
    return last


def _find_tense(
    words: Sequence[Word], first: int, end: int, phrase: Phrase
) -> tuple[Tense, int | None]:
    """Return the tense of the last verb before the phrase, else of the first one behind it."""
    before = _list_verbs(words, first, phrase.first)
    if before:
        return before[0]
    behind = _list_verbs(words, phrase.end, end)
    if behind:
        return behind[0]
    return Tense.NONE, None


def _list_verbs(words: Sequence[Word], first: int, end: int) -> list[tuple[Tense, int]]:
    """Return the verb groups of the words in order."""
    groups = []
    at = first
    while at < end:
        group = _read_verb_group(words, at, end, is_first=at == first)
        if group is None:
            at += 1
        else:
            groups.append((group[0], group[1]))
            at = group[1] + 1
    return groups


_ADVERBS = frozenset(
    """
    not never 't just only also always still already recently finally now currently temporarily
    actually been being really mostly probably definitely officially both all
    """.split()
)


def _skip_adverbs(words: Sequence[Word], place: int, end: int) -> int:
    while place < end and (
        get_low(words, place) in _ADVERBS or get_low(words, place).endswith("ly")
    ):
        place += 1
    return place


def _read_verb_group(
    words: Sequence[Word], at: int, end: int, *, is_first: bool
) -> tuple[Tense, int] | None:
    low = get_low(words, at)
    head = _skip_adverbs(words, at + 1, end)
    head = head if head < end else at
    if low in verbs.FUTURE:
        return Tense.FUTURE, head
    if low in verbs.HAVE:
        return (Tense.PERFECT, head) if _is_participle(words, head) else (Tense.PRESENT, at)
    if low == "had":
        return (
            (Tense.PLUPERFECT, head)
            if head > at and _is_participle(words, head)
            else (Tense.PAST, at)
        )
    if low == "'s":
        return _read_short_is(words, at, head)
    if low in verbs.AUXILIARIES_PRESENT:
        return _read_present(words, at, head)
    if low in verbs.AUXILIARIES_PAST or low in verbs.DO_PAST:
        return Tense.PAST, at if head == at else head
    if low in verbs.DO_PRESENT:
        return Tense.PRESENT, head
    if low in verbs.MODALS and not get_word(words, at).is_capitalised:
        return Tense.MODAL, head
    if _is_past_form(words, at, is_first=is_first):
        return Tense.PAST, at
    if is_first and low.endswith("ing"):
        return Tense.PROGRESSIVE, at
    return None


def _is_participle(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return (
        low.endswith(("ed", "en", "wn", "ing"))
        or low in verbs.CHANGES_PAST
        or low in verbs.STATES_PAST
        or low in _PARTICIPLES
        or get_low(words, place - 1) == "been"
    )


_PARTICIPLES = frozenset(
    """
    been had done gone run made kept held led met put read sat set won lost built bought brought
    caught come become cut felt found got hurt known left let lived paid quit sold sent slept spent
    stood stuck taught thought told understood worn sung swum begun
    """.split()
)


def _read_short_is(words: Sequence[Word], at: int, head: int) -> tuple[Tense, int] | None:
    """Read "she's been", "he's working" and "she's a nurse", but not "Anna's dog"."""
    before = get_low(words, at - 1)
    if get_low(words, head) in ("got",) or get_low(words, head - 1) == "been":
        return Tense.PERFECT, head
    if get_low(words, head).endswith("ing"):
        return Tense.PROGRESSIVE, head
    if before in ("he", "she", "it", "that", "there", "here", "who", "what"):
        return Tense.PRESENT, at
    if get_low(words, at + 1) in ("in", "on", "off", "at", "a", "an", "the", "away", "out", "not"):
        return Tense.PRESENT, at
    return None


def _read_present(words: Sequence[Word], at: int, head: int) -> tuple[Tense, int]:
    if get_low(words, head) == "going" and get_low(words, head + 1) == "to":
        return Tense.FUTURE, head + 2
    if head > at and get_low(words, head).endswith("ing"):
        return Tense.PROGRESSIVE, head
    if get_low(words, head) == "gonna":
        return Tense.FUTURE, head + 1
    return Tense.PRESENT, at if head == at else head


_DETERMINERS = frozenset("a an the my our his her their your its this that these those".split())


def _is_past_form(words: Sequence[Word], at: int, *, is_first: bool) -> bool:
    word = get_word(words, at)
    if word.kind is not WordKind.WORD or get_low(words, at - 1) in _DETERMINERS:
        return False
    if word.is_capitalised and not is_first:
        return False
    low = word.low
    if is_first and low in verbs.STATE_OPENERS:
        return False
    if low in verbs.CHANGES_PAST or low in verbs.STATES_PAST or low in _PAST_FORMS:
        return True
    return low.endswith("ed") and len(low) > 3 and low not in _NO_PAST


_NO_PAST = frozenset(
    "need indeed speed feed seed breed red bed hundred sacred naked wicked shed based".split()
)
_PAST_FORMS = frozenset(
    """
    met went saw ate drank came drove flew found felt heard made paid put said sang sat sent slept
    spent spoke stood swam taught thought threw won wrote read ran rode rose told understood woke
    caught fought fell froze hid hurt knew laid let lay lit shook shot stole struck
    """.split()
)
