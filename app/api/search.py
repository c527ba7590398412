"""Search, and the current value of a preference."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.memories import MemoryOut, etag_of
from app.api.answers.search import ResultOut, SearchAnswer
from app.api.deps import AgentDep, Parts, PartsDep
from app.api.openapi import BODY, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.fields import Word
from app.api.schemas.reads import PreferenceQuery, SearchQuery, SearchRequest, Sort
from app.domain.agent import AgentId
from app.domain.errors import NoPreference
from app.domain.fact import Kind, Slot
from app.store import memories
from app.store.search import Hits

router = APIRouter(prefix="/v1", tags=["recall"])


@router.post(
    "/search",
    responses={200: {"model": SearchAnswer}, **document_problems(*BODY)},
    response_model=None,
)
async def search(
    parts: PartsDep,
    agent: AgentDep,
    body: Annotated[SearchRequest, Body(openapi_examples=examples.SEARCH)],
) -> Response:
    """The memories nearest to the query, best first: min(limit, live) of them, always, unless `min_score` cuts some off."""
    hits = await parts.search.search(
        agent,
        body.query,
        mode=body.mode,
        limit=body.limit,
        min_score=body.min_score,
        filters=body.to_filters(),
        point=body.to_point(),
    )
    return _render_hits(parts, agent, hits, body.sort)


@router.get("/search", responses={200: {"model": SearchAnswer}}, response_model=None)
async def search_by_get(
    parts: PartsDep, agent: AgentDep, query: Annotated[SearchQuery, Query()]
) -> Response:
    """The same by GET."""
    hits = await parts.search.search(
        agent,
        query.q,
        mode=query.mode,
        limit=query.limit,
        min_score=query.min_score,
        filters=query.to_filters(),
        point=query.to_requested_point(),
    )
    return _render_hits(parts, agent, hits, query.sort)


def _render_hits(parts: Parts, agent: AgentId, hits: Hits, sort: Sort) -> Response:
    moment = hits.moment
    parts.usage.note_uses(agent, (hit.memory.id for hit in hits.hits))
    results = [ResultOut.from_hit(hit, moment.as_of, parts.half_lives) for hit in hits.hits]
    if sort == "strength":
        results.sort(key=lambda result: result.memory.strength, reverse=True)
    return respond_with_answer(
        SearchAnswer.model_construct(results=results, as_of=moment.as_of, known_at=moment.known_at)
    )


PreferenceDep = Annotated[PreferenceQuery, Query()]


@router.get(
    "/preferences/{category}/{key:path}",
    responses={200: {"model": MemoryOut}, **document_problems(404)},
    response_model=None,
)
async def preference(
    parts: PartsDep,
    agent: AgentDep,
    category: Annotated[Word, Path(openapi_examples=examples.CATEGORY)],
    key: Annotated[Word, Path(openapi_examples=examples.KEY)],
    query: PreferenceDep,
) -> Response:
    """The value of a preference that holds at that moment."""
    return await _read_preference(parts, agent, category, key, query)


@router.get(
    "/preferences/{key}",
    responses={200: {"model": MemoryOut}, **document_problems(404)},
    response_model=None,
)
async def preference_without_category(
    parts: PartsDep,
    agent: AgentDep,
    key: Annotated[Word, Path(openapi_examples=examples.LONE_KEY)],
    query: PreferenceDep,
) -> Response:
    """The same of a preference that was stored without a category."""
    return await _read_preference(parts, agent, "", key, query)


async def _read_preference(
    parts: Parts, agent: AgentId, category: str, key: str, query: PreferenceQuery
) -> Response:
    slot = Slot.from_words(query.entity, category, key)
    async with memories.open_read_connection(parts.engine) as connection:
        page = await memories.find_holding_in_slot(
            connection, agent, slot, query.to_point(), kind=Kind.PREFERENCE
        )
    if not page.memories:
        raise NoPreference(query.entity, category, key)
    memory = page.memories[0]
    parts.usage.note_uses(agent, [memory.id])
    return respond_with_answer(
        MemoryOut.from_memory(memory, page.moment.as_of, parts.half_lives),
        headers={"ETag": etag_of(memory.revision)},
    )
