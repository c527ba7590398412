"""Import of history from elsewhere: one line is one version. Nothing is kept unless every line is good; memory stays bounded."""

import pickle
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.chains import Chains
from app.domain.errors import BadImportLine, InvalidFact
from app.domain.fact import Fact
from app.domain.policy import Policy
from app.embedding import Embedder
from app.planning.plan import Plan
from app.planning.store import plan_import
from app.services.idempotency import UNKEYED, Idempotency
from app.store import apply, chains, statistics
from app.store.rows import CallInfo

CHUNK = 500
_IN_MEMORY = 8 * 2**20
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One version to import. `created_at` is the known time stated for it, None = now; `number` counts from 1."""

    number: int
    fact: Fact
    created_at: datetime | None = None
    client_ref: str | int | None = None


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """What a line became."""

    line: int
    id: UUID
    chain_id: UUID
    client_ref: str | int | None
    known_at: datetime


class Spool:
    """Values kept in order for one more reading: in memory while few, in a temporary file when many. Only this process writes it."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by close()
        self.count = 0

    def add(self, value: object) -> None:
        self.count += 1
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
    """Imports lines. They are encoded and put aside first, so that no connection is held while the encoder runs."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, policy: Policy, *, language_oid: int
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._policy = policy
        self._language_oid = language_oid

    async def import_lines(
        self,
        agent: AgentId,
        lines: AsyncIterator[HistoryLine],
        *,
        request: CallInfo,
        idempotency: Idempotency[Spool] = UNKEYED,
    ) -> Spool:
        """Stores every line in one transaction and returns what each became. Raises BadImportLine, having kept nothing."""
        encoded, results = Spool(), Spool()
        try:
            await self._encode_lines(lines, encoded)
            async with self._engine.begin() as connection:
                lock = await chains.lock_agent(connection, agent, encoder=self._embedder.name)
                await idempotency.check_replay(connection)
                lock.refuse_if_frozen(self._policy)
                clock = _KnownTimes(lock.last_known_at)
                await self._write_lines(connection, agent, clock, encoded, results, request)
                await idempotency.keep_result(connection, results)
            await statistics.analyze_tables(self._engine, came=results.count)
        except BaseException:
            results.close()
            raise
        finally:
            encoded.close()
        return results

    async def _encode_lines(self, lines: AsyncIterator[HistoryLine], spool: Spool) -> None:
        async for chunk in _chunk_lines(lines):
            spool.add((chunk, await self._embedder.encode([line.fact.content for line in chunk])))

    async def _write_lines(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        clock: "_KnownTimes",
        encoded: Spool,
        results: Spool,
        request: CallInfo,
    ) -> None:
        chunk: list[HistoryLine]
        vectors: NDArray[np.float32]
        for chunk, vectors in encoded:
            keyed = [line.fact for line in chunk if line.fact.one_value]
            picture, clock.now = await chains.read_picture(connection, agent, facts=keyed)
            plans: list[Plan] = []
            for line in chunk:
                plan = _plan_line(line, picture, clock.assign_known_time(line))
                plan.absorb_into(picture)
                plans.append(plan)
                results.add(
                    ImportedVersion(
                        line.number,
                        plan.inserted[0].version.id,
                        plan.inserted[0].version.chain_id,
                        line.client_ref,
                        plan.now,
                    )
                )
            of_inserted = {
                plan.inserted[0].version.id: vector
                for plan, vector in zip(plans, vectors, strict=True)
            }
            await apply.apply_plans(
                connection,
                agent,
                plans,
                vectors=of_inserted,
                language=self._language_oid,
                request=request,
            )


async def _chunk_lines(lines: AsyncIterator[HistoryLine]) -> AsyncIterator[Sequence[HistoryLine]]:
    chunk: list[HistoryLine] = []
    async for line in lines:
        chunk.append(line)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _plan_line(line: HistoryLine, picture: Chains, now: datetime) -> Plan:
    try:
        return plan_import(line.fact, picture, now=now, new_id=uuid7())
    except InvalidFact as problem:
        raise BadImportLine(line.number, str(problem)) from None


class _KnownTimes:
    """The known time of each line: the one stated, or the clock, always after the line before."""

    def __init__(self, last: datetime | None) -> None:
        self._last = last
        self._floor = last
        self.now = _NEVER

    def assign_known_time(self, line: HistoryLine) -> datetime:
        if line.created_at is not None:
            self._check_stated_time(line.number, line.created_at)
        known = chains.next_known_time(line.created_at or self.now, self._last)
        self._last, self._floor = known, line.created_at or known
        return known

    def _check_stated_time(self, number: int, stated: datetime) -> None:
        if stated <= _NEVER:
            raise BadImportLine(
                number, "created_at must lie after the first instant of the year 1."
            )
        if stated > max(self.now, self._last or self.now):
            raise BadImportLine(number, f"created_at ({stated.isoformat()}) lies in the future.")
        if self._floor is not None and stated < self._floor:
            raise BadImportLine(
                number,
                f"created_at ({stated.isoformat()}) goes back behind {self._floor.isoformat()}, the one before it. Sort the lines by it.",
            )
