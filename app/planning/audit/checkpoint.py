"""A checkpoint: a memory's state in place of the operations that left it, without any text.

Words are sealed: only their hash is kept. So replaying can go on, and the doctor can still compare
the table with the log, but nobody can read what the words were. Erasing removes the seals too.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.planning.audit.replay import BELIEF, ReplayedMemory, ReplayStep, replay_memory

# The columns that replaying and repairing need as they are. All others may be words: sealed.
UNSEALED = (
    *BELIEF,
    "created_at",
    "revision",
    "kind",
    "importance",
    "confidence",
    "trust",
    "lifespan",
    "merged_from",
    "said_at",
    "said_in",
)


class SealedValue:
    """A value known by its hash. It equals every value with the same hash."""

    __slots__ = ("digest",)

    def __init__(self, digest: str) -> None:
        self.digest = digest

    def __eq__(self, other: object) -> bool:
        return self.digest == seal_value(other)

    def __hash__(self) -> int:
        return hash(self.digest)


def seal_value(value: object) -> str:
    """Return the SHA-256, in hexadecimal, of a value of the log as JSON."""
    if isinstance(value, SealedValue):
        return value.digest
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


# A relationship of a memory to a target; and the same with True if it was made, False if removed.
RelationshipState = dict[str, str]
RelationshipChange = tuple[RelationshipState, bool]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state that the operations on a memory left, up to a known time.

    `state` is JSON: the memory's place in time, the hashes of its past beliefs, the operation that
    inserted it, its counters, and its outgoing relationships, each with its operation. `sealed` has
    the hash of each of its words.
    """

    state: Mapping[str, Any]
    sealed: Mapping[str, str] = field(default_factory=dict)

    def resume_replay(self) -> ReplayedMemory:
        """Return the state from which replaying goes on, with words and past beliefs sealed."""
        state = self.state
        return ReplayedMemory(
            row=state["row"] | _open_seals(self.sealed),
            inserted_by=list(state["inserted_by"]),
            access_count=int(state["access_count"]),
            last_reinforced_at=state["last_reinforced_at"],
            folded=_open_seals(state["past"]),
        )

    @property
    def links(self) -> list[RelationshipState]:
        return list(self.state["links"])


class InconsistentOperations(ValueError):
    """The operations on a memory contradict each other: a checkpoint would hide the damage."""


def advance_checkpoint(
    before: Checkpoint | None, steps: Iterable[ReplayStep], links: list[RelationshipState]
) -> Checkpoint:
    """Return the checkpoint after these steps, with these relationships.

    Raise UnreadableOperation or InconsistentOperations if the steps cannot be folded.
    """
    replayed = replay_memory(steps, before.resume_replay() if before else None)
    if replayed.surprised or len(replayed.inserted_by) != 1:
        raise InconsistentOperations
    plain = {name: value for name, value in replayed.row.items() if name in UNSEALED}
    words = {name: value for name, value in replayed.row.items() if name not in UNSEALED}
    state = {
        "row": plain,
        "past": _seal_values(replayed.past_by_start),
        "inserted_by": list(map(str, replayed.inserted_by)),
        "access_count": replayed.access_count,
        "last_reinforced_at": replayed.last_reinforced_at,
        "links": links,
    }
    return Checkpoint(state, sealed=_seal_values(words))


def _open_seals(digests: Mapping[str, str]) -> dict[str, SealedValue]:
    return {name: SealedValue(digest) for name, digest in digests.items()}


def _seal_values(values: Mapping[str, object]) -> dict[str, str]:
    return {name: seal_value(value) for name, value in values.items()}


def apply_relationship_changes(
    links: Iterable[RelationshipState], changes: Iterable[RelationshipChange]
) -> list[RelationshipState]:
    """Return the relationships after some were made and removed, in the order of the log."""
    current = {(link["target"], link["type"]): link for link in links}
    for link, is_made in changes:
        place = (link["target"], link["type"])
        if is_made:
            current[place] = link
        else:
            current.pop(place, None)
    return list(current.values())
