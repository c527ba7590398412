"""The answer of the route of the doctor."""

from typing import Self

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.services.doctor import LostArchiveFault, StrayFileFault


class HealthProblem(AnswerBase):
    """A rule that something breaks."""

    agent_id: str
    check: str = Field(
        description=(
            "Which rule: chains, beliefs, log, links, hashes, vectors, ...; docs/operate/doctor.md "
            "lists them."
        )
    )
    ids: list[str] = Field(description="The memories, operations, reviews or keys that break it.")
    problem: str = Field(description="What is wrong, in plain words.")
    repairable: bool = Field(description="Whether `palimpsest doctor --repair` can put it right.")

    @classmethod
    def from_fault(cls, agent: AgentId, fault: Fault) -> Self:
        problem = fault.sentence
        match fault:
            case StrayFileFault():
                problem += " `palimpsest retain` removes it."
            case LostArchiveFault():
                problem += (
                    " Bring it back from a copy, or give it up with `palimpsest retain --forget`."
                )
        return cls.model_construct(
            agent_id=agent,
            check=fault.check,
            ids=list(fault.ids),
            problem=problem,
            repairable=fault.remedy is not None,
        )


MOST = 1_000


class DoctorAnswer(AnswerBase):
    """What does not hold; nothing where all is well."""

    problems: list[HealthProblem] = Field(
        description="The rules that something breaks; empty where all is well."
    )
    left_out: int = Field(description=f"How many more there are than the {MOST:,} told.")
