"""Erasing: remove the bytes everywhere, for privacy. The place in time stays."""

import hmac
import json
import logging
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import Erased, MergedElsewhere, NothingToErase, StaleVersion, UnknownMemory
from app.services import metrics
from app.services.agent_write import Call, agent_write
from app.store import erasures, redactions, statistics, webhooks
from app.store.log import archived as archived_log
from app.store.log.archive_files import Archives, File
from app.store.redactions import Redaction
from app.store.roles import Role

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ErasureScope:
    """A memory, the chain of a memory, a session, or the whole agent. Exactly one is set."""

    memory_id: UUID | None = None
    chain_id: UUID | None = None
    session_id: str | None = None
    whole_agent: bool = False

    def __str__(self) -> str:
        if self.whole_agent:
            return "this agent"
        if self.session_id is not None:
            return f"session {self.session_id!r}"
        return str(self.memory_id or self.chain_id)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an erasure.

    `digests` holds the HMAC-SHA256 of each memory's text (UTF-8) under `key`. The caller gets the
    key once, and nobody stores it. `archives_pending` are old archive files without a successor in
    the database that could not be removed yet.
    """

    log_id: UUID
    known_at: datetime
    key: bytes
    digests: Mapping[UUID, str]
    archives_pending: Sequence[str] = ()


class Eraser:
    """Removes texts, hashes and vectors everywhere.

    Archives are written again before the commit that names the new files, and the old files are
    removed after it. A crash may leave files that the database does not name. Whoever holds the
    agent's lock next to erase or to archive removes them.
    """

    def __init__(self, engine: AsyncEngine, archives: Archives) -> None:
        self._engine = engine
        self._archives = archives

    async def erase_scope(
        self,
        call: Call[Receipt],
        scope: ErasureScope,
        *,
        cascade: bool,
        expected: int | None = None,
    ) -> Receipt:
        """Erase the scope, and with `cascade` what its texts were merged into.

        A frozen agent is not refused: a person's right to be forgotten does not wait.
        Raises UnknownMemory, NothingToErase, Erased, StaleVersion, MergedElsewhere,
        ArchivesUnavailable.
        """
        key, log_id = secrets.token_bytes(32), uuid7()
        async with agent_write(
            self._engine, call, refuse_frozen=False, role=Role.LOG_EDITOR
        ) as write:
            connection, agent = write.connection, call.agent
            await write.lift_statement_timeout()
            files = await self._get_archive_files(connection, agent)
            named = await _get_ids_in_scope(connection, agent, scope)
            chains = await write.read_chains(ids=named[:1])
            if expected is not None and chains.get_version(named[0]).revision != expected:
                raise StaleVersion(named[0])
            merged = await erasures.find_merge_descendants(connection, agent, named)
            if merged and not cascade:
                raise MergedElsewhere(merged)
            texts = await _read_texts(connection, agent, [*named, *merged], scope)
            now = write.next_known_time()
            anything = bool(named) or await erasures.has_other_texts(
                connection, agent, scope.session_id
            )
            redacted = await erasures.erase_memories(
                connection,
                agent,
                texts,
                now=now,
                session_id=scope.session_id,
                everything=scope.whole_agent,
            )
            redaction = None if scope.whole_agent else redacted
            replaced = await self._rewrite_archives(connection, agent, files, redaction)
            if not (anything or replaced):
                raise NothingToErase(str(scope))
            digests = {
                memory_id: hmac.digest(key, text.encode(), "sha256").hex()
                for memory_id, text in texts.items()
            }
            if scope.whole_agent:
                await webhooks.delete_webhooks_of_agent(connection, agent)
            log_chain = write.log_chain
            await erasures.log_erasure(
                connection, agent, log_id, digests, now=now, call=call.info, log_chain=log_chain
            )
            receipt = Receipt(log_id, now, key, digests)
            await write.keep(receipt)
            # At last, because nothing is sampled of a table without rows: the log has one by now.
            await statistics.refresh_text_statistics(connection)
        metrics.count_erasure()
        pending = self._archives.remove(replaced)
        if pending:
            logger.error(
                "archives that hold what was erased could not be removed", extra={"files": pending}
            )
        return replace(receipt, archives_pending=pending)

    async def _get_archive_files(
        self, connection: AsyncConnection, agent: AgentId
    ) -> Mapping[UUID, File]:
        """Return the agent's archives. Raises ArchivesUnavailable if they cannot be rewritten."""
        files = await archived_log.list_archive_files(connection, agent)
        if files:
            self._archives.require_writable()
        names = [file.name for file in files.values()]
        self._archives.remove(self._archives.list_unknown_files(agent, names))
        return files

    async def _rewrite_archives(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        files: Mapping[UUID, File],
        redaction: Redaction | None,
    ) -> list[str]:
        """Rewrite every archive that holds what was erased.

        No `redaction` means that everything of the agent is erased, and all archives are
        given up. Return the names of the files to remove after the commit.
        """
        replaced: list[str] = []
        for archive_id, file in files.items():
            new: File | None = None
            if redaction is not None:
                head, *lines = await self._archives.read_file_lines(file)
                await archived_log.load_archived_log(connection, agent, lines)
                await redactions.redact_archived_log(connection, redaction)
                left = await archived_log.unload_archived_log(connection, agent)
                if left == lines:
                    continue
                first_at = datetime.fromisoformat(json.loads(head)["first_at"])
                rewritten = _iterate_lines([head, *left])
                new = await self._archives.write_file(agent, first_at, rewritten)
            await archived_log.replace_file(connection, agent, archive_id, new)
            replaced.append(file.name)
        return replaced


async def _read_texts(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], scope: ErasureScope
) -> dict[UUID, str]:
    """Return the texts to erase. Raises Erased if the memory that the scope names has none."""
    rows = erasures.stream_unerased_texts(connection, agent, ids)
    texts = {memory_id: text async for memory_id, text in rows}
    named = scope.memory_id or scope.chain_id
    if named and not texts:
        raise Erased(named)
    return texts


async def _iterate_lines(lines: Sequence[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


async def _get_ids_in_scope(
    connection: AsyncConnection, agent: AgentId, scope: ErasureScope
) -> Sequence[UUID]:
    """Return the memories in the scope. Raises UnknownMemory.

    A session may have no memory, and still have left texts in the log.
    """
    if member := scope.memory_id or scope.chain_id:
        chain = await erasures.list_ids_in_chain(connection, agent, member)
        if not chain:
            raise UnknownMemory(member)
        return [member] if scope.memory_id else chain
    return await erasures.list_ids_of_agent(connection, agent, scope.session_id)
