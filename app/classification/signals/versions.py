"""The same thing at another version."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.cued import is_version_of_line
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.domain.relation import Finding, Relation


def find_version_change(pair: Pair) -> Iterator[Finding]:
    """Yield an update if both name the same identifier and each gives one other version of that
    line.
    """
    yield from _find_upgrades(pair)
    for name, line in pair.new.identifiers & pair.old.identifiers:
        new, old = _version_of(pair.new, line), _version_of(pair.old, line)
        attribute_sets = [{f.attribute for f in find_frames(r)} for r in (pair.new, pair.old)]
        may_be_versions = all(not names or "latest_version" in names for names in attribute_sets)
        if new and old and new != old and may_be_versions and not pair.new.negated:
            yield make_finding(
                "identifier_version", Relation.UPDATE, f"{name} {line}: {old} before, {new} now"
            )


def _find_upgrades(pair: Pair) -> Iterator[Finding]:
    """The incoming text says that something was brought to another version of what the stored one
    names.
    """
    if not pair.new.words & lexicon.UPGRADE_VERBS:
        return
    if pair.new.modal or pair.new.negated or pair.old.negated:
        return
    for head, new in pair.new.identifiers:
        for other, old in pair.old.identifiers:
            if head == other and new != old and pair.shared - {head} and len(pair.only_old) <= 2:
                reason = f"{head} {old} before, {head} {new} now"
                yield make_finding("upgrade", Relation.UPDATE, reason)


def _version_of(reading: Reading, line: str) -> str:
    """The only version in the text that belongs to the line ("9.1.3" to "9.1"), or ""."""
    versions = [
        item
        for item, kind in reading.kinds.items()
        if kind in ("version", "code", "number") and is_version_of_line(item, line)
    ]
    return versions[0] if len(versions) == 1 else ""
