"""Stays for a while: where somebody is until a stated end, in place of the home."""

from collections.abc import Iterator, Sequence

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.frame import Frame
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import Token
from app.domain.relation import Finding, Relation

_HOME = "residence"
_STAYING = frozenset(("stay", "lodge", "crash", "camp", "sleep"))
_LODGINGS = frozenset(
    """
    airbnb apartment bnb cabin campsite caravan cottage dorm flat guesthouse home hostel hotel
    house inn lodge motel place resort tent van villa
    """.split()
)
_HOSTS = frozenset(("friend", "colleague", "neighbour", "neighbor", "host"))


def find_stay(pair: Pair) -> Iterator[Finding]:
    """Yield a finding if the incoming text says where somebody stays whose home is stored."""
    home = find_home_of_guest(pair)
    if home is not None:
        explanation = f"a stay elsewhere, for a while; home: {home.spoken}"
        yield make_finding("stay", Relation.UPDATE, explanation)


def find_home_of_guest(pair: Pair) -> Frame | None:
    """Return the stored home of who stays elsewhere for a while, or None."""
    if not pair.incoming.is_temporary:
        return None
    guest = _find_guest(pair.new)
    for frame in find_frames(pair.old):
        if frame.attribute == _HOME and frame.is_assertion and frame.subject == guest:
            return frame
    return None


def _find_guest(reading: Reading) -> frozenset[str] | None:
    """Return who stays somewhere by these words: the user, if nobody or "we" is named."""
    if reading.is_question or len(reading.clauses) != 1:
        return None
    [clause] = reading.clauses
    if clause.negated or clause.modal:
        return None
    place = None  # of the verb that may say a stay: the last one of "am staying"
    for at, token in enumerate(clause.tokens):
        if token.norm in _STAYING or token.norm == "be":
            place = at
        elif place is not None:
            break
    if place is None or not _names_lodging(clause.tokens[place], clause.tokens[place + 1 :]):
        return None
    guest = collect_referents(clause.tokens[:place])
    return frozenset(("i",)) if guest <= {"we"} else guest


def _names_lodging(verb: Token, rest: Sequence[Token]) -> bool:
    """Return True for "in Lisbon", "at the Ibis", "at my mum's" and "with my sister"."""
    if not rest:
        return False
    preposition, words = rest[0].norm, rest[1:]
    norms = {token.norm for token in words}
    if preposition == "with":
        return verb.norm in _STAYING and bool(norms & (lexicon.KIN | _HOSTS))
    if preposition not in ("in", "at", "near"):
        return False
    if norms & _LODGINGS or any(token.kind == "possessive" for token in words):
        return True
    if preposition == "at" and words and words[0].norm not in lexicon.ARTICLES:
        return False
    return any(token.kind == "name" for token in words)
