"""Checks of operations against the hashes that they got when they were logged."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.domain.log_chain import (
    CONTENT_COLUMNS,
    FOLDED_COLUMNS,
    digest_content,
    encode_columns,
    hash_operation,
)
from app.planning.audit.faults import Fault


def check_operation(operation: Mapping[str, Any]) -> Iterator[Fault]:
    """Compare an operation of the chain with its hash, and its content with the digest of it.

    An operation without a salt lost words to an erasure. Its digest is that of what it held before.
    """
    log_id = str(operation["id"])
    digest, salt = operation["content_digest"], operation["content_salt"]
    content = encode_columns(operation, CONTENT_COLUMNS)
    if salt is not None and digest_content(salt, content) != digest:
        sentence = f"The content of operation {log_id} is not the one that was logged."
        yield Fault("log_chain", (log_id,), sentence)
    if hash_operation(operation["previous_hash"], digest, operation) != operation["hash"]:
        sentence = f"The row of operation {log_id} is not the one that was logged."
        yield Fault("log_chain", (log_id,), sentence)


def check_archive(
    name: str,
    operations: Iterable[Mapping[str, Any]],
    folded: Mapping[str, Mapping[str, Any]],
) -> Iterator[Fault]:
    """Check that an archive file holds the operations that were moved there, as they were logged.

    `folded` is what the database still knows of each of them, by its id.
    """
    missing = set(folded)
    for operation in operations:
        log_id = str(operation["id"])
        missing.discard(log_id)
        if not _is_same(operation, folded.get(log_id)):
            sentence = f"The archive {name} does not hold operation {log_id} as it was logged."
            yield Fault("log_chain", (log_id,), sentence)
        elif operation["hash"] is not None:
            yield from check_operation(operation)
    for log_id in sorted(missing):
        sentence = f"The archive {name} no longer holds operation {log_id}."
        yield Fault("log_chain", (log_id,), sentence)


def _is_same(operation: Mapping[str, Any], folded: Mapping[str, Any] | None) -> bool:
    """Return True if the file and the database say the same of an operation.

    A file from before the chain proves nothing.
    """
    if folded is None:
        return False
    if operation["hash"] is None:
        return folded["hash"] is None
    compared = [name for name in FOLDED_COLUMNS if name != "id"]
    return all(operation[name] == folded[name] for name in compared)
