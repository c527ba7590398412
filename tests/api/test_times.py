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
