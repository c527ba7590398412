"""A transfer rests while short requests are under way, and only then."""

import asyncio
import threading
from contextlib import closing

import pytest

from app import turns
from app.embedding.local import STEP_TEXTS, LocalEmbedder
from app.networks import FairThreads
from app.turns import Turn, serve_short_request, serve_transfer


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
    monkeypatch.setattr(turns, "TURN_OF_TRANSFER", -1.0)
    return noted


def pass_on() -> None:
    asyncio.run(Turn().pass_on())


def test_a_transfer_rests_for_a_while_when_a_short_request_is_under_way(
    pauses: list[float],
) -> None:
    with serve_short_request(), serve_transfer():
        pass_on()
    assert pauses == [turns.PAUSE] * turns.MOST_PAUSES


def test_a_transfer_goes_on_when_no_other_request_is_under_way(pauses: list[float]) -> None:
    with serve_transfer():
        with serve_short_request():
            pass
        pass_on()
    assert not pauses


def test_two_transfers_do_not_rest_for_each_other(pauses: list[float]) -> None:
    with serve_transfer(), serve_transfer():
        pass_on()
    assert not pauses


def test_a_transfer_does_not_rest_for_a_request_that_waits_for_long(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SHORT", 0.0)
    with serve_short_request(), serve_transfer():
        pass_on()
    assert not pauses


def test_a_short_request_rests_for_nobody(pauses: list[float]) -> None:
    with serve_short_request(), serve_short_request():
        pass_on()
    assert not pauses


def test_the_encoder_rests_before_each_step_of_a_transfer(pauses: list[float]) -> None:
    texts = ["Tea."] * (STEP_TEXTS + 1)
    with closing(FairThreads(1)) as threads:
        embedder = LocalEmbedder(threads)
        with serve_short_request(), serve_transfer():
            asyncio.run(embedder.encode(texts))
    assert pauses == [turns.PAUSE] * turns.MOST_PAUSES * 2
