"""Changes that name the old value: "from X to Y", "instead of X", "Y, not X", "replaced X with Y"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.domain.signals import lexicon
from app.domain.signals.finding import found
from app.domain.signals.frames import frames
from app.domain.signals.pair import Pair
from app.domain.signals.reading import content, read
from app.domain.signals.relation import Finding, Relation
from app.domain.signals.token import Token

_NAMES = {"not_but": "contrast"}
_LEADING = frozenset("lead own manage run head maintain coordinate owner lead manager head maintainer direct responsible".split())
_GENERIC = frozenset("use run be have own work live build keep".split())


@dataclass(frozen=True, slots=True)
class Change:
    """What was, and what is instead (may be empty)."""

    wording: str
    old: frozenset[str]
    new: frozenset[str]


def explicit_change(pair: Pair) -> Iterator[Finding]:
    """UPDATE of a stored text that holds the value said to have changed, and not the new one."""
    for change in changes_in(pair.new.text):
        if _hits(change, pair):
            yield found(_NAMES.get(change.wording, "explicit_change"), Relation.UPDATE, _told(change))
            return


def _told(change: Change) -> str:
    after = f" to {' '.join(sorted(change.new))}" if change.new else ""
    return f"{' '.join(sorted(change.old))} gave way{after}"


def _hits(change: Change, pair: Pair) -> bool:
    old = pair.old
    if not change.old <= old.items or (change.new and change.new <= old.items) or old.negated or old.modal:
        return False
    if any(f.value == change.old and f.single and f.subject in _subjects(pair) for f in frames(old)):
        return True
    if change.wording == "left_for":
        return False
    context = old.items - change.old - frozenset(old.owner)
    if change.wording == "taken_over":
        return bool(context & pair.new.items) and context - pair.new.items <= _LEADING
    told = (
        pair.new.items
        - change.old
        - change.new
        - frozenset(pair.new.owner)
        - lexicon.CHANGE_VERBS
        - lexicon.REPLACING_VERBS
        - lexicon.LIGHT_WORDS
    )
    if context - pair.new.items - _GENERIC and not pair.old.owner and change.wording != "not_but":
        return False
    if context - pair.new.items and told - old.items and not _is_contrast(change):
        return False
    return bool(context & pair.new.items) or (pair.same_owner and bool(old.owner) and len(context) <= 3 and not _is_event(pair))


def _subjects(pair: Pair) -> tuple[frozenset[str], ...]:
    """Whom the incoming text may speak of."""
    return (frozenset(pair.new.owner), *(f.subject for f in frames(pair.new)))


def _is_contrast(change: Change) -> bool:
    return change.wording == "not_but"


def _is_event(pair: Pair) -> bool:
    return any(
        t.norm in lexicon.EVENT_VERBS and t.norm not in ("use", t.text) and not t.text.endswith(("s", "ing")) for t in pair.old.tokens
    )


@lru_cache(maxsize=4096)
def changes_in(text: str) -> tuple[Change, ...]:
    """The changes that a text names."""
    reading = read(text)
    if reading.asks or reading.modal:
        return ()
    tokens = [t for t in reading.tokens if t.kind != "word" or t.norm not in lexicon.ARTICLES]
    return tuple(
        c
        for c in (
            *_from_to(tokens),
            *_instead_of(tokens),
            *_replaced(tokens),
            *_contrasted(tokens),
            *_taken_over(tokens),
            *_left_for(tokens),
        )
        if c.old and c.old != c.new
    )


def _span(tokens: Sequence[Token], start: int) -> frozenset[str]:
    end = start
    while end < len(tokens) and tokens[end].kind != "mark" and not (tokens[end].kind == "word" and tokens[end].norm in lexicon.SPAN_ENDS):
        end += 1
    return frozenset(t.norm for t in content(tokens[start:end]))


def _from_to(tokens: Sequence[Token]) -> Iterator[Change]:
    norms = [t.norm for t in tokens]
    verb = next((i for i, n in enumerate(norms) if n in lexicon.CHANGE_VERBS or n == "join"), None)
    if verb is None or "from" not in norms[verb:]:
        return
    start = norms.index("from", verb)
    to = next((i for i in range(len(norms)) if norms[i] in ("to", "into") and i > verb), None)
    if to is None:
        yield Change("from_to", _span(tokens, start + 1), frozenset())
    else:
        yield Change("from_to", _span(tokens, start + 1), _span(tokens, to + 1))


def _instead_of(tokens: Sequence[Token]) -> Iterator[Change]:
    norms = [t.norm for t in tokens]
    for words in (("instead", "of"), ("rather", "than"), ("in", "place", "of"), ("in", "lieu", "of")):
        for i in range(len(norms) - len(words)):
            if tuple(norms[i : i + len(words)]) == words:
                old = _span(tokens, i + len(words))
                yield Change("instead_of", old, frozenset(t.norm for t in content(tokens[:i])) - old)


def _replaced(tokens: Sequence[Token]) -> Iterator[Change]:
    norms = [t.norm for t in tokens]
    verb = next((i for i, n in enumerate(norms) if n in lexicon.REPLACING_VERBS), None)
    if verb is None or verb + 1 >= len(norms):
        return
    if norms[verb + 1] in ("by", "with") and verb:
        yield Change("replaced", frozenset(t.norm for t in content(tokens[:verb])), _span(tokens, verb + 2))
    elif any(n in ("with", "for", "by") for n in norms[verb:]):
        turn = next(i for i in range(verb, len(norms)) if norms[i] in ("with", "for", "by"))
        yield Change("replaced", _span(tokens, verb + 1), _span(tokens, turn + 1))
    elif norms[verb] == "replace":
        yield Change("replaced", _span(tokens, verb + 1), frozenset(t.norm for t in content(tokens[:verb])))


def _contrasted(tokens: Sequence[Token]) -> Iterator[Change]:
    """ "Y, not X"."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 1):
        denied = norms[i] == "not" and norms[i + 1] not in ("only", "just")
        if norms[i - 1] == "," and (denied or norms[i : i + 2] == ["no", "longer"]):
            start = i + 1 + (norms[i + 1] == "longer")
            old = _span(tokens, start + (start < len(norms) and norms[start] in lexicon.PREPOSITIONS))
            yield Change("not_but", old, frozenset(t.norm for t in content(tokens[:i])) - old)


def _taken_over(tokens: Sequence[Token]) -> Iterator[Change]:
    """ "Y took over the app from X"."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 2):
        if norms[i : i + 2] == ["take", "over"] and "from" in norms[i:]:
            yield Change("taken_over", _span(tokens, norms.index("from", i) + 1), frozenset(t.norm for t in content(tokens[:i])))


def _left_for(tokens: Sequence[Token]) -> Iterator[Change]:
    """ "Left X for Y", both by name."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 3):
        turn = norms.index("for", i) if norms[i] == "leave" and "for" in norms[i:] else 0
        if turn and tokens[i + 1].kind == "name" and turn + 1 < len(tokens) and tokens[turn + 1].kind == "name":
            yield Change("left_for", _span(tokens, i + 1), _span(tokens, turn + 1))
