"""Requests that make and list relationships."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from app.api.cursors import RelationshipCursor
from app.api.schemas.fields import PageSize, StrictRequest
from app.api.times import Time
from app.domain.relationship import LinkType
from app.store.relationships import AfterRelationship


class LinkRequest(StrictRequest):
    __doc__ = (
        "A link to another memory. It ends nothing, whatever its type: to put a memory in "
        "another's place, POST .../supersede."
    )

    type: LinkType = Field(description="What the memory of the path is to the target.")
    target_id: UUID = Field(
        description=(
            "`id` of the other memory: paste one from the answer to a store, a list or a search."
        )
    )


class LinksQuery(StrictRequest):
    """A page of links."""

    known_at: Time | None = Field(
        None, description="As far as was known at that time. Default: all that is known."
    )
    limit: PageSize = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")

    def locate_page(self) -> tuple[datetime | None, AfterRelationship | None]:
        """Return the known time of the picture to list from, and the position to go on from."""
        if self.cursor:
            cursor = RelationshipCursor.decode(self.cursor)
            return cursor.known_at, cursor.after
        return self.known_at, None
