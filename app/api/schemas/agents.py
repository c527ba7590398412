"""Requests that list and change agents."""

from typing import Self

from pydantic import ConfigDict, Field, model_validator

from app.api.schemas.fields import PageSize, StrictRequest, TimeZone
from app.domain.agent import AGENT_ID_PATTERN, Mode
from app.store.agents import AgentChange


class AgentsQuery(StrictRequest):
    """A page of agents."""

    limit: PageSize = 50
    cursor: str | None = Field(
        None, pattern=AGENT_ID_PATTERN, description="`next_cursor` of the page before."
    )


class AgentPatch(StrictRequest):
    """What to change about an agent. What is left out stays."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    mode: Mode | None = Field(
        None, description="live, shadow or frozen; null: as the settings say."
    )
    timezone: TimeZone | None = Field(
        None,
        description=(
            "The time zone in which the dates in its words are read, by its IANA name, such as "
            "Europe/Lisbon; null: as the settings say."
        ),
        examples=["Europe/Lisbon"],
    )

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name what to change: mode or timezone")
        return self

    def to_change(self) -> AgentChange:
        return AgentChange(frozenset(self.model_fields_set), self.mode, self.timezone)
