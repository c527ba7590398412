"""Requests that erase."""

from typing import Self
from uuid import UUID

from pydantic import Field, StrictBool, model_validator

from app.api.schemas.fields import StrictRequest, Word
from app.services.erasures import ErasureScope


class ErasureRequest(StrictRequest):
    """What to erase: exactly one of a chain, a session, the agent."""

    chain_id: UUID | None = Field(
        None, description="A fact with all its versions: the id of its chain, or of any version."
    )
    session_id: Word | None = Field(None, description="All that was said in a session.")
    agent_id: Word | None = Field(
        None, description="Everything of this agent: repeat its id to confirm."
    )
    cascade: StrictBool = Field(False, description="Erase also what the texts were merged into.")

    @model_validator(mode="after")
    def _check_scope(self) -> Self:
        scopes = (self.chain_id, self.session_id, self.agent_id)
        if scopes.count(None) != len(scopes) - 1:
            raise ValueError("name exactly one of chain_id, session_id, agent_id")
        return self

    def to_scope(self) -> ErasureScope:
        return ErasureScope(
            chain_id=self.chain_id,
            session_id=self.session_id,
            whole_agent=self.agent_id is not None,
        )
