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
    """What was said in turn, and what holds at some moments.

    `holds` gives, by the moment, the places of the texts that hold then. Where the words leave
    doubt, a text is `asked` about: the question names the text before it, and is accepted.
    """

    texts: tuple[str, ...]
    holds: dict[str, set[int]]
    asked: bool = False

    def __str__(self) -> str:
        return " / ".join(self.texts)


def life(*texts: str, asked: bool = False, **holds: tuple[int, ...]) -> Life:
    """Return a life; `at_2027_02_02=(1,)` says that the second text alone holds on that day."""
    return Life(texts, {_read_day(name): set(places) for name, places in holds.items()}, asked)


def _read_day(name: str) -> str:
    year, *rest = name.removeprefix("at_").split("_")
    month, day = rest or ("01", "02")
    return f"{year}-{month}-{day}T12:00:00Z"


# The texts are said in turn on 10 October 2026, so that every date has one meaning.
SAID_AT = "2026-10-10T{hour:02d}:00:00Z"

EARLIER_MOVES = [
    life(
        "I moved to Lisbon in March 2024",
        "I moved to Porto in 2020",
        at_2022=(1,),
        at_2026_11_01=(0,),
    ),
    life(
        "My dentist has been Dr Lund since May 2023",
        "My dentist has been Dr Osei since 2019",
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
        "Nora moved to Bern in 2023",
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
        "I moved to Graz in 2014",
        "I moved to Linz in March 2023",
        "I moved to Wels in May 2019",
        at_2016=(0,),
        at_2021=(2,),
        at_2026_11_01=(1,),
    ),
    life(
        "My boss has been Anna since 2016",
        "My boss has been Carl since 2024",
        "My boss has been Ben since 2020",
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
        "I live in Cork",
        "I'm relocating to Galway on 1 February 2027",
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
        "Nora lives in Bonn",
        "Nora will move to Kiel on 4 January 2027",
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
        "I work at Hooli",
        "I'm quitting Hooli at the end of November",
        at_2026_11_01=(0,),
        at_2026_12_05=(),
    ),
    life(
        "I work at Stark",
        "I'm leaving Stark at the end of the year",
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
    life(
        "I teach at the night school",
        "I stopped teaching at the night school in May 2025",
        at_2026_11_01=(),
    ),
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
        "Carl is no longer my manager",
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
        asked=True,
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


def accept(client: httpx.Client, review_id: str, named: str) -> None:
    """Accept a question that names this memory."""
    review = client.get(f"/v1/reviews/{review_id}").raise_for_status().json()
    assert named in [judgment["memory_id"] for judgment in review["judgments"]]
    choice = {"memories": [named]} if len(review["judgments"]) > 1 else {}
    client.post(f"/v1/reviews/{review_id}/accept", json=choice).raise_for_status()


def say(client: httpx.Client, life: Life) -> None:
    """Store the texts of a life in turn, and accept the question that is left."""
    asked, before = False, ""
    for hour, text in enumerate(life.texts, 8):
        answer = store(client, text, said_at=SAID_AT.format(hour=hour))
        if answer["review_id"]:
            accept(client, answer["review_id"], before)
            asked = True
        before = (answer["memory"] or {}).get("id", "")
    assert asked is life.asked


@pytest.mark.parametrize(
    "life",
    [
        *EARLIER_MOVES,
        *MOVES_IN_BETWEEN,
        *PLANNED_MOVES,
        *PLANNED_STATES,
        *PAST_STAYS,
        *OPEN_STARTS,
    ],
    ids=str,
)
def test_each_fact_holds_when_its_words_say(agent: httpx.Client, life: Life) -> None:
    say(agent, life)
    for moment, places in life.holds.items():
        assert contents(agent, as_of=moment) == {life.texts[place] for place in places}, moment


@pytest.mark.parametrize("life", [*PLANNED_ENDS, *PAST_ENDS, *ENDED_STAYS], ids=str)
def test_what_ends_holds_until_the_words_of_its_end_say(agent: httpx.Client, life: Life) -> None:
    say(agent, life)
    *others, ending = life.texts
    for moment, places in life.holds.items():
        holding = contents(agent, as_of=moment) - {ending}
        assert holding == {others[place] for place in places}, moment


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("I live in Manchester.", "I moved to London for university in 2010."),
        ("I live in Boston.", "I moved to the US in 2009."),
        ("I don't smoke.", "I quit smoking in 2018."),
        ("I use a Mac.", "I moved to Linux last year."),
        ("I work at Deloitte.", "I'm working at the library today."),
    ],
)
def test_an_earlier_time_ends_nothing_that_nobody_dated(
    agent: httpx.Client, stored: str, incoming: str
) -> None:
    store(agent, stored)
    assert store(agent, incoming)["superseded"] == []
    assert stored in contents(agent)


@pytest.mark.parametrize(
    "texts",
    [
        ("Standup is at 9:30", "Standup is at 9.30", "Standup is at 09:30 am"),
        ("The shop opens at 14:00", "The shop opens at 2 pm", "The shop opens at 2.00 pm."),
        ("Dinner is at 19:30", "Dinner is at 7:30 p.m.", "Dinner is at 7.30pm"),
        ("Lunch is at noon", "Lunch is at 12:00", "Lunch is at 12 pm"),
        ("The train leaves at 6.45", "The train leaves at 06:45", "The train leaves at 6:45am"),
    ],
)
def test_times_of_equal_value_change_nothing(agent: httpx.Client, texts: tuple[str, ...]) -> None:
    first, *others = texts
    store(agent, first)
    assert [store(agent, text)["operation"] for text in others] == ["NOOP"] * len(others)
    assert contents(agent) == {first}


def test_another_time_is_a_change(agent: httpx.Client) -> None:
    store(agent, "Standup is at 9.30")
    assert store(agent, "Standup is at 10.30")["operation"] == "UPDATE"


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("My favourite tennis player is Ivana Petrov.", "My current favorite tennis player is Mei Lindqvist."),
        ("My phone is a Pixel 6.", "My current phone is an iPhone 15."),
        ("My dentist is Dr Osei.", "My present dentist is Dr Marsh."),
        ("Our project lead is Ida.", "Our current project lead is Omar."),
        ("My sister's boyfriend is Leo.", "My sister's current boyfriend is Max."),
        ("The release manager is Ida.", "The present release manager is Omar."),
    ],
)  # fmt: skip
def test_what_is_current_or_present_is_new(agent: httpx.Client, stored: str, incoming: str) -> None:
    store(agent, stored)
    assert store(agent, incoming)["operation"] == "UPDATE"
    assert contents(agent) == {incoming}


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("My savings account is with Lloyds.", "My current account is with Barclays."),
        ("My brother's phone is a Pixel.", "My present phone is an iPhone."),
        ("My present for Anna is a scarf.", "My present for Tom is a book."),
    ],
)
def test_other_things_stay_beside_what_is_current(
    agent: httpx.Client, stored: str, incoming: str
) -> None:
    store(agent, stored)
    store(agent, incoming)
    assert contents(agent) == {stored, incoming}
