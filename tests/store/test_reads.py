"""The rules of reads from replicas that need no database."""

from dataclasses import replace

import pytest

from app.domain.position import Position
from app.store.reads import Identity, Marks, describe_difference

PRIMARY = Identity(system="1", timeline=2, revision="b", encoder="small")


@pytest.mark.parametrize(
    ("replica", "words"),
    [
        (replace(PRIMARY, system="2"), "no copy of the primary"),
        (replace(PRIMARY, timeline=1), "timeline is 1, that of the primary 2"),
        (replace(PRIMARY, revision="a"), "schema is a, that of the primary b"),
        (replace(PRIMARY, encoder="large"), "vectors are of large, those of the primary of small"),
    ],
)
def test_the_refusal_names_the_difference(replica: Identity, words: str) -> None:
    assert words in describe_difference(replica, PRIMARY)


@pytest.mark.parametrize(
    ("replayed", "current_at"), [(5, None), (10, 1.0), (15, 1.0), (20, 3.0), (99, 3.0)]
)
def test_a_replica_is_as_old_as_the_last_mark_that_it_has_reached(
    replayed: int, current_at: float | None
) -> None:
    marks = Marks()
    marks.add(1.0, Position(10))
    marks.add(2.0, Position(20))
    marks.add(3.0, Position(20))
    assert marks.find_time(Position(replayed)) == current_at
