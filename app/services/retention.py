"""Retention: what ended long ago gets cold, and old operations leave the log for archive files. One agent at a time, in small batches.

A batch of operations is one transaction: fold them into checkpoints, write the file, remove them from the log. The file is on disk before
the commit that names it; one that no commit named is the rest of a run that was cut off, and the next one removes it.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import InvalidFact
from app.services.agent_write import Call, agent_write
from app.store import memories
from app.store.log import archived as archived_log
from app.store.log import retention as log_retention
from app.store.log.archive_files import Archives, File
from app.store.log.retention import Batch

FORMAT = 1

_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What a run did, or a dry run would do: memories cooled; operations archived, and as old ones kept back; files removed that
    belonged to no archive; answers forgotten that no retry gets any more."""

    cooled: int = 0
    archived: int = 0
    kept_back: int = 0
    removed_files: int = 0
    forgotten_answers: int = 0


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long ago memories ended that get cold, and how old operations leave the log.

    None switches that part off.
    """

    cold_after: timedelta | None
    archive_after: timedelta | None


class Retention:
    """Cools memories and archives operations. May be cut off at any moment, and run again."""

    def __init__(
        self, engine: AsyncEngine, archives: Archives, settings: RetentionSettings
    ) -> None:
        self._engine = engine
        self._archives = archives
        self._cold_after = settings.cold_after
        self._audit = settings.archive_after

    async def retain_agent(
        self, agent: AgentId, *, report_progress: Callable[[int], None] = lambda _: None
    ) -> RetentionReport:
        """What there is to do for one agent; writers of the agent wait for a batch at most. `progressed` is told how many rows each
        batch did. Raises ArchivesUnavailable, LogDamaged: then nothing of the batch is done."""
        cooled = await self._cool_memories(agent, report_progress)
        async with self._open_batch(agent) as connection:
            forgotten = await log_retention.remove_expired_answers(connection, agent)
            removed = await self._remove_stray_files(connection, agent)
        moved = await self._archive_operations(agent, report_progress)
        kept_back = (await self.preview_retention(agent)).kept_back
        return RetentionReport(cooled, moved, kept_back, removed, forgotten)

    async def preview_retention(self, agent: AgentId) -> RetentionReport:
        """What `retain` would do."""
        async with memories.open_read_connection(self._engine) as connection:
            cooled = (
                await log_retention.count_coolable(connection, agent, self._cold_after)
                if self._cold_after
                else 0
            )
            leaving, kept = (
                await log_retention.count_leaving(connection, agent, self._audit)
                if self._audit
                else (0, 0)
            )
            beside = self._archives.list_unknown_files(
                agent,
                [
                    file.name
                    for file in (await archived_log.list_archive_files(connection, agent)).values()
                ],
            )
            answers = await log_retention.count_expired_answers(connection, agent)
        return RetentionReport(cooled, leaving, kept, len(beside), answers)

    async def give_up_archive(self, agent: AgentId, name: str) -> None:
        """Gives up an archive, as when its file is lost or damaged: the file, if it is there, and that there should be one. Raises
        InvalidFact where no archive of the agent has that name."""
        async with self._open_batch(agent) as connection:
            found = {
                file.name: archive_id
                for archive_id, file in (
                    await archived_log.list_archive_files(connection, agent)
                ).items()
            }
            if name not in found:
                raise InvalidFact(
                    f"Agent {agent!r} has no archive {name!r}. `palimpsest doctor` names those that are missing or damaged."
                )
            await archived_log.replace_file(connection, agent, found[name], None)
        self._archives.remove([name])

    @asynccontextmanager
    async def _open_batch(self, agent: AgentId) -> AsyncIterator[AsyncConnection]:
        call: Call[None] = Call(agent)
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            await write.lift_statement_timeout()
            yield write.connection

    async def _cool_memories(self, agent: AgentId, report_progress: Callable[[int], None]) -> int:
        total = 0
        while self._cold_after:
            async with self._open_batch(agent) as connection:
                cooled = await log_retention.cool_memories(
                    connection, agent, self._cold_after, limit=_AT_ONCE
                )
            total += cooled
            report_progress(cooled)
            if cooled < _AT_ONCE:
                break
        return total

    async def _remove_stray_files(self, connection: AsyncConnection, agent: AgentId) -> int:
        """Removes files that belong to no archive. Nobody else can be writing one: that needs the agent's lock."""
        beside = self._archives.list_unknown_files(
            agent,
            [
                file.name
                for file in (await archived_log.list_archive_files(connection, agent)).values()
            ],
        )
        return len(beside) - len(self._archives.remove(beside))

    async def _archive_operations(
        self, agent: AgentId, report_progress: Callable[[int], None]
    ) -> int:
        total = 0
        while self._audit:
            async with self._open_batch(agent) as connection:
                batch = await log_retention.find_next_batch(
                    connection, agent, self._audit, limit=_AT_ONCE
                )
                if batch is None:
                    break
                if batch.leaving:
                    self._archives.require_writable()
                await self._move_batch(connection, agent, batch)
            total += len(batch.leaving)
            report_progress(len(batch.leaving))
        return total

    async def _move_batch(self, connection: AsyncConnection, agent: AgentId, batch: Batch) -> None:
        await log_retention.fold_log(connection, agent, batch)
        file: File | None = None
        if batch.leaving:
            async with aclosing(_render_archive(connection, agent, batch)) as lines:
                file = await self._archives.write_file(agent, batch.first_at, lines)
        await log_retention.remove_from_log(connection, agent, batch, uuid7(), file)


async def _render_archive(
    connection: AsyncConnection, agent: AgentId, batch: Batch
) -> AsyncGenerator[bytes]:
    """The lines of an archive: a header, and each operation in order, as an export tells it."""
    span = {
        name: time.astimezone(UTC).isoformat()
        for name, time in (("first_at", batch.first_at), ("last_at", batch.last_at))
    }
    head = {
        "type": "palimpsest-archive",
        "format": FORMAT,
        "agent_id": agent,
        "operations": len(batch.ids),
        **span,
    }
    yield json.dumps(head, ensure_ascii=False).encode() + b"\n"
    async with aclosing(archived_log.stream_log_lines(connection, agent, batch.ids)) as lines:
        async for line in lines:
            yield line
