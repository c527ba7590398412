"""The changes of a revert besides memories and beliefs: log marks, reviews, counts and links."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.plan import Plan
from app.store.engine import get_driver

# The operation that is undone. If it is a revert, the operation that it had undone stands again,
# and so on down the line of reverts.
_UNDONE = b"""
    WITH RECURSIVE undone AS (
        SELECT id, reverts, created_at, CAST(%(by)s AS uuid) AS by, true AS is_undone
        FROM consolidation_log
        WHERE agent_id = %(agent)s AND id = %(reverts)s
        UNION ALL
        SELECT l.id, l.reverts, l.created_at, undone.id, NOT undone.is_undone
        FROM undone
        JOIN consolidation_log l ON l.agent_id = %(agent)s AND l.id = undone.reverts
    )
"""

# Operations name the revert that undid them. The planner does not know how few these operations
# are; the array keeps it from reading the whole log of the agent for each of them.
_MARK_OPERATIONS = (
    _UNDONE
    + b"""
    UPDATE consolidation_log l
    SET reverted_by = CASE WHEN undone.is_undone THEN undone.by END
    FROM undone
    WHERE l.agent_id = %(agent)s
      AND l.id = undone.id
      AND l.id = ANY(ARRAY(SELECT id FROM undone))
"""
)

# A review that an undone operation left is overtaken. If the operation stands again, the review
# waits again, unless a memory that it is about was erased since. A review is as old as the
# operation that left it, and an index finds it by that time. Older versions let it expire.
_CHANGE_REVIEWS = (
    _UNDONE
    + b"""
    UPDATE reviews r SET
        status = CASE WHEN undone.is_undone THEN 'overtaken' ELSE 'pending' END,
        decided_at = CASE WHEN undone.is_undone THEN CAST(%(now)s AS timestamptz) END,
        decision_log_id = CASE WHEN undone.is_undone THEN undone.by END
    FROM undone
    WHERE r.agent_id = %(agent)s
      AND r.created_at = undone.created_at
      AND r.log_id = undone.id
      AND (r.status = 'pending') = undone.is_undone
      AND r.status IN ('pending', 'overtaken', 'expired')
      AND (
          undone.is_undone
          OR r.decision_log_id IN (SELECT id FROM undone) AND NOT EXISTS (
              SELECT FROM memories m
              WHERE m.agent_id = %(agent)s
                AND m.erased_at IS NOT NULL
                AND m.id IN (SELECT CAST(jsonb_object_keys(r.relied_on) AS uuid))
          )
      )
"""
)

# A confirmation is taken back.
_UNCONFIRM = b"""
    UPDATE memory_usage SET access_count = access_count - 1
    WHERE agent_id = %(agent)s AND memory_id = %(unconfirmed)s
"""

_UNLINK = b"""
    DELETE FROM memory_relationships
    WHERE agent_id = %s AND source_id = %s AND target_id = %s AND type = %s
"""


async def undo_side_effects(
    connection: AsyncConnection, agent: AgentId, plan: Plan, log_id: UUID
) -> None:
    """Undo what the reverted operation left besides memories and beliefs.

    `log_id` is the operation that reverts. A plan that reverts nothing changes nothing here.
    """
    if plan.reverts is None:
        return
    driver = get_driver(connection)
    parameters = {
        "agent": agent,
        "by": log_id,
        "reverts": plan.reverts,
        "now": plan.now,
        "unconfirmed": plan.unconfirmed,
    }
    for statement in (_MARK_OPERATIONS, _CHANGE_REVIEWS, _UNCONFIRM):
        await driver.execute(statement, parameters)
    for link in plan.unlinked:
        await driver.execute(_UNLINK, (agent, link.source, link.target, link.type))
