"""The cascade from cheap to dear: signals first, then the model for what they leave open. Nothing is locked while it runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.domain import signals
from app.domain.decide import decide
from app.domain.memory import AgentId, Fact, Kind, Memory, Operation, Tier
from app.domain.plan import Policy
from app.domain.relation import Asked, Classify, Judge, Judgment, Relation
from app.domain.signals.endings import ending_of
from app.domain.signals.reading import read
from app.judges.model import ModelJudge, ModelVerdict
from app.judges.question import Candidate, Question, Statement

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
    asked: Asked | None = None
    look_again: str | None = None
    retracts: bool = False


class Cascade:
    """Judges facts against candidates. The model is asked only about those that share words with the fact or rank high."""

    def __init__(self, policy: Policy, model: ModelJudge | None) -> None:
        self._policy = policy
        self._model = model

    async def judge(self, agent: AgentId, fact: Fact, candidates: Sequence[Memory], tier: Classify) -> Verdict:
        """The judges' word on a fact that neither its slot nor an equal text decides; the likeliest candidates first."""
        said = _signals(fact, candidates) if tier.reads_signals else ()
        retracts = tier.reads_signals and len(fact.content) <= MAX_READ and ending_of(fact.content) is not None
        verdict = Verdict(said, retracts=retracts)
        if not tier.asks_model or not candidates or self._is_decided(said) or (self._model is None and tier is not Classify.MODEL):
            return verdict
        asked = self._open(fact, candidates, said)
        if not asked:
            return verdict
        if self._model is None:
            return replace(verdict, look_again="no model is configured")
        return _with_model(verdict, await self._model.judge(agent, _question(fact, asked)))

    def _is_decided(self, judgments: Sequence[Judgment]) -> bool:
        choice = decide(judgments, self._policy.is_sure)
        return choice.operation is not Operation.ADD

    def _open(self, fact: Fact, candidates: Sequence[Memory], said: Sequence[Judgment]) -> list[Memory]:
        """What the signals leave open: not vetoed, and near enough to be worth a question."""
        vetoed = {j.memory_id for j in said if j.vetoes}
        words = read(fact.content[:MAX_READ]).items
        return [
            memory
            for rank, memory in enumerate(candidates)
            if memory.id not in vetoed
            and (rank < GATE_RANK or len(words & read(memory.fact.content[:MAX_READ]).items) >= GATE_SHARED_WORDS)
        ]


def considered(memory: Memory, similarity: float | None, *, min_importance: float, similarity_floor: float) -> bool:
    """Whether a candidate is looked at (reference 002): important enough, or core; and near enough, where a floor is set."""
    important = memory.belief.tier is Tier.CORE or (memory.fact.importance or 0.0) >= min_importance
    return important and (similarity is None or similarity >= similarity_floor)


def _signals(fact: Fact, candidates: Sequence[Memory]) -> tuple[Judgment, ...]:
    """Judgments on the candidates that are short enough to be one fact; none where the fact itself is not."""
    if len(fact.content) > MAX_READ:
        return ()
    short = [memory for memory in candidates if len(memory.fact.content) <= MAX_READ]
    judged = signals.judge(_statement(fact), [_statement(memory.fact) for memory in short])
    return tuple(_judgment(found, short[found.candidate]) for found in judged)


def _statement(fact: Fact) -> signals.Statement:
    kind = fact.kind or Kind.FACT
    entity = None if fact.entity == "user" else fact.entity  # nobody said it: it is the default
    return signals.Statement(fact.content, fact.valid_from, entity, fact.category or None, fact.key, fact.value, kind.value)


def _judgment(found: signals.Judgment, memory: Memory) -> Judgment:
    told = (found.findings, found.vetoes, found.flag, found.akin)
    return Judgment(memory.id, found.relation, found.confidence, found.reasoning, Judge.SIGNALS, *told)


def _question(fact: Fact, candidates: Sequence[Memory]) -> Question:
    asked = tuple(Candidate(memory.id, Statement.of(memory.fact)) for memory in candidates)
    return Question(Statement.of(fact), asked)


def _with_model(verdict: Verdict, said: ModelVerdict) -> Verdict:
    """The model's judgments in place of the signals' on the same candidates; where it failed, theirs stand and the fact is marked."""
    usage = said.usage
    asked = Asked(
        said.model, said.prompt_version, usage.llm_calls, usage.prompt_tokens, usage.completion_tokens, round(usage.ms, 1), said.trouble
    )
    answered: dict[UUID, Judgment] = {j.memory_id: j for j in said.judgments}
    kept = [_joined(j, answered.pop(j.memory_id, None)) for j in verdict.judgments]
    merged = said.merged_text if any(j.relation is Relation.COMPLEMENT for j in said.judgments) else None
    return replace(verdict, judgments=(*kept, *answered.values()), merged_text=merged, asked=asked, look_again=said.failure)


def _joined(signal: Judgment, model: Judgment | None) -> Judgment:
    return signal if model is None else replace(model, findings=signal.findings)
