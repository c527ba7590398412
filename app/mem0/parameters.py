"""The parameters of calls of mem0: what they mean here, or why they are refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.mem0.filters import Clause, read_clause
from app.mem0.owners import IDS, Owner, Unsupported, find_owner
from app.mem0.schemas import Ids, NewMemories
from app.mem0.shapes import describe_memory


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories are meant."""

    owner: Owner
    clause: Clause
    show_expired: bool = False

    def list_fields(self) -> dict[str, Any]:
        """Return the filters of a read of this service, which finds what is meant, and maybe more.

        Its `details` are an object.
        """
        fields = {
            "session_id": self.owner.session_id,
            "tags_any": list(self.clause.tags_any),
            "tags_all": list(self.owner.tags),
            "details": dict(self.clause.details),
            "include_superseded": self.show_expired,
        }
        return {name: value for name, value in fields.items() if value}

    @property
    def is_exact(self) -> bool:
        """Return True if a read by these fields finds nothing more than is meant."""
        return self.clause.is_exact and not self.show_expired

    def means(self, memory: Mapping[str, Any]) -> bool:
        """Return True if a memory that was read so is meant."""
        if self.show_expired and memory["status"] not in ("current", "expired"):
            return False
        return self.clause.is_exact or self.clause.test(describe_memory(self.owner.agent, memory))


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added, and what each memory of it has besides its text."""

    owner: Owner
    messages: list[dict[str, Any]]
    infer: bool
    fields: dict[str, Any]


def read_addition(parameters: NewMemories) -> Addition:
    """Return what a call adds. Raises Unsupported."""
    wanted = read_filter(parameters)
    if not wanted.is_exact or wanted.clause.details or wanted.clause.tags_any:
        raise Unsupported("The filters of an addition may hold ids only.")
    end = parameters.expiration_date
    if end and end <= (parameters.timestamp or datetime.now(UTC)):
        raise Unsupported("expiration_date is over when the messages are said: nothing is stored.")
    if parameters.immutable and parameters.infer:
        raise Unsupported("immutable goes with infer=False: the text is stored as a constraint.")
    fields = {
        "tags": list(wanted.owner.tags),
        "details": parameters.metadata,
        "valid_until": end.isoformat() if end else None,
        "kind": "constraint" if parameters.immutable else None,
    }
    messages = []
    for message in parameters.messages:
        sent = message.model_dump(include={"role", "content", "name"}, exclude_none=True)
        if parameters.timestamp:
            sent["at"] = parameters.timestamp.isoformat()
        messages.append(sent)
    return Addition(
        owner=wanted.owner,
        messages=messages,
        infer=parameters.infer,
        fields={name: value for name, value in fields.items() if value},
    )


def read_filter(parameters: Ids) -> Filter:
    """Return which memories a call means, by its filters and by its own ids. Raises Unsupported."""
    own = parameters.model_dump(include={*IDS, "categories"}, exclude_none=True)
    clause = read_clause({"AND": [parameters.filters or {}, own]})
    return Filter(find_owner(clause.ids), clause, getattr(parameters, "show_expired", False))
