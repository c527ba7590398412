"""Findings of signals: a name, the proposed relation, and its measured reliability."""

from app.classification.signals.lexicon import CONFIDENCE
from app.domain.relation import Finding, Relation

ACT_AT = 0.7
# A person's to decide, however often it is right: what never changes.
ONLY_FLAGS = frozenset(("fixed_attribute",))
# On regular text these decide, whatever the local judge reads: .99 of them are right on sources
# that they were not tuned on. Beside them stand equal words, stays and renames, which it never
# learned, and what only a person may decide.
DECIDING = frozenset(
    (
        "single_valued",
        "cued_attribute",
        "identifier_version",
        "retraction_of_attribute",
        "same_text",
        "same_value",
        "same_cued_value",
        "stay",
        "rename",
        *ONLY_FLAGS,
    )
)


def make_finding(name: str, relation: Relation, explanation: str) -> Finding:
    """A finding with the measured reliability of its signal; an unmeasured signal counts as
    unproven.
    """
    return Finding(name, relation, bound_confidence(name, CONFIDENCE.get(name, 0.5)), explanation)


def bound_confidence(name: str, confidence: float) -> float:
    """The confidence, kept under the threshold for signals that may only flag."""
    return min(confidence, ACT_AT - 0.01) if name in ONLY_FLAGS else confidence
