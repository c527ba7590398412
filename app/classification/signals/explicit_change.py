"""Changes that name the old value, such as "from X to Y", "instead of X" and "Y, not X"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import parse_text, select_content
from app.classification.signals.token import Token, find_place
from app.domain.relation import Finding, Relation

_NAMES = {"not_but": "contrast"}
_LEADING = frozenset(
    """
    lead own manage run head maintain coordinate
    owner lead manager head maintainer direct responsible
    """.split()
)
_GENERIC = frozenset("use run be have own work live build keep".split())
_INSTEAD_OF = (
    ("instead", "of"),
    ("rather", "than"),
    ("in", "place", "of"),
    ("in", "lieu", "of"),
)


@dataclass(frozen=True, slots=True)
class StatedChange:
    """A former value and the one in its place, which may be empty."""

    wording: str
    old: frozenset[str]
    new: frozenset[str]


def find_explicit_change(pair: Pair) -> Iterator[Finding]:
    """Yield an update if the stored text holds a value that is said to have changed."""
    if pair.old.negated or pair.old.modal:
        return
    for change in find_changes(pair.new.text):
        # The stored text must assert the former value and not the new one.
        has_new = bool(change.new) and change.new <= pair.old.items
        if change.old <= pair.old.items and not has_new and _is_change_of_stored(change, pair):
            name = _NAMES.get(change.wording, "explicit_change")
            after = f" to {' '.join(sorted(change.new))}" if change.new else ""
            reason = f"{' '.join(sorted(change.old))} gave way{after}"
            yield make_finding(name, Relation.UPDATE, reason)
            return


def _is_change_of_stored(change: StatedChange, pair: Pair) -> bool:
    # The former value may be the stored value of a subject of the incoming text.
    subjects = {frozenset(pair.new.owner)}
    subjects.update(frame.subject for frame in find_frames(pair.new))
    for frame in find_frames(pair.old):
        if frame.single and frame.value == change.old and frame.subject in subjects:
            return True
    context = pair.old.items - change.old - frozenset(pair.old.owner)
    foreign = context - pair.new.items
    if change.wording == "left_for":
        return False
    if change.wording == "taken_over":
        return foreign != context and foreign <= _LEADING
    if foreign and change.wording != "not_but":
        # The incoming text must say nothing beyond the change and the stored text.
        news = pair.new.items - pair.old.items - change.old - change.new - frozenset(pair.new.owner)
        news -= lexicon.CHANGE_VERBS | lexicon.REPLACING_VERBS | lexicon.LIGHT_WORDS
        lacks_owner = bool(foreign - _GENERIC) and not pair.old.owner
        if lacks_owner or news:
            return False
    if foreign != context:
        return True
    is_owned = pair.same_owner and bool(pair.old.owner)
    return is_owned and len(context) <= 3 and not _is_event(pair)


def _is_event(pair: Pair) -> bool:
    for token in pair.old.tokens:
        is_past = token.norm != token.text and not token.text.endswith(("s", "ing"))
        if is_past and token.norm in lexicon.EVENT_VERBS and token.norm != "use":
            return True
    return False


@lru_cache(maxsize=4096)
def find_changes(text: str) -> tuple[StatedChange, ...]:
    """Return the changes that a text names."""
    reading = parse_text(text)
    if reading.is_question or reading.modal:
        return ()
    tokens = [t for t in reading.tokens if t.kind != "word" or t.norm not in lexicon.ARTICLES]
    changes = (
        *_find_from_to(tokens),
        *_find_instead_of(tokens),
        *_find_replacements(tokens),
        *_find_contrasts(tokens),
        *_find_takeovers(tokens),
        *_find_left_for(tokens),
    )
    return tuple(change for change in changes if change.old and change.old != change.new)


def _collect_span(tokens: Sequence[Token], start: int) -> frozenset[str]:
    """Return the content from `start` to the next mark or word that ends a span."""
    end = start
    for token in tokens[start:]:
        if token.kind == "mark" or (token.kind == "word" and token.norm in lexicon.SPAN_ENDS):
            break
        end += 1
    return _collect_content(tokens[start:end])


def _collect_content(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.norm for token in select_content(tokens))


def _find_from_to(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    verb = find_place(tokens, lexicon.CHANGE_VERBS | {"join"})
    start = None if verb is None else find_place(tokens, ("from",), start=verb)
    if verb is None or start is None:
        return
    old = _collect_span(tokens, start + 1)
    to = find_place(tokens, ("to", "into"), start=verb + 1)
    new = frozenset[str]() if to is None else _collect_span(tokens, to + 1)
    yield StatedChange("from_to", old, new)


def _find_instead_of(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    norms = tuple(token.norm for token in tokens)
    for words in _INSTEAD_OF:
        for place in range(len(norms) - len(words)):
            behind = place + len(words)
            if norms[place:behind] == words:
                old = _collect_span(tokens, behind)
                yield StatedChange("instead_of", old, _collect_content(tokens[:place]) - old)


def _find_replacements(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    verb = find_place(tokens, lexicon.REPLACING_VERBS)
    if verb is None or verb + 1 >= len(tokens):
        return
    behind = _collect_span(tokens, verb + 1)
    if verb and tokens[verb + 1].norm in ("by", "with"):
        old = _collect_content(tokens[:verb])
        yield StatedChange("replaced", old, _collect_span(tokens, verb + 2))
        return
    turn = find_place(tokens, ("with", "for", "by"), start=verb)
    if turn is not None:
        yield StatedChange("replaced", behind, _collect_span(tokens, turn + 1))
    elif tokens[verb].norm == "replace":
        yield StatedChange("replaced", behind, _collect_content(tokens[:verb]))


def _find_contrasts(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """Yield the changes of "Y, not X" and "Y, no longer X"."""
    norms = [token.norm for token in tokens]
    for place in range(1, len(norms) - 1):
        word, following = norms[place], norms[place + 1]
        is_denied = word == "not" and following not in ("only", "just")
        if norms[place - 1] != "," or not (is_denied or (word, following) == ("no", "longer")):
            continue
        start = place + 2 if following == "longer" else place + 1
        if start < len(norms) and norms[start] in lexicon.PREPOSITIONS:
            start += 1
        old = _collect_span(tokens, start)
        yield StatedChange("not_but", old, _collect_content(tokens[:place]) - old)


def _find_takeovers(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """Yield the change of "Y took over the app from X"."""
    for place in range(1, len(tokens) - 2):
        if (tokens[place].norm, tokens[place + 1].norm) != ("take", "over"):
            continue
        start = find_place(tokens, ("from",), start=place)
        if start is not None:
            old = _collect_span(tokens, start + 1)
            yield StatedChange("taken_over", old, _collect_content(tokens[:place]))


def _find_left_for(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """Yield the change of "Left X for Y", both of them names."""
    for place in range(1, len(tokens) - 3):
        if tokens[place].norm != "leave" or tokens[place + 1].kind != "name":
            continue
        turn = find_place(tokens, ("for",), start=place)
        if turn is None or turn + 1 >= len(tokens) or tokens[turn + 1].kind != "name":
            continue
        old = _collect_span(tokens, place + 1)
        yield StatedChange("left_for", old, _collect_span(tokens, turn + 1))
