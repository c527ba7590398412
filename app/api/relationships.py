"""Relationships between memories: which one rests on which."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.relationships import LinkAnswer, RelationshipOut, RelationshipsAnswer
from app.api.cursors import RelationshipCursor
from app.api.deps import AgentDep, MemoryPath, ServicesDep
from app.api.idempotency import CallerDep
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.position import PURE_READ
from app.api.responses import respond_with_answer
from app.api.schemas.relationships import LinkRequest, LinksQuery
from app.domain.errors import UnknownMemory
from app.domain.relationship import BINDING, Relationship
from app.services.relationships import RelationshipOutcome
from app.store.engine import begin_for_agent
from app.store.relationships import AfterRelationship, list_relationships

router = APIRouter(prefix="/v1/memories", tags=["memories"])


def _render_link(outcome: RelationshipOutcome) -> Response:
    status = 201 if outcome.is_new else 200
    return respond_with_answer(LinkAnswer.from_outcome(outcome), status)


_LEADS_TO = document_links("log_id", "log_id", "get_log_entry", "revert")
_LINKED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": LinkAnswer,
        "description": (
            "They were linked so before; nothing was written. A new link is answered with 201"
        ),
        "links": _LEADS_TO,
    },
    201: {"model": LinkAnswer, "description": "New: the link was made", "links": _LEADS_TO},
}


@router.post(
    "/{memory_id}/relationships",
    responses=_LINKED | document_problems(*BODY, 404, *WRITE),
    status_code=201,
    response_model=None,
    description=(
        "Link a memory to another. Nothing ends by it. When one of the two ends later, the "
        "other says so in `stale_because`, where\n"
        f"the type is one of {', '.join(BINDING)}."
    ),
)
async def link(
    services: ServicesDep,
    caller: CallerDep,
    memory_id: MemoryPath,
    body: Annotated[LinkRequest, Body(openapi_examples=examples.LINK)],
) -> Response:
    outcome = await services.relationships.add_relationship(
        caller.build_call(_render_link), Relationship(memory_id, body.target_id, body.type)
    )
    return _render_link(outcome)


@router.get(
    "/{memory_id}/relationships",
    dependencies=PURE_READ,
    responses={200: {"model": RelationshipsAnswer}, **document_problems(404)},
    response_model=None,
)
async def relationships(
    services: ServicesDep,
    agent: AgentDep,
    memory_id: MemoryPath,
    query: Annotated[LinksQuery, Query()],
) -> Response:
    """List the links of a memory, in both directions, latest first."""
    known_at, after = query.locate_page()
    page = await services.reads.run(
        agent,
        lambda connection: list_relationships(
            connection, agent, memory_id, known_at, limit=query.limit + 1, after=after
        ),
        known_at=known_at,
        door=begin_for_agent,
    )
    if page is None:
        raise UnknownMemory(memory_id)
    shown = page.relationships[: query.limit]
    next_cursor = None
    if len(page.relationships) > query.limit:
        last = shown[-1]
        other_id = last.link.target if last.link.source == memory_id else last.link.source
        position = AfterRelationship(last.created_at, other_id, last.link.type)
        next_cursor = RelationshipCursor(position, page.known_at).encode()
    items = [RelationshipOut.from_relationship(relationship) for relationship in shown]
    return respond_with_answer(
        RelationshipsAnswer.model_construct(
            items=items, next_cursor=next_cursor, known_at=page.known_at
        )
    )
