"""How long to wait before a failed call is tried again."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\d{1,9}(\.\d{1,6})?", re.ASCII)


def compute_jitter(failures: int, chance: float, *, base: float = 0.5, most: float = 8.0) -> float:
    """Seconds before the next try after so many failures: full jitter, `chance` (0 to 1) of base · 2ⁿ, bounded by `most`.

    After Marc Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
    """
    return chance * min(most, base * 2.0 ** min(failures, 30))


def parse_retry_after(header: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, given as seconds or as an HTTP date (RFC 9110 §10.2.3); never negative.

    None where there is no such header, or nothing that can be read.
    """
    word = (header or "").strip()
    if _SECONDS.fullmatch(word):
        return float(word)
    moment = _parse_http_date(word)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _parse_http_date(word: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(word)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
