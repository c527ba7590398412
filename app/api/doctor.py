"""Whether everything that must hold of an agent's memory holds."""

from contextlib import aclosing
from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.deps import AgentDep, PartsDep
from app.api.reply import respond_with_answer
from app.domain.agent import AgentId
from app.planning.audit.checks import Fault

router = APIRouter(prefix="/v1", tags=["operations"])

MOST = 1_000


class HealthProblem(BaseModel):
    """A rule that something breaks."""

    agent_id: str
    check: str = Field(
        description="Which rule: chains, beliefs, log, links, hashes, vectors, ...; docs/doctor.md lists them."
    )
    ids: list[str] = Field(description="The memories, operations, reviews or keys that break it.")
    problem: str = Field(description="What is wrong, in plain words.")
    repairable: bool = Field(description="Whether `palimpsest doctor --repair` can put it right.")

    @classmethod
    def from_fault(cls, agent: AgentId, fault: Fault) -> Self:
        return cls.model_construct(
            agent_id=agent,
            check=fault.check,
            ids=list(fault.ids),
            problem=fault.sentence,
            repairable=fault.remedy is not None,
        )


class DoctorAnswer(BaseModel):
    """What does not hold; nothing where all is well."""

    problems: list[HealthProblem]
    left_out: int = Field(description=f"How many more there are than the {MOST:,} told.")


@router.get("/doctor", responses={200: {"model": DoctorAnswer}}, response_model=None)
async def doctor(parts: PartsDep, agent: AgentDep) -> Response:
    """Check all that is stored of this agent: chains, beliefs, the log replayed, links, reviews, hashes, vectors, erasures."""
    problems: list[HealthProblem] = []
    left_out = 0
    async with aclosing(parts.doctor.examine_agent(agent)) as faults:
        async for fault in faults:
            if len(problems) < MOST:
                problems.append(HealthProblem.from_fault(agent, fault))
            else:
                left_out += 1
    return respond_with_answer(DoctorAnswer.model_construct(problems=problems, left_out=left_out))
