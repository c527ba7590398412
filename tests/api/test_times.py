"""Points in time on the wire: several forms are taken and one is answered."""

import pytest

from app.api.times import format_time, parse_time


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-01-05", "2026-01-05T00:00:00.000000Z"),
        ("2026-01-05T10:00:00+02:00", "2026-01-05T08:00:00.000000Z"),
        ("2026-01-05T10:00:00-0200", "2026-01-05T12:00:00.000000Z"),
        ("2026-01-05t10:00:00z", "2026-01-05T10:00:00.000000Z"),
        ("2026-01-05T10:00:00.1234567Z", "2026-01-05T10:00:00.123456Z"),
        ("2026-01-05T10:00", "2026-01-05T10:00:00.000000Z"),
        (1767607200, "2026-01-05T10:00:00.000000Z"),
        (1767607200.25, "2026-01-05T10:00:00.250000Z"),
        ("1767607200", "2026-01-05T10:00:00.000000Z"),
        ("1767607200.25", "2026-01-05T10:00:00.250000Z"),
        ("1.7676072e9", "2026-01-05T10:00:00.000000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        (2025, "2025-01-01T00:00:00.000000Z"),
        ("2025", "2025-01-01T00:00:00.000000Z"),
        (2025.0, "2025-01-01T00:00:00.000000Z"),
        (1000, "1000-01-01T00:00:00.000000Z"),
        ("9999", "9999-01-01T00:00:00.000000Z"),
        ("2025-03", "2025-03-01T00:00:00.000000Z"),
        ("0999-12", "0999-12-01T00:00:00.000000Z"),
        (100_000_000, "1973-03-03T09:46:40.000000Z"),
        (-100_000_000, "1966-10-31T14:13:20.000000Z"),
        (99_999_999_999, "5138-11-16T09:46:39.000000Z"),
        (-62135596800, "0001-01-01T00:00:00.000000Z"),
        ("-62135596800", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_times_are_taken_in_several_forms_and_answered_in_one(
    given: float | str, read: str
) -> None:
    assert format_time(parse_time(given)) == read


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        "2026-13-01",
        "2026-13",
        "2026-00",
        "0000-01",
        "2026-1",
        10**400,
        -(10**15),
        "2026-01-05T25:00:00Z",
        "10000-01-01",
        "0000-01-01",
        1e20,
        "1e20",
        "",
        "infinity",
        float("inf"),
        float("nan"),
        True,
        None,
        [],
        "nan",
        "-5-01-01",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_a_time_that_is_none_is_refused_with_the_forms_that_are(given: object) -> None:
    with pytest.raises(ValueError, match="RFC 3339"):
        parse_time(given)


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13", "2026-01-05T25:00:00Z"])
def test_a_day_or_hour_that_does_not_exist_is_named_as_such(day: str) -> None:
    with pytest.raises(ValueError, match="no such day, or the clock no such time: give an RFC"):
        parse_time(day)


@pytest.mark.parametrize(
    "number",
    [0, 1, 999, "999", "0999", 10_000, 2025.5, "1e3", -2025, 20250105, "20250105", 99_999_999, -1],
)
def test_a_small_number_that_is_no_year_is_refused_with_what_to_give(number: float | str) -> None:
    with pytest.raises(ValueError, match="no year from 1000 to 9999: give an RFC 3339 time"):
        parse_time(number)


@pytest.mark.parametrize("number", [10**11, 1767607200000, "1767607200000", 1.767e12, -(10**12)])
def test_milliseconds_are_named_as_such(number: float | str) -> None:
    with pytest.raises(ValueError, match="milliseconds: divide by 1000"):
        parse_time(number)
