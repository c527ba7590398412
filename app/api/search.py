"""Search, and the current value of a preference."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.brief import BriefMemory, BriefSearchAnswer
from app.api.answers.memories import MemoryOut
from app.api.answers.search import SearchAnswer
from app.api.deps import AgentDep, ServicesDep
from app.api.openapi import BODY, document_problems
from app.api.position import PURE_READ
from app.api.responses import respond_with_answer, respond_with_memory
from app.api.schemas.fields import Word
from app.api.schemas.reads import PreferenceQuery, SearchQuery, SearchRequest
from app.api.views import View, ViewDep
from app.services.search import Question

router = APIRouter(prefix="/v1", tags=["recall"])


@router.post(
    "/search",
    dependencies=PURE_READ,
    responses={200: {"model": SearchAnswer | BriefSearchAnswer}, **document_problems(*BODY)},
    response_model=None,
    description=(
        "Search memories, best match first. It finds min(limit, live) of them, unless "
        "`min_score` cuts some off. Mode `text` has those that share a word with the query. A "
        "`score` is the chance that the memory answers, beside the others that may."
    ),
)
async def search(
    services: ServicesDep,
    agent: AgentDep,
    body: Annotated[SearchRequest, Body(openapi_examples=examples.SEARCH)],
    view: ViewDep = View.FULL,
) -> Response:
    question = _build_question(body.query, body)
    hits = await services.search.search(agent, question, body.to_filters(), body.to_point())
    answer = SearchAnswer.from_hits(hits, body.sort, services.half_lives)
    return respond_with_answer(answer, view=view)


@router.get(
    "/search",
    dependencies=PURE_READ,
    responses={200: {"model": SearchAnswer | BriefSearchAnswer}},
    response_model=None,
)
async def search_by_get(
    services: ServicesDep, agent: AgentDep, query: Annotated[SearchQuery, Query()]
) -> Response:
    """Search memories by GET, best match first, now or at any point on both axes of time."""
    question = _build_question(query.q, query)
    hits = await services.search.search(agent, question, query.to_filters(), query.to_point())
    answer = SearchAnswer.from_hits(hits, query.sort, services.half_lives)
    return respond_with_answer(answer, view=query.view)


def _build_question(text: str, wanted: SearchRequest | SearchQuery) -> Question:
    return Question(
        text,
        wanted.mode,
        wanted.limit,
        min_score=wanted.min_score,
        exact=wanted.exact,
        focus=wanted.focus,
        with_turns="turns" in wanted.include,
        reads_dates=wanted.read_dates,
    )


PreferenceDep = Annotated[PreferenceQuery, Query()]


@router.get(
    "/preferences/{category}/{key:path}",
    dependencies=PURE_READ,
    responses={200: {"model": MemoryOut | BriefMemory}, **document_problems(404)},
    response_model=None,
)
async def preference(
    services: ServicesDep,
    agent: AgentDep,
    category: Annotated[Word, Path(openapi_examples=examples.CATEGORY)],
    key: Annotated[Word, Path(openapi_examples=examples.KEY)],
    query: PreferenceDep,
) -> Response:
    """Read the preference that holds at a moment."""
    moment, memory = await services.search.get_preference(
        agent, query.entity, category, key, query.to_point()
    )
    return respond_with_memory(memory, moment.as_of, services.half_lives, query.view)


@router.get(
    "/preferences/{key}",
    dependencies=PURE_READ,
    responses={200: {"model": MemoryOut | BriefMemory}, **document_problems(404)},
    response_model=None,
)
async def preference_without_category(
    services: ServicesDep,
    agent: AgentDep,
    key: Annotated[Word, Path(openapi_examples=examples.LONE_KEY)],
    query: PreferenceDep,
) -> Response:
    """Read a preference that was stored without a category."""
    moment, memory = await services.search.get_preference(
        agent, query.entity, "", key, query.to_point()
    )
    return respond_with_memory(memory, moment.as_of, services.half_lives, query.view)
