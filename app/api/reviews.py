"""Reviews: reading what waits for a person, deciding it, and the report of shadow mode."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.brief import (
    BriefAnswersAnswer,
    BriefDecideAnswer,
    BriefReviewDetail,
    BriefReviewsAnswer,
    BriefWriteAnswer,
)
from app.api.answers.memories import MemoryOut
from app.api.answers.problem import Problem
from app.api.answers.reviews import (
    AnsweredOut,
    AnswersAnswer,
    BandOut,
    DecideAnswer,
    DecidedOut,
    ReviewDetailOut,
    ReviewOut,
    ReviewsAnswer,
    ShadowReport,
    collect_preview_values,
)
from app.api.answers.writes import WriteAnswer
from app.api.cursors import build_next_cursor, decode_position
from app.api.deps import AgentDep, ServicesDep
from app.api.idempotency import CallerDep
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.problems import build_problem, problem_of, respond_with_problem
from app.api.responses import respond_with_answer
from app.api.schemas.reviews import (
    AcceptRequest,
    AnswersRequest,
    DecideRequest,
    DecisionRequest,
    ReportQuery,
    ReviewFilterFields,
    ReviewsQuery,
)
from app.api.secrets import SecretFreeRoute
from app.api.views import View, ViewDep
from app.domain.errors import PalimpsestError, UnknownReview
from app.domain.strength import HalfLives
from app.services.agent_write import Outcome
from app.services.answers import AnsweredQuestion
from app.services.reviews import Decided, OutdatedReview
from app.store.engine import begin_for_agent
from app.store.reviews import reviews

router = APIRouter(prefix="/v1/reviews", tags=["reviews"], route_class=SecretFreeRoute)
shadow_router = APIRouter(prefix="/v1/shadow", tags=["reviews"])

ReviewPath = Annotated[
    UUID,
    Path(
        description=(
            "`id` of a review: paste `review_id` from the answer to a store, or an `id` from the "
            "list."
        )
    ),
]


_LEADS_TO = document_links("items/0/id", "review_id", "get_review", "accept", "reject")


@router.get(
    "",
    responses={200: {"model": ReviewsAnswer | BriefReviewsAnswer, "links": _LEADS_TO}},
    response_model=None,
    description=(
        "List what waits for a person, and what was decided, newest first. Reviews that waited too "
        "long are closed, and logged, first."
    ),
)
async def list_reviews(
    services: ServicesDep, agent: AgentDep, query: Annotated[ReviewsQuery, Query()]
) -> Response:
    await services.reviews.expire_overdue(agent)
    async with begin_for_agent(services.engine, agent) as connection:
        rows = await reviews.list_reviews(
            connection,
            agent,
            query.to_review_filters(),
            limit=query.limit + 1,
            max_bytes=services.settings.max_answer_bytes,
            after=decode_position(query.cursor),
        )
        shown = [reviews.stored_review_from_row(row) for row in rows[: query.limit]]
        questions = await reviews.read_questions(connection, agent, shown)
    items = list(map(ReviewOut.from_row, rows, questions))
    next_cursor = build_next_cursor(rows, query.limit)
    answer = ReviewsAnswer.model_construct(items=items, next_cursor=next_cursor)
    return respond_with_answer(answer, view=query.view)


@router.get("/decide", include_in_schema=False)
@router.get("/answers", include_in_schema=False)
async def not_a_review() -> Response:
    """Answer 405. Without this route, `decide` would be read as the id of a review."""
    raise HTTPException(405)


@router.get(
    "/{review_id}",
    responses={200: {"model": ReviewDetailOut | BriefReviewDetail}, **document_problems(404)},
    response_model=None,
)
async def get_review(
    services: ServicesDep,
    agent: AgentDep,
    review_id: ReviewPath,
    view: ViewDep = View.FULL,
) -> Response:
    """Read a review, with its memories before and after accepting it now."""
    async with begin_for_agent(services.engine, agent) as connection:
        row = await reviews.find_review_row(connection, agent, review_id)
        if row is None:
            raise UnknownReview(review_id)
        review = reviews.stored_review_from_row(row)
        [question] = await reviews.read_questions(connection, agent, [review])
    preview = await services.reviews.preview_accept(agent, review_id)
    answer = ReviewDetailOut.from_preview(row, question, preview, services.half_lives)
    return respond_with_answer(answer, view=view)


def _answer_decision(
    outcome: Outcome | OutdatedReview | PalimpsestError, half_lives: HalfLives
) -> WriteAnswer | Problem:
    match outcome:
        case Outcome():
            return WriteAnswer.from_outcome(outcome, half_lives)
        case OutdatedReview():
            return _build_outdated_problem(outcome, half_lives)
        case PalimpsestError():
            return problem_of(outcome)


def _build_outdated_problem(outdated: OutdatedReview, half_lives: HalfLives) -> Problem:
    """Return the problem that shows what accepting the review would do now."""
    values = collect_preview_values(outdated.preview, half_lives)
    proposal = {
        "before": _dump_memories(values["before"]),
        "after": _dump_memories(values["after"]),
        "obstacle": values["obstacle"],
    }
    detail = (
        "What the review is about has changed since it was made. Look at the fresh proposal, and "
        "accept again if it is right."
    )
    return build_problem(
        409,
        "moved",
        "The memories have changed",
        detail,
        review_id=str(outdated.review_id),
        changed=[str(memory_id) for memory_id in outdated.changed],
        proposal=proposal,
    )


def _dump_memories(memories: list[MemoryOut]) -> list[dict[str, Any]]:
    return [memory.model_dump(mode="json") for memory in memories]


@dataclass(frozen=True, slots=True)
class Decider:
    """The call in which a person decides a review."""

    services: ServicesDep
    caller: CallerDep
    review_id: ReviewPath
    view: ViewDep = View.FULL

    async def accept_review(self, body: AcceptRequest) -> Response:
        call = self.caller.build_call(self._render)
        accept = self.services.reviews.accept
        return self._render(
            await accept(call, self.review_id, note=body.note, chosen=body.memories)
        )

    async def reject_review(self, body: DecisionRequest) -> Response:
        call = self.caller.build_call(self._render)
        return self._render(
            await self.services.reviews.reject(call, self.review_id, note=body.note)
        )

    def _render(self, outcome: Outcome | OutdatedReview) -> Response:
        answer = _answer_decision(outcome, self.services.half_lives)
        if isinstance(answer, Problem):
            return respond_with_problem(answer)
        return respond_with_answer(answer, view=self.view)


DeciderDep = Annotated[Decider, Depends()]
_DECISION = {
    200: {"model": WriteAnswer | BriefWriteAnswer},
    **document_problems(*BODY, 404, *WRITE),
}


@router.post(
    "/{review_id}/accept",
    responses=_DECISION,
    response_model=None,
    description=(
        "Do what the review proposes. If the question leaves a choice, `memories` names what it is "
        "right about. Where its memories changed since, 409 shows a fresh proposal. Accepting "
        "again is the same as once."
    ),
)
async def accept(
    decider: DeciderDep,
    body: Annotated[AcceptRequest | None, Body(openapi_examples=examples.DECISION)] = None,
) -> Response:
    return await decider.accept_review(body or AcceptRequest())


@router.post("/{review_id}/reject", responses=_DECISION, response_model=None)
async def reject(
    decider: DeciderDep,
    body: Annotated[DecisionRequest | None, Body(openapi_examples=examples.DECISION)] = None,
) -> Response:
    """Leave everything as it is, and close the review.

    The decision is logged; rejecting again is the same as once.
    """
    return await decider.reject_review(body or DecisionRequest())


@router.post(
    "/decide",
    responses={
        200: {"model": DecideAnswer | BriefDecideAnswer},
        **document_problems(*BODY, *WRITE),
    },
    response_model=None,
    description=(
        "Accept or reject several reviews, each for itself: one that cannot be decided leaves the "
        "others alone."
    ),
)
async def decide(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[DecideRequest, Body(openapi_examples=examples.DECIDE)],
    view: ViewDep = View.FULL,
) -> Response:
    def render(decisions: list[Decided]) -> Response:
        results = []
        for review_id, outcome in decisions:
            result = _answer_decision(outcome, services.half_lives)
            results.append(DecidedOut.model_construct(review_id=review_id, result=result))
        return respond_with_answer(DecideAnswer.model_construct(results=results), view=view)

    review_ids = body.ids
    if not review_ids:
        filters = (body.filter or ReviewFilterFields()).to_review_filters()
        review_ids = await services.reviews.list_matching(caller.agent, filters, body.limit or 0)
    decisions = await services.reviews.decide_all(
        caller.build_call(render),
        review_ids,
        accept=body.decision == "accept",
        note=body.note,
        choices=body.memories or {},
    )
    return render(decisions)


@router.post(
    "/answers",
    responses={
        200: {"model": AnswersAnswer | BriefAnswersAnswer},
        **document_problems(*BODY, *WRITE),
    },
    response_model=None,
    description=(
        "Answer open questions as the agent's own model, each for itself. What is named by its "
        "letter ends; none closes the question. Logged as decided by `agent`, and undone like "
        "anything else. What concerns a constraint or higher trust stays for a person."
    ),
)
async def answer_reviews(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[AnswersRequest, Body(openapi_examples=examples.ANSWERS)],
    view: ViewDep = View.FULL,
) -> Response:
    def render(answered: list[AnsweredQuestion]) -> Response:
        results = []
        for each in answered:
            result = _answer_decision(each.result, services.half_lives)
            results.append(AnsweredOut.from_attributes(each, result=result))
        return respond_with_answer(AnswersAnswer.model_construct(results=results), view=view)

    answers = [item.to_answer() for item in body.answers]
    return render(await services.answers.answer_all(caller.build_call(render), answers))


@shadow_router.get(
    "/report",
    responses={200: {"model": ShadowReport}},
    response_model=None,
    description=(
        "Report what shadow mode would have changed: by relation, judge and confidence, with "
        "examples and how people decided so far."
    ),
)
async def report(
    services: ServicesDep, agent: AgentDep, query: Annotated[ReportQuery, Query()]
) -> Response:
    async with begin_for_agent(services.engine, agent) as connection:
        rows = await reviews.read_shadow_report(connection, agent, query.since)
    bands = [BandOut.from_row(row) for row in rows]
    return respond_with_answer(ShadowReport.model_construct(bands=bands))
