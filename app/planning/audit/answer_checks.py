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
    key, answer = row["key_hash"], row["answer"]
    if not _has_shape_of_answer(row):
        sentence = (
            f"What is kept under the idempotency key with the hash {key} is not an answer "
            "that a call could have had."
        )
        yield Fault(
            check="idempotency",
            ids=(key,),
            sentence=sentence,
        )
    if answer is None:
        return
    unnamed = sorted(_find_ids(answer) - set(map(str, row["mentioned_ids"])))
    if unnamed:
        sentence = (
            f"The answer under the idempotency key with the hash {key} mentions "
            f"{', '.join(unnamed)} unsaid; erasing would miss it."
        )
        yield Fault(
            check="idempotency",
            ids=(key, *unnamed),
            sentence=sentence,
        )
    quoted = sorted(set(row["erased"]) & _find_quoted_memories(answer))
    if quoted:
        sentence = (
            f"The answer under the idempotency key with the hash {key} still quotes "
            f"{', '.join(quoted)}, erased since."
        )
        yield Fault(
            check="erased",
            ids=(key, *quoted),
            sentence=sentence,
        )


def _has_shape_of_answer(row: Mapping[str, Any]) -> bool:
    fingerprint = row["fingerprint"]
    has_fingerprint = not fingerprint or len(fingerprint) == 32
    return 200 <= row["status"] < 600 and isinstance(row["headers"], dict) and has_fingerprint


def _find_ids(answer: bytes) -> set[str]:
    return {memory_id.decode() for memory_id in _ID.findall(answer)}


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
