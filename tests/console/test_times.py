"""The times of the console: dates in words, and how pages name them."""

from datetime import UTC, datetime

import pytest

from app.console.rendering import name_day, name_times, show_sentence, show_time
from app.console.times import BadTime, find_exact_time, format_time, read_time

NOW = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("last June", "2026-06-01"),
        ("June", "2026-06-01"),
        ("June 2026", "2026-06-01"),
        ("2026-06", "2026-06-01"),
        ("2026", "2026-01-01"),
        ("yesterday", "2026-11-22"),
        (" Two  weeks ago ", "2026-11-09"),
        ("15.06.2026", "2026-06-15"),
        ("15 June", "2026-06-15"),
        ("22 Nov 2026 at 10:30", "2026-11-22T10:30:00Z"),
        ("Christmas", "2025-12-25"),
        ("next Friday", "2026-11-27"),
        ("2026-06-15T09:00:00+02:00", "2026-06-15T07:00:00Z"),
    ],
)
def test_a_time_is_read_from_words_and_from_dates(text: str, exact: str) -> None:
    time = read_time(text, NOW)
    assert time
    assert format_time(time) == exact


@pytest.mark.parametrize("text", [None, "", " ", "now", "Now"])
def test_the_present_is_no_time(text: str | None) -> None:
    assert read_time(text, NOW) is None


@pytest.mark.parametrize(
    "text", ["yesterdayish", "in March I moved", "soon", "31 February 2026", "x" * 9000]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(BadTime):
        read_time(text, NOW)


def test_only_words_are_spelt_out_in_an_address() -> None:
    assert find_exact_time("last June", NOW) == "2026-06-01"
    for exact in ("2026-06-15", "2026", "2026-06-15T09:00:00Z", "now", None):
        assert find_exact_time(exact, NOW) is None


def test_a_day_is_named_as_people_write_it() -> None:
    assert name_day(NOW) == "23 Nov 2026"
    assert name_day(datetime(1, 1, 1, tzinfo=UTC)) == "always"
    this_year = datetime.now(UTC).year
    shown = show_time(f"{this_year}-03-05T10:30:07Z")
    assert ">5 Mar</time>" in shown
    assert f'title="5 Mar {this_year}, 10:30:07 UTC"' in shown
    assert ">5 Mar 2019</time>" in show_time("2019-03-05T10:30:07Z")


def test_times_of_one_day_are_told_apart() -> None:
    times = [NOW.replace(month=10), NOW, NOW.replace(hour=9)]
    assert name_times(times) == ["23 Oct 2026", "23 Nov 2026, 12:30", "23 Nov 2026, 09:30"]


def test_a_sentence_names_days_but_quotes_as_written() -> None:
    shown = show_sentence("“Due 2019-03-05” was stored, true from 2019-03-05 10:30 UTC")
    assert "“Due 2019-03-05”" in shown
    assert ">5 Mar 2019</time>" in shown
    assert show_sentence("<b> ends at 2019-03-05").count("&lt;b&gt;") == 1
