"""When a call is sent again."""

import random
from dataclasses import dataclass

import httpx

from palimpsest_client.errors import read_problem, read_retry_after
from palimpsest_client.requests import Request

# None of these was executed, so that any call may be sent again.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# No other try can succeed.
_FINAL = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)

Outcome = httpx.Response | httpx.TransportError


@dataclass(frozen=True)
class Retries:
    """How often and how long a call is tried. Times are in seconds.

    Reads, and writes under an Idempotency-Key, are sent again after a broken connection and after
    429, 502, 503 and 504. Retry-After is kept to. Pauses grow from `first_pause` by two, up to
    `longest_pause`; `within` bounds the time from the first try to the beginning of the last.
    """

    tries: int = 4
    first_pause: float = 0.25
    longest_pause: float = 8.0
    within: float = 30.0

    def find_pause(
        self, request: Request, outcome: Outcome, *, tried: int, elapsed: float
    ) -> float | None:
        """Return the seconds until the next try; None if the outcome is final."""
        if tried >= self.tries or not _may_repeat(request, outcome):
            return None
        pause = self._choose_pause(outcome, tried)
        return pause if elapsed + pause <= self.within else None

    def _choose_pause(self, outcome: Outcome, tried: int) -> float:
        """Return what the service asks for, else a pause drawn so that callers spread."""
        if isinstance(outcome, httpx.Response):
            asked = read_retry_after(outcome)
            if asked is not None:
                return asked
        longest = min(self.longest_pause, self.first_pause * 2 ** (tried - 1))
        return random.uniform(longest / 2, longest)  # noqa: S311 - no secret


def _may_repeat(request: Request, outcome: Outcome) -> bool:
    if isinstance(outcome, httpx.Response):
        return _asks_again(outcome) and (request.is_repeatable or outcome.status_code == 429)
    if isinstance(outcome, _FINAL):
        return False
    return request.is_repeatable or isinstance(outcome, _NOT_SENT)


def _asks_again(response: httpx.Response) -> bool:
    """Return whether another try can succeed.

    The service names a Retry-After where it can. Without one its 503 lasts, as that of a frozen
    agent does; a 503 that is no problem comes from a proxy.
    """
    if response.status_code == 503:
        return read_retry_after(response) is not None or not read_problem(response)
    return response.status_code in (429, 502, 504)
