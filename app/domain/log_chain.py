"""The log of an agent as a chain of hashes.

Each operation has a hash over its own values and over the hash of the operation before it. So no
operation can be changed, left out or moved without changing every hash after it.

Erase takes texts out of operations later. The hash is therefore not computed from the content of
an operation but from a digest of it, and the digest stays when the content goes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

START = bytes(32)
"""The hash before the first operation."""

SALT_BYTES = 16

CONTENT_COLUMNS = (
    "after_state",
    "before_state",
    "incoming",
    "opinions",
    "reasoning",
    "session_id",
    "signals",
    "usage",
    "vetoed",
)
"""The columns of an operation that hold words of a caller, which erase takes out."""

LINKED_COLUMNS = (
    "actor",
    "confidence",
    "created_at",
    "decided_by",
    "duration_ms",
    "id",
    "model",
    "operation",
    "prompt_version",
    "relation",
    "request_id",
    "reverts",
    "source_memory_ids",
    "target_memory_id",
)
"""The columns of an operation that never change."""

FOLDED_COLUMNS = (
    "actor",
    "created_at",
    "decided_by",
    "hash",
    "id",
    "operation",
    "previous_hash",
    "request_id",
)
"""The columns of an archived operation that the database still has."""

# Columns of fractional numbers. JSON made by Postgres writes 1.0 as 1.
_FRACTIONS = {"confidence", "duration_ms"}


def digest_content(salt: bytes, content: str) -> bytes:
    """Return the SHA-256 of a salt and of the content of an operation, as `encode_columns` has it.

    Without the salt, a short text could be found after its erasure by trying its digest.
    """
    return hashlib.sha256(salt + content.encode()).digest()


def hash_operation(
    previous_hash: bytes, content_digest: bytes, operation: Mapping[str, Any]
) -> bytes:
    """Return the SHA-256 of the previous hash, the digest of the content, and the other columns."""
    linked = encode_columns(operation, LINKED_COLUMNS)
    return hashlib.sha256(previous_hash + content_digest + linked.encode()).digest()


def encode_columns(operation: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return these columns as one JSON object with sorted keys and without spaces.

    Columns without a value are left out, so that an operation keeps its hash when the log gets
    another column.
    """
    columns = {name: operation[name] for name in names if operation[name] is not None}
    for name in _FRACTIONS & columns.keys():
        columns[name] = float(columns[name])
    return encode_value(columns)


def join_columns(columns: Mapping[str, str]) -> str:
    """Return the object that `encode_columns` returns, from columns that are encoded already."""
    return "{" + ",".join(f'"{name}":{columns[name]}' for name in sorted(columns)) + "}"


def encode_value(value: Any) -> str:
    """Return JSON with sorted keys and without spaces.

    Postgres gives back the values that it was given, but in other words. The JSON of what is read
    must be the JSON of what was written.
    """
    text = _encode_sorted(value)
    if "e+" in text or "-0.0" in text:
        return _encode_sorted(_replace_odd_numbers(value))
    return text


def encode_plain(value: object) -> str:
    """Return a time or an id as the JSON of the log has it. Raise TypeError for anything else."""
    if isinstance(value, datetime):
        return _format_time(value)
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in the log")


@lru_cache(maxsize=1024)  # most times of an operation are one and the same
def _format_time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


_encode_sorted = json.JSONEncoder(
    default=encode_plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")
).encode


def _replace_odd_numbers(value: Any) -> Any:
    """Return JSON with each number as Postgres gives it back.

    Postgres has no negative zero in JSON, and it writes a number such as 1e+22 with all its digits,
    which Python reads as an integer.
    """
    match value:
        case dict():
            return {key: _replace_odd_numbers(item) for key, item in value.items()}
        case list() | tuple():
            return [_replace_odd_numbers(item) for item in value]
        case float() if "e+" in repr(value):
            return int(Decimal(repr(value)))
        case float() if value == 0:
            return 0.0
        case _:
            return value
