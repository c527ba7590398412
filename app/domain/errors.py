"""What can go wrong, as facts. `api/problems.py` gives each a status and a problem type."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID


class PalimpsestError(Exception):
    """The root of all errors that a caller can act on; the message says what to do next."""


class InvalidFact(PalimpsestError):
    """What was sent contradicts itself, such as an end that does not lie after its start."""


class UnknownMemory(PalimpsestError):
    """No such memory in this agent at that known time; another agent's memory answers the same."""

    def __init__(self, memory_id: UUID | str) -> None:
        super().__init__(f"There is no memory {memory_id} here. Look its id up with GET /v1/memories or POST /v1/search.")


class UnknownLogEntry(PalimpsestError):
    """No such operation in this agent's log."""

    def __init__(self, log_id: UUID | str) -> None:
        super().__init__(f"There is no operation {log_id} here. GET /v1/log lists them.")


class NoPreference(PalimpsestError):
    """Nothing holds for that category and key at that moment."""

    def __init__(self, entity: str, category: str, key: str) -> None:
        super().__init__(f"No preference of {entity!r} is known for {category!r}/{key!r} at that moment.")


class Conflict(PalimpsestError):
    """The call contradicts what is stored; `memory_ids` names what holds instead."""

    def __init__(self, message: str, memory_ids: Sequence[UUID] = ()) -> None:
        super().__init__(message)
        self.memory_ids = tuple(memory_ids)


class Withdrawn(Conflict):
    """The version was withdrawn (never true, or reverted) and cannot be acted on."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(f"Memory {memory_id} was withdrawn. Act on a version that holds: see its history.", [memory_id])


class DoesNotHold(Conflict):
    """The version does not hold at the moment at which it should end; `memory_ids` names what does."""

    def __init__(self, memory_id: UUID, at: datetime, holds: UUID | None) -> None:
        instead = f"memory {holds} does: act on that one" if holds else "nothing in its chain does: store a new fact"
        super().__init__(f"Memory {memory_id} does not hold at {at.isoformat()}; {instead}.", [holds] if holds else [])
        self.holds = holds


class OthersInBetween(Conflict):
    """A backdated successor would skip versions that the call does not name."""

    def __init__(self, between: Sequence[UUID]) -> None:
        named = ", ".join(map(str, between))
        super().__init__(f"Other versions start in between: {named}. Name them in `supersedes` too, or choose a later valid_from.", between)


class StaleVersion(PalimpsestError):
    """The memory changed since the ETag in If-Match was read."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(f"Memory {memory_id} has changed since that ETag was read. GET it again and decide anew.")
        self.memory_id = memory_id


class BadImportLine(PalimpsestError):
    """A line of an import cannot be taken; nothing of that import was kept."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"Line {line}: {reason} Nothing of this import was kept; correct the line and send it again.")
        self.line = line


class DamagedImport(PalimpsestError):
    """The lines of an export are good one by one, but together they are not an agent's history; nothing of it was kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Nothing of this import was kept; export the agent again and import that file unchanged.")


class NotEmpty(Conflict):
    """A native import brings an agent back as it was, so it goes into one that holds nothing."""

    def __init__(self) -> None:
        super().__init__("The agent holds memories or operations already. Import the export into an agent that does not: name another one.")


class TooManyExports(PalimpsestError):
    """Each export holds a database connection for as long as its reader takes."""

    def __init__(self) -> None:
        super().__init__("As many exports are running as this process allows. Try again when one has ended.")
