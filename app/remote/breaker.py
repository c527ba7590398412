"""A circuit breaker: a server that keeps failing gets no calls for a while."""

import time
from collections.abc import Callable


class Breaker:
    """Admits every call until `after` of them have failed in a row.

    Then one call, the probe, is admitted every `pause` seconds until a call succeeds. A probe that
    is cancelled and never reports blocks nothing, because the next one is due by the clock.
    """

    def __init__(
        self, *, after: int = 5, pause: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._after = after
        self._pause = pause
        self._clock = clock
        self._failures = 0
        self._quiet_until: float | None = None

    def admit_call(self) -> bool:
        """Return True if a call may go out now, as the probe if the breaker is open."""
        if self._quiet_until is None:
            return True
        if self._clock() < self._quiet_until:
            return False
        self._quiet_until = self._clock() + self._pause
        return True

    def record_success(self) -> None:
        self._failures = 0
        self._quiet_until = None

    def record_failure(self) -> None:
        self._failures += 1
        if self._failures >= self._after:
            self._quiet_until = self._clock() + self._pause
