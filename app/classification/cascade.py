"""The cascade of judges: signals first, then the model for the candidates that they leave open.

Nothing is locked while it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.classification import signals
from app.classification.model.judge import ModelJudge, ModelVerdict
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.classification.signals.endings import find_ending
from app.classification.signals.reading import parse_text
from app.domain.agent import AgentId
from app.domain.fact import BaseFact, Fact, Kind, Tier
from app.domain.policy import Policy
from app.domain.relation import (
    Classify,
    Judge,
    Judgment,
    ModelCost,
    Operation,
    Relation,
    decide_operation,
)
from app.domain.version import Memory

GATE_SHARED_WORDS = 3
GATE_RANK = 5
# Characters. A longer text is a document rather than a fact, and reading it would block others.
MAX_READ = 2_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgments on the candidates, in order, and the model's merged text and cost.

    `look_again` is the reason for another look, if there is one. `retracts` is True if the fact
    says that something ended.
    """

    judgments: tuple[Judgment, ...] = ()
    merged_text: str | None = None
    model_cost: ModelCost | None = None
    look_again: str | None = None
    retracts: bool = False


class Cascade:
    """Judges facts against candidates.

    The model is asked only about candidates that share words with the fact or rank high.
    """

    def __init__(self, policy: Policy, model: ModelJudge | None) -> None:
        self._policy = policy
        self._model = model

    async def judge(
        self, agent: AgentId, fact: Fact, candidates: Sequence[Memory], tier: Classify
    ) -> Verdict:
        """Return the verdict on a fact that neither its slot nor an equal text decides.

        The likeliest candidates come first.
        """
        verdict = _judge_by_signals(fact, candidates) if tier.reads_signals else Verdict()
        if not self._may_ask_model(tier) or self._is_decided(verdict.judgments):
            return verdict
        undecided = self._find_undecided(fact, candidates, verdict.judgments)
        if not undecided:
            return verdict
        if self._model is None:
            return replace(verdict, look_again="no model is configured")
        answer = await self._model.judge(agent, _build_question(fact, undecided))
        return _add_model_verdict(verdict, answer)

    def _may_ask_model(self, tier: Classify) -> bool:
        """Return True if a model is wanted. A caller who insists on one learns if there is none."""
        return tier.asks_model and (self._model is not None or tier is Classify.MODEL)

    def _is_decided(self, judgments: Sequence[Judgment]) -> bool:
        choice = decide_operation(judgments, self._policy.is_sure)
        return choice.operation is not Operation.ADD

    def _find_undecided(
        self, fact: Fact, candidates: Sequence[Memory], judgments: Sequence[Judgment]
    ) -> list[Memory]:
        """Return the candidates that are not vetoed and near enough to be worth a question."""
        vetoed = {judgment.memory_id for judgment in judgments if judgment.vetoes}
        words = parse_text(fact.content[:MAX_READ]).items
        undecided = []
        for rank, memory in enumerate(candidates):
            if memory.id in vetoed:
                continue
            if rank < GATE_RANK or _count_shared(words, memory) >= GATE_SHARED_WORDS:
                undecided.append(memory)
        return undecided


def _count_shared(words: frozenset[str], memory: Memory) -> int:
    return len(words & parse_text(memory.fact.content[:MAX_READ]).items)


def should_consider(
    memory: Memory, similarity: float | None, *, min_importance: float, similarity_floor: float
) -> bool:
    """Return True if a candidate is important enough, or core, and near enough (reference 002).

    A candidate without a similarity was not ranked by its vector and counts as near.
    """
    is_important = memory.belief.tier is Tier.CORE or memory.fact.importance >= min_importance
    is_near = similarity is None or similarity >= similarity_floor
    return is_important and is_near


def _judge_by_signals(fact: Fact, candidates: Sequence[Memory]) -> Verdict:
    """Judge the candidates that are short enough to be one fact, if the fact itself is."""
    if len(fact.content) > MAX_READ:
        return Verdict()
    short = [memory for memory in candidates if len(memory.fact.content) <= MAX_READ]
    statements = [_build_statement(memory.fact) for memory in short]
    judgments = []
    for judgment in signals.judge_candidates(_build_statement(fact), statements):
        judgments.append(_judgment_from_signal(judgment, short[judgment.candidate]))
    retracts = find_ending(fact.content) is not None
    return Verdict(judgments=tuple(judgments), retracts=retracts)


def _build_statement(fact: BaseFact) -> signals.Statement:
    # "user" is the default, so that it does not tell whether the caller named an entity.
    entity = None if fact.entity == "user" else fact.entity
    kind = fact.kind or Kind.FACT
    return signals.Statement(
        text=fact.content,
        at=fact.valid_from,
        entity=entity,
        key=fact.key,
        kind=kind.value,
    )


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


def _build_question(fact: Fact, candidates: Sequence[Memory]) -> Question:
    prompt_candidates = []
    for memory in candidates:
        statement = PromptStatement.from_fact(memory.fact)
        prompt_candidates.append(PromptCandidate(memory.id, statement))
    return Question(PromptStatement.from_fact(fact), tuple(prompt_candidates))


def _add_model_verdict(verdict: Verdict, model_verdict: ModelVerdict) -> Verdict:
    """Put the model's judgments in place of those of the signals on the same candidates.

    If the model failed, the signals' judgments remain and the fact is marked for another look.
    """
    by_model = {judgment.memory_id: judgment for judgment in model_verdict.judgments}
    judgments = []
    for judgment in verdict.judgments:
        judgments.append(_join_findings(judgment, by_model.pop(judgment.memory_id, None)))
    merges = any(j.relation is Relation.COMPLEMENT for j in model_verdict.judgments)
    return replace(
        verdict,
        judgments=(*judgments, *by_model.values()),
        merged_text=model_verdict.merged_text if merges else None,
        model_cost=_build_model_cost(model_verdict),
        look_again=model_verdict.failure,
    )


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


def _join_findings(signal: Judgment, model: Judgment | None) -> Judgment:
    return signal if model is None else replace(model, findings=signal.findings)
