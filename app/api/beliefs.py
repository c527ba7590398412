"""What was ever believed of a memory's chain."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.answers.beliefs import BeliefsAnswer
from app.api.deps import AgentDep, MemoryPath, ServicesDep
from app.api.openapi import document_problems
from app.api.position import PURE_READ
from app.api.responses import respond_with_long_answer
from app.domain.errors import UnknownMemory
from app.store.beliefs import find_chain_beliefs
from app.store.engine import begin_for_agent

router = APIRouter(prefix="/v1/memories", tags=["memories"])

MOST_VERSIONS = 200
MOST_BELIEFS = 2_000


@router.get(
    "/{memory_id}/beliefs",
    dependencies=PURE_READ,
    responses={200: {"model": BeliefsAnswer}, **document_problems(404)},
    response_model=None,
    description=(
        "Read all that was ever believed of a chain: what a picture of its past is drawn from, on "
        "both axes of time. At each known time it shows what the history "
        "does. A temporary memory may change chains; each chain shows the time that it stood there."
    ),
)
async def beliefs(services: ServicesDep, agent: AgentDep, memory_id: MemoryPath) -> Response:
    chain = await services.reads.run(
        agent,
        lambda connection: find_chain_beliefs(
            connection, agent, memory_id, versions=MOST_VERSIONS, limit=MOST_BELIEFS
        ),
        door=begin_for_agent,
    )
    if chain is None:
        raise UnknownMemory(memory_id)
    return await respond_with_long_answer(lambda: BeliefsAnswer.from_beliefs(chain))
