"""Answers in brief."""

import httpx
import pytest

from support.builders import editor, store

BRIEF = {"view": "brief"}


def test_a_hit_in_brief_is_what_an_agent_acts_on(client: httpx.Client) -> None:
    memory = store(client, "Lives in Porto", key="home", value="Porto")["memory"]
    for answer in (
        client.get("/v1/search", params={"q": "home", **BRIEF}),
        client.post("/v1/search", params=BRIEF, json={"query": "home"}),
    ):
        [hit] = answer.json()["results"]
        assert hit.keys() == {"id", "content", "status", "valid_from", "score"}
        assert (hit["id"], hit["content"]) == (memory["id"], "Lives in Porto")


def test_a_change_in_brief_names_what_it_ended(client: httpx.Client) -> None:
    vim = client.post("/v1/memories", params=BRIEF, json=editor("Vim")).json()
    helix = client.post("/v1/memories", params=BRIEF, json=editor("Helix")).json()

    assert vim.keys() == {"operation", "memory", "log_id"}
    assert helix.keys() == {"operation", "memory", "log_id", "superseded"}
    ended = {"id": vim["memory"]["id"], "content": "Uses Vim as editor"}
    assert helix["superseded"] == [ended]
    full = client.post("/v1/memories", json=editor("Emacs")).json()
    assert full["superseded"] == [{"id": helix["memory"]["id"], "content": "Uses Helix as editor"}]


def test_reads_and_writes_of_a_memory_in_brief(client: httpx.Client) -> None:
    old = store(client, **editor("Vim"))["memory"]
    path = f"/v1/memories/{old['id']}"
    new = client.post(
        f"{path}/supersede", params=BRIEF, json={"content": "Uses Zed as editor"}
    ).json()
    assert [each["content"] for each in new["superseded"]] == ["Uses Vim as editor"]
    page = client.get("/v1/memories", params=BRIEF).json()
    assert [each["content"] for each in page["items"]] == ["Uses Zed as editor"]
    assert client.get(path, params=BRIEF).json().keys() == {
        "id",
        "content",
        "status",
        "valid_from",
        "valid_until",
    }
    context = client.get("/v1/context", params=BRIEF).json()
    assert context.keys() == {"text", "tokens"}
    assert "Uses Zed as editor" in context["text"]
    history = client.get(f"{path}/history", params=BRIEF).json()
    assert [each["status"] for each in history["versions"]] == ["superseded", "current"]
    assert len(history["operations"]) == 2
    gone = client.post(f"/v1/memories/{new['memory']['id']}/retract", params=BRIEF).json()
    assert gone["operation"] == "DELETE"


def test_a_batch_in_brief_has_an_answer_or_a_problem_per_item(client: httpx.Client) -> None:
    items = [{"content": "Likes tea"}, {"content": ""}]
    stored, refused = client.post("/v1/memories/batch", params=BRIEF, json={"items": items}).json()[
        "results"
    ]
    assert (stored["operation"], stored["memory"]["content"]) == ("ADD", "Likes tea")
    assert refused["status"] == 422


def test_an_unknown_view_is_refused(client: httpx.Client) -> None:
    answer = client.get("/v1/memories", params={"view": "tiny"})
    assert answer.status_code == 422
    assert "brief" in answer.text


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search?q=tea"])
def test_the_full_view_is_the_default(client: httpx.Client, path: str) -> None:
    store(client, "Likes tea")
    full = client.get(path, params={"view": "full"} if "?" not in path else None)
    assert '"valid_until":null' in full.text
