"""Checks of operations against the hashes that they got when they were logged."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.domain.log_chain import (
    CONTENT_COLUMNS,
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
    name: str, operations: Iterable[Mapping[str, Any]], hashes: Mapping[str, bytes | None]
) -> Iterator[Fault]:
    """Check the operations of an archive file, and that they are those that were moved there.

    `hashes` has the hash of each operation that was moved, None for those from before the chain.
    """
    for operation in operations:
        log_id = str(operation["id"])
        if operation["hash"] != hashes.get(log_id):
            sentence = f"The archive {name} does not hold operation {log_id} as it was logged."
            yield Fault("log_chain", (log_id,), sentence)
        elif operation["hash"] is not None:
            yield from check_operation(operation)
