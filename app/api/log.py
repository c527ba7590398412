"""Reading the log of operations."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.answers.log import LogAnswer, LogEntryOut
from app.api.cursors import Cursor, build_next_cursor, decode_position
from app.api.deps import AgentDep, ServicesDep
from app.api.openapi import document_problems
from app.api.responses import respond_with_answer, respond_with_long_answer
from app.api.schemas.log import LogQuery
from app.domain.errors import UnknownLogEntry
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries

LogPath = Annotated[
    UUID,
    Path(
        description=(
            "`id` of an operation: paste `log_id` from the answer to a write, or an `id` from the "
            "list."
        )
    ),
]

router = APIRouter(prefix="/v1/log", tags=["log"])


@router.get(
    "",
    responses={200: {"model": LogAnswer}},
    response_model=None,
    description=(
        "List operations with what each read and wrote, newest first.\n"
        "Only a null `next_cursor` says that the list ends. A page looks at no more than 10,000 "
        "operations. If few of them pass `operation`, `decided_by`, `actor` or `review`, it has "
        "fewer than `limit`, maybe none, and the next page goes on behind those."
    ),
)
async def list_log(
    services: ServicesDep, agent: AgentDep, query: Annotated[LogQuery, Query()]
) -> Response:
    async with begin_for_agent(services.engine, agent) as connection:
        page = await log_entries.list_log(
            connection,
            agent,
            query.to_log_filters(),
            limit=query.limit + 1,
            max_bytes=services.settings.max_answer_bytes,
            after=decode_position(query.cursor),
        )
    next_cursor = build_next_cursor(page.rows, query.limit)
    if page.examined_until is not None:
        next_cursor = Cursor(page.examined_until, None).encode()

    def build_answer() -> LogAnswer:
        items = [LogEntryOut.from_row(row) for row in page.rows[: query.limit]]
        return LogAnswer.model_construct(items=items, next_cursor=next_cursor)

    return await respond_with_long_answer(build_answer)


@router.get(
    "/{log_id}",
    responses={200: {"model": LogEntryOut}, **document_problems(404, 410)},
    response_model=None,
)
async def get_log_entry(services: ServicesDep, agent: AgentDep, log_id: LogPath) -> Response:
    """Read an operation. 410 names the archive to which it was moved."""
    async with begin_for_agent(services.engine, agent) as connection:
        row = await log_entries.find_log_entry(connection, agent, log_id)
        if row is None:
            await archived_log.refuse_archived(connection, agent, [log_id])
            raise UnknownLogEntry(log_id)
    return respond_with_answer(LogEntryOut.from_row(dict(row)))
