"""The model extractor: one question to a language model about the new turns of a batch.

The model's answer is checked, never trusted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.relation import ModelCost
from app.domain.talk import Extraction, Quote, Role, Skipped, SkipReason, Statement, Turn
from app.extraction.model import prompt
from app.extraction.model.answer import SCHEMA, ModelFacts, read_answer
from app.extraction.model.support import find_support
from app.remote.asking import ask_model
from app.remote.budget import Budget, Payer
from app.remote.chat import ChatClient
from app.remote.json_answer import UnreadableAnswer
from app.remote.trouble import CallOutcome, Trouble

MOST_IGNORED = 10

# A sentence ends with its marks, or with its line. The mark in "3.5" ends none.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\w))*[.!?\n]*")


@dataclass(frozen=True, slots=True)
class ModelExtraction:
    """What the model read from the turns, and the cost.

    `extraction` is None if there is no answer that can be used. Then `failure` is one word for the
    reason, for metrics. The trouble of the cost says in a sentence why the answer, or a part of it,
    was not used.
    """

    extraction: Extraction | None
    cost: ModelCost
    failure: str | None = None


class ModelExtractor:
    """Asks a chat model, within the budgets of each payer. Trouble with the model is a value."""

    def __init__(self, chat: ChatClient, budget: Budget) -> None:
        self._chat = chat
        self._budget = budget

    async def extract(self, payer: Payer, turns: Sequence[Turn], first: int = 0) -> ModelExtraction:
        """Return what the model reads from the turns from the place `first` on, in one question.

        The turns before help to understand these. There is no call without a new turn of a user.
        Otherwise there is one, and the retries of a call that failed. Call this outside of any
        transaction: an answer may take a minute.
        """
        if not any(turn.role is Role.USER for turn in turns[first:]):
            return self._build_result(turns, statements=(), unsupported=())
        if limit := self._budget.find_exceeded_limit(payer):
            return self._build_failure(limit, "budget")
        question = prompt.render_prompt(turns, first)
        if question is None:
            sentence = "The turns are too long for one question to the model."
            return self._build_failure(sentence, "too_long")
        outcome = await ask_model(
            self._chat,
            self._budget,
            payer,
            system=question.system,
            user=question.user,
            schema=SCHEMA,
        )
        if isinstance(outcome, Trouble):
            return self._build_failure(outcome.detail, outcome.reason.value, outcome)
        try:
            answer = read_answer(outcome.text, len(question.places))
        except UnreadableAnswer as why:
            return self._build_failure(str(why), "unreadable", outcome)
        return self._check_facts(turns, question.places, answer, outcome)

    def _check_facts(
        self,
        turns: Sequence[Turn],
        places: Sequence[int],
        answer: ModelFacts,
        outcome: CallOutcome,
    ) -> ModelExtraction:
        """Return the supported facts as statements, each once, and the others as skipped."""
        statements: dict[Statement, None] = {}
        unsupported: dict[Skipped, None] = {}
        for fact in answer.facts:
            statement = find_support(fact, turns, places)
            if statement is not None:
                statements[statement] = None
                continue
            place = places[fact.quote.number - 1]
            content, words = turns[place].content, fact.quote.words
            start = content.find(words)
            quote = Quote(place, start, start + len(words))
            if start < 0:  # the words do not stand in the turn
                quote = Quote(place, 0, len(content))
            unsupported[Skipped(quote, SkipReason.UNSUPPORTED)] = None
        trouble = None
        if answer.ignored:
            trouble = f"Ignored in the model's answer: {'; '.join(answer.ignored[:MOST_IGNORED])}."
        return self._build_result(
            turns,
            statements=tuple(statements),
            unsupported=tuple(unsupported),
            cost=self._build_cost(outcome, trouble),
        )

    def _build_result(
        self,
        turns: Sequence[Turn],
        *,
        statements: tuple[Statement, ...],
        unsupported: tuple[Skipped, ...],
        cost: ModelCost | None = None,
    ) -> ModelExtraction:
        used = [quote for statement in statements for quote in statement.quotes]
        used += [skipped.quote for skipped in unsupported]
        skipped = (*unsupported, *_list_unused(turns, used))
        return ModelExtraction(Extraction(statements, skipped), cost or self._build_cost())

    def _build_failure(
        self, trouble: str, failure: str, outcome: CallOutcome | None = None
    ) -> ModelExtraction:
        return ModelExtraction(None, self._build_cost(outcome, trouble), failure)

    def _build_cost(
        self, outcome: CallOutcome | None = None, trouble: str | None = None
    ) -> ModelCost:
        spent = outcome or CallOutcome()
        return ModelCost(
            model=self._chat.model,
            prompt_version=prompt.VERSION,
            llm_calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            ms=spent.ms,
            trouble=trouble,
        )


# --- what became no fact --------------------------------------------------------------------------


def _list_unused(turns: Sequence[Turn], used: Sequence[Quote]) -> Iterator[Skipped]:
    """Yield the sentences of users that no quote touches, and the turns of others."""
    for place, turn in enumerate(turns):
        quotes = [quote for quote in used if quote.turn == place]
        if turn.role is Role.USER:
            for sentence in _cut_sentences(place, turn.content):
                if not any(sentence.overlaps(quote) for quote in quotes):
                    yield Skipped(sentence, SkipReason.NO_STATEMENT)
        elif not quotes:
            reason = SkipReason.OTHER_ROLE
            if turn.role is Role.ASSISTANT:
                reason = SkipReason.ASSISTANT
            yield Skipped(Quote(place, 0, len(turn.content)), reason)


def _cut_sentences(place: int, text: str) -> Iterator[Quote]:
    """Yield the sentences that hold a letter or digit, without the space around them."""
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if any(character.isalnum() for character in sentence):
            start = match.start() + match.group().index(sentence)
            yield Quote(place, start, start + len(sentence))
