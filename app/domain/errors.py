"""What can go wrong, as facts. `api/problems.py` gives each a status and a problem type."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from uuid import UUID


class PalimpsestError(Exception):
    """The root of all errors that a caller can act on; the message says what to do next."""


class InvalidFact(PalimpsestError):
    """What was sent contradicts itself, such as an end that does not lie after its start."""


class UnknownMemory(PalimpsestError):
    """No such memory in this agent at that known time; another agent's memory answers the same."""

    def __init__(self, memory_id: UUID | str) -> None:
        super().__init__(
            f"There is no memory {memory_id} here. Look its id up with GET /v1/memories or POST /v1/search."
        )


class UnknownLogEntry(PalimpsestError):
    """No such operation in this agent's log."""

    def __init__(self, log_id: UUID | str) -> None:
        super().__init__(f"There is no operation {log_id} here. GET /v1/log lists them.")


class OperationArchived(PalimpsestError):
    """The operation left the log for an archive; `file` names that within the archive folder, None where it is not kept here."""

    def __init__(self, log_id: UUID, at: datetime, file: str | None) -> None:
        where = f"to the archive {file}" if file else "to an archive that is not kept here"
        super().__init__(
            f"Operation {log_id} of {at.astimezone(UTC).isoformat()} was moved {where}. It can be neither read nor undone here any more; "
            "what it did to memories stands: see their history, and store, retract or correct to change it."
        )
        self.file = file
        self.at = at


class SelectionArchived(PalimpsestError):
    """Operations that may be meant by a selection were archived; `until` is the known time of the latest of them."""

    def __init__(self, until: datetime, count: int) -> None:
        told = until.astimezone(UTC).isoformat().replace("+00:00", "Z")
        super().__init__(
            f"{count} operations that this selection may mean were archived, the last of {told}, and cannot be undone any more. "
            "Nothing was undone. To undo what came later, send `since` after that time."
        )
        self.until = until


class UnknownSweep(PalimpsestError):
    """No such sweep of this agent."""

    def __init__(self, sweep_id: UUID | str) -> None:
        super().__init__(f"There is no sweep {sweep_id} here. GET /v1/sweeps lists them.")


class SweepsOff(PalimpsestError):
    """The settings say that stored memories are not looked at again."""

    def __init__(self) -> None:
        super().__init__(
            "Sweeps are switched off. Set PALIMPSEST_SUPERSESSION_ENABLED=true for the service and its workers."
        )


class UnknownAgent(PalimpsestError):
    """Nothing was ever stored for that agent."""

    def __init__(self, agent: str) -> None:
        super().__init__(
            f"Nothing was ever stored for an agent {agent!r}. GET /v1/agents lists those that are known."
        )


class NoPreference(PalimpsestError):
    """Nothing holds for that category and key at that moment."""

    def __init__(self, entity: str, category: str, key: str) -> None:
        place = f"{category!r}/{key!r}" if category else f"{key!r} without a category"
        super().__init__(f"No preference of {entity!r} is known for {place} at that moment.")


class Conflict(PalimpsestError):
    """The call contradicts what is stored; `memory_ids` names what holds instead."""

    def __init__(self, message: str, memory_ids: Sequence[UUID] = ()) -> None:
        super().__init__(message)
        self.memory_ids = tuple(memory_ids)


class Withdrawn(Conflict):
    """The version was withdrawn (never true, or reverted) and cannot be acted on."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(
            f"Memory {memory_id} was withdrawn. Act on a version that holds: see its history.",
            [memory_id],
        )


class Erased(PalimpsestError):
    """The memory was erased: its place in time is left, and nothing can be done to it any more."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(
            f"Memory {memory_id} was erased; only its place in time is left. Store a new fact instead."
        )
        self.memory_id = memory_id


class MergedElsewhere(Conflict):
    """What should be erased lives on in merged memories; `memory_ids` names them."""

    def __init__(self, descendants: Sequence[UUID]) -> None:
        named = ", ".join(map(str, descendants))
        super().__init__(
            f"Its text went into merged memories: {named}. Send cascade=true to erase those too.",
            descendants,
        )


class NothingToErase(PalimpsestError):
    """Nothing of this agent is in that scope."""

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"There is nothing to erase for {scope} here. GET /v1/memories?include_superseded=true lists what is stored."
        )


class BuiltOn(Conflict):
    """Later operations built on the one to be undone; `log_ids` names them, newest first."""

    def __init__(self, log_id: UUID, later: Sequence[UUID]) -> None:
        named = f": {', '.join(map(str, later[:20]))}" if later else ""
        super().__init__(
            f"Later operations built on {log_id}{named}. Undo those first, or send cascade=true to undo them with it."
        )
        self.log_ids = tuple(later)


class Unavailable(PalimpsestError):
    """Nothing was written, for a reason that passes; `retry_after` says in how many seconds to try again."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AgentFrozen(Unavailable):
    """The agent is frozen: nothing is written to its memories."""

    def __init__(self) -> None:
        super().__init__(
            'This agent is frozen: stores become reviews, and nothing else is written. PATCH /v1/agents/ID {"mode": "live"} ends it.',
            60,
        )


class ArchivesUnavailable(Unavailable):
    """The archives of the log cannot be read or written as they must; `reason` says in a sentence why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Nothing was archived or erased.", 60)


class LogDamaged(PalimpsestError):
    """What the log tells of a memory does not add up, so that nothing may be put in its place."""

    def __init__(self, agent: str, memory_id: UUID | str) -> None:
        super().__init__(
            f"The log of agent {agent!r} cannot be replayed for memory {memory_id}, so that none of it was archived. "
            "`palimpsest doctor` says what is wrong."
        )


class UnknownReview(PalimpsestError):
    """No such review in this agent."""

    def __init__(self, review_id: UUID) -> None:
        super().__init__(f"There is no review {review_id} here. GET /v1/reviews lists them.")


class AlreadyDecided(Conflict):
    """The review was decided the other way, or has expired."""

    def __init__(self, review_id: UUID, status: str) -> None:
        super().__init__(
            f"Review {review_id} is {status} already. To change your mind, revert the operation that decided it."
        )


class CannotAccept(Conflict):
    """What the review proposes makes no sense any more; `memory_ids` names what went another way."""

    def __init__(self, review_id: UUID, reason: str, memory_ids: Sequence[UUID] = ()) -> None:
        super().__init__(
            f"Review {review_id} cannot be accepted: {reason}. Reject it, or act on the memories themselves.",
            memory_ids,
        )


class GroundMoved(Conflict):
    """What the operation was done on has been undone since; `log_ids` names the reverts, newest first."""

    def __init__(self, log_id: UUID, reverts: Sequence[UUID] = ()) -> None:
        named = f": {', '.join(map(str, reverts[:20]))}" if reverts else ""
        super().__init__(
            f"What {log_id} was done on has been undone since{named}. Revert those reverts first."
        )
        self.log_ids = tuple(reverts)


class AlreadyReverted(Conflict):
    """The operation was undone before; `log_ids` names the revert."""

    def __init__(self, log_id: UUID, by: UUID) -> None:
        super().__init__(
            f"Operation {log_id} was undone before, by {by}. Revert that one to do it again."
        )
        self.log_ids = (by,)


class CannotRevert(PalimpsestError):
    """The operation cannot be undone: what was erased is gone."""

    def __init__(self, log_id: UUID) -> None:
        super().__init__(f"Operation {log_id} erased something; that cannot be undone.")


class DoesNotHold(Conflict):
    """The version does not hold at the moment at which it should end; `memory_ids` names what does."""

    def __init__(self, memory_id: UUID, at: datetime, holds: UUID | None) -> None:
        instead = (
            f"memory {holds} does: act on that one"
            if holds
            else "nothing in its chain does: store a new fact"
        )
        super().__init__(
            f"Memory {memory_id} does not hold at {at.isoformat()}; {instead}.",
            [holds] if holds else [],
        )
        self.holds = holds


class OthersInBetween(Conflict):
    """A backdated successor would skip versions that the call does not name."""

    def __init__(self, between: Sequence[UUID]) -> None:
        named = ", ".join(map(str, between))
        super().__init__(
            f"Other versions start in between: {named}. Name them in `supersedes` too, or choose a later valid_from.",
            between,
        )


class StaleVersion(PalimpsestError):
    """The memory changed since the ETag in If-Match was read."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(
            f"Memory {memory_id} has changed since that ETag was read. GET it again and decide anew."
        )
        self.memory_id = memory_id


class KeyReused(PalimpsestError):
    """An idempotency key came with another call than the one that it was first given to."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Idempotency-Key {key!r} was used for another call. Repeat that one exactly, or send this one under a key of its own."
        )


class AnswerErased(PalimpsestError):
    """The call was executed, and what it answered was erased since."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The call under Idempotency-Key {key!r} was executed; its answer told of what was erased since, and is gone with it."
        )


class AnswerNotKept(PalimpsestError):
    """What a large import is answered with from the second time on."""

    def __init__(self, *, since: datetime) -> None:
        told = since.astimezone(UTC).isoformat().replace("+00:00", "Z")
        super().__init__(
            "The whole import under this Idempotency-Key was executed, and is not repeated. Its answer is too large to be kept: "
            f"GET /v1/log?since={told} shows what it stored."
        )


class BadImportLine(PalimpsestError):
    """A line of an import cannot be taken; nothing of that import was kept."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(
            f"Line {line}: {reason} Nothing of this import was kept; correct the line and send it again."
        )
        self.line = line


class EmbedderUnavailable(Unavailable):
    """No vectors could be made; `reason` says in a sentence why. `wait`: the seconds that the encoder's server asked for."""

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(
            f"{reason} Nothing was written. Try again later; searches in mode `text` need no embeddings.",
            max(1, ceil(min(wait if wait is not None else 5.0, 3600.0))),
        )
        self.reason = reason


class EmbeddingsChanged(Unavailable):
    """The database's vectors are another model's than this service's."""

    def __init__(self, stored: str | None, own: str) -> None:
        super().__init__(
            f"The embeddings were changed to {stored}, and this service makes those of {own}. Nothing was written. "
            "Restart the service with the settings of the new model; searches in mode `text` work meanwhile.",
            60,
        )


class DamagedImport(PalimpsestError):
    """The lines of an export are good one by one, but together they are not an agent's history; nothing of it was kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason} Nothing of this import was kept; export the agent again and import that file unchanged."
        )


class NotEmpty(Conflict):
    """A native import brings an agent back as it was, so it goes into one that holds nothing."""

    def __init__(self) -> None:
        super().__init__(
            "The agent holds memories or operations already. Import the export into an agent that does not: name another one."
        )


class TooManyExports(Unavailable):
    """Each export holds a database connection for as long as its reader takes."""

    def __init__(self) -> None:
        super().__init__(
            "As many exports are running as this process allows. Try again when one has ended.", 5
        )
