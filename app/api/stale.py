"""What answers say of memories that rest on something that has ended."""

from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.api.times import Time
from app.domain.relationship import LinkType
from app.domain.version import StalenessCause, Status
from app.planning.staleness import StaleMemory


class EndedOut(BaseModel):
    """A memory that another is tied to, and that has ended since the tie was made."""

    model_config = ConfigDict(use_enum_values=True)

    memory_id: UUID
    type: LinkType = Field(description="How the two are tied; the link may go either way.")
    status: Status
    ended_at: Time = Field(
        description="When it stopped being true; of one `reverted` or `erased`, when that became known."
    )

    @classmethod
    def from_ended_memory(cls, ended: StalenessCause) -> Self:
        return cls.model_construct(
            memory_id=ended.memory_id, type=ended.type, status=ended.status, ended_at=ended.ended_at
        )


class StaleOut(BaseModel):
    """A memory that holds, though what it rests on has ended: look whether it is still right."""

    memory_id: UUID
    stale_because: list[EndedOut]

    @classmethod
    def from_stale_memory(cls, stale: StaleMemory) -> Self:
        return cls.model_construct(
            memory_id=stale.memory_id,
            stale_because=[EndedOut.from_ended_memory(ended) for ended in stale.because],
        )
