"""Requests that start and list sweeps."""

from pydantic import Field, StrictBool

from app.api.schemas.fields import PageSize, StrictRequest, Word
from app.api.times import Time
from app.store.sweeps.runs import SweepScope, SweptSlot


class SlotRequest(StrictRequest):
    """One slot, in the words of its memories."""

    entity: Word | None = Field(None, description="Default: user.")
    category: Word | None = None
    key: Word

    def to_slot(self) -> SweptSlot:
        return SweptSlot(self.entity, self.category, self.key)


class SweepRequest(StrictRequest):
    """What to look at again: by default everything of the agent."""

    agent_id: Word | None = Field(None, description="The agent of this call, to make sure.")
    slot: SlotRequest | None = Field(None, description="This slot alone.")
    since: Time | None = Field(
        None, description="What became known since then, and what is marked to be looked at again."
    )
    dry_run: StrictBool = Field(
        False, description="true: `findings` tell what would be done, and nothing is."
    )

    def to_scope(self) -> SweepScope:
        slot = self.slot.to_slot() if self.slot else None
        return SweepScope(slot, self.since, self.dry_run)


class SweepsQuery(StrictRequest):
    """A page of sweeps."""

    limit: PageSize = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")
