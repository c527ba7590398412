"""The wait before a failed call is tried again."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\d{1,9}(\.\d{1,6})?", re.ASCII)


def compute_jitter(failures: int, chance: float, *, base: float = 0.5, most: float = 8.0) -> float:
    """Return the seconds before the next try, after that many failures.

    This is full jitter: the share `chance` (0 to 1) of base · 2ⁿ, which `most` bounds. Source:
    Marc Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
    """
    exponent = min(failures, 30)
    return chance * min(most, base * 2.0**exponent)


def parse_retry_after(header: str | None, now: datetime) -> float | None:
    """Return the seconds, never negative, that a Retry-After header asks for.

    The header holds seconds or an HTTP date (RFC 9110 §10.2.3). The result is None if there is no
    such header, or if the header cannot be read.
    """
    word = (header or "").strip()
    if _SECONDS.fullmatch(word):
        return float(word)
    try:
        moment = parsedate_to_datetime(word)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
