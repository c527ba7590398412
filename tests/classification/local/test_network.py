"""The shipped network reads crowds of texts."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from app.classification.local.network import LocalNetwork, build_inputs, split_crowd
from app.classification.local.reading import Reading
from app.networks import ENGLISH, FairThreads


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


def test_the_order_of_stored_texts_does_not_matter(network: LocalNetwork) -> None:
    texts = ["I live in Leeds.", "I drive an old blue Fiesta.", "My sister lives in Leeds."]
    forth = asyncio.run(network.read(texts, "I've moved to York."))
    back = asyncio.run(network.read(texts[::-1], "I've moved to York."))
    for one, other in zip(forth, back[::-1], strict=True):
        assert one.ends == pytest.approx(other.ends, abs=0.02)


def test_more_text_than_one_pass_takes_is_read_in_several(network: LocalNetwork) -> None:
    texts = [f"{word} " * 200 for word in ("one", "two", "three", "four", "five", "six")]
    together = asyncio.run(network.read(texts, "I've moved to York."))
    assert [total(reading) for reading in together] == pytest.approx([1] * 6)
    assert asyncio.run(network.read([], "I've moved to York.")) == []


@pytest.mark.parametrize(
    ("lengths", "passes"),
    [([], []), ([96], [1]), ([96] * 4, [4]), ([96] * 5, [4, 1]), ([200, 200, 1], [2, 1])],
)
def test_a_pass_takes_as_many_texts_as_there_is_room_for(
    lengths: list[int], passes: list[int]
) -> None:
    stored = [[7] * length for length in lengths]
    assert [len(crowd) for crowd in split_crowd(stored)] == passes


def test_a_stored_text_sees_itself_and_the_incoming_one_which_sees_all() -> None:
    inputs = build_inputs(ENGLISH, [[7, 8], [9]], [4, 5])
    assert inputs["ids"].tolist() == [[101, 7, 8, 102, 101, 9, 102, 4, 5, 102]]
    assert inputs["types"].tolist() == [[0] * 7 + [1] * 3]
    assert inputs["places"].tolist() == [[0, 1, 2, 3, 0, 1, 2, 4, 5, 6]]
    is_seen = inputs["mask"][0, 0] == 0
    assert is_seen[1].tolist() == [True] * 4 + [False] * 3 + [True] * 3
    assert is_seen[7].all()
    assert inputs["pool"].sum(axis=1) == pytest.approx(1)
