"""The model judge: one question to a language model about all candidates of some facts.

The model's answer is checked, never trusted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from app.classification.model import prompt
from app.classification.model.answer import SCHEMA, AnswerEntry, ModelAnswer, read_answer
from app.classification.model.prompt import Form, Prompt
from app.classification.model.question import Question
from app.domain.relation import Judge, Judgment, Relation
from app.remote.asking import ask_model
from app.remote.budget import Budget, Payer
from app.remote.chat import ChatClient
from app.remote.trouble import Reason, Trouble

MAX_TROUBLE = 1_000
MOST_IGNORED = 10
STAYS = "The model leaves it out, so it stays."


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The cost of a verdict: HTTP calls to the model, tokens as the server counts them, and
    milliseconds.

    The first fact of a question bears the cost of it all.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        return ModelUsage(
            llm_calls=self.llm_calls + other.llm_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            ms=self.ms + other.ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """The usable judgments of the model, one at most for each candidate, in their order.

    `trouble` says in a sentence why there is no answer, or which part of it was ignored. `failure`
    is one word for the trouble, for metrics. Nothing is known of a candidate without a judgment.
    `confirmed` says of the candidates that the model was asked about once more whether it said the
    same of them once more.
    """

    judgments: tuple[Judgment, ...] = ()
    confirmed: Mapping[UUID, bool] = field(default_factory=dict)
    usage: ModelUsage = ModelUsage()
    trouble: str | None = None
    failure: str | None = None
    model: str
    prompt_version: str


class ModelJudge:
    """Asks a chat model, within the budgets of each payer. Trouble with the model is a value.

    `form` is how the model is asked. Without one, it is asked in full until an answer cannot be
    read, and then as a small model.
    """

    def __init__(self, chat: ChatClient, budget: Budget, form: Form | None = None) -> None:
        self._chat = chat
        self._budget = budget
        self._form = form or Form.FULL
        self._may_choose_form = form is None

    async def judge(self, payer: Payer, questions: Sequence[Question]) -> list[ModelVerdict]:
        """Return the model's verdicts on some questions, which have candidates, in their order.

        There is one call for all of them, and the retries of a call that failed.
        """
        if limit := self._budget.find_exceeded_limit(payer):
            return self._build_failed_verdicts(questions, limit, "budget")
        model_prompt = prompt.render_prompt(questions, self._form)
        if not model_prompt.candidates:
            sentence = "The texts are too long for one question to the model."
            return self._build_failed_verdicts(questions, sentence, "too_long")
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
            verdicts = self._build_failed_verdicts(
                questions, outcome.detail, outcome.reason.value, usage
            )
            if outcome.reason is Reason.UNREADABLE and self._may_choose_form:
                self._form = Form.SMALL
            return verdicts
        answer = read_answer(outcome.text, max(model_prompt.candidates))
        return self._build_verdicts(questions, model_prompt, answer, usage)

    async def ask_again(
        self, payer: Payer, questions: Sequence[Question], verdicts: Sequence[ModelVerdict]
    ) -> list[ModelVerdict]:
        """Return the verdicts, with what the model says of some candidates when it is asked again.

        Those are the `again` of the questions. It gets them without the others and without hints,
        so that it hardly makes a mistake twice. If it does not answer, its first word stands.
        """
        answers = await self.judge(payer, questions)
        checked = []
        for verdict, again in zip(verdicts, answers, strict=True):
            first = {each.memory_id: each.relation.effect for each in verdict.judgments}
            confirmed = {}
            for judgment in again.judgments:
                second, before = judgment.relation.effect, first[judgment.memory_id]
                confirmed[judgment.memory_id] = (second.ends_stored, second.stores_incoming) == (
                    before.ends_stored,
                    before.stores_incoming,
                )
            usage = verdict.usage + again.usage
            checked.append(replace(verdict, confirmed=confirmed, usage=usage))
        return checked

    def _build_verdicts(
        self,
        questions: Sequence[Question],
        model_prompt: Prompt,
        answer: ModelAnswer,
        usage: ModelUsage,
    ) -> list[ModelVerdict]:
        verdicts = []
        for place, question in enumerate(questions):
            judgments: list[Judgment] = []
            shown = 0
            for number, (asked_in, candidate) in model_prompt.candidates.items():
                if asked_in != place:
                    continue
                shown += 1
                if number not in answer.unclear:
                    entry = answer.entries.get(number)
                    judgments.append(_build_judgment(candidate.memory_id, entry))
            trouble = _describe_gaps(
                answer.ignored if place == 0 else (),
                silent=shown - len(judgments),
                left_out=len(question.candidates if question.again is None else question.again)
                - shown,
            )
            verdicts.append(
                ModelVerdict(
                    judgments=tuple(judgments),
                    usage=usage if place == 0 else ModelUsage(),
                    trouble=trouble,
                    failure="partial" if trouble else None,
                    model=self._chat.model,
                    prompt_version=self._prompt_version,
                )
            )
        return verdicts

    def _build_failed_verdicts(
        self,
        questions: Sequence[Question],
        trouble: str,
        failure: str,
        usage: ModelUsage | None = None,
    ) -> list[ModelVerdict]:
        return [
            ModelVerdict(
                model=self._chat.model,
                prompt_version=self._prompt_version,
                trouble=trouble,
                failure=failure,
                usage=usage if usage and place == 0 else ModelUsage(),
            )
            for place in range(len(questions))
        ]

    @property
    def _prompt_version(self) -> str:
        return f"{prompt.VERSION}.{self._form}"


def _build_judgment(memory_id: UUID, entry: AnswerEntry | None) -> Judgment:
    """Return the model's judgment; a candidate that it leaves out stays as it is.

    If only a part changes, the whole must not end: without its new text, somebody is asked.
    """
    if entry is None:
        return Judgment(memory_id, Relation.NONE, 1.0, STAYS, Judge.MODEL)
    takes_text = entry.is_part or entry.relation is Relation.COMPLEMENT
    return Judgment(
        memory_id=memory_id,
        relation=entry.relation,
        confidence=entry.confidence,
        reasoning=entry.reason,
        decided_by=Judge.MODEL,
        new_text=entry.new_text if takes_text else None,
        flag=entry.is_part and entry.new_text is None,
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
