"""Capturing messages: turns are rows first, and facts are read from them second.

The first transaction writes the messages. Then facts are read from them, with nothing locked. Each
further transaction stores the facts of some turns and notes on these turns that they are done. So
whoever goes on after a crash loses nothing and stores nothing twice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.captures import CaptureRequest, CaptureState, Message
from app.domain.errors import CaptureUnfinished, InvalidFact, PalimpsestError, TooManyPending
from app.domain.keys import ANONYMOUS, ROOT
from app.fair_places import REFUSED_AFTER
from app.planning.building_blocks import CLOCK_TOLERANCE
from app.services.agent_write import AgentWrite, Call, agent_write
from app.services.capture_leases import ANSWERED_BEFORE, TakenOver, hold_lease
from app.services.capture_reading import (
    MOST_FACTS,
    MOST_TURNS,
    Batch,
    Draft,
    TurnReader,
    cut_batch,
    split_turns,
)
from app.services.capture_reports import (
    CaptureReport,
    FactAnswer,
    build_report,
    get_capture,
    read_report,
)
from app.services.remember import Outcomes, Record, Remember
from app.services.reverts import RevertedOperation, Reverter
from app.store import engine
from app.store.captures import captures, runs
from app.store.captures.captures import CapturedFact, StoredCapture, StoredTurn
from app.store.engine import begin_as_operator, begin_for_agent
from app.store.log.reverts import Selection
from app.store.rows import CallInfo

PassTurn = Callable[[], Awaitable[None]]

# A call is answered with its facts only if its text is as short as this and states as few facts. A
# longer one would keep a place for writes for seconds, so a worker reads it.
INLINE_CHARACTERS = 8_000
INLINE_FACTS = 50

# Captures of one key that may wait to be read. Those of the root key may be any number.
MOST_PENDING = 200

# So many messages of a session are read although more may follow. A model reads the messages of a
# session in twenties for about a third more than all at once.
ENOUGH_TURNS = 20


class Capturer:
    """Stores messages, and the facts that are read from them."""

    def __init__(
        self,
        engine: AsyncEngine,
        remember: Remember,
        reverts: Reverter,
        reader: TurnReader,
        *,
        quiet: timedelta,
        language_oid: int,
    ) -> None:
        """`quiet` is how long a session is to be silent before messages that wait are read.

        `language_oid` is the text search configuration in the database.
        """
        self._engine = engine
        self._remember = remember
        self._reverts = reverts
        self._reader = reader
        self._quiet = quiet
        self._language_oid = language_oid

    # --- a call ----------------------------------------------------------------------------------

    async def capture(self, call: Call[CaptureReport], request: CaptureRequest) -> CaptureReport:
        """Store messages, and their facts too unless they are many.

        A message whose id the session has already is not stored again. If its capture has failed,
        a worker tries that one again. Raises InvalidFact for a message of the future or a dry run
        of too many facts, and TooManyPending.
        """
        if request.dry_run:
            return await self._preview(call, request)
        actor = call.info.actor
        if actor not in (ROOT.name, ANONYMOUS.name):
            async with begin_as_operator(self._engine) as connection:
                pending = await runs.count_pending_captures(connection, actor, limit=MOST_PENDING)
            if pending >= MOST_PENDING:
                await asyncio.sleep(REFUSED_AFTER)
                raise TooManyPending(MOST_PENDING)
        runner = uuid7()
        report, is_claimed = await self._store_messages(call, request, runner)
        if not is_claimed:
            return report
        try:
            finished = await self._finish_call(call, report, runner, request.messages)
        except ANSWERED_BEFORE:
            raise
        except Exception:
            # The messages are stored, and a worker goes on with them. The trouble is logged.
            finished = None
        return finished or report

    async def _store_messages(
        self, call: Call[CaptureReport], request: CaptureRequest, runner: UUID
    ) -> tuple[CaptureReport, bool]:
        """Write the messages that are new, and return whether this runner is to read them.

        A retry of a call that was cut off finds its capture and goes on with that one. Messages
        join those of their session that still wait.
        """
        capture_id = call.idempotency.derive_id() or uuid7()
        messages = request.messages
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            connection, agent = write.connection, call.agent
            if await captures.find_capture(connection, agent, capture_id) is None:
                now = await write.read_clock()
                capture, turns = await _plan_capture(connection, call, request, capture_id, now=now)
                if not request.waits:
                    capture = replace(capture, due_at=now + self._quiet)
                capture_id = await _write_capture(
                    connection, agent, capture, turns, self._language_oid
                )
                if not capture.reads_facts:
                    await _save_batch(
                        connection, agent, capture_id, Batch.without_facts(turns), facts=[]
                    )
            report = await read_report(connection, agent, capture_id, messages=messages)
            if await runs.reopen_failed_captures(connection, agent, report.open_capture_ids):
                report = await read_report(connection, agent, capture_id, messages=messages)
            open_turns = report.open_turns
            characters = sum(len(turn.content or "") for turn in open_turns)
            is_long = len(open_turns) > MOST_TURNS or characters > INLINE_CHARACTERS
            is_pending = report.capture.state is CaptureState.PENDING
            if not request.waits or is_long or not is_pending:
                await write.keep(report)
                return report, False
            return report, await runs.claim_capture(connection, agent, capture_id, runner)

    async def _finish_call(
        self,
        call: Call[CaptureReport],
        report: CaptureReport,
        runner: UUID,
        messages: Sequence[Message],
    ) -> CaptureReport | None:
        """Store the facts of a capture, and keep and return its report.

        Return None if a worker has to do it, because the facts are many.
        """
        agent, capture = call.agent, report.capture
        reports: list[CaptureReport] = []

        async def report_outcomes(write: AgentWrite[Outcomes], outcomes: Outcomes) -> None:
            final = await read_report(write.connection, agent, capture.id, messages=messages)
            reports.append(replace(final, answers=_index_answers(batch.drafts, outcomes)))

        async with hold_lease(self._engine, agent, capture.id, runner):
            batch = await self._reader.read_stored_turns(agent, capture, report.open_turns)
            if len(batch.drafts) <= INLINE_FACTS:
                facts_call: Call[Outcomes] = call.with_conversion(lambda _: reports[0])
                await self._store_batch(facts_call, capture.id, batch, runner, report_outcomes)
                return reports[0]
        async with begin_for_agent(self._engine, agent) as connection:
            await runs.release_capture(connection, agent, capture.id, runner)
        return None

    async def _preview(self, call: Call[CaptureReport], request: CaptureRequest) -> CaptureReport:
        """Return what a capture would do. Nothing is written."""
        agent = call.agent
        async with begin_for_agent(self._engine, agent) as connection:
            now = await engine.read_clock(connection)
            capture, turns = await _plan_capture(connection, call, request, uuid7(), now=now)
        batch = Batch.without_facts(turns)
        if capture.reads_facts:
            batch = await self._reader.read_planned_turns(agent, capture, turns)
        if len(batch.drafts) > MOST_FACTS:
            raise InvalidFact(
                f"These messages state {len(batch.drafts):,} facts, and a dry run shows at most "
                f"{MOST_FACTS:,}. Send fewer messages at a time; without dry_run all are stored."
            )
        answers: list[FactAnswer] = []
        if batch.drafts:
            facts_call: Call[Outcomes] = Call(agent, call.info)
            answers += await self._remember.store_facts(facts_call, batch.commands, dry_run=True)
        facts = _describe_facts(batch.drafts, answers)
        capture = replace(capture, extractor=batch.extractor, trouble=batch.trouble)
        async with begin_for_agent(self._engine, agent) as connection:
            report = await build_report(
                connection, agent, capture, batch.turns, facts, messages=request.messages
            )
        return replace(report, answers=_index_answers(batch.drafts, answers), dry_run=True)

    # --- a worker --------------------------------------------------------------------------------

    async def finish_capture(
        self, agent: AgentId, capture_id: UUID, *, pass_turn: PassTurn
    ) -> None:
        """Go on with a capture, unless it is finished or not due, or a living runner has it.

        `pass_turn` lets others have their turns between the parts of the capture.
        """
        runner = uuid7()
        async with begin_for_agent(self._engine, agent) as connection:
            if not await runs.claim_capture(connection, agent, capture_id, runner):
                return
            report = await read_report(connection, agent, capture_id)
        try:
            async with hold_lease(self._engine, agent, capture_id, runner):
                await self._store_turns(agent, report.capture, report.open_turns, runner, pass_turn)
        except TakenOver:
            return

    async def _store_turns(
        self,
        agent: AgentId,
        capture: StoredCapture,
        turns: Sequence[StoredTurn],
        runner: UUID,
        pass_turn: PassTurn,
    ) -> None:
        """Read these turns and store their facts, in as many transactions as it takes."""
        info = CallInfo(actor=capture.actor, request_id=capture.request_id)
        call: Call[Outcomes] = Call(agent, info)
        for part in split_turns(turns):
            batch = await self._reader.read_stored_turns(agent, capture, part)
            for stored_at_once in cut_batch(batch, MOST_FACTS):
                await pass_turn()
                await self._store_batch(call, capture.id, stored_at_once, runner)
        if not turns:
            # The last turns of the capture were erased.
            erased_call: Call[None] = Call(agent)
            async with agent_write(self._engine, erased_call, refuse_frozen=False) as write:
                await runs.finish_capture(write.connection, agent, capture.id)

    # --- the facts of some turns -----------------------------------------------------------------

    async def _store_batch(
        self,
        call: Call[Outcomes],
        capture_id: UUID,
        batch: Batch,
        runner: UUID,
        record: Record | None = None,
    ) -> None:
        """Store the facts of a batch and mark its turns, in one transaction.

        `record` writes about the outcomes. Raises TakenOver, and then nothing is stored.
        """
        ids = [turn.id for turn in batch.turns]

        async def check_turns(write: AgentWrite[Outcomes]) -> None:
            still_open = await runs.count_open_turns(write.connection, call.agent, ids, runner)
            if still_open < len(ids):
                raise TakenOver

        async def mark_turns(write: AgentWrite[Outcomes], outcomes: Outcomes) -> None:
            facts = _describe_facts(batch.drafts, outcomes)
            await _save_batch(write.connection, call.agent, capture_id, batch, facts)
            if record:
                await record(write, outcomes)

        if batch.drafts:
            await self._remember.store_facts(
                call, batch.commands, check=check_turns, record=mark_turns
            )
            return
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            await check_turns(write)
            await mark_turns(write, [])
            await write.keep([])

    # --- reading and undoing ---------------------------------------------------------------------

    async def get_report(self, agent: AgentId, capture_id: UUID) -> CaptureReport:
        """Return a capture as far as it is. Raises UnknownCapture."""
        async with begin_for_agent(self._engine, agent) as connection:
            return await read_report(connection, agent, capture_id)

    async def undo_capture(
        self, call: Call[list[RevertedOperation]], capture_id: UUID, *, cascade: bool, dry_run: bool
    ) -> list[RevertedOperation]:
        """Undo every operation of the capture that stands.

        The messages stay, so that a message that is sent again stores nothing. Raises
        UnknownCapture, CaptureUnfinished, and what undoing a selection raises.
        """
        async with begin_for_agent(self._engine, call.agent) as connection:
            capture = await get_capture(connection, call.agent, capture_id)
        if capture.state is CaptureState.PENDING:
            raise CaptureUnfinished(capture_id)
        return await self._reverts.revert_selection(
            call, Selection(capture_id=capture_id), cascade=cascade, dry_run=dry_run
        )


# --- from messages to rows -----------------------------------------------------------------------


async def _plan_capture(
    connection: AsyncConnection,
    call: Call[CaptureReport],
    request: CaptureRequest,
    capture_id: UUID,
    *,
    now: datetime,
) -> tuple[StoredCapture, list[StoredTurn]]:
    """Return the capture of a request, and a turn for each message that is new.

    Raises InvalidFact if a message was said in the future.
    """
    ids = [message.id for message in request.messages if message.id is not None]
    session = request.session_id or f"capture-{capture_id}"
    known = await captures.find_messages(connection, call.agent, session, ids)
    turns: list[StoredTurn] = []
    for position, message in enumerate(request.messages):
        if message.at is not None and message.at > now + CLOCK_TOLERANCE:
            raise InvalidFact(
                f"messages[{position}].at ({message.at.isoformat()}) lies in the future: give the "
                "moment at which it was said."
            )
        if message.id not in known:
            turns.append(_build_stored_turn(capture_id, position, message, now))
    capture = StoredCapture(
        id=capture_id,
        session_id=session,
        state=CaptureState.PENDING,
        extract=request.extract,
        split=request.split,
        trust=request.trust,
        may_end_stated=request.may_end_stated,
        actor=call.info.actor,
        request_id=call.info.request_id,
        turns=len(turns),
        repeated=len(request.messages) - len(turns),
        redacted=request.redacted,
        received_at=now,
    )
    return capture, turns


async def _write_capture(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    turns: Sequence[StoredTurn],
    language_oid: int,
) -> UUID:
    """Write a planned capture and its turns, and return the id of the capture that has them.

    That is another one if messages of the session wait for more. Enough of them wait no longer.
    """
    others = None
    if capture.reads_facts:
        others = await captures.lock_collecting_capture(connection, agent, capture)
    if capture.turns + (others.turns if others else 0) >= ENOUGH_TURNS:
        capture = replace(capture, due_at=None)
    if others is None:
        await captures.create_capture(connection, agent, capture, turns, language_oid)
        return capture.id
    first = others.turns + others.repeated
    joining = [
        replace(turn, capture_id=others.id, position=first + turn.position) for turn in turns
    ]
    await captures.join_capture(connection, agent, others.id, capture, joining, language_oid)
    return others.id


def _build_stored_turn(
    capture_id: UUID, position: int, message: Message, now: datetime
) -> StoredTurn:
    offset = message.at.utcoffset() if message.at else None
    return StoredTurn(
        id=uuid7(),
        capture_id=capture_id,
        position=position,
        message_id=message.id,
        role=message.role,
        name=message.name,
        content=message.content,
        said_at=(message.at or now).astimezone(UTC),
        offset_minutes=round(offset / timedelta(minutes=1)) if offset else None,
    )


# --- from outcomes to rows ------------------------------------------------------------------------


async def _save_batch(
    connection: AsyncConnection,
    agent: AgentId,
    capture_id: UUID,
    batch: Batch,
    facts: Sequence[CapturedFact],
) -> None:
    """Write what was read from the turns of a batch, and how far the capture is."""
    await runs.finish_turns(connection, agent, batch.done_turns, facts)
    await runs.save_progress(
        connection, agent, capture_id, extractor=batch.extractor, trouble=batch.trouble
    )


def _describe_facts(drafts: Sequence[Draft], answers: Sequence[FactAnswer]) -> list[CapturedFact]:
    facts: list[CapturedFact] = []
    for draft, answer in zip(drafts, answers, strict=True):
        if isinstance(answer, PalimpsestError):
            facts.append(replace(draft.fact, problem=str(answer)))
            continue
        written = answer.written
        described = replace(
            draft.fact,
            operation=None if answer.frozen else answer.plan.operation,
            # A dry run stores no memory.
            memory_id=answer.memory.id if written and answer.memory else None,
            log_id=written.log_id if written else None,
            review_id=written.review_id if written else answer.waiting_review_id,
        )
        facts.append(described)
    return facts


def _index_answers(
    drafts: Sequence[Draft], answers: Sequence[FactAnswer]
) -> dict[UUID, FactAnswer]:
    return {draft.fact.id: answer for draft, answer in zip(drafts, answers, strict=True)}
