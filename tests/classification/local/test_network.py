"""The shipped network reads pairs of texts."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.networks import FairThreads


@pytest.fixture(scope="module")
def network() -> Iterator[LocalNetwork]:
    with closing(FairThreads(2)) as threads:
        yield LocalNetwork(threads)


def read(network: LocalNetwork, stored: str, incoming: str) -> Reading:
    [reading] = asyncio.run(network.read([stored], incoming))
    return reading


def total(reading: Reading) -> float:
    return sum(getattr(reading, name) for name in reading.__slots__)


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("I live in Leeds.", "I've moved to York."),
        ("I drive an old blue Fiesta.", "I traded the Fiesta in for a Yaris."),
        ("The gym membership costs 30 a month.", "They bumped the gym fee to 35."),
        ("The standup is at 9:30.", "Standup has been pushed to 10."),
        ("I take aspirin every morning.", "I no longer take aspirin."),
    ],
)
def test_a_plain_change_ends_what_is_stored(
    network: LocalNetwork, stored: str, incoming: str
) -> None:
    assert read(network, stored, incoming).ends > 0.5


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("I live in Leeds.", "My sister moved to York."),
        ("I live in Leeds.", "In 2015 I lived in York for a year."),
        ("I like tea.", "I like coffee."),
        ("My manager is Bev.", "Bev sits in the London office."),
    ],
)
def test_what_only_looks_like_a_change_ends_nothing(
    network: LocalNetwork, stored: str, incoming: str
) -> None:
    assert read(network, stored, incoming).ends < 0.5


def test_the_same_in_other_words_is_a_duplicate(network: LocalNetwork) -> None:
    reading = read(network, "I am allergic to nuts.", "I have a nut allergy.")
    assert reading.duplicate > 0.5


@pytest.mark.parametrize("text", ["", "word " * 5_000, "\ud800", "🦊", "我住在里斯本"])
def test_any_text_can_be_read(network: LocalNetwork, text: str) -> None:
    assert total(read(network, text, text)) == pytest.approx(1)


def test_a_pair_reads_the_same_alone_and_among_others(network: LocalNetwork) -> None:
    texts = ["I live in Leeds.", "I drive an old blue Fiesta.", "word " * 50]
    together = asyncio.run(network.read(texts, "I've moved to York."))
    assert together == [read(network, text, "I've moved to York.") for text in texts]
