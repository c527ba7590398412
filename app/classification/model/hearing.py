"""What a model's word may do, beside what the local judges see.

Neither is final: a change that only one of them sees becomes a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from app.classification.local.judge import Thresholds
from app.classification.local.reading import Reading
from app.classification.local_judges import find_other_words
from app.classification.merge_text import (
    find_detail_loss,
    find_merge_loss,
    find_rewriting_fault,
    has_new_name,
)
from app.classification.model.judge import STAYS, ModelVerdict
from app.classification.model.trust import Trust, surely_holds
from app.classification.names import RenamedText
from app.classification.verdict import Candidate, LocalVerdict, Verdict
from app.domain.fact import Fact
from app.domain.relation import Judge, Judgment, ModelCost, Opinion, Relation

# What a model that is not trusted ends must be this likely to the local judge.
LEAST_SUPPORT = 0.9
# The cosine of two texts that the local judge cannot read and that a model takes for the same.
REPEATS_FROM = 0.6
# Texts that say the same have at least this cosine. An obedient model calls anything a repetition.
ALIKE_FROM = 0.4


def hear_model(
    fact: Fact,
    candidates: Sequence[Candidate],
    local: LocalVerdict,
    readings: Mapping[UUID, Reading],
    by_model: ModelVerdict,
    trust: Trust,
) -> Verdict:
    """Return the verdict of the model and the local judges together.

    An ending is flagged if the local judges rule it out, if the model takes it back when it is
    asked again, or if they see it and the model does not. If the model failed, the local judgments
    remain and the fact is marked for another look. `readings` are those of the local verdict and of
    what the model changes.
    """
    hearing = _Hearing(fact, candidates, local, readings, by_model.confirmed, trust)
    words = {judgment.memory_id: judgment for judgment in by_model.judgments}
    seen = {judgment.memory_id: judgment for judgment in local.verdict.judgments}
    judgments = []
    for candidate in candidates:
        memory_id = candidate.memory.id
        judgment = hearing.weigh(seen.get(memory_id), words.get(memory_id))
        if judgment is not None:
            judgments.append(judgment)
    return replace(
        local.verdict,
        judgments=tuple(judgments),
        model_cost=ModelCost(
            model=by_model.model,
            prompt_version=by_model.prompt_version,
            llm_calls=by_model.usage.llm_calls,
            prompt_tokens=by_model.usage.prompt_tokens,
            completion_tokens=by_model.usage.completion_tokens,
            ms=round(by_model.usage.ms, 1),
            trouble=by_model.trouble,
        ),
        look_again=by_model.failure,
    )


def find_lonely_words(local: LocalVerdict, by_model: ModelVerdict) -> frozenset[UUID]:
    """Return the memories that the model takes for over or repeated, and the local judges do not.

    What they only ask about counts as not: a chance error of the model meets it too often.
    """
    ended, repeated = set(), set()
    for judgment in local.verdict.judgments:
        if _acts(judgment):
            ended.add(judgment.memory_id)
        elif judgment.relation is Relation.DUPLICATE:
            repeated.add(judgment.memory_id)
    lonely = set()
    for judgment in by_model.judgments:
        if judgment.relation is Relation.DUPLICATE:
            lonely |= {judgment.memory_id} - repeated
        elif judgment.relation.effect.ends_stored:
            lonely |= {judgment.memory_id} - ended
    return frozenset(lonely)


class _Hearing:
    """The model's words on the candidates of one fact."""

    def __init__(
        self,
        fact: Fact,
        candidates: Sequence[Candidate],
        local: LocalVerdict,
        readings: Mapping[UUID, Reading],
        confirmed: Mapping[UUID, bool],
        trust: Trust,
    ) -> None:
        self._fact = fact
        self._candidates = {each.memory.id: each for each in candidates}
        self._confirmed = confirmed
        self._readings = readings
        self._read_before = local.readings.keys()
        self._texts: Mapping[UUID, RenamedText] = local.texts
        self._trust = trust

    def weigh(self, local: Judgment | None, by_model: Judgment | None) -> Judgment | None:
        """Return the judgment on a candidate that the local judges, the model or both judged."""
        if by_model is None:
            return local
        if local is None:  # the local judges did not read the text, for its length
            memory_id = by_model.memory_id
            local = Judgment(memory_id, Relation.NONE, 0.0, "too long to be read", Judge.RULE)
        reading = self._readings.get(local.memory_id)
        similarity = self._candidates[local.memory_id].similarity
        holds = reading is not None and surely_holds(reading, local, similarity)
        # What is read because the model changes it would count its errors and not what it spares.
        if holds and local.memory_id in self._read_before:
            self._trust.count(by_model)
        is_confirmed = self._confirmed.get(local.memory_id)
        if is_confirmed is not None:
            self._trust.count_second_word(is_confirmed=is_confirmed)
        judgment = self._check(local, by_model, reading, holds=holds)
        opinion = Opinion(
            by_model.decided_by, by_model.relation, by_model.confidence, by_model.reasoning
        )
        changes = {each.relation.effect.changes_stored for each in (*local.opinions, opinion)}
        return replace(
            judgment,
            findings=local.findings,
            opinions=(*local.opinions, opinion),
            disagree=len(changes) > 1,
        )

    def _check(
        self, local: Judgment, by_model: Judgment, reading: Reading | None, *, holds: bool
    ) -> Judgment:
        """Return the model's judgment as far as the local judges support it. `holds` says that they
        surely see no relation.
        """
        effect = by_model.relation.effect
        overlooks = local.relation.effect.ends_stored and not effect.ends_stored
        if overlooks or not effect.changes_stored:
            return self._keep_local(local, by_model)
        if by_model.relation is Relation.DUPLICATE:
            return self._check_repetition(local, by_model, reading)
        is_taken_back = self._is_taken_back(by_model)
        if is_taken_back and self._trust.is_low and not local.relation.effect.changes_stored:
            return local
        checked = self._check_text(by_model)
        # A model that ends what holds needs more support.
        is_trusted = _acts(local) or not self._trust.is_low
        if not is_trusted and reading is not None:
            is_trusted = reading.ends + reading.part >= LEAST_SUPPORT
        is_supported = is_trusted and not holds and not is_taken_back
        return checked if is_supported else replace(checked, flag=True)

    def _is_taken_back(self, by_model: Judgment) -> bool:
        """Return True if the model was asked about this candidate again, and says otherwise."""
        return self._confirmed.get(by_model.memory_id) is False

    def _keep_local(self, local: Judgment, by_model: Judgment) -> Judgment:
        """Return the judgment where the model sees no change.

        What the local judges would do becomes a question. What they would ask remains one, unless
        the model says of this very candidate that it stays. One that is not trusted changes
        nothing.
        """
        if local.relation is Relation.DUPLICATE or self._trust.is_low:
            return local
        is_heard = local.flag and by_model.reasoning != STAYS
        if is_heard or not local.relation.effect.changes_stored:
            return by_model
        reasoning = f"{local.reasoning}; the model sees no change: {by_model.reasoning}"
        return replace(local, reasoning=reasoning, flag=True)

    def _check_text(self, judgment: Judgment) -> Judgment:
        """Return the judgment without a text that loses or invents something.

        Without it, a complement joins both texts as they are, and a change in part is asked about.
        So is one of a fact with a key, because its value may be that part.
        """
        if judgment.new_text is None:
            return judgment
        stored = self._candidates[judgment.memory_id].memory.fact
        completes = judgment.relation is Relation.COMPLEMENT
        if completes:
            fault = find_merge_loss(judgment.new_text, stored.content, self._fact.content)
        elif stored.key is not None:
            fault = "The fact has a key."
        else:
            fault = find_rewriting_fault(judgment.new_text, stored.content, self._fact.content)
        if fault is None:
            return judgment
        reasoning = f"{judgment.reasoning} The model's text is not used. {fault}"
        return replace(judgment, new_text=None, reasoning=reasoning, flag=not completes)

    def _check_repetition(
        self, local: Judgment, by_model: Judgment, reading: Reading | None
    ) -> Judgment:
        """Return the judgment, or a mere overlap in place of a repetition that is none.

        What the model takes back is none, nor what nobody else sees if the model is not trusted.
        """
        if local.relation is Relation.DUPLICATE:
            return by_model
        if not self._is_taken_back(by_model) and self._may_repeat(local.memory_id, reading):
            return by_model
        reasoning = f"stored, because no other judge takes it for the same: {by_model.reasoning}"
        return replace(by_model, relation=Relation.OVERLAP, reasoning=reasoning)

    def _may_repeat(self, memory_id: UUID, reading: Reading | None) -> bool:
        """Return True if the memory says every detail of the fact, and the rest may be the same.

        The model is believed of the rest, unless a name is new.
        """
        stored = self._texts.get(memory_id)
        if stored is None or find_other_words(self._fact.content, stored) is not None:
            return False
        if find_detail_loss(stored.text, self._fact.content) is not None:
            return False
        similarity = self._candidates[memory_id].similarity or 0
        may_be_believed = similarity >= ALIKE_FROM and not self._trust.is_low
        if may_be_believed and not has_new_name(stored.text, self._fact.content):
            return True
        if reading is None:
            return similarity >= REPEATS_FROM
        return reading.duplicate >= Thresholds().ask


def _acts(local: Judgment) -> bool:
    return local.relation.effect.ends_stored and not local.flag
