"""The audit log, and undoing what it tells."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import examples
from app.api.answers import LogAnswer, LogEntryOut, RevertAnswer, RevertsAnswer
from app.api.deps import AgentDep, Cursor, OriginDep, PartsDep
from app.api.documented import BODY, WRITE, document_problems
from app.api.idempotency import KeyedDep
from app.api.reply import respond_with_answer
from app.api.schemas import MAX_LIMIT, RevertRequest, RevertsRequest, Word
from app.api.times import Time
from app.domain.errors import UnknownLogEntry
from app.domain.relation import Judge, Operation
from app.services.reverts import RevertedOperation
from app.store import memories
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.log.entries import LogFilters
from app.store.memories import After

LogPath = Annotated[
    UUID,
    Path(
        description="`id` of an operation: paste `log_id` from the answer to a write, or an `id` from the list."
    ),
]

router = APIRouter(prefix="/v1/log", tags=["log"])


class LogQuery(BaseModel):
    """What the log is narrowed to."""

    model_config = ConfigDict(extra="forbid")

    operation: Operation | None = None
    memory_id: UUID | None = Field(
        None, description="Operations that wrote or changed this memory."
    )
    decided_by: Judge | None = None
    session_id: Word | None = None
    since: Time | None = None
    until: Time | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = None

    def to_log_filters(self) -> LogFilters:
        return LogFilters(
            self.operation, self.memory_id, self.decided_by, self.session_id, self.since, self.until
        )


@router.get("", responses={200: {"model": LogAnswer}}, response_model=None)
async def list_log(
    parts: PartsDep, agent: AgentDep, query: Annotated[LogQuery, Query()]
) -> Response:
    """Every operation with what it read and wrote, newest first."""
    after = Cursor.decode(query.cursor).after if query.cursor else None
    async with memories.open_read_connection(parts.engine) as connection:
        rows = await log_entries.list_log(
            connection, agent, query.to_log_filters(), limit=query.limit + 1, after=after
        )
    shown = rows[: query.limit]
    next_cursor = (
        Cursor(After(shown[-1]["created_at"], shown[-1]["id"]), None).encode()
        if len(rows) > query.limit
        else None
    )
    return respond_with_answer(
        LogAnswer.model_construct(
            items=[LogEntryOut.from_row(row) for row in shown], next_cursor=next_cursor
        )
    )


@router.get(
    "/{log_id}",
    responses={200: {"model": LogEntryOut}, **document_problems(404, 410)},
    response_model=None,
)
async def get_log_entry(parts: PartsDep, agent: AgentDep, log_id: LogPath) -> Response:
    """One operation. 410 names the archive to which it was moved."""
    async with memories.open_read_connection(parts.engine) as connection:
        row = await log_entries.find_log_entry(connection, agent, log_id)
        if row is None:
            await archived_log.refuse_archived(connection, agent, [log_id])
            raise UnknownLogEntry(log_id)
    return respond_with_answer(LogEntryOut.from_row(row))


@router.post(
    "/{log_id}/revert",
    responses={200: {"model": RevertAnswer}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
)
async def revert(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    log_id: LogPath,
    body: Annotated[RevertRequest | None, Body(openapi_examples=examples.REVERT)] = None,
) -> Response:
    """Undo an operation, a revert included. Reads at an earlier `known_at` stay as they were. 409 lists what was built on it."""
    body = body or RevertRequest()

    def render_answer(undone: list[RevertedOperation]) -> Response:
        return respond_with_answer(RevertAnswer.from_reverts(undone, parts.half_lives))

    once = keyed.plan_replay(render_answer)
    return render_answer(
        await parts.reverts.revert_one(
            agent, log_id, cascade=body.cascade, store=body.store, request=origin, idempotency=once
        )
    )


reverts = APIRouter(prefix="/v1/reverts", tags=["log"])


@reverts.post(
    "",
    responses={200: {"model": RevertsAnswer}, **document_problems(*BODY, *WRITE)},
    response_model=None,
)
async def revert_many(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[RevertsRequest, Body(openapi_examples=examples.REVERTS)],
) -> Response:
    """Undo every operation of a batch, an import, a session, a source, a judge or a time, newest first, all or none."""

    def render_answer(undone: list[RevertedOperation]) -> Response:
        return respond_with_answer(
            RevertsAnswer.from_reverts(undone, parts.half_lives, dry_run=body.dry_run)
        )

    selection, once = body.to_selection(), keyed.plan_replay(render_answer)
    return render_answer(
        await parts.reverts.revert_selection(
            agent,
            selection,
            cascade=body.cascade,
            dry_run=body.dry_run,
            request=origin,
            idempotency=once,
        )
    )
