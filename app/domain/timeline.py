"""The time model of DESIGN §2: ends are computed from assertions, never edited in pairs."""

from collections.abc import Iterable
from datetime import datetime
from itertools import zip_longest
from uuid import UUID

from app.domain.version import Belief, Memory, Status, Version


def order_versions(versions: Iterable[Version]) -> list[Version]:
    """Return the versions that are not void, by start.

    Equal starts are ordered by the known time at which they were asserted.
    """
    line = [version for version in versions if not version.belief.void]
    line.sort(key=_get_place)
    return line


def _get_place(memory: Memory | Version) -> tuple[datetime, datetime]:
    return memory.belief.valid_from, memory.belief.asserted_at


def begins_before(one: Memory | Version, other: Memory | Version) -> bool:
    """Return True if one begins before the other; of equal starts the later known is the later."""
    return _get_place(one) < _get_place(other)


def settle_chain(versions: Iterable[Version], now: datetime) -> list[Version]:
    """Return the chain with every computed field recomputed.

    No two versions overlap then, and at most one is open. `superseded_at` becomes `now` if the
    successor changes. Versions whose belief stays the same come back as they are.
    """
    versions = list(versions)
    line = order_versions(versions)
    following = {v.id: later for v, later in zip_longest(line, line[1:])}
    return [settle_version(v, following.get(v.id), now) for v in versions]


def settle_version(version: Version, following: Version | None, now: datetime) -> Version:
    """Return the version with its computed fields, given the one that follows it in its chain.

    A version that is void depends on no other.
    """
    belief = version.belief
    until, successor = _compute_end(belief, following)
    if (until, successor) == (belief.valid_until, belief.superseded_by):
        return version
    since = belief.superseded_at
    if successor != belief.superseded_by:
        since = now if successor else None
    return version.replace_claims(valid_until=until, superseded_by=successor, superseded_at=since)


def _compute_end(belief: Belief, following: Version | None) -> tuple[datetime | None, UUID | None]:
    """Return the effective end and the version that takes over there.

    If a stated end or a retraction ties with the start of the following version, that version is
    named as the successor.
    """
    if belief.void:
        return belief.valid_from, belief.ended_by
    bounds = [end for end in (belief.said_until, belief.retracted_at) if end is not None]
    if following is not None and all(following.belief.valid_from <= end for end in bounds):
        return max(belief.valid_from, following.belief.valid_from), following.id
    if not bounds:
        return None, None
    end = min(bounds)
    successor = belief.ended_by if belief.retracted_at == end else None
    return max(belief.valid_from, end), successor


def compute_status(belief: Belief, as_of: datetime) -> Status:
    """Return the status of a version at `as_of`, according to this belief."""
    if belief.void:
        return Status.REVERTED
    if belief.valid_from > as_of:
        return Status.SCHEDULED
    if belief.valid_until is None or belief.valid_until > as_of:
        return Status.CURRENT
    if belief.superseded_by is not None:
        return Status.MERGED if belief.merged else Status.SUPERSEDED
    if belief.retracted_at is None:
        return Status.EXPIRED
    has_expired_before = belief.said_until is not None and belief.said_until < belief.retracted_at
    return Status.EXPIRED if has_expired_before else Status.RETRACTED


def compute_memory_status(memory: Memory, as_of: datetime) -> Status:
    """Return the status of a memory at `as_of`; an erased one has no other."""
    return Status.ERASED if memory.erased_at else compute_status(memory.belief, as_of)
