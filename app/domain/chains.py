"""The part of one agent's memory that a write may touch, held in memory while it is planned."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from app.domain.errors import UnknownMemory
from app.domain.fact import BaseFact, Slot
from app.domain.version import Version


class Chains:
    """Whole chains of versions, found by id, slot or hash. A plan made over it can be absorbed, so that the next one builds on it."""

    def __init__(self, versions: Iterable[Version] = ()) -> None:
        self._versions: dict[UUID, Version] = {}
        self._chains: dict[UUID, dict[UUID, None]] = defaultdict(dict)
        self._slots: dict[Slot, dict[UUID, None]] = defaultdict(dict)
        self._fuzzy: dict[bytes, dict[UUID, None]] = defaultdict(dict)
        self.absorb_versions(versions)

    def absorb_versions(self, versions: Iterable[Version]) -> None:
        """Takes new versions in, and new states of known ones in place of the old."""
        for version in versions:
            if version.id not in self._versions:
                self._chains[version.chain_id][version.id] = None
                self._slots[version.slot][version.id] = None
                self._fuzzy[version.fuzzy_hash][version.id] = None
            self._versions[version.id] = version

    def has_version(self, memory_id: UUID) -> bool:
        return memory_id in self._versions

    def get_version(self, memory_id: UUID) -> Version:
        """Raises UnknownMemory."""
        try:
            return self._versions[memory_id]
        except KeyError:
            raise UnknownMemory(memory_id) from None

    def list_versions(self) -> Iterable[Version]:
        return self._versions.values()

    def find_chain(self, chain_id: UUID) -> list[Version]:
        return [self._versions[i] for i in self._chains.get(chain_id, ())]

    def find_value_chains(self, slot: Slot) -> list[list[Version]]:
        """The chains that hold this slot's one value, oldest first; more than one only where facts came unclassified."""
        members = (self._versions[i] for i in self._slots.get(slot, ()))
        chain_ids = {v.chain_id for v in members if v.one_value}
        return sorted(
            map(self.find_chain, chain_ids),
            key=lambda chain: min((v.created_at, v.id) for v in chain),
        )

    def find_in_slot(self, slot: Slot) -> list[Version]:
        return [self._versions[i] for i in self._slots.get(slot, ())]

    def find_same_text(self, fact: BaseFact, *, fuzzy: bool) -> list[Version]:
        """Versions with the same text, or the same loosely folded text, oldest first."""
        alike = (self._versions[i] for i in self._fuzzy.get(fact.fuzzy_hash, ()))
        found = (v for v in alike if fuzzy or v.content_hash == fact.content_hash)
        return sorted(found, key=lambda v: (v.created_at, v.id))
