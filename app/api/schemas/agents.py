"""Requests that list and change agents."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.fields import MAX_LIMIT
from app.domain.agent import Mode

AGENT_ID = r"^[\x21-\x7e]{1,128}$"


class AgentsQuery(BaseModel):
    """A page of agents."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(
        None, pattern=AGENT_ID, description="`next_cursor` of the page before."
    )


class AgentPatch(BaseModel):
    """What an agent is told."""

    model_config = ConfigDict(extra="forbid")

    mode: Mode | None = Field(description="live, shadow or frozen; null: as the settings say.")
