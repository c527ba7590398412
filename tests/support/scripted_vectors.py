"""What a scripted server answers at `/v1/embeddings`: vectors made of the words of each text, the same ones always."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.scripted_model import Answer, Request


def vector_of(text: str, dimensions: int, salt: str = "") -> NDArray[np.float64]:
    """Texts that share words are near each other; not of unit length."""
    total = np.zeros(dimensions)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(f"{salt} {word}".encode()).digest()[:8])
        total += np.random.default_rng(seed).standard_normal(dimensions)
    return total


def answers(rows: Sequence[Any], *, places: Sequence[Any] | None = None) -> Answer:
    """An answer with these embeddings, each with its index. NaN is written as Python writes it."""
    indices = range(len(rows)) if places is None else places
    data = [
        {"object": "embedding", "index": place, "embedding": row}
        for place, row in zip(indices, rows, strict=True)
    ]
    return Answer(
        json.dumps(
            {"object": "list", "data": data, "model": "scripted", "usage": {"prompt_tokens": 1}}
        ).encode()
    )


def embeds(dimensions: int, salt: str = "") -> Callable[[Request], Answer]:
    """Right vectors for whatever is asked, in reverse order, as the protocol allows."""

    def answer(request: Request) -> Answer:
        rows = [vector_of(text, dimensions, salt).tolist() for text in request.json["input"]]
        return answers(rows[::-1], places=range(len(rows))[::-1])

    return answer
