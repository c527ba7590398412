"""Answers in brief."""

import httpx
import pytest

from support.builders import editor, send, store
from support.messages import capture, talk

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


def test_a_page_in_brief_is_there_although_it_is_empty(client: httpx.Client) -> None:
    assert client.get("/v1/search", params={"q": "home", **BRIEF}).json() == {"results": []}
    for path in ("/v1/memories", "/v1/captures", "/v1/reviews"):
        assert client.get(path, params=BRIEF).json() == {"items": []}
    hello = {"session_id": "one", "messages": talk("Hello!")}
    assert client.post("/v1/messages", params=BRIEF, json=hello).json()["facts"] == []


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


def test_a_capture_in_brief_is_its_facts(client: httpx.Client) -> None:
    body = {"session_id": "monday", "messages": talk("I live in Porto.", "How are you?")}
    answer = client.post("/v1/messages", params=BRIEF, json=body).json()

    assert answer.keys() == {"capture_id", "state", "total", "done", "facts"}
    [fact] = answer["facts"]
    assert fact.keys() == {"position", "content", "operation", "memory_id", "log_id"}
    assert (fact["position"], fact["operation"]) == (0, "ADD")
    assert client.get(f"/v1/memories/{fact['memory_id']}").json()["content"] == fact["content"]
    path = f"/v1/captures/{answer['capture_id']}"
    assert client.get(path, params=BRIEF).json() == answer
    [summary] = client.get("/v1/captures", params=BRIEF).json()["items"]
    assert summary.keys() == {
        "capture_id",
        "session_id",
        "state",
        "total",
        "done",
        "received_at",
    }
    undone = client.post(f"{path}/undo", params=BRIEF).json()
    assert undone.keys() == {"reverted", "results"}
    assert undone["reverted"] == [fact["log_id"]]


def test_facts_of_a_capture_in_brief_name_what_they_ended_and_what_is_not_new(
    client: httpx.Client,
) -> None:
    old = capture(client, talk("I live in Porto."), session="monday")
    ended = old["messages"][0]["facts"][0]
    messages = [*talk("I live in Porto."), {"role": "user", "content": "I moved to Lisbon."}]
    body = {"session_id": "monday", "messages": messages}
    first, second = client.post("/v1/messages", params=BRIEF, json=body).json()["facts"]

    assert (first["repeated"], "superseded" in first) == (True, False)
    assert "repeated" not in second
    assert second["superseded"] == [{"id": ended["memory_id"], "content": ended["content"]}]


def _leave_review(client: httpx.Client) -> tuple[str, str]:
    """Return the ids of a review, and of the memory that accepting it ends."""
    trusted = send(client, editor("Vim", trust=90))["memory"]["id"]
    return send(client, editor("Emacs", trust=10))["review_id"], trusted


def test_reviews_in_brief_are_shown_and_decided(client: httpx.Client) -> None:
    review_id, trusted = _leave_review(client)
    [item] = client.get("/v1/reviews", params=BRIEF).json()["items"]
    names = {"id", "status", "source", "sentence", "candidates", "memory_id", "created_at"}
    assert item.keys() == names

    shown = client.get(f"/v1/reviews/{review_id}", params=BRIEF).json()
    assert shown.keys() == item.keys() | {"before", "after"}
    before, after = ({m["id"]: m["status"] for m in shown[at]} for at in ("before", "after"))
    assert (before[trusted], after[trusted]) == ("current", "superseded")

    decided = client.post(f"/v1/reviews/{review_id}/accept", params=BRIEF).json()
    assert [each["id"] for each in decided["superseded"]] == [trusted]
    assert "decision" not in decided

    reverted = client.post(f"/v1/log/{decided['log_id']}/revert", params=BRIEF).json()
    assert reverted["reverted"] == [decided["log_id"]]
    assert "decision" not in reverted


def test_many_decisions_in_brief_have_an_answer_or_a_problem_each(client: httpx.Client) -> None:
    review_id, _ = _leave_review(client)
    unknown = "00000000-0000-7000-8000-000000000000"
    body = {"decision": "reject", "ids": [review_id, unknown]}
    rejected, missing = client.post("/v1/reviews/decide", params=BRIEF, json=body).json()["results"]

    assert rejected["review_id"] == review_id
    assert rejected["result"].keys() == {"operation", "log_id", "memory"}
    assert missing["result"]["status"] == 404


def test_a_dry_revert_in_brief_says_so(client: httpx.Client) -> None:
    stored = store(client, "Likes tea", session_id="monday")
    body = {"session_id": "monday", "dry_run": True}
    answer = client.post("/v1/reverts", params=BRIEF, json=body).json()
    assert answer.keys() == {"reverted", "results", "dry_run"}
    assert answer["reverted"] == [stored["log_id"]]


def test_an_unknown_view_is_refused(client: httpx.Client) -> None:
    answer = client.get("/v1/memories", params={"view": "tiny"})
    assert answer.status_code == 422
    assert "brief" in answer.text


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search?q=tea"])
def test_the_full_view_is_the_default(client: httpx.Client, path: str) -> None:
    store(client, "Likes tea")
    full = client.get(path, params={"view": "full"} if "?" not in path else None)
    assert '"valid_until":null' in full.text
