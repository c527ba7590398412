"""The words of long texts are read in one thread, and not on the event loop."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.dates import facts as dates
from app.domain.dates.facts import TimedText
from app.domain.fact import Fact
from app.extraction.dates_network import DatesNetwork
from app.networks import FairThreads
from app.services import dating
from app.services.dating import FactDater

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WITHOUT_DATES = [Fact(f"Likes the number {'9' * 500}{n}", said_at=NOW) for n in range(3)]
SHORT = [Fact("Likes the number 9", said_at=NOW)]


@pytest.fixture
def dater() -> Iterator[FactDater]:
    """Return a dater without a database."""
    threads = FairThreads(1)
    network = DatesNetwork(threads)
    yield FactDater(cast("AsyncEngine", None), network, zone=UTC, is_on=True)
    threads.close()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The thread that read each text."""
    read: list[int] = []

    def note_thread(text: str) -> TimedText:
        read.append(threading.get_ident())
        return dates.find_times(text)

    monkeypatch.setattr(dating, "find_times", note_thread)
    return read


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every hop into a thread."""
    made: list[Any] = []
    hop = asyncio.to_thread

    async def note_hop(read: Any, *words: Any) -> Any:
        made.append(read)
        return await hop(read, *words)

    monkeypatch.setattr(asyncio, "to_thread", note_hop)
    return made


def test_a_batch_without_dates_takes_one_thread_and_no_statement(
    dater: FactDater, threads: list[int], hops: list[Any]
) -> None:
    dated = asyncio.run(dater.date_facts(AgentId("a"), WITHOUT_DATES, [None] * len(WITHOUT_DATES)))
    assert [one.fact for one in dated] == WITHOUT_DATES
    assert (len(threads), len(hops)) == (3, 1)
    assert threading.get_ident() not in threads


def test_short_texts_take_none(dater: FactDater, threads: list[int], hops: list[Any]) -> None:
    assert asyncio.run(dater.find_episodes(SHORT)) == [False]
    assert threads == [threading.get_ident()]
    assert hops == []


def test_what_a_sweep_reads_takes_one_thread(
    dater: FactDater, threads: list[int], hops: list[Any]
) -> None:
    over = Fact("I worked nights for two years", said_at=NOW)
    facts = [*WITHOUT_DATES, over]
    assert asyncio.run(dater.find_episodes(facts)) == [False, False, False, True]
    assert (len(threads), len(hops)) == (4, 1)
    assert threading.get_ident() not in threads


def test_nothing_to_read_takes_no_thread(dater: FactDater, hops: list[Any]) -> None:
    assert asyncio.run(dater.date_facts(AgentId("a"), [], [])) == []
    assert hops == []
