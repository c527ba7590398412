"""The time model of DESIGN §2: effective ends are computed from a chain's assertions, never edited pairwise."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from uuid import UUID

from app.domain.version import Belief, Memory, Status, Version


def order_versions(versions: Iterable[Version]) -> list[Version]:
    """The non-void versions by (valid_from, the known time at which that start was asserted)."""
    return sorted(
        (v for v in versions if not v.belief.void),
        key=lambda v: (v.belief.valid_from, v.belief.asserted_at),
    )


def begins_before(one: Memory | Version, other: Memory | Version) -> bool:
    """Whether one took its place before the other: the later start wins, of equal starts the later known."""
    return (one.belief.valid_from, one.belief.asserted_at) < (
        other.belief.valid_from,
        other.belief.asserted_at,
    )


def settle_chain(versions: Iterable[Version], now: datetime) -> list[Version]:
    """The chain with every computed field recomputed: no two versions overlap, at most one is open.

    `superseded_at` and `known_from` become `now` where what they date has changed; versions whose belief
    stays the same come back as they are.
    """
    versions = list(versions)
    line = order_versions(versions)
    following = {v.id: later for v, later in zip_longest(line, line[1:])}
    return [_settle_version(v, following.get(v.id), now) for v in versions]


def _settle_version(version: Version, following: Version | None, now: datetime) -> Version:
    belief = version.belief
    until, successor = _compute_end(belief, following)
    if (until, successor) == (belief.valid_until, belief.superseded_by):
        return version
    since = (
        belief.superseded_at if successor == belief.superseded_by else (now if successor else None)
    )
    return version.replace_claims(valid_until=until, superseded_by=successor, superseded_at=since)


def _compute_end(belief: Belief, following: Version | None) -> tuple[datetime | None, UUID | None]:
    """The effective end, and who takes over there. A tie between a bound and a successor's start names the successor."""
    if belief.void:
        return belief.valid_from, belief.ended_by
    bounds = [t for t in (belief.said_until, belief.retracted_at) if t is not None]
    if following is not None and all(following.belief.valid_from <= t for t in bounds):
        return max(belief.valid_from, following.belief.valid_from), following.id
    if not bounds:
        return None, None
    ends_retracted = belief.retracted_at is not None and belief.retracted_at == min(bounds)
    return max(belief.valid_from, min(bounds)), belief.ended_by if ends_retracted else None


def find_holding(chain: Sequence[Version], at: datetime) -> Version | None:
    """The version of a settled chain that holds at `at`: at most one does."""
    return next((v for v in chain if v.belief.holds_at(at)), None)


def find_next_after(chain: Sequence[Version], at: datetime) -> Version | None:
    """The first version of the chain that starts after `at`."""
    return next((v for v in order_versions(chain) if v.belief.valid_from > at), None)


def compute_status(belief: Belief, as_of: datetime) -> Status:
    """How a version stands at `as_of`, in the belief given."""
    if belief.void:
        return Status.REVERTED
    if belief.valid_from > as_of:
        return Status.SCHEDULED
    if belief.valid_until is None or belief.valid_until > as_of:
        return Status.CURRENT
    if belief.superseded_by is not None:
        return Status.MERGED if belief.merged else Status.SUPERSEDED
    retracted = belief.retracted_at is not None and (
        belief.said_until is None or belief.retracted_at <= belief.said_until
    )
    return Status.RETRACTED if retracted else Status.EXPIRED


def compute_memory_status(memory: Memory, as_of: datetime) -> Status:
    """How a memory stands at `as_of`: erased ones have nothing left but their place."""
    return Status.ERASED if memory.erased_at else compute_status(memory.belief, as_of)
