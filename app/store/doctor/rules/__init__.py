"""The rules that one statement can check (DESIGN §4), each finding what breaks it; the rest is in `domain/checks`."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.audit.checks import Fault
from app.planning.audit.replay import to_log_value
from app.store.columns import ERASED_LOG_KEYS, ERASED_LOG_KEYS_OF_CHAIN
from app.store.doctor.rules.content import ERASED, VECTORS
from app.store.doctor.rules.references import REFERENCES
from app.store.doctor.rules.retention import RETENTION
from app.store.doctor.rules.rule import Rule
from app.store.doctor.rules.times import IN_TIME, READABLE
from app.store.engine import stream_rows
from app.store.redactions import NOWHERE

__all__ = ["READABLE", "RULES", "stream_faults"]

RULES = (*IN_TIME, *REFERENCES, *VECTORS, *ERASED, *RETENTION)


async def stream_faults(
    connection: AsyncConnection, agent: AgentId, rules: tuple[Rule, ...]
) -> AsyncGenerator[Fault]:
    """What breaks the rules, in their order."""
    given = {
        "agent": agent,
        "nowhere": NOWHERE.digest,
        "texts": ERASED_LOG_KEYS,
        "slot_words": ERASED_LOG_KEYS_OF_CHAIN,
    }
    for rule in rules:
        async with aclosing(stream_rows(connection, rule.statement, given)) as rows:
            async for row in rows:
                shown = {name: to_log_value(value) for name, value in row.items()}
                yield Fault(
                    rule.check, tuple(row["ids"]), rule.sentence.format(**shown), rule.remedy(shown)
                )
