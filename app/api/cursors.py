"""Cursors: where a page ended, as text for the next call."""

import base64
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from app.api.times import format_time, parse_time
from app.domain.errors import InvalidFact
from app.domain.relationship import LinkType
from app.domain.version import Moment
from app.store.memories import After
from app.store.relationships import AfterRelationship


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended and which picture the list shows, so that all its pages show the same one."""

    after: After
    moment: Moment | None

    def encode(self) -> str:
        times = [
            self.after.created_at,
            *([self.moment.as_of, self.moment.known_at] if self.moment else []),
        ]
        raw = json.dumps([str(self.after.memory_id), self.after.strength, *map(format_time, times)])
        return base64.urlsafe_b64encode(raw.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        try:
            parts: list[Any] = json.loads(base64.urlsafe_b64decode(text.encode()))
            memory_id, strength = UUID(parts[0]), None if parts[1] is None else float(parts[1])
            created_at, *moment = map(_cursor_time, parts[2:])
            return cls(After(created_at, memory_id, strength), Moment(*moment) if moment else None)
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
            raise InvalidFact(
                "cursor: use next_cursor of the page before as it is, or leave it out to start "
                "again."
            ) from None


def _cursor_time(value: Any) -> datetime:
    return parse_time(value)


@dataclass(frozen=True, slots=True)
class RelationshipCursor:
    """Where a page ended, and the known time that all pages show."""

    after: AfterRelationship
    known_at: datetime

    def encode(self) -> str:
        after = self.after
        raw = json.dumps(
            [
                format_time(after.created_at),
                str(after.other_id),
                after.type,
                format_time(self.known_at),
            ]
        )
        return base64.urlsafe_b64encode(raw.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> Self:
        try:
            created_at, other_id, kind, known_at = json.loads(
                base64.urlsafe_b64decode(text.encode())
            )
            return cls(
                AfterRelationship(parse_time(created_at), UUID(other_id), LinkType(kind)),
                parse_time(known_at),
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise InvalidFact(
                "cursor: use next_cursor of the page before as it is, or leave it out to start "
                "again."
            ) from None
