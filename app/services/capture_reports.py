"""Reports of captures: their turns in order, with the facts of each, and what facts quote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.captures import Message
from app.domain.errors import PalimpsestError, UnknownCapture
from app.services.agent_write import Outcome
from app.store.captures import captures
from app.store.captures.captures import CapturedFact, StoredCapture, StoredTurn

FactAnswer = Outcome | PalimpsestError


@dataclass(frozen=True, slots=True)
class ReportedTurn:
    """A turn and its facts. `place` is that of its message in the capture.

    It is `repeated` if an earlier capture has the message.
    """

    place: int
    turn: StoredTurn
    facts: tuple[CapturedFact, ...]
    repeated: bool


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """A capture as far as it is.

    `quoted` holds every turn that a fact quotes, by id. `answers` holds what storing each fact came
    to, by the id of the fact, for the facts that this call stored.
    """

    capture: StoredCapture
    turns: tuple[ReportedTurn, ...]
    quoted: Mapping[UUID, StoredTurn]
    answers: Mapping[UUID, FactAnswer]
    dry_run: bool = False

    @property
    def own_turns(self) -> list[StoredTurn]:
        """The turns that are no repetitions."""
        return [reported.turn for reported in self.turns if not reported.repeated]

    @property
    def open_turns(self) -> list[StoredTurn]:
        """The turns of this capture whose facts are not read yet."""
        return [turn for turn in self.own_turns if not turn.done]

    @property
    def open_capture_ids(self) -> set[UUID]:
        """The captures that have messages of the call whose facts are not read yet."""
        return {entry.turn.capture_id for entry in self.turns if not entry.turn.done}


async def get_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID
) -> StoredCapture:
    """Return the capture. Raises UnknownCapture."""
    capture = await captures.find_capture(connection, agent, capture_id)
    if capture is None:
        raise UnknownCapture(capture_id)
    return capture


async def read_report(
    connection: AsyncConnection,
    agent: AgentId,
    capture_id: UUID,
    *,
    messages: Sequence[Message] = (),
) -> CaptureReport:
    """Return the report of a capture with what is stored of it. Raises UnknownCapture."""
    capture = await get_capture(connection, agent, capture_id)
    turns = await captures.list_turns(connection, agent, capture_id)
    facts = await captures.list_facts(connection, agent, [turn.id for turn in turns])
    return await build_report(connection, agent, capture, turns, facts, messages=messages)


async def build_report(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    turns: Sequence[StoredTurn],
    facts: Sequence[CapturedFact],
    *,
    messages: Sequence[Message] = (),
) -> CaptureReport:
    """Return the report of a capture with these turns and facts.

    `messages` are those of the call. Those that earlier captures have are reported with what these
    captures stored.
    """
    repeated = await _find_repeated_turns(connection, agent, capture, messages, turns)
    earlier_facts = await captures.list_facts(
        connection, agent, [turn.id for turn in repeated.values()]
    )
    all_facts = [*facts, *earlier_facts]
    all_turns = repeated | {turn.position: turn for turn in turns}
    reported: list[ReportedTurn] = []
    for place, turn in sorted(all_turns.items()):
        own = tuple(fact for fact in all_facts if fact.turn_id == turn.id)
        reported.append(ReportedTurn(place, turn, own, repeated=place in repeated))
    quoted = await find_quoted_turns(connection, agent, all_facts, turns)
    return CaptureReport(capture, tuple(reported), quoted, {})


async def _find_repeated_turns(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    messages: Sequence[Message],
    turns: Sequence[StoredTurn],
) -> dict[int, StoredTurn]:
    """Return the turns of earlier captures that have these messages, by place in the capture."""
    new_places = {turn.position for turn in turns}
    places: dict[str, int] = {}
    # The messages of the call are the last of the capture, which others may have begun.
    first = capture.turns + capture.repeated - len(messages)
    for place, message in enumerate(messages, first):
        if message.id is not None and place not in new_places:
            places[message.id] = place
    if not places or capture.session_id is None:
        return {}
    known = await captures.find_messages(connection, agent, capture.session_id, list(places))
    return {places[message_id]: turn for message_id, turn in known.items()}


async def find_quoted_turns(
    connection: AsyncConnection,
    agent: AgentId,
    facts: Sequence[CapturedFact],
    turns: Sequence[StoredTurn],
) -> dict[UUID, StoredTurn]:
    """Return every turn that the facts quote, by id. `turns` need not be read again."""
    at_hand = {turn.id: turn for turn in turns}
    wanted = {quote.turn_id for fact in facts for quote in fact.quotes}
    missing = wanted - at_hand.keys()
    if missing:
        at_hand |= await captures.find_turns(connection, agent, missing)
    return {turn_id: at_hand[turn_id] for turn_id in wanted}
