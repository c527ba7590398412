"""Splitting a text that plainly holds several facts into facts of their own."""

import re
from typing import Final

from app.extraction.parts import Part, build_parts
from app.extraction.parts_network import PartsNetwork

# What each word is must be as sure as this.
LEAST_CERTAINTY: Final = 0.8
# A text without any of these is one fact, and is not read.
_JOINT: Final = re.compile(r"[,;&+.]\s|\b(?:and|but|or|who|plus|while|whereas|so)\b", re.IGNORECASE)


class FactSplitter:
    """Splits texts as the network marks them."""

    def __init__(self, network: PartsNetwork) -> None:
        self._network = network

    async def split(self, text: str) -> tuple[Part, ...]:
        """Return the facts of the text, in order; the whole text as one part if in doubt.

        Raises CallerLeft.
        """
        whole = (Part(text, 0, len(text)),)
        if not _JOINT.search(text):
            return whole
        reading = await self._network.read(text)
        if reading is None or reading.certainty < LEAST_CERTAINTY:
            return whole
        return build_parts(reading.marked) or whole
