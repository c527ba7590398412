"""Which nodes of a cluster are held to be lost, and for how long. No cluster is needed."""

from dataclasses import dataclass

import pytest

from app.store.lost_nodes import FORGET, RETRY, LostNodes

LOST, OTHER = 2, 3


@dataclass
class Clock:
    now: float = 100.0

    def read(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lost(clock: Clock) -> LostNodes:
    nodes = LostNodes(clock.read)
    nodes.note_loss(LOST)
    return nodes


def test_nothing_is_lost_at_first() -> None:
    nodes = LostNodes()
    assert not nodes.has_any()
    assert nodes.may_try(LOST)


def test_a_lost_node_is_not_tried_and_others_are(lost: LostNodes) -> None:
    assert lost.has_any()
    assert not lost.may_try(LOST)
    assert lost.may_try(OTHER)


def test_one_caller_tries_a_lost_node_after_a_while(lost: LostNodes, clock: Clock) -> None:
    clock.now += RETRY
    assert lost.may_try(LOST)
    assert not lost.may_try(LOST)
    clock.now += RETRY
    assert lost.may_try(LOST)


def test_a_node_that_answers_is_not_lost(lost: LostNodes) -> None:
    lost.note_answer(LOST)
    assert not lost.has_any()
    assert lost.may_try(LOST)


def test_a_node_that_nobody_asks_for_is_forgotten(lost: LostNodes, clock: Clock) -> None:
    lost.note_loss(OTHER)
    clock.now += FORGET - 1
    assert lost.may_try(LOST)
    clock.now += 1
    assert lost.has_any()
    assert lost.may_try(OTHER)
    assert not lost.may_try(LOST)
