"""Storing, reading, correcting, superseding and retracting memories."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Query
from pydantic import ValidationError
from starlette.responses import Response

from app.api import examples
from app.api.answers.brief import (
    BriefBatchAnswer,
    BriefHistoryAnswer,
    BriefListAnswer,
    BriefMemory,
    BriefStoreAnswer,
    BriefWriteAnswer,
)
from app.api.answers.erasures import ErasureAnswer
from app.api.answers.memories import HistoryAnswer, ListAnswer, MemoryOut, format_etag
from app.api.answers.problem import Problem
from app.api.answers.writes import BatchAnswer, StoreAnswer, WriteAnswer, count_waiting
from app.api.cursors import Cursor, HistoryCursor
from app.api.deps import AgentDep, MemoryPath, ServicesDep, TargetDep
from app.api.erasures import render_erasure, render_erasure_retry
from app.api.idempotency import Caller, CallerDep
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.position import PURE_READ
from app.api.problems import invalid_input, problem_of
from app.api.responses import (
    respond_with_answer,
    respond_with_long_answer,
    respond_with_memory,
)
from app.api.schemas.memories import (
    BatchRequest,
    DeleteQuery,
    PatchRequest,
    RetractRequest,
    StoreRequest,
    SupersedeRequest,
)
from app.api.schemas.reads import HistoryQuery, ListQuery, MemoryQuery
from app.api.secrets import RedactedDep, SecretFreeRoute, SecretRemover, SecretRemoverDep
from app.api.views import View, ViewDep
from app.domain.errors import InvalidFact, PalimpsestError, SecretsRefused, TrustTooHigh
from app.domain.keys import Rights, Scope
from app.domain.strength import HalfLives
from app.services.agent_write import Outcome
from app.services.classify import StoreCommand
from app.services.erasures import ErasureScope
from app.services.explicit import Target
from app.services.history import read_history
from app.services.parts import TextOutcome, TextOutcomes
from app.services.remember import BatchRefused
from app.turns import iterate_in_turns
from app.wiring import Services

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=SecretFreeRoute)


def render_outcome(
    outcome: Outcome, half_lives: HalfLives, view: View, redacted: int = 0
) -> Response:
    """Return what a write answers, with the ETag of the memory in the answer.

    The status is 201 if the write inserted something, 202 if it waits as a review, otherwise 200.
    """
    answer = WriteAnswer.from_outcome(outcome, half_lives, redacted=redacted)
    return respond_with_answer(answer, _get_status(outcome), _build_headers(outcome), view)


def _build_headers(outcome: Outcome) -> dict[str, str] | None:
    return {"ETag": format_etag(outcome.memory.revision)} if outcome.memory else None


def _get_status(outcome: Outcome) -> int:
    if outcome.waiting_review_id:
        return 202
    return 201 if outcome.plan.inserted and outcome.written else 200


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
    201: {
        "model": WriteAnswer | BriefWriteAnswer,
        "description": "New: something was inserted",
        "links": _LEADS_TO,
    },
    200: {
        "model": WriteAnswer | BriefWriteAnswer,
        "description": "Nothing new was inserted. What is new is answered with 201",
    },
}
STORED: dict[int | str, dict[str, Any]] = {
    201: {
        "model": StoreAnswer | BriefStoreAnswer,
        "description": "New: something was inserted",
        "links": _LEADS_TO,
    },
    200: {
        "model": StoreAnswer | BriefStoreAnswer,
        "description": (
            "Nothing new was inserted: it is known already, or it ended something. What is new "
            "is answered with 201"
        ),
    },
    202: {
        "model": StoreAnswer | BriefStoreAnswer,
        "description": "The agent is frozen: the fact waits as a review",
    },
}


@router.post(
    "",
    responses=STORED | document_problems(*BODY, 404, *WRITE),
    status_code=201,
    response_model=None,
    description=(
        "Store one fact in plain words. It is compared with what is known: what is known already "
        "is a NOOP, a change ends what it replaces, and what is not sure waits as a review. "
        "Another value of the same `key` supersedes the old one.\n"
        "With `split: auto`, a text that plainly states several facts is stored as its `parts`, "
        "all of them or none."
    ),
)
async def store(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[StoreRequest, Body(openapi_examples=examples.STORE)],
    redacted: RedactedDep,
    view: ViewDep = View.FULL,
) -> Response:

    def render(outcome: TextOutcome) -> Response:
        answer = StoreAnswer.from_text_outcome(outcome, services.half_lives, redacted)
        # 201 if a part of the text was inserted.
        status = max(map(_get_status, outcome.outcomes))
        return respond_with_answer(answer, status, _build_headers(outcome.first), view)

    outcome = await services.remember.store_text(
        caller.build_call(render), _build_command(body, caller.rights), dry_run=body.dry_run
    )
    return render(outcome)


def _build_command(body: StoreRequest, rights: Rights) -> StoreCommand:
    """Return the store with the trust that the key gives. Raises TrustTooHigh."""
    command = body.to_command()
    return replace(command, fact=rights.limit_fact(command.fact))


@router.post(
    "/batch",
    responses={200: {"model": BatchAnswer | BriefBatchAnswer}, **document_problems(*BODY, *WRITE)},
    response_model=None,
    description=(
        "Store up to 1,000 facts in order, in one transaction. A bad item fails alone, or all do "
        "with `atomic`. `waiting` says at the top of the answer how many changes were not made "
        "and wait for a decision, and why."
    ),
)
async def store_batch(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[BatchRequest, Body(openapi_examples=examples.BATCH)],
    secrets: SecretRemoverDep,
    view: ViewDep = View.FULL,
) -> Response:
    if body.history:
        caller.rights.require_full_trust()
    items = [
        await _parse_item(item, caller.rights, secrets)
        async for item in iterate_in_turns(body.items)
    ]
    bad_items = {i: item for i, item in enumerate(items) if isinstance(item, _BadItem)}
    if body.atomic and bad_items:
        raise BatchRefused(bad_items)
    render = partial(_render_batch, items=items, half_lives=services.half_lives, view=view)
    commands = [item.command for item in items if isinstance(item, _Item)]
    if not commands:
        return render([])
    outcomes = await services.remember.store_texts(
        caller.build_call(render), commands, atomic=body.atomic, is_history=body.history
    )
    # In a thread: a thousand answers of megabytes take 0.2 s.
    return await asyncio.to_thread(render, outcomes)


@router.api_route("/batch", methods=["GET", "PATCH", "DELETE"], include_in_schema=False)
async def not_a_memory() -> None:
    """Answer 405. Without this route, `batch` would be read as the id of a memory."""
    raise HTTPException(405)


class _BadItem(InvalidFact):
    """An item of a batch that is not a valid store request."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


_NO_DRY_RUN = {
    "type": "value_error",
    "loc": ("dry_run",),
    "msg": "not in a batch; try the fact alone with POST /v1/memories",
}


@dataclass(frozen=True, slots=True)
class _Item:
    """A valid item of a batch, and how many secrets were taken out of it."""

    command: StoreCommand
    redacted: int


async def _parse_item(item: Any, rights: Rights, secrets: SecretRemover) -> _Item | _BadItem:
    try:
        redacted = await secrets.remove(item)
        body = StoreRequest.model_validate(item)
        if body.dry_run:
            return _BadItem(invalid_input([_NO_DRY_RUN]))
        return _Item(_build_command(body, rights), redacted)
    except ValidationError as error:
        return _BadItem(invalid_input(error.errors(), StoreRequest))
    except (InvalidFact, SecretsRefused, TrustTooHigh) as error:
        return _BadItem(problem_of(error))


def _render_batch(
    outcomes: TextOutcomes,
    items: Sequence[_Item | _BadItem],
    half_lives: HalfLives,
    view: View,
) -> Response:
    """Return one result per item; `outcomes` are those of the good items, in their order."""
    stored = iter(outcomes)
    results: list[StoreAnswer | Problem] = []
    for item in items:
        if isinstance(item, _BadItem):
            results.append(item.problem)
            continue
        outcome = next(stored)
        if isinstance(outcome, PalimpsestError):
            results.append(problem_of(outcome))
        else:
            results.append(StoreAnswer.from_text_outcome(outcome, half_lives, item.redacted))
    answer = BatchAnswer.model_construct(waiting=count_waiting(outcomes), results=results)
    return respond_with_answer(answer, view=view)


@router.get(
    "",
    dependencies=PURE_READ,
    responses={200: {"model": ListAnswer | BriefListAnswer}},
    response_model=None,
    description=(
        "List what holds, newest known or strongest first. By kind, slot, tags or session, at any "
        "point on both axes.\n"
        "Only a null `next_cursor` says that a list ends. A page of a large agent, which has an "
        "index, looks at no more than 10,000 memories. If few of them pass the filters, it has "
        "fewer than `limit`, maybe none, and the next page goes on behind those."
    ),
)
async def list_memories(
    services: ServicesDep, agent: AgentDep, query: Annotated[ListQuery, Query()]
) -> Response:
    page = await services.lists.list_page(agent, query.to_question())
    as_of, known_at = page.moment.as_of, page.moment.known_at
    next_cursor = Cursor(page.next, page.moment).encode() if page.next else None

    def build_answer() -> ListAnswer:
        half_lives = services.half_lives
        items = [MemoryOut.from_memory(one, as_of, half_lives) for one in page.memories]
        return ListAnswer.model_construct(
            items=items,
            next_cursor=next_cursor,
            as_of=as_of,
            known_at=known_at,
            strength_as_of=page.strength_as_of,
        )

    return await respond_with_long_answer(build_answer, query.view)


@router.get(
    "/{memory_id}",
    dependencies=PURE_READ,
    responses={200: {"model": MemoryOut | BriefMemory}, **document_problems(404)},
    response_model=None,
)
async def get_memory(
    services: ServicesDep,
    agent: AgentDep,
    memory_id: MemoryPath,
    query: Annotated[MemoryQuery, Query()],
) -> Response:
    """Read one version with its status at that moment. 404 where it was not known yet."""
    moment, memory = await services.search.get_memory(agent, memory_id, query.to_point())
    return respond_with_memory(memory, moment.as_of, services.half_lives, query.view)


@router.get(
    "/{memory_id}/history",
    dependencies=PURE_READ,
    responses={200: {"model": HistoryAnswer | BriefHistoryAnswer}, **document_problems(404)},
    response_model=None,
    description=(
        "Read all versions of a fact, from any of them. Oldest first, which one is current, and "
        "the operations. It follows supersessions into other chains, backwards and forwards, and "
        "`joints` says where.\n"
        "A history of more than 1,000 versions or operations, or of too many bytes, goes on behind "
        "`next_cursor`. It reaches at most 10,000 other chains in each direction."
    ),
)
async def history(
    services: ServicesDep,
    agent: AgentDep,
    memory_id: MemoryPath,
    query: Annotated[HistoryQuery, Query()],
) -> Response:
    point, after = query.locate_page()
    page = await read_history(
        services.reads,
        agent,
        memory_id,
        point,
        after=after,
        max_bytes=services.settings.max_answer_bytes,
    )
    next_cursor = HistoryCursor(page.next, page.moment).encode() if page.next else None
    return await respond_with_long_answer(
        lambda: HistoryAnswer.from_history(page, next_cursor, services.half_lives), query.view
    )


@router.patch(
    "/{memory_id}",
    responses={
        200: {"model": WriteAnswer | BriefWriteAnswer},
        **document_problems(*BODY, 404, *WRITE, 412),
    },
    response_model=None,
)
async def amend(
    services: ServicesDep,
    caller: CallerDep,
    target: TargetDep,
    body: Annotated[PatchRequest, Body(openapi_examples=examples.PATCH)],
    redacted: RedactedDep,
    view: ViewDep = View.FULL,
) -> Response:
    """Correct metadata, `valid_from` or the stated end, never content."""
    caller.rights.limit_trust(body.trust)
    render = partial(render_outcome, half_lives=services.half_lives, view=view, redacted=redacted)
    outcome = await services.explicit.amend(
        caller.build_call(render),
        target,
        belief_changes=body.to_corrections(),
        metadata=body.to_metadata(),
    )
    return render(outcome)


@router.post(
    "/{memory_id}/supersede",
    responses=WRITTEN | document_problems(*BODY, 404, *WRITE, 412),
    status_code=201,
    response_model=None,
)
async def supersede(
    services: ServicesDep,
    caller: CallerDep,
    target: TargetDep,
    body: Annotated[SupersedeRequest, Body(openapi_examples=examples.SUPERSEDE)],
    redacted: RedactedDep,
    view: ViewDep = View.FULL,
) -> Response:
    """Replace a memory by new content, or by a stored memory (`by`)."""
    render = partial(render_outcome, half_lives=services.half_lives, view=view, redacted=redacted)
    call = caller.build_call(render)
    if body.by is not None:
        return render(await services.explicit.supersede_by_stored(call, target, body.by))
    fact = caller.rights.limit_fact(body.to_fact())
    return render(
        await services.explicit.supersede_by_content(
            call, target, fact, reads_dates=body.read_dates, zone=body.zone
        )
    )


@router.post(
    "/{memory_id}/retract",
    responses={
        200: {"model": WriteAnswer | BriefWriteAnswer},
        **document_problems(*BODY, 404, *WRITE, 412),
    },
    response_model=None,
    description=(
        "End a memory without a successor. It ends at a moment (default now), or was never true. "
        "Its history stays."
    ),
)
async def retract(
    services: ServicesDep,
    caller: CallerDep,
    target: TargetDep,
    body: Annotated[RetractRequest | None, Body(openapi_examples=examples.RETRACT)] = None,
    view: ViewDep = View.FULL,
) -> Response:
    return await _retract_memory(services, caller, target, body or RetractRequest(), view)


async def _retract_memory(
    services: Services, caller: Caller, target: Target, body: RetractRequest, view: View
) -> Response:
    render = partial(render_outcome, half_lives=services.half_lives, view=view)
    outcome = await services.explicit.retract(
        caller.build_call(render),
        target,
        at=body.at,
        never_true=body.never_true,
        reason=body.reason,
    )
    return render(outcome)


@router.delete(
    "/{memory_id}",
    responses={
        200: {"model": WriteAnswer | BriefWriteAnswer | ErasureAnswer},
        **document_problems(404, *WRITE, 412),
    },
    response_model=None,
    description=(
        "Retract a memory as of now, or erase it. History and as-of reads still show what was "
        "retracted. With `erase=true` its bytes go, and a receipt answers; the key then needs "
        "`erase` too."
    ),
)
async def delete(
    services: ServicesDep,
    caller: CallerDep,
    target: TargetDep,
    query: Annotated[DeleteQuery, Query()],
) -> Response:
    if not query.erase:
        return await _retract_memory(services, caller, target, RetractRequest(), query.view)
    caller.rights.require_scope(Scope.ERASE)
    receipt = await services.erasures.erase_scope(
        caller.build_call(render_erasure_retry),
        ErasureScope(memory_id=target.memory_id),
        cascade=query.cascade,
        expected=target.revision,
    )
    return render_erasure(receipt)
