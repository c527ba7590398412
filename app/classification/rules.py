"""The rules tier: what is certain from hashes and slots.

The rules are pure and are applied under the agent's lock, to the chains as they are then.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from app.domain.chains import Chains
from app.domain.fact import Fact, Kind
from app.domain.relation import Judge, Judgment, Relation
from app.domain.text import fold
from app.domain.version import Version

# A slot may hold thousands of values that nobody compared. The plan looks at its chains itself;
# these judgments are for the answer and for hints.
MAX_JUDGED_IN_SLOT = 20


def judge_fact(
    fact: Fact, chains: Chains, start: datetime, *, classify: bool, fuzzy: bool
) -> list[Judgment]:
    """Return judgments on stored memories at the fact's start, the deciding ones first.

    Without `classify` only equal content counts. Of the other memories of the slot,
    MAX_JUDGED_IN_SLOT at most are judged.
    """
    judgments = list(_find_duplicates(fact, chains, fuzzy=fuzzy and classify))
    if not classify or fact.key is None:
        return judgments
    judged = {judgment.memory_id for judgment in judgments}
    in_slot = (
        _judge_in_slot(fact, version)
        for version in chains.find_in_slot(fact.slot)
        if version.id not in judged and version.belief.holds_at(start)
    )
    return [*judgments, *islice(filter(None, in_slot), MAX_JUDGED_IN_SLOT)]


def _find_duplicates(fact: Fact, chains: Chains, *, fuzzy: bool) -> Iterator[Judgment]:
    for version in chains.find_same_text(fact, fuzzy=fuzzy):
        if version.belief.void or not _is_about_the_same(fact, version):
            continue
        if version.content_hash == fact.content_hash:
            reason = "The same text is stored."
        else:
            reason = "The same text but for case, spacing or punctuation is stored."
        yield _build_judgment(version, Relation.DUPLICATE, reason)


def _is_about_the_same(fact: Fact, version: Version) -> bool:
    """Return True if the stored memory has all that the caller gave besides the text.

    Equal texts with another kind, slot or value say different things (decision 0004).
    """
    return (
        fold(fact.entity or "user") == version.slot.entity
        and (not fact.category or fold(fact.category) == version.slot.category)
        and (fact.key is None or fold(fact.key) == version.slot.key)
        and fact.kind in (None, Kind.FACT, version.kind)
        and (fact.value is None or fact.value_hash == version.value_hash)
    )


def _judge_in_slot(fact: Fact, version: Version) -> Judgment | None:
    if version.has_same_value(fact):
        if not version.one_value:
            return None
        return _build_judgment(version, Relation.DUPLICATE, "The same value in the same slot.")
    if Kind.CONSTRAINT in (fact.kind, version.kind):
        reason = "In conflict with a constraint on the same slot: both stay."
        return _build_judgment(version, Relation.CONTRADICTION, reason)
    if fact.one_value and version.one_value:
        reason = "Another value in a slot that holds one at a time."
        return _build_judgment(version, Relation.UPDATE, reason)
    return None


def _build_judgment(version: Version, relation: Relation, reason: str) -> Judgment:
    return Judgment(
        memory_id=version.id,
        relation=relation,
        confidence=1.0,
        reasoning=reason,
        decided_by=Judge.RULE,
    )
