"""The lines that an import answers."""

from typing import Literal

from pydantic import BaseModel


class ImportedLine(BaseModel):
    """A line of the answer to an import."""

    line: int
    id: str
    chain_id: str
    client_ref: str | int | None
    known_at: str


class NativeImported(BaseModel):
    __doc__ = (
        "The one line that answers the import of a native export: how many lines of each type were "
        "brought back."
    )

    type: Literal["imported"] = "imported"
    counts: dict[str, int]
