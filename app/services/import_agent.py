"""Importing a native export into an empty agent, exactly as it was exported.

Rows are checked and spooled first, then written and checked as a whole in one transaction.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.errors import BadImportLine, DamagedImport, NotEmpty
from app.domain.timeline import settle_chain
from app.domain.version import Version
from app.embedding import Embedder
from app.planning.audit.checks import compute_from_words
from app.services.agent_write import Call, WriteSetup, agent_write
from app.services.import_history import Spool
from app.store import statistics
from app.store.engine import begin_for_agent
from app.store.transfer import imports
from app.store.transfer.format import SECTIONS
from app.store.transfer.imports import ImportTarget, RowFormatter
from app.store.transfer.lines import ExportHeader, ExportRow
from app.turns import iterate_in_turns

logger = logging.getLogger(__name__)

CHUNK = 100
CHUNK_BYTES = 2**20
# A machine whose clock is ahead by less is believed. A later time would move the known times of
# everything stored afterwards.
AHEAD = timedelta(days=1)

# Dates what settling a chain would change. In an import nothing may change.
_ANY_TIME = datetime.max.replace(tzinfo=UTC)
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
class FormattedRows:
    """Rows of one type, on lines that follow one another, as they are written."""

    type: str
    block: bytes


class AgentImporter:
    """Imports native exports.

    Nothing is stored unless every line is good and all lines together are the history of an agent.
    """

    def __init__(self, engine: AsyncEngine, embedder: Embedder, setup: WriteSetup) -> None:
        self._engine = engine
        self._embedder = embedder
        self._setup = setup

    async def import_rows(
        self,
        call: Call[dict[str, int]],
        header: ExportHeader,
        rows: AsyncIterator[ExportRow],
    ) -> dict[str, int]:
        """Return how many rows of each type were brought back.

        Raises BadImportLine, DamagedImport, NotEmpty, AgentFrozen.
        """
        async with begin_for_agent(self._engine, call.agent) as connection:
            state = await imports.read_import_target(connection, call.agent)
        # What can be refused is refused before gigabytes arrive.
        if not state.empty:
            raise NotEmpty
        if header.last_known_at and header.last_known_at > state.clock + AHEAD:
            raise BadImportLine(
                header.number,
                "Its last_known_at lies more than a day in the future of this server's clock.",
            )
        spool = Spool()
        try:
            formatter = RowFormatter(call.agent, state.adapters)
            counts = await self._spool_rows(header, rows, state, formatter, spool)
            if header.agent is not None:
                await self._write_spool(call, header, counts, spool)
                await statistics.analyze_tables(self._engine, came=sum(counts.values()))
        finally:
            spool.close()
        return counts

    async def _write_spool(
        self,
        call: Call[dict[str, int]],
        header: ExportHeader,
        counts: dict[str, int],
        spool: Spool,
    ) -> None:
        """Write the spooled rows, and check all of them together."""
        assert header.agent is not None
        agent = call.agent
        async with agent_write(
            self._engine,
            call,
            setup=self._setup,
            refuse_frozen=True,
            encoder=self._embedder.name,
        ) as write:
            connection = write.connection
            await write.lift_statement_timeout()
            await write.forget_plans()
            target = await imports.read_import_target(connection, agent)
            if not target.empty:
                raise NotEmpty
            await imports.set_agent(connection, agent, header.agent, line=header.number)
            line = header.number + 1
            for kind, formatted in groupby(spool, key=attrgetter("type")):
                blocks = (rows.block for rows in formatted)
                await imports.insert_rows(connection, agent, kind, blocks, first_line=line)
                line += counts[kind]
            await imports.check_imported_history(connection, agent)
            async for chain in imports.stream_imported_chains(connection, agent):
                _check_chain(chain)
            await write.keep(counts)
        # The operations of an import have the actors that the export names.
        imported = {"imported_agent": agent, "actor": call.info.actor}
        logger.info("an agent was imported", extra=imported)

    async def _spool_rows(
        self,
        header: ExportHeader,
        rows: AsyncIterator[ExportRow],
        state: ImportTarget,
        formatter: RowFormatter,
        spool: Spool,
    ) -> dict[str, int]:
        """Spool every row as it will be written, and return how many there are of each type.

        No connection is held meanwhile: the caller may be slow, and the encoder is.
        """
        counts = {section.type: 0 for section in SECTIONS}
        own = (self._embedder.name, self._embedder.dimensions)
        fits = (header.encoder, header.dimensions) == own
        async for chunk in _chunk_rows(rows):
            kind = chunk[0].type
            async for row in iterate_in_turns(chunk):
                _check_row(row, header, state)
                _number_language(row, state.languages)
            if kind == "memory":
                await self._complete_memories(chunk, anew=not fits)
            block = bytearray()
            async for row in iterate_in_turns(chunk):
                block += formatter.format_row(kind, row.values)
            counts[kind] += len(chunk)
            spool.add(FormattedRows(kind, bytes(block)))
        return counts

    async def _complete_memories(self, rows: Sequence[ExportRow], *, anew: bool) -> None:
        """Give each memory the vector that its line lacks, and its hashes.

        With `anew`, for another encoder, every vector is made. The hashes of a file are not
        trusted. Those of an erased text cannot be computed, so they stay.
        """
        present = [row.values for row in rows if not _is_erased(row)]
        lacking = [values for values in present if anew or values["embedding"] is None]
        if lacking:
            vectors = await self._embedder.encode([values["content"] for values in lacking])
            for values, vector in zip(lacking, vectors, strict=True):
                values["embedding"] = vector
        async for values in iterate_in_turns(present):
            derived = {
                "entity": values["derived_entity"],
                "key": values["derived_key"],
                "value": values["derived_value"],
            }
            values.update(compute_from_words({**values, "derived": derived}))


async def _chunk_rows(rows: AsyncIterator[ExportRow]) -> AsyncIterator[list[ExportRow]]:
    """Yield chunks of rows of one type, each small enough for memory."""
    chunk: list[ExportRow] = []
    size = 0
    async for row in rows:
        full = len(chunk) == CHUNK or size + row.size > CHUNK_BYTES
        if chunk and (full or row.type != chunk[0].type):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += row.size
    if chunk:
        yield chunk


def _is_erased(row: ExportRow) -> bool:
    return row.values.get("erased_at") is not None


def _check_row(row: ExportRow, header: ExportHeader, state: ImportTarget) -> None:
    """Raise BadImportLine if the header does not allow the line, or no write leaves such a row."""
    if header.last_known_at is None:
        raise BadImportLine(
            row.number,
            "The header says that there is no agent, so nothing may follow it but the `end` line.",
        )
    _check_times(row, header.last_known_at, latest=state.clock + AHEAD)
    values = row.values
    one_missing = row.type in ("memory", "belief") and (
        (values["superseded_by"] is None) != (values["superseded_at"] is None)
    )
    if one_missing:
        raise BadImportLine(
            row.number, "superseded_by and superseded_at are given together or not at all."
        )
    if row.type != "memory":
        return
    if len({values[name] is None for name in DERIVED}) > 1:
        raise BadImportLine(row.number, f"{', '.join(DERIVED)} are given together or not at all.")
    vector = values["embedding"]
    if vector is None and header.encoder is not None and not _is_erased(row):
        raise BadImportLine(
            row.number, "Its embedding is missing, though the header names an encoder."
        )
    if vector is not None and len(vector) != header.dimensions:
        raise BadImportLine(
            row.number,
            f"Its embedding has {len(vector)} dimensions; the header says {header.dimensions}.",
        )


def _check_times(row: ExportRow, last_known_at: datetime, *, latest: datetime) -> None:
    """Raise BadImportLine for a time in the future of the header.

    A memory may have been used after the agent's last write, but not after `latest`.
    """
    for name in KNOWN_TIMES:
        time = row.values.get(name)
        if time is not None and time > last_known_at:
            raise BadImportLine(
                row.number,
                f"{name} ({time.isoformat()}) lies after the agent's last_known_at in the header.",
            )
    used = row.values.get("last_accessed_at")
    if used is not None and used > latest:
        raise BadImportLine(
            row.number,
            f"last_accessed_at ({used.isoformat()}) lies more than a day in the future of this "
            "server's clock.",
        )


def _number_language(row: ExportRow, languages: Mapping[str, int]) -> None:
    """Replace the name of the row's language, if it has one, by this server's number."""
    name = row.values.get("language")
    if name is None:
        return
    if name not in languages:
        raise BadImportLine(
            row.number,
            f"This Postgres has no text search configuration {name!r}. Create it, then import "
            "again.",
        )
    row.values["language"] = languages[name]


def _check_chain(chain: Sequence[Version]) -> None:
    """Raise DamagedImport unless the chain is whole (DESIGN §2).

    It must hold its first version, and every version must end where the chain says that it ends.
    """
    if all(version.id != version.chain_id for version in chain):
        raise DamagedImport(
            f"Memory {chain[0].chain_id}, the first of its chain, is in another chain."
        )
    for stated, settled in zip(chain, settle_chain(chain, _ANY_TIME), strict=True):
        if stated != settled:
            raise DamagedImport(
                f"Memory {stated.id} does not end where its chain says that it does."
            )
