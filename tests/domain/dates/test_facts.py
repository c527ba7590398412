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
        ("Effective immediately, all deploys need approval", "2026-03-11", ""),
        ("I got a puppy two weeks ago", "2026-02-25", ""),
        ("My daughter turned 5 in May", "2025-05-01", ""),
        ("She was promoted last quarter", "2025-10-01", ""),
        ("We got engaged on Valentine's Day", "2026-02-14", ""),
        ("im off untill wednsday", "", "2026-03-18"),
        ("on nights since yesturday", "2026-03-10", ""),
        ("I've been here two and a half years now", "2023-09-11", ""),
        ("I'm on keto till Easter", "", "2026-04-05"),
        ("I'm working from home until the 20th", "", "2026-03-20"),
        ("Staging is frozen from Friday", "2026-03-13", ""),
        ("Our office moves to Canary Wharf on 1 June", "2026-06-01", ""),
        ("Tom's on holiday from the 3rd to the 10th", "2026-04-03", "2026-04-10"),
        ("I'm in Rome 5-9 May", "2026-05-05", "2026-05-09"),
        ("Anna is my manager until Jo comes back in June", "", "2026-06-01"),
        ("I won't be back until Monday", "", "2026-03-16"),
        ("Visitor badges are needed from 1 December until Christmas", "2026-12-01", "2026-12-25"),
        ("By next March we will be fully on Databricks", "2027-03-01", ""),
        ("I work at Acme since two years", "2024-03-11", ""),
        ("I moved out a week ago", "2026-03-04", ""),
        ("I quit a year ago", "2025-03-11", ""),
        ("I moved here in March last year", "2025-03-01", ""),
        ("I'm off until the 1st of next month", "", "2026-04-01"),
        ("In two weeks I'll be in Leeds", "2026-03-25", ""),
        ("I'm on leave until EOM", "", "2026-04-01"),
        ("I bought a house in 2020", "2020-01-01", ""),
        ("I cancelled my gym membership last week", "2026-03-02", ""),
        ("We opened a second shop in 2019", "2019-01-01", ""),
        ("My sister had a baby in May", "2025-05-01", ""),
        ("We hired a designer in January", "2026-01-01", ""),
        ("I started a new job last week", "2026-03-02", ""),
        ("Started in May", "2025-05-01", ""),
        ("I left my job in January", "2026-01-01", ""),
        ("We moved our data to Snowflake in February", "2026-02-01", ""),
        ("The firm relocated its labs to Ghent in 2020", "2020-01-01", ""),
        ("We changed our standup to 9:45 last month", "2026-02-01", ""),
        ("Had the same van for eleven years now", "2015-03-11", ""),
        ("Please note that I am away until Friday", "", "2026-03-13"),
        ("We are happy to announce that Anna joined us on 1 March", "2026-03-01", ""),
        ("I'd like to let you know that I moved to Rome last month", "2026-02-01", ""),
        ("Just so you know, I've been vegan since 2019", "2019-01-01", ""),
        ("From 1 November we shut at two", "2025-11-01", ""),
        ("I'm on statins from 5 January until 5 April this year", "2026-01-05", "2026-04-05"),
        ("I'm in Berlin Tuesday through Thursday next week", "2026-03-17", "2026-03-20"),
        ("I'm off today", "2026-03-11", "2026-03-12"),
        ("I'm on day 3 of my course until Friday", "", "2026-03-13"),
        ("I'm the new lead as of last Monday", "2026-03-09", ""),
        ("From 1 May I work at Acme until the end of the year", "2026-05-01", "2027-01-01"),
        ("I'm on leave w/c 16 March", "2026-03-16", "2026-03-23"),
        ("I'm on leave next week", "2026-03-16", "2026-03-23"),
        ("I'm away w/c Monday 9 March", "2026-03-09", "2026-03-16"),
        ("Tom's on holiday week commencing 4 May 2026", "2026-05-04", "2026-05-11"),
        ("Ms Falk retired in 2019", "2019-01-01", ""),
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
        ("Throughout the eighties I was a smoker", "1980-01-01", "1990-01-01"),
        ("I was in Paris last week", "2026-03-02", "2026-03-09"),
        ("The chapel was used as a barn from 1890 until 1920", "1890-01-01", "1920-01-01"),
        ("Bismarck was chancellor from 1871 to 1890", "1871-01-01", "1890-01-01"),
        ("I was away w/c 2 March", "2026-03-02", "2026-03-09"),
        ("I taught there from 1974 through 1991", "1974-01-01", "1992-01-01"),
        ("My mother lived with us until last year", "", "2025-01-01"),
        ("I lived in Rome from March to May last year", "2025-03-01", "2025-05-01"),
        ("I had flu last week, Monday through Wednesday", "2026-03-02", "2026-03-05"),
        ("I was in hospital from Monday to Thursday last week", "2026-03-02", "2026-03-05"),
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
        "Today is my birthday",
        "My first day at Acme was 3 May 2021",
        "Article 50 was in 2017",
        "The house was built in 1930",
        "Neo4j 5.10 was released on July 19, 2023",
        "The boiler was replaced last week",
        "My niece is getting married next summer",
        "The visitors arrive tomorrow",
        "I have until Friday to answer",
        "The trip is postponed until October",
        "The lease must be renewed until 10 March",
        "It's three weeks until Easter",
        "If I move in June I'll need a van",
        "I'd like to move to Rome in 2027",
        "Did you move last month?",
        "I've paid for two months of parking",
        "I earn 2000 - 2500",
        "My rent goes up to 1200 euros",
        "The price is up to 2000 euros",
        "My blood pressure was 130/85 on Monday",
        "I read USA Today daily",
        "June from accounts sits beside the window",
        "I may march in May",
        "My favourite film is 2001",
        "I started the car this morning",
        "I started crying last night",
        "I left my keys at home this morning",
        "I got my hair cut on Monday",
        "I changed my mind yesterday",
        "We switched seats with Tom yesterday",
        "I joined the call late on Monday",
        "I cut out the article yesterday",
        "The session began on Monday",
        "It stopped raining yesterday",
        "I moved my shift to Friday last week",
        "My sister had a baby shower in May",
        "I've read four books since January",
        "The car has done 20000 miles since 2020",
        "Sales have doubled since 2021",
        "I almost moved to Rome in 2020",
        "I never moved to Rome in 2020",
        "I dreamt I moved to Rome last night",
        "Term starts on 5 September",
        "I'm off to Rome tomorrow",
        "We hired a van on Saturday",
        "I stopped the car yesterday",
        "I switched on the heating in October",
        "The price went from 1800 to 1900",
        "My salary was from 1800 to 1950",
    ],
)
def test_words_date_nothing(text: str) -> None:
    dated = date_fact(text, SAID_AT, UTC)
    assert dated.dated_by is None
    assert not dated.is_episode


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I moved here the other day", ("the other day",)),
        ("I quit smoking a few years ago", ("a few years ago",)),
        ("In my twenties I lived in Paris", ("In my twenties",)),
        ("I've been freelancing since late 2022", ("since late 2022",)),
        ("The gym is closed until mid-April", ("until mid-April",)),
        ("The café won't open until May", ("until May",)),
        ("I moved to Madrid at the end of March", ("at the end of March",)),
        ("Tom, who joined in 2019, leads the team", ("in 2019",)),
        ("Tom, our manager since 2019, is leaving", ("since 2019",)),
        ("We're moving to Edinburgh in March", ("in March",)),
        ("I'm the cover until March", ("until March",)),
        ("I'll be in Tokyo for two weeks in May", ("for two weeks",)),
        ("I take vitamin D for three months", ("for three months",)),
        ("I left Monzo last week and I'm starting at Acme on Monday", ("last week", "on Monday")),
        ("I have a postcard from 1912", ("from 1912",)),
        ("I'm grumpy today", ("today",)),
        ("I'm 40 today", ("today",)),
        ("We're having pizza tonight", ("tonight",)),
        ("The deed was signed on Monday", ("on Monday",)),
        ("In 1917 Lenin moved to Petrograd", ("In 1917",)),
        ("After Anna took over in 2019, Ben left", ("in 2019",)),
        ("She has been banned for a month", ("for a month",)),
        ("Vegan for 10 years, no sugar since 2020", ("for 10 years", "since 2020")),
        ("I paid the rent until June", ("until June",)),
        ("Two years ago I lived in Rome", ("Two years ago",)),
        ("I'm in a bad mood today", ("today",)),
        ("I was ill over Christmas", ("over Christmas",)),
        ("I started on statins in May and stopped in July", ("in May",)),
        ("I'm away from Monday and back on Thursday", ("from Monday",)),
        (
            "The pool is closed from 1 May and the gym until 3 June",
            ("from 1 May", "until 3 June"),
        ),
        ("Jo had a baby in May and is on leave until July", ("in May", "until July")),
        ("I like tea. I moved to Rome in 2015.", ("in 2015",)),
        ("- I like tea\n- I have lived in Rome since 2015", ("since 2015",)),
    ],
)
def test_words_in_doubt_are_left_open(text: str, words: tuple[str, ...]) -> None:
    dated = date_fact(text, SAID_AT, UTC)
    assert dated.dated_by is None
    assert dated.left_open == words


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
