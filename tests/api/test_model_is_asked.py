"""A model that is set is asked about changes in plain words, and rarely about facts that coexist."""

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import store
from support.databases import fresh_database
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.urls import name_of

CHANGES = [
    ("I work for Initech", "I just joined Hooli"),
    ("User works at Siemens", "User recently joined Bosch"),
    ("I work at Nokia", "I just started at Ericsson"),
    ("User works as a nurse at St. Mary's", "User just started at Charité"),
    ("I'm employed by Volvo", "I signed on with Scania last week"),
    ("I live in Porto", "I recently moved to Lisbon"),
    ("I live in Oslo", "I just moved to Bergen"),
    ("User lives in Leeds", "User has recently moved to York"),
    ("My flat is in Ghent", "I moved into a place in Bruges"),
    ("Our office is in Turin", "We relocated to Milan"),
    ("I live in Porto", "I am moving to Lisbon on 1 February 2027"),
    ("I live in Graz", "From 1 March 2027 I live in Linz"),
    ("I live in Bonn", "We are moving to Kiel next spring"),
    ("User is vegetarian", "User ate steak last night"),
    ("User is vegan", "User had a cheese omelette for breakfast"),
    ("I don't drink alcohol", "I had two glasses of wine with dinner"),
    ("I have never been abroad", "I came back from Japan yesterday"),
    ("user prefers VS Code", "user prefers Vim"),
    ("I prefer tea", "I prefer coffee these days"),
    ("I always use Chrome", "I've switched to Firefox"),
    ("I take the bus to work", "I cycle to work now"),
    ("Use PostgreSQL", "Use MongoDB"),
    ("uses PostgreSQL", "migrated to MongoDB"),
    ("I play tennis", "I stopped playing tennis in 2024"),
    ("I go to a yoga class on Mondays", "I quit yoga last autumn"),
    ("I smoke", "I gave up smoking two years ago"),
    ("I work at Acme", "I'm leaving Acme at the end of December"),
    ("I study at Uppsala University", "I graduate from Uppsala in June"),
    ("I rent a room from Olga", "My lease with Olga ends in May"),
    ("I'm single", "Ken and I got engaged"),
    ("apartment hunting with Amari", "broke up with Amari"),
    ("My boss is Anna", "Ben took over from Anna as my boss"),
    ("My cat is called Tom", "We had to put Tom down"),
]

# Neither words nor vectors nor the local judge see anything in these. A judge that reads better
# will; then they move to the list above.
UNSEEN = [
    ("I keep bees", "The office got a bigger boiler"),
]

COEXISTING = [
    "My sister plays the cello",
    "I am allergic to peanuts",
    "The car is a blue Fiesta",
    "I was born in Split",
    "The wifi password is on the fridge",
    "I read a novel every month",
    "My favourite colour is green",
    "Standup is at ten",
    "The backups run at night",
    "I have two brothers",
    "We pay the rent by standing order",
    "My dentist is Dr. Weber",
    "The build takes twelve minutes",
    "I ran a marathon in 2019",
    "My grandmother lives in Zadar",
    "The dog sleeps in the kitchen",
    "I speak Croatian and German",
    "The invoice template is in the shared drive",
    "I collect old maps",
    "Tests must pass before a merge",
    "The balcony faces south",
    "I wear size 43 shoes",
    "My phone is a Pixel",
    "We water the plants on Sundays",
    "I learned to swim at forty",
    "The API returns JSON",
    "I dislike coriander",
    "Our school is near the river",
    "The heating was repaired in October",
    "I sing in a choir",
    "My passport is in the top drawer",
    "The logs are kept for ninety days",
    "I met Lena at university",
    "We have a cabin by the lake",
    "The printer needs A4 paper",
    "My blood type is 0 negative",
    "I bake bread at weekends",
    "The staging server is in Frankfurt",
    "I broke my arm as a child",
    "Dad repairs clocks",
    "The team has seven people",
    "I keep bees",
    "Our neighbours are from Peru",
    "The intranet needs a VPN",
    "I prefer window seats",
    "The garden has three apple trees",
    "My first job was in a bakery",
    "We use two-space indentation in YAML",
    "I take vitamin D in winter",
    "The museum is closed on Mondays",
    "My niece is learning the violin",
    "The report is due every quarter",
    "I like films by Kaurismäki",
    "The boiler is in the cellar",
    "I donate blood twice a year",
    "Python code is formatted by ruff",
    "My aunt paints watercolours",
    "The bike has a flat tyre",
    "I get seasick on ferries",
    "We celebrate Saint Nicholas",
]
MOST_CALLS = 0.25  # a store of facts that coexist


@pytest.fixture(scope="module")
def address(server_url: str, template_url: str) -> Iterator[str]:
    with (
        ScriptedModel(every("NONE")) as model,
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(
            load_settings(database_url=url, local_judge=True, llm_base_url=model.url)
        ) as address,
    ):
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    headers = {"X-Agent-Id": f"test-{uuid4().hex}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        yield client


@pytest.mark.parametrize(("stored", "change"), CHANGES)
def test_the_model_is_asked_about_a_change_in_plain_words(
    client: httpx.Client, stored: str, change: str
) -> None:
    store(client, stored)
    answer = store(client, change)
    assert answer["usage"]["llm_calls"] >= 1, answer["candidates"]


@pytest.mark.parametrize(("stored", "change"), UNSEEN)
def test_the_model_is_not_asked_where_nobody_sees_a_reason(
    client: httpx.Client, stored: str, change: str
) -> None:
    store(client, stored)
    assert store(client, change)["usage"]["llm_calls"] == 0


def test_the_model_is_rarely_asked_about_facts_that_coexist(client: httpx.Client) -> None:
    calls = sum(store(client, fact)["usage"]["llm_calls"] for fact in COEXISTING)
    assert calls <= MOST_CALLS * len(COEXISTING)
