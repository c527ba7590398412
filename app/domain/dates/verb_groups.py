"""Finds the finite verbs of a clause, with their auxiliaries and their tense."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.dates import verbs
from app.domain.dates.scan import get_low, get_word
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
class VerbGroup:
    """A verb with its auxiliaries. `first` and `head` are the places of the first and last word.

    `is_being` is True if a form of "be" is its last auxiliary or all of it.
    """

    tense: Tense
    first: int
    head: int
    is_being: bool = False


NO_VERB = VerbGroup(Tense.NONE, -1, -1)
COORDINATORS = frozenset("and but so or then n & yet".split())
SUBJECTS = frozenset("i you he she we they it im ive ill hes shes there weve theyre theyve".split())


def list_verbs(words: Sequence[Word], first: int, end: int) -> list[VerbGroup]:
    """Return the finite verbs of the words in order, each with its auxiliaries."""
    groups: list[VerbGroup] = []
    at = first
    while at < end:
        group = _read_verb_group(words, at, first, end)
        if group is None or (groups and not _is_free(words, group)):
            at += 1
            continue
        if groups and _is_plain(groups[-1]) and group.first == groups[-1].head + 1:
            groups.pop()
        groups.append(group)
        at = group.head + 1
    return groups


def _is_plain(group: VerbGroup) -> bool:
    return group.first == group.head


def _is_free(words: Sequence[Word], group: VerbGroup) -> bool:
    """Return False for the "called" of "I work at a company called Acme"."""
    is_bare_past = group.tense is Tense.PAST and _is_plain(group) and not group.is_being
    if not is_bare_past:
        return True
    before = group.first - 1
    while _is_adverb(words, before):
        before -= 1
    low = get_low(words, before)
    return low in COORDINATORS or low in SUBJECTS or low == ","


_ADVERBS = frozenset(
    """
    not never 't just only also always still already recently finally now currently temporarily
    again once later eventually actually really mostly probably definitely officially both all
    first since so very even soon
    """.split()
)


def _is_adverb(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return low in _ADVERBS or (low.endswith("ly") and low not in ("july", "family", "only"))


def _skip_adverbs(words: Sequence[Word], place: int, end: int) -> int:
    while place < end and _is_adverb(words, place):
        place += 1
    return place


def _read_verb_group(words: Sequence[Word], at: int, first: int, end: int) -> VerbGroup | None:
    low = get_low(words, at)
    head = _skip_adverbs(words, at + 1, end)
    head = head if head < end else at
    if low in verbs.FUTURE:
        return _read_behind_auxiliary(words, Tense.FUTURE, at, head, end)
    if low in verbs.HAVE:
        return _read_have(words, at, head, end)
    if low == "had":
        is_perfect = head > at and is_participle(words, head)
        return VerbGroup(
            Tense.PLUPERFECT if is_perfect else Tense.PAST, at, head if is_perfect else at
        )
    if low in verbs.SHORT_IS and (low != "its" or _opens_clause(words, at, first)):
        return _read_short_is(words, at, head, end)
    if low in verbs.AUXILIARIES_PRESENT:
        return _read_be(words, at, head, end)
    if low in verbs.AUXILIARIES_PAST:
        return VerbGroup(Tense.PAST, at, head, is_being=True)
    if low in verbs.DO_PAST:
        return VerbGroup(Tense.PAST, at, head)
    if low in verbs.DO_PRESENT:
        return VerbGroup(Tense.PRESENT, at, head)
    if low in verbs.MODALS and not get_word(words, at).is_capitalised:
        return _read_behind_auxiliary(words, Tense.MODAL, at, head, end)
    if low == "been" and at == first:
        return VerbGroup(Tense.PERFECT, at, head, is_being=True)
    if is_past_form(words, at, is_first=at == first):
        return VerbGroup(Tense.PAST, at, at)
    if _is_plain_present(words, at, first) or low in verbs.COMING_CHANGES_OF_OTHERS:
        return VerbGroup(Tense.PRESENT, at, at)
    return None


def _read_behind_auxiliary(
    words: Sequence[Word], tense: Tense, at: int, head: int, end: int
) -> VerbGroup:
    """Read "will be living": the head is "living"."""
    if get_low(words, head) != "be":
        return VerbGroup(tense, at, head)
    behind = _skip_adverbs(words, head + 1, end)
    is_verb = behind < end and (is_participle(words, behind) or _is_ing(words, behind))
    return VerbGroup(tense, at, behind if is_verb else head, is_being=True)


def _is_ing(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return low.endswith("ing") and len(low) > 4 and low not in _NO_ING


_NO_ING = frozenset("thing something anything nothing morning evening during string spring".split())


def _read_have(words: Sequence[Word], at: int, head: int, end: int) -> VerbGroup:
    """Read "have been living" as a perfect and "have got a car" as a present."""
    low = get_low(words, head)
    if low == "been":
        behind = _skip_adverbs(words, head + 1, end)
        return VerbGroup(Tense.PERFECT, at, behind if behind < end else head, is_being=True)
    if low == "got":
        following = get_low(words, head + 1)
        is_change = following in verbs.CHANGES_BEFORE["got"] and following != "my"
        return VerbGroup(Tense.PERFECT if is_change else Tense.PRESENT, at, head)
    if head > at and is_participle(words, head):
        return VerbGroup(Tense.PERFECT, at, head)
    return VerbGroup(Tense.PRESENT, at, at)


_IRREGULAR_PARTICIPLES = frozenset(
    """
    been born had done gone run made kept held led met put read sat set won lost built bought
    brought
    caught come become cut felt found got hurt known left let paid quit sold sent slept spent stood
    stuck taught thought told understood worn sung swum begun taken given written driven eaten
    broken chosen spoken stolen fallen forgotten hidden ridden risen shaken woken torn sworn drawn
    cast grown shown thrown flown blown beaten bitten frozen gotten proven seen shut laid fought
    shot
    """.split()
)


def is_participle(words: Sequence[Word], place: int) -> bool:
    """Return True for the form of a verb that stands behind "has" and "was"."""
    low = get_low(words, place)
    if low in _IRREGULAR_PARTICIPLES:
        return True
    return low.endswith("ed") and len(low) > 3 and low not in _NO_PAST


def _read_short_is(words: Sequence[Word], at: int, head: int, end: int) -> VerbGroup | None:
    """Read "she's been", "he's working" and "she's a nurse", but not "Anna's dog"."""
    low = get_low(words, head)
    if low in ("been", "got", "had") and head > at:
        return _read_have(words, at, head, end)
    if head > at and _is_ing(words, head):
        return _read_be(words, at, head, end)
    before = get_low(words, at - 1)
    if get_low(words, at) != "'s" or before in _BEFORE_SHORT_IS:
        return VerbGroup(Tense.PRESENT, at, head, is_being=True)
    if get_low(words, at + 1) in _BEHIND_SHORT_IS:
        return VerbGroup(Tense.PRESENT, at, head, is_being=True)
    return None


def _opens_clause(words: Sequence[Word], at: int, first: int) -> bool:
    """Return True for the "its" of "its closed", but not for the one of "moved its office"."""
    return at == first or get_low(words, at - 1) in (*COORDINATORS, ",")


_BEFORE_SHORT_IS = frozenset("he she it that there here who what everyone".split())
_BEHIND_SHORT_IS = frozenset(
    "in on off at a an the away out not still now currently closed also acting".split()
)


def _read_be(words: Sequence[Word], at: int, head: int, end: int) -> VerbGroup:
    if get_low(words, head) == "going" and get_low(words, head + 1) == "to":
        return _read_behind_auxiliary(words, Tense.FUTURE, at, min(head + 2, end - 1), end)
    if get_low(words, head) == "gonna":
        return _read_behind_auxiliary(words, Tense.FUTURE, at, min(head + 1, end - 1), end)
    if head > at and _is_ing(words, head):
        return VerbGroup(Tense.PROGRESSIVE, at, head, is_being=True)
    return VerbGroup(Tense.PRESENT, at, head, is_being=True)


_DETERMINERS = frozenset("a an the my our his her their your its this that these those".split())


def is_past_form(words: Sequence[Word], at: int, *, is_first: bool) -> bool:
    """Return True for a verb in the simple past, without an auxiliary."""
    word = get_word(words, at)
    if word.kind is not WordKind.WORD or get_low(words, at - 1) in _DETERMINERS:
        return False
    if word.is_capitalised and not is_first:
        return False
    low = word.low
    if low in verbs.STATE_OPENERS and not (is_first and low == "held"):
        is_active = (
            _stands_behind_subject(words, at)
            or get_low(words, at + 1) in _DETERMINERS
            or (low in verbs.CHANGES and _stands_behind_name(words, at))
        )
        return is_active and is_participle(words, at)
    if low in verbs.CHANGES or low in verbs.STATES or low in _PAST_FORMS:
        return not low.endswith("ing")
    if word.is_capitalised:
        return False
    return low.endswith("ed") and len(low) > 3 and low not in _NO_PAST


def _stands_behind_subject(words: Sequence[Word], place: int) -> bool:
    return get_low(words, place - 1) in _PRONOUNS or get_low(words, place - 1) == "and"


def _stands_behind_name(words: Sequence[Word], place: int) -> bool:
    """Return True for "Ms Falk retired in 2019", but not for "Ms Falk retired since 2019"."""
    is_name = get_word(words, place - 1).is_capitalised
    return is_name and get_low(words, place + 1) not in ("since", "for", "until")


_PRONOUNS = frozenset("i you he she we they".split())


def _is_plain_present(words: Sequence[Word], at: int, first: int) -> bool:
    """Return True for a verb in the simple present behind a pronoun: "I work", "she also works"."""
    before = at - 1
    while before > first and _is_adverb(words, before):
        before -= 1
    word = get_word(words, at)
    if before < first or word.kind is not WordKind.WORD or _is_adverb(words, at):
        return False
    subject = get_low(words, before)
    if subject in ("he", "she", "it"):
        return word.low.endswith("s")
    return subject in ("i", "you", "we", "they")


_NO_PAST = frozenset(
    "need indeed speed feed seed breed red bed hundred sacred naked wicked shed unemployed".split()
)
_PAST_FORMS = frozenset(
    """
    met saw ate drank came flew found felt heard made put said sat sent slept spent stood swam
    thought threw won wrote read rose told understood woke caught fought fell froze hid hurt knew
    laid lit shook shot stole struck quit bought sold built grew began
    """.split()
)
