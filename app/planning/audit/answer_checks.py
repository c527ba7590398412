"""Checks of the answers that wait for retries: their shape, their ids, and what they quote."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.planning.audit.faults import Fault

_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_answer(row: Mapping[str, Any]) -> Iterator[Fault]:
    """Check an answer under an idempotency key.

    It must have the shape of an answer, name every id that it mentions, and quote nothing erased.
    """
    key, answer, fingerprint = row["key_hash"], row["answer"], row["fingerprint"]
    has_fingerprint = not fingerprint or len(fingerprint) == 32
    is_answer = 200 <= row["status"] < 600 and isinstance(row["headers"], dict)
    if not is_answer or not has_fingerprint:
        sentence = (
            f"What is kept under the idempotency key with the hash {key} is not an answer "
            "that a call could have had."
        )
        yield Fault("idempotency", (key,), sentence)
    if answer is None:
        return
    ids = {memory_id.decode() for memory_id in _ID.findall(answer)}
    unnamed = sorted(ids - set(map(str, row["mentioned_ids"])))
    if unnamed:
        sentence = (
            f"The answer under the idempotency key with the hash {key} mentions "
            f"{', '.join(unnamed)} unsaid; erasing would miss it."
        )
        yield Fault("idempotency", (key, *unnamed), sentence)
    quoted = sorted(set(row["erased"]) & _find_quoted_memories(answer))
    if quoted:
        sentence = (
            f"The answer under the idempotency key with the hash {key} still quotes "
            f"{', '.join(quoted)}, erased since."
        )
        yield Fault("erased", (key, *quoted), sentence)


def _find_quoted_memories(answer: bytes) -> set[str]:
    """Return the memories of which an answer in JSON holds the content."""
    try:
        waiting = [json.loads(line) for line in answer.splitlines()]
    except ValueError:
        return set()
    quoted: set[str] = set()
    while waiting:
        match waiting.pop():
            case {"id": str(memory_id), "content": str(), **rest}:
                quoted.add(memory_id)
                waiting += rest.values()
            case dict() as inner:
                waiting += inner.values()
            case list() as inner:
                waiting += inner
    return quoted
