"""A native export brought back into an empty agent, exactly as it was: put aside first, then written and checked in one transaction."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import BadImportLine, DamagedImport, NotEmpty
from app.domain.timeline import settle_chain
from app.domain.version import Version
from app.embedding import Embedder
from app.planning.audit.checks import compute_from_words
from app.services.agent_write import Call, WriteSetup, agent_write
from app.services.import_history import Spool
from app.store import statistics
from app.store.transfer import imports
from app.store.transfer.format import SECTIONS
from app.store.transfer.imports import ImportTarget

CHUNK = 100
CHUNK_BYTES = 2**20
# A machine whose clock is ahead by less is believed. More would move the known times of everything stored later.
AHEAD = timedelta(days=1)

_ANY_TIME = datetime.max.replace(tzinfo=UTC)  # dates what a chain would change; here nothing may
KNOWN_TIMES = (
    "created_at",
    "asserted_at",
    "known_from",
    "known_until",
    "superseded_at",
    "last_reinforced_at",
)

DERIVED = ("derived_entity", "derived_key", "derived_value")


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """What an export says of itself. No `encoder`: it holds no vectors. No `agent`: it is of one that never was."""

    number: int
    encoder: str | None
    dimensions: int | None
    agent: dict[str, Any] | None

    @property
    def last_known_at(self) -> datetime | None:
        return None if self.agent is None else self.agent["last_known_at"]


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A line of an export: its number, its type, its values by column, and its bytes."""

    number: int
    type: str
    values: dict[str, Any]
    size: int


class AgentImporter:
    """Imports native exports. Nothing is kept unless every line is good and all of them together are an agent's history."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, setup: WriteSetup) -> None:
        self._engine = engine
        self._embedder = embedder
        self._setup = setup

    async def import_rows(
        self, call: Call[dict[str, int]], header: ExportHeader, rows: AsyncIterator[ExportRow]
    ) -> dict[str, int]:
        """Return how many rows of each type were brought back.

        Raises BadImportLine, DamagedImport, NotEmpty, AgentFrozen.
        """
        spool = Spool()
        try:
            state = await self._check_first(call.agent, header)
            counts = await self._spool_rows(header, rows, state, spool)
            if header.agent is not None:
                await self._write_spool(call, header, counts, spool)
                await statistics.analyze_tables(self._engine, came=sum(counts.values()))
        finally:
            spool.close()
        return counts

    async def _write_spool(
        self, call: Call[dict[str, int]], header: ExportHeader, counts: dict[str, int], spool: Spool
    ) -> None:
        async with agent_write(
            self._engine, call, setup=self._setup, refuse_frozen=True, encoder=self._embedder.name
        ) as write:
            await write.lift_statement_timeout()
            await _write_rows(write.connection, call.agent, header, counts, spool)
            await write.keep(counts)

    async def _check_first(self, agent: AgentId, header: ExportHeader) -> ImportTarget:
        """What can be refused before gigabytes arrive."""
        async with self._engine.begin() as connection:
            state = await imports.read_import_target(connection, agent)
        if not state.empty:
            raise NotEmpty
        if header.last_known_at and header.last_known_at > state.clock + AHEAD:
            raise BadImportLine(
                header.number,
                "Its last_known_at lies more than a day in the future of this server's clock.",
            )
        return state

    async def _spool_rows(
        self,
        header: ExportHeader,
        rows: AsyncIterator[ExportRow],
        state: ImportTarget,
        spool: Spool,
    ) -> dict[str, int]:
        """Every row as it will be written. No connection is held meanwhile: the caller may be slow, and the encoder is."""
        counts = {section.type: 0 for section in SECTIONS}
        fits = (header.encoder, header.dimensions) == (
            self._embedder.name,
            self._embedder.dimensions,
        )
        async for chunk in _chunk_rows(rows):
            for row in chunk:
                _check_row(row, header, latest=state.clock + AHEAD)
            if chunk[0].type == "memory":
                _translate_memories(chunk, state.languages)
                await self._encode_memories(chunk, anew=not fits)
            counts[chunk[0].type] += len(chunk)
            spool.add(chunk)
        return counts

    async def _encode_memories(self, memories: Sequence[ExportRow], *, anew: bool) -> None:
        """Vectors, where the file has none or has those of another encoder."""
        bare = [
            row.values
            for row in memories
            if not _is_erased(row) and (anew or row.values["embedding"] is None)
        ]
        vectors = (
            await self._embedder.encode([values["content"] for values in bare]) if bare else ()
        )
        for values, vector in zip(bare, vectors, strict=True):
            values["embedding"] = vector


async def _chunk_rows(rows: AsyncIterator[ExportRow]) -> AsyncIterator[list[ExportRow]]:
    """Rows of one type, few or small enough to be held at once."""
    chunk: list[ExportRow] = []
    size = 0
    async for row in rows:
        if chunk and (
            row.type != chunk[0].type or len(chunk) == CHUNK or size + row.size > CHUNK_BYTES
        ):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += row.size
    if chunk:
        yield chunk


def _is_erased(row: ExportRow) -> bool:
    return row.values.get("erased_at") is not None


def _check_row(row: ExportRow, header: ExportHeader, *, latest: datetime) -> None:
    """Raises BadImportLine for what a line says that the header does not allow, or that no write leaves behind.

    A memory is used after the agent's last write too, but not after `latest`.
    """
    if header.last_known_at is None:
        raise BadImportLine(
            row.number,
            "The header says that there is no agent, so nothing may follow it but the `end` line.",
        )
    values = row.values
    for name in KNOWN_TIMES:
        if (time := values.get(name)) is not None and time > header.last_known_at:
            raise BadImportLine(
                row.number,
                f"{name} ({time.isoformat()}) lies after the agent's last_known_at in the header.",
            )
    if (used := values.get("last_accessed_at")) is not None and used > latest:
        raise BadImportLine(
            row.number,
            f"last_accessed_at ({used.isoformat()}) lies more than a day in the future of this server's clock.",
        )
    if row.type in ("memory", "belief") and (values["superseded_by"] is None) != (
        values["superseded_at"] is None
    ):
        raise BadImportLine(
            row.number, "superseded_by and superseded_at are given together or not at all."
        )
    if row.type == "memory":
        _check_vector(row, header)


def _check_vector(row: ExportRow, header: ExportHeader) -> None:
    vector = row.values["embedding"]
    if vector is None and header.encoder is not None and not _is_erased(row):
        raise BadImportLine(
            row.number, "Its embedding is missing, though the header names an encoder."
        )
    if vector is not None and len(vector) != header.dimensions:
        raise BadImportLine(
            row.number,
            f"Its embedding has {len(vector)} dimensions; the header says {header.dimensions}.",
        )


def _translate_memories(memories: Sequence[ExportRow], languages: Mapping[str, int]) -> None:
    """Languages by this server's numbers, and hashes made here: those of a file are not trusted, except of an erased text."""
    for row in memories:
        language = row.values["language"]
        if language not in languages:
            raise BadImportLine(
                row.number,
                f"This Postgres has no text search configuration {language!r}. Create it, then import again.",
            )
        row.values["language"] = languages[language]
        if len({row.values[name] is None for name in DERIVED}) > 1:
            raise BadImportLine(
                row.number, f"{', '.join(DERIVED)} are given together or not at all."
            )
        if not _is_erased(row):
            derived = dict(
                zip(("entity", "key", "value"), (row.values[name] for name in DERIVED), strict=True)
            )
            row.values.update(compute_from_words({**row.values, "derived": derived}))


async def _write_rows(
    connection: AsyncConnection,
    agent: AgentId,
    header: ExportHeader,
    counts: Mapping[str, int],
    spool: Spool,
) -> None:
    assert header.agent is not None
    if not (await imports.read_import_target(connection, agent)).empty:
        raise NotEmpty
    await imports.set_agent(connection, agent, header.agent, line=header.number)
    line = header.number + 1
    for kind, chunks in groupby(spool, key=lambda chunk: chunk[0].type):
        rows = (row.values for chunk in chunks for row in chunk)
        await imports.copy_rows(connection, agent, kind, rows, first_line=line)
        line += counts[kind]
    await imports.check_imported_history(connection, agent)
    async for chain in imports.stream_imported_chains(connection, agent):
        _check_chain(chain)


def _check_chain(chain: Sequence[Version]) -> None:
    """Raises DamagedImport unless the chain has its first version, and every version the end that the chain gives it (DESIGN §2)."""
    if all(version.id != version.chain_id for version in chain):
        raise DamagedImport(
            f"Memory {chain[0].chain_id}, the first of its chain, is in another chain."
        )
    for stated, settled in zip(chain, settle_chain(chain, _ANY_TIME), strict=True):
        if stated != settled:
            raise DamagedImport(
                f"Memory {stated.id} does not end where its chain says that it does."
            )
