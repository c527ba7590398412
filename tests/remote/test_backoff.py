"""How long is waited before another try, whatever a header says."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.remote.backoff import compute_jitter, parse_retry_after

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


def test_waits_grow_by_full_jitter_and_are_bounded() -> None:
    assert [compute_jitter(n, 1.0) for n in range(7)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert compute_jitter(10_000, 0.25) == 2
    assert compute_jitter(3, 0.0) == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        (" 3 ", 3),
        ("1.5", 1.5),
        ("Thu, 01 Jan 2026 00:00:04 GMT", 4),
        ("Thu, 01 Jan 2026 00:00:04 -0000", 4),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
        ("-1", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("NaN", None),
        ("1e9", None),
        ("٣", None),
        ("Thu, 01 Jan 99999 00:00:04 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(
    header: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(header, MIDNIGHT) == seconds


@settings(deadline=None, derandomize=True, database=None)
@given(st.text(max_size=40))
def test_no_retry_after_raises_or_is_negative(header: str) -> None:
    wait = parse_retry_after(header, MIDNIGHT)
    assert wait is None or wait >= 0
