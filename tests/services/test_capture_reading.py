"""Facts of turns are cut into batches, each of which one transaction stores."""

from datetime import UTC, datetime

import pytest
from uuid_utils.compat import uuid7

from app.domain.captures import ExtractBy
from app.domain.fact import Fact
from app.domain.talk import Role
from app.services.capture_reading import Batch, Draft, cut_batch
from app.services.classify import StoreCommand
from app.store.captures.captures import CapturedFact, StoredTurn

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def build_batch(*facts_of_turns: int) -> Batch:
    """Return a batch of turns with so many facts each, those of the last turn first."""
    turns: list[StoredTurn] = []
    drafts: list[Draft] = []
    for place, count in enumerate(facts_of_turns):
        turn = StoredTurn(
            id=uuid7(),
            capture_id=uuid7(),
            position=place,
            message_id=None,
            role=Role.USER,
            name=None,
            content="Words.",
            said_at=NOON,
            done=True,
        )
        turns.append(turn)
        drafts = [*(build_draft(turn, number) for number in range(count)), *drafts]
    return Batch(tuple(turns), tuple(turns), tuple(drafts), ExtractBy.NETWORK)


def build_draft(turn: StoredTurn, place: int) -> Draft:
    content = f"{turn.position}.{place}"
    fact = CapturedFact(id=uuid7(), turn_id=turn.id, place=place, content=content, quotes=())
    return Draft(fact, StoreCommand(Fact(content)))


@pytest.mark.parametrize(
    ("facts_of_turns", "stored", "done"),
    [
        ([], [[]], [[]]),
        ([0, 0], [[]], [[0, 1]]),
        ([1, 1], [["0.0", "1.0"]], [[0, 1]]),
        ([2, 1], [["0.0", "0.1"], ["1.0"]], [[0], [1]]),
        ([1, 2], [["0.0", "1.0"], ["1.1"]], [[0], [1]]),
        ([0, 5, 0], [["1.0", "1.1"], ["1.2", "1.3"], ["1.4"]], [[0], [], [1, 2]]),
        ([2, 0, 2], [["0.0", "0.1"], ["2.0", "2.1"]], [[0, 1], [2]]),
    ],
)
def test_a_batch_is_cut_into_transactions_and_a_turn_is_done_with_its_last_fact(
    facts_of_turns: list[int], stored: list[list[str]], done: list[list[int]]
) -> None:
    batches = list(cut_batch(build_batch(*facts_of_turns), most=2))
    assert [[d.fact.content for d in batch.drafts] for batch in batches] == stored
    assert [[turn.position for turn in batch.done_turns] for batch in batches] == done


def test_a_batch_names_the_turns_that_are_not_done_before_it() -> None:
    batches = cut_batch(build_batch(1, 3), most=2)
    assert [[turn.position for turn in batch.turns] for batch in batches] == [[0, 1], [1]]
