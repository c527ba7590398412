"""Dates that were read from the words of a fact: what they set, and what they mean for others.

Decision 0013 says why.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.dates.dated_text import DatedBy
from app.domain.fact import Fact
from app.domain.timeline import order_versions
from app.domain.version import OPEN_START, TICK, Version


def add_dates(fact: Fact, dated_by: DatedBy, told_at: datetime) -> Fact:
    """Return the fact with the start and the end that its words state.

    What the caller gave stays. A date that would leave the fact no time to hold is not used. If
    only an end is known and it has passed, the start is open.
    """
    start = dated_by.holds_from if fact.valid_from is None else None
    end = dated_by.holds_until if fact.valid_until is None else None
    if start is not None and fact.valid_until is not None and fact.valid_until <= start:
        start = None
    first = fact.valid_from or start
    if end is not None and first is not None and end <= first:
        end = None
    if start is None and end is None:
        return fact
    if end is not None and first is None and end <= told_at:
        first = OPEN_START
    return replace(
        fact,
        valid_from=first,
        valid_until=end or fact.valid_until,
        dated_by=replace(dated_by, holds_from=start, holds_until=end),
    )


def is_past(fact: Fact, told_at: datetime) -> bool:
    """Return True if the words say that the fact had ended when they were spoken."""
    dated_by = fact.dated_by
    if dated_by is None or dated_by.holds_until is None:
        return False
    return dated_by.holds_until <= told_at


def has_dated_start(fact: Fact) -> bool:
    """Return True if the fact begins when its words say."""
    return fact.dated_by is not None and fact.dated_by.holds_from is not None


def has_only_dated_end(fact: Fact) -> bool:
    """Return True if nothing is known of the time of the fact but an end that its words state."""
    return fact.dated_by is not None and fact.valid_from == OPEN_START


def choose_place(start: datetime, until: datetime | None) -> datetime:
    """Return the moment at which a fact with these ends is compared with others.

    It is the start, or the last moment of what has an open one.
    """
    return until - TICK if start == OPEN_START and until is not None else start


def find_told_later(
    chains: Chains,
    chain_id: UUID,
    *,
    start: datetime,
    told_at: datetime,
) -> Sequence[Version]:
    """Return the versions that only seem to begin after a fact which begins at `start`.

    They are the lasting versions of the chain that begin after `start`, oldest first, and the last
    of them holds at `told_at`, when the fact was told, or resumes after that. Nobody stated when
    they began, so each counts from when it was told; what was told held then, and may have held
    before. The fact was told after them and is about an earlier time, so they held before that.

    Return nothing if the start of one of them was stated. Then the fact comes late, and takes its
    place before them.
    """
    later = [
        version
        for version in order_versions(chains.find_chain(chain_id))
        if start < version.belief.valid_from <= told_at and not version.belief.temporary
    ]
    if not later or not later[-1].stands_at(told_at):
        return ()
    if not all(version.begins_when_told for version in later):
        return ()
    return later


def move_before(versions: Sequence[Version], start: datetime, now: datetime) -> list[Version]:
    """Return these versions, in their order, with starts just before `start`, asserted at `now`.

    Nobody knows when they began. A microsecond each keeps their order.
    """
    moved: list[Version] = []
    for place, version in enumerate(versions):
        distance = (len(versions) - place) * TICK
        moved.append(version.replace_claims(valid_from=start - distance, asserted_at=now))
    return moved
