"""Places for work, shared fairly: keys take turns, and the agents of each key do.

Whoever holds a place slows all others, and may hold it for long. So the keys that were there lately
share one half of the places, and each may always hold one. The other half takes in a key that
comes anew, at once.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, NamedTuple

from prometheus_client import Counter as Metric
from prometheus_client import Gauge

from app.domain.keys import ANONYMOUS, ROOT
from app.services.metrics import REGISTRY

# Seconds for which a key counts as present after its last call.
PRESENT = 10.0
STARVED_AFTER = 10.0  # seconds
# Seconds that a key waits for the refusal of what is over its share. Whoever asks
# again at once costs the service little then.
REFUSED_AFTER = 1.0

_UNDER_WAY = Gauge(
    "palimpsest_in_flight",
    "Requests being worked on",
    ["kind"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
_QUEUED = Gauge(
    "palimpsest_queued",
    "Requests waiting for their turn",
    ["kind"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
_SHED = Metric(
    "palimpsest_shed",
    "Requests refused because of overload, by why",
    ["kind", "reason"],
    registry=REGISTRY,
)


class Party(NamedTuple):
    """Whom work is done for: a key, and an agent of that key."""

    key: str
    agent: str


def find_party(actor: str, agent: str) -> Party:
    """Return the party of an actor, by name, and an agent.

    With the root key or without keys, agents take turns as keys do.
    """
    return Party(agent if actor in (ROOT.name, ANONYMOUS.name) else actor, agent)


class Refusal(StrEnum):
    """Why a request gets no place."""

    OVER_SHARE = "over_share"
    QUEUE_FULL = "queue_full"
    WAITED = "waited"


class NoPlace(Exception):
    """A request gets no place. `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class FairPlaces:
    """The places for one kind of work, and the queue before them.

    The keys that wait take turns, and so do the agents of each key. No key has more than its share
    of the places and of the queue, and no agent has more than its share of what its key has.
    """

    def __init__(self, kind: str, places: int, *, queue: int, patience: float | None) -> None:
        """`queue` is how many may wait for a place, and `patience` for how many seconds.

        Without `patience` they wait for any time.
        """
        self._places = places
        self._queue = queue
        self._patience = patience
        self._running: dict[str, Counter[str]] = {}
        # Futures by key and agent. The next turn is that of the first key, and of its first agent.
        self._waiting: dict[str, dict[str, deque[asyncio.Future[None]]]] = {}
        self._queued: Counter[str] = Counter()
        self._last_seen: dict[str, float] = {}  # the key seen last stands last
        self._moved_at = time.monotonic()
        self._under_way_gauge = _UNDER_WAY.labels(kind)
        self._queued_gauge = _QUEUED.labels(kind)
        self._shed = {refusal: _SHED.labels(kind, refusal) for refusal in Refusal}

    @property
    def starves(self) -> bool:
        """True if all places are taken, and none came free for `STARVED_AFTER` seconds."""
        is_full = self._count_running() >= self._places
        return bool(self._waiting) and is_full and self._moved_at + STARVED_AFTER < time.monotonic()

    @asynccontextmanager
    async def hold(self, party: Party) -> AsyncIterator["Place"]:
        """Hold a place during the block. Raises NoPlace."""
        self.check(party)
        place = Place(self, party)
        try:
            async with asyncio.timeout(self._patience):
                await place.take()
        except TimeoutError:
            raise self._refuse(self._explain(party.key, Refusal.WAITED)) from None
        try:
            yield place
        finally:
            place.give_back()

    def check(self, party: Party) -> None:
        """Raise NoPlace, and count that, if the party can neither have a place nor wait for one."""
        self._note_presence(party.key)
        if self._may_run(party):
            return
        share = self._divide(self._queue)
        is_full = self._queued.total() >= self._queue
        may_take_place = max(self._queued.values(), default=0) > share
        if self._queued[party.key] < share and (may_take_place or not is_full):
            return
        raise self._refuse(self._explain(party.key, Refusal.QUEUE_FULL))

    async def enter(self, party: Party) -> None:
        """Take a place when it is the party's turn, however long that takes.

        Raises NoPlace if the queue is full and the party's key has most in it.
        """
        self._note_presence(party.key)
        if self._may_run(party):
            self._add(party)
            return
        place = self._queue_up(party)
        try:
            await place
        except BaseException:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave(party)  # the turn came while the caller left
            else:
                self._remove(party, place)
            raise

    def leave(self, party: Party) -> None:
        """Give a place back, to those whose turn it is."""
        self._moved_at = time.monotonic()
        self._under_way_gauge.dec()
        agents = self._running[party.key]
        agents[party.agent] -= 1
        self._running[party.key] = +agents
        if not self._running[party.key]:
            del self._running[party.key]
        while following := self._find_next():
            self._start(following)

    # --- shares ----------------------------------------------------------------------------------

    def _note_presence(self, key: str) -> None:
        now = time.monotonic()
        self._last_seen.pop(key, None)
        self._last_seen[key] = now
        oldest = next(iter(self._last_seen))
        while self._last_seen[oldest] < now - PRESENT:
            del self._last_seen[oldest]
            oldest = next(iter(self._last_seen))

    def _divide(self, whole: int) -> int:
        """Return the share of each key that is present: of one half, and one at least."""
        return min(whole, max(1, whole // (2 * max(1, len(self._last_seen)))))

    def _count_running(self) -> int:
        return sum(agents.total() for agents in self._running.values())

    def _has_room(self, key: str) -> bool:
        """Return True if the key has less than its share of the places."""
        return self._running.get(key, Counter()).total() < self._divide(self._places)

    def _may_run(self, party: Party) -> bool:
        """Return True if a place is free, and neither the key nor the agent has its share."""
        if self._count_running() >= self._places or not self._has_room(party.key):
            return False
        running = self._running.get(party.key, Counter())
        agents = running.keys() | self._waiting.get(party.key, {}).keys() | {party.agent}
        return running[party.agent] < math.ceil(self._divide(self._places) / len(agents))

    def _explain(self, key: str, otherwise: Refusal) -> Refusal:
        """Return OVER_SHARE if the key itself has taken what it now lacks."""
        is_full = self._count_running() >= self._places
        share = self._divide(self._queue)
        has_share = not self._has_room(key) or 0 < share <= self._queued[key]
        return Refusal.OVER_SHARE if has_share or not is_full else otherwise

    def _refuse(self, refusal: Refusal) -> NoPlace:
        self._shed[refusal].inc()
        return NoPlace(refusal)

    # --- the queue -------------------------------------------------------------------------------

    def _queue_up(self, party: Party) -> asyncio.Future[None]:
        """Return what is done when a place is taken for the party.

        If too many wait then, the newest of the key that has most in the queue is refused.
        """
        if not self._waiting:
            self._moved_at = time.monotonic()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        agents = self._waiting.setdefault(party.key, {})
        agents.setdefault(party.agent, deque()).append(place)
        self._queued[party.key] += 1
        self._queued_gauge.inc()
        if self._queued.total() > self._queue:
            [(key, _)] = self._queued.most_common(1)
            agent, places = max(self._waiting[key].items(), key=lambda item: len(item[1]))
            newest = places[-1]
            self._remove(Party(key, agent), newest)
            newest.set_exception(self._refuse(Refusal.OVER_SHARE))
        return place

    def _remove(self, party: Party, place: asyncio.Future[None]) -> None:
        """Take what waits out of the queue, unless it is out already."""
        places = self._waiting.get(party.key, {}).get(party.agent, deque())
        if place not in places:
            return
        places.remove(place)
        self._queued -= Counter([party.key])
        self._queued_gauge.dec()
        if not places:
            del self._waiting[party.key][party.agent]
        if not self._waiting[party.key]:
            del self._waiting[party.key]

    def _find_next(self) -> Party | None:
        """Return whose turn it is among those that may run now."""
        for key in filter(self._has_room, self._waiting):
            for agent in self._waiting[key]:
                if self._may_run(Party(key, agent)):
                    return Party(key, agent)
        return None

    def _start(self, party: Party) -> None:
        """Take a place for the first that waits of the party, and let all others come first."""
        place = self._waiting[party.key][party.agent][0]
        self._remove(party, place)
        _move_to_end(self._waiting, party.key)
        _move_to_end(self._waiting.get(party.key, {}), party.agent)
        if not place.done():  # the caller may have left
            self._add(party)
            place.set_result(None)

    def _add(self, party: Party) -> None:
        self._running.setdefault(party.key, Counter())[party.agent] += 1
        self._under_way_gauge.inc()


class Place:
    """The place of a party, which may give it back for a while and take one again."""

    def __init__(self, places: FairPlaces, party: Party) -> None:
        self._places = places
        self._party = party
        self._is_held = False

    async def take(self) -> None:
        """Take a place when it is the party's turn. Raises NoPlace as `FairPlaces.enter` does."""
        await self._places.enter(self._party)
        self._is_held = True

    def give_back(self) -> None:
        """Give the place back, unless that was done."""
        if self._is_held:
            self._is_held = False
            self._places.leave(self._party)

    async def pass_on(self) -> None:
        """Let others have their turns, and take a place again."""
        self.give_back()
        await self.take()


def _move_to_end(order: dict[str, Any], name: str) -> None:
    if name in order:
        order[name] = order.pop(name)
