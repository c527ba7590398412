"""The words of long texts are read in one thread, and not on the event loop."""

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.dates import facts as dates
from app.domain.dates.dated_text import DatedText
from app.domain.fact import Fact
from app.services import dating
from app.services.dating import FactDater, find_episodes

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WITHOUT_DATES = [Fact(f"Likes the number {'9' * 500}{n}", said_at=NOW) for n in range(3)]
SHORT = [Fact("Likes the number 9", said_at=NOW)]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The thread that read each text."""
    read: list[int] = []

    def note_thread(*words: Any) -> DatedText:
        read.append(threading.get_ident())
        return dates.date_fact(*words)

    monkeypatch.setattr(dating, "date_fact", note_thread)
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
    threads: list[int], hops: list[Any]
) -> None:
    dater = FactDater(cast("AsyncEngine", None), zone=UTC, is_on=True)
    dated = asyncio.run(dater.date_facts(AgentId("a"), WITHOUT_DATES, [None] * len(WITHOUT_DATES)))
    assert [one.fact for one in dated] == WITHOUT_DATES
    assert (len(threads), len(hops)) == (3, 1)
    assert threading.get_ident() not in threads


def test_short_texts_take_none(threads: list[int], hops: list[Any]) -> None:
    assert asyncio.run(find_episodes(SHORT)) == [False]
    assert threads == [threading.get_ident()]
    assert hops == []


def test_what_a_sweep_reads_takes_one_thread(threads: list[int], hops: list[Any]) -> None:
    over = Fact("I worked nights for two years", said_at=NOW)
    assert asyncio.run(find_episodes([*WITHOUT_DATES, over])) == [False, False, False, True]
    assert (len(threads), len(hops)) == (4, 1)
    assert threading.get_ident() not in threads


def test_nothing_to_read_takes_no_thread(hops: list[Any]) -> None:
    dater = FactDater(cast("AsyncEngine", None), zone=UTC, is_on=True)
    assert asyncio.run(dater.date_facts(AgentId("a"), [], [])) == []
    assert hops == []
