"""What must be undone first, told from what was done and undone since."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.relation import Operation, Relation
from app.planning.reverts import LaterOperation, LoggedOperation, find_uncancelled


def id_of(letter: str) -> UUID:
    return UUID(int=ord(letter))


@pytest.mark.parametrize(
    ("later", "undone", "left"),
    [
        ("", "", ""),
        ("aa bb", "", "ba"),  # the newest comes first
        ("aa ba", "", ""),
        ("aa bb ca", "", "b"),
        ("aa ba ca", "", "c"),  # a stands again by c
        ("aa ba ca da", "", ""),  # a was undone either by undoing c or by undoing a
        ("bx cx dx ey fx gx", "", "ge"),
        ("aa bb", "b", "a"),
        ("aa ba", "b", "b"),  # a would stand again in the present call
        ("aa ba ca", "a", ""),
    ],
)
def test_what_was_undone_as_often_as_done_again_need_not_be_undone(
    later: str,
    undone: str,
    left: str,
) -> None:
    """Of two letters one is an operation and the other what it did or undid in the end."""
    done = LoggedOperation(
        id_of("z"), Operation.ADD, Relation.NONE, MIDNIGHT, line={id_of("z"): False}
    )
    steps = [LaterOperation(id_of(step[0]), base=id_of(step[1])) for step in later.split()]
    uncancelled = find_uncancelled(done, steps, {id_of(letter) for letter in undone})
    assert uncancelled == [id_of(letter) for letter in left]


@pytest.mark.parametrize(
    ("later", "undone", "left"),
    [
        ("ay", "", "a"),
        ("ay ba", "", ""),
        ("ax by", "", "ba"),  # these undid different reverts: both must go
        ("az ba cb", "", "c"),
        ("az ba cb da", "", "dc"),
        ("ay bz", "b", "a"),
    ],
)
def test_of_the_line_itself_only_an_operation_and_the_first_that_undid_it_cancel(
    later: str,
    undone: str,
    left: str,
) -> None:
    """The line is z, y, x. Of two letters one is an operation and the other what it undid."""
    line = {id_of("z"): False, id_of("y"): True, id_of("x"): False}
    done = LoggedOperation(id_of("z"), Operation.REVERT, Relation.NONE, MIDNIGHT, line=line)
    steps = [
        LaterOperation(id_of(step[0]), id_of("x"), undid=id_of(step[1])) for step in later.split()
    ]
    uncancelled = find_uncancelled(done, steps, {id_of(letter) for letter in undone})
    assert uncancelled == [id_of(letter) for letter in left]


MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
