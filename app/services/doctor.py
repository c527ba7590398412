"""Examining agents: find what is wrong in their tables, and repair what can be computed again."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import ArchiveDamaged
from app.domain.version import Version
from app.planning.audit.answer_checks import check_answer
from app.planning.audit.chain_checks import Ends, check_chain
from app.planning.audit.checks import check_memory
from app.planning.audit.faults import Fault, Remedy
from app.planning.audit.log_chain_checks import check_archive, check_operation
from app.planning.audit.revert_checks import check_reverts
from app.services.agent_write import Call, agent_write
from app.store.cluster import find_cluster_faults
from app.store.doctor import reads as doctor_reads
from app.store.doctor import rules as doctor_rules
from app.store.doctor.values import stream_value_faults
from app.store.engine import begin_as_operator, begin_for_agent, open_snapshot, take_role
from app.store.log import archived as archived_log
from app.store.log import chain as log_chain
from app.store.log.archive_files import Archives, File
from app.store.roles import Role

_PAGE = 1_000
_LAST_TEXTS = 100
# A chain of so many versions is checked in a thread: ten thousand take 0.15 s.
_LONG_CHAIN = 500
# A younger file may belong to an archive that is not committed yet.
_SETTLED = timedelta(minutes=10)


class StrayFileFault(Fault):
    """A file in the archive folder that belongs to no archive. Retention removes it."""


class LostArchiveFault(Fault):
    """An archive whose file is missing or damaged. A copy, or giving it up, ends the fault."""


class Doctor:
    """Examines agents, one at a time. Each examination holds a connection and a snapshot."""

    def __init__(self, engine: AsyncEngine, archives: Archives | None = None) -> None:
        """`archives` are the files to check too, if there are any."""
        self._engine = engine
        self._archives = archives
        self._turn = asyncio.Semaphore(1)

    async def count_agents(self) -> int:
        async with begin_as_operator(self._engine) as connection:
            return await doctor_reads.count_agents(connection)

    async def examine_cluster(self) -> list[Fault]:
        """Return what is wrong with the nodes and tables of a Citus cluster, if there is one."""
        async with begin_as_operator(self._engine) as connection:
            return await find_cluster_faults(connection)

    async def iterate_agents(self) -> AsyncGenerator[AgentId]:
        """Yield every agent, in order."""
        after = ""
        while True:
            async with begin_as_operator(self._engine) as connection:
                page = await doctor_reads.list_agent_ids(connection, after=after, limit=_PAGE)
            for agent in page:
                yield agent
            if len(page) < _PAGE:
                return
            after = page[-1]

    async def examine_agent(self, agent: AgentId) -> AsyncGenerator[Fault]:
        """Yield the faults of an agent in one snapshot. Its writers need not wait.

        Close the generator (`aclose`) if reading stops early.
        """
        async with (
            self._turn,
            open_snapshot(self._engine, agent, Role.OPERATOR) as connection,
            aclosing(_find_faults(connection, agent)) as faults,
        ):
            async for fault in faults:
                yield fault
        if self._archives:
            for fault in await self._check_files(agent, self._archives):
                yield fault
            async with aclosing(self._check_archived_log(agent, self._archives)) as archived:
                async for fault in archived:
                    yield fault

    async def list_last_texts(self, agent: AgentId) -> list[str]:
        """Return the texts of the hundred memories that were made last."""
        async with begin_for_agent(self._engine, agent) as connection:
            return await doctor_reads.list_last_texts(connection, agent, limit=_LAST_TEXTS)

    async def _check_files(self, agent: AgentId, archives: Archives) -> list[Fault]:
        """Compare the archive files with the database.

        An erasure may replace a file meanwhile, so only files that the database still names count.
        """
        files = await self._list_archive_files(agent)
        hashes = [(file, await archives.hash_file(file.name)) for file in files]
        still = await self._list_archive_files(agent)
        faults: list[Fault] = []
        for file, seen in hashes:
            if seen != file.sha256 and file in still:
                state = "is missing" if seen is None else "is not as it was written"
                sentence = f"The archive {file.name} {state}."
                faults.append(LostArchiveFault("archives", (file.name,), sentence))
        names = [file.name for file in files]
        for name in archives.list_unknown_files(agent, names, unchanged_for=_SETTLED):
            sentence = f"The file {name} belongs to no archive; it may hold what was erased."
            faults.append(StrayFileFault("archives", (name,), sentence))
        return faults

    async def _check_archived_log(
        self, agent: AgentId, archives: Archives
    ) -> AsyncGenerator[Fault]:
        """Compare the operations in the archive files with the chain of the log.

        Files that cannot be read are not checked here: `_check_files` reports them. A file that an
        erasure replaces meanwhile has the same hashes.
        """
        async with begin_for_agent(self._engine, agent) as connection:
            files = await archived_log.list_archive_files(connection, agent)
            for archive_id, file in files.items():
                folded = await log_chain.read_archived_operations(connection, agent, archive_id)
                with suppress(ArchiveDamaged):
                    _, *lines = await archives.read_file_lines(file)
                    operations = log_chain.parse_archived_operations(lines)
                    for fault in check_archive(file.name, operations, folded):
                        yield fault

    async def _list_archive_files(self, agent: AgentId) -> list[File]:
        async with begin_for_agent(self._engine, agent) as connection:
            files = await archived_log.list_archive_files(connection, agent)
        return list(files.values())

    async def repair_agent(self, agent: AgentId) -> list[Fault]:
        """Apply every remedy, and return the faults that had one. Writers wait meanwhile."""
        call: Call[None] = Call(agent)
        repaired: list[Fault] = []
        remedies: list[Remedy] = []
        async with (
            self._turn,
            agent_write(self._engine, call, refuse_frozen=False, role=Role.LOG_EDITOR) as write,
        ):
            await take_role(write.connection, Role.OPERATOR, agent)
            async with aclosing(_find_faults(write.connection, agent)) as faults:
                async for fault in faults:
                    if fault.remedy:
                        repaired.append(fault)
                        remedies.append(fault.remedy)
            await take_role(write.connection, Role.LOG_EDITOR, agent)
            await doctor_reads.apply_remedies(write.connection, agent, remedies)
        return repaired


async def _find_faults(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Run all checks: rules in SQL, then each memory, each chain, reverts and stored answers,
    the chain of the log.

    If a time of the agent cannot be read, nothing else is checked. If another value cannot be
    read, only the chain of the log is.
    """
    readable_times = readable_values = True
    async with aclosing(
        doctor_rules.stream_faults(connection, agent, doctor_rules.READABLE)
    ) as faults:
        async for fault in faults:
            readable_times = False
            yield fault
    if not readable_times:
        return
    async with aclosing(stream_value_faults(connection, agent)) as faults:
        async for fault in faults:
            readable_values = False
            yield fault
    parts = [_check_log_chain(connection, agent)]
    if readable_values:
        parts = [
            doctor_rules.stream_faults(connection, agent, doctor_rules.RULES),
            _check_memories(connection, agent),
            _check_reverts_and_answers(connection, agent),
            *parts,
        ]
    for part in parts:
        async with aclosing(part) as faults:
            async for fault in faults:
                yield fault


async def _check_memories(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Check each memory against its log, then each chain.

    The chain and the log together say what is wrong with an end. So the ends in which log and
    table differ are collected until the chains are read.
    """
    logged_ends = {}
    async with aclosing(doctor_reads.stream_stored_memories(connection, agent)) as memories:
        async for memory_id, stored, steps in memories:
            examined = check_memory(memory_id, stored, steps)
            if examined.logged_ends:
                logged_ends[memory_id] = examined.logged_ends
            for fault in examined.faults:
                yield fault
    async with aclosing(doctor_reads.stream_chains(connection, agent)) as chains:
        async for chain in chains:
            for fault in await _check_chain(chain, logged_ends):
                yield fault


async def _check_chain(chain: Sequence[Version], logged_ends: Mapping[str, Ends]) -> list[Fault]:
    if len(chain) < _LONG_CHAIN:
        return list(check_chain(chain, logged_ends))
    return await asyncio.to_thread(lambda: list(check_chain(chain, logged_ends)))


async def _check_reverts_and_answers(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[Fault]:
    """Check which operation undid which, and the answers kept for retries."""
    for fault in check_reverts(await doctor_reads.list_reverts(connection, agent)):
        yield fault
    async with aclosing(doctor_reads.stream_idempotency_rows(connection, agent)) as answers:
        async for row in answers:
            for fault in check_answer(row):
                yield fault


async def _check_log_chain(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Check each operation of the log against its hash. The rules check the links between them."""
    async with aclosing(log_chain.stream_linked_operations(connection, agent)) as operations:
        async for operation in operations:
            for fault in check_operation(operation):
                yield fault
