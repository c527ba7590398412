"""Requests that make and list links."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.cursors import RelationshipCursor
from app.api.schemas.fields import MAX_LIMIT
from app.api.times import Time
from app.domain.relationship import LinkType
from app.store.relationships import AfterRelationship


class LinkRequest(BaseModel):
    __doc__ = (
        "A link to another memory. It ends nothing, whatever its type: to put a memory in "
        "another's place, POST .../supersede."
    )

    model_config = ConfigDict(extra="forbid")

    type: LinkType = Field(description="What the memory of the path is to the target.")
    target_id: UUID = Field(
        description=(
            "`id` of the other memory: paste one from the answer to a store, a list or a search."
        )
    )


class LinksQuery(BaseModel):
    """A page of links."""

    model_config = ConfigDict(extra="forbid")

    known_at: Time | None = Field(
        None, description="As far as was known at that time. Default: all that is known."
    )
    knownAt: Time | None = Field(None, description="Another name for known_at.")  # noqa: N815 - a wire name
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.known_at is not None and self.knownAt is not None and self.known_at != self.knownAt:
            raise ValueError("known_at is given twice, with different times; give it once")
        return self

    def locate_page(self) -> tuple[datetime | None, AfterRelationship | None]:
        """Which picture to list from, and where to go on."""
        cursor = RelationshipCursor.decode(self.cursor) if self.cursor else None
        return (cursor.known_at, cursor.after) if cursor else (self.known_at or self.knownAt, None)
