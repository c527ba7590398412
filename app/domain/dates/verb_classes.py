"""Tells clauses of a state, of a change and of a change to come apart."""

from collections.abc import Sequence
from itertools import pairwise

from app.domain.dates import verbs
from app.domain.dates.clauses import Clause
from app.domain.dates.scan import get_low, get_word
from app.domain.dates.verb_groups import Tense, VerbGroup, is_participle
from app.domain.dates.words import Word


def has_any(words: Sequence[Word], clause: Clause, chosen: frozenset[str]) -> bool:
    """Return True if the clause has any of those words."""
    return any(word.low in chosen for word in words[clause.first : clause.end])


def is_state_verb(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True if the verb tells of a lasting state: "lived", "was a nurse", "was closed"."""
    low = get_low(words, verb.head)
    if verb.is_being and is_participle(words, verb.head):
        return low in verbs.STATE_PARTICIPLES or low in verbs.STRETCHED_PARTICIPLES
    if low in verbs.STATES or low in verbs.STATE_PARTICIPLES or low == "used":
        return True
    return verb.is_being


def is_core_state_verb(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True if the verb tells of a state and of nothing else: "lived", but not "ran"."""
    low = get_low(words, verb.head)
    if low in verbs.CORE_STATES:
        return True
    is_busy = low.endswith("ing")
    is_copula = verb.is_being and not is_participle(words, verb.head) and not is_busy
    return is_copula or (verb.is_being and low in verbs.STATE_PARTICIPLES)


def is_being_clause(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I'm in Rome", "she is closed", and a note such as "Away"."""
    if clause.tense is Tense.NONE:
        return any(
            word.low in verbs.STATE_OPENERS for word in words[clause.first : clause.first + 5]
        )
    return clause.verb.is_being or get_low(words, clause.verb.head).startswith("stay")


def is_present_state(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I'm in Rome", "she is working" and "Off sick"."""
    if clause.tense is Tense.NONE:
        return get_low(words, clause.first) in verbs.STATE_OPENERS
    if clause.tense is not Tense.PRESENT or not clause.verb.is_being:
        return clause.tense is Tense.PROGRESSIVE
    head = clause.verb.head
    is_state = get_low(words, head) in verbs.STATE_PARTICIPLES or is_personal(words, clause)
    return is_state or not is_participle(words, head)


_PLACES = frozenset("in on at off away out abroad home working staying living covering".split())


def is_coming_state(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I'm on leave" and "I'll be in Oslo", said of a time to come."""
    head = clause.verb.head
    is_place = get_low(words, head) in _PLACES or get_low(words, head + 1) in _PLACES
    if is_leaving_for(words, clause):
        return False
    return clause.verb.is_being and is_place and is_personal(words, clause)


def is_leaving_for(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I'm off to Rome", which tells of the journey."""
    lows = [word.low for word in words[clause.first : clause.end]]
    return any(pair in (("off", "to"), ("away", "to")) for pair in pairwise(lows))


def is_coming_change(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I take over the team", said of a time to come."""
    low, following = get_low(words, clause.verb.head), get_low(words, clause.verb.head + 1)
    if low not in verbs.COMING_CHANGES_OF_THINGS and not is_personal(words, clause):
        return False
    behind = verbs.COMING_CHANGES.get(low)
    if behind is None or clause.tense is Tense.MODAL:
        return False
    return not behind or following in behind


_PEOPLE = frozenset(
    """
    i you he she we they im ive user wife husband son daughter brother sister mum mom dad mother
    father partner boss manager niece nephew friend flatmate roommate colleague hes shes team
    """.split()
)


# First words of a sentence that are no person's name.
_NO_NAMES = frozenset(
    """
    it this that term school work training class uni practice service boarding registration
    enrolment treatment production filming construction testing trading voting lent ramadan
    rehearsals lessons classes lectures sales
    """.split()
)


def is_personal(words: Sequence[Word], clause: Clause) -> bool:
    """Return True if the subject of the clause is a person."""
    for place in range(clause.first, clause.end):
        word = words[place]
        if word.low in _PEOPLE:
            return True
        if word.is_capitalised and place > clause.first and place < clause.verb.first:
            return True
    first = get_word(words, clause.first)
    if first.low in _NO_NAMES:
        return False
    return first.is_capitalised and clause.verb.first == clause.first + 1
