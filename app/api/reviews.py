"""Reviews: see what waits for a person, and decide. And what shadow mode would have done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from app.api import examples
from app.api.answers import AnswerBase, MemoryOut, Problem, SignalOut, WriteAnswer
from app.api.deps import AgentDep, Cursor, OriginDep, PartsDep
from app.api.documented import BODY, WRITE, document_links, document_problems
from app.api.idempotency import KeyedDep
from app.api.problems import build_problem, problem_of, respond_with_problem
from app.api.reply import respond_with_answer
from app.api.schemas import MAX_LIMIT, Content
from app.api.times import Time
from app.domain.errors import PalimpsestError, UnknownReview
from app.domain.relation import Judgment, Relation
from app.domain.strength import HalfLives
from app.planning.plan import ReviewSource, ReviewStatus
from app.services.remember import Outcome
from app.services.reviews import Decided, OutdatedReview, Preview
from app.store import memories as memory_store
from app.store.memories import After
from app.store.reviews import reviews
from app.store.reviews.reviews import ReviewFilters, proposal_from_row

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
shadow = APIRouter(prefix="/v1/shadow", tags=["reviews"])

ReviewPath = Annotated[
    UUID,
    Path(
        description="`id` of a review: paste `review_id` from the answer to a store, or an `id` from the list."
    ),
]


class JudgmentOut(AnswerBase):
    """What was said of one stored memory."""

    memory_id: UUID
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: str
    signals: list[SignalOut]

    @classmethod
    def from_judgment(cls, judgment: Judgment) -> Self:
        signals = [SignalOut.from_finding(finding) for finding in judgment.findings]
        names = ("memory_id", "relation", "confidence", "reasoning", "decided_by")
        return cls.model_construct(
            **{name: getattr(judgment, name) for name in names}, signals=signals
        )


class ReviewOut(AnswerBase):
    """A change that waits for a person, or waited."""

    id: UUID
    status: ReviewStatus
    source: ReviewSource
    relation: Relation
    sentence: str = Field(description="What accepting will do.")
    judgments: list[JudgmentOut]
    memory_id: UUID | None = Field(description="The fact that was stored beside, for now.")
    held: dict[str, Any] | None = Field(description="The store that a frozen agent keeps back.")
    log_id: UUID | None
    decision_log_id: UUID | None
    note: str | None
    created_at: Time
    decided_at: Time | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.model_construct(**cls._values_from_row(row))

    @classmethod
    def _values_from_row(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        judgments = [JudgmentOut.from_judgment(j) for j in proposal_from_row(row).judgments]
        computed = {"judgments": judgments, "held": row["incoming"]}
        return {
            name: computed[name] if name in computed else row[name]
            for name in ReviewOut.model_fields
        }


class ReviewDetailOut(ReviewOut):
    """A review with what accepting it now would do."""

    before: list[MemoryOut]
    after: list[MemoryOut]
    obstacle: str | None = Field(description="Why it cannot be accepted as things are.")

    @classmethod
    def from_preview(cls, row: Mapping[str, Any], preview: Preview, half_lives: HalfLives) -> Self:
        return cls.model_construct(
            **cls._values_from_row(row), **_values_from_preview(preview, half_lives)
        )


def _values_from_preview(preview: Preview, half_lives: HalfLives) -> dict[str, Any]:
    before, after = (
        [MemoryOut.from_memory(m, preview.at, half_lives) for m in memories]
        for memories in (preview.before, preview.after)
    )
    return {"before": before, "after": after, "obstacle": preview.obstacle}


class ReviewsAnswer(AnswerBase):
    """Reviews, newest first."""

    items: list[ReviewOut]
    next_cursor: str | None


class ReviewFilterFields(BaseModel):
    """What reviews are narrowed to."""

    model_config = ConfigDict(extra="forbid")

    source: ReviewSource | None = None
    relation: Relation | None = None
    memory_id: UUID | None = Field(
        default=None, description="The fact stored beside, or a memory that the proposal is about."
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None

    def to_review_filters(self, status: str | None) -> ReviewFilters:
        return ReviewFilters(
            status, self.source, self.relation, self.memory_id, self.min_confidence
        )


class ReviewsQuery(ReviewFilterFields):
    """A page of reviews."""

    status: ReviewStatus | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = None


_LEADS_TO = document_links("items/0/id", "review_id", "get_review", "accept", "reject")


@router.get("", responses={200: {"model": ReviewsAnswer, "links": _LEADS_TO}}, response_model=None)
async def list_reviews(
    parts: PartsDep, agent: AgentDep, query: Annotated[ReviewsQuery, Query()]
) -> Response:
    """What waits for a person, and what was decided, newest first. Reviews that waited too long are closed, and logged, first."""
    await parts.reviews.expire_overdue(agent)
    after = Cursor.decode(query.cursor).after if query.cursor else None
    async with memory_store.open_read_connection(parts.engine) as connection:
        rows = await reviews.list_reviews(
            connection,
            agent,
            query.to_review_filters(query.status),
            limit=query.limit + 1,
            after=after,
        )
    shown = rows[: query.limit]
    next_cursor = (
        Cursor(After(shown[-1]["created_at"], shown[-1]["id"]), None).encode()
        if len(rows) > query.limit
        else None
    )
    return respond_with_answer(
        ReviewsAnswer.model_construct(
            items=[ReviewOut.from_row(row) for row in shown], next_cursor=next_cursor
        )
    )


@router.get("/decide", include_in_schema=False)
async def not_a_review() -> Response:
    """Else `decide` would be taken for the id of a review."""
    raise HTTPException(405)


@router.get(
    "/{review_id}",
    responses={200: {"model": ReviewDetailOut}, **document_problems(404)},
    response_model=None,
)
async def get_review(parts: PartsDep, agent: AgentDep, review_id: ReviewPath) -> Response:
    """One review, with the memories it is about before and after accepting it now."""
    async with memory_store.open_read_connection(parts.engine) as connection:
        row = await reviews.find_review_row(connection, agent, review_id)
    if row is None:
        raise UnknownReview(review_id)
    preview = await parts.reviews.preview_accept(agent, review_id)
    return respond_with_answer(ReviewDetailOut.from_preview(row, preview, parts.half_lives))


class DecisionRequest(BaseModel):
    """A decision, with what the person wants to say about it."""

    model_config = ConfigDict(extra="forbid")

    note: Content | None = None


def _result_from_decision(
    outcome: Outcome | OutdatedReview | PalimpsestError, half_lives: HalfLives
) -> WriteAnswer | Problem:
    match outcome:
        case Outcome():
            return WriteAnswer.from_outcome(outcome, half_lives)
        case OutdatedReview():
            return _problem_from_moved(outcome, half_lives)
        case _:
            return problem_of(outcome)


def _problem_from_moved(moved: OutdatedReview, half_lives: HalfLives) -> Problem:
    shown = _values_from_preview(moved.preview, half_lives)
    memories = {
        name: [m.model_dump(mode="json") for m in shown[name]] for name in ("before", "after")
    }
    detail = "What the review is about has changed since it was made. Look at the fresh proposal, and accept again if it is right."
    return build_problem(
        409,
        "moved",
        "The memories have changed",
        detail,
        review_id=str(moved.review_id),
        changed=[str(i) for i in moved.changed],
        proposal={**memories, "obstacle": moved.preview.obstacle},
    )


@dataclass(frozen=True, slots=True)
class Decider:
    """The call in which a person decides a review."""

    parts: PartsDep
    agent: AgentDep
    origin: OriginDep
    keyed: KeyedDep
    review_id: ReviewPath
    body: Annotated[DecisionRequest | None, Body(openapi_examples=examples.DECISION)] = None

    async def decide_review(self, *, accept: bool) -> Response:
        reviewing, note = self.parts.reviews, self.body.note if self.body else None
        decide = reviewing.accept if accept else reviewing.reject
        once = self.keyed.plan_replay(self._render_answer)
        return self._render_answer(
            await decide(
                self.agent, self.review_id, note=note, request=self.origin, idempotency=once
            )
        )

    def _render_answer(self, outcome: Outcome | OutdatedReview) -> Response:
        result = _result_from_decision(outcome, self.parts.half_lives)
        return (
            respond_with_problem(result)
            if isinstance(result, Problem)
            else respond_with_answer(result)
        )


DeciderDep = Annotated[Decider, Depends()]
_DECISION = {200: {"model": WriteAnswer}, **document_problems(*BODY, 404, *WRITE)}


@router.post("/{review_id}/accept", responses=_DECISION, response_model=None)
async def accept(decider: DeciderDep) -> Response:
    """Do what the review proposes. Where its memories changed since, 409 shows a fresh proposal. Accepting again is the same as once."""
    return await decider.decide_review(accept=True)


@router.post("/{review_id}/reject", responses=_DECISION, response_model=None)
async def reject(decider: DeciderDep) -> Response:
    """Leave everything as it is. The decision is logged; rejecting again is the same as once."""
    return await decider.decide_review(accept=False)


class DecideRequest(BaseModel):
    """Several decisions at once: these reviews, or the newest pending ones that match, `limit` at most."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["accept", "reject"]
    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIMIT)] | None = None
    filter: ReviewFilterFields | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = Field(
        None, description="With filter: how many at most."
    )
    note: Content | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids, or a filter with a limit")
        if (self.filter is None) != (self.limit is None):
            raise ValueError(
                "give limit together with filter: how many reviews may be decided at most"
            )
        return self


class DecidedOut(AnswerBase):
    """What became of one review."""

    review_id: UUID
    result: WriteAnswer | Problem


class DecideAnswer(AnswerBase):
    """One result per review, in order: what a single decision answers, or a problem."""

    results: list[DecidedOut]


@router.post(
    "/decide",
    responses={200: {"model": DecideAnswer}, **document_problems(*BODY, *WRITE)},
    response_model=None,
)
async def decide(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[DecideRequest, Body(openapi_examples=examples.DECIDE)],
) -> Response:
    """Accept or reject several reviews, each for itself: one that cannot be decided leaves the others alone."""

    def render_answer(decided: list[Decided]) -> Response:
        results = [
            DecidedOut.model_construct(
                review_id=i, result=_result_from_decision(outcome, parts.half_lives)
            )
            for i, outcome in decided
        ]
        return respond_with_answer(DecideAnswer.model_construct(results=results))

    ids = body.ids or await parts.reviews.list_matching(
        agent, (body.filter or ReviewFilterFields()).to_review_filters("pending"), body.limit or 0
    )
    accepts, once = body.decision == "accept", keyed.plan_replay(render_answer)
    return render_answer(
        await parts.reviews.decide_all(
            agent, ids, accept=accepts, note=body.note, request=origin, idempotency=once
        )
    )


# --- shadow ------------------------------------------------------------------------------------------------------------


class BandOut(AnswerBase):
    """Proposals of one relation, judge and confidence band."""

    relation: Relation
    decided_by: str
    confidence_from: float = Field(description="The band is a tenth wide.")
    proposed: int
    accepted: int
    rejected: int
    pending: int
    expired: int
    precision: float | None = Field(description="Accepted among the accepted and rejected.")
    examples: list[UUID] = Field(description="The latest reviews of the band.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        decided = row["accepted"] + row["rejected"]
        precision = round(row["accepted"] / decided, 4) if decided else None
        same = {name: row[name] for name in cls.model_fields if name in row}
        return cls.model_construct(**same, confidence_from=float(row["band"]), precision=precision)


class ShadowReport(AnswerBase):
    """What shadow mode would have changed, so that thresholds can be chosen before going live."""

    bands: list[BandOut]


class ReportQuery(BaseModel):
    """Since when."""

    model_config = ConfigDict(extra="forbid")

    since: Time | None = None


@shadow.get("/report", responses={200: {"model": ShadowReport}}, response_model=None)
async def report(
    parts: PartsDep, agent: AgentDep, query: Annotated[ReportQuery, Query()]
) -> Response:
    """What would have changed, by relation, judge and confidence, with examples and how people decided so far."""
    async with memory_store.open_read_connection(parts.engine) as connection:
        rows = await reviews.read_shadow_report(connection, agent, query.since)
    return respond_with_answer(
        ShadowReport.model_construct(bands=[BandOut.from_row(row) for row in rows])
    )
