"""What writes are told with: hints from the picture under the lock, and from what people rejected before."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.chains import Chains
from app.planning import hints
from app.planning.hints import Hint
from app.planning.plan import Plan
from app.store.reviews.rejections import find_rejected

MOST_REJECTED = 1_000


async def find_plan_hints(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], picture: Chains
) -> list[tuple[Hint, ...]]:
    """The hints of each plan; the picture has absorbed them all. Where any may repeat what was rejected, that costs one statement."""
    asking = [
        (plan, about) for plan in plans if (about := hints.find_proposal_targets(plan, picture))
    ]
    if not asking:
        return [tuple(hints.find_plan_hints(plan, picture)) for plan in plans]
    facts = [plan.incoming for plan, _ in asking if plan.incoming]
    texts, slots = (
        {fact.fuzzy_hash for fact in facts},
        {fact.slot.digest for fact in facts if fact.key is not None},
    )
    about = frozenset[UUID]().union(*(about for _, about in asking))
    rejected = await find_rejected(connection, agent, about, texts, slots, limit=MOST_REJECTED)
    return [tuple(hints.find_plan_hints(plan, picture, rejected)) for plan in plans]
