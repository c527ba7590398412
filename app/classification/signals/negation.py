"""Negation polarity: what one text asserts, the other denies."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Clause, Reading
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import Token

_WEAK = frozenset(
    "all always every only just necessarily entirely completely fully everyone both than more less few".split()
)
_FILLER = frozenset("ever any longer yet official officially".split())


def find_negation(pair: Pair) -> Iterator[Finding]:
    """CONTRADICTION where a clause denies something of which the other text asserts the same or a special case."""
    for clause in pair.new.clauses:
        if (
            clause.negated
            and "longer" not in {t.norm for t in clause.tokens}
            and _is_denial_of(clause, pair.new, pair.old)
        ):
            yield make_finding(
                "negation", Relation.CONTRADICTION, f"denies what was said: {pair.old.text}"
            )
            return
    clause = pair.old.clauses[0]
    if clause.negated and len(pair.old.clauses) == 1 and _is_denial_of(clause, pair.old, pair.new):
        yield make_finding(
            "negation", Relation.CONTRADICTION, f"asserts what was denied: {pair.old.text}"
        )


def _is_denial_of(clause: Clause, denying: Reading, asserting: Reading) -> bool:
    """Whether the denial is as general as the assertion or more: "no fish" denies "smoked fish", not the other way round."""
    owner = frozenset(clause.owner or denying.owner)
    about = clause.items - owner - _FILLER
    positive = asserting.clauses[0]
    if (
        positive.negated
        or any(c.negated for c in asserting.clauses)
        or positive.modal != clause.modal
    ):
        return False
    about -= _find_alternatives(clause, about - asserting.items, asserting)
    if (
        not about
        or not about <= asserting.items
        or not owner <= asserting.items | frozenset(asserting.owner)
    ):
        return False
    if {t.norm for t in clause.tokens} & _WEAK - asserting.words:
        return False
    left = {
        i
        for i in asserting.items - about - owner - lexicon.QUANTIFIERS
        if asserting.kinds[i] != "number"
    }
    return (len(about) >= 2 or not left or _is_followed_by_place(about, asserting)) and _in_order(
        clause, asserting
    )


def _is_followed_by_place(about: frozenset[str], asserting: Reading) -> bool:
    """Whether what follows the verb only says where or when: "sleeps on the sofa", not "runs a bakery"."""
    pairs = pairwise(asserting.tokens)
    return any(a.norm in about and b.norm in lexicon.PREPOSITIONS for a, b in pairs)


def _find_alternatives(
    clause: Clause, missing: frozenset[str], asserting: Reading
) -> frozenset[str]:
    """What may be left out of a denial of several things: who has no "awards or prizes" has no awards."""
    for i, token in enumerate(clause.tokens):
        if token.norm == "or":
            before, after = (
                _take_phrase_words(clause.tokens[:i][::-1]),
                _take_phrase_words(clause.tokens[i + 1 :]),
            )
            if (missing <= after and before & asserting.items) or (
                missing <= before and after & asserting.items
            ):
                return missing
    return frozenset()


def _take_phrase_words(tokens: Sequence[Token]) -> frozenset[str]:
    """The words up to the next preposition or mark."""
    run = takewhile(
        lambda t: (
            t.kind != "mark"
            and t.norm not in lexicon.PREPOSITIONS
            and t.norm not in ("any", "have")
        ),
        tokens,
    )
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
