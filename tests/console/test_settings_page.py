"""The settings of an agent in the console, and erasing there."""

import hashlib
import hmac
import re
from typing import Any

import httpx

from support.builders import store

PATH = "/ui/agent"


def agent_of(client: httpx.Client) -> dict[str, str]:
    return {"agent": client.headers["X-Agent-Id"]}


def erase(client: httpx.Client, **form: Any) -> httpx.Response:
    form = {"confirmation": client.headers["X-Agent-Id"], **form}
    return client.post("/ui/erasures", params=agent_of(client), data=form)


def test_mode_and_time_zone_are_saved(client: httpx.Client) -> None:
    store(client, "Has a cat")
    form = {"mode": "shadow", "timezone": "Europe/Lisbon"}
    assert client.post(PATH, params=agent_of(client), data=form).status_code == 303
    agent = client.get(f"/v1/agents/{client.headers['X-Agent-Id']}").json()
    assert (agent["mode"], agent["timezone"]) == ("shadow", "Europe/Lisbon")
    assert '<option value="shadow" selected>' in client.get(PATH, params=agent_of(client)).text
    client.post(PATH, params=agent_of(client), data={"mode": "", "timezone": ""})
    agent = client.get(f"/v1/agents/{client.headers['X-Agent-Id']}").json()
    assert (agent["mode"], agent["timezone"]) == (None, None)


def test_a_time_zone_that_is_none_is_named(client: httpx.Client) -> None:
    store(client, "Has a cat")
    answer = client.post(PATH, params=agent_of(client), data={"timezone": "Mars/Olympus"})
    assert answer.status_code == 422
    assert "IANA" in answer.text or "timezone" in answer.text


def test_figures_are_counted_on_request(client: httpx.Client) -> None:
    store(client, "Has a cat")
    assert "Operations" not in client.get(PATH, params=agent_of(client)).text
    assert "Operations" in client.get(PATH, params={**agent_of(client), "figures": "1"}).text


def test_the_language_model_is_named(client: httpx.Client) -> None:
    store(client, "Has a cat")
    assert client.get("/readyz").json()["model"] is None
    assert (
        "None is set: facts are judged without one."
        in client.get(PATH, params=agent_of(client)).text
    )


def test_an_erasure_shows_a_receipt_that_proves_the_text(client: httpx.Client) -> None:
    memory = store(client, "Has a cat")["memory"]
    page = erase(client, scope="chain_id", what=memory["id"]).text
    key = re.search(r"<dt>Key</dt><dd><code>([0-9a-f]+)</code>", page)
    assert key
    digest = hmac.new(bytes.fromhex(key[1]), b"Has a cat", hashlib.sha256).hexdigest()
    assert digest in page
    assert client.get("/v1/memories").json()["items"] == []
    assert client.get(f"/v1/memories/{memory['id']}").json()["content"] is None


def test_a_whole_agent_is_erased(client: httpx.Client) -> None:
    store(client, "Has a cat")
    store(client, "Owns a boat")
    assert "2 versions" in erase(client, scope="agent_id").text


def test_nothing_is_erased_without_the_typed_name(client: httpx.Client) -> None:
    store(client, "Has a cat")
    for form in (
        {"scope": "agent_id", "confirmation": "another"},
        {"scope": "agent_id", "confirmation": ""},
        {"scope": "everything"},
        {},
    ):
        answer = erase(client, **form)
        assert answer.status_code == 422
        assert "Nothing was erased" in answer.text
    assert len(client.get("/v1/memories").json()["items"]) == 1


def test_a_second_click_erases_nothing_more_and_shows_no_key(client: httpx.Client) -> None:
    store(client, "Has a cat")
    form = {"scope": "agent_id", "idempotency_key": "twice"}
    erase(client, **form)
    store(client, "Owns a boat")
    assert "was shown when this was erased first" in erase(client, **form).text
    assert "Owns a boat" in client.get("/v1/memories").text
