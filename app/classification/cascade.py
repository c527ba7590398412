"""The cascade from cheap to dear: signals first, then the model for what they leave open. Nothing is locked while it runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.classification import signals
from app.classification.model.judge import ModelJudge, ModelVerdict
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.classification.signals.endings import find_ending
from app.classification.signals.reading import parse_text
from app.domain.agent import AgentId
from app.domain.decide import decide_operation
from app.domain.fact import BaseFact, Fact, Kind, Tier
from app.domain.policy import Policy
from app.domain.relation import Classify, Judge, Judgment, ModelCost, Operation, Relation
from app.domain.version import Memory

GATE_SHARED_WORDS = 3
GATE_RANK = 5
MAX_READ = 2_000  # characters; a longer text is a document rather than a fact, and reading it would hold up everybody


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judges say of each candidate, in order; the model's merged text; what asking took; why to look again, if at all.

    `retracts`: the fact says that something ended.
    """

    judgments: tuple[Judgment, ...] = ()
    merged_text: str | None = None
    asked: ModelCost | None = None
    look_again: str | None = None
    retracts: bool = False


class Cascade:
    """Judges facts against candidates. The model is asked only about those that share words with the fact or rank high."""

    def __init__(self, policy: Policy, model: ModelJudge | None) -> None:
        self._policy = policy
        self._model = model

    async def judge(
        self, agent: AgentId, fact: Fact, candidates: Sequence[Memory], tier: Classify
    ) -> Verdict:
        """The judges' word on a fact that neither its slot nor an equal text decides; the likeliest candidates first."""
        said = _judge_by_signals(fact, candidates) if tier.reads_signals else ()
        retracts = (
            tier.reads_signals
            and len(fact.content) <= MAX_READ
            and find_ending(fact.content) is not None
        )
        verdict = Verdict(said, retracts=retracts)
        if (
            not tier.asks_model
            or not candidates
            or self._is_decided(said)
            or (self._model is None and tier is not Classify.MODEL)
        ):
            return verdict
        asked = self._find_undecided(fact, candidates, said)
        if not asked:
            return verdict
        if self._model is None:
            return replace(verdict, look_again="no model is configured")
        return _with_model(verdict, await self._model.judge(agent, _build_question(fact, asked)))

    def _is_decided(self, judgments: Sequence[Judgment]) -> bool:
        choice = decide_operation(judgments, self._policy.is_sure)
        return choice.operation is not Operation.ADD

    def _find_undecided(
        self, fact: Fact, candidates: Sequence[Memory], judgments: Sequence[Judgment]
    ) -> list[Memory]:
        """What the signals leave open: not vetoed, and near enough to be worth a question."""
        vetoed = {j.memory_id for j in judgments if j.vetoes}
        words = parse_text(fact.content[:MAX_READ]).items
        return [
            memory
            for rank, memory in enumerate(candidates)
            if memory.id not in vetoed
            and (
                rank < GATE_RANK
                or len(words & parse_text(memory.fact.content[:MAX_READ]).items)
                >= GATE_SHARED_WORDS
            )
        ]


def should_consider(
    memory: Memory, similarity: float | None, *, min_importance: float, similarity_floor: float
) -> bool:
    """Whether a candidate is looked at (reference 002): important enough, or core; and near enough, where a floor is set."""
    important = memory.belief.tier is Tier.CORE or memory.fact.importance >= min_importance
    return important and (similarity is None or similarity >= similarity_floor)


def _judge_by_signals(fact: Fact, candidates: Sequence[Memory]) -> tuple[Judgment, ...]:
    """Judgments on the candidates that are short enough to be one fact; none where the fact itself is not."""
    if len(fact.content) > MAX_READ:
        return ()
    short = [memory for memory in candidates if len(memory.fact.content) <= MAX_READ]
    judged = signals.judge_candidates(
        _statement_from_fact(fact), [_statement_from_fact(memory.fact) for memory in short]
    )
    return tuple(_judgment_from_signal(found, short[found.candidate]) for found in judged)


def _statement_from_fact(fact: BaseFact) -> signals.Statement:
    kind = fact.kind or Kind.FACT
    entity = None if fact.entity == "user" else fact.entity  # nobody said it: it is the default
    return signals.Statement(
        fact.content,
        fact.valid_from,
        entity,
        fact.category or None,
        fact.key,
        fact.value,
        kind.value,
    )


def _judgment_from_signal(judgment: signals.SignalJudgment, memory: Memory) -> Judgment:
    told = (judgment.findings, judgment.vetoes, judgment.flag, judgment.akin)
    return Judgment(
        memory.id, judgment.relation, judgment.confidence, judgment.reasoning, Judge.SIGNALS, *told
    )


def _build_question(fact: Fact, candidates: Sequence[Memory]) -> Question:
    asked = tuple(
        PromptCandidate(memory.id, PromptStatement.from_fact(memory.fact)) for memory in candidates
    )
    return Question(PromptStatement.from_fact(fact), asked)


def _with_model(verdict: Verdict, model_verdict: ModelVerdict) -> Verdict:
    """The model's judgments in place of the signals' on the same candidates; where it failed, theirs stand and the fact is marked."""
    usage = model_verdict.usage
    asked = ModelCost(
        model_verdict.model,
        model_verdict.prompt_version,
        usage.llm_calls,
        usage.prompt_tokens,
        usage.completion_tokens,
        round(usage.ms, 1),
        model_verdict.trouble,
    )
    answered: dict[UUID, Judgment] = {j.memory_id: j for j in model_verdict.judgments}
    kept = [_join_findings(j, answered.pop(j.memory_id, None)) for j in verdict.judgments]
    merged = (
        model_verdict.merged_text
        if any(j.relation is Relation.COMPLEMENT for j in model_verdict.judgments)
        else None
    )
    return replace(
        verdict,
        judgments=(*kept, *answered.values()),
        merged_text=merged,
        asked=asked,
        look_again=model_verdict.failure,
    )


def _join_findings(signal: Judgment, model: Judgment | None) -> Judgment:
    return signal if model is None else replace(model, findings=signal.findings)
