"""Requests that start and list sweeps."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from app.api.schemas.fields import MAX_LIMIT, Word
from app.api.times import Time
from app.store.sweeps.runs import SweepScope, SweptSlot


class SlotRequest(BaseModel):
    """One slot, in the words of its memories."""

    model_config = ConfigDict(extra="forbid")

    entity: Word | None = Field(None, description="Default: user.")
    category: Word | None = None
    key: Word


class SweepRequest(BaseModel):
    """What to look at again: by default everything of the agent."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Word | None = Field(None, description="The agent of this call, to make sure.")
    slot: SlotRequest | None = Field(None, description="This slot alone.")
    since: Time | None = Field(
        None, description="What became known since then, and what is marked to be looked at again."
    )
    dry_run: StrictBool = Field(
        False, description="true: `findings` tell what would be done, and nothing is."
    )

    def to_scope(self) -> SweepScope:
        slot = SweptSlot(self.slot.entity, self.slot.category, self.slot.key) if self.slot else None
        return SweepScope(slot, self.since, self.dry_run)


class SweepsQuery(BaseModel):
    """A page of sweeps."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")
