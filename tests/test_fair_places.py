"""Places are shared fairly by key and agent, and those who ask for more than their share are refused."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from app import fair_places
from app.fair_places import FairPlaces, NoPlace, Party, Refusal


def build(places: int, *, queue: int = 100, patience: float = 5.0) -> FairPlaces:
    return FairPlaces("read", places, queue=queue, patience=patience)


class Crowd:
    """Parties that hold places until they are let go, in the order in which they got them."""

    def __init__(self, places: FairPlaces) -> None:
        self.places = places
        self.holders: list[Party] = []
        self.refused: list[tuple[Party, Refusal]] = []
        self._ends: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def send(self, *names: str) -> None:
        """Ask for a place for each name, which is a key and, behind a slash, an agent."""
        for name in names:
            key, _, agent = name.partition("/")
            self._tasks.append(asyncio.create_task(self._hold(Party(key, agent))))
            await settle()

    async def let_go(self, key: str) -> None:
        """End the first work of a key."""
        place = next(i for i, party in enumerate(self.holders) if party.key == key)
        del self.holders[place]
        self._ends.pop(place).set()
        await settle()

    async def hang_up(self, task: int) -> None:
        self._tasks[task].cancel()
        await settle()

    @property
    def keys(self) -> list[str]:
        return [party.key for party in self.holders]

    async def _hold(self, party: Party) -> None:
        try:
            async with self.places.hold(party):
                end = asyncio.Event()
                self.holders.append(party)
                self._ends.append(end)
                await end.wait()
        except NoPlace as problem:
            self.refused.append((party, problem.refusal))


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def run(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(play())


def test_a_key_alone_has_half_and_the_next_key_gets_in_at_once() -> None:
    async def play() -> None:
        crowd = Crowd(build(6))
        await crowd.send(*["evil"] * 10)
        assert crowd.keys == ["evil"] * 3
        await crowd.send("victim")
        assert crowd.keys == ["evil"] * 3 + ["victim"]

    run(play)


def test_while_another_key_is_there_the_share_is_smaller() -> None:
    async def play() -> None:
        crowd = Crowd(build(6))
        await crowd.send("victim")
        await crowd.let_go("victim")
        await crowd.send(*["evil"] * 10)
        assert crowd.keys == ["evil"]

    run(play)


def test_a_key_that_was_not_there_for_a_while_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        crowd = Crowd(build(6))
        await crowd.send("victim")
        await crowd.let_go("victim")
        await asyncio.sleep(0.1)
        await crowd.send(*["evil"] * 10)
        assert crowd.keys == ["evil"] * 3

    monkeypatch.setattr(fair_places, "PRESENT", 0.05)
    run(play)


def test_keys_that_wait_take_turns() -> None:
    async def play() -> None:
        crowd = Crowd(build(1))
        await crowd.send("a", "a", "a", "b", "b", "c")
        order = list(crowd.keys)
        while crowd.holders:
            await crowd.let_go(crowd.holders[0].key)
            order += crowd.keys[-1:]
        assert order == ["a", "a", "b", "c", "a", "b"]

    run(play)


def test_agents_of_a_key_take_turns_and_none_has_all_of_its_places() -> None:
    async def play() -> None:
        crowd = Crowd(build(6))
        await crowd.send("k/a", "k/a", "k/a", "k/a", "k/a", "k/b")
        assert [party.agent for party in crowd.holders] == ["a", "a", "a"]
        await crowd.let_go("k")
        assert [party.agent for party in crowd.holders] == ["a", "a", "b"]
        await crowd.send("k/c")
        await crowd.let_go("k")
        assert [party.agent for party in crowd.holders] == ["a", "b", "c"]

    run(play)


def test_a_key_that_fills_the_queue_is_refused_and_no_other_key_is() -> None:
    async def play() -> None:
        crowd = Crowd(build(2, queue=10))
        await crowd.send(*["evil"] * 10)
        assert crowd.refused == [(Party("evil", ""), Refusal.OVER_SHARE)] * 4
        await crowd.send("victim", "victim", "victim")
        assert {party.key for party, _ in crowd.refused} == {"evil"}

    run(play)


def test_who_has_most_in_a_full_queue_makes_room() -> None:
    async def play() -> None:
        crowd = Crowd(build(1, queue=6))
        await crowd.send(*["a"] * 4, "b", "c", "d")
        assert not crowd.refused
        await crowd.send("victim")
        assert crowd.refused == [(Party("a", ""), Refusal.OVER_SHARE)]

    run(play)


def test_when_every_key_waits_within_its_share_the_service_is_overloaded() -> None:
    async def play() -> None:
        crowd = Crowd(build(1, queue=2))
        await crowd.send("a", "b", "c", "d")
        assert crowd.refused == [(Party("d", ""), Refusal.QUEUE_FULL)]

    run(play)


@pytest.mark.parametrize(
    ("others", "refusal"), [(["a"], Refusal.OVER_SHARE), (["b"], Refusal.WAITED)]
)
def test_a_key_that_waits_too_long_learns_whose_fault_it_is(
    others: list[str], refusal: Refusal
) -> None:
    async def play() -> None:
        crowd = Crowd(build(1, patience=0.05))
        await crowd.send(*others, "a")
        await asyncio.sleep(0.1)
        assert crowd.refused == [(Party("a", ""), refusal)]
        assert crowd.places._waiting == {}

    run(play)


def test_who_hangs_up_while_waiting_leaves_no_trace() -> None:
    async def play() -> None:
        crowd = Crowd(build(1))
        await crowd.send("a", "b", "c")
        await crowd.hang_up(1)
        await crowd.let_go("a")
        assert crowd.keys == ["c"]
        await crowd.let_go("c")
        assert not crowd.places._running
        assert not crowd.places._waiting
        assert not crowd.places._queued.total()

    run(play)


def test_who_hangs_up_in_the_moment_of_its_turn_gives_the_place_back() -> None:
    async def play() -> None:
        places = build(1)
        await places.enter(Party("a", ""))
        waiting = asyncio.create_task(places.enter(Party("b", "")))
        await settle()
        places.leave(Party("a", ""))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not places._running
        await places.enter(Party("c", ""))

    run(play)


def test_any_order_of_comings_and_goings_keeps_the_counts_right() -> None:
    """A thousand parties of random keys come, wait, hang up and go; at the end nothing is left."""

    async def play() -> None:
        import random

        chance = random.Random(7)
        places = build(5, queue=30, patience=0.02)
        most = 0

        async def live() -> None:
            nonlocal most
            party = Party(chance.choice("abcd"), chance.choice("xyz"))
            try:
                async with places.hold(party):
                    most = max(most, places._count_running())
                    await asyncio.sleep(chance.random() / 500)
            except NoPlace:
                pass

        tasks = []
        for _ in range(1000):
            tasks.append(asyncio.create_task(live()))
            if chance.random() < 0.2:
                chance.choice(tasks).cancel()
            if chance.random() < 0.5:
                await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert 0 < most <= 5
        assert not places._running
        assert not places._waiting
        assert not places._queued.total()

    run(play)
