"""Like and dislike flips on the same object."""

from collections.abc import Iterator
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Clause, Reading, parse_text, select_content
from app.classification.signals.relation import Finding, Relation

_TURNS = frozenset(("over", "than"))


def find_liking(pair: Pair) -> Iterator[Finding]:
    """CONTRADICTION where what was liked is now disliked, or the other way round."""
    if pair.new.owner != pair.old.owner:
        return
    for sign, thing, who in _find_feelings(pair.new):
        for other_sign, other, other_who in _find_feelings(pair.old):
            if not pair.new.owner and who != other_who:
                continue
            negative, positive = (thing, other) if sign < other_sign else (other, thing)
            if sign != other_sign and negative and negative <= positive:
                yield make_finding(
                    "liking_flip",
                    Relation.CONTRADICTION,
                    f"feels otherwise about {' '.join(sorted(negative))}",
                )
                return
            if sign == other_sign and thing and thing == other and _says_only(pair, thing):
                yield make_finding(
                    "same_feeling",
                    Relation.DUPLICATE,
                    f"feels the same about {' '.join(sorted(thing))}",
                )
                return


def _says_only(pair: Pair, thing: frozenset[str]) -> bool:
    """Whether neither text says more than the feeling."""
    verbs = lexicon.LIKING | lexicon.DISLIKING
    return all(
        len(r.clauses) == 1 and r.items - thing - verbs - frozenset(r.owner) == frozenset()
        for r in (pair.new, pair.old)
    )


def _find_feelings(reading: Reading) -> tuple[tuple[int, frozenset[str], frozenset[str]], ...]:
    """What is felt (1 or -1), about what, and by whom as far as the clause says it."""
    return _find_feelings_of_text(reading.text)


@lru_cache(maxsize=4096)
def _find_feelings_of_text(text: str) -> tuple[tuple[int, frozenset[str], frozenset[str]], ...]:
    return tuple(
        feeling for clause in parse_text(text).clauses for feeling in _find_clause_feelings(clause)
    )


def _find_clause_feelings(clause: Clause) -> Iterator[tuple[int, frozenset[str], frozenset[str]]]:
    place = next(
        (
            i
            for i, t in enumerate(clause.tokens)
            if t.norm in lexicon.LIKING or t.norm in lexicon.DISLIKING
        ),
        None,
    )
    stand = next(
        (i for i, t in enumerate(clause.tokens) if t.norm == "stand" and clause.negated), None
    )
    who = frozenset(
        t.norm for t in select_content(clause.tokens[: place if stand is None else stand])
    )
    if stand is not None:
        yield -1, frozenset(t.norm for t in select_content(clause.tokens[stand + 1 :])), who
        return
    if place is None or clause.modal:
        return
    sign = (1 if clause.tokens[place].norm in lexicon.LIKING else -1) * (
        -1 if clause.negated else 1
    )
    after = clause.tokens[place + 1 :]
    turn = next((i for i, t in enumerate(after) if t.norm in _TURNS), len(after))
    if after[:turn]:
        yield sign, frozenset(t.norm for t in select_content(after[:turn])), who
    if after[turn + 1 :]:
        yield -sign, frozenset(t.norm for t in select_content(after[turn + 1 :])), who
