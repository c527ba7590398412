"""The context: what holds now, as a text for a prompt."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import PlainTextResponse, Response

from app.api.answers.brief import BriefContextAnswer
from app.api.answers.context import ContextAnswer
from app.api.deps import AgentDep, ServicesDep
from app.api.position import PURE_READ
from app.api.responses import respond_with_answer
from app.api.schemas.reads import ContextQuery
from app.services.context import ContextRequest

router = APIRouter(prefix="/v1", tags=["recall"])


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ContextAnswer | BriefContextAnswer,
        "description": "The context",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}


@router.get(
    "/context",
    dependencies=PURE_READ,
    responses=_ANSWER,
    response_model=None,
    description=(
        "Fill a prompt with what holds now, within a budget: constraints first, then by kind, most "
        "useful first, never anything superseded. Then up to three open questions about what it "
        "shows, which POST /v1/reviews/answers answers, and what was said about the query and "
        "became no fact.\n"
        "With `Accept: text/plain`, the text alone."
    ),
)
async def context(
    services: ServicesDep,
    agent: AgentDep,
    query: Annotated[ContextQuery, Query()],
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    request = ContextRequest(
        query=query.query,
        budget=query.budget_tokens,
        filters=query.to_filters(),
        point=query.to_point(),
        asks=query.questions,
        with_talk=query.talk,
        focus=query.focus,
    )
    composed = await services.context.compose(agent, request)
    if "text/plain" in accept and "application/json" not in accept:
        return PlainTextResponse(composed.context.text)
    answer = ContextAnswer.from_context(composed, services.half_lives)
    return respond_with_answer(answer, view=query.view)
