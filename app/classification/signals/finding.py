"""Findings of signals: a name, the proposed relation, and its measured reliability."""

from app.classification.signals.lexicon import CONFIDENCE
from app.classification.signals.relation import Finding, Relation

ACT_AT = 0.7
# A person's to decide, however often it is right: what never changes, and what happened once.
ONLY_FLAGS = frozenset(("fixed_attribute", "event_value"))
# The local judge learned no stays and no texts that are the same: what it reads says nothing.
SEEN_BY_SIGNALS_ALONE = frozenset(("stay", "same_text"))


def make_finding(name: str, relation: Relation, explanation: str) -> Finding:
    """A finding with the measured reliability of its signal; an unmeasured signal counts as
    unproven.
    """
    return Finding(name, relation, bound_confidence(name, CONFIDENCE.get(name, 0.5)), explanation)


def bound_confidence(name: str, confidence: float) -> float:
    """The confidence, kept under the threshold for signals that may only flag."""
    return min(confidence, ACT_AT - 0.01) if name in ONLY_FLAGS else confidence
