"""The rules of DESIGN §4 that one statement can check; planning/audit checks the others."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.planning.audit.replay import to_log_value
from app.store.columns import ERASED_LOG_KEYS, ERASED_LOG_KEYS_OF_CHAIN
from app.store.doctor.rules.captures import CAPTURES
from app.store.doctor.rules.content import ERASED, VECTORS
from app.store.doctor.rules.indexes import INDEXES
from app.store.doctor.rules.log_chain import LOG_CHAIN
from app.store.doctor.rules.references import REFERENCES
from app.store.doctor.rules.retention import RETENTION
from app.store.doctor.rules.rule import Rule
from app.store.doctor.rules.times import IN_TIME, READABLE
from app.store.doctor.rules.webhooks import WEBHOOKS
from app.store.engine import stream_rows
from app.store.redactions import NOWHERE

__all__ = ["READABLE", "RULES", "stream_faults"]

RULES = (
    *IN_TIME,
    *REFERENCES,
    *VECTORS,
    *ERASED,
    *RETENTION,
    *LOG_CHAIN,
    *CAPTURES,
    *INDEXES,
    *WEBHOOKS,
)


async def stream_faults(
    connection: AsyncConnection, agent: AgentId, rules: tuple[Rule, ...]
) -> AsyncGenerator[Fault]:
    """Yield the faults that the rules find, in the order of the rules."""
    values = {
        "agent": agent,
        "nowhere": NOWHERE.digest,
        "texts": ERASED_LOG_KEYS,
        "slot_words": ERASED_LOG_KEYS_OF_CHAIN,
    }
    for rule in rules:
        async with aclosing(stream_rows(connection, rule.statement, values)) as rows:
            async for row in rows:
                shown = {name: to_log_value(value) for name, value in row.items()}
                yield Fault(
                    check=rule.check,
                    ids=tuple(row["ids"]),
                    sentence=rule.sentence.format(**shown),
                    remedy=rule.remedy(shown),
                )
