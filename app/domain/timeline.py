"""The time model of DESIGN §2: ends are computed from assertions, never edited in pairs.

A version ends where the next version of its chain begins, unless that one is temporary. A temporary
version was stored with a stated end. It covers what came before it until that end, and then what
it covered resumes (docs/decisions/0014).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.domain.version import Belief, Memory, Status, Version

_FOREVER = datetime.max.replace(tzinfo=UTC)


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

    Of the chain, at most one version holds at any moment, and at most one is open. `superseded_at`
    becomes `now` if the successor changes. Versions whose belief stays the same come back as they
    are.
    """
    versions = list(versions)
    settled = {v.id: v for v in settle_line(order_versions(versions), None, now)}
    return [settled.get(v.id) or settle_void(v, now) for v in versions]


@dataclass(frozen=True, slots=True)
class _Cover:
    """A time in which temporary versions hold without a gap; `first` is the one that begins it."""

    start: datetime
    end: datetime
    first: UUID


def settle_line(line: Sequence[Version], following: Version | None, now: datetime) -> list[Version]:
    """Return versions that follow one another in a chain, with their computed fields.

    `line` is in order and without void versions. `following` is the version after it, which is not
    temporary; None if nothing follows.
    """
    settled: list[Version] = []
    # What may cover the version at hand: disjoint covers, the earliest of them last.
    covers: list[_Cover] = []
    for version in reversed(line):
        settled.append(_settle_version(version, covers, following, now))
        if not version.belief.temporary:
            following, covers = version, []
            continue
        start, end = version.belief.valid_from, find_own_end(version.belief) or _FOREVER
        if start < end:
            # The version begins before all covers, or with the first.
            while covers and covers[-1].start <= end:
                end = max(end, covers.pop().end)
            covers.append(_Cover(start, end, version.id))
    settled.reverse()
    return settled


def find_own_end(belief: Belief) -> datetime | None:
    """Return the stated end or the retraction, whichever comes first."""
    ends = [end for end in (belief.said_until, belief.retracted_at) if end is not None]
    return min(ends, default=None)


def _settle_version(
    version: Version, covers: Sequence[_Cover], following: Version | None, now: datetime
) -> Version:
    belief = version.belief
    own_end = find_own_end(belief)
    until = own_end
    if following and (until is None or following.belief.valid_from < until):
        until = following.belief.valid_from
    if until is not None:
        until = max(until, belief.valid_from)
    until, covered = _apply_covers(covers, until)
    successor = _find_successor(until, own_end, covers, following)
    if successor is None and own_end is not None and belief.retracted_at == own_end:
        successor = belief.ended_by
    return _replace_computed(version, until, covered, successor, now)


def _apply_covers(
    covers: Sequence[_Cover], until: datetime | None
) -> tuple[datetime | None, tuple[datetime, ...]]:
    """Return the end of a version that covers lie over, and when it is covered and resumes.

    A version that does not resume before `until` ends where it is covered last.
    """
    covered: list[datetime] = []
    for cover in reversed(covers):
        if until is not None and cover.start >= until:
            break
        if cover.end >= (until or _FOREVER):
            return cover.start, tuple(covered)
        covered += [cover.start, cover.end]
    return until, tuple(covered)


def _find_successor(
    until: datetime | None,
    own_end: datetime | None,
    covers: Sequence[_Cover],
    following: Version | None,
) -> UUID | None:
    """Return the version that takes over at the end; None if the version's own end comes first.

    If a stated end or a retraction ties with a start, the version that starts is the successor.
    """
    if until is None or (own_end is not None and own_end < until):
        return None
    for cover in reversed(covers):
        if cover.start == until:
            return cover.first
        if cover.start > until:
            break
    if following and following.belief.valid_from == until:
        return following.id
    return None


def settle_void(version: Version, now: datetime) -> Version:
    """Return a withdrawn version, which depends on no other, with its computed fields."""
    belief = version.belief
    return _replace_computed(version, belief.valid_from, (), belief.ended_by, now)


def _replace_computed(
    version: Version,
    until: datetime | None,
    covered: tuple[datetime, ...],
    successor: UUID | None,
    now: datetime,
) -> Version:
    belief = version.belief
    if (until, covered, successor) == (belief.valid_until, belief.covered, belief.superseded_by):
        return version
    since = belief.superseded_at
    if successor != belief.superseded_by:
        since = now if successor else None
    return version.replace_claims(
        valid_until=until, covered=covered, superseded_by=successor, superseded_at=since
    )


def compute_status(belief: Belief, as_of: datetime) -> Status:
    """Return the status of a version at `as_of`, according to this belief."""
    if belief.void:
        return Status.REVERTED
    if belief.valid_from > as_of:
        return Status.SCHEDULED
    if belief.valid_until is None or belief.valid_until > as_of:
        return Status.COVERED if belief.is_covered_at(as_of) else Status.CURRENT
    if belief.superseded_by is not None:
        return Status.MERGED if belief.merged else Status.SUPERSEDED
    if belief.retracted_at is None:
        return Status.EXPIRED
    has_expired_before = belief.said_until is not None and belief.said_until < belief.retracted_at
    return Status.EXPIRED if has_expired_before else Status.RETRACTED


def compute_memory_status(memory: Memory, as_of: datetime) -> Status:
    """Return the status of a memory at `as_of`; an erased one has no other."""
    return Status.ERASED if memory.erased_at else compute_status(memory.belief, as_of)
