"""An exclusive claim rules out the rest: "only speaks English" against "speaks Spanish"."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import find_place

_ONLY = frozenset(("only", "solely", "exclusively"))
# The things listed behind these verbs are of one kind, so that one thing can rule out another.
_CLOSED = ({"talk", "fluent"}, {"drink"}, {"eat"})
_CLOSED_VERBS = frozenset[str]().union(*_CLOSED)
_KIND_WORDS = frozenset("language fluently fluent native".split())


def find_exclusive_claim(pair: Pair) -> Iterator[Finding]:
    """Yield a contradiction if the incoming text excludes something that the stored one names."""
    if not _may_exclude(pair) or not _share_closed_verb(pair):
        return
    mine, other = _list_claimed_items(pair.new), _list_claimed_items(pair.old)
    if not mine or other <= mine or _is_restricted(pair.new) or _is_restricted(pair.old):
        return
    reason = f"only {' '.join(sorted(mine))}, not {' '.join(sorted(other - mine))}"
    yield make_finding("exclusive_claim", Relation.CONTRADICTION, reason)


def _may_exclude(pair: Pair) -> bool:
    """Return True if the incoming text alone claims exclusiveness and both are plain assertions."""
    new, old = pair.new, pair.old
    if not new.owner or not pair.same_owner or len(old.clauses) > 1:
        return False
    if not new.words & _ONLY or old.words & _ONLY:
        return False
    return not any((new.negated, new.modal, old.negated, old.modal))


def _share_closed_verb(pair: Pair) -> bool:
    return any(pair.new.words & verbs and pair.old.words & verbs for verbs in _CLOSED)


def _list_claimed_items(reading: Reading) -> frozenset[str]:
    """Return the names or things in the list."""
    items = reading.items - _CLOSED_VERBS - _KIND_WORDS - frozenset(reading.owner)
    return items - _ONLY - lexicon.QUANTIFIERS - lexicon.SUPPORT


def _is_restricted(reading: Reading) -> bool:
    """Return True if the text says when, where or with whom: something else may hold elsewhere."""
    tokens = reading.tokens
    verb = find_place(tokens, _CLOSED_VERBS)
    if verb is None:
        return False
    for place in range(verb, len(tokens)):
        token = tokens[place]
        if token.norm == "in":
            if place > verb and tokens[place - 1].norm not in ("fluent", "fluently"):
                return True
        elif token.kind == "word" and token.norm in lexicon.PREPOSITIONS:
            return True
    return False
