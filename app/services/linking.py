"""Tying two memories: lock, see that both can be tied and are not already, apply, commit."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.links import Link
from app.domain.memory import AgentId
from app.domain.plan import Plan, Policy
from app.domain.verbs import plan_link
from app.services import metrics
from app.services.once import UNKEYED, Once
from app.store import links, writes
from app.store.links import Tied
from app.store.rows import Request


@dataclass(frozen=True, slots=True)
class Linked:
    """The link as it is stored, and whether this call stored it."""

    tied: Tied
    is_new: bool


class Linking:
    """Ties memories. Undoing is the log's business, as with every operation."""

    def __init__(self, engine: AsyncEngine, policy: Policy, *, language_oid: int) -> None:
        self._engine = engine
        self._policy = policy
        self._language_oid = language_oid

    async def link(self, agent: AgentId, link: Link, *, request: Request, once: Once[Linked] = UNKEYED) -> Linked:
        """Ties two memories; where they are tied so already, nothing is written.

        Raises UnknownMemory, Erased, Withdrawn, InvalidFact, AgentFrozen.
        """
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            await once.check(connection)
            lock.refuse_where_frozen(self._policy)
            picture, clock = await writes.read_picture(connection, agent, ids=[link.source, link.target])
            plan = plan_link(link, picture, now=writes.next_known(clock, lock.last_known_at))
            stored = await links.find_links(connection, agent, [link])
            linked = Linked(stored[0], is_new=False) if stored else await self._write(connection, agent, plan, request)
            await once.keep(connection, linked)
        metrics.count([plan] if linked.is_new else [])
        return linked

    async def _write(self, connection: AsyncConnection, agent: AgentId, plan: Plan, request: Request) -> Linked:
        [written] = await writes.apply(connection, agent, [plan], vectors={}, language=self._language_oid, request=request)
        return Linked(Tied(plan.links[0], plan.now, written.log_id), is_new=True)
