"""The doctor: which rules the stored memories of an agent break."""

from contextlib import aclosing

from fastapi import APIRouter
from starlette.responses import Response

from app.api.answers.doctor import MOST, DoctorAnswer, HealthProblem
from app.api.deps import AgentDep, ServicesDep
from app.api.responses import respond_with_answer

router = APIRouter(prefix="/v1", tags=["operations"])


@router.get(
    "/doctor",
    responses={200: {"model": DoctorAnswer}},
    response_model=None,
    description=(
        "Check all that is stored of an agent: chains, beliefs, the log replayed, links, "
        "reviews, hashes, vectors, erasures."
    ),
)
async def doctor(services: ServicesDep, agent: AgentDep) -> Response:
    problems: list[HealthProblem] = []
    left_out = 0
    async with aclosing(services.doctor.examine_agent(agent)) as faults:
        async for fault in faults:
            if len(problems) < MOST:
                problems.append(HealthProblem.from_fault(agent, fault))
            else:
                left_out += 1
    return respond_with_answer(DoctorAnswer.model_construct(problems=problems, left_out=left_out))
