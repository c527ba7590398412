"""Like and dislike flips on the same object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Clause, Reading, parse_text, select_content
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import Token, find_place

_TURNS = frozenset(("over", "than"))
_FEELING = lexicon.LIKING | lexicon.DISLIKING


@dataclass(frozen=True, slots=True)
class Feeling:
    """A feeling (1 or -1) about something, and who has it as far as the clause says so."""

    sign: int
    thing: frozenset[str]
    who: frozenset[str]


def find_liking(pair: Pair) -> Iterator[Finding]:
    """Yield a contradiction if a liking became a dislike or the other way round.

    The same feeling about the same thing is a duplicate.
    """
    if pair.new.owner != pair.old.owner:
        return
    for new in _find_feelings(pair.new):
        for old in _find_feelings(pair.old):
            if not pair.new.owner and new.who != old.who:
                continue
            finding = _compare_feelings(pair, new, old)
            if finding:
                yield finding
                return


def _compare_feelings(pair: Pair, new: Feeling, old: Feeling) -> Finding | None:
    if new.sign == old.sign:
        if not new.thing or new.thing != old.thing or not _says_only(pair, new.thing):
            return None
        reason = f"feels the same about {' '.join(sorted(new.thing))}"
        return make_finding("same_feeling", Relation.DUPLICATE, reason)
    negative, positive = (new, old) if new.sign < old.sign else (old, new)
    if not negative.thing or not negative.thing <= positive.thing:
        return None
    reason = f"feels otherwise about {' '.join(sorted(negative.thing))}"
    return make_finding("liking_flip", Relation.CONTRADICTION, reason)


def _says_only(pair: Pair, thing: frozenset[str]) -> bool:
    """Return True if neither text says more than the feeling."""
    for reading in (pair.new, pair.old):
        rest = reading.items - thing - _FEELING - frozenset(reading.owner)
        if len(reading.clauses) != 1 or rest:
            return False
    return True


def _find_feelings(reading: Reading) -> tuple[Feeling, ...]:
    return _find_feelings_of_text(reading.text)


@lru_cache(maxsize=4096)
def _find_feelings_of_text(text: str) -> tuple[Feeling, ...]:
    feelings: list[Feeling] = []
    for clause in parse_text(text).clauses:
        feelings.extend(_find_clause_feelings(clause))
    return tuple(feelings)


def _find_clause_feelings(clause: Clause) -> Iterator[Feeling]:
    tokens = clause.tokens
    cannot_stand = find_place(tokens, ("stand",)) if clause.negated else None
    if cannot_stand is not None:
        who = _content(tokens[:cannot_stand])
        yield Feeling(-1, _content(tokens[cannot_stand + 1 :]), who)
        return
    place = find_place(tokens, _FEELING)
    if place is None or clause.modal:
        return
    who = _content(tokens[:place])
    likes = tokens[place].norm in lexicon.LIKING
    sign = 1 if likes is not clause.negated else -1
    after = tokens[place + 1 :]
    turn = find_place(after, _TURNS)
    preferred = after if turn is None else after[:turn]
    if preferred:
        yield Feeling(sign, _content(preferred), who)
    if turn is not None and after[turn + 1 :]:
        yield Feeling(-sign, _content(after[turn + 1 :]), who)


def _content(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.norm for token in select_content(tokens))
