"""Deciding reviews: read, prepare what takes time, lock, see whether anything moved, plan, apply, answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.classification.merge_text import join_texts
from app.domain.agent import AgentId
from app.domain.chains import Chains
from app.domain.errors import (
    AlreadyDecided,
    CannotAccept,
    PalimpsestError,
    Unavailable,
    UnknownLogEntry,
    UnknownReview,
)
from app.domain.fact import merge_facts
from app.domain.policy import Policy
from app.domain.relation import Judge, Relation
from app.domain.version import Memory
from app.embedding import Embedder
from app.planning.classified import PreparedMerge
from app.planning.plan import Plan, Review, ReviewSource, ReviewStatus, list_inserted_memories
from app.planning.reviews import (
    Proposal,
    find_moved_memories,
    plan_accept,
    plan_reject,
    review_from_plan,
)
from app.services import metrics
from app.services.agent_write import Outcome
from app.services.classify import StoreCommand
from app.services.idempotency import UNKEYED, Idempotency
from app.services.remember import Remember
from app.store import apply, chains, memories, relationships
from app.store.apply import LoggedPlan
from app.store.chains import LockedAgent
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.memories import Point
from app.store.reviews import reviews
from app.store.reviews.reviews import Incoming, ReviewFilters, StoredReview
from app.store.rows import CallInfo


@dataclass(frozen=True, slots=True)
class Preview:
    """What accepting would do at that moment: the memories it is about before and after; `obstacle` says why it cannot be done."""

    at: datetime
    before: list[Memory]
    after: list[Memory]
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class OutdatedReview:
    """Accepting was put off: these memories changed since the proposal, which now relies on what they are."""

    review_id: UUID
    changed: list[UUID]
    preview: Preview


class _Overtaken(Exception):
    """A store that was held back is not carried out: what it was to change has moved, or, with nothing changed, it has been decided."""

    def __init__(self, changed: list[UUID]) -> None:
        super().__init__(changed)
        self.changed = changed


Decided = tuple[UUID, Outcome | OutdatedReview | PalimpsestError]


@dataclass(frozen=True, slots=True)
class _PreparedMerge:
    """A merge made ready before the lock."""

    merged: PreparedMerge | None = None
    vectors: dict[UUID, NDArray[np.float32]] = field(default_factory=dict)


class ReviewDecider:
    """Accepts, rejects and expires reviews. A decision is an operation like any other: logged, and undone by a revert."""

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        remember: Remember,
        policy: Policy,
        *,
        expires_after: timedelta,
        language_oid: int,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._remember = remember
        self._policy = policy
        self._expires_after = expires_after
        self._language_oid = language_oid

    async def accept(
        self,
        agent: AgentId,
        review_id: UUID,
        *,
        note: str | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome | OutdatedReview] = UNKEYED,
    ) -> Outcome | OutdatedReview:
        """Does what the review proposes to the memories as they are now; where they moved, tells so and proposes afresh.

        Deciding again answers as the first time. Raises UnknownReview, AlreadyDecided, CannotAccept, AgentFrozen.
        """
        await self.expire_overdue(agent)
        waiting = await self._read_review(agent, review_id)
        if waiting.incoming and waiting.status == ReviewStatus.PENDING:
            return await self._release_store(
                agent, waiting, note=note, request=request, idempotency=idempotency
            )
        merging = await self._prepare_merge(agent, waiting.proposal)
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(
                connection, agent, encoder=self._embedder.name if merging.vectors else None
            )
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            waiting = await _get_review(connection, agent, review_id)
            if waiting.status != ReviewStatus.PENDING:
                return await _get_first_outcome(
                    connection, agent, waiting, ReviewStatus.ACCEPTED, idempotency
                )
            proposal = waiting.proposal
            picture, clock = await chains.read_picture(connection, agent, ids=proposal.ids)
            now = chains.next_known_time(clock, lock.last_known_at)
            if changed := find_moved_memories(proposal, picture):
                await reviews.set_relied_revisions(
                    connection,
                    agent,
                    review_id,
                    {i: picture.get_version(i).revision for i in proposal.ids},
                )
                return OutdatedReview(
                    review_id,
                    changed,
                    await self._preview_proposal(
                        connection, agent, proposal, picture, now, merging
                    ),
                )
            plan = plan_accept(proposal, picture, now=now, merged=merging.merged, note=note)
            outcome = await self._carry_out(connection, agent, plan, merging, request)
            await idempotency.keep_result(connection, outcome)
        metrics.count_operations([outcome.plan])
        return outcome

    async def reject(
        self,
        agent: AgentId,
        review_id: UUID,
        *,
        note: str | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome | OutdatedReview] = UNKEYED,
    ) -> Outcome:
        """Leaves everything as it is. Raises UnknownReview, AlreadyDecided."""
        await self.expire_overdue(agent)
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(connection, agent, encoder=None)
            await idempotency.check_replay(connection)
            waiting = await _get_review(connection, agent, review_id)
            if waiting.status != ReviewStatus.PENDING:
                return await _get_first_outcome(
                    connection, agent, waiting, ReviewStatus.REJECTED, idempotency
                )
            _, clock = await chains.read_picture(connection, agent)
            now = chains.next_known_time(clock, lock.last_known_at)
            reason = note or "Rejected: everything stays as it is."
            plan = plan_reject(
                waiting.proposal, ReviewStatus.REJECTED, now=now, by=Judge.REVIEWER, note=reason
            )
            outcome = await self._carry_out(connection, agent, plan, _PreparedMerge(), request)
            await idempotency.keep_result(connection, outcome)
        metrics.count_operations([outcome.plan])
        return outcome

    async def decide_all(
        self,
        agent: AgentId,
        review_ids: Sequence[UUID],
        *,
        accept: bool,
        note: str | None,
        request: CallInfo,
        idempotency: Idempotency[list[Decided]] = UNKEYED,
    ) -> list[Decided]:
        """Decides several, each for itself and in a transaction of its own. A retry before the answer is kept decides nothing twice."""
        decided: list[Decided] = []
        for review_id in review_ids:
            try:
                one = self.accept if accept else self.reject
                decided.append((review_id, await one(agent, review_id, note=note, request=request)))
            except PalimpsestError as problem:
                decided.append((review_id, problem))
        if idempotency.keyed_call:
            async with self._engine.begin() as connection:
                await chains.lock_agent(connection, agent, encoder=None)
                await idempotency.check_replay(connection)
                await idempotency.keep_result(connection, decided)
        return decided

    async def list_matching(self, agent: AgentId, filters: ReviewFilters, limit: int) -> list[UUID]:
        """The newest pending reviews that match, `limit` at most."""
        async with memories.open_read_connection(self._engine) as connection:
            rows = await reviews.list_reviews(
                connection, agent, replace(filters, status="pending"), limit=limit, after=None
            )
        return [row["id"] for row in rows]

    async def preview_accept(self, agent: AgentId, review_id: UUID) -> Preview:
        """What accepting would do now. Raises UnknownReview, Unavailable."""
        waiting = await self._read_review(agent, review_id)
        if waiting.incoming and waiting.status == ReviewStatus.PENDING:
            preview, _ = await self._preview_store(
                agent, _command_from_review(waiting.incoming, waiting.proposal)
            )
            return preview
        merging = await self._prepare_merge(agent, waiting.proposal)
        async with self._engine.connect() as connection:
            picture, clock = await chains.read_picture(connection, agent, ids=waiting.proposal.ids)
            return await self._preview_proposal(
                connection, agent, waiting.proposal, picture, clock, merging
            )

    async def expire_overdue(self, agent: AgentId) -> int:
        """Closes what waited too long, each with a row in the log; says how many."""
        async with self._engine.connect() as connection:
            [row] = (await connection.exec_driver_sql("SELECT clock_timestamp()")).one()
            late = await reviews.list_overdue_reviews(connection, agent, row - self._expires_after)
        if not late:
            return 0
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(connection, agent, encoder=None)
            _, clock = await chains.read_picture(connection, agent)
            last, plans = lock.last_known_at, []
            for waiting in await reviews.list_overdue_reviews(
                connection, agent, clock - self._expires_after
            ):
                last = chains.next_known_time(clock, last)
                note = "Nobody decided it in time."
                plans.append(
                    plan_reject(
                        waiting.proposal, ReviewStatus.EXPIRED, now=last, by=Judge.RULE, note=note
                    )
                )
            await apply.apply_plans(
                connection,
                agent,
                plans,
                vectors={},
                language=self._language_oid,
                request=CallInfo(),
            )
        metrics.count_operations(plans)
        return len(plans)

    async def _read_review(self, agent: AgentId, review_id: UUID) -> StoredReview:
        async with memories.open_read_connection(self._engine) as connection:
            return await _get_review(connection, agent, review_id)

    async def _release_store(
        self,
        agent: AgentId,
        waiting: StoredReview,
        *,
        note: str | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome | OutdatedReview],
    ) -> Outcome | OutdatedReview:
        """A store that was held back is carried out, or proposed afresh where what it was to change has moved."""
        assert waiting.incoming is not None
        review_id = waiting.proposal.review_id
        command = _command_from_review(waiting.incoming, waiting.proposal)
        settling = replace(
            command, settles=waiting.proposal.to_review_decision(ReviewStatus.ACCEPTED, note)
        )

        async def refuse_if_outdated(connection: AsyncConnection, lock: LockedAgent) -> None:
            lock.refuse_if_frozen(self._policy)
            found = await _get_review(connection, agent, review_id)
            if found.status != ReviewStatus.PENDING:
                raise _Overtaken([])
            picture, _ = await chains.read_picture(connection, agent, ids=found.proposal.targets)
            if changed := find_moved_memories(found.proposal, picture):
                raise _Overtaken(changed)

        try:
            return await self._remember.store(
                agent,
                settling,
                request=request,
                idempotency=Idempotency(idempotency.keyed_call, idempotency.render),
                check=refuse_if_outdated,
            )
        except _Overtaken as overtaken:
            changed = overtaken.changed
        if not changed:  # then it answers as the first time
            return await self.accept(
                agent, review_id, note=note, request=request, idempotency=idempotency
            )
        preview, proposed = await self._preview_store(agent, command)
        async with self._engine.begin() as connection:
            await reviews.update_hold_proposal(connection, agent, review_id, proposed)
        return OutdatedReview(review_id, changed, preview)

    async def _preview_store(
        self, agent: AgentId, command: StoreCommand
    ) -> tuple[Preview, Review | None]:
        """What carrying out a store that was held back would come to, and what it would do to stored memories, if anything. Raises
        Unavailable."""
        try:
            plan = (
                await self._remember.store(agent, command, request=CallInfo(), dry_run=True)
            ).plan
        except Unavailable:
            raise
        except PalimpsestError as problem:
            async with memories.open_read_connection(self._engine) as connection:
                _, clock = await chains.read_picture(connection, agent)
            return Preview(clock, [], [], str(problem)), None
        async with memories.open_read_connection(self._engine) as connection:
            named = [*plan.touched, *([plan.target] if plan.target else [])]
            before = (await memories.find_memories(connection, agent, named, Point())).memories
            picture, _ = await chains.read_picture(
                connection, agent, ids=[memory.id for memory in before]
            )
        proposed = review_from_plan(plan, picture, ReviewSource.FROZEN)
        return Preview(plan.now, before, _list_memories_after(plan, before, picture)), proposed

    async def _prepare_merge(self, agent: AgentId, proposal: Proposal) -> _PreparedMerge:
        """The joined text of a proposed merge and its vector: made before the lock, because encoding takes time."""
        if proposal.relation is not Relation.COMPLEMENT or proposal.memory_id is None:
            return _PreparedMerge()
        async with memories.open_read_connection(self._engine) as connection:
            found = {
                m.id: m
                for m in (
                    await memories.find_memories(connection, agent, proposal.ids, Point())
                ).memories
            }
        old, new = found.get(proposal.targets[0]), found.get(proposal.memory_id)
        if old is None or new is None or old.erased_at or new.erased_at:
            return _PreparedMerge()
        text = join_texts(old.fact.content, new.fact.content)
        united = replace(
            merge_facts(old.fact, new.fact, text), merged_from=(old.id, new.id), derived=None
        )
        merged = PreparedMerge(old.id, united, uuid7())
        [vector] = await self._embedder.encode([text])
        return _PreparedMerge(merged, {merged.new_id: vector})

    async def _carry_out(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        plan: Plan,
        merging: _PreparedMerge,
        request: CallInfo,
    ) -> Outcome:
        [written] = await apply.apply_plans(
            connection,
            agent,
            [plan],
            vectors=merging.vectors,
            language=self._language_oid,
            request=request,
        )
        memory = (
            (await memories.find_memory(connection, agent, plan.target, Point()))[1]
            if plan.target
            else None
        )
        [stale] = await relationships.find_made_stale(connection, agent, [plan])
        return Outcome(plan, written, memory, stale=stale)

    async def _preview_proposal(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        proposal: Proposal,
        picture: Chains,
        now: datetime,
        merging: _PreparedMerge,
    ) -> Preview:
        before = (await memories.find_memories(connection, agent, proposal.ids, Point())).memories
        try:
            plan = plan_accept(proposal, picture, now=now, merged=merging.merged)
        except CannotAccept as problem:
            return Preview(now, before, [], str(problem))
        return Preview(now, before, _list_memories_after(plan, before, picture))


def _command_from_review(incoming: Incoming, proposal: Proposal) -> StoreCommand:
    """The store as it was asked for, as true from when it was asked."""
    fact = (
        incoming.fact
        if incoming.fact.valid_from
        else replace(incoming.fact, valid_from=proposal.created_at)
    )
    return StoreCommand(fact, incoming.supersedes, incoming.classify)


def _list_memories_after(plan: Plan, before: Sequence[Memory], picture: Chains) -> list[Memory]:
    """The memories as they would be, and what would be new."""
    changed = {change.after.id: change.after.belief for change in plan.changed}
    plan.absorb_into(picture)
    after = [
        replace(m, belief=changed[m.id], stale_because=()) if m.id in changed else m for m in before
    ]
    if plan.metadata:
        after = [
            replace(m, fact=replace(m.fact, **plan.metadata)) if m.id == plan.target else m
            for m in after
        ]
    return [*after, *list_inserted_memories([plan], picture).values()]


async def _get_review(connection: AsyncConnection, agent: AgentId, review_id: UUID) -> StoredReview:
    waiting = await reviews.find_stored_review(connection, agent, review_id)
    if waiting is None:
        raise UnknownReview(review_id)
    return waiting


async def _get_first_outcome(
    connection: AsyncConnection,
    agent: AgentId,
    waiting: StoredReview,
    wanted: ReviewStatus,
    idempotency: Idempotency[Outcome | OutdatedReview],
) -> Outcome:
    """The answer of the first time. Raises AlreadyDecided where it was decided the other way."""
    if waiting.status != wanted or waiting.decision_log_id is None:
        raise AlreadyDecided(waiting.proposal.review_id, waiting.status)
    row = await log_entries.find_log_entry(connection, agent, waiting.decision_log_id)
    if row is None:
        await archived_log.refuse_archived(connection, agent, [waiting.decision_log_id])
        raise UnknownLogEntry(waiting.decision_log_id)
    target = row["target_memory_id"]
    memory = (await memories.find_memory(connection, agent, target, Point()))[1] if target else None
    outcome = Outcome(
        reviews.plan_from_log_row(row, waiting.proposal),
        LoggedPlan(waiting.decision_log_id, None),
        memory,
    )
    await idempotency.keep_result(connection, outcome)
    return outcome
