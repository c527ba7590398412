"""The rule of webhooks: the events of an agent can be read."""

from app.store.doctor.rules.rule import Rule

# Find the time since which some webhook does not get the events of the agent.
_UNREADABLE = """
    SELECT CAST('{}' AS text[]) AS ids, min(unreadable_since) AS since
    FROM webhook_positions
    WHERE agent = :agent AND unreadable_since IS NOT NULL
    HAVING count(*) > 0
"""

WEBHOOKS = (
    Rule(
        "webhooks",
        "Since {since}, events of this agent cannot be read, so webhooks do not get them.",
        _UNREADABLE,
    ),
)
