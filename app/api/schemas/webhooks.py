"""Requests that create and list webhooks."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.api.schemas.events import OperationList
from app.api.schemas.fields import PageSize, StrictRequest
from app.api.schemas.keys import Agents

LONGEST_URL = 2_000


class WebhookRequest(StrictRequest):
    """A webhook to create."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL)] = Field(
        description="Where events are sent: an https address in the public internet."
    )
    agents: Agents | None = Field(
        None,
        description="Whose events: an agent's id, `acme/*` for every id that begins with `acme/`, "
        "or `*` for all. Default: the agent of the call.",
    )
    operations: OperationList = Field(
        [], description="Only events of these operations. Default: all."
    )


class WebhooksQuery(StrictRequest):
    """A page of webhooks."""

    limit: PageSize = 50
    cursor: UUID | None = Field(None, description="`next_cursor` of the page before.")
