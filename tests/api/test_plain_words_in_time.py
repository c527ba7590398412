"""Plain words on the time axis: what holds at each moment, with the real local judge."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, store
from support.databases import fresh_database
from support.doctor_check import assert_agent_healthy
from support.service import running
from support.urls import name_of


@dataclass(frozen=True)
class Life:
    """What was told in turn, each on a day of its own, and what holds at some moments.

    `holds` gives, by the moment, the places of the texts that hold then.
    """

    told: tuple[str, ...]
    holds: dict[str, set[int]]

    def __str__(self) -> str:
        return " / ".join(self.told)


def life(*told: str, **holds: tuple[int, ...]) -> Life:
    """Return a life; `at_2027_02_02=(1,)` says that the second text alone holds on that day."""
    return Life(told, {_read_day(name): set(places) for name, places in holds.items()})


def _read_day(name: str) -> str:
    year, *rest = name.removeprefix("at_").split("_")
    month, day = rest or ("01", "02")
    return f"{year}-{month}-{day}T12:00:00Z"


# The texts are told one after another on 10 October 2026, so that every date has one meaning.
SAID_AT = "2026-10-10T{hour:02d}:00:00Z"

EARLIER_MOVES = [
    life(
        "I moved to Lisbon in March 2024",
        "I moved to Porto in 2020",
        at_2022=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "I joined Acme in May 2023",
        "I joined Initech in 2019",
        at_2021=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "I have lived in Ghent since 2022",
        "I moved to Bruges in 2017",
        at_2019=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "I moved to Oslo in June 2025",
        "I moved to Bergen in February 2021",
        at_2023=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "My boss has been Anna since 2024",
        "My boss has been Ben since 2020",
        at_2022=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "Our office moved to Canal Street in 2025",
        "Our office moved to Mill Lane in 2018",
        at_2020=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "Nora moved to Bonn in 2023",
        "Nora moved to Kiel in 2016",
        at_2018=(1,),
        at_2026_11_01=(0,),
    ),
]

MOVES_IN_BETWEEN = [
    life(
        "I moved to Porto in January 2024",
        "I moved to Lisbon in January 2025",
        "I moved to Braga in June 2024",
        at_2024_03_01=(0,),
        at_2024_09_01=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "I moved to Leeds in 2015",
        "I moved to York in 2022",
        "I moved to Hull in 2018",
        at_2016=(0,),
        at_2020=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "I have lived in Graz since 2014",
        "I moved to Linz in March 2023",
        "I moved to Wels in May 2019",
        at_2016=(0,),
        at_2021=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "I joined Initech in 2016",
        "I joined Acme in 2024",
        "I joined Globex in 2020",
        at_2018=(0,),
        at_2022=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "We moved to Malmö in April 2020",
        "We moved to Lund in April 2025",
        "We moved to Ystad in April 2023",
        at_2021=(0,),
        at_2024=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "My sister moved to Cork in 2012",
        "My sister moved to Galway in 2024",
        "My sister moved to Sligo in 2019",
        at_2015=(0,),
        at_2021=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "My dentist has been Dr Osei since 2018",
        "My dentist has been Dr Lund since 2025",
        "My dentist has been Dr Marsh since 2021",
        at_2019=(0,),
        at_2023=(2,),
        at_2026_11_01=(1,),
    ),
]

PLANNED_MOVES = [
    life(
        "I live in Porto",
        "I am moving to Lisbon on 1 February 2027",
        at_2026_11_01=(0,),
        at_2027_02_02=(1,),
    ),
    life(
        "I live in Ghent",
        "I'm moving to Bruges on 15 March 2027",
        at_2026_11_01=(0,),
        at_2027_03_16=(1,),
    ),
    life(
        "I live in Leeds",
        "I will move to York on 1 May 2027",
        at_2026_11_01=(0,),
        at_2027_05_02=(1,),
    ),
    life(
        "I work at Acme",
        "I'm joining Initech on 1 February 2027",
        at_2026_11_01=(0,),
        at_2027_02_02=(1,),
    ),
    life(
        "My sister lives in Cork",
        "My sister is moving to Galway on 3 January 2027",
        at_2026_11_01=(0,),
        at_2027_01_04=(1,),
    ),
    life(
        "I live in Oslo",
        "I'm going to move to Bergen on 1 June 2027",
        at_2026_11_01=(0,),
        at_2027_06_02=(1,),
    ),
    life(
        "I work for Globex",
        "I start at Hooli on 4 January 2027",
        at_2026_11_01=(0,),
        at_2027_01_05=(1,),
    ),
]

PLANNED_STATES = [
    life(
        "I live in Porto",
        "From 1 February 2027 I live in Lisbon",
        at_2026_11_01=(0,),
        at_2027_02_02=(1,),
    ),
    life(
        "I live in Porto",
        "From 1 February 2027 I will live in Lisbon",
        at_2026_11_01=(0,),
        at_2027_02_02=(1,),
    ),
    life(
        "I live in Graz",
        "From March 2027 I'll be living in Linz",
        at_2026_11_01=(0,),
        at_2027_03_02=(1,),
    ),
    life(
        "I work at Acme",
        "From 1 January 2027 I work at Initech",
        at_2026_11_01=(0,),
        at_2027_01_05=(1,),
    ),
    life(
        "My boss is Anna",
        "From 1 December 2026 my boss will be Ben",
        at_2026_11_01=(0,),
        at_2026_12_02=(1,),
    ),
    life(
        "My dentist is Dr Osei",
        "Starting 1 January 2027 my dentist is Dr Marsh",
        at_2026_11_01=(0,),
        at_2027_01_05=(1,),
    ),
    life(
        "The office is on Mill Lane",
        "From 1 April 2027 the office will be on Canal Street",
        at_2026_11_01=(0,),
        at_2027_04_02=(1,),
    ),
]

PLANNED_ENDS = [
    life(
        "I work at Acme",
        "I'm leaving Acme at the end of December",
        at_2026_11_01=(0,),
        at_2027_02_01=(),
    ),
    life(
        "I work at Initech",
        "I'm leaving Initech on 31 January 2027",
        at_2026_11_01=(0,),
        at_2027_02_01=(),
    ),
    life(
        "I work for Globex",
        "I will leave Globex on 1 March 2027",
        at_2026_11_01=(0,),
        at_2027_03_02=(),
    ),
    life(
        "I play tennis",
        "I'm going to stop playing tennis on 1 January 2027",
        at_2026_11_01=(0,),
        at_2027_01_05=(),
    ),
    life(
        "Tom works at Hooli",
        "Tom is leaving Hooli at the end of November",
        at_2026_11_01=(0,),
        at_2026_12_05=(),
    ),
    life(
        "I work at the town library",
        "I'm leaving the town library at the end of the year",
        at_2026_11_01=(0,),
        at_2027_01_05=(),
    ),
    life(
        "I have a membership at the Northside gym",
        "I'm cancelling my membership at the Northside gym on 1 December 2026",
        at_2026_11_01=(0,),
        at_2026_12_05=(),
    ),
]

PAST_ENDS = [
    life("I play tennis", "I stopped playing tennis in 2024", at_2026_11_01=()),
    life("I work at Acme", "I left Acme in March 2025", at_2026_11_01=()),
    life("I eat meat", "I stopped eating meat in 2023", at_2026_11_01=()),
    life("I drive a Fiesta", "I sold the Fiesta in May 2026", at_2026_11_01=()),
    life("I have a cat", "I no longer have a cat since June 2026", at_2026_11_01=()),
    life("I sing in a choir", "I stopped singing in a choir last month", at_2026_11_01=()),
    life("I take melatonin", "I stopped taking melatonin in August 2026", at_2026_11_01=()),
]

ENDED_STAYS = [
    life(
        "My boss is Anna",
        "My boss is Ben until 1 January 2027",
        "Ben is no longer my boss",
        at_2026_11_01=(0,),
        at_2027_01_05=(0,),
    ),
    life(
        "My team lead is Ida",
        "My team lead is Omar until 1 March 2027",
        "Omar is no longer my team lead",
        at_2026_11_01=(0,),
        at_2027_03_05=(0,),
    ),
    life(
        "I live in Porto",
        "I'm staying at the Ibis until 20 December 2026",
        "I'm no longer staying at the Ibis",
        at_2026_11_01=(0,),
        at_2026_12_24=(0,),
    ),
    life(
        "I live in Ghent",
        "I live in Bruges until 1 May 2027",
        "I no longer live in Bruges",
        at_2026_11_01=(0,),
        at_2027_05_05=(0,),
    ),
    life(
        "My dentist is Dr Osei",
        "My dentist is Dr Marsh until 1 February 2027",
        "Dr Marsh is no longer my dentist",
        at_2026_11_01=(0,),
        at_2027_02_05=(0,),
    ),
    life(
        "I work at Acme",
        "I work at Initech until 1 April 2027",
        "I no longer work at Initech",
        at_2026_11_01=(0,),
        at_2027_04_05=(0,),
    ),
    life(
        "My manager is Ruth",
        "My manager is Carl until the end of January 2027",
        "Carl isn't my manager anymore",
        at_2026_11_01=(0,),
        at_2027_02_05=(0,),
    ),
]

PAST_STAYS = [
    life(
        "Alice has been the CEO of Acme since 2015",
        "Bob was the CEO of Acme from 2018 to 2020",
        at_2017=(0,),
        at_2019=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "I have lived in Porto since 2010",
        "I lived in Bristol from 2015 to 2018",
        at_2012=(0,),
        at_2016=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "I've worked at Acme since 2012",
        "I worked at Initech from 2016 to 2019",
        at_2014=(0,),
        at_2017=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "My boss has been Anna since 2018",
        "My boss was Ben from May 2021 to August 2022",
        at_2020=(0,),
        at_2022=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "My sister has lived in Cork since 2009",
        "My sister lived in Galway from 2013 to 2015",
        at_2011=(0,),
        at_2014=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "Dana has been the head coach since 2014",
        "Eli was the head coach from 2016 to 2017",
        at_2015=(0,),
        at_2016_06_01=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "My dentist has been Dr Osei since 2016",
        "My dentist was Dr Marsh from 2019 to 2021",
        at_2018=(0,),
        at_2020=(1,),
        at_2026_11_01=(0,),
    ),
]

OPEN_STARTS = [
    life("I lived in Bristol until 2018", at_2017=(0,), at_2019=()),
    life("Ben was CEO of Acme until 2019", at_1999=(0,), at_2020=()),
    life("I worked at Initech until March 2021", at_2020=(0,), at_2022=()),
    life("I was a vegetarian until last year", at_2024=(0,), at_2026_02_01=()),
    life("My boss was Ben until June 2024", at_2023=(0,), at_2024_07_01=()),
    life("We lived in Cork until 2005", at_2004=(0,), at_2006=()),
    life(
        "I live in Porto",
        "I lived in Bristol until 2018",
        at_2017=(1,),
        at_2019=(),
        at_2026_11_01=(0,),
    ),
]


@pytest.fixture(scope="module")
def address(server_url: str, template_url: str) -> Iterator[str]:
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, local_judge=True)) as address,
    ):
        yield address


@pytest.fixture
def agent(address: str) -> Iterator[httpx.Client]:
    """A client of a service with the local judge, as an agent that nobody else is."""
    headers = {"X-Agent-Id": f"test-{uuid4().hex}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        yield client
        assert_agent_healthy(client)


def tell(client: httpx.Client, told: tuple[str, ...]) -> list[dict[str, object]]:
    answers = []
    for hour, text in enumerate(told, 8):
        answers.append(store(client, text, said_at=SAID_AT.format(hour=hour)))
    return answers


@pytest.mark.parametrize(
    "life",
    [
        *EARLIER_MOVES,
        *MOVES_IN_BETWEEN,
        *PLANNED_MOVES,
        *PLANNED_STATES,
        *PLANNED_ENDS,
        *PAST_ENDS,
        *ENDED_STAYS,
        *PAST_STAYS,
        *OPEN_STARTS,
    ],
    ids=str,
)
def test_what_was_told_holds_when_its_words_say(agent: httpx.Client, life: Life) -> None:
    tell(agent, life.told)
    for moment, places in life.holds.items():
        assert contents(agent, as_of=moment) == {life.told[place] for place in places}, moment
