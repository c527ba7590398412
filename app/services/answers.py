"""Answers of the agent's own model to the questions that contexts and stores asked it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import AmbiguousReview, PalimpsestError, UnknownLetter, UnknownReview
from app.domain.relation import Judge
from app.planning.agent_questions import read_handle
from app.planning.question_text import list_letters
from app.planning.reviews import Proposal
from app.services.agent_write import Call, agent_write
from app.services.reviews import Acceptance, OutdatedReview, ReviewDecider
from app.store.engine import begin_for_agent
from app.store.reviews import agent_questions


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """An answer to one question: its handle or id, and the letters of what it is right about."""

    question: str
    letters: tuple[str, ...]
    note: str | None


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """What an answer came to. `review_id` is None if no review has this handle."""

    question: str
    review_id: UUID | None
    result: Acceptance | PalimpsestError


class QuestionAnswerer:
    """Decides reviews as the agent's own model answers them."""

    def __init__(self, engine: AsyncEngine, reviews: ReviewDecider) -> None:
        self._engine = engine
        self._reviews = reviews

    async def answer_all(
        self, call: Call[list[AnsweredQuestion]], answers: Sequence[QuestionAnswer]
    ) -> list[AnsweredQuestion]:
        """Decide by each answer, in a transaction of its own.

        The same answer again has the first result, so a retry decides nothing twice.
        """
        one_call: Call[Acceptance] = Call(call.agent, call.info)
        answered: list[AnsweredQuestion] = []
        for answer in answers:
            review_id: UUID | None = None
            result: Acceptance | PalimpsestError
            try:
                proposal = await self._find_proposal(call.agent, answer.question)
                review_id = proposal.review_id
                result = await self._decide(one_call, proposal, answer)
            except PalimpsestError as problem:
                result = problem
            answered.append(AnsweredQuestion(answer.question, review_id, result))
        if call.idempotency.keyed_call:
            async with agent_write(self._engine, call, refuse_frozen=False) as write:
                await write.keep(answered)
        return answered

    async def _find_proposal(self, agent: AgentId, question: str) -> Proposal:
        """Return the proposal of a review. Raises UnknownReview and AmbiguousReview."""
        handle = read_handle(question)
        if handle is None:
            raise UnknownReview(question)
        async with begin_for_agent(self._engine, agent) as connection:
            matches = await agent_questions.find_by_handle(connection, agent, handle)
        if not matches:
            raise UnknownReview(question)
        if len(matches) > 1:
            raise AmbiguousReview(question, [each.proposal.review_id for each in matches])
        return matches[0].proposal

    async def _decide(
        self, call: Call[Acceptance], proposal: Proposal, answer: QuestionAnswer
    ) -> Acceptance:
        """Accept or reject the proposal. Raises UnknownLetter, and what `ReviewDecider` raises."""
        review_id, note = proposal.review_id, answer.note
        letters = list_letters(proposal)
        by_name = letters | {str(memory_id): memory_id for memory_id in proposal.targets}
        chosen: list[UUID] = []
        for letter in answer.letters:
            name = letter.strip(" ().").lower()
            if name not in by_name:
                raise UnknownLetter(review_id, name, list(letters))
            chosen.append(by_name[name])
        if not chosen:
            note = note or "The agent answered: none of them."
            return await self._reviews.reject(call, review_id, note=note, by=Judge.AGENT)
        accept = self._reviews.accept
        result = await accept(call, review_id, note=note, chosen=chosen, by=Judge.AGENT)
        if isinstance(result, OutdatedReview) and result.preview.obstacle is None:
            # The texts, which the agent has read, never change. Only what is known of them did.
            result = await accept(call, review_id, note=note, chosen=chosen, by=Judge.AGENT)
        return result
