"""What is kept of a memory in place of the operations that told of it: enough to go on replaying the log, and no text.

Words are sealed, that is known by their hash alone: whether the table still says what the log told can be seen, and what it was cannot
be read. Erasing takes the seals too.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.planning.audit.replay import BELIEF, ReplayedMemory, ReplayStep, replay_memory

# Replaying and repairing need these values as they are. Every other value may be words and is sealed.
UNSEALED = (
    *BELIEF,
    "chain_id",
    "created_at",
    "revision",
    "kind",
    "importance",
    "confidence",
    "trust",
    "lifespan",
    "merged_from",
)


class SealedValue:
    """A value known by its hash: equal to whatever has the same one."""

    __slots__ = ("digest",)

    def __init__(self, digest: str) -> None:
        self.digest = digest

    def __eq__(self, other: object) -> bool:
        return self.digest == seal_value(other)

    def __hash__(self) -> int:
        return hash(self.digest)


def seal_value(value: object) -> str:
    """The SHA-256, in hexadecimal, of a value of the log as JSON."""
    if isinstance(value, SealedValue):
        return value.digest
    return hashlib.sha256(
        json.dumps(value, ensure_ascii=False, sort_keys=True).encode()
    ).hexdigest()


RelationshipState = dict[str, str]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A memory as the log told it up to some operation. `told` is JSON: its place in time, past beliefs by their hashes, who brought it
    in, its counters, and the links from it that stand, each with its operation. `sealed`: the hash of each of its words."""

    state: Mapping[str, Any]
    sealed: Mapping[str, str] = field(default_factory=dict)

    def resume_replay(self) -> ReplayedMemory:
        """Where replaying goes on. Its past beliefs are sealed, like its words."""
        row = self.state["row"] | {
            name: SealedValue(digest) for name, digest in self.sealed.items()
        }
        told = ReplayedMemory(row, inserted_by=list(self.state["inserted_by"]))
        told.folded = {since: SealedValue(digest) for since, digest in self.state["past"].items()}
        told.access_count = int(self.state["access_count"])
        told.last_reinforced_at = self.state["last_reinforced_at"]
        return told

    @property
    def links(self) -> list[RelationshipState]:
        return list(self.state["links"])


class InconsistentOperations(ValueError):
    """What the operations tell of a memory does not add up, so that a checkpoint in their place would hide damage."""


def advance_checkpoint(
    before: Checkpoint | None, steps: Iterable[ReplayStep], links: list[RelationshipState]
) -> Checkpoint:
    """The checkpoint after these steps, with the links that stand then. Raises Unreadable, Unfit."""
    told = replay_memory(steps, before.resume_replay() if before else None)
    if told.surprised or len(told.inserted_by) != 1:
        raise InconsistentOperations
    past = told.folded | {belief["known_from"]: belief for belief in told.past}
    kept = {
        "row": {name: told.row[name] for name in UNSEALED if name in told.row},
        "past": {since: seal_value(belief) for since, belief in past.items()},
        "inserted_by": [str(log_id) for log_id in told.inserted_by],
        "access_count": told.access_count,
        "last_reinforced_at": told.last_reinforced_at,
        "links": links,
    }
    return Checkpoint(
        kept, {name: seal_value(value) for name, value in told.row.items() if name not in UNSEALED}
    )


def apply_relationship_changes(
    links: Iterable[RelationshipState], changes: Iterable[tuple[RelationshipState, bool]]
) -> list[RelationshipState]:
    """The links that stand after some were tied (True) and untied, in the order of the log."""
    standing = {(link["target"], link["type"]): link for link in links}
    for link, tied in changes:
        place = (link["target"], link["type"])
        if tied:
            standing[place] = link
        else:
            standing.pop(place, None)
    return list(standing.values())
