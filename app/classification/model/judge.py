"""The model judge: one question to a language model about all candidates of one fact. Its answer is checked, never trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.classification.model import prompt
from app.classification.model.answer import (
    SCHEMA,
    ModelAnswer,
    SlotHint,
    UnreadableAnswer,
    read_answer,
)
from app.classification.model.budget import Budget
from app.classification.model.chat import ChatClient
from app.classification.model.completion import Reply
from app.classification.model.prompt import Prompt
from app.classification.model.question import Question
from app.domain.agent import AgentId
from app.domain.relation import Judge, Judgment
from app.remote.trouble import Trouble

MAX_TROUBLE = 1_000


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What a verdict cost: HTTP calls to the model, tokens as the server counts them, milliseconds."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """What the model says, as far as it can be used: at most one judgment per candidate asked about, in their order.

    `trouble` says in a sentence why there is no answer, or what of it was ignored; `failure` is the word for it, for metrics.
    `unanswered` lists the candidates without a judgment: of these nothing is known.
    """

    judgments: tuple[Judgment, ...] = ()
    merged_text: str | None = None
    slot: SlotHint | None = None
    usage: ModelUsage = ModelUsage()
    trouble: str | None = None
    failure: str | None = None
    unanswered: tuple[UUID, ...] = ()
    model: str
    prompt_version: str = prompt.VERSION


class ModelJudge:
    """Asks a chat model, within each agent's budget. Never raises for model trouble, and holds nothing while waiting but memory."""

    def __init__(self, chat: ChatClient, budget: Budget) -> None:
        self._chat = chat
        self._budget = budget

    async def judge(self, agent: AgentId, question: Question) -> ModelVerdict:
        """The model's verdict on a question; no call without candidates, else one (and the retries of a failed one)."""
        if not question.candidates:
            return ModelVerdict(model=self._chat.model)
        if spent := self._budget.find_exceeded_limit(agent):
            return self._build_failed_verdict(question, spent, "budget")
        asked = prompt.render_prompt(question)
        if not asked.candidates:
            return self._build_failed_verdict(
                question, "The texts are too long for one question to the model.", "too_long"
            )
        outcome = await self._ask_model(agent, asked)
        usage = ModelUsage(
            outcome.calls, outcome.prompt_tokens, outcome.completion_tokens, outcome.ms
        )
        if isinstance(outcome, Trouble):
            return self._build_failed_verdict(question, outcome.detail, outcome.reason.value, usage)
        try:
            answer = read_answer(outcome.text, len(asked.candidates))
        except UnreadableAnswer as why:
            return self._build_failed_verdict(question, str(why), "unreadable", usage)
        return self._build_verdict(question, asked, answer, usage)

    async def _ask_model(self, agent: AgentId, model_prompt: Prompt) -> Reply | Trouble:
        self._budget.count_question(agent)
        outcome = await self._chat.complete(model_prompt.system, model_prompt.user, SCHEMA)
        counted = outcome.prompt_tokens + outcome.completion_tokens
        self._budget.count_tokens(agent, counted or _estimate_tokens(model_prompt, outcome))
        return outcome

    def _build_verdict(
        self, question: Question, model_prompt: Prompt, answer: ModelAnswer, usage: ModelUsage
    ) -> ModelVerdict:
        judgments = tuple(
            Judgment(
                model_prompt.candidates[number - 1].memory_id,
                entry.relation,
                entry.confidence,
                entry.reason,
                Judge.MODEL,
            )
            for number, entry in sorted(answer.entries.items())
        )
        judged = {judgment.memory_id for judgment in judgments}
        trouble = _describe_gaps(
            answer.ignored,
            silent=len(model_prompt.candidates) - len(judged),
            left_out=_count_left_out(question, model_prompt),
        )
        return ModelVerdict(
            judgments=judgments,
            merged_text=answer.merged_text,
            slot=answer.slot,
            usage=usage,
            trouble=trouble,
            failure=trouble and "partial",
            unanswered=tuple(c.memory_id for c in question.candidates if c.memory_id not in judged),
            model=self._chat.model,
        )

    def _build_failed_verdict(
        self, question: Question, trouble: str, failure: str, usage: ModelUsage | None = None
    ) -> ModelVerdict:
        everyone = tuple(candidate.memory_id for candidate in question.candidates)
        return ModelVerdict(
            model=self._chat.model,
            trouble=trouble,
            failure=failure,
            unanswered=everyone,
            usage=usage or ModelUsage(),
        )


def _estimate_tokens(model_prompt: Prompt, outcome: Reply | Trouble) -> int:
    """Tokens where the server does not count them: a quarter of the characters of what was answered."""
    return (
        (len(model_prompt.system) + len(model_prompt.user) + len(outcome.text)) // 4
        if isinstance(outcome, Reply)
        else 0
    )


def _count_left_out(question: Question, model_prompt: Prompt) -> int:
    return len(question.candidates) - len(model_prompt.candidates)


def _describe_gaps(ignored: Sequence[str], *, silent: int, left_out: int) -> str | None:
    """What of the answer could not be used and what is missing, or None; bounded."""
    parts = [*ignored[:10], f"{len(ignored) - 10} more"] if len(ignored) > 10 else [*ignored]
    sentences = [f"Ignored in the model's answer: {'; '.join(parts)}."] if parts else []
    if silent:
        sentences.append(f"Without a usable judgment: {silent} of the candidates asked about.")
    if left_out:
        sentences.append(f"Not asked about, for length: {left_out} candidates.")
    return " ".join(sentences)[:MAX_TROUBLE] or None
