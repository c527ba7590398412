"""The parameters of calls of mem0: what they mean here, or why they are refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from app.mem0.owners import IDS, Owner, Unsupported, find_owner

# They choose a form of answer that is the only one here, or something that is done always.
_WITHOUT_EFFECT = frozenset(
    ("version", "api_version", "output_format", "async_mode", "org_id", "project_id", "source")
) | frozenset(("keyword_search", "latest_only", "delete_linked"))


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories are meant."""

    owner: Owner
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def list_fields(self) -> dict[str, Any]:
        """Return the filters of a read of this service, without that of metadata."""
        tags_all = [*self.owner.tags, *self.tags_all]
        fields = {"session_id": self.owner.session_id, "tags_any": list(self.tags_any)}
        return {name: value for name, value in (fields | {"tags_all": tags_all}).items() if value}


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added, and what each memory of it has besides its text."""

    owner: Owner
    messages: list[dict[str, Any]]
    infer: bool
    fields: dict[str, Any]


def refuse_others(body: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise Unsupported if the call has another parameter that asks for something."""
    for name, value in body.items():
        if value and name not in names and name not in _WITHOUT_EFFECT:
            raise Unsupported(f"{name} is not supported by this service: leave it out.")


def read_addition(body: Mapping[str, Any]) -> Addition:
    """Return what a call adds. Raises Unsupported."""
    names = ("messages", "filters", "metadata", "infer", "timestamp", "expiration_date", *IDS)
    refuse_others(body, names)
    owner = _read_plain_owner(body)
    said_at = read_time(body.get("timestamp"), "timestamp")
    fields = {
        "tags": list(owner.tags),
        "details": read_metadata(body),
        "valid_until": read_expiration(body.get("expiration_date")),
    }
    return Addition(
        owner=owner,
        messages=[_read_message(message, said_at) for message in _list_messages(body)],
        infer=body.get("infer") is not False,
        fields={name: value for name, value in fields.items() if value},
    )


def _read_plain_owner(body: Mapping[str, Any]) -> Owner:
    """Return the owner. Ids may stand in the call or in its filters, which name nothing else."""
    wanted = read_filter({name: body[name] for name in ("filters", *IDS) if name in body})
    if wanted.metadata or wanted.tags_any or wanted.tags_all:
        raise Unsupported("The filters of an addition may hold ids only.")
    return wanted.owner


def _list_messages(body: Mapping[str, Any]) -> list[Any]:
    messages = body.get("messages")
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    messages = [messages] if isinstance(messages, dict) else messages
    if not isinstance(messages, list) or not messages:
        raise Unsupported("messages must be a list of messages, and not empty.")
    return messages


def _read_message(message: Any, said_at: datetime | None) -> dict[str, Any]:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise Unsupported("Each message needs a role and a content that is a text.")
    refuse_others(message, ("role", "content", "name"))
    taken = {"role": message.get("role"), "content": message["content"]}
    more = {"name": message.get("name"), "at": said_at and said_at.isoformat()}
    return taken | {name: value for name, value in more.items() if value}


def read_metadata(body: Mapping[str, Any]) -> dict[str, Any] | None:
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise Unsupported("metadata must be an object.")
    return metadata


def read_time(value: Any, name: str) -> datetime | None:
    """Return a time: seconds since 1970, or ISO 8601."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            time = datetime.fromisoformat(value)
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        return datetime.fromtimestamp(float(value), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise Unsupported(f"{name} must be a time: {value!r} is none.") from None


def read_expiration(value: Any) -> str | None:
    """Return the end of the day on which a memory expires."""
    day = read_time(value, "expiration_date")
    if day is None:
        return None
    return (day.replace(hour=0, minute=0, second=0) + timedelta(days=1)).isoformat()


# --- filters -------------------------------------------------------------------------------------


def read_filter(body: Mapping[str, Any]) -> Filter:
    """Return which memories a call means, by its filters and by its own ids. Raises Unsupported."""
    filters = body.get("filters") or {}
    if not isinstance(filters, dict):
        raise Unsupported("filters must be an object.")
    conditions = _Conditions()
    conditions.add_all(filters)
    conditions.add_all({name: body[name] for name in (*IDS, "categories") if body.get(name)})
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
            self._add_id(name, _read_one(name, value))
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

    def _add_id(self, name: str, value: str) -> None:
        if self.ids.setdefault(name, value) != value:
            raise Unsupported(f"Two filters name another {name}: send a call for each.")

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
        names = value["in"] if isinstance(value, dict) and value.keys() == {"in"} else value
        names = [names] if isinstance(names, str) else names
        if self.tags_any or not isinstance(names, list) or not names:
            raise Unsupported("categories must be a list of names, in one filter.")
        self.tags_any = [str(name) for name in names]


def _read_one(name: str, value: Any) -> str:
    """Return the only value that a filter names."""
    if isinstance(value, dict) and len(value) == 1:
        [(operator, value)] = value.items()
        if operator not in ("eq", "in"):
            raise Unsupported(f"{operator} of {name} is not supported: name one {name}.")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str | int) or value in ("*", ""):
        raise Unsupported(f"A call is about one {name}: name it, and send a call for each.")
    return str(value)
