"""Reviews that the agent's own model may decide."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.domain.context import ContextQuestion
from app.planning.agent_questions import (
    AGENT_SOURCES,
    build_context_question,
    find_protection,
)
from app.store.engine import fetch_rows
from app.store.reviews.reviews import (
    StoredReview,
    ask_about_standing,
    find_all_named,
    find_stored_review,
    stored_review_from_row,
)

# Reviews of one handle that are read to name them: more than there are in practice.
_MOST_NAMESAKES = 20

# Find the reviews whose ids end with these digits, those that wait before others.
_BY_HANDLE = """
    SELECT *
    FROM reviews
    WHERE agent_id = :agent AND starts_with(reverse(replace(CAST(id AS text), '-', '')), :reversed)
    ORDER BY status = 'pending' DESC, created_at DESC, id DESC
    LIMIT :limit
"""


async def find_by_handle(
    connection: AsyncConnection, agent: AgentId, handle: str
) -> list[StoredReview]:
    """Return the reviews that the handle may mean: those that wait, or else those that did."""
    if len(handle) == len(UUID(int=0).hex):
        review = await find_stored_review(connection, agent, UUID(handle))
        return [review] if review else []
    values = {"agent": agent, "reversed": handle[::-1], "limit": _MOST_NAMESAKES}
    rows = await fetch_rows(connection, _BY_HANDLE, values)
    matches = list(map(stored_review_from_row, rows))
    return [review for review in matches if review.status == "pending"] or matches


# List those of these reviews that wait, newest first, and were shown less often than that.
_UNANSWERED = """
    SELECT *, clock_timestamp() AS now
    FROM reviews
    WHERE agent_id = :agent AND id = ANY(:ids) AND status = 'pending' AND incoming IS NULL
      AND source = ANY(:sources) AND shown < coalesce(CAST(:shown_below AS integer), shown + 1)
    ORDER BY created_at DESC, id DESC
    LIMIT :limit
"""


async def list_unanswered(
    connection: AsyncConnection,
    agent: AgentId,
    review_ids: Sequence[UUID],
    *,
    shown_below: int | None,
    limit: int,
) -> list[ContextQuestion]:
    """Return those of the reviews that wait and that the agent's model may decide, newest first.

    None for `shown_below` means that it does not matter how often they were shown.
    """
    values = {
        "agent": agent,
        "ids": list(review_ids),
        "sources": list(AGENT_SOURCES),
        "shown_below": shown_below,
        "limit": limit,
    }
    rows = await fetch_rows(connection, _UNANSWERED, values)
    if not rows:
        return []
    waiting = list(map(stored_review_from_row, rows))
    named = await find_all_named(connection, agent, waiting)
    now = rows[0]["now"]
    return [
        build_context_question(review.proposal, ask_about_standing(review, named, now))
        for review in waiting
        if find_protection(review.proposal, named) is None
    ]


# Read the mode that was chosen for the agent.
_MODE = "SELECT mode FROM agents WHERE agent_id = :agent"


async def read_mode(connection: AsyncConnection, agent: AgentId) -> Mode | None:
    """Return the mode that was chosen for the agent, None if the settings decide."""
    rows = await fetch_rows(connection, _MODE, {"agent": agent})
    return Mode(rows[0]["mode"]) if rows and rows[0]["mode"] else None
