"""Which dates date a fact, and the time that they name."""

from datetime import UTC, datetime

import pytest

from app.domain.dates.facts import date_fact

SAID_AT = datetime(2026, 3, 11, 14, 20, tzinfo=UTC)  # a Wednesday


def read_interval(text: str) -> tuple[str, str] | None:
    """Return first day and end, "" for an open one; None if nothing dates the fact."""
    dated_by = date_fact(text, SAID_AT, UTC).dated_by
    if dated_by is None:
        return None
    ends = (dated_by.holds_from, dated_by.holds_until)
    first, last = (end.date().isoformat() if end else "" for end in ends)
    return first, last


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I moved to Lisbon last month", "2026-02-01", ""),
        ("Switched to Neovim yesterday", "2026-03-10", ""),
        ("Anna started at Acme in March", "2026-03-01", ""),
        ("I became vegan in 2020", "2020-01-01", ""),
        ("I've been vegan since 2019", "2019-01-01", ""),
        ("Vegan since '19", "2019-01-01", ""),
        ("Dr Osei has been head of radiology since March", "2026-03-01", ""),
        ("The museum is closed until 4 May", "", "2026-05-04"),
        ("I'm off until Friday", "", "2026-03-13"),
        ("I'm off up to and including Friday", "", "2026-03-14"),
        ("I'm on leave through June", "", "2026-07-01"),
        ("I'm on leave until June", "", "2026-06-01"),
        ("Prices are frozen until the end of the month", "", "2026-04-01"),
        ("I'm in Rome for three weeks", "2026-03-11", "2026-04-01"),
        ("I've worked here for five years now", "2021-03-11", ""),
        ("From 1 May we work in the new office", "2026-05-01", ""),
        ("Starting next quarter I report to Ana", "2026-04-01", ""),
        ("As of Monday I'm team lead", "2026-03-16", ""),
        ("Effective 2025-07-01 the fee is 30", "2025-07-01", ""),
    ],
)
def test_words_date_the_fact(text: str, first: str, last: str) -> None:
    assert read_interval(text) == (first, last)
    assert not date_fact(text, SAID_AT, UTC).is_episode


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I lived in Bristol from 2015 to 2018", "2015-01-01", "2018-01-01"),
        ("Worked at Acme between 2010 and 2014", "2010-01-01", "2014-01-01"),
        ("Ben was CEO until 2019", "", "2019-01-01"),
    ],
)
def test_words_tell_an_episode(text: str, first: str, last: str) -> None:
    assert read_interval(text) == (first, last)
    assert date_fact(text, SAID_AT, UTC).is_episode


@pytest.mark.parametrize(
    "text", ["The museum is closed until 2024-05-04", "In office until 2025-01-03"]
)
def test_an_end_that_had_passed_when_it_was_said_is_left_open(text: str) -> None:
    dated = date_fact(text, SAID_AT, UTC)
    assert dated.dated_by is None
    assert [words[:5] for words in dated.left_open] == ["until"]


@pytest.mark.parametrize(
    "text",
    [
        "My flight is on 12 December",
        "My passport expires in June 2027",
        "The meeting moved to Friday",
        "I was born on 3 May 1990",
        "Rent is due on the first",
        "The warranty runs out in 2028",
        "The deadline is Friday",
        "The launch is scheduled for next month",
        "I had pizza yesterday",
        "We met Tom last week",
        "May helps me with German",
        "March is my surname",
        "We answer 24/7",
        "We run version 2024.1",
        "I second that",
        "I own the 1984 paperback",
        "She sat on the board",
        "We plan on the Monday.com board",
        "I use Windows 11 and an iPhone 15",
        'She said "I moved to Rome last month"',
        "Lenin's brother (17 October 1917-24 June 1991) lived in Perm",
        "The log is at https://example.org/since/2024-01-05/x",
        "Since 5/1/2024 I have a dog",
    ],
)
def test_words_date_nothing(text: str) -> None:
    dated = date_fact(text, SAID_AT, UTC)
    assert dated.dated_by is None
    assert not dated.is_episode


@pytest.mark.parametrize(
    "text",
    [
        "in " * 5000,
        "since " * 2600,
        "from 1 to " * 1600,
        "1 " * 8000,
        "2019 " * 3200,
        "in 2019 " * 2000,
        "I moved in 2019 and " * 800,
        "'" * 16_000,
        '"a' * 8000,
        "(" * 16_000,
        "` a" * 5000,
        "the end of " * 1400,
        "early " * 2600,
        "٣ " * 8000,
        "\ud800" * 100,
        "𝟙𝟚 May ² ½ " * 1000,
        "last this past next " * 800,
        "0" * 16_000,
        "a/1" * 5000,
    ],
)
def test_hostile_texts_are_read(text: str) -> None:
    assert date_fact(text[:16_000], SAID_AT, UTC) is not None


@pytest.mark.parametrize(
    "text",
    [
        "I've lived here for 9999 years",
        "I've lived here for 9999 decades now",
        "The seal holds until 0000-00-00",
        "The seal holds until 2026-02-30",
        "The seal holds through 9999-12-31",
        "I moved 9999 years ago",
    ],
)
def test_dates_outside_of_the_calendar_date_nothing(text: str) -> None:
    assert date_fact(text, SAID_AT, UTC).dated_by is None
