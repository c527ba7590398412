"""Finds the first finite verb of a text, with its auxiliaries and its tense."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from app.domain.dates.scan import get_low, get_word
from app.domain.dates.words import Word, WordKind

# Verbs after which a new state holds, in the past: "I became vegan".
CHANGES: Final = frozenset(
    """
    moved switched became began started joined quit stopped retired resigned converted relocated
    transferred migrated upgraded downgraded adopted enrolled enlisted subscribed unsubscribed
    replaced married divorced separated settled emigrated immigrated ditched inherited rebranded
    commenced qualified swapped renamed reopened left changed went turned took gave got cut broke
    split signed lost dropped bought sold cancelled canceled opened hired promoted appointed fired
    banned installed had came weaned
    """.split()
)
# Participles that tell of a change behind "was": "she was promoted".
PASSIVE_CHANGES: Final = frozenset(
    """
    promoted hired appointed elected diagnosed laid fired transferred moved renamed banned suspended
    furloughed seconded adopted upgraded migrated reassigned demoted sacked dismissed
    redundant divorced discontinued married
    """.split()
)
# Past forms of verbs that tell of a lasting state or habit: "I lived in Bristol".
STATES: Final = frozenset(
    """
    lived worked studied stayed rented owned wore volunteered interned freelanced commuted smoked
    lodged boarded living working studying staying renting wearing
    served used ran led did spent lasted managed taught dated attended shared belonged played kept
    coached chaired commanded headed directed trained practised practiced cared represented hosted
    edited presided held spoke loved liked hated had drove rode took paid did sang covered supported
    """.split()
)


class Tense(Enum):
    """The tense of a verb, as far as it tells what holds from what held and what will hold."""

    PAST = auto()
    PROGRESSIVE = auto()
    FUTURE = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A verb with its auxiliaries. `first` and `head` are the places of the first and last word.

    `is_being` is True if a form of "be" is its last auxiliary or all of it.
    """

    tense: Tense
    first: int
    head: int
    is_being: bool = False


def find_verb(words: Sequence[Word]) -> VerbGroup | None:
    """Return the first finite verb, None if there is none."""
    groups = (_read_verb_group(words, place) for place in range(len(words)))
    return next(filter(None, groups), None)


_PRESENT_BE: Final = frozenset("am is are 'm 're im youre theyre ain isn aren".split())
_PAST_BE: Final = frozenset("was were wasn weren".split())
_SHORT_IS: Final = frozenset("'s hes shes its whos thats".split())
_FUTURE: Final = frozenset("will 'll shall won gonna".split())
_OTHER: Final = frozenset(
    """
    have has 've haven hasn ive weve youve theyve do does don doesn dont doesnt would could should
    might may can must couldn wouldn shouldn cannot 'd ought cant
    """.split()
)
_DID: Final = frozenset("did didn didnt".split())


def _read_verb_group(words: Sequence[Word], place: int) -> VerbGroup | None:
    low = get_low(words, place)
    behind = _skip_adverbs(words, place + 1)
    head = behind if behind < len(words) else place
    if low in _FUTURE:
        return _read_future(words, place, head)
    if low in _SHORT_IS:
        return _read_short_is(words, place, head)
    if low in _PRESENT_BE:
        return _read_be(words, place, head)
    if low in _PAST_BE:
        return VerbGroup(Tense.PAST, place, head, is_being=True)
    if low in _DID:
        return VerbGroup(Tense.PAST, place, head)
    if low in _OTHER and (low != "may" or not get_word(words, place).is_capitalised):
        return VerbGroup(Tense.OTHER, place, head)
    if low == "had":
        is_perfect = head > place and _is_participle(words, head)
        return VerbGroup(Tense.OTHER if is_perfect else Tense.PAST, place, place)
    if _is_past_form(words, place):
        return VerbGroup(Tense.PAST, place, place)
    return VerbGroup(Tense.OTHER, place, place) if _is_present(words, place) else None


_ADVERBS: Final = frozenset(
    """
    not never 't just only also always still already recently finally now currently temporarily
    again once later eventually actually really mostly probably definitely officially both all
    first since so very even soon
    """.split()
)


def _is_adverb(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return low in _ADVERBS or (low.endswith("ly") and low not in ("july", "family", "only"))


def _skip_adverbs(words: Sequence[Word], place: int) -> int:
    while _is_adverb(words, place):
        place += 1
    return place


def _read_future(words: Sequence[Word], place: int, head: int) -> VerbGroup:
    """Read "will be living": the head is "living"."""
    if get_low(words, head) != "be":
        return VerbGroup(Tense.FUTURE, place, head)
    behind = _skip_adverbs(words, head + 1)
    is_verb = _is_participle(words, behind) or _is_ing(words, behind)
    return VerbGroup(Tense.FUTURE, place, behind if is_verb else head, is_being=True)


_NO_ING: Final = frozenset(
    "thing something anything nothing morning evening during string spring".split()
)


def _is_ing(words: Sequence[Word], place: int) -> bool:
    low = get_low(words, place)
    return low.endswith("ing") and len(low) > 4 and low not in _NO_ING


_BEFORE_SHORT_IS: Final = frozenset("he she it that there here who what everyone".split())
_BEHIND_SHORT_IS: Final = frozenset(
    "in on off at a an the away out not still now currently closed also acting".split()
)


def _read_short_is(words: Sequence[Word], place: int, head: int) -> VerbGroup | None:
    """Read "he's working" and "she's a nurse", but not "Anna's dog" and "its office"."""
    low, following = get_low(words, place), get_low(words, head)
    if low == "its" and place > 0 and get_low(words, place - 1) not in (",", "and", "but"):
        return None
    if following in ("been", "got", "had"):
        return VerbGroup(Tense.OTHER, place, head)
    if _is_ing(words, head):
        return _read_be(words, place, head)
    is_verb = low != "'s" or get_low(words, place - 1) in _BEFORE_SHORT_IS
    is_verb = is_verb or get_low(words, place + 1) in _BEHIND_SHORT_IS
    return VerbGroup(Tense.OTHER, place, head, is_being=True) if is_verb else None


def _read_be(words: Sequence[Word], place: int, head: int) -> VerbGroup:
    following = get_low(words, head)
    if (following == "going" and get_low(words, head + 1) == "to") or following == "gonna":
        behind = head + 2 if following == "going" else head + 1
        return _read_future(words, place, min(behind, len(words) - 1))
    tense = Tense.PROGRESSIVE if _is_ing(words, head) else Tense.OTHER
    return VerbGroup(tense, place, head, is_being=True)


_NO_PAST: Final = frozenset(
    "need indeed speed feed seed breed red bed hundred sacred naked wicked shed unemployed".split()
)
_PAST_FORMS: Final = frozenset(
    """
    met saw ate drank came flew found felt heard made put said sat sent slept spent stood swam
    thought threw won wrote read rose told understood woke caught fought fell froze hid hurt knew
    laid lit shook shot stole struck quit bought sold built grew began
    """.split()
)
_PARTICIPLES: Final = frozenset(
    """
    been born had done gone run made kept held led met put read sat set won lost built bought
    brought caught come become cut felt found got hurt known left let paid quit sold sent slept
    spent stood stuck taught thought told understood worn sung swum begun taken given written driven
    eaten broken chosen spoken stolen fallen forgotten hidden ridden risen shaken woken torn sworn
    drawn cast grown shown thrown flown blown beaten bitten frozen gotten proven seen shut laid
    fought shot
    """.split()
)


def _is_participle(words: Sequence[Word], place: int) -> bool:
    """Return True for the form of a verb that stands behind "has" and "was"."""
    low = get_low(words, place)
    return low in _PARTICIPLES or (low.endswith("ed") and len(low) > 3 and low not in _NO_PAST)


_DETERMINERS: Final = frozenset(
    "a an the my our his her their your its this that these those".split()
)


def _is_past_form(words: Sequence[Word], place: int) -> bool:
    """Return True for a verb in the simple past, without an auxiliary."""
    word = get_word(words, place)
    if word.kind is not WordKind.WORD or get_low(words, place - 1) in _DETERMINERS:
        return False
    if word.is_capitalised and place > 0:
        return False
    low = word.low
    if low in CHANGES or low in STATES or low in _PAST_FORMS:
        return not low.endswith("ing")
    return not word.is_capitalised and low.endswith("ed") and len(low) > 3 and low not in _NO_PAST


def _is_present(words: Sequence[Word], place: int) -> bool:
    """Return True for a verb in the simple present behind a pronoun: "I work", "she also works"."""
    before = place - 1
    while before > 0 and _is_adverb(words, before):
        before -= 1
    word = get_word(words, place)
    if before < 0 or word.kind is not WordKind.WORD or _is_adverb(words, place):
        return False
    subject = get_low(words, before)
    if subject in ("he", "she", "it"):
        return word.low.endswith("s")
    return subject in ("i", "you", "we", "they")
