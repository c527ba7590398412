"""A circuit breaker: a server that keeps failing is left alone for a while."""

import time
from collections.abc import Callable


class Breaker:
    """Admits calls until `after` of them failed in a row; then, until one succeeds, one call per `pause` seconds: the probe.

    The probe holds a lease rather than a place, so a probe that is cancelled and never reports leaves nothing stuck.
    """

    def __init__(
        self, *, after: int = 5, pause: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._after = after
        self._pause = pause
        self._clock = clock
        self._failures = 0
        self._quiet_until: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is keeping calls back."""
        return self._quiet_until is not None

    def admit_call(self) -> bool:
        """Whether a call may go out now. While open, True makes that call the probe."""
        if self._quiet_until is None:
            return True
        if self._clock() < self._quiet_until:
            return False
        self._quiet_until = self._clock() + self._pause
        return True

    def record_success(self) -> None:
        """The server answered a call."""
        self._failures = 0
        self._quiet_until = None

    def record_failure(self) -> None:
        """The server did not answer a call, or not usably."""
        self._failures += 1
        if self._failures >= self._after:
            self._quiet_until = self._clock() + self._pause
