"""The network that tells what phrases of time are to facts: all-MiniLM-L6-v2, fine-tuned."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.domain.dates.roles import Role
from app.networks import (
    ENGLISH,
    FairThreads,
    LazyNetwork,
    locate_words,
    weigh_logits,
)

# Phrases after so many tokens are left open.
MAX_TOKENS: Final = 200
# A phrase dates the fact only if its dating roles together are at least this likely.
LEAST_CERTAINTY: Final = 0.8
_ROLES: Final = tuple(Role)
_DATING: Final = [place for place, role in enumerate(_ROLES) if role.dates]


class DatesNetwork:
    """Rules what phrases of time are to facts, on threads that agents share fairly."""

    def __init__(self, threads: FairThreads) -> None:
        self._network = LazyNetwork("dates.onnx")
        self._threads = threads

    async def rule(self, text: str, spans: Sequence[tuple[int, int]]) -> list[Role]:
        """Return the role of each phrase; `spans` are half-open places. Raises CallerLeft."""
        if not spans:
            return []
        return await self._threads.run(partial(self._rule, text, spans))

    def _rule(self, text: str, spans: Sequence[tuple[int, int]]) -> list[Role]:
        encoding = self._network.encode(text)
        ids = encoding.ids[:MAX_TOKENS]
        words = [(1 + place, span) for place, span in locate_words(encoding) if place < len(ids)]
        places = [
            [place for place, (first, last) in words if start < last and first < end]
            for start, end in spans
        ]
        if not any(places):
            return [Role.OPEN] * len(spans)
        inputs = {"ids": np.array([[ENGLISH.start, *ids, ENGLISH.end]])}
        [[logits]] = self._network.run(["roles"], inputs)
        return [_choose_role(logits[each].mean(axis=0)) if each else Role.OPEN for each in places]


def _choose_role(logits: NDArray[np.float32]) -> Role:
    """Return the likeliest role; a date in doubt is left open."""
    weighed = weigh_logits(logits)
    role = _ROLES[int(weighed.argmax())]
    return Role.OPEN if role.dates and weighed[_DATING].sum() < LEAST_CERTAINTY else role
