"""Addresses that keep sending wrong keys are told to wait."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from math import ceil

# Wrong keys of one address that are answered as such in a minute.
MOST_WRONG = 10
WINDOW = 60.0
# Addresses that are remembered; the one that was heard of least recently goes first.
MOST_ADDRESSES = 10_000


@dataclass(slots=True)
class _Count:
    wrong: int
    ends_at: float


class WrongKeys:
    """Counts wrong keys by address. Right keys are never asked about here."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, _Count] = OrderedDict()

    def note_wrong_key(self, address: str) -> int:
        """Count one more; return the seconds to wait if there were too many, else 0."""
        now = time.monotonic()
        count = self._counts.get(address)
        if count is None or count.ends_at <= now:
            count = self._counts[address] = _Count(0, now + WINDOW)
        count.wrong += 1
        self._counts.move_to_end(address)
        if len(self._counts) > MOST_ADDRESSES:
            self._counts.popitem(last=False)
        return ceil(count.ends_at - now) if count.wrong > MOST_WRONG else 0
