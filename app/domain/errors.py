"""The errors of the business, as facts.

A message states what is the case, and attributes hold the values that surfaces need. What can be
done about it is advice in the words of a surface: `app/advice.py` advises the person who runs the
service, and `api/problems.py` advises callers.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import ClassVar
from uuid import UUID

MOST_NAMED = 20  # ids that a message lists; the attributes hold all of them


class PalimpsestError(Exception):
    """The root of all errors that a caller can act on."""


class Unknown(PalimpsestError):
    """The agent has no such thing. A thing of another agent is unknown too."""

    noun: ClassVar[str]

    def __init__(self, thing_id: UUID | str) -> None:
        super().__init__(f"There is no {self.noun} {thing_id} here.")


class Conflict(PalimpsestError):
    """The call contradicts what is stored; `memory_ids` names what holds instead."""

    def __init__(self, message: str, memory_ids: Sequence[UUID] = ()) -> None:
        super().__init__(message)
        self.memory_ids = tuple(memory_ids)


class Unavailable(PalimpsestError):
    """Nothing was written, for a reason that passes; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


# --- facts and memories --------------------------------------------------------------------------


class InvalidFact(PalimpsestError):
    """The call contradicts itself, such as by an end that does not lie after its start."""


class NoModel(PalimpsestError):
    """The call asks for a language model, and none is configured or may judge."""

    def __init__(self) -> None:
        super().__init__("The call asks for a language model, and none is set. Nothing was stored.")


class UnknownMemory(Unknown):
    """The agent has no such memory at that known time. Another agent's memory is unknown too."""

    noun = "memory"


class NotYetKnown(PalimpsestError):
    """What was known at that time may still change.

    `settled_until` is the last time whose answer is final; None if the agent has no such time.
    """

    def __init__(self, known_at: datetime, settled_until: datetime | None) -> None:
        until = format_utc(settled_until) if settled_until else "no time"
        super().__init__(
            f"What was known at {format_utc(known_at)} may still change: this database is final "
            f"up to {until}."
        )
        self.settled_until = settled_until


class Withdrawn(Conflict):
    """The version was withdrawn (never true, or reverted) and cannot be acted on."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(f"Memory {memory_id} was withdrawn.", [memory_id])


class StaleVersion(PalimpsestError):
    """The memory changed since the caller read the revision that the call names."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(f"Memory {memory_id} has changed since the revision that the call names.")
        self.memory_id = memory_id


class DoesNotHold(Conflict):
    """The version does not hold at the moment at which it should end.

    `holds` is the version of its chain that holds then, or None.
    """

    def __init__(self, memory_id: UUID, at: datetime, holds: UUID | None) -> None:
        if holds is None:
            instead = "nothing in its chain does: store a new fact"
        else:
            instead = f"memory {holds} does: act on that one"
        super().__init__(
            f"Memory {memory_id} does not hold at {at.isoformat()}; {instead}.",
            [] if holds is None else [holds],
        )


class SuccessorDoesNotHold(Conflict):
    """A memory cannot take over at a moment at which it does not hold itself.

    `holds` is the version of its chain that holds then, `superseded_by` the one that ended it.
    """

    def __init__(
        self, memory_id: UUID, at: datetime, *, superseded_by: UUID | None, holds: UUID | None
    ) -> None:
        instead = holds or superseded_by
        if instead is None:
            reason = ""
        elif instead == superseded_by:
            reason = f": it was superseded by {instead}"
        else:
            reason = f": {instead} does"
        super().__init__(
            f"Memory {memory_id} cannot take over at {format_utc(at)}, because it does not hold "
            f"then{reason}.",
            [instead] if instead else [],
        )


class SupersessionRing(Conflict):
    """The named successor was superseded by the memory that it should supersede.

    `path` are the memories that superseded it in turn, up to that one.
    """

    def __init__(self, memory_id: UUID, path: Sequence[UUID]) -> None:
        super().__init__(f"Memory {memory_id} was superseded, in turn, by {_join_ids(path)}.", path)


class OthersInBetween(Conflict):
    """A backdated successor would skip versions that the call does not name."""

    def __init__(self, between: Sequence[UUID]) -> None:
        super().__init__(f"Other versions start in between: {_join_ids(between)}.", between)


class NoPreference(PalimpsestError):
    """Nothing holds for that category and key at that moment."""

    def __init__(self, entity: str, category: str, key: str) -> None:
        place = f"{category!r}/{key!r}" if category else f"{key!r} without a category"
        super().__init__(f"No preference of {entity!r} is known for {place} at that moment.")


# --- messages ------------------------------------------------------------------------------------


class TooManyPending(Unavailable):
    """The key has as many captures that wait to be read as a key may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The key has {most} captures that wait for a worker.", 30)


class UnknownCapture(Unknown):
    """The agent has no such capture. Another agent's capture is unknown too."""

    noun = "capture"


class CaptureUnfinished(Conflict):
    """Facts are still being read from the messages of the capture."""

    def __init__(self, capture_id: UUID) -> None:
        super().__init__(f"Capture {capture_id} is not finished.")


class SecretsRefused(PalimpsestError):
    """A field holds a secret, and the settings refuse it or nothing can take its place."""

    def __init__(self, place: str, kind: str) -> None:
        super().__init__(f"{place} holds a secret ({kind}). Nothing was stored.")


# --- erasing -------------------------------------------------------------------------------------


class Erased(PalimpsestError):
    """The memory was erased, so nothing can be done to it any more."""

    def __init__(self, memory_id: UUID) -> None:
        super().__init__(f"Memory {memory_id} was erased; only its place in time is left.")


class MergedElsewhere(Conflict):
    """The text to erase lives on in merged memories; `memory_ids` names them."""

    def __init__(self, descendants: Sequence[UUID]) -> None:
        super().__init__(
            f"Its text went into merged memories: {_join_ids(descendants)}.", descendants
        )


class NothingToErase(PalimpsestError):
    """The agent has nothing in that scope."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"There is nothing to erase for {scope} here.")


# --- the log, its archives and reverts -----------------------------------------------------------


class UnknownLogEntry(Unknown):
    """The agent's log has no such operation."""

    noun = "operation"


class OperationArchived(PalimpsestError):
    """The operation left the log for an archive.

    `file` is the archive's name within the archive folder, or None if the archive was given up.
    """

    def __init__(self, log_id: UUID, at: datetime, file: str | None) -> None:
        where = f"to the archive {file}" if file else "to an archive that is not kept here"
        super().__init__(
            f"Operation {log_id} of {at.astimezone(UTC).isoformat()} was moved {where}. "
            "It can be neither read nor undone here any more; what it did to memories stands: "
            "see their history, and store, retract or correct to change it."
        )
        self.file = file
        self.at = at


class SelectionArchived(PalimpsestError):
    """Operations that a selection may mean were archived; `until` is when the last was known."""

    def __init__(self, until: datetime, count: int) -> None:
        super().__init__(
            f"{count} operations that this selection may mean were archived, the last of "
            f"{format_utc(until)}, and cannot be undone any more. Nothing was undone."
        )
        self.until = until


class EventsArchived(PalimpsestError):
    """Operations behind the place of a reader were archived, the last of them `log_id`."""

    def __init__(self, log_id: UUID, until: datetime) -> None:
        super().__init__(
            f"Operations after that one were archived, the last of them {log_id} of "
            f"{format_utc(until)}. Their events are no longer to be had."
        )
        self.log_id = log_id
        self.until = until


class ArchivesUnavailable(Unavailable):
    """The archives of the log cannot be read or written, so that nothing was archived or erased."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, 60)


class ArchiveFolderMissing(ArchivesUnavailable):
    """There is no archive folder, and the service may not make it."""

    def __init__(self) -> None:
        super().__init__("The archive folder is not there")


class ArchiveFolderReadOnly(ArchivesUnavailable):
    """The service may not write in the archive folder."""

    def __init__(self) -> None:
        super().__init__("The archive folder cannot be written")


class ArchiveDamaged(ArchivesUnavailable):
    """An archive cannot be read, or its content is not what was written."""


class UnknownArchive(InvalidFact):
    """The agent has no archive of that name."""

    def __init__(self, agent: str, name: str) -> None:
        super().__init__(f"Agent {agent!r} has no archive {name!r}.")


class LogDamaged(PalimpsestError):
    """The log of a memory contradicts itself, so that no checkpoint may replace it."""

    def __init__(self, agent: str, memory_id: UUID | str) -> None:
        super().__init__(
            f"The log of agent {agent!r} cannot be replayed for memory {memory_id}, "
            "so that none of it was archived."
        )


class BuiltOn(Conflict):
    """Later operations built on the one to undo; `log_ids` names them, newest first."""

    def __init__(self, log_id: UUID, later: Sequence[UUID]) -> None:
        super().__init__(f"Later operations built on {log_id}{_list_after_colon(later)}.")
        self.log_ids = tuple(later)


class GroundMoved(Conflict):
    """Reverts removed what the operation was done on; `log_ids` names them, newest first.

    `undone` is the operation that undoing this one would undo a second time, if there is one.
    """

    def __init__(
        self,
        log_id: UUID,
        reverts: Sequence[UUID] = (),
        *,
        undone: UUID | None = None,
    ) -> None:
        ground = f"What {log_id} was done on"
        if undone:
            ground = f"Operation {undone}, which undoing {log_id} would undo,"
        super().__init__(f"{ground} has been undone since{_list_after_colon(reverts)}.")
        self.log_ids = tuple(reverts)
        self.undone = undone


class AlreadyReverted(Conflict):
    """The operation was undone before; `log_ids` names the revert."""

    def __init__(self, log_id: UUID, by: UUID) -> None:
        super().__init__(f"Operation {log_id} was undone before, by {by}.")
        self.log_ids = (by,)


class CannotRevert(PalimpsestError):
    """The operation erased something, and erased bytes are gone."""

    def __init__(self, log_id: UUID) -> None:
        super().__init__(f"Operation {log_id} erased something; that cannot be undone.")


# --- reviews, sweeps and agents ------------------------------------------------------------------


class UnknownReview(Unknown):
    """The agent has no such review."""

    noun = "review"


class AmbiguousReview(PalimpsestError):
    """Several reviews have ids that end like this."""

    def __init__(self, handle: str, review_ids: Sequence[UUID]) -> None:
        super().__init__(f"Several reviews end in {handle}: {_join_ids(review_ids)}.")


class UnknownLetter(PalimpsestError):
    """The answer names a letter that the question does not have."""

    def __init__(self, review_id: UUID, letter: str, letters: Sequence[str]) -> None:
        super().__init__(
            f"The question of review {review_id} has no ({letter}); it has {', '.join(letters)}."
        )


class NotForAgent(PalimpsestError):
    """The agent's own model may not decide the review; a person may."""

    def __init__(self, review_id: UUID, reason: str) -> None:
        super().__init__(f"Review {review_id} stays for a person: {reason}.")


class AlreadyDecided(Conflict):
    """The review was decided in another way, or is closed."""

    def __init__(self, review_id: UUID, status: str) -> None:
        super().__init__(f"Review {review_id} is {status} already.")


class ChoiceNeeded(PalimpsestError):
    """The review names several memories, and the call does not say which of them it means.

    `candidates` holds their texts by id; None for one that was erased.
    """

    def __init__(self, review_id: UUID, candidates: Mapping[UUID, str | None]) -> None:
        super().__init__(f"Review {review_id} names {len(candidates)} memories.")
        self.candidates = candidates


class NotCandidates(PalimpsestError):
    """The call chooses memories that the review does not name."""

    def __init__(self, review_id: UUID, memory_ids: Sequence[UUID]) -> None:
        named = ", ".join(map(str, memory_ids[:MOST_NAMED]))
        super().__init__(f"Review {review_id} does not name {named}.")


class CannotAccept(Conflict):
    """The proposal of the review makes no sense any more; `memory_ids` names what changed."""

    def __init__(self, review_id: UUID, reason: str, memory_ids: Sequence[UUID] = ()) -> None:
        super().__init__(f"Review {review_id} cannot be accepted: {reason}.", memory_ids)


class UnknownSweep(Unknown):
    """The agent has no such sweep."""

    noun = "sweep"


class SweepsOff(PalimpsestError):
    """The settings say that stored memories are not looked at again."""

    def __init__(self) -> None:
        super().__init__("Sweeps are switched off.")


class UnknownAgent(PalimpsestError):
    """Nothing was ever stored for that agent."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"Nothing was ever stored for an agent {agent!r}.")


class AgentFrozen(Unavailable):
    """The agent is frozen: nothing is written to its memories."""

    def __init__(self) -> None:
        super().__init__(
            "This agent is frozen: stores become reviews, and nothing else is written.", 60
        )


# --- keys of callers -----------------------------------------------------------------------------


class Forbidden(PalimpsestError):
    """The key of the call does not allow it."""


class ScopeMissing(Forbidden):
    """The key does not have the scope that the call needs."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The key of this call does not have the scope `{scope}`.")


class AgentForbidden(Forbidden):
    """The key is not for that agent, which may exist or not."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"The key of this call is not for the agent {agent!r}.")


class AgentNotNamed(Forbidden):
    """The key is for several agents, and the call does not say for which one it is."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(f"The key of this call is for {', '.join(agents)}.")


class TrustTooHigh(Forbidden):
    """The call states more trust than its key may give."""

    def __init__(self, stated: int, ceiling: int) -> None:
        super().__init__(f"trust is {stated}, and the key of this call gives at most {ceiling}.")


class HistoryForbidden(Forbidden):
    """The call would load a history with any trust, and its key may not give that."""

    def __init__(self, ceiling: int) -> None:
        super().__init__(
            "Only a key that may give the whole trust, 100, loads a history as it was. The key of "
            f"this call gives at most {ceiling}."
        )


class RightsExceeded(Forbidden):
    """The call would issue a key that may do more than the key of the call."""

    def __init__(self) -> None:
        super().__init__("The new key would allow more than the key of this call does.")


class UnknownKey(Unknown):
    """There is no such key, or it allows more than the key of the call."""

    noun = "key"


class KeyEnded(PalimpsestError):
    """The key was revoked or has expired, so it cannot be rotated."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"Key {key_id} was revoked or has expired.")


class KeysOff(PalimpsestError):
    """The service asks nobody for a key."""

    def __init__(self) -> None:
        super().__init__("This service asks for no key, so a key would protect nothing.")


# --- webhooks ------------------------------------------------------------------------------------


class UnknownWebhook(Unknown):
    """There is no such webhook, or it is for agents that the key of the call is not for."""

    noun = "webhook"


class TooManyWebhooks(PalimpsestError):
    """The key has as many webhooks as a key may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The key has {most} webhooks, and no key may have more.")


class AddressNotAllowed(PalimpsestError):
    """Nothing may be sent to the address; `reason` says in a sentence why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Nothing is sent to this address. {reason}")


# --- calls under an idempotency key --------------------------------------------------------------


class KeyReused(PalimpsestError):
    """An idempotency key came with another call than the first one under that key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"The idempotency key {key!r} was used for another call.")
        self.key = key


class AnswerErased(PalimpsestError):
    """The call was executed, and its answer held text that was erased since."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The call under the idempotency key {key!r} was executed; its answer is erased."
        )
        self.key = key


class AnswerNotKept(PalimpsestError):
    """A retry of a large import, whose answer was too large to store.

    `since` is the known time of the first operation of that import.
    """

    def __init__(self, *, since: datetime) -> None:
        super().__init__(
            "The whole import under this idempotency key was executed, and is not repeated. "
            "Its answer is too large to be kept."
        )
        self.since = since


# --- exports and imports -------------------------------------------------------------------------


class BadImportLine(PalimpsestError):
    """A line of an import cannot be taken; nothing of that import was stored."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"Line {line}: {reason}")
        self.line = line


class DamagedImport(PalimpsestError):
    """Each line of an export is valid, but together they are not an agent's history.

    Nothing of that import was stored.
    """


class NotEmpty(Conflict):
    """A native import restores an agent as it was, so that agent must hold nothing yet."""

    def __init__(self) -> None:
        super().__init__("The agent holds memories or operations already.")


# --- callers -------------------------------------------------------------------------------------


class CallerLeft(PalimpsestError):
    """The caller hung up before anything was written, and what they wanted was given up."""

    def __init__(self) -> None:
        super().__init__("The caller hung up. Nothing was written.")


# --- vectors -------------------------------------------------------------------------------------


class EmbedderUnavailable(Unavailable):
    """No vectors could be made; `reason` says in a sentence why.

    `wait` is the number of seconds that the encoder's server asked for, if it did.
    """

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        seconds = 5.0 if wait is None else min(wait, 3600.0)
        super().__init__(f"{reason} Nothing was written.", max(1, ceil(seconds)))
        self.reason = reason


class EmbedderKeyRefused(EmbedderUnavailable):
    """The encoder's server does not accept the key of the settings."""


class WrongVectorSize(EmbedderUnavailable):
    """The encoder's server answers with vectors of another size than the settings say."""

    def __init__(self, received: int, expected: int) -> None:
        super().__init__(
            f"The embedding server answered with {received} dimensions where the settings say "
            f"{expected}."
        )
        self.received = received
        self.expected = expected


class DatabaseSilent(Unavailable):
    """The database does not answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The database gave no answer within {seconds:.0f} seconds.", 5)


class DatabaseReadOnly(Unavailable):
    """The database takes no writes: it is a standby, or was made read-only."""

    def __init__(self) -> None:
        super().__init__("The database takes no writes.", 5)


class EmbeddingsChanged(Unavailable):
    """Another model made the vectors in the database than the one of this service."""

    def __init__(self, stored: str | None, own: str) -> None:
        super().__init__(
            f"The embeddings were changed to {stored}, and this service makes those of {own}. "
            "Nothing was written. Restart the service with the settings of the new model; "
            "searches in mode `text` work meanwhile.",
            60,
        )


def format_utc(moment: datetime) -> str:
    """Return a moment as RFC 3339 in UTC, such as 2026-03-01T12:00:00Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _join_ids(ids: Sequence[UUID]) -> str:
    return ", ".join(map(str, ids))


def _list_after_colon(ids: Sequence[UUID]) -> str:
    """Return the first ids after a colon; empty for no ids."""
    return f": {_join_ids(ids[:MOST_NAMED])}" if ids else ""
