"""Changes that name the old value: "from X to Y", "instead of X", "Y, not X", "replaced X with Y"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import parse_text, select_content
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import Token

_NAMES = {"not_but": "contrast"}
_LEADING = frozenset(
    "lead own manage run head maintain coordinate owner lead manager head maintainer direct responsible".split()
)
_GENERIC = frozenset("use run be have own work live build keep".split())


@dataclass(frozen=True, slots=True)
class StatedChange:
    """What was, and what is instead (may be empty)."""

    wording: str
    old: frozenset[str]
    new: frozenset[str]


def find_explicit_change(pair: Pair) -> Iterator[Finding]:
    """UPDATE of a stored text that holds the value said to have changed, and not the new one."""
    for change in find_changes(pair.new.text):
        if _is_change_of_stored(change, pair):
            yield make_finding(
                _NAMES.get(change.wording, "explicit_change"),
                Relation.UPDATE,
                _describe_change(change),
            )
            return


def _describe_change(change: StatedChange) -> str:
    after = f" to {' '.join(sorted(change.new))}" if change.new else ""
    return f"{' '.join(sorted(change.old))} gave way{after}"


def _is_change_of_stored(change: StatedChange, pair: Pair) -> bool:
    old = pair.old
    if (
        not change.old <= old.items
        or (change.new and change.new <= old.items)
        or old.negated
        or old.modal
    ):
        return False
    if any(
        f.value == change.old and f.single and f.subject in _list_subjects(pair)
        for f in find_frames(old)
    ):
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
    return bool(context & pair.new.items) or (
        pair.same_owner and bool(old.owner) and len(context) <= 3 and not _is_event(pair)
    )


def _list_subjects(pair: Pair) -> tuple[frozenset[str], ...]:
    """Whom the incoming text may speak of."""
    return (frozenset(pair.new.owner), *(f.subject for f in find_frames(pair.new)))


def _is_contrast(change: StatedChange) -> bool:
    return change.wording == "not_but"


def _is_event(pair: Pair) -> bool:
    return any(
        t.norm in lexicon.EVENT_VERBS
        and t.norm not in ("use", t.text)
        and not t.text.endswith(("s", "ing"))
        for t in pair.old.tokens
    )


@lru_cache(maxsize=4096)
def find_changes(text: str) -> tuple[StatedChange, ...]:
    """The changes that a text names."""
    reading = parse_text(text)
    if reading.is_question or reading.modal:
        return ()
    tokens = [t for t in reading.tokens if t.kind != "word" or t.norm not in lexicon.ARTICLES]
    return tuple(
        c
        for c in (
            *_find_from_to(tokens),
            *_find_instead_of(tokens),
            *_find_replacements(tokens),
            *_find_contrasts(tokens),
            *_find_takeovers(tokens),
            *_find_left_for(tokens),
        )
        if c.old and c.old != c.new
    )


def _collect_span(tokens: Sequence[Token], start: int) -> frozenset[str]:
    end = start
    while (
        end < len(tokens)
        and tokens[end].kind != "mark"
        and not (tokens[end].kind == "word" and tokens[end].norm in lexicon.SPAN_ENDS)
    ):
        end += 1
    return frozenset(t.norm for t in select_content(tokens[start:end]))


def _find_from_to(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    norms = [t.norm for t in tokens]
    verb = next((i for i, n in enumerate(norms) if n in lexicon.CHANGE_VERBS or n == "join"), None)
    if verb is None or "from" not in norms[verb:]:
        return
    start = norms.index("from", verb)
    to = next((i for i in range(len(norms)) if norms[i] in ("to", "into") and i > verb), None)
    if to is None:
        yield StatedChange("from_to", _collect_span(tokens, start + 1), frozenset())
    else:
        yield StatedChange(
            "from_to", _collect_span(tokens, start + 1), _collect_span(tokens, to + 1)
        )


def _find_instead_of(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    norms = [t.norm for t in tokens]
    for words in (
        ("instead", "of"),
        ("rather", "than"),
        ("in", "place", "of"),
        ("in", "lieu", "of"),
    ):
        for i in range(len(norms) - len(words)):
            if tuple(norms[i : i + len(words)]) == words:
                old = _collect_span(tokens, i + len(words))
                yield StatedChange(
                    "instead_of", old, frozenset(t.norm for t in select_content(tokens[:i])) - old
                )


def _find_replacements(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    norms = [t.norm for t in tokens]
    verb = next((i for i, n in enumerate(norms) if n in lexicon.REPLACING_VERBS), None)
    if verb is None or verb + 1 >= len(norms):
        return
    if norms[verb + 1] in ("by", "with") and verb:
        yield StatedChange(
            "replaced",
            frozenset(t.norm for t in select_content(tokens[:verb])),
            _collect_span(tokens, verb + 2),
        )
    elif any(n in ("with", "for", "by") for n in norms[verb:]):
        turn = next(i for i in range(verb, len(norms)) if norms[i] in ("with", "for", "by"))
        yield StatedChange(
            "replaced", _collect_span(tokens, verb + 1), _collect_span(tokens, turn + 1)
        )
    elif norms[verb] == "replace":
        yield StatedChange(
            "replaced",
            _collect_span(tokens, verb + 1),
            frozenset(t.norm for t in select_content(tokens[:verb])),
        )


def _find_contrasts(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """ "Y, not X"."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 1):
        denied = norms[i] == "not" and norms[i + 1] not in ("only", "just")
        if norms[i - 1] == "," and (denied or norms[i : i + 2] == ["no", "longer"]):
            start = i + 1 + (norms[i + 1] == "longer")
            old = _collect_span(
                tokens, start + (start < len(norms) and norms[start] in lexicon.PREPOSITIONS)
            )
            yield StatedChange(
                "not_but", old, frozenset(t.norm for t in select_content(tokens[:i])) - old
            )


def _find_takeovers(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """ "Y took over the app from X"."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 2):
        if norms[i : i + 2] == ["take", "over"] and "from" in norms[i:]:
            yield StatedChange(
                "taken_over",
                _collect_span(tokens, norms.index("from", i) + 1),
                frozenset(t.norm for t in select_content(tokens[:i])),
            )


def _find_left_for(tokens: Sequence[Token]) -> Iterator[StatedChange]:
    """ "Left X for Y", both by name."""
    norms = [t.norm for t in tokens]
    for i in range(1, len(norms) - 3):
        turn = norms.index("for", i) if norms[i] == "leave" and "for" in norms[i:] else 0
        if (
            turn
            and tokens[i + 1].kind == "name"
            and turn + 1 < len(tokens)
            and tokens[turn + 1].kind == "name"
        ):
            yield StatedChange(
                "left_for", _collect_span(tokens, i + 1), _collect_span(tokens, turn + 1)
            )
