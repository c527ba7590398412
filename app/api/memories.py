"""Storing, reading, correcting, superseding and retracting memories."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Query
from pydantic import ValidationError
from starlette.responses import Response

from app.api import examples
from app.api.answers.erasures import ErasureAnswer
from app.api.answers.log import OperationOut
from app.api.answers.memories import HistoryAnswer, ListAnswer, MemoryOut, format_etag
from app.api.answers.problem import Problem
from app.api.answers.writes import BatchAnswer, WriteAnswer
from app.api.cursors import Cursor
from app.api.deps import AgentDep, ExpectedDep, MemoryPath, OriginDep, Parts, PartsDep
from app.api.erasures import render_erasure, render_erasure_retry
from app.api.idempotency import KeyedDep
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.problems import invalid_input, problem_of
from app.api.responses import respond_with_answer
from app.api.schemas.memories import (
    BatchRequest,
    DeleteQuery,
    PatchRequest,
    RetractRequest,
    StoreRequest,
    SupersedeRequest,
)
from app.api.schemas.reads import ListQuery, PointQuery
from app.domain.agent import AgentId
from app.domain.errors import InvalidFact, PalimpsestError, UnknownMemory
from app.domain.strength import HalfLives
from app.domain.version import Status
from app.services.agent_write import Call, Outcome
from app.services.classify import StoreCommand
from app.services.erasures import ErasureScope
from app.services.explicit import Target
from app.services.remember import BatchRefused, Outcomes
from app.store import memories
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.memories import After, Page, Point, Ranked

router = APIRouter(prefix="/v1/memories", tags=["memories"])


def render_outcome(outcome: Outcome, half_lives: HalfLives) -> Response:
    """201 when something was inserted, 202 when it was held back, else 200; the ETag is that of the memory answered with."""
    inserted = bool(outcome.plan.inserted) and outcome.written is not None
    status = 202 if outcome.waiting_review_id else 201 if inserted else 200
    headers = {"ETag": format_etag(outcome.memory.revision)} if outcome.memory else None
    return respond_with_answer(WriteAnswer.from_outcome(outcome, half_lives), status, headers)


def make_outcome_renderer(parts: Parts) -> Callable[[Outcome], Response]:
    """How outcomes are answered with the half-lives of the settings."""
    return partial(render_outcome, half_lives=parts.half_lives)


_LEADS_TO = document_links(
    "memory/id",
    "memory_id",
    "get_memory",
    "history",
    "relationships",
    "amend",
    "supersede",
    "retract",
    "delete",
) | document_links("log_id", "log_id", "get_log_entry", "revert")

WRITTEN: dict[int | str, dict[str, Any]] = {
    200: {"model": WriteAnswer, "description": "Nothing was inserted", "links": _LEADS_TO},
    201: {"model": WriteAnswer, "description": "Something was inserted", "links": _LEADS_TO},
}
STORED = WRITTEN | {
    202: {"model": WriteAnswer, "description": "The agent is frozen: the fact waits as a review"}
}


@router.post(
    "",
    responses=STORED | document_problems(*BODY, 404, *WRITE),
    status_code=201,
    response_model=None,
    openapi_extra={"x-order": 1},
    description=(
        "Store one fact. What it says already is a NOOP; another value of the same key supersedes "
        "the old one."
    ),
)
async def store(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[StoreRequest, Body(openapi_examples=examples.STORE)],
) -> Response:
    answer = make_outcome_renderer(parts)
    return answer(
        await parts.remember.store(
            Call(agent, origin, keyed.plan_replay(answer)),
            body.to_command(),
            dry_run=body.dry_run,
        )
    )


@router.post(
    "/batch",
    responses={200: {"model": BatchAnswer}, **document_problems(*BODY, *WRITE)},
    response_model=None,
    description=(
        "Store up to 1,000 facts in order, in one transaction. A bad item fails alone, or all do "
        "with `atomic`."
    ),
)
async def store_batch(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[BatchRequest, Body(openapi_examples=examples.BATCH)],
) -> Response:
    parsed = [_parse_item(item) for item in body.items]
    refused = {i: p for i, p in enumerate(parsed) if isinstance(p, _BadItem)}
    if refused and body.atomic:
        raise BatchRefused(refused)

    def render_answer(outcomes: Outcomes) -> Response:
        stored = iter(outcomes)
        results = [
            p.problem
            if isinstance(p, _BadItem)
            else _result_from_outcome(next(stored), parts.half_lives)
            for p in parsed
        ]
        return respond_with_answer(BatchAnswer.model_construct(results=results))

    commands = [p for p in parsed if isinstance(p, StoreCommand)]
    if not commands:
        return render_answer([])
    call = Call(agent, origin, keyed.plan_replay(render_answer))
    return render_answer(await parts.remember.store_all(call, commands, atomic=body.atomic))


@router.api_route("/batch", methods=["GET", "PATCH", "DELETE"], include_in_schema=False)
async def only_posted() -> None:
    """Else `batch` would be taken for the id of a memory."""
    raise HTTPException(405)


class _BadItem(InvalidFact):
    """An item of a batch that is not a valid store request."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def _parse_item(item: Any) -> StoreCommand | _BadItem:
    try:
        body = StoreRequest.model_validate(item)
    except ValidationError as error:
        return _BadItem(invalid_input(error.errors()))
    if body.dry_run:
        return _BadItem(
            invalid_input(
                [
                    {
                        "type": "value_error",
                        "loc": ("dry_run",),
                        "msg": "not in a batch; try the fact alone with POST /v1/memories",
                    }
                ]
            )
        )
    return body.to_command()


def _result_from_outcome(
    outcome: Outcome | PalimpsestError, half_lives: HalfLives
) -> WriteAnswer | Problem:
    return (
        problem_of(outcome)
        if isinstance(outcome, PalimpsestError)
        else WriteAnswer.from_outcome(outcome, half_lives)
    )


@router.get(
    "",
    responses={200: {"model": ListAnswer}},
    response_model=None,
    description=(
        "What holds, newest known or strongest first; by kind, slot, tags or session, at any point "
        "on both axes."
    ),
)
async def list_memories(
    parts: PartsDep, agent: AgentDep, query: Annotated[ListQuery, Query()]
) -> Response:
    point, after = _locate_page(query)
    page = await _read_page(parts, agent, query, point, after)
    half_lives, moment = parts.half_lives, page.moment
    items = [
        MemoryOut.from_memory(memory, moment.as_of, half_lives)
        for memory in page.memories[: query.limit]
    ]
    more = len(page.memories) > query.limit
    next_cursor = Cursor(_position_after(page, query.limit - 1), moment).encode() if more else None
    return respond_with_answer(
        ListAnswer.model_construct(
            items=items, next_cursor=next_cursor, as_of=moment.as_of, known_at=moment.known_at
        )
    )


def _locate_page(query: ListQuery) -> tuple[Point, After | None]:
    """Which picture to list from, and where to go on."""
    point = query.to_point()
    if not query.cursor:
        return point, None
    cursor = Cursor.decode(query.cursor)
    if (cursor.after.strength is None) != (query.sort == "created"):
        raise InvalidFact(
            "cursor: it is of a list in another order. Give the same `sort` on every page, or "
            "leave it out to start again."
        )
    if cursor.moment:
        point = Point(
            cursor.moment.as_of,
            cursor.moment.known_at,
            point.include_superseded,
            all_uses=point.known_at is None,
        )
    return point, cursor.after


async def _read_page(
    parts: Parts, agent: AgentId, query: ListQuery, point: Point, after: After | None
) -> Page:
    """A page and one memory more, which says that there is a next."""
    filters, limit = query.to_filters(), query.limit + 1
    async with memories.open_read_connection(parts.engine) as connection:
        if query.sort == "strength":
            return await memories.list_strongest(
                connection, agent, filters, point, parts.half_lives, limit=limit, after=after
            )
        return await memories.list_memories(
            connection, agent, filters, point, limit=limit, after=after
        )


def _position_after(page: Page, last: int) -> After:
    memory = page.memories[last]
    return After(
        memory.created_at, memory.id, page.strengths[last] if isinstance(page, Ranked) else None
    )


@router.get(
    "/{memory_id}",
    responses={200: {"model": MemoryOut}, **document_problems(404)},
    response_model=None,
)
async def get_memory(
    parts: PartsDep, agent: AgentDep, memory_id: MemoryPath, query: Annotated[PointQuery, Query()]
) -> Response:
    """One version with its status at that moment. 404 where it was not known yet."""
    moment, memory = await parts.search.get_memory(agent, memory_id, query.to_point())
    return respond_with_answer(
        MemoryOut.from_memory(memory, moment.as_of, parts.half_lives),
        headers={"ETag": format_etag(memory.revision)},
    )


@router.get(
    "/{memory_id}/history",
    responses={200: {"model": HistoryAnswer}, **document_problems(404)},
    response_model=None,
    description=(
        "The whole chain of a memory, from any of its versions: oldest first, which one is "
        "current, and the operations."
    ),
)
async def history(
    parts: PartsDep, agent: AgentDep, memory_id: MemoryPath, query: Annotated[PointQuery, Query()]
) -> Response:
    async with memories.open_read_connection(parts.engine) as connection:
        page = await memories.list_chain(connection, agent, memory_id, query.to_point())
        if not any(memory.id == memory_id for memory in page.memories):
            raise UnknownMemory(memory_id)
        done = await log_entries.list_operations_on(
            connection, agent, [memory.id for memory in page.memories], page.moment.known_at
        )
        since = min(memory.created_at for memory in page.memories)
        until = await archived_log.find_archived_until(
            connection, agent, since=since, known_at=page.moment.known_at
        )
    versions = [
        MemoryOut.from_memory(memory, page.moment.as_of, parts.half_lives)
        for memory in page.memories
    ]
    answer = HistoryAnswer.model_construct(
        chain_id=versions[0].chain_id,
        current=next(
            (version.id for version in versions if version.status is Status.CURRENT), None
        ),
        versions=versions,
        operations=[OperationOut.from_values(row) for row in done],
        log_archived_until=until,
        as_of=page.moment.as_of,
        known_at=page.moment.known_at,
    )
    return respond_with_answer(answer)


@router.patch(
    "/{memory_id}",
    responses={200: {"model": WriteAnswer}, **document_problems(*BODY, 404, *WRITE, 412)},
    response_model=None,
)
async def amend(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    expected: ExpectedDep,
    memory_id: MemoryPath,
    body: Annotated[PatchRequest, Body(openapi_examples=examples.PATCH)],
) -> Response:
    """Correct metadata, `valid_from` or the stated end; never content."""
    answer = make_outcome_renderer(parts)
    outcome = await parts.explicit.amend(
        Call(agent, origin, keyed.plan_replay(answer)),
        Target(memory_id, expected),
        belief_changes=body.to_corrections(),
        metadata=body.to_metadata(),
    )
    return answer(outcome)


@router.post(
    "/{memory_id}/supersede",
    responses=WRITTEN | document_problems(*BODY, 404, *WRITE, 412),
    status_code=201,
    response_model=None,
)
async def supersede(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    expected: ExpectedDep,
    memory_id: MemoryPath,
    body: Annotated[SupersedeRequest, Body(openapi_examples=examples.SUPERSEDE)],
) -> Response:
    """Put new content in a memory's place, or declare a stored memory its successor (`by`)."""
    answer = make_outcome_renderer(parts)
    call = Call(agent, origin, keyed.plan_replay(answer))
    target = Target(memory_id, expected)
    if body.by is not None:
        return answer(await parts.explicit.supersede_by_stored(call, target, body.by))
    return answer(await parts.explicit.supersede_by_content(call, target, body.to_fact()))


@router.post(
    "/{memory_id}/retract",
    responses={200: {"model": WriteAnswer}, **document_problems(*BODY, 404, *WRITE, 412)},
    response_model=None,
    description=(
        "End a memory without a successor: at a moment (default now), or as never true. Its "
        "history stays."
    ),
)
async def retract(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    expected: ExpectedDep,
    memory_id: MemoryPath,
    body: Annotated[RetractRequest | None, Body(openapi_examples=examples.RETRACT)] = None,
) -> Response:
    body, answer = body or RetractRequest(), make_outcome_renderer(parts)
    outcome = await parts.explicit.retract(
        Call(agent, origin, keyed.plan_replay(answer)),
        Target(memory_id, expected),
        at=body.at,
        never_true=body.never_true,
        reason=body.reason,
    )
    return answer(outcome)


@router.delete(
    "/{memory_id}",
    responses={200: {"model": WriteAnswer | ErasureAnswer}, **document_problems(404, *WRITE, 412)},
    response_model=None,
    description=(
        "The same as retract, as of now: history and as-of reads still show it. With `erase=true` "
        "its bytes go, and a receipt answers."
    ),
)
async def delete(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    expected: ExpectedDep,
    memory_id: MemoryPath,
    query: Annotated[DeleteQuery, Query()],
) -> Response:
    if query.erase:
        receipt = await parts.erase.erase_scope(
            Call(agent, origin, keyed.plan_replay(render_erasure_retry)),
            ErasureScope(memory_id=memory_id),
            cascade=query.cascade,
            expected=expected,
        )
        return render_erasure(receipt)
    answer = make_outcome_renderer(parts)
    outcome = await parts.explicit.retract(
        Call(agent, origin, keyed.plan_replay(answer)),
        Target(memory_id, expected),
        at=None,
        never_true=False,
        reason=None,
    )
    return answer(outcome)
