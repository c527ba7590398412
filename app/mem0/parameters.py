"""The parameters of calls of mem0: what they mean here, or why they are refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.mem0.owners import IDS, Owner, Unsupported, find_owner, read_id
from app.mem0.schemas import Ids, NewMemories


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories are meant."""

    owner: Owner
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def list_fields(self) -> dict[str, Any]:
        """Return the filters of a read of this service, without that of metadata."""
        fields = {
            "session_id": self.owner.session_id,
            "tags_any": list(self.tags_any),
            "tags_all": [*self.owner.tags, *self.tags_all],
        }
        return {name: value for name, value in fields.items() if value}


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
    if wanted.metadata or wanted.tags_any or wanted.tags_all:
        raise Unsupported("The filters of an addition may hold ids only.")
    end = parameters.expiration_date
    fields = {
        "tags": list(wanted.owner.tags),
        "details": parameters.metadata,
        "valid_until": end.isoformat() if end else None,
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


# --- filters -------------------------------------------------------------------------------------


def read_filter(parameters: Ids) -> Filter:
    """Return which memories a call means, by its filters and by its own ids. Raises Unsupported."""
    conditions = _Conditions()
    conditions.add_all(parameters.filters or {})
    conditions.add_all(parameters.model_dump(include={*IDS, "categories"}, exclude_none=True))
    return Filter(
        owner=find_owner(conditions.ids),
        tags_any=tuple(conditions.tags_any),
        tags_all=tuple(conditions.tags_all),
        metadata=conditions.metadata,
    )


class _Conditions:
    """The conditions of filters, all of which must hold."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.tags_any: list[str] = []
        self.tags_all: list[str] = []
        self.metadata: dict[str, Any] = {}

    def add_all(self, filters: Mapping[str, Any]) -> None:
        for name, value in filters.items():
            self._add(name, value)

    def _add(self, name: str, value: Any) -> None:
        if name in ("AND", "OR", "NOT"):
            self._add_group(name, value)
        elif name in IDS:
            one = read_id(name, value)
            if self.ids.setdefault(name, one) != one:
                raise Unsupported(f"Two filters name another {name}: send a call for each.")
        elif name == "categories":
            self._add_categories(value)
        elif name == "metadata" and isinstance(value, dict):
            self._add_metadata(value)
        else:
            raise Unsupported(
                f"The filter {name} is not supported: filter by ids, categories and metadata."
            )

    def _add_group(self, name: str, value: Any) -> None:
        members = value if isinstance(value, list) else [value]
        if not all(isinstance(member, dict) for member in members):
            raise Unsupported(f"{name} must be a list of filters.")
        if name == "NOT" or (name == "OR" and len(members) > 1):
            raise Unsupported(f"{name} in filters is not supported: send a call for each part.")
        for member in members:
            self.add_all(member)

    def _add_metadata(self, wanted: dict[str, Any]) -> None:
        for name, value in wanted.items():
            if not isinstance(value, str | int | float):
                raise Unsupported(f"The filter metadata.{name} must be a text, a number or true.")
            if self.metadata.setdefault(name, value) != value:
                raise Unsupported(f"Two filters name another metadata.{name}: nothing has both.")

    def _add_categories(self, value: Any) -> None:
        if isinstance(value, dict) and value.keys() == {"contains"}:
            self.tags_all.append(str(value["contains"]))
            return
        names = value
        if isinstance(value, dict) and value.keys() == {"in"}:
            names = value["in"]
        if isinstance(names, str):
            names = [names]
        if self.tags_any or not isinstance(names, list) or not names:
            raise Unsupported("categories must be a list of names, in one filter.")
        self.tags_any = [str(name) for name in names]
