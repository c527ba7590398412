"""A transfer rests while short requests are under way, and only then."""

import asyncio
import contextvars
import threading
import time
from collections import defaultdict
from contextlib import closing

import pytest

from app import turns
from app.embedding.local import STEP_TEXTS, LocalEmbedder
from app.networks import FairThreads
from app.turns import Turn, serve_request


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note the seconds of each pause instead of pausing. Every turn is over at once.

    Services of other tests pause in threads of their own.
    """
    noted: list[float] = []
    thread, sleep = threading.get_ident(), asyncio.sleep

    async def note(seconds: float) -> None:
        if threading.get_ident() != thread:
            await sleep(seconds)
        elif seconds:
            noted.append(seconds)

    monkeypatch.setattr(turns.asyncio, "sleep", note)  # type: ignore[attr-defined]
    monkeypatch.setattr(turns, "TURN", -1.0)
    monkeypatch.setattr(turns, "_used", defaultdict(float))
    monkeypatch.setattr(turns, "LONG_TURN", -1.0)
    return noted


def pass_on() -> None:
    asyncio.run(Turn().pass_on())


def test_a_transfer_rests_for_a_while_when_a_short_request_is_under_way(
    pauses: list[float],
) -> None:
    with serve_request("a", is_short=True), serve_request("a", is_short=False):
        pass_on()
    assert pauses == [turns.PAUSE] * turns.MOST_PAUSES


def test_a_transfer_goes_on_when_no_other_request_is_under_way(pauses: list[float]) -> None:
    with serve_request("a", is_short=False):
        with serve_request("a", is_short=True):
            pass
        pass_on()
    assert not pauses


def test_two_transfers_do_not_rest_for_each_other(pauses: list[float]) -> None:
    with serve_request("a", is_short=False), serve_request("a", is_short=False):
        pass_on()
    assert not pauses


def test_a_transfer_does_not_rest_for_a_request_that_waits_for_long(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SHORT", 0.0)
    with serve_request("a", is_short=True), serve_request("a", is_short=False):
        pass_on()
    assert not pauses


def test_a_short_request_rests_for_nobody(pauses: list[float]) -> None:
    with serve_request("a", is_short=True), serve_request("a", is_short=True):
        pass_on()
    assert not pauses


def test_the_encoder_rests_before_each_step_of_a_transfer(pauses: list[float]) -> None:
    texts = ["Tea."] * (STEP_TEXTS + 1)
    with closing(FairThreads(1)) as threads:
        embedder = LocalEmbedder(threads)
        with serve_request("a", is_short=True), serve_request("a", is_short=False):
            asyncio.run(embedder.encode(texts))
    assert pauses == [turns.PAUSE] * turns.MOST_PAUSES * 2


@pytest.mark.parametrize(("used", "rests"), [(10.0, turns.MOST_PAUSES), (0.0, 0)])
def test_long_work_rests_for_another_key_if_its_own_used_more_lately(
    pauses: list[float], used: float, rests: int
) -> None:
    turns._used |= {"short": 5.0, "long": used}
    with serve_request("short", is_short=True), serve_request("long", is_short=False):
        pass_on()
    assert pauses == [turns.PAUSE] * rests


def test_a_request_that_lasts_for_long_rests_too(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns._used["long"] = 10.0
    with serve_request("long", is_short=True):
        time.sleep(0.02)
        own = contextvars.copy_context()
        with serve_request("short", is_short=True):
            monkeypatch.setattr(turns, "SHORT", 0.01)
            own.run(pass_on)
    assert pauses == [turns.PAUSE] * turns.MOST_PAUSES
