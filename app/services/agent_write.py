"""The one way to write to an agent's tables: one transaction under the agent's lock.

The order of a write is always the same: lock the agent, answer a repeated call, refuse a frozen
agent, read chains and the clock, plan, apply, read back, keep the answer, commit, count, wake.
A model or an encoder runs before the write and never inside it (decision 0001).
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId, Mode
from app.domain.chains import Chains
from app.domain.context import ContextQuestion
from app.domain.fact import Fact
from app.domain.policy import Policy
from app.domain.relation import Judgment
from app.domain.version import Memory
from app.embedding import Vector
from app.planning.hints import (
    Hint,
    LineSummary,
    PlanLines,
    Rejection,
    find_plan_hints,
    find_plan_line,
    find_proposal_targets,
)
from app.planning.overtaken import find_moved_memories, is_overtaken, plan_overtaking
from app.planning.plan import Plan, ReviewSource, ReviewStatus, list_inserted_memories
from app.planning.staleness import StaleMemory
from app.services import metrics
from app.services.idempotency import UNKEYED, Idempotency, Result_contra
from app.store import apply, chains, engine, memories, relationships
from app.store.apply import LoggedPlan
from app.store.chains import LockedAgent, Starting
from app.store.log import closures
from app.store.log.chain import LogChain
from app.store.memories import Point
from app.store.reviews import agent_questions, reviews
from app.store.reviews.rejections import find_rejected
from app.store.roles import Role
from app.store.rows import CallInfo
from app.store.value_lines import summarize_value_line
from app.turns import compute_in_thread, iterate_in_turns

MOST_REJECTED = 1_000
CLOSURE_WINDOW = timedelta(hours=1)
# Whoever stores much within an hour may see judges end this share of it.
CLOSURE_SHARE = 1 / 2
# Of a large agent, judges may end one in so many live memories within an hour.
LIVE_PER_CLOSURE = 20

Whole = TypeVar("Whole")
Vectors = Mapping[UUID, Vector]


@dataclass(frozen=True, slots=True)
class Call(Generic[Result_contra]):
    """A call that writes: its agent, what the log notes about it, and its key if it has one."""

    agent: AgentId
    info: CallInfo = field(default_factory=CallInfo)
    idempotency: Idempotency[Result_contra] = UNKEYED

    def with_conversion(self, step: Callable[[Whole], Result_contra]) -> "Call[Whole]":
        """Return this call for a service whose result `step` turns into the result of this one."""
        return Call(self.agent, self.info, self.idempotency.with_conversion(step))


@dataclass(frozen=True, slots=True)
class ComparedMemory:
    """A stored memory that the fact was compared with.

    `similarity` is the cosine of both vectors. `judgment` is None if no judge answered.
    """

    memory: Memory
    similarity: float | None
    judgment: Judgment | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one planned operation.

    `written` is None if nothing was logged, as in a dry run. An agent that is `frozen` keeps the
    plan as the review `waiting_review_id`, and logs only that. `memory` is the one to answer with;
    `superseded` holds the texts of what the plan ended, None for one that was erased. `question`
    is the review that the plan left, if the agent's own model may decide it.
    """

    plan: Plan
    written: LoggedPlan | None
    memory: Memory | None
    candidates: tuple[ComparedMemory, ...] = ()
    hints: tuple[Hint, ...] = ()
    frozen: bool = False
    waiting_review_id: UUID | None = None
    stale: tuple[StaleMemory, ...] = ()
    superseded: Mapping[UUID, str | None] = field(default_factory=dict)
    question: ContextQuestion | None = None

    @property
    def waits_for(self) -> ReviewSource | None:
        """Why a change waits for a person; None if no change does."""
        if self.waiting_review_id:
            return ReviewSource.FROZEN
        if self.plan.review and self.written and self.written.review_id:
            return self.plan.review.source
        return None

    def with_hints(self, hints: Sequence[Hint]) -> "Outcome":
        """Return the outcome with these hints after its own."""
        return replace(self, hints=(*self.hints, *hints)) if hints else self


def list_texts(ids: Iterable[UUID], memories: Mapping[UUID, Memory]) -> dict[UUID, str | None]:
    """Return the texts of those of the memories that are at hand, None for erased ones."""
    at_hand = [memories[memory_id] for memory_id in ids if memory_id in memories]
    return {each.id: None if each.erased_at else each.fact.content for each in at_hand}


@dataclass(frozen=True, slots=True)
class WriteSetup:
    """The parts that every planned write of a process needs. They are built once.

    `language_oid` is the text search configuration in the database. `wake_for_marks` is called
    after a commit that left memories to be looked at again.
    """

    policy: Policy
    language_oid: int
    wake_for_marks: Callable[[AgentId], None] = lambda _agent: None


class AgentWrite(Generic[Result_contra]):
    """A write under way. Its transaction and the agent's lock end together with `agent_write`."""

    def __init__(
        self,
        connection: AsyncConnection,
        call: Call[Result_contra],
        locked: LockedAgent,
        setup: WriteSetup | None,
        *,
        dry_run: bool,
    ) -> None:
        self.connection = connection
        self.agent = call.agent
        self.locked = locked
        self.chains = Chains(())
        self.log_chain = LogChain(locked.log_head)
        self._call = call
        self._setup = setup
        self._dry_run = dry_run
        self._in_part: frozenset[UUID] = frozenset()
        self._clock: datetime | None = None
        self._last_known_at = locked.last_known_at
        self._caps_closures = True
        self._ended: int | None = None
        self._stored: int | None = None
        self._planned: list[Plan] = []
        self._applied: list[Plan] = []
        self._logged: list[LoggedPlan] = []

    # --- reading under the lock ------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        """The agent's own mode, or the mode of the settings."""
        return self._get_setup().policy.mode_of(self.locked.mode)

    def refuse_if_frozen(self) -> None:
        """Raise AgentFrozen if the agent is frozen."""
        self.locked.refuse_if_frozen(self._get_setup().policy)

    async def lift_statement_timeout(self) -> None:
        """Let the statements of this write take as long as they need."""
        await engine.lift_statement_timeout(self.connection)

    async def forget_plans(self) -> None:
        """Let Postgres plan anew, because this write makes tables much larger."""
        await engine.forget_plans(self.connection)

    async def read_chains(
        self,
        *,
        facts: Sequence[Fact] = (),
        ids: Sequence[UUID] = (),
        withdrawable: Sequence[UUID] = (),
    ) -> Chains:
        """Read the chains that a plan may touch, and the database's clock."""
        self._in_part = frozenset()
        self.chains, self._clock = await chains.read_chains(
            self.connection, self.agent, facts=facts, ids=ids, withdrawable=withdrawable
        )
        return self.chains

    async def list_successors(self, memory_id: UUID) -> list[UUID]:
        """Return the memories of other chains that superseded the memory, in turn."""
        return await chains.list_successors(self.connection, self.agent, memory_id)

    async def read_near_chains(
        self,
        facts: Sequence[Starting],
        *,
        ids: Sequence[UUID] = (),
        compared: bool,
        reach: int,
        most_chains: int | None,
    ) -> Chains:
        """Read what these facts may meet; of long chains and crowded slots only parts."""
        near = await chains.read_near_chains(
            self.connection,
            self.agent,
            facts,
            ids=ids,
            compared=compared,
            last_known_at=self._last_known_at,
            reach=reach,
            most_chains=most_chains,
        )
        self.chains, self._clock, self._in_part = near.chains, near.clock, near.in_part
        return self.chains

    async def read_clock(self) -> datetime:
        """Read the database's clock alone. A plan that touches no chain needs nothing else.

        The lock cannot answer with a clock: the time of the statement that takes the lock can be
        older than the lock itself, and older than what another write committed meanwhile.
        """
        self._clock = await engine.read_clock(self.connection)
        return self._clock

    # --- planning --------------------------------------------------------------------------------

    @property
    def clock(self) -> datetime:
        """The database's clock, as `read_chains` or `read_clock` read it last."""
        assert self._clock is not None, "read_chains or read_clock comes first"
        return self._clock

    @property
    def last_known_at(self) -> datetime | None:
        """The known time of the agent's last operation, those planned here included."""
        return self._last_known_at

    def next_known_time(self, stated: datetime | None = None) -> datetime:
        """Return `stated` or the clock, moved behind the agent's last operation if need be.

        The time stays free until `add_plan` or `use_known_time` takes it.
        """
        return chains.next_known_time(stated or self.clock, self._last_known_at)

    def use_known_time(self, now: datetime) -> None:
        """Take a known time, so that the next one lies behind it."""
        self._last_known_at = now

    def lift_closure_cap(self) -> None:
        """Let judges end as many memories by this write as they find."""
        self._caps_closures = False

    async def exceeds_closures(self, plan: Plan) -> bool:
        """Return True if by this plan judges would end more than they may within an hour.

        They may end as many memories as the settings say, or a share of the live ones or of what
        was stored within that hour if that is more. Each is counted only once a plan needs it.
        """
        most = self._get_setup().policy.max_closures_per_hour
        if not (most and plan.closures and self._caps_closures):
            return False
        if self._ended is None:
            since = self._find_closure_window()
            self._ended = await closures.count_closures(self.connection, self.agent, since)
            self._ended += sum(planned.closures for planned in self._planned)
        ended = self._ended + plan.closures
        if ended <= most:
            return False
        if self._stored is None:
            since = self._find_closure_window()
            self._stored = await closures.count_stored(self.connection, self.agent, since)
            self._stored += sum(len(planned.inserted) for planned in self._planned)
        if ended <= self._stored * CLOSURE_SHARE:
            return False
        needed = ended * LIVE_PER_CLOSURE
        if await closures.count_live(self.connection, self.agent, most=needed) == needed:
            return False
        metrics.count_capped_closures(plan.closures)
        return True

    def _find_closure_window(self) -> datetime:
        since = self.next_known_time() - CLOSURE_WINDOW
        return max(since, self.locked.closures_counted_from or since)

    def add_plan(self, plan: Plan) -> None:
        """Plan on as if this plan were carried out; `apply` carries it out."""
        plan.absorb_into(self.chains)
        self.use_known_time(plan.now)
        if self._ended is not None:
            self._ended += plan.closures
        if self._stored is not None:
            self._stored += len(plan.inserted)
        self._planned.append(plan)

    # --- writing ---------------------------------------------------------------------------------

    async def restart_closure_count(self) -> None:
        """Let what judges have ended up to the last plan count for nothing from now on."""
        now = self._last_known_at or self.clock
        await closures.count_closures_from(self.connection, self.agent, now)

    async def apply(
        self,
        vectors: Vectors | None = None,
        *,
        info: CallInfo | None = None,
        texts: Mapping[UUID, str] | None = None,
        counted: bool = True,
    ) -> list[LoggedPlan]:
        """Carry out the plans added since the last call, each with one row in the log.

        `vectors` holds the embedding of every inserted memory. `info` replaces what the call notes
        in the log. `texts` are those of stored memories that are at hand. Plans that are not
        `counted` are dropped at once, so that a long import stays small in memory.
        """
        plans = await apply.count_confirmations(self.connection, self.agent, self._planned)
        self._planned = []
        logged = await apply.apply_plans(
            self.connection,
            self.agent,
            plans,
            vectors=vectors or {},
            language=self._get_setup().language_oid,
            request=info or self._call.info,
            texts=texts or {},
            log_chain=self.log_chain,
        )
        await self._settle_overtaken_reviews(plans)
        if counted:
            self._applied += plans
            self._logged += logged
        return logged

    async def _settle_overtaken_reviews(self, plans: Sequence[Plan]) -> None:
        """Close the reviews that the plans have settled, and open again what they have undone.

        Plans that move no stored memory read nothing here.
        """
        moved = find_moved_memories(plans)
        if not moved:
            return
        reviews_about = await reviews.list_open_reviews_about(self.connection, self.agent, moved)
        named = await reviews.find_all_named(self.connection, self.agent, reviews_about)
        settling: list[Plan] = []
        for each in reviews_about:
            is_waiting = each.status == ReviewStatus.PENDING
            now = self.next_known_time()
            if is_overtaken(each.proposal, named, now) == is_waiting:
                settling.append(plan_overtaking(each.proposal, is_waiting=is_waiting, now=now))
                self.use_known_time(now)
        await apply.apply_plans(
            self.connection,
            self.agent,
            settling,
            vectors={},
            language=self._get_setup().language_oid,
            request=CallInfo(request_id=self._call.info.request_id),
            texts={},
            log_chain=self.log_chain,
        )

    async def read_back(self, also_ids: Iterable[UUID] = ()) -> dict[UUID, Memory]:
        """Return the memories to answer with, and those of `also_ids`.

        What was inserted is known without reading it.
        """
        inserted = list_inserted_memories(self._applied, self.chains)
        wanted = {plan.target for plan in self._applied if plan.target}
        wanted.update(*(plan.superseded for plan in self._applied))
        wanted.update(also_ids)
        wanted -= inserted.keys()
        if not wanted:
            return inserted
        page = await memories.find_memories(self.connection, self.agent, list(wanted), Point())
        return inserted | {memory.id: memory for memory in page.memories}

    async def read_outcomes(
        self,
        *,
        hinted: bool,
        stored: Mapping[UUID, Memory] | None = None,
    ) -> list[Outcome]:
        """Return the outcome of every applied plan: its memory, its hints, what it made stale.

        Only `hinted` outcomes get hints and questions. `stored` is what `read_back` returned, if it
        was called.
        """
        if stored is None:
            stored = await self.read_back()
        all_hints = await self._find_hints() if hinted else [()] * len(self._applied)
        questions = await self._find_questions() if hinted else {}
        all_stale = await relationships.find_made_stale(self.connection, self.agent, self._applied)
        outcomes: list[Outcome] = []
        for plan, logged, hints, stale in zip(
            self._applied, self._logged, all_hints, all_stale, strict=True
        ):
            outcomes.append(
                Outcome(
                    plan,
                    None if self._dry_run else logged,
                    stored.get(plan.target) if plan.target else None,
                    hints=hints,
                    stale=stale,
                    superseded=list_texts(plan.superseded, stored),
                    question=questions.get(logged.review_id) if logged.review_id else None,
                )
            )
        return outcomes

    async def keep(self, result: Result_contra) -> None:
        """Keep the answer for a retry under the same key. A dry run leaves its key free."""
        if not self._dry_run:
            await self._call.idempotency.keep_result(self.connection, result)

    def count_and_wake(self) -> None:
        """Count what was committed, and wake a worker if a memory was marked for another look."""
        metrics.count_operations(self._applied)
        if any(plan.look_again for plan in self._applied):
            self._get_setup().wake_for_marks(self.agent)

    # --- pieces ----------------------------------------------------------------------------------

    def _get_setup(self) -> WriteSetup:
        assert self._setup is not None, "a write that plans is opened with its setup"
        return self._setup

    async def _find_questions(self) -> dict[UUID, ContextQuestion]:
        left = [logged.review_id for logged in self._logged if logged.review_id]
        if not left or self._dry_run or self.mode is not Mode.LIVE:
            return {}
        questions = await agent_questions.list_unanswered(
            self.connection, self.agent, left, shown_below=None, limit=len(left)
        )
        return {question.review_id: question for question in questions}

    async def _find_hints(self) -> list[tuple[Hint, ...]]:
        """Return the hints of each applied plan, from the chains and from rejected reviews."""
        rejections = await self._find_rejections()
        summaries = [await self._read_line_summary(plan) for plan in self._applied]

        def build_hints() -> list[tuple[Hint, ...]]:
            lines = PlanLines(self.chains)
            hints: list[tuple[Hint, ...]] = []
            for plan, from_store in zip(self._applied, summaries, strict=True):
                summary = from_store or lines.summarize(plan)
                hints.append(tuple(find_plan_hints(plan, self.chains, rejections, summary)))
            return hints

        # A thousand plans, or a slot of thousands of values, take 100 ms.
        size = len(self._applied) + len(self.chains.list_versions())
        return await compute_in_thread(build_hints, size=size)

    async def _read_line_summary(self, plan: Plan) -> LineSummary | None:
        """Read the values that the plan is about if the chains hold only a part of them."""
        line = find_plan_line(plan, self.chains) if self._in_part else None
        if line is None or self._in_part.isdisjoint(line.list_chain_ids(self.chains)):
            return None
        return await summarize_value_line(self.connection, self.agent, line, at=plan.now)

    async def _find_rejections(self) -> Sequence[Rejection]:
        """Read what people rejected before, if a plan may repeat it: one statement at most."""
        about: set[UUID] = set()
        texts: set[bytes] = set()
        slots: set[bytes] = set()
        async for plan in iterate_in_turns(self._applied):
            targets = find_proposal_targets(plan, self.chains)
            about |= targets
            if targets and plan.incoming:
                texts.add(plan.incoming.fuzzy_hash)
                if plan.incoming.key is not None:
                    slots.add(plan.incoming.slot.digest)
        if not about:
            return ()
        return await find_rejected(
            self.connection, self.agent, about, texts, slots, limit=MOST_REJECTED
        )


@asynccontextmanager
async def agent_write(
    database: AsyncEngine,
    call: Call[Result_contra],
    *,
    refuse_frozen: bool,
    setup: WriteSetup | None = None,
    encoder: str | None = None,
    dry_run: bool = False,
    role: Role = Role.SERVICE,
) -> AsyncIterator[AgentWrite[Result_contra]]:
    """Open a write: commit at the end of the block, or roll back if it raises.

    `setup` is needed by writes that plan operations or refuse frozen agents. `encoder` names the
    model of the vectors that the write stores; None if it stores none. A dry run is rolled back.
    Only Role.LOG_EDITOR may change rows that the log has already.
    Raises AgentFrozen, EmbeddingsChanged, and Replayed, AnswerErased or KeyReused for a used key.
    """
    async with engine.begin_for_agent(database, call.agent, role) as connection:
        locked = await chains.lock_agent(connection, call.agent, encoder=encoder)
        await call.idempotency.check_replay(connection)
        write = AgentWrite(connection, call, locked, setup, dry_run=dry_run)
        if refuse_frozen:
            write.refuse_if_frozen()
        yield write
        if dry_run:
            await connection.rollback()
    if not dry_run:
        write.count_and_wake()
