"""The part of one agent's memory that a write may touch, held in memory while it is planned."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from app.domain.errors import UnknownMemory
from app.domain.fact import BaseFact, Slot
from app.domain.version import Version

# A dictionary without values serves as a set that keeps the order of insertion.
Ids = dict[UUID, None]


class Chains:
    """Whole chains of versions, which can be looked up by id, slot or hash.

    A plan that was made from the chains can be absorbed, so that the next plan builds on it.
    """

    def __init__(self, versions: Iterable[Version] = ()) -> None:
        self._versions: dict[UUID, Version] = {}
        self._ids_by_chain: dict[UUID, Ids] = defaultdict(dict)
        self._ids_by_slot: dict[Slot, Ids] = defaultdict(dict)
        self._ids_by_fuzzy_hash: dict[bytes, Ids] = defaultdict(dict)
        self.absorb_versions(versions)

    def absorb_versions(self, versions: Iterable[Version]) -> None:
        """Add new versions, and replace known ones by their new states."""
        for version in versions:
            if version.id not in self._versions:
                self._ids_by_chain[version.chain_id][version.id] = None
                self._ids_by_slot[version.slot][version.id] = None
                self._ids_by_fuzzy_hash[version.fuzzy_hash][version.id] = None
            self._versions[version.id] = version

    def has_version(self, memory_id: UUID) -> bool:
        return memory_id in self._versions

    def get_version(self, memory_id: UUID) -> Version:
        """Return the version. Raise UnknownMemory if there is none."""
        try:
            return self._versions[memory_id]
        except KeyError:
            raise UnknownMemory(memory_id) from None

    def list_versions(self) -> Iterable[Version]:
        return self._versions.values()

    def find_chain(self, chain_id: UUID) -> list[Version]:
        """Return the versions of the chain; none if it is unknown."""
        ids = self._ids_by_chain.get(chain_id, {})
        return [self._versions[i] for i in ids]

    def find_value_chains(self, slot: Slot) -> list[list[Version]]:
        """Return the chains that hold this slot's one value, oldest first.

        There are several only if facts came unclassified.
        """
        chain_ids = {v.chain_id for v in self.find_in_slot(slot) if v.one_value}
        chains = [self.find_chain(chain_id) for chain_id in chain_ids]
        chains.sort(key=_find_first_creation)
        return chains

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


def _find_first_creation(chain: Iterable[Version]) -> tuple[datetime, UUID]:
    return min(map(_get_creation, chain))
