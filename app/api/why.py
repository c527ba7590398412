"""The explanation of a memory: what led to it."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.answers.why import WhyAnswer
from app.api.deps import AgentDep, MemoryPath, ServicesDep
from app.api.openapi import document_problems
from app.api.position import PURE_READ
from app.api.responses import respond_with_long_answer
from app.api.schemas.reads import PointQuery
from app.services.why import explain_why

router = APIRouter(prefix="/v1/memories", tags=["memories"])


@router.get(
    "/{memory_id}/why",
    dependencies=PURE_READ,
    responses={200: {"model": WhyAnswer}, **document_problems(404)},
    response_model=None,
    description=(
        "Tell the story of a memory: what it replaced and what replaced it, who decided and why, "
        "what was kept apart, reviews and reverts. At an\n"
        "earlier `known_at`, nothing that came later is told."
    ),
)
async def why_memory(
    services: ServicesDep,
    agent: AgentDep,
    memory_id: MemoryPath,
    query: Annotated[PointQuery, Query()],
) -> Response:
    why = await explain_why(services.reads, agent, memory_id, query.to_point())
    max_bytes = services.settings.max_answer_bytes
    return await respond_with_long_answer(
        lambda: WhyAnswer.from_why(why, services.half_lives, max_bytes=max_bytes)
    )
