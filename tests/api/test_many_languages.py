"""The service that reads many languages, as `make languages` installs it."""

from collections.abc import Iterator
from importlib.util import find_spec

import httpx
import pytest

from app.networks.many_languages import PACKAGE
from app.settings import load_settings
from support.builders import contents, list_ended, store
from support.messages import capture, list_contents, talk
from support.service import running

pytestmark = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)


@pytest.fixture
def of_many(database_url: str) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=database_url, languages="many", local_judge=True)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    ("old", "others", "new"),
    [
        ("Ich wohne in Rostock.", "Wir haben zwei Katzen.", "Ich bin nach Passau gezogen."),
        ("J'habite à Brest.", "J'ai deux chats.", "Je viens de déménager à Metz."),
        ("我住在南京。", "我有两只猫。", "我上个月搬到厦门了。"),
        ("I live in Malmö.", "I have two cats.", "Ich bin gestern nach Wien gezogen."),
    ],
)
def test_what_a_change_ends_is_ended_or_asked_about(
    of_many: httpx.Client, old: str, others: str, new: str
) -> None:
    first = store(of_many, old)["memory"]["id"]
    other = store(of_many, others)["memory"]["id"]
    answer = store(of_many, new)
    if answer["review_id"]:
        assert first in of_many.get(f"/v1/reviews/{answer['review_id']}").text
    else:
        assert first in list_ended(answer)
    assert other not in list_ended(answer)
    assert answer["hints"] == []
    found = of_many.get("/v1/search", params={"q": new, "limit": 1}).json()["results"]
    assert found[0]["memory"]["content"] == new


def test_what_no_network_was_trained_on_says_so(of_many: httpx.Client) -> None:
    store(of_many, "Я живу в Казани.")
    answer = store(of_many, "Я переехала в Пермь.")
    assert [hint["name"] for hint in answer["hints"]] == ["language_not_read"]
    assert contents(of_many) == {"Я живу в Казани.", "Я переехала в Пермь."}


def test_facts_are_taken_from_a_conversation(of_many: httpx.Client) -> None:
    turns = [
        "Guten Morgen! Ich wohne seit März in Rostock und suche einen Zahnarzt.",
        "Merk dir bitte, dass ich allergisch gegen Haselnüsse bin.",
        "Wie wird das Wetter morgen?",
    ]
    answer = capture(of_many, talk(*turns))
    skipped = [each for message in answer["messages"] for each in message["skipped"]]
    assert "language_not_read" not in {each["reason"] for each in skipped}
    kept = " ".join(list_contents(of_many))
    assert "Rostock" in kept
    assert "Haselnüsse" in kept
    assert "Wetter" not in kept
