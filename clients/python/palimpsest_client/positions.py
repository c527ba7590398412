"""The position of a client's writes, by which its reads see them on a read replica too."""

from threading import Lock

import httpx

_HEADER = "Palimpsest-Position"


class LatestPosition:
    """The latest position that an answer carried. Several threads may share it."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._lock = Lock()

    def note(self, response: httpx.Response) -> None:
        """Remember the position of this answer, if it carries one and none so far is later."""
        text = response.headers.get(_HEADER)
        if text is None:
            return
        with self._lock:
            if self._text is None or _rank(text) > _rank(self._text):
                self._text = text

    def list_headers(self) -> dict[str, str]:
        """Return the headers of a read."""
        return {} if self._text is None else {_HEADER: self._text}


def _rank(text: str) -> tuple[int, int]:
    high, low = text.split("/")
    return int(high, 16), int(low, 16)
