"""The same thing at another version."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation


def find_version_change(pair: Pair) -> Iterator[Finding]:
    """Yield an update if both name the same identifier and each gives one other version of that
    line.
    """
    yield from _find_upgrades(pair)
    for name, line in pair.new.identifiers & pair.old.identifiers:
        new, old = _version_of(pair.new, line), _version_of(pair.old, line)
        if new and old and new != old and _may_tell_versions(pair):
            yield make_finding(
                "identifier_version", Relation.UPDATE, f"{name} {line}: {old} before, {new} now"
            )


def _find_upgrades(pair: Pair) -> Iterator[Finding]:
    """The incoming text says that something was brought to another version of what the stored one
    names.
    """
    if (
        not pair.new.words & lexicon.UPGRADE_VERBS
        or pair.new.modal
        or pair.new.negated
        or pair.old.negated
    ):
        return
    for head, new in pair.new.identifiers:
        for other, old in pair.old.identifiers:
            if head == other and new != old and pair.shared - {head} and len(pair.only_old) <= 2:
                yield make_finding(
                    "upgrade", Relation.UPDATE, f"{head} {old} before, {head} {new} now"
                )


def _version_of(reading: Reading, line: str) -> str:
    """The only version in the text that belongs to the line ("9.1.3" to "9.1"), or ""."""
    mine = [
        i
        for i, kind in reading.kinds.items()
        if kind in ("version", "code", "number")
        and i != line
        and i.startswith((line + ".", line + "-", line + "u"))
    ]
    return mine[0] if len(mine) == 1 else ""


def _may_tell_versions(pair: Pair) -> bool:
    attribute_sets = [{f.attribute for f in find_frames(r)} for r in (pair.new, pair.old)]
    return (
        all(not attributes or "latest_version" in attributes for attributes in attribute_sets)
        and not pair.new.negated
    )
