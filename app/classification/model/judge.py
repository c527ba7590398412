"""The model judge: one question to a language model about all candidates of one fact.

The model's answer is checked, never trusted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.classification.model import prompt
from app.classification.model.answer import SCHEMA, ModelAnswer, read_answer
from app.classification.model.prompt import Prompt
from app.classification.model.question import Question
from app.domain.relation import Judge, Judgment
from app.remote.asking import ask_model
from app.remote.budget import Budget, Payer
from app.remote.chat import ChatClient
from app.remote.json_answer import UnreadableAnswer
from app.remote.trouble import Trouble

MAX_TROUBLE = 1_000
MOST_IGNORED = 10


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The cost of a verdict: HTTP calls to the model, tokens as the server counts them, and
    milliseconds."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """The usable judgments of the model, one at most for each candidate, in their order.

    `trouble` says in a sentence why there is no answer, or which part of it was ignored.
    `failure` is one word for the trouble, for metrics. Nothing is known of a candidate without
    a judgment.
    """

    judgments: tuple[Judgment, ...] = ()
    merged_text: str | None = None
    usage: ModelUsage = ModelUsage()
    trouble: str | None = None
    failure: str | None = None
    model: str
    prompt_version: str = prompt.VERSION


class ModelJudge:
    """Asks a chat model, within the budgets of each payer. Trouble with the model is a value."""

    def __init__(self, chat: ChatClient, budget: Budget) -> None:
        self._chat = chat
        self._budget = budget

    async def judge(self, payer: Payer, question: Question) -> ModelVerdict:
        """Return the model's verdict on a question.

        There is no call without candidates. Otherwise there is one, and the retries of a call
        that failed.
        """
        if not question.candidates:
            return ModelVerdict(model=self._chat.model)
        if limit := self._budget.find_exceeded_limit(payer):
            return self._build_failed_verdict(limit, "budget")
        model_prompt = prompt.render_prompt(question)
        if not model_prompt.candidates:
            sentence = "The texts are too long for one question to the model."
            return self._build_failed_verdict(sentence, "too_long")
        outcome = await ask_model(
            self._chat,
            self._budget,
            payer,
            system=model_prompt.system,
            user=model_prompt.user,
            schema=SCHEMA,
        )
        usage = ModelUsage(
            llm_calls=outcome.calls,
            prompt_tokens=outcome.prompt_tokens,
            completion_tokens=outcome.completion_tokens,
            ms=outcome.ms,
        )
        if isinstance(outcome, Trouble):
            return self._build_failed_verdict(outcome.detail, outcome.reason.value, usage)
        try:
            answer = read_answer(outcome.text, len(model_prompt.candidates))
        except UnreadableAnswer as why:
            return self._build_failed_verdict(str(why), "unreadable", usage)
        return self._build_verdict(question, model_prompt, answer, usage)

    def _build_verdict(
        self, question: Question, model_prompt: Prompt, answer: ModelAnswer, usage: ModelUsage
    ) -> ModelVerdict:
        judgments = []
        for number, entry in sorted(answer.entries.items()):
            judgment = Judgment(
                memory_id=model_prompt.candidates[number - 1].memory_id,
                relation=entry.relation,
                confidence=entry.confidence,
                reasoning=entry.reason,
                decided_by=Judge.MODEL,
            )
            judgments.append(judgment)
        trouble = _describe_gaps(
            answer.ignored,
            silent=len(model_prompt.candidates) - len(judgments),
            left_out=len(question.candidates) - len(model_prompt.candidates),
        )
        return ModelVerdict(
            judgments=tuple(judgments),
            merged_text=answer.merged_text,
            usage=usage,
            trouble=trouble,
            failure="partial" if trouble else None,
            model=self._chat.model,
        )

    def _build_failed_verdict(
        self, trouble: str, failure: str, usage: ModelUsage | None = None
    ) -> ModelVerdict:
        return ModelVerdict(
            model=self._chat.model,
            trouble=trouble,
            failure=failure,
            usage=usage or ModelUsage(),
        )


def _describe_gaps(ignored: Sequence[str], *, silent: int, left_out: int) -> str | None:
    """Return sentences, bounded in length, about what is unusable or missing; None if nothing."""
    sentences = []
    if ignored:
        parts = list(ignored[:MOST_IGNORED])
        if len(ignored) > MOST_IGNORED:
            parts.append(f"{len(ignored) - MOST_IGNORED} more")
        sentences.append(f"Ignored in the model's answer: {'; '.join(parts)}.")
    if silent:
        sentences.append(f"Without a usable judgment: {silent} of the candidates asked about.")
    if left_out:
        sentences.append(f"Not asked about, for length: {left_out} candidates.")
    return " ".join(sentences)[:MAX_TROUBLE] or None
