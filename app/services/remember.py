"""Storing facts: encode, snapshot, then judge, plan and apply under the agent's lock; commit; answer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import PalimpsestError
from app.domain.memory import AgentId, Fact, Memory
from app.domain.picture import Picture
from app.domain.plan import Plan, Policy, inserted_memories, plan_store, plan_supersede
from app.domain.relation import Judgment
from app.embedding import Embedder
from app.judges import rules
from app.store import reads, writes
from app.store.reads import Hit, Query
from app.store.writes import Request


@dataclass(frozen=True, slots=True)
class Command:
    """One fact to store. `supersedes` names what it replaces; without `classify` only equal text is noticed."""

    fact: Fact
    supersedes: tuple[UUID, ...] = ()
    classify: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored memory the fact was compared with; `similarity` is the cosine, `judgment` what was said of it, where anything was."""

    memory: Memory
    similarity: float | None
    judgment: Judgment | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done: the plan, its log row (None on a dry run), the memory to answer with, what it was compared with."""

    plan: Plan
    log_id: UUID | None
    memory: Memory | None
    candidates: tuple[Candidate, ...] = ()


class BatchRefused(PalimpsestError):
    """An atomic batch in which an item cannot be stored; nothing was."""

    def __init__(self, problems: Mapping[int, PalimpsestError]) -> None:
        first, problem = next(iter(problems.items()))
        super().__init__(f"Item {first}: {problem} The batch is atomic, so nothing was stored.")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that storing depends on."""

    policy: Policy
    fuzzy: bool
    max_candidates: int
    language: str
    language_oid: int


class Remember:
    """Stores facts. No connection is held while the encoder runs."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, settings: Rules) -> None:
        self._engine = engine
        self._embedder = embedder
        self._rules = settings

    async def store(self, agent: AgentId, command: Command, *, request: Request, dry_run: bool = False) -> Outcome:
        """Stores one fact. Raises what planning it raises."""
        [outcome] = await self.store_all(agent, [command], request=request, dry_run=dry_run)
        if isinstance(outcome, PalimpsestError):
            raise outcome
        return outcome

    async def store_all(
        self, agent: AgentId, commands: Sequence[Command], *, request: Request, atomic: bool = False, dry_run: bool = False
    ) -> list[Outcome | PalimpsestError]:
        """Stores facts in order, in one transaction, each with its own known time. One that cannot be stored fails alone,
        or with all others where `atomic` (BatchRefused)."""
        started = time.perf_counter()
        vectors = await self._embedder.encode([command.fact.content for command in commands])
        neighbours = await self._snapshot(agent, commands, vectors)
        async with self._engine.connect() as connection, connection.begin() as transaction:
            drafts, picture = await self._plan(connection, agent, commands)
            failed = {i: d for i, d in enumerate(drafts) if isinstance(d, PalimpsestError)}
            if failed and atomic:
                raise BatchRefused(failed)
            plans = [draft for draft in drafts if isinstance(draft, Plan)]
            of_inserted = {d.target: v for d, v in zip(drafts, vectors, strict=True) if isinstance(d, Plan) and d.inserted and d.target}
            request = replace(request, duration_ms=(time.perf_counter() - started) * 1e3)
            log_ids = iter(
                await writes.apply(connection, agent, plans, vectors=of_inserted, language=self._rules.language_oid, request=request)
            )
            stored = await self._read_back(connection, agent, plans, picture, neighbours)
            if dry_run:
                await transaction.rollback()
        return [
            draft
            if isinstance(draft, PalimpsestError)
            else _outcome(draft, log_id=next(log_ids), dry_run=dry_run, stored=stored, neighbours=hits)
            for draft, hits in zip(drafts, neighbours, strict=True)
        ]

    async def _snapshot(self, agent: AgentId, commands: Sequence[Command], vectors: NDArray[np.float32]) -> list[list[Hit]]:
        """The nearest current memories of each fact to be classified."""
        if not self._rules.max_candidates or not any(command.classify for command in commands):
            return [[] for _ in commands]
        async with reads.reading(self._engine) as connection:
            return [
                await self._neighbours(connection, agent, command, vector) if command.classify else []
                for command, vector in zip(commands, vectors, strict=True)
            ]

    async def _neighbours(self, connection: AsyncConnection, agent: AgentId, command: Command, vector: NDArray[np.float32]) -> list[Hit]:
        query = Query(command.fact.content, vector, "hybrid", self._rules.language, self._rules.max_candidates, reads.ANY_SCORE)
        return (await reads.search(connection, agent, query, reads.Filters(), reads.Point())).hits

    async def _plan(
        self, connection: AsyncConnection, agent: AgentId, commands: Sequence[Command]
    ) -> tuple[list[Plan | PalimpsestError], Picture]:
        """Takes the lock, reads what the facts may touch, and plans each over what the ones before will have written."""
        last = await writes.lock_agent(connection, agent)
        named = {i for command in commands for i in command.supersedes}
        picture, clock = await writes.read_picture(connection, agent, facts=[command.fact for command in commands], ids=named)
        drafts: list[Plan | PalimpsestError] = []
        for command in commands:
            now = writes.next_known(clock, last)
            try:
                plan = self._plan_one(command, picture, now)
            except PalimpsestError as problem:
                drafts.append(problem)
                continue
            picture.absorb(plan.versions)
            drafts.append(plan)
            last = now
        return drafts, picture

    def _plan_one(self, command: Command, picture: Picture, now: datetime) -> Plan:
        fact, new_id = command.fact, uuid7()
        if command.supersedes:
            return plan_supersede(fact, command.supersedes, picture, self._rules.policy, now=now, new_id=new_id)
        judgments = rules.judge(fact, picture, fact.valid_from or now, classify=command.classify, fuzzy=self._rules.fuzzy)
        return plan_store(fact, picture, judgments, self._rules.policy, now=now, new_id=new_id, classify=command.classify)

    async def _read_back(
        self, connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], picture: Picture, neighbours: Sequence[Sequence[Hit]]
    ) -> dict[UUID, Memory]:
        """The memories to answer with, and those judged without being neighbours. What was inserted is known without reading it."""
        inserted = inserted_memories(plans, picture)
        near = {hit.memory.id for hits in neighbours for hit in hits}
        wanted = {plan.target for plan in plans if plan.target} | {j.memory_id for plan in plans for j in plan.judgments} - near
        wanted -= inserted.keys()
        if not wanted:
            return inserted
        page = await reads.find_memories(connection, agent, list(wanted), reads.Point())
        return inserted | {memory.id: memory for memory in page.memories}


def _outcome(plan: Plan, *, log_id: UUID, dry_run: bool, stored: Mapping[UUID, Memory], neighbours: Sequence[Hit]) -> Outcome:
    judged = {j.memory_id: j for j in reversed(plan.judgments)}
    near = [Candidate(hit.memory, hit.scores.get("vector"), judged.pop(hit.memory.id, None)) for hit in neighbours]
    first = [Candidate(stored[memory_id], None, judgment) for memory_id, judgment in judged.items() if memory_id in stored]
    return Outcome(plan, None if dry_run else log_id, stored[plan.target] if plan.target else None, (*first, *near))
