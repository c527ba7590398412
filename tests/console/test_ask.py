"""Asking in the console as an agent does."""

import re
from typing import Any

import httpx
import pytest

from support.builders import store

FRIDAY = "Never deploy on Fridays"


def ask(client: httpx.Client, **params: Any) -> str:
    params = {"agent": client.headers["X-Agent-Id"], **params}
    answer = client.get("/ui/ask", params=params)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_results_have_scores_reasons_and_links(client: httpx.Client) -> None:
    memory = store(client, "I live in Porto")["memory"]
    store(client, "Has a cat")
    page = ask(client, q="where does the user live")
    assert page.index("I live in Porto") < page.index("Has a cat")
    assert f"/ui/facts/{memory['id']}?" in page
    assert re.search(r"score <b>\d\.\d\d</b>", page)
    assert re.search("told <time .*current: told", page, re.DOTALL)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text", "nonsense"])
def test_every_mode_answers(client: httpx.Client, mode: str) -> None:
    store(client, "I live in Porto")
    assert "I live in Porto" in ask(client, q="Porto", mode=mode)


def test_what_no_longer_holds_is_shown_on_request(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city")
    store(client, "I live in Lisbon", key="city")
    assert "I live in Porto" not in ask(client, q="Porto")
    assert "I live in Porto" in ask(client, q="Porto", every="1")


def test_what_was_said_is_shown_with_its_speaker(client: httpx.Client) -> None:
    talk = {"role": "user", "name": "Ada", "content": "The dentist was late"}
    body = {"messages": [talk], "session_id": "s1", "extract": "off"}
    client.post("/v1/messages", json=body).raise_for_status()
    page = ask(client, q="dentist")
    assert "What was said" in page
    assert "The dentist was late" in page
    assert re.search(r"Ada, .*score <b>\d\.\d\d</b>", page)
    assert "What was said" not in ask(client, q="piano")


def test_the_context_is_shown_as_a_prompt_gets_it(client: httpx.Client) -> None:
    store(client, FRIDAY, kind="constraint")
    page = ask(client, view="context")
    assert FRIDAY in page
    assert re.search(r"About \d+ tokens", page)


def test_without_a_question_the_page_says_how_to_ask(client: httpx.Client) -> None:
    assert "Ask in plain words" in ask(client)
