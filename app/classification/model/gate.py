"""Whether a model is worth asking about a fact, and the question."""

from collections.abc import Sequence

from app.classification import signals
from app.classification.local.reading import Reading
from app.classification.local_judges import is_another_decision
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.classification.verdict import Candidate, LocalVerdict
from app.domain.fact import Fact, StoredFact
from app.domain.relation import LOCAL_FINDING, Judgment, Relation

# The model is asked if the local judge gives any relation at least this probability, or if the
# cosine of the vectors is at least that high. Reference 002 asks from .6, by another encoder: its
# own example has .78 there and .71 here.
ASK_FROM = 0.02
ASK_NEAR = 0.35


def find_reason_to_ask(fact: Fact, candidates: Sequence[Candidate], local: LocalVerdict) -> bool:
    """Return True if anything suggests that the fact concerns a candidate.

    That is a finding or a veto of the signals, a chance that the local judge sees, the same slot,
    another decision in the same category (reference 004), near vectors (reference 002), or several
    words in common (reference 001). A fact that the local judge cannot read, such as one in another
    language, is always worth asking about.
    """
    readings = local.readings
    judgments = local.verdict.judgments
    if not local.can_read or any(judgment.findings or judgment.vetoes for judgment in judgments):
        return True
    if any(1 - reading.none >= ASK_FROM for reading in readings.values()):
        return True
    for candidate in candidates:
        stored = candidate.memory.fact
        is_near = candidate.similarity is not None and candidate.similarity >= ASK_NEAR
        if is_near or _is_in_same_slot(fact, stored) or is_another_decision(fact, stored):
            return True
        text = local.texts.get(candidate.memory.id)
        # What is too long for the signals was not compared at all.
        if text is None or signals.has_reason(fact.content, text.text):
            return True
    return False


def _is_in_same_slot(fact: Fact, stored: StoredFact) -> bool:
    if fact.key is not None and stored.key is not None:
        return fact.slot == stored.slot
    new, old = fact.derived, stored.derived
    return new is not None and old is not None and (new.entity, new.key) == (old.entity, old.key)


def build_question(fact: Fact, candidates: Sequence[Candidate], local: LocalVerdict) -> Question:
    """Return the question about all candidates, with what the local judges see of a change."""
    by_id = {judgment.memory_id: judgment for judgment in local.verdict.judgments}
    prompted = []
    for memory in (candidate.memory for candidate in candidates):
        hint = _describe_hint(by_id.get(memory.id), local.readings.get(memory.id))
        prompted.append(PromptCandidate(memory.id, PromptStatement.from_memory(memory), hint))
    return Question(PromptStatement.from_fact(fact), tuple(prompted))


def _describe_hint(judgment: Judgment | None, reading: Reading | None) -> str | None:
    """Return the change that the local judges see. Vetoes argue against true ones, and are none."""
    if judgment is None or not judgment.relation.effect.changes_stored:
        return None
    for finding in judgment.findings:
        if finding.name != LOCAL_FINDING and finding.relation is not Relation.NONE:
            return f"{finding.relation}: {finding.explanation}"
    return reading.describe() if reading else None
