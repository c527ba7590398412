"""Deciding reviews: prepare what takes time, lock, see whether anything moved, plan, apply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId, Mode
from app.domain.chains import Chains
from app.domain.errors import (
    AlreadyDecided,
    CannotAccept,
    ChoiceNeeded,
    NotForAgent,
    PalimpsestError,
    Unavailable,
    UnknownLogEntry,
    UnknownReview,
)
from app.domain.relation import Judge, Relation
from app.domain.version import Memory
from app.embedding import Embedder, Vector
from app.planning.agent_questions import find_protection
from app.planning.plan import (
    Plan,
    PreparedMerge,
    Review,
    ReviewSource,
    ReviewStatus,
    list_inserted_memories,
)
from app.planning.reviews import (
    Proposal,
    find_moved_memories,
    plan_accept,
    plan_reject,
    review_from_plan,
)
from app.services.agent_write import (
    AgentWrite,
    Call,
    Outcome,
    Vectors,
    WriteSetup,
    agent_write,
    list_texts,
)
from app.services.classify import StoreCommand, prepare_merge
from app.services.remember import Outcomes, Remember
from app.services.repetitions import RepeatedFacts
from app.store import memories
from app.store.apply import LoggedPlan
from app.store.bounded import ANY_SIZE
from app.store.chains import read_chains
from app.store.engine import begin_for_agent, read_clock
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.log.state import Incoming, decode_settled
from app.store.memories import Point
from app.store.reviews import reviews
from app.store.reviews.reviews import ReviewFilters, StoredReview


@dataclass(frozen=True, slots=True)
class Preview:
    """The memories of a review before and after accepting it at `at`.

    `obstacle` says why it cannot be accepted; None if it can.
    """

    at: datetime
    before: list[Memory]
    after: list[Memory]
    obstacle: PalimpsestError | None = None


@dataclass(frozen=True, slots=True)
class OutdatedReview:
    """A review that was not accepted, because memories changed since it was proposed.

    From now on the proposal relies on these memories as they are, and can be accepted again.
    """

    review_id: UUID
    changed: list[UUID]
    preview: Preview


class _Overtaken(Exception):
    """A store that waits is not carried out.

    Either memories `changed`, or nothing did and another call has decided the review.
    """

    def __init__(self, changed: list[UUID]) -> None:
        super().__init__(changed)
        self.changed = changed


Acceptance = Outcome | OutdatedReview
Decided = tuple[UUID, Acceptance | PalimpsestError]


class ReviewDecider:
    """Accepts, rejects and expires reviews. Each decision is logged, and a revert undoes it."""

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        remember: Remember,
        setup: WriteSetup,
        *,
        expires_after: timedelta,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._remember = remember
        self._setup = setup
        self._expires_after = expires_after

    async def accept(
        self,
        call: Call[Acceptance],
        review_id: UUID,
        *,
        note: str | None,
        chosen: Sequence[UUID] | None = None,
        by: Judge = Judge.REVIEWER,
    ) -> Acceptance:
        """Do what the review proposes to the memories as they are now.

        `chosen` are the memories, among those that the review names, about which it is right; None
        means all, which a review that leaves a choice does not take.
        If these memories changed since the proposal, nothing is done, and the proposal is made
        afresh. Accepting the same again returns the first result.
        Raises UnknownReview, AlreadyDecided, ChoiceNeeded, NotCandidates, CannotAccept,
        AgentFrozen, and NotForAgent if the agent's own model may not decide it.
        """
        await self.expire_overdue(call.agent)
        review = await self._read_review(call.agent, review_id)
        narrowed = _narrow(review.proposal, chosen)
        waits = review.status == ReviewStatus.PENDING
        if review.incoming and waits and by is not Judge.AGENT:
            if narrowed.targets != review.proposal.targets:
                raise CannotAccept(review_id, "a store that was held back is carried out whole")
            return await self._release_store(call, review, review.incoming, note=note)
        merged, vectors = await self._prepare_merge(call.agent, narrowed)
        encoder = self._embedder.name if vectors else None
        async with agent_write(
            self._engine, call, setup=self._setup, refuse_frozen=True, encoder=encoder
        ) as write:
            review = await _get_review(write.connection, call.agent, review_id)
            if review.status != ReviewStatus.PENDING:
                return await _keep_first_outcome(write, review, ReviewStatus.ACCEPTED, chosen)
            proposal = review.proposal
            if chosen is None and proposal.is_choice:
                named = await _find_memories(write.connection, call.agent, proposal.targets)
                raise ChoiceNeeded(
                    review_id, list_texts(proposal.targets, {each.id: each for each in named})
                )
            narrowed = _narrow(proposal, chosen)
            chains = await write.read_chains(ids=proposal.ids)
            if by is Judge.AGENT:
                _refuse_agent(write, proposal, chains)
            changed = find_moved_memories(narrowed, chains)
            if changed:
                return await _propose_afresh(write, proposal, narrowed, merged, changed)
            plan = plan_accept(
                proposal,
                chains,
                now=write.next_known_time(),
                merged=merged,
                note=note,
                chosen=chosen,
                by=by,
            )
            plan = await RepeatedFacts(write).join_stored(plan, narrowed.memory_id)
            await self._refuse_too_many_closures(write, review_id, plan)
            return await _carry_out(write, plan, vectors)

    async def reject(
        self,
        call: Call[Acceptance],
        review_id: UUID,
        *,
        note: str | None,
        by: Judge = Judge.REVIEWER,
    ) -> Outcome:
        """Leave every memory as it is. Raises UnknownReview, AlreadyDecided.

        A person may reject while the agent is frozen: rejecting changes no memory. Raises
        AgentFrozen and NotForAgent if the agent's own model may not decide it.
        """
        await self.expire_overdue(call.agent)
        by_agent = by is Judge.AGENT
        async with agent_write(
            self._engine, call, setup=self._setup, refuse_frozen=by_agent
        ) as write:
            review = await _get_review(write.connection, call.agent, review_id)
            if review.status != ReviewStatus.PENDING:
                return await _keep_first_outcome(write, review, ReviewStatus.REJECTED)
            if by_agent:
                chains = await write.read_chains(ids=review.proposal.ids)
                _refuse_agent(write, review.proposal, chains)
            else:
                await write.read_clock()
            plan = plan_reject(
                review.proposal,
                ReviewStatus.REJECTED,
                now=write.next_known_time(),
                by=by,
                note=note or "Rejected: everything stays as it is.",
            )
            return await _carry_out(write, plan, {})

    async def decide_all(
        self,
        call: Call[list[Decided]],
        review_ids: Sequence[UUID],
        *,
        accept: bool,
        note: str | None,
        choices: Mapping[UUID, Sequence[UUID]],
    ) -> list[Decided]:
        """Decide several reviews, each in a transaction of its own.

        `choices` holds the memories that are chosen, by review. A retry before the answer is kept
        decides nothing twice.
        """
        one_call: Call[Acceptance] = Call(call.agent, call.info)
        decided: list[Decided] = []
        for review_id in review_ids:
            try:
                result: Acceptance | PalimpsestError
                if accept:
                    chosen = choices.get(review_id)
                    result = await self.accept(one_call, review_id, note=note, chosen=chosen)
                else:
                    result = await self.reject(one_call, review_id, note=note)
            except PalimpsestError as problem:
                result = problem
            decided.append((review_id, result))
        if call.idempotency.keyed_call:
            async with agent_write(self._engine, call, refuse_frozen=False) as write:
                await write.keep(decided)
        return decided

    async def list_matching(self, agent: AgentId, filters: ReviewFilters, limit: int) -> list[UUID]:
        """Return the newest pending reviews that match, `limit` at most."""
        pending = replace(filters, status="pending")
        async with begin_for_agent(self._engine, agent) as connection:
            rows = await reviews.list_reviews(
                connection, agent, pending, limit=limit, max_bytes=ANY_SIZE, after=None
            )
        return [row["id"] for row in rows]

    async def preview_accept(self, agent: AgentId, review_id: UUID) -> Preview:
        """Return what accepting would do now. Raises UnknownReview, Unavailable."""
        review = await self._read_review(agent, review_id)
        if review.incoming and review.status == ReviewStatus.PENDING:
            command = _command_from_review(review.incoming, review.proposal)
            preview, _ = await self._preview_store(agent, command)
            return preview
        proposal = review.proposal
        merged, _ = await self._prepare_merge(agent, proposal)
        async with begin_for_agent(self._engine, agent) as connection:
            chains, clock = await read_chains(connection, agent, ids=proposal.ids)
            before = await _find_memories(connection, agent, proposal.ids)
        return _preview_proposal(proposal, chains, before, merged, now=clock)

    async def expire_overdue(self, agent: AgentId) -> int:
        """Close every review that waited too long, each with a row in the log. Return how many.

        A frozen agent is not refused: expiring changes no memory.
        """
        async with begin_for_agent(self._engine, agent) as connection:
            before = await read_clock(connection) - self._expires_after
            if not await reviews.list_overdue_reviews(connection, agent, before):
                return 0
        call: Call[None] = Call(agent)
        async with agent_write(self._engine, call, setup=self._setup, refuse_frozen=False) as write:
            before = await write.read_clock() - self._expires_after
            overdue = await reviews.list_overdue_reviews(write.connection, agent, before)
            for review in overdue:
                plan = plan_reject(
                    review.proposal,
                    ReviewStatus.EXPIRED,
                    now=write.next_known_time(),
                    by=Judge.RULE,
                    note="Nobody decided it in time.",
                )
                write.add_plan(plan)
            await write.apply()
        return len(overdue)

    async def _read_review(self, agent: AgentId, review_id: UUID) -> StoredReview:
        async with begin_for_agent(self._engine, agent) as connection:
            return await _get_review(connection, agent, review_id)

    async def _release_store(
        self,
        call: Call[Acceptance],
        review: StoredReview,
        incoming: Incoming,
        *,
        note: str | None,
    ) -> Acceptance:
        """Carry out a store that waited, or propose it afresh if what it would change has moved."""
        review_id = review.proposal.review_id
        command = _command_from_review(incoming, review.proposal)
        decision = review.proposal.to_review_decision(ReviewStatus.ACCEPTED, note)

        async def refuse_if_outdated(write: AgentWrite[Outcomes]) -> None:
            write.refuse_if_frozen()
            latest = await _get_review(write.connection, call.agent, review_id)
            if latest.status != ReviewStatus.PENDING:
                raise _Overtaken([])
            chains = await write.read_chains(ids=latest.proposal.targets)
            changed = find_moved_memories(latest.proposal, chains)
            if changed:
                raise _Overtaken(changed)

        try:
            return await self._remember.store_fact(
                call, replace(command, settles=decision), check=refuse_if_outdated
            )
        except _Overtaken as overtaken:
            changed = overtaken.changed
        if not changed:
            # Another call decided it meanwhile. Accepting again answers with the first result.
            return await self.accept(call, review_id, note=note)
        preview, proposed = await self._preview_store(call.agent, command)
        async with begin_for_agent(self._engine, call.agent) as connection:
            await reviews.update_hold_proposal(connection, call.agent, review_id, proposed)
        return OutdatedReview(review_id, changed, preview)

    async def _preview_store(
        self, agent: AgentId, command: StoreCommand
    ) -> tuple[Preview, Review | None]:
        """Return what a store that waits would do now, and its changes to stored memories.

        Raises Unavailable.
        """
        try:
            outcome = await self._remember.store_fact(Call(agent), command, dry_run=True)
        except Unavailable:
            raise
        except PalimpsestError as problem:
            async with begin_for_agent(self._engine, agent) as connection:
                clock = await read_clock(connection)
            return Preview(clock, [], [], problem), None
        plan = outcome.plan
        ids = list(plan.touched)
        if plan.target:
            ids.append(plan.target)
        async with begin_for_agent(self._engine, agent) as connection:
            before = await _find_memories(connection, agent, ids)
            stored_ids = [memory.id for memory in before]
            chains, _ = await read_chains(connection, agent, ids=stored_ids)
        proposed = review_from_plan(plan, chains, ReviewSource.FROZEN)
        after = _list_memories_after(plan, before, chains)
        return Preview(plan.now, before, after), proposed

    async def _prepare_merge(
        self, agent: AgentId, proposal: Proposal
    ) -> tuple[PreparedMerge | None, dict[UUID, Vector]]:
        """Return the proposed merge, if there is one, and its vector.

        They are made before the lock, because encoding takes time.
        """
        has_text = proposal.relation is Relation.COMPLEMENT or proposal.new_text is not None
        if not has_text or proposal.memory_id is None:
            return None, {}
        async with begin_for_agent(self._engine, agent) as connection:
            page = await _find_memories(connection, agent, proposal.ids)
        stored = {memory.id: memory for memory in page}
        old = stored.get(proposal.targets[0])
        new = stored.get(proposal.memory_id)
        if old is None or new is None or old.erased_at or new.erased_at:
            return None, {}
        new_fact = replace(new.fact, said_at=new.told_at)
        merged = prepare_merge(old, new.id, new_fact, proposal.new_text)
        [vector] = await self._embedder.encode([merged.fact.content])
        return merged, {merged.new_id: vector}

    async def _refuse_too_many_closures(
        self, write: AgentWrite[Acceptance], review_id: UUID, plan: Plan
    ) -> None:
        """Raise NotForAgent if an agent's answer would end more than judges may."""
        most = self._setup.policy.max_closures
        if plan.decision.decided_by is not Judge.AGENT:
            return
        if len(plan.superseded) > most:
            raise NotForAgent(review_id, f"an answer may end no more than {most} memories")
        if await write.exceeds_closures(plan):
            raise NotForAgent(review_id, "judges have ended as many memories as they may, for now")


async def _propose_afresh(
    write: AgentWrite[Acceptance],
    proposal: Proposal,
    narrowed: Proposal,
    merged: PreparedMerge | None,
    changed: list[UUID],
) -> OutdatedReview:
    """Let the proposal rely on the memories as they are now, and show what is chosen of it."""
    chains = await write.read_chains(ids=proposal.ids)
    revisions = {i: chains.get_version(i).revision for i in proposal.ids}
    review_id = proposal.review_id
    await reviews.set_relied_revisions(write.connection, write.agent, review_id, revisions)
    before = await _find_memories(write.connection, write.agent, narrowed.ids)
    now = write.next_known_time()
    preview = _preview_proposal(narrowed, chains, before, merged, now=now)
    return OutdatedReview(review_id, changed, preview)


def _narrow(proposal: Proposal, chosen: Sequence[UUID] | None) -> Proposal:
    return proposal if chosen is None else proposal.narrow_to(chosen)


def _refuse_agent(write: AgentWrite[Acceptance], proposal: Proposal, chains: Chains) -> None:
    """Raise NotForAgent unless the agent's own model may decide the review."""
    if write.mode is not Mode.LIVE:
        raise NotForAgent(proposal.review_id, "a person decides about every change of this agent")
    versions = {memory_id: chains.get_version(memory_id) for memory_id in proposal.ids}
    if reason := find_protection(proposal, versions):
        raise NotForAgent(proposal.review_id, reason)


async def _carry_out(write: AgentWrite[Acceptance], plan: Plan, vectors: Vectors) -> Outcome:
    write.add_plan(plan)
    await write.apply(vectors)
    [outcome] = await write.read_outcomes(hinted=False)
    await write.keep(outcome)
    return outcome


def _preview_proposal(
    proposal: Proposal,
    chains: Chains,
    before: list[Memory],
    merged: PreparedMerge | None,
    *,
    now: datetime,
) -> Preview:
    try:
        plan = plan_accept(proposal, chains, now=now, merged=merged)
    except CannotAccept as problem:
        return Preview(now, before, [], problem)
    return Preview(now, before, _list_memories_after(plan, before, chains))


async def _find_memories(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> list[Memory]:
    page = await memories.find_memories(connection, agent, ids, Point())
    return page.memories


def _command_from_review(incoming: Incoming, proposal: Proposal) -> StoreCommand:
    """Return the store as its caller sent it, true from when the caller sent it."""
    fact = incoming.fact
    if fact.valid_from is None:
        fact = replace(fact, valid_from=proposal.created_at)
    return StoreCommand(
        fact, incoming.supersedes, incoming.classify, is_episode=incoming.is_episode
    )


def _list_memories_after(plan: Plan, before: Sequence[Memory], chains: Chains) -> list[Memory]:
    """Return the memories as they would be, and those that the plan inserts."""
    changed = {change.after.id: change.after.belief for change in plan.changed}
    plan.absorb_into(chains)
    after: list[Memory] = []
    for stored in before:
        memory = stored
        if stored.id in changed:
            memory = replace(memory, belief=changed[stored.id], stale_because=())
        if plan.metadata and stored.id == plan.target:
            memory = replace(memory, fact=replace(stored.fact, **plan.metadata))
        after.append(memory)
    return [*after, *list_inserted_memories([plan], chains).values()]


async def _get_review(connection: AsyncConnection, agent: AgentId, review_id: UUID) -> StoredReview:
    review = await reviews.find_stored_review(connection, agent, review_id)
    if review is None:
        raise UnknownReview(review_id)
    return review


async def _keep_first_outcome(
    write: AgentWrite[Acceptance],
    review: StoredReview,
    wanted: ReviewStatus,
    chosen: Sequence[UUID] | None = None,
) -> Outcome:
    """Return the first result, and keep it. Raises AlreadyDecided if the decision was another."""
    log_id = review.decision_log_id
    if review.status != wanted or log_id is None:
        raise AlreadyDecided(review.proposal.review_id, review.status)
    row = await log_entries.find_log_entry(write.connection, write.agent, log_id)
    if row is None:
        await archived_log.refuse_archived(write.connection, write.agent, [log_id])
        raise UnknownLogEntry(log_id)
    first = decode_settled(row["after_state"])
    if first and not _is_same_choice(review.proposal, first.chosen, chosen):
        raise AlreadyDecided(review.proposal.review_id, review.status)
    plan = reviews.plan_from_log_row(row, review.proposal)
    target = row["target_memory_id"]
    ids = [*plan.superseded, target] if target else list(plan.superseded)
    page = await _find_memories(write.connection, write.agent, ids)
    stored = {memory.id: memory for memory in page}
    outcome = Outcome(
        plan,
        LoggedPlan(log_id, None),
        stored.get(target),
        superseded=list_texts(plan.superseded, stored),
    )
    await write.keep(outcome)
    return outcome


def _is_same_choice(
    proposal: Proposal, first: Sequence[UUID] | None, chosen: Sequence[UUID] | None
) -> bool:
    """Return True if both choose the same memories. A call that chooses none takes the first."""
    if chosen is None and proposal.is_choice:
        return True
    everything = proposal.targets
    chosen = everything if chosen is None else chosen
    return set(everything if first is None else first) == set(chosen)
