"""The page of a fact, and undoing from there."""

import re
from html import unescape
from typing import Any

import httpx
import pytest

from support.builders import link, store


def agent_of(client: httpx.Client) -> dict[str, str]:
    return {"agent": client.headers["X-Agent-Id"]}


def show(client: httpx.Client, memory_id: str, **params: Any) -> str:
    answer = client.get(f"/ui/facts/{memory_id}", params={**agent_of(client), **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def read_form(page: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the form with this action."""
    form = re.search(rf'<form method="post" action="{action}.*?</form>', page, re.DOTALL)
    assert form, action
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[0])
    return {name: unescape(value) for name, value in fields}


@pytest.fixture
def homes(client: httpx.Client) -> tuple[dict[str, Any], dict[str, Any]]:
    porto = store(client, "I live in Porto", key="city", valid_from="2024-01-01")
    lisbon = store(client, "I live in Lisbon", key="city", valid_from="2026-01-01")
    return porto, lisbon


Homes = tuple[dict[str, Any], dict[str, Any]]


def test_a_fact_shows_its_chain_its_reasons_and_its_steps(
    client: httpx.Client, homes: Homes
) -> None:
    porto, lisbon = homes
    page = show(client, lisbon["memory"]["id"])
    assert "<h1><bdi" in page
    assert page.count('class="box ') == 2 * 3  # for a desk and for a phone
    assert "replaced “I live in Porto”" in page
    assert f"log_id={lisbon['log_id']}" in page
    old = show(client, porto["memory"]["id"])
    assert f"/ui/facts/{lisbon['memory']['id']}" in old
    assert ">replaced</span>" in old
    assert "Replaced by" in old


def test_a_moment_before_it_was_known_says_so(client: httpx.Client, homes: Homes) -> None:
    porto, lisbon = homes
    page = show(client, lisbon["memory"]["id"], known_at=porto["known_at"])
    assert "Nothing was known of it on" in page


def test_each_version_has_its_stretch_of_valid_time(client: httpx.Client, homes: Homes) -> None:
    page = show(client, homes[1]["memory"]["id"])
    versions = re.search(r"</figure>.*?</ol>", page, re.DOTALL)
    assert versions
    words = " ".join(re.sub("<[^>]+>", "", versions[0]).split())
    assert "I live in Porto true from 1 Jan 2024 until 1 Jan 2026" in words
    assert "I live in Lisbon true from 1 Jan 2026 on" in words


def test_what_was_withdrawn_is_not_called_believed(client: httpx.Client, homes: Homes) -> None:
    lisbon = homes[1]
    client.post("/v1/reverts", json={"log_ids": [lisbon["log_id"]]})
    page = show(client, lisbon["memory"]["id"])
    assert "Not believed any more: it was withdrawn" in page
    assert "True from" not in page
    before = show(client, lisbon["memory"]["id"], known_at=lisbon["known_at"])
    assert "As seen then: true from" in before


def test_a_fact_says_when_something_else_holds_for_a_while(client: httpx.Client) -> None:
    home = store(client, "I live in Porto", key="city", valid_from="2024-01-01")
    store(client, "I am staying in Madrid until next Friday", key="city")
    page = show(client, home["memory"]["id"])
    assert "but not at this moment: something else holds for a while" in page
    assert re.search("true from [^,]* on, but not from ", re.sub("<[^>]+>", "", page))


def test_a_tie_leads_to_a_fact_by_its_text(client: httpx.Client, homes: Homes) -> None:
    other = store(client, "The rent in Lisbon is high")["memory"]["id"]
    link(client, homes[1]["memory"]["id"], other)
    assert "The rent in Lisbon is high</bdi></a>" in show(client, homes[1]["memory"]["id"])


def test_it_is_corrected_here(client: httpx.Client, homes: Homes) -> None:
    path = f"/ui/facts/{homes[1]['memory']['id']}/correct"
    form = read_form(show(client, homes[1]["memory"]["id"]), path)
    sent = {**form, "content": "I live in Braga", "valid_from": "2026-06-01"}
    answer = client.post(path, params=agent_of(client), data=sent)
    assert answer.status_code == 303
    page = client.get(answer.headers["location"]).text
    assert "I live in Braga" in page
    assert "Replaced." in page
    # A second click with the same form changes nothing more.
    client.post(path, params=agent_of(client), data=sent)
    assert len(client.get("/v1/memories", params={"include_superseded": "1"}).json()["items"]) == 3


def test_it_is_ended_here_unless_it_changed_meanwhile(client: httpx.Client, homes: Homes) -> None:
    memory_id = homes[1]["memory"]["id"]
    path = f"/ui/facts/{memory_id}/retract"
    form = read_form(show(client, memory_id), path)
    client.patch(f"/v1/memories/{memory_id}", json={"importance": 0.9})
    refused = client.post(path, params=agent_of(client), data=form)
    assert refused.status_code == 412
    form = read_form(show(client, memory_id), path)
    assert client.post(path, params=agent_of(client), data={**form, "never_true": "1"}).is_redirect
    assert client.get("/v1/memories").json()["items"][0]["content"] == "I live in Porto"


def test_an_undo_is_looked_at_first(client: httpx.Client, homes: Homes) -> None:
    named = {**agent_of(client), "log_id": homes[1]["log_id"], "back": "/ui"}
    page = client.get("/ui/undo", params=named).text
    assert "I live in Lisbon</bdi>” will not be believed any more" in page
    assert "I live in Porto</bdi>” will be true from" in page
    assert client.get("/v1/memories").json()["items"][0]["content"] == "I live in Lisbon"
    form = {**read_form(page, "/ui/undo"), "log_id": homes[1]["log_id"]}
    answer = client.post("/ui/undo", params={**agent_of(client), "back": "/ui"}, data=form)
    assert answer.headers["location"].startswith("/ui?")
    assert "Undone." in client.get(answer.headers["location"]).text
    assert client.get("/v1/memories").json()["items"][0]["content"] == "I live in Porto"
    again = client.get("/ui/undo", params=named).text
    assert "undone before" in again


def test_what_was_built_on_it_is_shown_before_it_is_undone_too(
    client: httpx.Client, homes: Homes
) -> None:
    named = {**agent_of(client), "log_id": homes[0]["log_id"]}
    page = client.get("/ui/undo", params=named).text
    assert "Built on it since" in page
    assert "<button>Undo</button>" not in page
    page = client.get("/ui/undo", params={**named, "cascade": "1"}).text
    assert 'name="cascade" value="1"' in page
    form = {"log_id": homes[0]["log_id"], "cascade": "1"}
    client.post("/ui/undo", params=agent_of(client), data=form)
    assert client.get("/v1/memories").json()["items"] == []


@pytest.mark.parametrize("back", ["https://evil.example", "//evil.example", "/docs", "/ui?done=x"])
def test_an_undo_leads_back_to_the_console_only(
    client: httpx.Client, homes: Homes, back: str
) -> None:
    form = {"log_id": homes[1]["log_id"]}
    answer = client.post("/ui/undo", params={**agent_of(client), "back": back}, data=form)
    assert answer.headers["location"].startswith("/ui/log?")


def test_an_erased_fact_says_so(client: httpx.Client, homes: Homes) -> None:
    memory_id = homes[1]["memory"]["id"]
    client.delete(f"/v1/memories/{memory_id}", params={"erase": "1"})
    page = show(client, memory_id)
    assert "This text was erased" in page
    assert "Lisbon" not in page


@pytest.mark.parametrize("memory_id", ["nothing", "01a2081f-1ffd-762b-a481-80fc840f95b1"])
def test_no_such_fact(client: httpx.Client, memory_id: str) -> None:
    answer = client.get(f"/ui/facts/{memory_id}", params=agent_of(client))
    assert answer.status_code in (404, 422)
    assert "To the memory" in answer.text
    assert 'aria-label="Search the facts"' in answer.text


def test_a_key_that_may_only_read_is_offered_nothing_else(
    client: httpx.Client, homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.console.page_call import PageCall

    monkeypatch.setattr(PageCall, "may", lambda _, scope: scope == "read")
    page = show(client, homes[1]["memory"]["id"])
    assert "Put it right" not in page
    assert "Undo …" not in page
