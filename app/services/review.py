"""Deciding reviews: read, prepare what takes time, lock, see whether anything moved, plan, apply, answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import AlreadyDecided, CannotAccept, PalimpsestError, Unavailable, UnknownLogEntry, UnknownReview
from app.domain.judged import Merged
from app.domain.memory import AgentId, Memory
from app.domain.merging import join
from app.domain.picture import Picture
from app.domain.plan import Plan, Policy, Review, ReviewSource, ReviewStatus, inserted_memories
from app.domain.relation import Judge, Relation
from app.domain.reviewing import Proposal, moved, plan_accept, plan_reject, review_of
from app.embedding import Embedder
from app.services import metrics
from app.services.judging import Command
from app.services.once import UNKEYED, Once
from app.services.remember import Outcome, Remember
from app.store import archived, links, operations, reads, reviews, writes
from app.store.reads import Point
from app.store.reviews import Incoming, ReviewFilters, Waiting
from app.store.rows import Request
from app.store.writes import Locked, Written


@dataclass(frozen=True, slots=True)
class Preview:
    """What accepting would do at that moment: the memories it is about before and after; `obstacle` says why it cannot be done."""

    at: datetime
    before: list[Memory]
    after: list[Memory]
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """Accepting was put off: these memories changed since the proposal, which now relies on what they are."""

    review_id: UUID
    changed: list[UUID]
    preview: Preview


class _Overtaken(Exception):
    """A store that was held back is not carried out: what it was to change has moved, or, with nothing changed, it has been decided."""

    def __init__(self, changed: list[UUID]) -> None:
        super().__init__(changed)
        self.changed = changed


Decided = tuple[UUID, Outcome | Moved | PalimpsestError]


@dataclass(frozen=True, slots=True)
class _Merging:
    """A merge made ready before the lock."""

    merged: Merged | None = None
    vectors: dict[UUID, NDArray[np.float32]] = field(default_factory=dict)


class Reviewing:
    """Accepts, rejects and expires reviews. A decision is an operation like any other: logged, and undone by a revert."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, remember: Remember, policy: Policy, *, expires_after: timedelta, language_oid: int
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._remember = remember
        self._policy = policy
        self._expires_after = expires_after
        self._language_oid = language_oid

    async def accept(
        self, agent: AgentId, review_id: UUID, *, note: str | None, request: Request, once: Once[Outcome | Moved] = UNKEYED
    ) -> Outcome | Moved:
        """Does what the review proposes to the memories as they are now; where they moved, tells so and proposes afresh.

        Deciding again answers as the first time. Raises UnknownReview, AlreadyDecided, CannotAccept, AgentFrozen.
        """
        await self.expire(agent)
        waiting = await self._found(agent, review_id)
        if waiting.incoming and waiting.status == ReviewStatus.PENDING:
            return await self._release(agent, waiting, note=note, request=request, once=once)
        merging = await self._merging(agent, waiting.proposal)
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=self._embedder.name if merging.vectors else None)
            await once.check(connection)
            lock.refuse_where_frozen(self._policy)
            waiting = await _get(connection, agent, review_id)
            if waiting.status != ReviewStatus.PENDING:
                return await _decided(connection, agent, waiting, ReviewStatus.ACCEPTED, once)
            proposal = waiting.proposal
            picture, clock = await writes.read_picture(connection, agent, ids=proposal.ids)
            now = writes.next_known(clock, lock.last_known_at)
            if changed := moved(proposal, picture):
                await reviews.rely_on(connection, agent, review_id, {i: picture.version(i).revision for i in proposal.ids})
                return Moved(review_id, changed, await self._previewed(connection, agent, proposal, picture, now, merging))
            plan = plan_accept(proposal, picture, now=now, merged=merging.merged, note=note)
            outcome = await self._carry_out(connection, agent, plan, merging, request)
            await once.keep(connection, outcome)
        metrics.count([outcome.plan])
        return outcome

    async def reject(
        self, agent: AgentId, review_id: UUID, *, note: str | None, request: Request, once: Once[Outcome | Moved] = UNKEYED
    ) -> Outcome:
        """Leaves everything as it is. Raises UnknownReview, AlreadyDecided."""
        await self.expire(agent)
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            await once.check(connection)
            waiting = await _get(connection, agent, review_id)
            if waiting.status != ReviewStatus.PENDING:
                return await _decided(connection, agent, waiting, ReviewStatus.REJECTED, once)
            _, clock = await writes.read_picture(connection, agent)
            now = writes.next_known(clock, lock.last_known_at)
            reason = note or "Rejected: everything stays as it is."
            plan = plan_reject(waiting.proposal, ReviewStatus.REJECTED, now=now, by=Judge.REVIEWER, note=reason)
            outcome = await self._carry_out(connection, agent, plan, _Merging(), request)
            await once.keep(connection, outcome)
        metrics.count([outcome.plan])
        return outcome

    async def decide(
        self,
        agent: AgentId,
        review_ids: Sequence[UUID],
        *,
        accept: bool,
        note: str | None,
        request: Request,
        once: Once[list[Decided]] = UNKEYED,
    ) -> list[Decided]:
        """Decides several, each for itself and in a transaction of its own. A retry before the answer is kept decides nothing twice."""
        decided: list[Decided] = []
        for review_id in review_ids:
            try:
                one = self.accept if accept else self.reject
                decided.append((review_id, await one(agent, review_id, note=note, request=request)))
            except PalimpsestError as problem:
                decided.append((review_id, problem))
        if once.call:
            async with self._engine.begin() as connection:
                await writes.lock_agent(connection, agent, encoder=None)
                await once.check(connection)
                await once.keep(connection, decided)
        return decided

    async def matching(self, agent: AgentId, filters: ReviewFilters, limit: int) -> list[UUID]:
        """The newest pending reviews that match, `limit` at most."""
        async with reads.reading(self._engine) as connection:
            rows = await reviews.list_reviews(connection, agent, replace(filters, status="pending"), limit=limit, after=None)
        return [row["id"] for row in rows]

    async def preview(self, agent: AgentId, review_id: UUID) -> Preview:
        """What accepting would do now. Raises UnknownReview, Unavailable."""
        waiting = await self._found(agent, review_id)
        if waiting.incoming and waiting.status == ReviewStatus.PENDING:
            preview, _ = await self._tried(agent, _asked_for(waiting.incoming, waiting.proposal))
            return preview
        merging = await self._merging(agent, waiting.proposal)
        async with self._engine.connect() as connection:
            picture, clock = await writes.read_picture(connection, agent, ids=waiting.proposal.ids)
            return await self._previewed(connection, agent, waiting.proposal, picture, clock, merging)

    async def expire(self, agent: AgentId) -> int:
        """Closes what waited too long, each with a row in the log; says how many."""
        async with self._engine.connect() as connection:
            [row] = (await connection.exec_driver_sql("SELECT clock_timestamp()")).one()
            late = await reviews.overdue(connection, agent, row - self._expires_after)
        if not late:
            return 0
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            _, clock = await writes.read_picture(connection, agent)
            last, plans = lock.last_known_at, []
            for waiting in await reviews.overdue(connection, agent, clock - self._expires_after):
                last = writes.next_known(clock, last)
                note = "Nobody decided it in time."
                plans.append(plan_reject(waiting.proposal, ReviewStatus.EXPIRED, now=last, by=Judge.RULE, note=note))
            await writes.apply(connection, agent, plans, vectors={}, language=self._language_oid, request=Request())
        metrics.count(plans)
        return len(plans)

    async def _found(self, agent: AgentId, review_id: UUID) -> Waiting:
        async with reads.reading(self._engine) as connection:
            return await _get(connection, agent, review_id)

    async def _release(
        self, agent: AgentId, waiting: Waiting, *, note: str | None, request: Request, once: Once[Outcome | Moved]
    ) -> Outcome | Moved:
        """A store that was held back is carried out, or proposed afresh where what it was to change has moved."""
        assert waiting.incoming is not None
        review_id = waiting.proposal.review_id
        command = _asked_for(waiting.incoming, waiting.proposal)
        settling = replace(command, settles=waiting.proposal.settled(ReviewStatus.ACCEPTED, note))

        async def check(connection: AsyncConnection, lock: Locked) -> None:
            lock.refuse_where_frozen(self._policy)
            found = await _get(connection, agent, review_id)
            if found.status != ReviewStatus.PENDING:
                raise _Overtaken([])
            picture, _ = await writes.read_picture(connection, agent, ids=found.proposal.targets)
            if changed := moved(found.proposal, picture):
                raise _Overtaken(changed)

        try:
            return await self._remember.store(agent, settling, request=request, once=Once(once.call, once.render), check=check)
        except _Overtaken as overtaken:
            changed = overtaken.changed
        if not changed:  # then it answers as the first time
            return await self.accept(agent, review_id, note=note, request=request, once=once)
        preview, proposed = await self._tried(agent, command)
        async with self._engine.begin() as connection:
            await reviews.hold_on(connection, agent, review_id, proposed)
        return Moved(review_id, changed, preview)

    async def _tried(self, agent: AgentId, command: Command) -> tuple[Preview, Review | None]:
        """What carrying out a store that was held back would come to, and what it would do to stored memories, if anything. Raises
        Unavailable."""
        try:
            plan = (await self._remember.store(agent, command, request=Request(), dry_run=True)).plan
        except Unavailable:
            raise
        except PalimpsestError as problem:
            async with reads.reading(self._engine) as connection:
                _, clock = await writes.read_picture(connection, agent)
            return Preview(clock, [], [], str(problem)), None
        async with reads.reading(self._engine) as connection:
            named = [*plan.touched, *([plan.target] if plan.target else [])]
            before = (await reads.find_memories(connection, agent, named, Point())).memories
            picture, _ = await writes.read_picture(connection, agent, ids=[memory.id for memory in before])
        proposed = review_of(plan, picture, ReviewSource.FROZEN)
        return Preview(plan.now, before, _after(plan, before, picture)), proposed

    async def _merging(self, agent: AgentId, proposal: Proposal) -> _Merging:
        """The joined text of a proposed merge and its vector: made before the lock, because encoding takes time."""
        if proposal.relation is not Relation.COMPLEMENT or proposal.memory_id is None:
            return _Merging()
        async with reads.reading(self._engine) as connection:
            found = {m.id: m for m in (await reads.find_memories(connection, agent, proposal.ids, Point())).memories}
        old, new = found.get(proposal.targets[0]), found.get(proposal.memory_id)
        if old is None or new is None or old.erased_at or new.erased_at:
            return _Merging()
        text = join(old.fact.content, new.fact.content)
        united = replace(old.fact.united(new.fact, text), merged_from=(old.id, new.id), derived=None)
        merged = Merged(old.id, united, uuid7())
        [vector] = await self._embedder.encode([text])
        return _Merging(merged, {merged.new_id: vector})

    async def _carry_out(self, connection: AsyncConnection, agent: AgentId, plan: Plan, merging: _Merging, request: Request) -> Outcome:
        [written] = await writes.apply(connection, agent, [plan], vectors=merging.vectors, language=self._language_oid, request=request)
        memory = (await reads.find_memory(connection, agent, plan.target, Point()))[1] if plan.target else None
        [stale] = await links.made_stale(connection, agent, [plan])
        return Outcome(plan, written, memory, stale=stale)

    async def _previewed(
        self, connection: AsyncConnection, agent: AgentId, proposal: Proposal, picture: Picture, now: datetime, merging: _Merging
    ) -> Preview:
        before = (await reads.find_memories(connection, agent, proposal.ids, Point())).memories
        try:
            plan = plan_accept(proposal, picture, now=now, merged=merging.merged)
        except CannotAccept as problem:
            return Preview(now, before, [], str(problem))
        return Preview(now, before, _after(plan, before, picture))


def _asked_for(held: Incoming, proposal: Proposal) -> Command:
    """The store as it was asked for, as true from when it was asked."""
    fact = held.fact if held.fact.valid_from else replace(held.fact, valid_from=proposal.created_at)
    return Command(fact, held.supersedes, held.classify)


def _after(plan: Plan, before: Sequence[Memory], picture: Picture) -> list[Memory]:
    """The memories as they would be, and what would be new."""
    changed = {change.after.id: change.after.belief for change in plan.changed}
    plan.absorb_into(picture)
    after = [replace(m, belief=changed[m.id], stale_because=()) if m.id in changed else m for m in before]
    if plan.metadata:
        after = [replace(m, fact=replace(m.fact, **plan.metadata)) if m.id == plan.target else m for m in after]
    return [*after, *inserted_memories([plan], picture).values()]


async def _get(connection: AsyncConnection, agent: AgentId, review_id: UUID) -> Waiting:
    waiting = await reviews.find_waiting(connection, agent, review_id)
    if waiting is None:
        raise UnknownReview(review_id)
    return waiting


async def _decided(
    connection: AsyncConnection, agent: AgentId, waiting: Waiting, wanted: ReviewStatus, once: Once[Outcome | Moved]
) -> Outcome:
    """The answer of the first time. Raises AlreadyDecided where it was decided the other way."""
    if waiting.status != wanted or waiting.decision_log_id is None:
        raise AlreadyDecided(waiting.proposal.review_id, waiting.status)
    row = await operations.find_log_entry(connection, agent, waiting.decision_log_id)
    if row is None:
        await archived.refuse_archived(connection, agent, [waiting.decision_log_id])
        raise UnknownLogEntry(waiting.decision_log_id)
    target = row["target_memory_id"]
    memory = (await reads.find_memory(connection, agent, target, Point()))[1] if target else None
    outcome = Outcome(reviews.plan_of(row, waiting.proposal), Written(waiting.decision_log_id, None), memory)
    await once.keep(connection, outcome)
    return outcome
