"""The time that phrases name, whichever of them date the fact."""

from datetime import UTC, datetime

import pytest

from app.domain.dates.dated_text import DatedText
from app.domain.dates.facts import date_fact, find_times
from app.domain.dates.roles import Role

SAID_AT = datetime(2026, 3, 11, 14, 20, tzinfo=UTC)  # a Wednesday


def date_text(text: str, roles: str) -> DatedText:
    """Return the dates of a text whose phrases have these roles."""
    timed = find_times(text)
    return date_fact(timed, [Role(role) for role in roles.split()], SAID_AT, UTC)


def read_interval(dated: DatedText) -> tuple[str, str] | None:
    """Return first day and end, "" for an open one; None if nothing dates the fact."""
    if dated.dated_by is None:
        return None
    ends = (dated.dated_by.holds_from, dated.dated_by.holds_until)
    first, last = (end.date().isoformat() if end else "" for end in ends)
    return first, last


@pytest.mark.parametrize(
    ("text", "roles", "first", "last"),
    [
        ("I moved to Lisbon last month", "started", "2026-02-01", ""),
        ("Switched to Neovim yesterday", "started", "2026-03-10", ""),
        ("Anna started at Acme in March", "started", "2026-03-01", ""),
        ("I became vegan in 2020", "started", "2020-01-01", ""),
        ("I've been vegan since 2019", "started", "2019-01-01", ""),
        ("Vegan since '19", "started", "2019-01-01", ""),
        ("Dr Osei has been head of radiology since March", "started", "2026-03-01", ""),
        ("The museum is closed until 4 May", "lasts", "", "2026-05-04"),
        ("I'm off until Friday", "lasts", "", "2026-03-13"),
        ("I'm off up to and including Friday", "lasts", "", "2026-03-14"),
        ("I'm on leave through June", "lasts", "", "2026-07-01"),
        ("I'm on leave until June", "lasts", "", "2026-06-01"),
        ("Prices are frozen until the end of the month", "lasts", "", "2026-04-01"),
        ("I'm in Rome for three weeks", "lasts", "2026-03-11", "2026-04-01"),
        ("I've worked here for five years now", "started", "2021-03-11", ""),
        ("From 1 May we work in the new office", "starts", "2026-05-01", ""),
        ("Starting next quarter I report to Ana", "starts", "2026-04-01", ""),
        ("As of Monday I'm team lead", "starts", "2026-03-16", ""),
        ("Effective 2025-07-01 the fee is 30", "starts", "2025-07-01", ""),
        ("Effective immediately, all deploys need approval", "starts", "2026-03-11", ""),
        ("I got a puppy two weeks ago", "started", "2026-02-25", ""),
        ("My daughter turned 5 in May", "started", "2025-05-01", ""),
        ("She was promoted last quarter", "started", "2025-10-01", ""),
        ("We got engaged on Valentine's Day", "started", "2026-02-14", ""),
        ("im off untill wednsday", "lasts", "", "2026-03-18"),
        ("on nights since yesturday", "started", "2026-03-10", ""),
        ("I've been here two and a half years now", "started", "2023-09-11", ""),
        ("I'm on keto till Easter", "lasts", "", "2026-04-05"),
        ("I'm working from home until the 20th", "lasts", "", "2026-03-20"),
        ("Staging is frozen from Friday", "starts", "2026-03-13", ""),
        ("Our office moves to Canary Wharf on 1 June", "starts", "2026-06-01", ""),
        ("Tom's on holiday from the 3rd to the 10th", "lasts", "2026-04-03", "2026-04-10"),
        ("I'm in Rome 5-9 May", "lasts", "2026-05-05", "2026-05-09"),
        ("Anna is my manager until Jo comes back in June", "lasts", "", "2026-06-01"),
        ("I won't be back until Monday", "lasts", "", "2026-03-16"),
        (
            "Visitor badges are needed from 1 December until Christmas",
            "lasts",
            "2026-12-01",
            "2026-12-25",
        ),
        ("By next March we will be fully on Databricks", "starts", "2027-03-01", ""),
        ("I work at Acme since two years", "started", "2024-03-11", ""),
        ("I moved out a week ago", "started", "2026-03-04", ""),
        ("I quit a year ago", "started", "2025-03-11", ""),
        ("I moved here in March last year", "started", "2025-03-01", ""),
        ("I'm off until the 1st of next month", "lasts", "", "2026-04-01"),
        ("In two weeks I'll be in Leeds", "starts", "2026-03-25", ""),
        ("I'm on leave until EOM", "lasts", "", "2026-04-01"),
        ("I bought a house in 2020", "started", "2020-01-01", ""),
        ("I cancelled my gym membership last week", "started", "2026-03-02", ""),
        ("We opened a second shop in 2019", "started", "2019-01-01", ""),
        ("My sister had a baby in May", "started", "2025-05-01", ""),
        ("We hired a designer in January", "started", "2026-01-01", ""),
        ("I started a new job last week", "started", "2026-03-02", ""),
        ("Started in May", "started", "2025-05-01", ""),
        ("I left my job in January", "started", "2026-01-01", ""),
        ("We moved our data to Snowflake in February", "started", "2026-02-01", ""),
        ("The firm relocated its labs to Ghent in 2020", "started", "2020-01-01", ""),
        ("We changed our standup to 9:45 last month", "started", "2026-02-01", ""),
        ("Had the same van for eleven years now", "started", "2015-03-11", ""),
        ("Please note that I am away until Friday", "lasts", "", "2026-03-13"),
        ("We are happy to announce that Anna joined us on 1 March", "started", "2026-03-01", ""),
        ("I'd like to let you know that I moved to Rome last month", "started", "2026-02-01", ""),
        ("Just so you know, I've been vegan since 2019", "started", "2019-01-01", ""),
        (
            "I'm on statins from 5 January until 5 April this year",
            "lasts",
            "2026-01-05",
            "2026-04-05",
        ),
        ("I'm in Berlin Tuesday through Thursday next week", "lasts", "2026-03-17", "2026-03-20"),
        ("I'm off today", "lasts", "2026-03-11", "2026-03-12"),
        ("I'm on day 3 of my course until Friday", "lasts", "", "2026-03-13"),
        ("I'm the new lead as of last Monday", "starts", "2026-03-09", ""),
        (
            "From 1 May I work at Acme until the end of the year",
            "starts lasts",
            "2026-05-01",
            "2027-01-01",
        ),
        ("I'm on leave w/c 16 March", "lasts", "2026-03-16", "2026-03-23"),
        ("I'm on leave next week", "lasts", "2026-03-16", "2026-03-23"),
        ("I'm away w/c Monday 9 March", "lasts", "2026-03-09", "2026-03-16"),
        ("Tom's on holiday week commencing 4 May 2026", "lasts", "2026-05-04", "2026-05-11"),
        ("Ms Falk retired in 2019", "started", "2019-01-01", ""),
    ],
)
def test_words_date_the_fact(text: str, roles: str, first: str, last: str) -> None:
    dated = date_text(text, roles)
    assert read_interval(dated) == (first, last)
    assert not dated.is_episode


@pytest.mark.parametrize(
    ("text", "roles", "first", "last"),
    [
        ("I lived in Bristol from 2015 to 2018", "episode", "2015-01-01", "2018-01-01"),
        ("Worked at Acme between 2010 and 2014", "episode", "2010-01-01", "2014-01-01"),
        ("Ben was CEO until 2019", "episode", "", "2019-01-01"),
        ("Throughout the eighties I was a smoker", "episode", "1980-01-01", "1990-01-01"),
        ("I was in Paris last week", "episode", "2026-03-02", "2026-03-09"),
        (
            "The chapel was used as a barn from 1890 until 1920",
            "episode",
            "1890-01-01",
            "1920-01-01",
        ),
        ("Bismarck was chancellor from 1871 to 1890", "episode", "1871-01-01", "1890-01-01"),
        ("I was away w/c 2 March", "episode", "2026-03-02", "2026-03-09"),
        ("I taught there from 1974 through 1991", "episode", "1974-01-01", "1992-01-01"),
        ("My mother lived with us until last year", "episode", "", "2025-01-01"),
        ("I lived in Rome from March to May last year", "episode", "2025-03-01", "2025-05-01"),
        ("I had flu last week, Monday through Wednesday", "episode", "2026-03-02", "2026-03-05"),
        (
            "I was in hospital from Monday to Thursday last week",
            "episode",
            "2026-03-02",
            "2026-03-05",
        ),
    ],
)
def test_words_tell_an_episode(text: str, roles: str, first: str, last: str) -> None:
    dated = date_text(text, roles)
    assert read_interval(dated) == (first, last)
    assert dated.is_episode


@pytest.mark.parametrize(
    "text", ["The museum is closed until 2024-05-04", "In office until 2025-01-03"]
)
def test_an_end_that_had_passed_when_it_was_said_is_left_open(text: str) -> None:
    dated = date_text(text, "lasts")
    assert dated.dated_by is None
    assert [words[:5] for words in dated.left_open] == ["until"]


@pytest.mark.parametrize(
    ("text", "roles", "words"),
    [
        ("I moved here the other day", "started", ("the other day",)),
        ("I quit smoking a few years ago", "started", ("a few years ago",)),
        ("In my twenties I lived in Paris", "episode", ("In my twenties",)),
        ("I've been freelancing since late 2022", "started", ("since late 2022",)),
        ("The gym is closed until mid-April", "lasts", ("until mid-April",)),
        ("We're moving to Edinburgh in March", "starts", ("in March",)),
        ("I'm the cover until March", "lasts", ("until March",)),
        ("In 1917 Lenin moved to Petrograd", "started", ("In 1917",)),
        ("They show works from 1890 to 1910", "lasts", ("from 1890 to 1910",)),
        ("I was ill over Christmas", "episode", ("over Christmas",)),
        ("I moved in May or June", "started", ("in May",)),
        ("I like tea. I moved to Rome in 2015.", "started", ("in 2015",)),
        ("- I like tea\n- I have lived in Rome since 2015", "started", ("since 2015",)),
        (
            "Jo had a baby in May and is on leave until July",
            "started lasts",
            ("in May", "until July"),
        ),
        ("I left in May, I may be back in June", "started open", ("in May", "back in June")),
        (
            "She had a baby in May, is on leave until July",
            "started lasts",
            ("in May", "until July"),
        ),
        (
            "I began in January, I'm in training until June",
            "started lasts",
            ("in January", "until June"),
        ),
        ("I'll be in Tokyo for two weeks in May", "lasts value", ("for two weeks",)),
        ("I'm off until 30 February", "lasts", ("until 30 February",)),
    ],
)
def test_words_in_doubt_are_left_open(text: str, roles: str, words: tuple[str, ...]) -> None:
    dated = date_text(text, roles)
    assert dated.dated_by is None
    assert dated.left_open == words


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("I'm off until Friday", "started starts"),
        ("I'm off through Friday", "started starts"),
        ("I'm off from 1 June to 8 June", "started starts"),
        ("I'm off tomorrow", "episode"),
        ("I'm off next week", "episode"),
        ("I'm off until next week", "episode"),
    ],
)
def test_a_time_that_does_not_fit_its_role_is_left_open(text: str, roles: str) -> None:
    for role in roles.split():
        dated = date_text(text, role)
        assert dated.dated_by is None
        assert len(dated.left_open) == 1


def test_an_episode_whose_time_is_open_is_one() -> None:
    assert date_text("In my twenties I lived in Paris", "episode").is_episode
    assert not date_text("In my twenties I moved to Paris", "started").is_episode


@pytest.mark.parametrize(
    "text",
    [
        "March is my surname",
        "We answer 24/7",
        "We run version 2024.1",
        "I second that",
        "I own the 1984 paperback",
        "We plan on the Monday.com board",
        "I use Windows 11 and an iPhone 15",
        'She said "I moved to Rome last month"',
        "The log is at https://example.org/since/2024-01-05/x",
        "Since 5/1/2024 I have a dog",
        "My blood pressure was 130/85",
        "My favourite film is 2001",
    ],
)
def test_these_are_no_phrases_of_time(text: str) -> None:
    assert not find_times(text).phrases


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
    timed = find_times(text[:16_000])
    assert len(timed.phrases) <= 20
    dated = date_fact(timed, [Role.LASTS] * len(timed.phrases), SAID_AT, UTC)
    assert all(words in text for words in dated.left_open)


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
    roles = [role for role in Role if find_times(text).phrases]
    assert all(date_text(text, role).dated_by is None for role in roles)
