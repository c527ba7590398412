"""Answers of the routes of agents."""

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.agent import Mode


class AgentOut(AnswerBase):
    """An agent, and how much it knows."""

    agent_id: str
    created_at: Time = Field(description="When it was first written to.")
    last_known_at: Time | None = Field(description="The known time of its last write.")
    mode: Mode | None = Field(description="What becomes of changes; null: as the settings say.")
    timezone: str | None = Field(
        description="The time zone of the dates in its words; null: as the settings say."
    )
    memories: int = Field(description="Versions stored, those that no longer hold included.")


class AgentsAnswer(AnswerBase):
    """Agents in order of their ids."""

    items: list[AgentOut]
    next_cursor: str | None
