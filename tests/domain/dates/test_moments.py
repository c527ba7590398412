"""The point in time that a few words name."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.domain.dates.moments import find_moment
from app.domain.dates.points import Lean

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "past", "future"),
    [
        ("yesterday", "2026-11-29", "2026-11-29"),
        ("last spring", "2026-03-01", "2026-03-01"),
        ("in June 2025", "2025-06-01", "2025-06-01"),
        ("June", "2026-06-01", "2027-06-01"),
        ("Friday", "2026-11-27", "2026-12-04"),
        ("until Friday", "2026-11-27", "2026-12-04"),
        ("since 2019", "2019-01-01", "2019-01-01"),
        ("Christmas", "2025-12-25", "2026-12-25"),
        ("the other day", None, None),
        ("the day of the tea", None, None),
        ("June or July", None, None),
        ("", None, None),
        ("yesterday " * 50, None, None),
    ],
)
def test_words_name_the_first_instant(words: str, past: str | None, future: str | None) -> None:
    for lean, day in ((Lean.PAST, past), (Lean.FUTURE, future)):
        found = find_moment(words, NOW, UTC, lean)
        assert (found and found.isoformat()) == (day and f"{day}T00:00:00+00:00")


def test_hours_and_days_are_those_of_the_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    day = find_moment("yesterday", NOW, tokyo, Lean.PAST)
    assert day == datetime(2026, 11, 28, 15, tzinfo=UTC)
    hour = find_moment("1 January 2024 at 15:30", NOW, tokyo, Lean.PAST)
    assert hour == datetime(2024, 1, 1, 6, 30, tzinfo=UTC)
