"""The rules tier: what can be said for certain from hashes and slots. Pure; used under the lock, over what holds then."""

from collections.abc import Iterator
from datetime import datetime

from app.domain.chains import Chains
from app.domain.fact import Fact, Kind
from app.domain.relation import Judge, Judgment, Relation
from app.domain.text import fold
from app.domain.version import Version


def judge_fact(
    fact: Fact, picture: Chains, start: datetime, *, classify: bool, fuzzy: bool
) -> list[Judgment]:
    """Judgments on stored memories as of the fact's start, the deciding ones first. Without `classify` only equal content counts."""
    judged = list(_find_duplicates(fact, picture, fuzzy=fuzzy and classify))
    if classify and fact.key is not None:
        seen = {j.memory_id for j in judged}
        judged += [
            j
            for v in picture.find_in_slot(fact.slot)
            if v.id not in seen and v.belief.holds_at(start) and (j := _in_slot(fact, v))
        ]
    return judged


def _find_duplicates(fact: Fact, picture: Chains, *, fuzzy: bool) -> Iterator[Judgment]:
    for version in picture.find_same_text(fact, fuzzy=fuzzy):
        if version.belief.void or not _about_the_same(fact, version):
            continue
        exact = version.content_hash == fact.content_hash
        reason = (
            "The same text is stored."
            if exact
            else "The same text but for case, spacing or punctuation is stored."
        )
        yield Judgment(version.id, Relation.DUPLICATE, 1.0, reason, Judge.RULE)


def _about_the_same(fact: Fact, version: Version) -> bool:
    """Whether equal text says the same: what the caller stated beyond the text (kind, slot, value) is in the stored one too."""
    return (
        fold(fact.entity or "user") == version.slot.entity
        and (not fact.category or fold(fact.category) == version.slot.category)
        and (fact.key is None or fold(fact.key) == version.slot.key)
        and fact.kind in (None, Kind.FACT, version.kind)
        and (fact.value is None or fact.value_hash == version.value_hash)
    )


def _in_slot(fact: Fact, version: Version) -> Judgment | None:
    if version.has_same_value(fact):
        return (
            Judgment(
                version.id, Relation.DUPLICATE, 1.0, "The same value in the same slot.", Judge.RULE
            )
            if version.one_value
            else None
        )
    if Kind.CONSTRAINT in (fact.kind, version.kind):
        reason = "In conflict with a constraint on the same slot: both stay."
        return Judgment(version.id, Relation.CONTRADICTION, 1.0, reason, Judge.RULE)
    if fact.one_value and version.one_value:
        return Judgment(
            version.id,
            Relation.UPDATE,
            1.0,
            "Another value in a slot that holds one at a time.",
            Judge.RULE,
        )
    return None
