"""Retention: cool what ended long ago, empty old messages, and archive old operations of the log.

A batch of operations is one transaction: fold them into checkpoints, write the file, remove them
from the log. The file is on disk before the commit that names it. A run that is cut off may leave
a file that no commit names, and the next run removes it.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import UnknownArchive
from app.services.agent_write import Call, agent_write
from app.store.captures import retention as capture_retention
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import retention as log_retention
from app.store.log.archive_files import Archives, File
from app.store.log.retention import Batch
from app.store.roles import Role

FORMAT = 1

_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """Counts of what a run did, or a dry run would do.

    `kept_back`: operations old enough to archive that had to stay in the log.
    `removed_files`: files that belonged to no archive.
    `forgotten_answers`: stored answers too old for any retry. `emptied_turns`: messages whose text
    is older than messages are kept.
    """

    cooled: int = 0
    archived: int = 0
    kept_back: int = 0
    removed_files: int = 0
    forgotten_answers: int = 0
    emptied_turns: int = 0


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """The ages at which ended memories get cold, operations are archived and messages are emptied.

    None switches that part off.
    """

    cold_after: timedelta | None
    archive_after: timedelta | None
    empty_turns_after: timedelta | None = None


class Retention:
    """Cools memories and archives operations. May be cut off at any moment, and run again."""

    def __init__(
        self, engine: AsyncEngine, archives: Archives, settings: RetentionSettings
    ) -> None:
        self._engine = engine
        self._archives = archives
        self._cold_after = settings.cold_after
        self._archive_after = settings.archive_after
        self._empty_turns_after = settings.empty_turns_after

    async def retain_agent(self, agent: AgentId) -> RetentionReport:
        """Carry out retention for one agent. Its writers wait for one batch at most.

        Raises ArchivesUnavailable or LogDamaged, and then the batch is not done.
        """
        cooled = await self._change_old_rows(agent, log_retention.cool_memories, self._cold_after)
        async with self._open_batch(agent) as connection:
            forgotten = await log_retention.remove_expired_answers(connection, agent)
            # Nobody else can be writing such a file, because that takes the agent's lock.
            stray = await self._list_stray_files(connection, agent)
            removed = len(stray) - len(self._archives.remove(stray))
        emptied = await self._change_old_rows(
            agent, capture_retention.empty_expired_turns, self._empty_turns_after
        )
        moved = await self._archive_operations(agent)
        kept_back = (await self.preview_retention(agent)).kept_back
        return RetentionReport(cooled, moved, kept_back, removed, forgotten, emptied)

    async def preview_retention(self, agent: AgentId) -> RetentionReport:
        """Return what `retain_agent` would do."""
        cooled, leaving, kept_back, expired = 0, 0, 0, 0
        async with begin_for_agent(self._engine, agent) as connection:
            if self._cold_after:
                cooled = await log_retention.count_coolable(connection, agent, self._cold_after)
            if self._archive_after:
                leaving, kept_back = await log_retention.count_leaving(
                    connection, agent, self._archive_after
                )
            if self._empty_turns_after:
                expired = await capture_retention.count_expired_turns(
                    connection, agent, self._empty_turns_after
                )
            stray = await self._list_stray_files(connection, agent)
            answers = await log_retention.count_expired_answers(connection, agent)
        return RetentionReport(cooled, leaving, kept_back, len(stray), answers, expired)

    async def give_up_archive(self, agent: AgentId, name: str) -> None:
        """Give up an archive whose file is lost or damaged, and remove the file if it exists.

        Raises UnknownArchive if the agent has no archive of that name.
        """
        async with self._open_batch(agent) as connection:
            files = await archived_log.list_archive_files(connection, agent)
            archive_ids = {file.name: archive_id for archive_id, file in files.items()}
            if name not in archive_ids:
                raise UnknownArchive(agent, name)
            await archived_log.replace_file(connection, agent, archive_ids[name], None)
        self._archives.remove([name])

    @asynccontextmanager
    async def _open_batch(self, agent: AgentId) -> AsyncIterator[AsyncConnection]:
        call: Call[None] = Call(agent)
        async with agent_write(
            self._engine, call, refuse_frozen=False, role=Role.LOG_EDITOR
        ) as write:
            await write.lift_statement_timeout()
            yield write.connection

    async def _change_old_rows(
        self,
        agent: AgentId,
        change: Callable[..., Awaitable[int]],
        age: timedelta | None,
    ) -> int:
        """Change rows of this age in batches, and return how many they were; None changes none."""
        total = 0
        while age:
            async with self._open_batch(agent) as connection:
                changed = await change(connection, agent, age, limit=_AT_ONCE)
            total += changed
            if changed < _AT_ONCE:
                break
        return total

    async def _list_stray_files(self, connection: AsyncConnection, agent: AgentId) -> list[str]:
        files = await archived_log.list_archive_files(connection, agent)
        names = [file.name for file in files.values()]
        return list(self._archives.list_unknown_files(agent, names))

    async def _archive_operations(self, agent: AgentId) -> int:
        total = 0
        while self._archive_after:
            async with self._open_batch(agent) as connection:
                batch = await log_retention.find_next_batch(
                    connection, agent, self._archive_after, limit=_AT_ONCE
                )
                if batch is None:
                    break
                if batch.leaving:
                    self._archives.require_writable()
                await self._move_batch(connection, agent, batch)
            total += len(batch.leaving)
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
    """Yield the lines of an archive: a header, then each operation in order, as in an export."""
    header = {
        "type": "palimpsest-archive",
        "format": FORMAT,
        "agent_id": agent,
        "operations": len(batch.ids),
        "first_at": batch.first_at.astimezone(UTC).isoformat(),
        "last_at": batch.last_at.astimezone(UTC).isoformat(),
    }
    yield json.dumps(header, ensure_ascii=False).encode() + b"\n"
    async with aclosing(archived_log.stream_log_lines(connection, agent, batch.ids)) as lines:
        async for line in lines:
            yield line
