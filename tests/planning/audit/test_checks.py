"""Checks of reverts and of stored answers, as tables of cases; other checks have tests in the store."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from app.planning.audit.answer_checks import check_answer
from app.planning.audit.faults import Fault
from app.planning.audit.revert_checks import check_reverts

FIRST, SECOND, THIRD = (UUID(int=n) for n in range(1, 4))


def operation(log_id: UUID, **more: Any) -> dict[str, Any]:
    """A row of the log: an ADD that nothing undid."""
    return {"id": log_id, "operation": "ADD", "reverts": None, "reverted_by": None, **more}


def revert(log_id: UUID, undone: UUID, **more: Any) -> dict[str, Any]:
    return operation(log_id, operation="REVERT", reverts=undone, **more)


def find_faults(*operations: dict[str, Any]) -> list[Fault]:
    """The faults of these operations, which are in the order of the log."""
    return list(check_reverts(list(reversed(operations))))


def test_a_revert_that_stands_is_sound() -> None:
    assert find_faults(operation(FIRST, reverted_by=SECOND), revert(SECOND, FIRST)) == []


def test_a_revert_that_was_undone_lets_its_operation_stand() -> None:
    undone = revert(SECOND, FIRST, reverted_by=THIRD)
    assert find_faults(operation(FIRST), undone, revert(THIRD, SECOND)) == []


@pytest.mark.parametrize("stated", [None, THIRD])
def test_a_wrong_mark_is_put_right_by_the_log(stated: UUID | None) -> None:
    [fault] = find_faults(operation(FIRST, reverted_by=stated), revert(SECOND, FIRST))
    assert fault.remedy
    assert fault.remedy.values == {"reverted_by": str(SECOND)}


def test_a_mark_without_a_revert_is_removed() -> None:
    [fault] = find_faults(operation(FIRST, reverted_by=SECOND))
    assert fault.remedy
    assert fault.remedy.values == {"reverted_by": None}


def test_two_reverts_of_one_operation_are_a_fault() -> None:
    operations = (operation(FIRST), revert(SECOND, FIRST), revert(THIRD, FIRST))
    [fault] = find_faults(*operations)
    assert "more than once" in fault.sentence
    assert fault.remedy is None


@pytest.mark.parametrize(
    "wrong",
    [
        operation(SECOND, operation="REVERT"),
        operation(SECOND, reverts=FIRST),
        revert(SECOND, THIRD),
    ],
)
def test_unsound_reverts_are_faults_without_a_remedy(wrong: dict[str, Any]) -> None:
    faults = find_faults(operation(FIRST), wrong)
    assert str(SECOND) in faults[0].ids
    assert all(fault.remedy is None for fault in faults)


def answer(**more: Any) -> dict[str, Any]:
    """A row of an answer under an idempotency key."""
    row = {
        "key_hash": "5e",
        "fingerprint": bytes(32),
        "status": 201,
        "headers": {},
        "answer": b"{}",
        "mentioned_ids": [],
        "erased": [],
    }
    return row | more


def list_checks(row: dict[str, Any]) -> Sequence[str]:
    return [fault.check for fault in check_answer(row)]


@pytest.mark.parametrize(
    "damage", [{"status": 99}, {"headers": []}, {"fingerprint": b"short"}], ids=str
)
def test_an_answer_must_have_the_shape_of_an_answer(damage: dict[str, Any]) -> None:
    assert list_checks(answer()) == []
    assert list_checks(answer(**damage)) == ["idempotency"]


def test_an_answer_must_name_the_ids_that_it_mentions() -> None:
    text = f'{{"id": "{FIRST}"}}'.encode()
    assert list_checks(answer(answer=text)) == ["idempotency"]
    assert list_checks(answer(answer=text, mentioned_ids=[FIRST])) == []


def test_an_answer_must_not_quote_an_erased_memory() -> None:
    text = f'{{"items": [{{"id": "{FIRST}", "content": "Has a dog"}}]}}'.encode()
    row = answer(answer=text, mentioned_ids=[FIRST])
    assert list_checks(row) == []
    assert list_checks(row | {"erased": [str(FIRST)]}) == ["erased"]
