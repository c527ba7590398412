"""The door of pure reads: a replica that is recent enough, or else the primary.

A read names the position in the write-ahead log that it needs, if its caller has written. The
replica must have replayed that far. A read that names none may be as old as the settings allow.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import psycopg
from psycopg.errors import QueryCanceled
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.position import PRIMARY_ONLY, Position
from app.store.engine import (
    NO_AGENT,
    connect_for_agent,
    fetch_rows,
    limit_steps,
)
from app.store.roles import Role

T = TypeVar("T")
Read = Callable[[AsyncConnection], Awaitable[T]]
Door = Callable[[AsyncEngine, AgentId], AbstractAsyncContextManager[AsyncConnection]]

# Seconds that a server may take to say how far it is.
LOOK_PATIENCE = 2.0
# Seconds between two looks at a replica that a read waits for.
_LOOK_AGAIN = 0.005
# Positions of the primary that a replica may still have to reach.
_MOST_MARKS = 1_000

# What a database raises that cannot serve a statement. TimeoutError is an OSError.
UNREACHABLE = (psycopg.Error, SQLAlchemyError, OSError)

logger = logging.getLogger(__name__)


# --- positions ---------------------------------------------------------------------------------


@dataclass(slots=True)
class CallReads:
    """What the reads of one call must see. `only_reads` is whether the call changes nothing."""

    needed: Position | None = None
    only_reads: bool = False


# Set for each call of the API. Reads outside of a call need no position.
CALL_READS: ContextVar[CallReads | None] = ContextVar("call_reads", default=None)

# Read a position that no commit so far lies behind. Without synchronous_commit, a commit that is
# seen may not be flushed yet.
_READ_POSITION = """
    SELECT CAST(
        CASE current_setting('synchronous_commit')
            WHEN 'off' THEN pg_current_wal_insert_lsn()
            ELSE pg_current_wal_flush_lsn()
        END AS text
    ) AS position
"""


async def read_position(primary: AsyncEngine) -> Position:
    """Return a position that covers all that was committed before this call."""
    async with connect_for_agent(primary, NO_AGENT) as connection:
        with limit_steps(connection, LOOK_PATIENCE):
            [row] = await fetch_rows(connection, _READ_POSITION, {})
    return Position.parse(row["position"])


# --- servers -----------------------------------------------------------------------------------

# Read what a replica must have in common with its primary. After a failover, one position means
# different things on the old timeline and on the new one. The control file of a replica names the
# new one from the replica's next restart point on.
_READ_IDENTITY = """
    SELECT
        (SELECT CAST(system_identifier AS text) FROM pg_control_system()) AS system,
        CASE
            WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
            ELSE CAST('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS bit(32))::integer
        END AS timeline,
        (SELECT version_num FROM alembic_version) AS revision,
        (SELECT name FROM encoder) AS encoder
"""

# Read whether a server still is a replica, how far it is, and what it last learned of an agent.
_LOOK = """
    SELECT
        pg_is_in_recovery() AS is_replica,
        CAST(pg_last_wal_replay_lsn() AS text) AS replayed,
        (SELECT last_known_at FROM agents WHERE agent_id = :agent) AS last_known_at
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a replica has in common with its primary."""

    system: str
    timeline: int
    revision: str
    encoder: str


async def _read_identity(engine: AsyncEngine) -> Identity:
    async with connect_for_agent(engine, NO_AGENT, Role.OPERATOR) as connection:
        with limit_steps(connection, LOOK_PATIENCE):
            [row] = await fetch_rows(connection, _READ_IDENTITY, {})
    return Identity(**row)


class Unusable(Exception):
    """A replica cannot serve a read. `reason` is one of a few words, for the metrics."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a replica is, and the last known time of an agent that it shows; None if none."""

    replayed: Position
    last_known_at: datetime | None


@dataclass(slots=True)
class Replica:
    """A replica, as this process last saw it.

    It shows all that was committed before `current_at` on the monotonic clock of this process. It
    is not used while it has a `refusal`.
    """

    name: str
    engine: AsyncEngine
    current_at: float | None = None
    refusal: str | None = "not looked at yet"

    def compute_lag(self) -> float:
        """Return by how many seconds a read may be old, at most."""
        return float("inf") if self.current_at is None else time.monotonic() - self.current_at

    async def look(self, agent: AgentId = NO_AGENT) -> Progress:
        """Return how far the replica is. Raise Unusable if it is none any more."""
        async with connect_for_agent(self.engine, agent) as connection:
            with limit_steps(connection, LOOK_PATIENCE):
                [row] = await fetch_rows(connection, _LOOK, {"agent": agent})
        if not row["is_replica"]:
            raise Unusable("promoted")
        return Progress(Position.parse(row["replayed"]), row["last_known_at"])

    def refuse(self, reason: str) -> None:
        """Use the replica no more, until a later look finds it in order."""
        if self.refusal != reason:
            logger.warning("replica %s is not used: %s", self.name, reason)
        self.refusal = reason
        self.current_at = None

    def accept(self) -> None:
        if self.refusal is not None:
            logger.info("replica %s is used", self.name)
        self.refusal = None


# --- reads -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """How old a read may be, how long it waits for a position, and how often lag is measured.

    All of them are in seconds.
    """

    max_lag: float
    wait: float
    every: float


@dataclass(slots=True)
class Marks:
    """Positions of the primary, and the times at which they covered all commits, oldest first."""

    marks: list[tuple[float, Position]] = field(default_factory=list)

    def add(self, at: float, position: Position) -> None:
        self.marks = [*self.marks[-_MOST_MARKS + 1 :], (at, position)]

    def find_time(self, replayed: Position) -> float | None:
        """Return the last time of which a replica that is this far shows everything."""
        return next((at for at, mark in reversed(self.marks) if mark <= replayed), None)


NoteRead = Callable[[str, str | None], None]


class Reads:
    """Runs pure reads on a replica where one will do, and else on the primary."""

    def __init__(
        self,
        primary: AsyncEngine,
        replicas: Sequence[Replica],
        settings: ReadSettings,
        note_read: NoteRead,
    ) -> None:
        self.replicas = replicas
        self._primary = primary
        self._settings = settings
        self._note_read = note_read
        self._turn = 0
        self._marks = Marks()
        self._identity: Identity | None = None

    async def run(
        self,
        agent: AgentId,
        read: Read[T],
        *,
        known_at: datetime | None = None,
        door: Door = connect_for_agent,
    ) -> T:
        """Return what `read` returns, run on a connection of this door.

        It may run twice: on a replica that fails, then on the primary. `known_at` is the known time
        that it reads at, if it names one. The reads of one call see nothing older than an earlier
        read of the call.
        """
        call = CALL_READS.get() or CallReads()
        replica = self._choose_replica(call)
        if replica is not None:
            try:
                await self._await_replica(replica, agent, call, known_at)
                async with door(replica.engine, agent) as connection:
                    answer = await read(connection)
            except Unusable as problem:
                self._note_trouble(replica, problem.reason, lasts=problem.reason == "promoted")
            except QueryCanceled:
                raise
            except UNREACHABLE as problem:
                self._note_trouble(replica, "failed", lasts=_is_lost(problem))
            else:
                self._note_read(replica.name, None)
                return answer
        self._note_read("primary", None)
        async with door(self._primary, agent) as connection:
            answer = await read(connection)
        call.needed = PRIMARY_ONLY
        return answer

    async def _await_replica(
        self, replica: Replica, agent: AgentId, call: CallReads, known_at: datetime | None
    ) -> None:
        """Wait until the replica shows what the call needs. Raise Unusable if it is too slow.

        Of an agent that it has not heard of, it would answer a known time of its own clock. At a
        known time after the last one that it shows, it lacks what the primary may have.
        """
        until = time.monotonic() + self._settings.wait
        while True:
            progress = await replica.look(agent)
            if call.needed is None or progress.replayed >= call.needed:
                break
            if time.monotonic() >= until:
                raise Unusable("behind")
            await asyncio.sleep(_LOOK_AGAIN)
        if progress.last_known_at is None:
            raise Unusable("unknown agent")
        if known_at is not None and known_at > progress.last_known_at:
            raise Unusable("not yet known")
        call.needed = progress.replayed

    def _choose_replica(self, call: CallReads) -> Replica | None:
        """Return the next replica in turn that is in order and recent enough."""
        if call.needed == PRIMARY_ONLY:
            return None
        usable = [replica for replica in self.replicas if self.is_used(replica)]
        if not usable:
            return None
        self._turn += 1
        return usable[self._turn % len(usable)]

    def is_used(self, replica: Replica) -> bool:
        return replica.refusal is None and replica.compute_lag() <= self._settings.max_lag

    def _note_trouble(self, replica: Replica, reason: str, *, lasts: bool) -> None:
        if lasts:
            replica.refuse(reason)
        self._note_read(replica.name, reason)

    # --- lag -----------------------------------------------------------------------------------

    @asynccontextmanager
    async def watch_in_background(self) -> AsyncIterator[None]:
        """Measure the lag of the replicas until the block ends. Without replicas, do nothing."""
        if not self.replicas:
            yield
            return
        await self.watch_once()
        task = asyncio.create_task(self._keep_watching())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            for replica in self.replicas:
                await replica.engine.dispose()

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(self._settings.every)
            await self.watch_once()

    async def watch_once(self) -> None:
        """Look at the primary, then at each replica."""
        await self._mark_primary()
        await asyncio.gather(*map(self._check_replica, self.replicas))

    async def _mark_primary(self) -> None:
        """Note a position of the primary. While it cannot be read, the lag of all grows."""
        before = time.monotonic()
        try:
            position = await read_position(self._primary)
            identity = await _read_identity(self._primary)
        except UNREACHABLE as problem:
            logger.debug("the primary does not tell its position: %s", type(problem).__name__)
            return
        if self._identity is None or identity.timeline != self._identity.timeline:
            self._marks = Marks()
        self._identity = identity
        self._marks.add(before, position)

    async def _check_replica(self, replica: Replica) -> None:
        try:
            progress = await replica.look()
            identity = await _read_identity(replica.engine)
        except Unusable as problem:
            replica.refuse(problem.reason)
            return
        except UNREACHABLE as problem:
            replica.refuse(f"unreachable ({type(problem).__name__})")
            return
        if self._identity is not None and identity != self._identity:
            replica.refuse(describe_difference(identity, self._identity))
            return
        if (current_at := self._marks.find_time(progress.replayed)) is not None:
            replica.current_at = current_at
        replica.accept()


def describe_difference(replica: Identity, primary: Identity) -> str:
    if replica.system != primary.system:
        return "it is no copy of the primary"
    if replica.timeline != primary.timeline:
        return f"its timeline is {replica.timeline}, that of the primary {primary.timeline}"
    if replica.revision != primary.revision:
        return f"its schema is {replica.revision}, that of the primary {primary.revision}"
    return f"its vectors are of {replica.encoder}, those of the primary of {primary.encoder}"


def _is_lost(problem: Exception) -> bool:
    """Return whether the server went away, rather than refusing one statement."""
    if isinstance(problem, psycopg.Error):
        state = problem.sqlstate
        return state is None or state.startswith(("08", "57P"))
    # A pool without a free connection says nothing about the server.
    return not isinstance(problem, PoolTimeout | TimeoutError)
