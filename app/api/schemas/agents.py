"""Requests that list and change agents."""

from pydantic import Field

from app.api.schemas.fields import PageSize, StrictRequest
from app.domain.agent import Mode

AGENT_ID_PATTERN = r"^[\x21-\x7e]{1,128}$"


class AgentsQuery(StrictRequest):
    """A page of agents."""

    limit: PageSize = 50
    cursor: str | None = Field(
        None, pattern=AGENT_ID_PATTERN, description="`next_cursor` of the page before."
    )


class AgentPatch(StrictRequest):
    """What an agent is told."""

    mode: Mode | None = Field(description="live, shadow or frozen; null: as the settings say.")
