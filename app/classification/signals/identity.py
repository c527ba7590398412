"""The identity veto: two statements about different people, things or attributes have nothing to retire."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.explicit_change import find_changes
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair

_SPEAKERS = frozenset(("i", "we"))


def find_vetoes(pair: Pair) -> Iterator[str]:
    """Why the two cannot be about the same thing, in words; nothing where nothing tells them apart."""
    yield from _other_slot(pair)
    yield from _other_owner(pair)
    yield from _other_identifier(pair)
    yield from _other_label(pair)
    yield from _other_attribute(pair)
    yield from _other_aspect(pair)


def _other_slot(pair: Pair) -> Iterator[str]:
    """What the caller gave outranks what the texts say."""
    for name in ("entity", "key"):
        new, old = (getattr(statement, name) for statement in (pair.incoming, pair.stored))
        if new and old and new.strip().casefold() != old.strip().casefold():
            yield f"{name} {new} is not {name} {old}"


def _other_owner(pair: Pair) -> Iterator[str]:
    new, old = pair.new.owner, pair.old.owner
    if (
        not new
        or not old
        or new == old
        or pair.frame_pairs
        or _names_owner_as_past(pair)
        or any(c.owner == old for c in pair.new.clauses)
    ):
        return
    kin_new, kin_old = (frozenset(o) & lexicon.KIN for o in (new, old))
    if kin_new != kin_old or {new[0], old[0]} & _SPEAKERS or not _may_be_one(pair):
        yield f"about {' '.join(new)}, not {' '.join(old)}"


def _may_be_one(pair: Pair) -> bool:
    """Whether one text names the owner of the other at all."""
    new, old = frozenset(pair.new.owner), frozenset(pair.old.owner)
    return new <= pair.old.items | old or old <= pair.new.items | new


def _names_owner_as_past(pair: Pair) -> bool:
    """Whether the incoming text says that it was the stored owner before: "Orla took over the app from Dmitri"."""
    return any(change.old == frozenset(pair.old.owner) for change in find_changes(pair.new.text))


def _other_identifier(pair: Pair) -> Iterator[str]:
    """The same name or noun with another number behind it."""
    new, old = dict(pair.new.identifiers), dict(pair.old.identifiers)
    for head in new.keys() & old.keys():
        mine, other = (
            {n for h, n in reading.identifiers if h == head} for reading in (pair.new, pair.old)
        )
        if (
            not mine & other
            and not other & pair.new.items
            and not _is_value(pair, mine | other)
            and not _is_object(pair, mine, other)
        ):
            yield f"{head} {min(mine)} is not {head} {min(other)}"


def _other_label(pair: Pair) -> Iterator[str]:
    """The same noun, numbered otherwise: "item 5" and "item 6"."""
    for head in {h for h, _ in pair.new.labels} & {h for h, _ in pair.old.labels}:
        mine, other = (
            {n for h, n in reading.labels if h == head} for reading in (pair.new, pair.old)
        )
        if not mine & other and not _is_value(pair, mine | other) and not _says_change(pair):
            yield f"{head} {min(mine)} is not {head} {min(other)}"


def _says_change(pair: Pair) -> bool:
    """Whether the incoming text names what was before."""
    return any(change.old & pair.old.items for change in find_changes(pair.new.text))


def _is_value(pair: Pair, numbers: set[str]) -> bool:
    """Whether the numbers are the values of an attribute known to be the same."""
    return any(numbers & (f.value | f.rest | g.value | g.rest) for f, g in pair.frame_pairs)


def _is_object(pair: Pair, mine: set[str], other: set[str]) -> bool:
    """Whether the number alone differs, and is what the subject runs, sits in or listens on."""
    alone = (
        pair.only_new == mine
        and pair.only_old == other
        and pair.new.order[-1] in mine
        and pair.old.order[-1] in other
    )
    alone = alone and sum(t.norm in mine for t in pair.new.tokens) == 1
    verbs = {t.norm for t in pair.new.tokens[1:] if t.kind == "word"} & lexicon.OCCUPYING_VERBS
    subject = pair.new.order[0] not in {head for head, _ in pair.new.identifiers} or bool(
        pair.new.owner
    )
    return _is_upgraded(pair, mine, other) or (alone and bool(verbs) and subject)


def _is_upgraded(pair: Pair, mine: set[str], other: set[str]) -> bool:
    """Whether the incoming text says that something shared was brought to the other version."""
    heads = {head for head, _ in pair.new.identifiers | pair.old.identifiers}
    return (
        bool(pair.new.words & lexicon.UPGRADE_VERBS)
        and "to" in pair.new.words
        and bool(pair.shared - heads - mine - other)
    )


def _other_attribute(pair: Pair) -> Iterator[str]:
    new = {f.attribute for f in find_frames(pair.new) if not f.is_built}
    old = {f.attribute for f in find_frames(pair.old) if not f.is_built}
    if new and old and not new & old and not pair.frame_pairs:
        yield f"{_describe_attribute(new)} is not {_describe_attribute(old)}"


def _describe_attribute(attributes: set[str]) -> str:
    return min(attributes).replace("_", " ")


def _other_aspect(pair: Pair) -> Iterator[str]:
    for word in pair.only_new & lexicon.ASPECTS.keys():
        for other in pair.only_old & lexicon.ASPECTS.keys():
            if (
                lexicon.ASPECTS[word] & lexicon.ASPECTS[other]
                and len(pair.only_new) + len(pair.only_old) > 2
            ):
                yield f"{word} is not {other}"
