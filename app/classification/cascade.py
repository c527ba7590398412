"""The cascade of judges: signals and the local judge, then the model where one is set.

Nothing is locked while it runs.
"""

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar
from uuid import UUID

from app.classification import signals
from app.classification.local.judge import FINDING as LOCAL_FINDING
from app.classification.local.judge import (
    LocalJudge,
    ReadCandidate,
    Thresholds,
    supports_duplicate,
)
from app.classification.local.language import is_english
from app.classification.local.reading import Reading
from app.classification.merge_text import join_texts
from app.classification.model.judge import ModelJudge, ModelVerdict
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.classification.names import RenamedText, rename_alike
from app.classification.signals.endings import find_ending
from app.classification.wording import spell_alike, write_as_holding
from app.domain.dates.dated_text import Precision
from app.domain.dates.facts import drop_date_words
from app.domain.fact import BaseFact, Fact, Kind, StoredFact, Tier
from app.domain.relation import (
    Classify,
    Judge,
    Judgment,
    ModelCost,
    Opinion,
    Relation,
)
from app.domain.text import differ_in_exact_words
from app.domain.version import Memory
from app.remote.budget import Payer

# The model is asked if the local judge gives any relation at least this probability, or if the
# cosine of the vectors is at least that high. Reference 002 asks from .6, by another encoder: its
# own example has .78 there and .71 here.
ASK_FROM = 0.02
ASK_NEAR = 0.5
# Characters. A longer text is a document rather than a fact, and reading it would block others.
MAX_READ = 2_000


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of the nearest candidates the local judge reads, and how near they must be."""

    most: int
    least_similarity: float


# Two, because it reads two at once. In most stores neither may end, and it reads no more.
NEAR = Reach(most=2, least_similarity=0.15)
# If the model may be asked, or if something near may end, it is worth looking farther.
FAR = Reach(most=6, least_similarity=-1.0)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored memory to compare with a fact.

    `similarity` is the cosine of their vectors; None if the memory was not ranked by its vector.
    """

    memory: Memory
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgments on the candidates, in order, and the model's merged text and cost.

    `look_again` is the reason for another look, if there is one. `retracts` is True if the fact
    says that something ended. If the `gate_closed`, a model is set and was not asked.
    """

    judgments: tuple[Judgment, ...] = ()
    merged_text: str | None = None
    model_cost: ModelCost | None = None
    look_again: str | None = None
    retracts: bool = False
    gate_closed: bool = False


@dataclass(frozen=True, slots=True)
class LocalVerdict:
    """What signals and the local judge say, without a model.

    `texts` are those of the candidates as they were read, and `readings` are what the local judge
    read of them, both by the candidates' ids.
    """

    verdict: Verdict = field(default_factory=Verdict)
    texts: Mapping[UUID, RenamedText] = field(default_factory=dict)
    readings: Mapping[UUID, Reading] = field(default_factory=dict)

    @property
    def ends_something(self) -> bool:
        """Return True if a stored fact ends by the verdict, and not only by a review of it."""
        judgments = self.verdict.judgments
        return any(each.relation.effect.ends_stored and not each.flag for each in judgments)


AnyFact = TypeVar("AnyFact", Fact, StoredFact)


class Cascade:
    """Judges facts against candidates.

    Where a model is set, signals and the local judge decide nothing: what they think is evidence
    in its question, and decides whether the question is worth asking. But a repetition needs them:
    a fact that the model alone calls one would be found by no search.
    """

    def __init__(self, local: LocalJudge | None, model: ModelJudge | None) -> None:
        self._local = local
        self._model = model

    async def judge(
        self, payer: Payer, fact: Fact, candidates: Sequence[Candidate], tier: Classify
    ) -> Verdict:
        """Return the verdict on a fact that neither its slot nor an equal text decides.

        The likeliest candidates come first.
        """
        memories = [candidate.memory for candidate in candidates]
        local = LocalVerdict()
        if tier.reads_signals:
            reach = FAR if tier.asks_model and self._model is not None else NEAR
            local = await self._judge_locally(fact, candidates, reach)
        verdict = local.verdict
        if _states_nothing(fact.content):
            return verdict
        if not memories or not self._may_ask_model(tier):
            return verdict
        is_gated = tier is not Classify.MODEL
        if is_gated and not _find_reason_to_ask(
            fact, candidates, verdict.judgments, local.texts, local.readings
        ):
            return replace(verdict, gate_closed=self._model is not None)
        if self._model is None:
            return replace(verdict, look_again="no model is configured")
        question = _build_question(fact, memories, verdict.judgments, local.readings)
        repeated = _find_repeated(fact, verdict.judgments, local.texts, local.readings)
        return _add_model_verdict(verdict, await self._model.judge(payer, question), repeated)

    async def _judge_locally(
        self, fact: Fact, candidates: Sequence[Candidate], reach: Reach
    ) -> LocalVerdict:
        """Return what signals and the local judge say.

        If a dated fact would end nothing, they read it and the candidates once more as their words
        would tell them while they hold: "My boss is Ben until Friday" is another boss.
        """
        whole = await self._judge_words(fact, candidates, reach)
        present = _write_as_holding(fact)
        if present.content == fact.content or whole.ends_something:
            return whole
        present_candidates = [
            replace(each, memory=replace(each.memory, fact=_write_as_holding(each.memory.fact)))
            for each in candidates
        ]
        holding = await self._judge_words(
            present, present_candidates, reach, is_temporary=_lasts_for_days(fact)
        )
        return _join_readings(whole, holding, fact, candidates)

    async def _judge_words(
        self,
        fact: Fact,
        candidates: Sequence[Candidate],
        reach: Reach,
        *,
        is_temporary: bool = False,
    ) -> LocalVerdict:
        """Return what signals and the local judge say of the words as they are.

        `is_temporary` says that the fact has a stated end, which its words do not name.
        """
        memories = [candidate.memory for candidate in candidates]
        # In a thread: texts of the greatest length take long enough to hold others up.
        verdict, texts = await asyncio.to_thread(
            _judge_by_signals, fact, memories, is_temporary=is_temporary
        )
        if _states_nothing(fact.content):
            return LocalVerdict(verdict, texts)
        verdict, readings = await self._read_candidates(
            fact,
            candidates,
            verdict,
            texts,
            reach=reach,
        )
        return LocalVerdict(_drop_false_repetitions(verdict, fact, texts), texts, readings)

    async def _read_candidates(
        self,
        fact: Fact,
        candidates: Sequence[Candidate],
        verdict: Verdict,
        texts: Mapping[UUID, RenamedText],
        *,
        reach: Reach,
    ) -> tuple[Verdict, dict[UUID, Reading]]:
        """Let the local judge read the likeliest candidates, and those that signals change."""
        if self._local is None:
            return verdict, {}
        judgments = {judgment.memory_id: judgment for judgment in verdict.judgments}
        judged = []
        for candidate in candidates:
            has_judgment = candidate.memory.id in judgments
            if has_judgment and not _has_other_key(fact, candidate.memory.fact):
                judged.append(candidate)
        read = [
            ReadCandidate(
                text=texts[each.memory.id].text,
                judgment=judgments[each.memory.id],
                similarity=each.similarity,
                is_in_same_category=_is_in_same_category(fact, each.memory.fact),
                is_decision_of_category=_is_another_decision(fact, each.memory.fact),
            )
            for each in judged
        ]
        readings = await self._read_in_turns(fact.content, read, reach)
        weighed = await self._local.judge(
            fact.content, [read[place] for place in readings], list(readings.values())
        )
        judgments |= {judgment.memory_id: judgment for judgment in weighed}
        by_id = {judged[place].memory.id: reading for place, reading in readings.items()}
        return replace(verdict, judgments=tuple(judgments.values())), by_id

    async def _read_in_turns(
        self, incoming: str, candidates: Sequence[ReadCandidate], reach: Reach
    ) -> dict[int, Reading]:
        """Return what the local judge reads of the candidates within reach, by their places.

        If one of them may end, the judge reads farther: the right one may be another, and a
        question names every one that it may concern.
        """
        assert self._local is not None
        readings: dict[int, Reading] = {}
        for nearer_first in (reach, FAR):
            places = find_worth_reading(incoming, candidates, reach=nearer_first)
            new = [place for place in places if place not in readings]
            texts = [candidates[place].text for place in new]
            readings |= zip(new, await self._local.read(incoming, texts), strict=True)
            if not any(reading.ends >= Thresholds().ask for reading in readings.values()):
                break
        return dict(sorted(readings.items()))

    def _may_ask_model(self, tier: Classify) -> bool:
        """Return True if a model is wanted. A caller who insists on one learns if there is none."""
        return tier.asks_model and (self._model is not None or tier is Classify.MODEL)


def _find_reason_to_ask(
    fact: Fact,
    candidates: Sequence[Candidate],
    judgments: Sequence[Judgment],
    texts: Mapping[UUID, RenamedText],
    readings: Mapping[UUID, Reading],
) -> bool:
    """Return True if anything suggests that the fact concerns a candidate.

    That is a finding of the signals, a chance that the local judge sees, the same slot, another
    decision in the same category (reference 004), near vectors (reference 002), or several words
    in common (reference 001). What the local judge did not read, such as another language, is
    always worth asking about.
    """
    if not readings or any(judgment.findings for judgment in judgments):
        return True
    if any(1 - reading.none >= ASK_FROM for reading in readings.values()):
        return True
    for candidate in candidates:
        stored = candidate.memory.fact
        is_near = candidate.similarity is not None and candidate.similarity >= ASK_NEAR
        if is_near or _is_in_same_slot(fact, stored) or _is_another_decision(fact, stored):
            return True
        text = texts.get(candidate.memory.id)
        # What is too long for the signals was not compared at all.
        if text is None or signals.has_reason(fact.content, text.text):
            return True
    return False


def _is_in_same_slot(fact: Fact, stored: StoredFact) -> bool:
    if fact.key is not None and stored.key is not None:
        return fact.slot == stored.slot
    return (
        fact.derived is not None
        and stored.derived is not None
        and ((fact.derived.entity, fact.derived.key) == (stored.derived.entity, stored.derived.key))
    )


def _is_another_decision(fact: Fact, stored: StoredFact) -> bool:
    are_decisions = fact.kind is Kind.DECISION and stored.kind is Kind.DECISION
    return are_decisions and _is_in_same_category(fact, stored)


def _is_in_same_category(fact: Fact, stored: StoredFact) -> bool:
    return bool(fact.slot.category) and fact.slot.category == stored.slot.category


def _states_nothing(text: str) -> bool:
    """Return True for a question or quoted speech: it ends nothing, and nothing ends it."""
    return len(text) <= MAX_READ and signals.find_speech(text) is not None


def _has_other_key(fact: BaseFact, stored: BaseFact) -> bool:
    """Return True if callers gave both facts a key, and not the same: no reading outranks that."""
    if fact.key is None or stored.key is None:
        return False
    return fact.slot.key != stored.slot.key


def find_worth_reading(
    incoming: str, candidates: Sequence[ReadCandidate], *, reach: Reach = NEAR
) -> list[int]:
    """Return the places of the stored texts that the local judge reads beside the incoming one.

    They are the nearest within reach, and those that signals would change. A text without a
    similarity shares a slot without being ranked by its vector, and is just near.
    """
    if not is_english(incoming) or _states_nothing(incoming):
        return []
    nearness: list[float] = []
    for candidate in candidates:
        similarity = candidate.similarity
        nearness.append(NEAR.least_similarity if similarity is None else similarity)
    near = [place for place, each in enumerate(nearness) if each >= reach.least_similarity]
    nearest = set(sorted(near, key=lambda place: -nearness[place])[: reach.most])
    places = []
    for place, candidate in enumerate(candidates):
        is_likely = place in nearest or candidate.judgment.relation.effect.changes_stored
        if is_likely and not _states_nothing(candidate.text):
            places.append(place)
    return places


def should_consider(
    memory: Memory, similarity: float | None, *, min_importance: float, similarity_floor: float
) -> bool:
    """Return True if a candidate is important enough, or core, and near enough (reference 002).

    A candidate without a similarity was not ranked by its vector and counts as near.
    """
    is_important = memory.belief.tier is Tier.CORE or memory.fact.importance >= min_importance
    is_near = similarity is None or similarity >= similarity_floor
    return is_important and is_near


def _rename_alike(fact: Fact, memories: Sequence[Memory]) -> dict[UUID, RenamedText]:
    """Return the texts that are short enough to be one fact, with the names that the fact uses."""
    short = [memory for memory in memories if len(memory.fact.content) <= MAX_READ]
    stored = [spell_alike(fact.content, memory.fact.content) for memory in short]
    texts = rename_alike(fact.content, stored)
    return {memory.id: text for memory, text in zip(short, texts, strict=True)}


def _judge_by_signals(
    fact: Fact, memories: Sequence[Memory], *, is_temporary: bool
) -> tuple[Verdict, dict[UUID, RenamedText]]:
    """Judge the candidates that are short enough, if the fact itself is. Return their texts too."""
    if len(fact.content) > MAX_READ:
        return Verdict(), {}
    texts = _rename_alike(fact, memories)
    read = [memory for memory in memories if memory.id in texts]
    statements = [_build_statement(memory.fact, texts[memory.id].text) for memory in read]
    judgments = []
    incoming = replace(_build_statement(fact, fact.content), is_temporary=is_temporary)
    for judgment in signals.judge_candidates(incoming, statements):
        judgments.append(_judgment_from_signal(judgment, read[judgment.candidate]))
    # "Until the end of May" ends nothing that is stored.
    retracts = find_ending(fact.content) and find_ending(drop_date_words(fact.content))
    renamed = _rename_completed(fact, judgments, read)
    return Verdict(judgments=tuple(judgments), merged_text=renamed, retracts=bool(retracts)), texts


def _rename_completed(
    fact: Fact, judgments: Sequence[Judgment], memories: Sequence[Memory]
) -> str | None:
    """Return the text under its new name and the fact, if signals see a rename."""
    for judgment, memory in zip(judgments, memories, strict=True):
        if judgment.relation is Relation.COMPLEMENT:
            renamed = signals.rename_text(memory.fact.content, fact.content)
            return renamed and join_texts(renamed, fact.content)
    return None


def _drop_false_repetitions(
    verdict: Verdict, fact: Fact, texts: Mapping[UUID, RenamedText]
) -> Verdict:
    """Return the verdict without repetitions of texts that do not say all that the fact says."""
    judgments = [_check_words(j, fact.content, texts[j.memory_id]) for j in verdict.judgments]
    return replace(verdict, judgments=tuple(judgments))


def _check_words(judgment: Judgment, incoming: str, stored: RenamedText) -> Judgment:
    if judgment.relation is not Relation.DUPLICATE:
        return judgment
    reasoning = _find_other_words(incoming, stored)
    if reasoning is None:
        return judgment
    return replace(
        judgment,
        relation=Relation.OVERLAP,
        reasoning=f"{reasoning}; else {judgment.reasoning}",
        flag=False,
    )


def _find_other_words(incoming: str, stored: RenamedText) -> str | None:
    """Return why the incoming text is no repetition, although a judge may read it as one.

    "My sister Nora lives in Bonn" says more than "Nora lives in Bonn". And the network reads
    neither case nor most marks.
    """
    if stored.adds_description:
        return "it says who or what is meant"
    if differ_in_exact_words(stored.text, incoming):
        return "a word is written otherwise, which may matter"
    return None


def _build_statement(fact: BaseFact, text: str) -> signals.Statement:
    # "user" is the default, so that it does not tell whether the caller named an entity.
    entity = None if fact.entity == "user" else fact.entity
    kind = fact.kind or Kind.FACT
    return signals.Statement(
        text=text,
        at=fact.valid_from,
        entity=entity,
        key=fact.key,
        kind=kind.value,
    )


def _write_as_holding(fact: AnyFact) -> AnyFact:
    return replace(fact, content=write_as_holding(fact))


def _join_readings(
    whole: LocalVerdict, holding: LocalVerdict, fact: Fact, candidates: Sequence[Candidate]
) -> LocalVerdict:
    """Return the whole verdict, with the endings of the fact as told while it holds."""
    memories = {candidate.memory.id: candidate.memory for candidate in candidates}
    joined = {judgment.memory_id: judgment for judgment in whole.verdict.judgments}
    for judgment in holding.verdict.judgments:
        if _is_plain_ending(judgment, fact, memories[judgment.memory_id]):
            joined[judgment.memory_id] = judgment
    if tuple(joined.values()) == whole.verdict.judgments:
        return whole
    return replace(holding, verdict=replace(holding.verdict, judgments=tuple(joined.values())))


def _is_plain_ending(judgment: Judgment, fact: Fact, memory: Memory) -> bool:
    """Return True if the fact as told while it holds ends the memory, whose place in time is known.

    "I moved to London in 2010" may be told of the time before "I live in Leeds", which nobody
    dated. Without its date it reads as a move of today.
    """
    if judgment.relation is Relation.RETRACTION:
        return not judgment.flag
    if not judgment.relation.effect.ends_stored:
        return False
    if fact.valid_until is not None:
        return not judgment.flag or fact.valid_until <= memory.told_at
    is_undated = memory.stated_start is None
    return not (is_undated and fact.valid_from and fact.valid_from < memory.told_at)


def _lasts_for_days(fact: Fact) -> bool:
    """Return True if the fact has a stated end that is no time of the day."""
    if fact.valid_until is None:
        return False
    return fact.dated_by is None or fact.dated_by.precision is not Precision.INSTANT


def _judgment_from_signal(judgment: signals.SignalJudgment, memory: Memory) -> Judgment:
    return Judgment(
        memory_id=memory.id,
        relation=judgment.relation,
        confidence=judgment.confidence,
        reasoning=judgment.reasoning,
        decided_by=Judge.SIGNALS,
        findings=judgment.findings,
        vetoes=judgment.vetoes,
        flag=judgment.flag,
        akin=judgment.akin,
    )


def _build_question(
    fact: Fact,
    memories: Sequence[Memory],
    judgments: Sequence[Judgment],
    readings: Mapping[UUID, Reading],
) -> Question:
    by_id = {judgment.memory_id: judgment for judgment in judgments}
    candidates = []
    for memory in memories:
        evidence = _describe_evidence(by_id.get(memory.id), readings.get(memory.id))
        statement = PromptStatement.from_fact(memory.fact)
        candidates.append(PromptCandidate(memory.id, statement, evidence))
    return Question(PromptStatement.from_fact(fact), tuple(candidates))


def _describe_evidence(judgment: Judgment | None, reading: Reading | None) -> tuple[str, ...]:
    """Return in phrases what signals found and what the local judge reads."""
    phrases = []
    if judgment is not None:
        phrases += [f"kept apart: {veto}" for veto in judgment.vetoes]
        for finding in judgment.findings:
            if finding.name != LOCAL_FINDING:
                phrases.append(f"{finding.relation}: {finding.explanation}")
    if reading is not None:
        phrases.append(f"small model: {reading.describe()}")
    return tuple(phrases)


def _find_repeated(
    fact: Fact,
    judgments: Sequence[Judgment],
    texts: Mapping[UUID, RenamedText],
    readings: Mapping[UUID, Reading],
) -> set[UUID]:
    """Return the memories that signals or the local judge could take for the same as the fact."""
    repeated = {j.memory_id for j in judgments if j.relation is Relation.DUPLICATE}
    for memory_id, reading in readings.items():
        stored = texts[memory_id]
        if _find_other_words(fact.content, stored) is not None:
            continue
        if supports_duplicate(reading, stored.text, fact.content):
            repeated.add(memory_id)
    return repeated


def _add_model_verdict(
    verdict: Verdict, model_verdict: ModelVerdict, repeated: Set[UUID]
) -> Verdict:
    """Put the model's judgments in place of those of the signals on the same candidates.

    Of the repetitions that the model sees, only those of the `repeated` memories count. If the
    model failed, the signals' judgments remain and the fact is marked for another look.
    """
    by_model = {}
    for judgment in model_verdict.judgments:
        by_model[judgment.memory_id] = _check_repetition(judgment, repeated)
    judgments = []
    for judgment in verdict.judgments:
        judgments.append(_join_findings(judgment, by_model.pop(judgment.memory_id, None)))
    merges = any(j.relation is Relation.COMPLEMENT for j in model_verdict.judgments)
    return replace(
        verdict,
        judgments=(*judgments, *by_model.values()),
        merged_text=model_verdict.merged_text if merges else verdict.merged_text,
        model_cost=_build_model_cost(model_verdict),
        look_again=model_verdict.failure,
    )


def _check_repetition(judgment: Judgment, repeated: Set[UUID]) -> Judgment:
    """Return the judgment, or a mere overlap in place of a repetition that nobody else sees."""
    if judgment.relation is not Relation.DUPLICATE or judgment.memory_id in repeated:
        return judgment
    reasoning = f"stored, because no other judge takes it for the same: {judgment.reasoning}"
    return replace(judgment, relation=Relation.OVERLAP, reasoning=reasoning)


def _build_model_cost(verdict: ModelVerdict) -> ModelCost:
    return ModelCost(
        model=verdict.model,
        prompt_version=verdict.prompt_version,
        llm_calls=verdict.usage.llm_calls,
        prompt_tokens=verdict.usage.prompt_tokens,
        completion_tokens=verdict.usage.completion_tokens,
        ms=round(verdict.usage.ms, 1),
        trouble=verdict.trouble,
    )


def _join_findings(local: Judgment, model: Judgment | None) -> Judgment:
    """Return the model's judgment with what the other judges found and thought."""
    if model is None:
        return local
    opinion = Opinion(model.decided_by, model.relation, model.confidence, model.reasoning)
    changes = {opinion.relation.effect.changes_stored for opinion in (*local.opinions, opinion)}
    return replace(
        model,
        findings=local.findings,
        opinions=(*local.opinions, opinion),
        disagree=len(changes) > 1,
    )
