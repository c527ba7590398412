"""The part of one agent's memory that a write may touch, held in memory while it is planned."""

from bisect import bisect_left, bisect_right, insort
from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from operator import itemgetter
from uuid import UUID

from app.domain.errors import UnknownMemory
from app.domain.fact import BaseFact, Slot
from app.domain.timeline import find_own_end, settle_line, settle_void
from app.domain.version import Version

# A dictionary without values serves as a set that keeps the order of insertion.
Ids = dict[UUID, None]

# The place of a version in the line of its chain: its start, the known time at which that start
# was asserted, and its id. Two starts of one chain are never asserted at the same known time.
Place = tuple[datetime, datetime, UUID]

_get_start = itemgetter(0)


class Chains:
    """Whole chains of versions, which can be looked up by id, slot or hash.

    A plan that was made from the chains can be absorbed, so that the next plan builds on it. The
    versions of a chain that are not void are kept in the order of their starts, so a plan costs no
    more in a long chain than in a short one.
    """

    def __init__(self, versions: Iterable[Version] = ()) -> None:
        self._clear()
        self.absorb_versions(versions)

    def _clear(self) -> None:
        self._versions: dict[UUID, Version] = {}
        self._ids_by_chain: dict[UUID, Ids] = defaultdict(dict)
        self._line_by_chain: dict[UUID, list[Place]] = defaultdict(list)
        self._creation_by_chain: dict[UUID, tuple[datetime, UUID]] = {}
        self._value_chains_by_slot: dict[Slot, Ids] = defaultdict(dict)
        self._oldest_first: dict[Slot, list[UUID]] = {}
        self._ids_by_slot: dict[Slot, Ids] = defaultdict(dict)
        self._ids_by_fuzzy_hash: dict[bytes, Ids] = defaultdict(dict)

    def absorb_versions(self, versions: Iterable[Version]) -> None:
        """Add new versions, and replace known ones by their new states."""
        for version in versions:
            before = self._versions.get(version.id)
            if before is not None and before.chain_id != version.chain_id:
                # A version rarely joins another chain, so all others are simply indexed anew.
                others = [other for other in self._versions.values() if other.id != version.id]
                self._clear()
                self.absorb_versions(others)
                before = None
            line = self._line_by_chain[version.chain_id]
            if before is None:
                self._index_version(version)
            else:
                _remove_from_line(line, before)
            _add_to_line(line, version)
            self._versions[version.id] = version

    def _index_version(self, version: Version) -> None:
        chain_id = version.chain_id
        self._ids_by_chain[chain_id][version.id] = None
        self._ids_by_slot[version.slot][version.id] = None
        self._ids_by_fuzzy_hash[version.fuzzy_hash][version.id] = None
        # A chain is as old as the version that began it, whatever has joined it.
        is_known = chain_id in self._creation_by_chain
        if version.id == chain_id or not is_known:
            self._creation_by_chain[chain_id] = _get_creation(version)
        if version.id == chain_id and is_known:
            self._oldest_first.clear()
        if version.one_value and chain_id not in self._value_chains_by_slot[version.slot]:
            self._value_chains_by_slot[version.slot][chain_id] = None
            self._oldest_first.pop(version.slot, None)

    def has_version(self, memory_id: UUID) -> bool:
        return memory_id in self._versions

    def get_version(self, memory_id: UUID) -> Version:
        """Return the version. Raise UnknownMemory if there is none."""
        try:
            return self._versions[memory_id]
        except KeyError:
            raise UnknownMemory(memory_id) from None

    def list_versions(self) -> Collection[Version]:
        return self._versions.values()

    def find_chain(self, chain_id: UUID) -> list[Version]:
        """Return the versions of the chain; none if it is unknown."""
        ids = self._ids_by_chain.get(chain_id, {})
        return [self._versions[i] for i in ids]

    def find_value_chains(self, slot: Slot) -> Sequence[UUID]:
        """Return the chains that hold this slot's one value, oldest first.

        There are several only if facts came unclassified.
        """
        if slot not in self._oldest_first:
            chain_ids = self._value_chains_by_slot.get(slot, {})
            self._oldest_first[slot] = sorted(chain_ids, key=self._creation_by_chain.__getitem__)
        return self._oldest_first[slot]

    def find_holding(self, chain_id: UUID, at: datetime) -> Version | None:
        """Return the version of the chain that holds at `at`: at most one does."""
        # The last version to start decides, unless it is temporary and over by then.
        line = self._line_by_chain.get(chain_id, [])
        for index in range(bisect_right(line, at, key=_get_start) - 1, -1, -1):
            version = self._versions[line[index][-1]]
            if version.belief.holds_at(at):
                return version
            if not version.belief.temporary:
                return None
        return None

    def find_lasting(self, chain_id: UUID, at: datetime) -> Version | None:
        """Return the version that holds at `at` or resumes after the temporary ones that do."""
        line = self._line_by_chain.get(chain_id, [])
        for index in range(bisect_right(line, at, key=_get_start) - 1, -1, -1):
            version = self._versions[line[index][-1]]
            if not version.belief.temporary:
                return version if version.stands_at(at) else None
        return None

    def find_resuming(self, version: Version, at: datetime) -> list[Version]:
        """Return the versions that would hold in turn if this one, which holds at `at`, ended then.

        There are none unless it is temporary.
        """
        line = self._line_by_chain.get(version.chain_id, [])
        resuming: list[Version] = []
        is_temporary, index = version.belief.temporary, bisect_right(line, at, key=_get_start)
        while is_temporary and index > 0:
            index -= 1
            before = self._versions[line[index][-1]]
            is_temporary = before.belief.temporary
            end = find_own_end(before.belief)
            is_earlier = _get_place(before) < _get_place(version)
            if is_earlier and (end is None or end > at):
                resuming.append(before)
        return resuming

    def count_others_temporary(self, version: Version) -> int:
        """Return how many other temporary versions cover what this one covers at its place."""
        line = self._line_by_chain.get(version.chain_id, [])
        index = bisect_right(line, version.belief.valid_from, key=_get_start)
        before = takewhile(self._is_temporary, reversed(line[:index]))
        after = takewhile(self._is_temporary, line[index:])
        return sum(1 for place in (*before, *after) if place[-1] != version.id)

    def _is_temporary(self, place: Place) -> bool:
        return self._versions[place[-1]].belief.temporary

    def find_next_after(self, chain_id: UUID, at: datetime) -> Version | None:
        """Return the first version of the chain that starts after `at`."""
        line = self._line_by_chain.get(chain_id, [])
        place = bisect_right(line, at, key=_get_start)
        return self._versions[line[place][-1]] if place < len(line) else None

    def find_next_lasting(self, chain_id: UUID, at: datetime) -> Version | None:
        """Return the first version of the chain that starts after `at` and is not temporary."""
        line = self._line_by_chain.get(chain_id, [])
        for place in line[bisect_right(line, at, key=_get_start) :]:
            if not self._is_temporary(place):
                return self._versions[place[-1]]
        return None

    def settle_claims(
        self, chain_id: UUID, claims: Iterable[Version], now: datetime
    ) -> list[Version]:
        """Return the versions of the chain as they are once it has these claims, oldest first.

        `claims` are versions with other assertions, or new ones: they stand in the chain, or have
        left it for another one. Beside those that stand in it only those come back that may change
        with them: around each old or new place of a claim, from the last version that is not
        temporary to the next one. The chains stay as they are.
        """
        by_id = {claim.id: claim for claim in claims}
        claimed = {claim.id: claim for claim in by_id.values() if claim.chain_id == chain_id}
        line = self._line_by_chain.get(chain_id, []).copy()
        moved: list[Place] = []
        for claim in by_id.values():
            before = self._versions.get(claim.id)
            if before is not None and before.chain_id == chain_id:
                _remove_from_line(line, before)
                moved.append(_get_place(before))
            if claim.chain_id == chain_id:
                _add_to_line(line, claim)
                moved.append(_get_place(claim))
        versions = ChainMap(claimed, self._versions)
        settled = [settle_void(claim, now) for claim in claimed.values() if claim.belief.void]
        for start, end in _find_stretches(line, moved, versions):
            stretch = [versions[place[-1]] for place in line[start:end]]
            following = versions[line[end][-1]] if end < len(line) else None
            settled += settle_line(stretch, following, now)
        return sorted(settled, key=_get_creation)

    def find_in_slot(self, slot: Slot) -> list[Version]:
        """Return the versions of the slot in all chains."""
        ids = self._ids_by_slot.get(slot, {})
        return [self._versions[i] for i in ids]

    def find_same_text(self, fact: BaseFact, *, fuzzy: bool) -> list[Version]:
        """Return the versions with the same text, oldest first.

        With `fuzzy`, texts count as the same if their loose folds are equal.
        """
        ids = self._ids_by_fuzzy_hash.get(fact.fuzzy_hash, {})
        versions = [self._versions[i] for i in ids]
        if not fuzzy:
            versions = [v for v in versions if v.content_hash == fact.content_hash]
        versions.sort(key=_get_creation)
        return versions


def _get_creation(version: Version) -> tuple[datetime, UUID]:
    return version.created_at, version.id


def _get_place(version: Version) -> Place:
    return version.belief.valid_from, version.belief.asserted_at, version.id


def _add_to_line(line: list[Place], version: Version) -> None:
    if not version.belief.void:
        insort(line, _get_place(version))


def _remove_from_line(line: list[Place], version: Version) -> None:
    if not version.belief.void:
        del line[bisect_left(line, _get_place(version))]


def _find_stretches(
    line: Sequence[Place], moved: Iterable[Place], versions: Mapping[UUID, Version]
) -> list[tuple[int, int]]:
    """Return the parts of the line, half-open and disjoint, that may change with these places.

    Each begins at a version that is not temporary, or with the line, and ends before another one.
    """

    def is_temporary(index: int) -> bool:
        return versions[line[index][-1]].belief.temporary

    stretches: list[tuple[int, int]] = []
    for place in sorted(moved):
        start = max(bisect_left(line, place) - 1, 0)
        while start > 0 and is_temporary(start):
            start -= 1
        end = bisect_right(line, place)
        while end < len(line) and is_temporary(end):
            end += 1
        if stretches and start < stretches[-1][1]:
            before = stretches.pop()
            start, end = before[0], max(before[1], end)
        stretches.append((start, end))
    return stretches
