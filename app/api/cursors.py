"""Cursors: the end of a page, as a text that asks for the next one."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from app.api.times import format_time, parse_time
from app.domain.errors import InvalidFact
from app.domain.relationship import LinkType
from app.domain.version import Moment
from app.services.history import HistoryPosition
from app.store.bounded import is_cut
from app.store.memories import After
from app.store.relationships import AfterRelationship
from app.store.succession import Place

_HELP = "cursor: use next_cursor of the page before as it is, or leave it out to start again."
_BROKEN = (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position where a page ended, and the moment that all pages of the list show."""

    after: After
    moment: Moment | None

    def encode(self) -> str:
        times = [self.after.created_at]
        if self.moment:
            times += [self.moment.as_of, self.moment.known_at]
        if self.after.strength_as_of:
            times.append(self.after.strength_as_of)
        formatted = [format_time(time) for time in times]
        return _encode_values([str(self.after.memory_id), self.after.strength, *formatted])

    @classmethod
    def decode(cls, text: str) -> Self:
        """Raise InvalidFact if `text` is no cursor."""
        try:
            memory_id, strength, *texts = _decode_values(text)
            created_at, *others = map(parse_time, texts)
            after = After(
                created_at,
                UUID(memory_id),
                None if strength is None else float(strength),
                others.pop() if len(others) > 2 else None,
            )
            return cls(after, Moment(*others) if others else None)
        except _BROKEN:
            raise InvalidFact(_HELP) from None


@dataclass(frozen=True, slots=True)
class HistoryCursor:
    """The position where a page of a history ended, and the moment that all its pages show."""

    position: HistoryPosition
    moment: Moment

    def encode(self) -> str:
        version, operation = self.position.version, self.position.operation
        values: list[Any] = [format_time(self.moment.as_of), format_time(self.moment.known_at)]
        values.append(
            version
            and [
                format_time(version.valid_from),
                format_time(version.asserted_at),
                str(version.memory_id),
            ]
        )
        values.append(operation and [format_time(operation.created_at), str(operation.memory_id)])
        return _encode_values(values)

    @classmethod
    def decode(cls, text: str) -> Self:
        """Raise InvalidFact if `text` is no cursor."""
        try:
            as_of, known_at, version, operation = _decode_values(text)
            after_version, after_operation = None, None
            if version:
                start, asserted_at, memory_id = version
                after_version = Place(parse_time(start), parse_time(asserted_at), UUID(memory_id))
            if operation:
                created_at, log_id = operation
                after_operation = After(parse_time(created_at), UUID(log_id))
            position = HistoryPosition(after_version, after_operation)
            return cls(position, Moment(parse_time(as_of), parse_time(known_at)))
        except _BROKEN:
            raise InvalidFact(_HELP) from None


@dataclass(frozen=True, slots=True)
class RelationshipCursor:
    """The position where a page of relationships ended, and the known time that all pages show."""

    after: AfterRelationship
    known_at: datetime

    def encode(self) -> str:
        after = self.after
        created_at, known_at = format_time(after.created_at), format_time(self.known_at)
        return _encode_values([created_at, str(after.other_id), after.type, known_at])

    @classmethod
    def decode(cls, text: str) -> Self:
        """Raise InvalidFact if `text` is no cursor."""
        try:
            created_at, other_id, kind, known_at = _decode_values(text)
            after = AfterRelationship(parse_time(created_at), UUID(other_id), LinkType(kind))
            return cls(after, parse_time(known_at))
        except _BROKEN:
            raise InvalidFact(_HELP) from None


def build_next_cursor(rows: Sequence[Mapping[str, Any]], limit: int) -> str | None:
    """Return the cursor after the first `limit` rows of a page.

    Return None if there are no more rows.
    """
    if len(rows) <= limit and not is_cut(rows):
        return None
    last = rows[:limit][-1]
    return Cursor(After(last["created_at"], last["id"]), None).encode()


def decode_position(cursor: str | None) -> After | None:
    """Return the position to go on from; None means the beginning."""
    return Cursor.decode(cursor).after if cursor else None


def _encode_values(values: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def _decode_values(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text.encode()))
