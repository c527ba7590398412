"""A call as a value: what is sent, before a connection has sent it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid4

from palimpsest_client.errors import Invalid

# RFC 3339, a date, a month, a year or Unix seconds; the service says what it takes.
Time = datetime | date | str | int | float
Id = str | UUID

TIMES = ("as_of", "known_at")


class Unset(Enum):
    """The type of UNSET: a field that a change leaves as it is, where None would empty it."""

    UNSET = "UNSET"


UNSET: Final = Unset.UNSET


def make_key() -> str:
    """Return a new Idempotency-Key."""
    return str(uuid4())


@dataclass(frozen=True)
class Request:
    """One call of an operation.

    `query` and `body` name every field that the operation takes. A field that is None is not sent,
    unless it is one of the body and the call `keeps_null`; one that is UNSET never is.
    """

    method: str
    route: str  # a template with a place for each part of `path`
    path: tuple[Id, ...] = ()
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    is_read: bool = False
    keeps_null: bool = False
    idempotency_key: str | None = None
    if_match: str | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether the call may be sent again although the first may have been executed."""
        return self.is_read or self.idempotency_key is not None

    def fill_path(self) -> str:
        """Return the path. Each part stays one part, even if it holds slashes."""
        return self.route.format(*[_quote_part(str(part)) for part in self.path])

    def list_query(self) -> dict[str, Any]:
        sent = {name: value for name, value in self.query.items() if value is not None}
        return {name: _encode_query(value) for name, value in sent.items()}

    def encode_body(self) -> bytes | None:
        """Return the body as JSON. Raises Invalid for NaN and infinite numbers."""
        if self.body is None:
            return None
        dropped = (UNSET,) if self.keeps_null else (UNSET, None)
        sent = {name: value for name, value in self.body.items() if value not in dropped}
        return _encode_json(sent)

    def list_headers(self) -> dict[str, str]:
        """Return the headers of the request. Raises Invalid for a value that no header can have."""
        headers = {"Idempotency-Key": self.idempotency_key, "If-Match": self.if_match}
        for name, value in headers.items():
            if value is not None and not (value.isascii() and value.isprintable()):
                raise Invalid(f"{name}: give printable ASCII characters only.", status=422)
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        return {name: value for name, value in headers.items() if value is not None}

    def fill_times(self, times: Mapping[str, Time]) -> "Request":
        """Return the request with the times where it takes them and has none of its own.

        Raises ValueError if it is no read or takes none of them.
        """
        query, body = self._fill(self.query, times), self._fill(self.body or {}, times)
        is_timed = self.is_read and bool(set(times) & {*query, *body})
        if times and not is_timed:
            raise ValueError(
                f"{self.method} {self.route} takes no {' and no '.join(times)}: "
                "call it on the client itself, not on the view that `at` returned."
            )
        return replace(self, query=query, body=None if self.body is None else body)

    def turn_page(self, cursor: str) -> "Request":
        return replace(self, query={**self.query, "cursor": cursor})

    @staticmethod
    def _fill(fields: Mapping[str, Any], times: Mapping[str, Time]) -> dict[str, Any]:
        filled = dict(fields)
        for name, time in times.items():
            if name in filled and filled[name] is None:
                filled[name] = time
        return filled


def _quote_part(part: str) -> str:
    # Left as they are, dots would lead to another route.
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


def encode_line(line: Mapping[str, Any] | bytes) -> bytes:
    """Return a line of newline-delimited JSON; bytes are passed on as they are."""
    return line if isinstance(line, bytes) else _encode_json(line) + b"\n"


def _encode_json(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(value, default=_encode_value, allow_nan=False).encode()
    except ValueError:
        raise Invalid("JSON has neither NaN nor infinite numbers.", status=422) from None


def _encode_query(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_encode_value(one) for one in value]
    return _encode_value(value)


def _encode_value(value: Any) -> Any:
    match value:
        case date():
            return value.isoformat()
        case UUID():
            return str(value)
        case None | str() | int() | float():
            return value
        case Sequence():
            return list(value)
        case Mapping():
            return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")
