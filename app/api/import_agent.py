"""The lines of a native export in the order in which they come in."""

from collections.abc import AsyncIterator

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
            # A type that the last line omits counts as 0.
            if dict.fromkeys(counts, 0) | row.counts != counts:
                raise BadImportLine(
                    line.number,
                    f"It counts {row.counts}, but before it stand {counts}: lines are missing or "
                    "doubled.",
                )
            async for following in lines:
                raise BadImportLine(following.number, "Nothing may follow the `end` line.")
            return
        order = list(counts)
        for later in order[order.index(row.type) + 1 :]:
            if counts[later]:
                reason = f"A line of type {row.type} may not follow one of type {later}."
                raise BadImportLine(row.number, reason)
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
