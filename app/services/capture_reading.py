"""Reading facts from the turns of a capture, as batches that one transaction each can store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.captures import ExtractBy
from app.domain.fact import Fact
from app.domain.talk import Skipped, Statement, Turn
from app.extraction.fact_splitter import FactSplitter
from app.services.classify import StoreCommand
from app.services.message_reader import MessageReader
from app.services.parts import CommandPart, split_command
from app.store.captures import captures
from app.store.captures.captures import (
    CapturedFact,
    SkippedSpan,
    StoredCapture,
    StoredQuote,
    StoredTurn,
)
from app.store.engine import begin_for_agent

# So many turns and characters are read at a time.
MOST_TURNS = 40
MOST_CHARACTERS = 20_000

# One transaction stores so many facts.
MOST_FACTS = 1_000

# Turns before those that are read. They say what "yes" and "she" mean. Of several, at most so many
# characters are read.
EARLIER_TURNS = 8
EARLIER_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact to be stored: where it was read, and the command that stores it."""

    fact: CapturedFact
    command: StoreCommand


@dataclass(frozen=True, slots=True)
class Batch:
    """Facts that were read from `turns`, and what read them.

    `done_turns` are those of the turns that have no other facts than those of this batch and of
    the batches before it.
    """

    turns: tuple[StoredTurn, ...]
    done_turns: tuple[StoredTurn, ...]
    drafts: tuple[Draft, ...]
    extractor: ExtractBy
    trouble: str | None = None

    @classmethod
    def without_facts(cls, turns: Sequence[StoredTurn]) -> Self:
        """Return the batch of turns from which no facts are to be read."""
        done_turns = tuple(replace(turn, done=True) for turn in turns)
        return cls(done_turns, done_turns, (), ExtractBy.OFF)

    @property
    def commands(self) -> list[StoreCommand]:
        return [draft.command for draft in self.drafts]


class TurnReader:
    """Reads facts from turns, together with the turns before them. Nothing is locked meanwhile."""

    def __init__(self, engine: AsyncEngine, reader: MessageReader, splitter: FactSplitter) -> None:
        self._engine = engine
        self._reader = reader
        self._splitter = splitter

    async def read_stored_turns(
        self, agent: AgentId, capture: StoredCapture, turns: Sequence[StoredTurn]
    ) -> Batch:
        """Read facts from stored turns, without the facts of these turns that are stored."""
        earlier = await self._list_earlier_turns(agent, capture, turns)
        batch = await self._read_turns(agent, capture, turns, earlier)
        async with begin_for_agent(self._engine, agent) as connection:
            stored = await captures.list_facts(connection, agent, [turn.id for turn in turns])
        # These facts were stored before a runner was cut off.
        known = {(fact.turn_id, fact.content, fact.quotes) for fact in stored}
        drafts: list[Draft] = []
        for draft in batch.drafts:
            fact = draft.fact
            if (fact.turn_id, fact.content, fact.quotes) not in known:
                drafts.append(draft)
        return replace(batch, drafts=tuple(drafts))

    async def read_planned_turns(
        self, agent: AgentId, capture: StoredCapture, turns: Sequence[StoredTurn]
    ) -> Batch:
        """Read facts from turns that are not stored, in the parts in which a worker reads them.

        What the network had to read, and the first trouble, stays noted.
        """
        talk = await self._list_earlier_turns(agent, capture, turns)
        done: list[StoredTurn] = []
        drafts: list[Draft] = []
        extractor = ExtractBy.OFF
        trouble: str | None = None
        for part in split_turns(turns):
            batch = await self._read_turns(agent, capture, part, talk)
            talk = [*talk, *part][-EARLIER_TURNS:]
            done += batch.turns
            drafts += batch.drafts
            if extractor is not ExtractBy.NETWORK:
                extractor = batch.extractor
            trouble = trouble or batch.trouble
        return Batch(tuple(done), tuple(done), tuple(drafts), extractor, trouble)

    async def _list_earlier_turns(
        self, agent: AgentId, capture: StoredCapture, turns: Sequence[StoredTurn]
    ) -> list[StoredTurn]:
        if not turns:
            return []
        async with begin_for_agent(self._engine, agent) as connection:
            return await captures.list_earlier_turns(
                connection, agent, capture.session_id, turns[0].id, limit=EARLIER_TURNS
            )

    async def _read_turns(
        self,
        agent: AgentId,
        capture: StoredCapture,
        turns: Sequence[StoredTurn],
        earlier: Sequence[StoredTurn],
    ) -> Batch:
        earlier = _limit_earlier(earlier)
        talk, first = [*earlier, *turns], len(earlier)
        messages = [Turn(t.role, t.content or "", t.said_at, t.message_id, t.name) for t in talk]
        reading = await self._reader.read_messages(
            agent, capture.extract, messages, first=first, actor=capture.actor
        )
        done = tuple(_note_skipped(turns, reading.extraction.skipped, first=first))
        # A model gives each fact an entry of its own, in words that belong together.
        splits = capture.split and reading.extractor is not ExtractBy.MODEL
        drafts: list[Draft] = []
        for statement in reading.extraction.statements:
            # A statement of an earlier turn was stored with that turn.
            if statement.quotes[0].turn >= first:
                command = _build_command(capture, statement, talk, splits=splits)
                parts = await split_command(command, self._splitter)
                drafts += _draft_facts(parts, statement, talk, first_place=len(drafts))
        return Batch(done, done, tuple(drafts), reading.extractor, reading.trouble)


# --- choosing turns ------------------------------------------------------------------------------


def split_turns(turns: Sequence[StoredTurn]) -> Iterator[list[StoredTurn]]:
    """Yield the turns in parts that are read at a time, each of one turn at least."""
    part: list[StoredTurn] = []
    characters = 0
    for turn in turns:
        length = len(turn.content or "")
        if part and (len(part) == MOST_TURNS or characters + length > MOST_CHARACTERS):
            yield part
            part, characters = [], 0
        part.append(turn)
        characters += length
    if part:
        yield part


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


# --- from talk to facts --------------------------------------------------------------------------


def _build_command(
    capture: StoredCapture, statement: Statement, talk: Sequence[StoredTurn], *, splits: bool
) -> StoreCommand:
    turn = talk[statement.quotes[0].turn]
    fact = Fact(
        statement.text,
        kind=statement.kind,
        session_id=capture.session_id,
        trust=capture.trust,
        said_at=turn.said_at,
    )
    return StoreCommand(
        fact,
        reads_dates=True,
        zone=turn.zone,
        splits=splits,
        may_end_stated=capture.may_end_stated,
    )


def _draft_facts(
    parts: Sequence[CommandPart],
    statement: Statement,
    talk: Sequence[StoredTurn],
    *,
    first_place: int,
) -> Iterator[Draft]:
    """Yield the facts of a statement. All of them quote the same words."""
    quotes: list[StoredQuote] = []
    for quote in statement.quotes:
        turn_id = talk[quote.turn].id
        quotes.append(StoredQuote(turn_id=turn_id, start=quote.start, end=quote.end))
    for place, part in enumerate(parts, first_place):
        captured = CapturedFact(
            id=uuid7(),
            turn_id=talk[statement.quotes[0].turn].id,
            place=place,
            content=part.command.fact.content,
            quotes=tuple(quotes),
        )
        yield Draft(captured, part.command)


def _note_skipped(
    turns: Sequence[StoredTurn], skipped: Sequence[Skipped], *, first: int
) -> Iterator[StoredTurn]:
    """Yield the turns as done, each with what of it became no fact.

    `first` is the place of the first of the turns in the talk.
    """
    for place, turn in enumerate(turns, first):
        spans: list[SkippedSpan] = []
        for part in skipped:
            if part.quote.turn == place:
                spans.append(
                    SkippedSpan(start=part.quote.start, end=part.quote.end, reason=part.reason)
                )
        yield replace(turn, done=True, skipped=tuple(spans))


# --- the batches of a transaction each -----------------------------------------------------------


def cut_batch(batch: Batch, most: int) -> Iterator[Batch]:
    """Yield batches of at most so many facts, to be stored in this order."""
    turns = batch.turns
    places = {turn.id: place for place, turn in enumerate(turns)}
    drafts = sorted(batch.drafts, key=lambda draft: places[draft.fact.turn_id])
    open_from = 0
    for start in range(0, max(len(drafts), 1), most):
        part = tuple(drafts[start : start + most])
        following = drafts[start + most : start + most + 1]
        # A turn whose facts go on in the next batch is not done yet.
        done_to = places[following[0].fact.turn_id] if following else len(turns)
        done_turns = turns[open_from:done_to]
        yield replace(batch, turns=turns[open_from:], done_turns=done_turns, drafts=part)
        open_from = done_to
