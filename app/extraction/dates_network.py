"""The networks that tell what phrases of time are to facts.

That of English is all-MiniLM-L6-v2, fine-tuned; it reads phrases that a grammar finds. That of many
languages finds them itself.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from app.domain.dates.facts import TimedText, find_times
from app.domain.dates.roles import Role
from app.extraction.date_roles import RuledText, choose_role
from app.extraction.foreign_dates import ForeignDates
from app.networks import ENGLISH, FairThreads, LazyNetwork, NetworkSet, locate_words
from app.turns import read_in_thread

# Phrases after so many tokens are left open.
MAX_TOKENS: Final = 200
# A phrase dates the fact only if its dating roles together are at least this likely.
LEAST_CERTAINTY: Final = 0.8


class DatesNetwork:
    """Rules what phrases of time are to facts, on threads that agents share fairly.

    Where `many_languages` are there, they read what is not English.
    """

    def __init__(self, threads: FairThreads, many_languages: NetworkSet | None = None) -> None:
        self._english = LazyNetwork("dates.onnx")
        self._foreign = ForeignDates(many_languages) if many_languages else None
        self._threads = threads

    async def find_times(self, text: str) -> TimedText:
        """Return the text with its phrases of time, whatever they are to it. Raises CallerLeft."""
        if self._foreign is not None and self._foreign.can_read(text):
            timed, _ = await self._threads.run(partial(self._foreign.read, text))
            return timed
        return await read_in_thread(partial(find_times, text), [text])

    async def rule(self, timed: TimedText) -> RuledText:
        """Return the text with the role of each of its phrases. Raises CallerLeft.

        `timed` has the phrases of English. Those of another language take their place.
        """
        if self._foreign is not None and self._foreign.can_read(timed.text):
            return await self._threads.run(partial(self._foreign.read, timed.text))
        if not timed.phrases:
            return timed, []
        return timed, await self._threads.run(partial(self._rule, timed.text, timed.spans))

    def _rule(self, text: str, spans: Sequence[tuple[int, int]]) -> list[Role]:
        encoding = self._english.encode(text)
        ids = encoding.ids[:MAX_TOKENS]
        words = [(1 + place, span) for place, span in locate_words(encoding) if place < len(ids)]
        places = [
            [place for place, (first, last) in words if start < last and first < end]
            for start, end in spans
        ]
        if not any(places):
            return [Role.OPEN] * len(spans)
        inputs = {"ids": np.array([[ENGLISH.start, *ids, ENGLISH.end]])}
        [[logits]] = self._english.run(["roles"], inputs)
        return [
            choose_role(logits[each].mean(axis=0), LEAST_CERTAINTY) if each else Role.OPEN
            for each in places
        ]
