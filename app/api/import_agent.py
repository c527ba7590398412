"""The lines of a native export in the order in which they come in."""

from collections.abc import AsyncIterator, Mapping

from psycopg.types.json import Jsonb

from app.api.ndjson import NumberedLines
from app.api.problems import describe_error
from app.api.secrets import SecretRemover
from app.domain.errors import BadImportLine, SecretsRefused
from app.store.transfer.format import SECTIONS
from app.store.transfer.lines import ExportEnd, ExportRow, decode_line


async def read_rows(
    lines: NumberedLines, secrets: SecretRemover, *, after: int
) -> AsyncIterator[ExportRow]:
    """Yield the rows of an export whose header is on line `after`.

    Raises BadImportLine for a line that is damaged, in the wrong place, or holds a key or a token.
    """
    counts = {section.type: 0 for section in SECTIONS}
    async for line in lines:
        if line.number != after + 1:
            raise BadImportLine(after + 1, "It is blank.")
        row = decode_line(line.number, line.raw)
        if isinstance(row, ExportEnd):
            _check_counts(line.number, row.counts, counts)
            await _check_nothing_follows(lines)
            return
        _check_place(row, counts)
        _refuse_secrets(row, secrets)
        counts[row.type] += 1
        after = line.number
        yield row
    raise BadImportLine(after + 1, "The `end` line is missing: the export was cut off.")


def _refuse_secrets(row: ExportRow, secrets: SecretRemover) -> None:
    """Raise BadImportLine if a text has a key or a token.

    The log of an export is hashed, so nothing in it can be replaced.
    """
    for name, value in row.values.items():
        match value:
            case str():
                text = value
            case Jsonb():
                text = bytes(value.obj).decode()
            case list():
                text = "\n".join(map(str, value))
            case _:
                continue
        try:
            secrets.check_name(name, text)
        except SecretsRefused as error:
            raise BadImportLine(row.number, describe_error(error)) from None


def _check_place(row: ExportRow, counts: Mapping[str, int]) -> None:
    """Raise BadImportLine unless a line of this type may follow those counted so far."""
    order = list(counts)
    for later in order[order.index(row.type) + 1 :]:
        if counts[later]:
            raise BadImportLine(
                row.number, f"A line of type {row.type} may not follow one of type {later}."
            )


def _check_counts(number: int, claimed: dict[str, int], counts: dict[str, int]) -> None:
    """Raise BadImportLine unless the last line counts the same; a type it omits counts as 0."""
    if dict.fromkeys(counts, 0) | claimed != counts:
        raise BadImportLine(
            number,
            f"It counts {claimed}, but before it stand {counts}: lines are missing or doubled.",
        )


async def _check_nothing_follows(lines: NumberedLines) -> None:
    async for line in lines:
        raise BadImportLine(line.number, "Nothing may follow the `end` line.")
