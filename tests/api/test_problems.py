"""The text of problems: each error's fact, with advice in the words of HTTP."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.api.problems import problem_of
from app.domain import errors
from app.domain.errors import PalimpsestError
from app.services.remember import BatchRefused

ONE = UUID(int=1)
TWO = UUID(int=2)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (
            errors.UnknownMemory(ONE),
            404,
            f"There is no memory {ONE} here. Look its id up with GET /v1/memories or POST /v1/search.",
        ),
        (
            errors.SelectionArchived(NOON, 3),
            410,
            "3 operations that this selection may mean were archived, the last of 2026-03-01T12:00:00Z, and "
            "cannot be undone any more. Nothing was undone. To undo what came later, send `since` after that time.",
        ),
        (
            errors.BuiltOn(ONE, [TWO]),
            409,
            f"Later operations built on {ONE}: {TWO}. Undo those first, or send cascade=true to undo them with it.",
        ),
        (
            errors.AgentFrozen(),
            503,
            "This agent is frozen: stores become reviews, and nothing else is written. "
            'PATCH /v1/agents/ID {"mode": "live"} ends it.',
        ),
        (
            errors.StaleVersion(ONE),
            412,
            f"Memory {ONE} has changed since that ETag was read. GET it again and decide anew.",
        ),
        (
            errors.KeyReused("it's {key}"),
            422,
            'Idempotency-Key "it\'s {key}" was used for another call. Repeat that one exactly, or send this one '
            "under a key of its own.",
        ),
        (
            errors.AnswerNotKept(since=NOON),
            410,
            "The whole import under this Idempotency-Key was executed, and is not repeated. Its answer is too "
            "large to be kept: GET /v1/log?since=2026-03-01T12:00:00Z shows what it stored.",
        ),
        (
            errors.WrongVectorSize(2, 3),
            503,
            "The embedding server answered with 2 dimensions where PALIMPSEST_EMBEDDING_DIMENSIONS says 3; set it "
            "to what the model gives. Nothing was written. Try again later; searches in mode `text` need no "
            "embeddings.",
        ),
        (
            BatchRefused({4: errors.Erased(ONE)}),
            422,
            f"Item 4: Memory {ONE} was erased; only its place in time is left. Store a new fact instead. "
            "The batch is atomic, so nothing was stored.",
        ),
        (errors.InvalidFact("{x} contradicts itself."), 422, "{x} contradicts itself."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_problem_says_what_is_the_case_and_what_a_caller_can_do(
    error: PalimpsestError, status: int, detail: str
) -> None:
    problem = problem_of(error)
    assert (problem.status, problem.detail) == (status, detail)
