"""How a thing is said does not decide whether it ends another: slots of a writer held out of training."""

import asyncio
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from app.classification.local.judge import Thresholds
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.networks import FairThreads

TRAINING = Path(__file__).parents[3] / "training"
# Tellings of one thing: with and without a "by the way", a "just", a capital, by "I" or "User".
TELLINGS = 6


@pytest.fixture(scope="module")
def ways() -> Iterator[Any]:
    sys.path.insert(0, str(TRAINING))
    try:
        yield import_module("ways")
    finally:
        sys.path.remove(str(TRAINING))
        for name in ("ways", "corpus", "encoder"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def network() -> Iterator[LocalNetwork]:
    with closing(FairThreads(2)) as threads:
        yield LocalNetwork(threads)


def read_all(network: LocalNetwork, pairs: list[Any]) -> list[Reading]:
    async def read() -> list[Reading]:
        return [(await network.read([pair.stored], pair.incoming))[0] for pair in pairs]

    return asyncio.run(read())


def read_kind(ways: Any, network: LocalNetwork, kind: str, count: int = 240) -> list[Reading]:
    slots, rng = ways.read_slots(ways.HELD_OUT_SLOTS), random.Random(7)
    draw: Callable[..., Any] = getattr(ways, kind)
    return read_all(network, [draw(rng.choice(slots), rng) for _ in range(count)])


def share(readings: list[Reading], least: float) -> float:
    return sum(reading.ends >= least for reading in readings) / len(readings)


@pytest.mark.parametrize("kind", ["pair_change", "pair_ending"])
def test_what_changed_is_read_as_ended(ways: Any, network: LocalNetwork, kind: str) -> None:
    readings = read_kind(ways, network, kind)
    assert share(readings, Thresholds().ask) >= 0.95
    assert share(readings, Thresholds().act) >= 0.75


@pytest.mark.parametrize("kind", ["pair_look_alike", "pair_of_others", "pair_ending_of_another"])
def test_what_only_sounds_like_it_is_not(ways: Any, network: LocalNetwork, kind: str) -> None:
    assert share(read_kind(ways, network, kind), Thresholds().act) <= 0.05


def test_changes_of_two_things_do_not_end_each_other(ways: Any, network: LocalNetwork) -> None:
    slots, rng = ways.read_slots(ways.HELD_OUT_SLOTS), random.Random(7)
    pairs = [ways.pair_changes_of_two_slots(slots, rng) for _ in range(240)]
    assert share(read_all(network, pairs), Thresholds().act) <= 0.03


# Each is about another thing, and told as a change.
CHANGES = (
    "I moved to Lisbon last month",
    "I just started at Globex",
    "My rent is 950 now",
    "We adopted a cat",
    "I went vegetarian",
    "I got a new phone, a Pixel 9",
    "I gave up coffee",
    "I joined the chess club",
    "I upgraded to Fedora 42",
    "I switched to Helix",
)


def test_a_life_of_changes_ends_nothing(network: LocalNetwork) -> None:
    for place, incoming in enumerate(CHANGES):
        readings = asyncio.run(network.read(CHANGES[:place], incoming))
        assert [one.ends for one in readings if one.ends >= Thresholds().act] == []


def test_how_a_change_is_told_is_of_no_matter(ways: Any, network: LocalNetwork) -> None:
    """Each form of a change is told in several ways, of the same values, by the same person."""
    rng, agree, told = random.Random(7), 0, 0
    for slot in ways.read_slots(ways.HELD_OUT_SLOTS):
        for form in slot.changes:
            narrow = replace(slot, states=slot.states[:1], changes=(form,), perfects=(form,))
            pairs = [ways.pair_change(narrow, rng) for _ in range(TELLINGS)]
            ended = share(read_all(network, pairs), 0.5)
            agree += ended in (0, 1)
            told += 1
    assert agree / told >= 0.8


def test_the_opposite_is_no_repetition(ways: Any, network: LocalNetwork) -> None:
    """Liking and loathing are near in the space of words, and exclude each other."""
    opposites, rng = ways.read_opposites(ways.HELD_OUT_OPPOSITES), random.Random(7)
    readings = read_all(
        network, [ways.pair_opposites(rng.choice(opposites), rng) for _ in range(200)]
    )
    assert share(readings, Thresholds().ask) >= 0.9
    swallowed = [reading for reading in readings if reading.duplicate >= Thresholds().repeats]
    assert len(swallowed) <= 0.05 * len(readings)
