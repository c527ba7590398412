"""Importing history from elsewhere: one line is one version, and one bad line refuses them all."""

import pickle
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.chains import Chains
from app.domain.errors import BadImportLine, InvalidFact
from app.domain.fact import Fact
from app.embedding import Embedder, Vector
from app.planning.plan import Plan
from app.planning.store import plan_import
from app.services.agent_write import AgentWrite, Call, WriteSetup, agent_write
from app.store import statistics
from app.store.chains import Starting, list_starts
from app.store.fragments import NEVER
from app.turns import iterate_in_turns

# Lines that are encoded at once.
CHUNK = 500
# Lines that are written at once. Short requests have their turns in between.
_WRITTEN = 100
_IN_MEMORY = 8 * 2**20


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One version to import.

    `created_at` is the known time that the line states; None means now. `number` counts from 1. A
    `temporary` version covers what comes before it in its chain until its stated end.
    """

    number: int
    fact: Fact
    temporary: bool = False
    created_at: datetime | None = None
    client_ref: str | int | None = None


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """The version that a line became."""

    line: int
    id: UUID
    chain_id: UUID
    client_ref: str | int | None
    known_at: datetime


class Spool:
    """Values to be read again in order: in memory if they are few, else in a temporary file."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by close()

    def add(self, value: object) -> None:
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        while True:
            try:
                yield pickle.load(self._file)  # noqa: S301 - written by `add` above
            except EOFError:
                return

    def close(self) -> None:
        self._file.close()


class HistoryImporter:
    """Imports lines. They are encoded and spooled before the write, as decision 0001 asks."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, setup: WriteSetup) -> None:
        self._engine = engine
        self._embedder = embedder
        self._setup = setup

    async def import_lines(self, call: Call[Spool], lines: AsyncIterator[HistoryLine]) -> Spool:
        """Store every line in one transaction, and return what each became, in lists of versions.

        Raises BadImportLine, and then nothing is stored.
        """
        encoded, results = Spool(), Spool()
        # The first chunk is written at once. Postgres plans then how it checks foreign keys, and
        # with 150 lines in a new table it would choose a bad index.
        written = CHUNK
        try:
            async for chunk in _chunk_lines(lines):
                vectors = await self._embedder.encode([line.fact.content for line in chunk])
                async for first in iterate_in_turns(range(0, len(chunk), written)):
                    part = slice(first, first + written)
                    encoded.add((chunk[part], vectors[part]))
                written = _WRITTEN
            async with agent_write(
                self._engine,
                call,
                setup=self._setup,
                refuse_frozen=True,
                encoder=self._embedder.name,
            ) as write:
                count = await _write_lines(write, encoded, results)
                await write.keep(results)
            await statistics.analyze_tables(self._engine, came=count)
        except BaseException:
            results.close()
            raise
        finally:
            encoded.close()
        return results


async def _write_lines(write: AgentWrite[Spool], encoded: Spool, results: Spool) -> int:
    """Write the lines, and return how many they were."""
    await write.forget_plans()
    order = _LineOrder(write.last_known_at)
    count = 0
    chunk: list[HistoryLine]
    vectors: NDArray[np.float32]
    async for chunk, vectors in iterate_in_turns(encoded):
        starting: list[Starting] = []
        async for line in iterate_in_turns(chunk):
            if line.fact.one_value:
                starting += _list_starts(line, write)
        await write.read_near_chains(starting, compared=False, reach=1, most_chains=None)
        vector_of: dict[UUID, Vector] = {}
        imported: list[ImportedVersion] = []
        async for line, vector in iterate_in_turns(zip(chunk, vectors, strict=True)):
            order.check_stated_time(line, write)
            now = write.next_known_time(line.created_at)
            order.follow(line, now)
            plan = _plan_line(line, write.chains, now)
            write.add_plan(plan)
            version = plan.inserted[0].version
            vector_of[version.id] = vector
            imported.append(
                ImportedVersion(
                    line=line.number,
                    id=version.id,
                    chain_id=version.chain_id,
                    client_ref=line.client_ref,
                    known_at=now,
                )
            )
        await write.apply(vector_of, counted=False)
        results.add(imported)
        count += len(imported)
    return count


def _list_starts(line: HistoryLine, write: AgentWrite[Spool]) -> list[Starting]:
    """Return the line's fact with each start that it may have.

    One that the database's clock decides is None.
    """
    *stated, last = list_starts(line.fact)
    if last.start is None and line.created_at is not None:
        start = max(line.created_at, write.last_known_at or line.created_at)
        last = Starting(line.fact, start)
    return [*stated, last]


async def _chunk_lines(lines: AsyncIterator[HistoryLine]) -> AsyncIterator[Sequence[HistoryLine]]:
    chunk: list[HistoryLine] = []
    async for line in lines:
        chunk.append(line)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _plan_line(line: HistoryLine, chains: Chains, now: datetime) -> Plan:
    try:
        return plan_import(line.fact, chains, now=now, new_id=uuid7(), temporary=line.temporary)
    except InvalidFact as problem:
        raise BadImportLine(line.number, str(problem)) from None


class _LineOrder:
    """Makes sure that the known times stated by the lines never go back."""

    def __init__(self, last: datetime | None) -> None:
        self._floor = last

    def follow(self, line: HistoryLine, now: datetime) -> None:
        """Let the next line come after this one, which became known at `now`."""
        self._floor = line.created_at or now

    def check_stated_time(self, line: HistoryLine, write: AgentWrite[Spool]) -> None:
        """Raise BadImportLine if the line states a time that it cannot have."""
        stated = line.created_at
        if stated is None:
            return
        if stated <= NEVER:
            raise BadImportLine(
                line.number, "created_at must lie after the first instant of the year 1."
            )
        latest = max(write.clock, write.last_known_at or write.clock)
        if stated > latest:
            raise BadImportLine(
                line.number, f"created_at ({stated.isoformat()}) lies in the future."
            )
        if self._floor is not None and stated < self._floor:
            raise BadImportLine(
                line.number,
                f"created_at ({stated.isoformat()}) goes back behind {self._floor.isoformat()}, "
                "the one before it. Sort the lines by it.",
            )
