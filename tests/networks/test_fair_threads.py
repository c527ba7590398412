"""Whose turn it is, and what is dropped."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial

import pytest

from app.domain.errors import CallerLeft
from app.networks import FairThreads, Requester, fair_threads, work_for


@pytest.fixture
def threads() -> Iterator[FairThreads]:
    with closing(FairThreads(1)) as threads:
        yield threads


async def run_all(
    threads: FairThreads, steps: Sequence[tuple[Requester, Callable[[], object]]]
) -> list[object]:
    """Queue the steps while both threads are busy, then free one; return results or errors."""
    tasks = []
    async with both_busy(threads):
        for requester, step in steps:
            with work_for(requester):
                tasks.append(asyncio.ensure_future(threads.run(step)))
            await asyncio.sleep(0)
    return await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def both_busy(threads: FairThreads) -> AsyncIterator[None]:
    """Keep both threads busy, and the second one for a while longer."""
    free, later = threading.Event(), threading.Event()
    tasks = []
    for agent, event in (("first", free), ("second", later)):
        with work_for(Requester(agent)):
            tasks.append(asyncio.ensure_future(threads.run(event.wait)))
    await asyncio.sleep(0.05)
    yield
    free.set()
    await tasks[0]
    with work_for(Requester("last")):
        await threads.run(later.set)
    await tasks[1]


def test_agents_take_turns_and_each_has_its_own_order(threads: FairThreads) -> None:
    order: list[str] = []
    agents = {name: Requester(name) for name in "abc"}
    queued = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]
    steps = [(agents[name[0]], partial(order.append, name)) for name in queued]
    asyncio.run(run_all(threads, steps))
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_steps_of_a_caller_who_hung_up_are_dropped(threads: FairThreads) -> None:
    order: list[str] = []
    gone, present = Requester("a"), Requester("a")
    gone.has_left = True
    steps = [(gone, partial(order.append, "gone")), (present, partial(order.append, "present"))]
    first, second = asyncio.run(run_all(threads, steps))
    assert isinstance(first, CallerLeft)
    assert second is None
    assert order == ["present"]


def test_cancelled_steps_are_dropped(threads: FairThreads) -> None:
    order: list[str] = []

    async def cancel_one() -> None:
        async with both_busy(threads):
            cancelled = asyncio.ensure_future(threads.run(partial(order.append, "cancelled")))
            await asyncio.sleep(0.01)
            cancelled.cancel()
            await asyncio.sleep(0.01)
        await threads.run(partial(order.append, "next"))

    asyncio.run(cancel_one())
    assert order == ["next"]


def test_one_agent_leaves_a_thread_to_the_others(threads: FairThreads) -> None:
    async def run_beside_a_busy_agent() -> bool:
        free = threading.Event()
        with work_for(Requester("busy")):
            busy = [asyncio.ensure_future(threads.run(free.wait)) for _ in range(3)]
        await asyncio.sleep(0.05)
        with work_for(Requester("other")):
            await threads.run(lambda: None)
        was_busy = not any(task.done() for task in busy)
        free.set()
        await asyncio.gather(*busy)
        return was_busy

    assert asyncio.run(run_beside_a_busy_agent())


async def count_at_once(threads: FairThreads, *, is_shared: bool = False) -> int:
    """Return how many of three steps of an agent run at the same time.

    If shared, another agent has a step under way when they come.
    """
    free, free_other = threading.Event(), threading.Event()
    under_way = 0

    def wait() -> None:
        nonlocal under_way
        under_way += 1
        free.wait()

    others = []
    if is_shared:
        with work_for(Requester("other")):
            others.append(asyncio.ensure_future(threads.run(free_other.wait)))
    with work_for(Requester("busy")):
        steps = [asyncio.ensure_future(threads.run(wait)) for _ in range(3)]
    await asyncio.sleep(0.05)
    seen = under_way
    free.set()
    free_other.set()
    await asyncio.gather(*others, *steps)
    return seen


def test_an_agent_has_one_thread_fewer_while_others_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async def count_before_beside_and_after(threads: FairThreads) -> list[int]:
        before = await count_at_once(threads)
        beside = await count_at_once(threads, is_shared=True)
        monkeypatch.setattr(fair_threads, "SHARED_SECONDS", 0.0)
        return [before, beside, await count_at_once(threads)]

    with closing(FairThreads(2)) as threads:
        assert asyncio.run(count_before_beside_and_after(threads)) == [2, 1, 2]


def test_an_error_goes_to_whoever_waits_for_it(threads: FairThreads) -> None:
    def divide() -> float:
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        asyncio.run(threads.run(divide))
    assert asyncio.run(threads.run(lambda: 1)) == 1


def test_closed_threads_refuse_work(threads: FairThreads) -> None:
    threads.close()
    with pytest.raises(RuntimeError):
        asyncio.run(threads.run(lambda: 1))
