"""Capturing messages: turns are rows first, and facts are read from them second.

The first transaction writes the messages. Then facts are read from them, with nothing locked. Each
further transaction stores the facts of some turns and notes on these turns that they are done. So
whoever goes on after a crash loses nothing and stores nothing twice.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.captures import CaptureRequest, CaptureState, Message
from app.domain.errors import (
    AnswerErased,
    CallerLeft,
    CaptureUnfinished,
    InvalidFact,
    KeyReused,
    PalimpsestError,
    SecretsRefused,
    Unavailable,
    UnknownCapture,
)
from app.domain.fact import Fact
from app.domain.secrets import redact_secrets
from app.domain.talk import Skipped, Statement, Turn
from app.planning.building_blocks import CLOCK_TOLERANCE
from app.services.agent_write import AgentWrite, Call, Outcome, agent_write
from app.services.capture_reports import (
    CaptureReport,
    FactAnswer,
    add_answers,
    build_report,
)
from app.services.classify import StoreCommand
from app.services.idempotency import Replayed
from app.services.message_reader import MessageReader, Reading
from app.services.parts import split_command
from app.services.remember import Outcomes, Remember
from app.services.reverts import RevertedOperation, Reverter
from app.store import captures, engine
from app.store.captures import (
    CapturedFact,
    SkippedSpan,
    StoredCapture,
    StoredQuote,
    StoredTurn,
)
from app.store.engine import begin_for_agent
from app.store.log.reverts import Selection
from app.store.rows import CallInfo
from app.store.sweeps.queue import Queue

logger = logging.getLogger(__name__)

# A call of at most so many messages and characters is answered with its facts. A longer one is
# finished by a worker, which stores the facts of so many turns in one transaction.
SHORT_TURNS = 40
SHORT_CHARACTERS = 20_000

# Turns before those that are read. They say what "yes" and "she" mean. Of several, at most so many
# characters are read.
EARLIER_TURNS = 8
EARLIER_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class _Draft:
    """A fact to be stored: where it was read, and the command that stores it."""

    fact: CapturedFact
    command: StoreCommand


@dataclass(frozen=True, slots=True)
class _Batch:
    """What was read from some turns of a capture."""

    turns: tuple[StoredTurn, ...]
    drafts: tuple[_Draft, ...]
    reading: Reading

    @property
    def commands(self) -> list[StoreCommand]:
        return [draft.command for draft in self.drafts]


class _TakenOver(Exception):
    """Another runner has the capture, or its messages were erased. This one writes no more."""


# The call was executed meanwhile under the same key, and its caller gets that answer.
_ANSWERED_BEFORE = (Replayed, AnswerErased, KeyReused)


class Capturer:
    """Stores messages, and the facts that are read from them."""

    def __init__(
        self,
        engine: AsyncEngine,
        remember: Remember,
        reverts: Reverter,
        reader: MessageReader,
        queue: Queue,
        *,
        refuses_secrets: bool,
    ) -> None:
        self._engine = engine
        self._remember = remember
        self._reverts = reverts
        self._reader = reader
        self._queue = queue
        self._refuses_secrets = refuses_secrets
        self._wakings: set[asyncio.Task[None]] = set()

    # --- a call ----------------------------------------------------------------------------------

    async def capture(self, call: Call[CaptureReport], request: CaptureRequest) -> CaptureReport:
        """Store messages, and their facts too unless the messages are many.

        A message whose id the session has already is not stored again. Raises SecretsRefused.
        """
        request, redacted = self._remove_secrets(request)
        if request.dry_run:
            return await self._preview(call, request, redacted)
        runner = uuid7()
        report, is_claimed = await self._store_messages(call, request, redacted, runner)
        if not is_claimed:
            if report.capture.state is CaptureState.PENDING:
                self._wake_worker(call.agent, report.capture.id)
            return report
        try:
            async with self._hold_lease(call.agent, report.capture.id, runner):
                batch = await self._read_batch(call.agent, report.capture, report.open_turns)
                return await self._store_batch(call, report.capture, batch, runner, request)
        except _ANSWERED_BEFORE:
            raise
        except Exception:
            # The messages are stored, and a worker goes on with them. The trouble is logged.
            self._wake_worker(call.agent, report.capture.id)
            return report

    def _remove_secrets(self, request: CaptureRequest) -> tuple[CaptureRequest, int]:
        """Return the request without secrets, and how many secrets there were."""
        messages: list[Message] = []
        total = 0
        for message in request.messages:
            content, count = redact_secrets(message.content)
            messages.append(replace(message, content=content))
            total += count
        if total and self._refuses_secrets:
            raise SecretsRefused(total)
        return replace(request, messages=tuple(messages)), total

    async def _store_messages(
        self,
        call: Call[CaptureReport],
        request: CaptureRequest,
        redacted: int,
        runner: UUID,
    ) -> tuple[CaptureReport, bool]:
        """Write the messages that are new, and return whether this runner is to read them.

        A retry of a call that was cut off finds its capture and goes on with that one.
        """
        is_claimed = False
        capture_id = call.idempotency.derive_id() or uuid7()
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            connection, agent = write.connection, call.agent
            capture = await captures.find_capture(connection, agent, capture_id)
            if capture is None:
                now = await write.read_clock()
                capture, turns = await _plan_capture(
                    connection, call, request, capture_id, redacted=redacted, now=now
                )
                await captures.create_capture(connection, agent, capture, turns)
                if not capture.reads_facts:
                    await captures.finish_turns(connection, agent, turns, [])
                    capture = await captures.save_capture_progress(
                        connection, agent, capture_id, extractor=request.extract, trouble=None
                    )
            if capture.state is CaptureState.PENDING and not _is_long(request):
                is_claimed = await captures.claim_capture(connection, agent, capture_id, runner)
            report = await _read_report(connection, agent, capture, request.messages)
            if capture.state is not CaptureState.PENDING or _is_long(request):
                await write.keep(report)
        return report, is_claimed

    async def _preview(
        self, call: Call[CaptureReport], request: CaptureRequest, redacted: int
    ) -> CaptureReport:
        """Return what a capture would do. Nothing is written."""
        agent = call.agent
        async with begin_for_agent(self._engine, agent) as connection:
            now = await engine.read_clock(connection)
            capture, turns = await _plan_capture(
                connection, call, request, uuid7(), redacted=redacted, now=now
            )
        batch = _Batch(tuple(turns), (), Reading.nothing())
        answers: list[FactAnswer] = []
        if capture.reads_facts:
            batch = await self._read_batch(agent, capture, turns)
        if batch.drafts:
            facts_call: Call[Outcomes] = Call(agent, call.info)
            answers += await self._remember.store_all(facts_call, batch.commands, dry_run=True)
        facts = _describe_facts(batch.drafts, answers)
        reading = batch.reading
        capture = replace(capture, extractor=reading.extractor, trouble=reading.trouble)
        async with begin_for_agent(self._engine, agent) as connection:
            report = await build_report(
                connection, agent, capture, batch.turns, facts, messages=request.messages
            )
        return add_answers(report, _index_answers(batch.drafts, answers), dry_run=True)

    # --- a worker --------------------------------------------------------------------------------

    async def finish_capture(self, agent: AgentId, capture_id: UUID) -> None:
        """Go on with a capture, unless it is finished or a living runner has it."""
        runner = uuid7()
        async with begin_for_agent(self._engine, agent) as connection:
            if not await captures.claim_capture(connection, agent, capture_id, runner):
                return
            capture = await _get_capture(connection, agent, capture_id)
            turns = await captures.list_turns(connection, agent, capture_id)
        info = CallInfo(actor=capture.actor, request_id=capture.request_id)
        call: Call[CaptureReport] = Call(agent, info)
        open_turns = [turn for turn in turns if not turn.done]
        try:
            async with self._hold_lease(agent, capture_id, runner):
                for batch_turns in _split_batches(open_turns):
                    batch = await self._read_batch(agent, capture, batch_turns)
                    await self._store_batch(call, capture, batch, runner)
                if not open_turns:
                    await self._finish_erased(agent, capture_id)
        except _TakenOver:
            return

    async def _finish_erased(self, agent: AgentId, capture_id: UUID) -> None:
        """Finish a capture whose last turns were erased."""
        call: Call[None] = Call(agent)
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            await captures.finish_capture(write.connection, agent, capture_id)

    @asynccontextmanager
    async def _hold_lease(
        self, agent: AgentId, capture_id: UUID, runner: UUID
    ) -> AsyncIterator[None]:
        """Renew the lease of a capture during the block, and release the capture if it fails."""
        over = asyncio.Event()
        renewing = asyncio.create_task(self._renew_lease(agent, capture_id, runner, over))
        try:
            yield
        except (_TakenOver, *_ANSWERED_BEFORE):
            raise
        except Exception as problem:
            await self._record_problem(agent, capture_id, runner, problem)
            raise
        finally:
            over.set()
            await renewing

    async def _renew_lease(
        self, agent: AgentId, capture_id: UUID, runner: UUID, over: asyncio.Event
    ) -> None:
        """Renew the lease of the capture until its work is over."""
        interval = captures.LEASE.total_seconds() / 3
        while not await _set_within(over, interval):
            try:
                async with begin_for_agent(self._engine, agent) as connection:
                    await captures.renew_capture_lease(connection, agent, capture_id, runner)
            except Exception as problem:
                # The next renewal may come through in time.
                kind = type(problem).__name__
                logger.warning("The runner of a capture could not say that it lives: %s", kind)

    async def _record_problem(
        self, agent: AgentId, capture_id: UUID, runner: UUID, problem: Exception
    ) -> None:
        """Note on a capture why it was cut off. Trouble that passes is no failure of the capture.

        If the database cannot be written either, the lease of the runner runs out.
        """
        kind = type(problem).__name__
        logger.warning("A capture was cut off: %s", kind)
        passes = isinstance(problem, Unavailable | CallerLeft)
        record = captures.record_capture_trouble if passes else captures.record_capture_failure
        try:
            async with begin_for_agent(self._engine, agent) as connection:
                await record(connection, agent, capture_id, runner, kind)
        except Exception as second:
            logger.warning("That could not be noted: %s", type(second).__name__)

    # --- the facts of some turns -----------------------------------------------------------------

    async def _read_batch(
        self, agent: AgentId, capture: StoredCapture, turns: Sequence[StoredTurn]
    ) -> _Batch:
        """Read facts from these turns. Nothing is locked meanwhile."""
        earlier: list[StoredTurn] = []
        if turns:
            async with begin_for_agent(self._engine, agent) as connection:
                earlier = await captures.list_earlier_turns(
                    connection, agent, capture.session_id, turns[0].id, limit=EARLIER_TURNS
                )
        earlier = _limit_earlier(earlier)
        talk = [*earlier, *turns]
        reading = await self._reader.read_messages(
            agent, capture.extract, list(map(_build_turn, talk)), actor=capture.actor
        )
        done_turns = _note_skipped(turns, reading.extraction.skipped, first=len(earlier))
        drafts: list[_Draft] = []
        for statement in reading.extraction.statements:
            # A statement of an earlier turn was stored with that turn.
            if statement.quotes[0].turn >= len(earlier):
                drafts += _draft_facts(capture, statement, talk, first_place=len(drafts))
        return _Batch(tuple(done_turns), tuple(drafts), reading)

    async def _store_batch(
        self,
        call: Call[CaptureReport],
        capture: StoredCapture,
        batch: _Batch,
        runner: UUID,
        request: CaptureRequest | None = None,
    ) -> CaptureReport:
        """Store the facts of a batch and mark its turns, in one transaction.

        Raises _TakenOver, and then nothing is stored.
        """
        ids = [turn.id for turn in batch.turns]
        messages = request.messages if request else ()
        reports: list[CaptureReport] = []

        async def check_turns(write: AgentWrite[Outcomes]) -> None:
            still_open = await captures.count_open_turns(write.connection, call.agent, ids, runner)
            if still_open < len(ids):
                raise _TakenOver

        async def mark_turns(write: AgentWrite[Outcomes], outcomes: Outcomes) -> None:
            connection, agent = write.connection, call.agent
            facts = _describe_facts(batch.drafts, outcomes)
            await captures.finish_turns(connection, agent, batch.turns, facts)
            saved = await captures.save_capture_progress(
                connection,
                agent,
                capture.id,
                extractor=batch.reading.extractor,
                trouble=batch.reading.trouble,
            )
            report = await build_report(
                connection, agent, saved, batch.turns, facts, messages=messages
            )
            reports.append(add_answers(report, _index_answers(batch.drafts, outcomes)))

        facts_call: Call[Outcomes] = call.with_conversion(lambda _: reports[0])
        if batch.drafts:
            await self._remember.store_all(
                facts_call, batch.commands, check=check_turns, record=mark_turns
            )
        else:
            async with agent_write(self._engine, facts_call, refuse_frozen=False) as write:
                await check_turns(write)
                await mark_turns(write, [])
                await write.keep([])
        return reports[0]

    # --- reading and undoing ---------------------------------------------------------------------

    async def get_report(self, agent: AgentId, capture_id: UUID) -> CaptureReport:
        """Return a capture as far as it is. Raises UnknownCapture."""
        async with begin_for_agent(self._engine, agent) as connection:
            capture = await _get_capture(connection, agent, capture_id)
            return await _read_report(connection, agent, capture, ())

    async def undo_capture(
        self, call: Call[list[RevertedOperation]], capture_id: UUID, *, cascade: bool, dry_run: bool
    ) -> list[RevertedOperation]:
        """Undo every operation of the capture that stands.

        The messages stay, so that a message that is sent again stores nothing. Raises
        UnknownCapture, CaptureUnfinished, and what undoing a selection raises.
        """
        async with begin_for_agent(self._engine, call.agent) as connection:
            capture = await _get_capture(connection, call.agent, capture_id)
        if capture.state is CaptureState.PENDING:
            raise CaptureUnfinished(capture_id)
        return await self._reverts.revert_selection(
            call, Selection(capture_id=capture_id), cascade=cascade, dry_run=dry_run
        )

    # --- waking ----------------------------------------------------------------------------------

    def _wake_worker(self, agent: AgentId, capture_id: UUID) -> None:
        """Wake a worker in the background. If that fails, a worker looks within a minute."""
        task = asyncio.create_task(self._defer_capture(agent, capture_id))
        self._wakings.add(task)
        task.add_done_callback(self._wakings.discard)

    async def _defer_capture(self, agent: AgentId, capture_id: UUID) -> None:
        try:
            await self._queue.defer_capture(agent, capture_id)
        except Exception as problem:
            logger.warning("No worker could be woken: %s", type(problem).__name__)

    async def wait_until_idle(self) -> None:
        """Wait until every wakeup under way has been sent."""
        await asyncio.gather(*self._wakings)


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


def _is_long(request: CaptureRequest) -> bool:
    """Return True if a worker reads the messages, because that takes long."""
    characters = sum(len(message.content) for message in request.messages)
    return len(request.messages) > SHORT_TURNS or characters > SHORT_CHARACTERS


def _split_batches(turns: Sequence[StoredTurn]) -> Iterator[list[StoredTurn]]:
    """Yield the turns in batches, each as large as a short call at most, or of one turn."""
    batch: list[StoredTurn] = []
    characters = 0
    for turn in turns:
        length = len(turn.content or "")
        if batch and (len(batch) == SHORT_TURNS or characters + length > SHORT_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(turn)
        characters += length
    if batch:
        yield batch


def _limit_earlier(earlier: Sequence[StoredTurn]) -> list[StoredTurn]:
    """Return the last of these turns, as many as are not too long together, and one in any case."""
    limited: list[StoredTurn] = []
    characters = 0
    for turn in reversed(earlier):
        characters += len(turn.content or "")
        if limited and characters > EARLIER_CHARACTERS:
            break
        limited.append(turn)
    return limited[::-1]


# --- from messages to rows -----------------------------------------------------------------------


async def _plan_capture(
    connection: AsyncConnection,
    call: Call[CaptureReport],
    request: CaptureRequest,
    capture_id: UUID,
    *,
    redacted: int,
    now: datetime,
) -> tuple[StoredCapture, list[StoredTurn]]:
    """Return the capture of a request, and a turn for each message that is new.

    Raises InvalidFact if a message was said in the future.
    """
    ids = [message.id for message in request.messages if message.id is not None]
    known = await captures.find_messages(connection, call.agent, request.session_id, ids)
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
        session_id=request.session_id,
        state=CaptureState.PENDING,
        extract=request.extract,
        split=request.split,
        trust=request.trust,
        may_end_stated=request.may_end_stated,
        actor=call.info.actor,
        request_id=call.info.request_id,
        turns=len(turns),
        repeated=len(request.messages) - len(turns),
        redacted=redacted,
        received_at=now,
    )
    return capture, turns


def _build_stored_turn(
    capture_id: UUID, position: int, message: Message, now: datetime
) -> StoredTurn:
    return StoredTurn(
        id=uuid7(),
        capture_id=capture_id,
        position=position,
        message_id=message.id,
        role=message.role,
        name=message.name,
        content=message.content,
        said_at=message.at or now,
    )


def _build_turn(turn: StoredTurn) -> Turn:
    return Turn(turn.role, turn.content or "", turn.said_at, id=turn.message_id, name=turn.name)


# --- from talk to facts --------------------------------------------------------------------------


def _draft_facts(
    capture: StoredCapture, statement: Statement, talk: Sequence[StoredTurn], *, first_place: int
) -> Iterator[_Draft]:
    """Yield the facts of a statement: one, or with `split` one for each part of it.

    All of them quote the same words.
    """
    quotes: list[StoredQuote] = []
    for quote in statement.quotes:
        turn_id = talk[quote.turn].id
        quotes.append(StoredQuote(turn_id=turn_id, start=quote.start, end=quote.end))
    turn = talk[statement.quotes[0].turn]
    fact = Fact(
        statement.text,
        session_id=capture.session_id,
        trust=capture.trust,
        said_at=turn.said_at,
    )
    command = StoreCommand(
        fact, reads_dates=True, splits=capture.split, may_end_stated=capture.may_end_stated
    )
    for place, part in enumerate(split_command(command), first_place):
        captured = CapturedFact(
            id=uuid7(),
            turn_id=turn.id,
            place=place,
            content=part.command.fact.content,
            quotes=tuple(quotes),
        )
        yield _Draft(captured, part.command)


def _note_skipped(
    turns: Sequence[StoredTurn], skipped: Sequence[Skipped], *, first: int
) -> list[StoredTurn]:
    """Return the turns as done, each with what of it became no fact.

    `first` is the place of the first of the turns in the talk.
    """
    done_turns: list[StoredTurn] = []
    for place, turn in enumerate(turns, first):
        spans: list[SkippedSpan] = []
        for part in skipped:
            if part.quote.turn == place:
                spans.append(
                    SkippedSpan(start=part.quote.start, end=part.quote.end, reason=part.reason)
                )
        done_turns.append(replace(turn, done=True, skipped=tuple(spans)))
    return done_turns


def _describe_facts(drafts: Sequence[_Draft], answers: Sequence[FactAnswer]) -> list[CapturedFact]:
    """Return the facts, each with what became of it."""
    facts: list[CapturedFact] = []
    for draft, answer in zip(drafts, answers, strict=True):
        facts.append(_describe_fact(draft.fact, answer))
    return facts


def _describe_fact(fact: CapturedFact, answer: FactAnswer) -> CapturedFact:
    if isinstance(answer, PalimpsestError):
        return replace(fact, problem=str(answer))
    return replace(
        fact,
        operation=None if answer.frozen else answer.plan.operation,
        memory_id=_get_stored_id(answer),
        log_id=answer.written.log_id if answer.written else None,
        review_id=answer.written.review_id if answer.written else answer.waiting_review_id,
    )


def _get_stored_id(outcome: Outcome) -> UUID | None:
    """Return the memory that says the fact. A dry run stores none."""
    if outcome.written is None or outcome.memory is None:
        return None
    return outcome.memory.id


def _index_answers(
    drafts: Sequence[_Draft], answers: Sequence[FactAnswer]
) -> dict[UUID, FactAnswer]:
    """Return the answers by the ids of their facts."""
    return {draft.fact.id: answer for draft, answer in zip(drafts, answers, strict=True)}


# --- from rows to reports ------------------------------------------------------------------------


async def _get_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID
) -> StoredCapture:
    """Return the capture. Raises UnknownCapture."""
    capture = await captures.find_capture(connection, agent, capture_id)
    if capture is None:
        raise UnknownCapture(capture_id)
    return capture


async def _read_report(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    messages: Sequence[Message],
) -> CaptureReport:
    """Return the report of a capture with what is stored of it."""
    turns = await captures.list_turns(connection, agent, capture.id)
    facts = await captures.list_facts(connection, agent, [turn.id for turn in turns])
    return await build_report(connection, agent, capture, turns, facts, messages=messages)
