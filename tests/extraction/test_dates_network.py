"""What the shipped network holds phrases of time to be. It learned from none of these sentences."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from app.domain.dates.facts import find_times
from app.domain.dates.roles import Role
from app.extraction.dates_network import DatesNetwork
from app.networks import FairThreads
from support.dates import date_text

SAID_AT = datetime(2026, 3, 11, 14, 20, tzinfo=UTC)  # a Wednesday
# It dates most of what words date, and little of the hardest that looks so.
LEAST_DATED, MOST_FALSE, MOST_DOUBTFUL = 0.9, 0.18, 0.15

DATED = [
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
    ("Had the same van for eleven years now", "2015-03-11", ""),
    ("Please note that I am away until Friday", "", "2026-03-13"),
    ("We are happy to announce that Anna joined us on 1 March", "2026-03-01", ""),
    ("I'd like to let you know that I moved to Rome last month", "2026-02-01", ""),
    ("Just so you know, I've been vegan since 2019", "2019-01-01", ""),
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
]
EPISODES = [
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
]
# The date is that of an event or a thing.
VALUES = [
    "My flight is on 12 December",
    "The meeting moved to Friday",
    "I was born on 3 May 1990",
    "Rent is due on the first",
    "The warranty runs out in 2028",
    "The deadline is Friday",
    "The launch is scheduled for next month",
    "I had pizza yesterday",
    "We met Tom last week",
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
    "I earn 2000 - 2500",
    "My blood pressure was 130/85 on Monday",
    "I may march in May",
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
]
# The words do not say whether they date the fact, or since when.
IN_DOUBT = [
    "I moved here the other day",
    "I quit smoking a few years ago",
    "In my twenties I lived in Paris",
    "I've been freelancing since late 2022",
    "The gym is closed until mid-April",
    "The café won't open until May",
    "I moved to Madrid at the end of March",
    "Tom, who joined in 2019, leads the team",
    "Tom, our manager since 2019, is leaving",
    "We're moving to Edinburgh in March",
    "I'm the cover until March",
    "I'll be in Tokyo for two weeks in May",
    "I take vitamin D for three months",
    "I left Monzo last week and I'm starting at Acme on Monday",
    "I have a postcard from 1912",
    "I'm grumpy today",
    "I'm 40 today",
    "We're having pizza tonight",
    "The deed was signed on Monday",
    "After Anna took over in 2019, Ben left",
    "She has been banned for a month",
    "Vegan for 10 years, no sugar since 2020",
    "I paid the rent until June",
    "Two years ago I lived in Rome",
    "I'm in a bad mood today",
    "I started on statins in May and stopped in July",
    "I'm away from Monday and back on Thursday",
    "The pool is closed from 1 May and the gym until 3 June",
    "Jo had a baby in May and is on leave until July",
]


def is_read(text: str, first: str, last: str, *, is_episode: bool) -> bool:
    """Return True if the text is read as such a fact, with these days; "" is an open end."""
    dated = date_text(text, SAID_AT)
    if dated.dated_by is None:
        return False
    ends = (dated.dated_by.holds_from, dated.dated_by.holds_until)
    days = tuple(end.date().isoformat() if end else "" for end in ends)
    return days == (first, last) and dated.is_episode is is_episode


def test_most_dates_of_facts_are_read() -> None:
    assert sum(is_read(*row, is_episode=False) for row in DATED) >= LEAST_DATED * len(DATED)


def test_most_episodes_are_read_as_such() -> None:
    assert sum(is_read(*row, is_episode=True) for row in EPISODES) >= LEAST_DATED * len(EPISODES)


def test_it_learned_from_none_of_these() -> None:
    learned = {
        json.loads(line)["text"].strip(".")
        for file in (Path(__file__).parents[2] / "corpus" / "dates").glob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    }
    texts = [*(row[0] for row in (*DATED, *EPISODES)), *VALUES, *IN_DOUBT]
    assert learned.isdisjoint(texts)


def test_few_dates_of_events_and_things_date_the_fact() -> None:
    dated = [text for text in VALUES if date_text(text, SAID_AT).dated_by is not None]
    assert len(dated) <= MOST_FALSE * len(VALUES), dated


def test_few_dates_in_doubt_are_read() -> None:
    dated = [text for text in IN_DOUBT if date_text(text, SAID_AT).dated_by is not None]
    assert len(dated) <= MOST_DOUBTFUL * len(IN_DOUBT), dated


def test_a_phrase_far_behind_is_left_open() -> None:
    text = f"{'really ' * 300}since March"
    network = DatesNetwork(FairThreads(1))
    assert asyncio.run(network.rule(find_times(text)))[1] == [Role.OPEN]
    assert asyncio.run(network.rule(find_times("I moved")))[1] == []
