"""Negation polarity: what one text asserts, the other denies."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Clause, Reading
from app.classification.signals.token import Token
from app.domain.relation import Finding, Relation

_WEAK = frozenset(
    """
    all always every only just necessarily entirely completely fully everyone
    both than more less few
    """.split()
)
_FILLER = frozenset("ever any longer yet official officially".split())


def find_negation(pair: Pair) -> Iterator[Finding]:
    """Yield a contradiction if one text denies what the other asserts, or a special case of it."""
    for clause in pair.new.clauses:
        says_longer = any(token.norm == "longer" for token in clause.tokens)
        if clause.negated and not says_longer and _is_denial_of(clause, pair.new, pair.old):
            reason = f"denies what was said: {pair.old.text}"
            yield make_finding("negation", Relation.CONTRADICTION, reason)
            return
    clause = pair.old.clauses[0]
    if clause.negated and len(pair.old.clauses) == 1 and _is_denial_of(clause, pair.old, pair.new):
        reason = f"asserts what was denied: {pair.old.text}"
        yield make_finding("negation", Relation.CONTRADICTION, reason)


def _is_denial_of(clause: Clause, denying: Reading, asserting: Reading) -> bool:
    """Return True if the denial is as general as the assertion or more.

    "No fish" denies "smoked fish", not the other way round.
    """
    is_assertion = not any(each.negated for each in asserting.clauses)
    if not is_assertion or asserting.modal != clause.modal:
        return False
    if {token.norm for token in clause.tokens} & (_WEAK - asserting.words):
        return False
    owner = frozenset(clause.owner or denying.owner)
    if not owner <= asserting.items | frozenset(asserting.owner):
        return False
    about = clause.items - owner - _FILLER
    about -= _find_alternatives(clause, about - asserting.items, asserting)
    if not about or not about <= asserting.items or not _in_order(clause, asserting):
        return False
    rest = asserting.items - about - owner - lexicon.QUANTIFIERS
    says_more = any(asserting.kinds[item] != "number" for item in rest)
    if len(about) >= 2 or not says_more:
        return True
    # "Sleeps on the sofa" only says where, unlike "runs a bakery".
    pairs = pairwise(asserting.tokens)
    return any(a.norm in about and b.norm in lexicon.PREPOSITIONS for a, b in pairs)


def _find_alternatives(
    clause: Clause, missing: frozenset[str], asserting: Reading
) -> frozenset[str]:
    """Return the words that may be left out of a denial of several things.

    Somebody who has no "awards or prizes" has no awards.
    """
    for i, token in enumerate(clause.tokens):
        if token.norm == "or":
            before = _take_phrase_words(clause.tokens[:i][::-1])
            after = _take_phrase_words(clause.tokens[i + 1 :])
            is_before = missing <= before and after & asserting.items
            if is_before or (missing <= after and before & asserting.items):
                return missing
    return frozenset()


def _take_phrase_words(tokens: Sequence[Token]) -> frozenset[str]:
    """The words up to the next preposition or mark."""
    stops = lexicon.PREPOSITIONS | {"any", "have"}
    run = takewhile(lambda token: token.kind != "mark" and token.norm not in stops, tokens)
    return frozenset(t.norm for t in run)


def _in_order(clause: Clause, asserting: Reading) -> bool:
    shared = clause.items & asserting.items
    mine = [
        t.norm
        for t in clause.tokens
        if t.norm in shared
        and (t.kind == "name" or t.is_value or t.norm not in lexicon.FUNCTION_WORDS)
    ]
    return mine == [i for i in asserting.order if i in shared]
