"""Calls as mem0's clients send them (mem0ai 2.2.1 for Python, 3.3.1 for Node; mem0's own server)."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from palimpsest_client import AsyncClient, Client
from support.builders import contents
from support.service import running

ROOT_KEY = "root-" + "k" * 40


@pytest.fixture
def mem0(service: str) -> Iterator[httpx.Client]:
    """A client as mem0's: its key is a Token, and a service without a key takes any."""
    headers = {"Authorization": "Token any", "Mem0-User-ID": "0cc175b9c0f1b6a831c399e269772661"}
    with httpx.Client(base_url=f"{service}/mem0", headers=headers, timeout=60) as client:
        yield client


@pytest.fixture
def ann(client: httpx.Client) -> str:
    """A user whose agent the fixture `client` reads."""
    return str(client.headers["X-Agent-Id"])


def answer(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    assert response.headers["cache-control"] == "no-store"
    return response.json()


def add(mem0: httpx.Client, ann: str, text: str, **more: Any) -> list[dict[str, Any]]:
    body = {"messages": [{"role": "user", "content": text}], "user_id": ann, **more}
    results: list[dict[str, Any]] = answer(mem0.post("/v3/memories/add/", json=body))["results"]
    return results


def list_texts(mem0: httpx.Client, ann: str, **filters: Any) -> list[str]:
    body = {"filters": {"user_id": ann, **filters}}
    page = answer(mem0.post("/v3/memories/", json=body))
    assert page["count"] == len(page["results"])
    return [memory["memory"] for memory in page["results"]]


def refused(response: httpx.Response, status: int = 422) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["detail"])


def test_a_ping_names_what_clients_need(mem0: httpx.Client) -> None:
    ping = answer(mem0.get("/v1/ping/"))
    assert ping["status"] == "ok"
    assert ping["org_id"]
    assert ping["project_id"]


def test_facts_of_messages_are_captured(mem0: httpx.Client, client: httpx.Client, ann: str) -> None:
    results = add(mem0, ann, "I live in Porto. I like jazz.", metadata={"topic": "life"})
    assert [(one["event"], one["memory"]) for one in results] == [
        ("ADD", "I live in Porto"),
        ("ADD", "I like jazz"),
    ]
    assert contents(client) == {"I live in Porto", "I like jazz"}
    memory = answer(mem0.get(f"/v1/memories/{results[0]['id']}/"))
    assert (memory["user_id"], memory["run_id"]) == (ann, None)
    assert memory["metadata"] == {"topic": "life"}


def test_a_change_keeps_the_id(mem0: httpx.Client, client: httpx.Client, ann: str) -> None:
    [first] = add(mem0, ann, "I live in Porto")
    [second] = add(mem0, ann, "I live in Lisbon now")
    assert (second["event"], second["id"]) == ("UPDATE", first["id"])
    assert contents(client) == {"I live in Lisbon now"}


def test_without_infer_each_message_is_stored_as_it_is(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    messages = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "What about tea?"},
        {"role": "assistant", "content": "Ann drinks tea"},
    ]
    body = {"messages": messages, "user_id": ann, "infer": False, "run_id": "r1"}
    assert len(answer(mem0.post("/v3/memories/add/", json=body))["results"]) == 2
    assert contents(client, session_id="r1") == {"What about tea?", "Ann drinks tea"}
    again = answer(mem0.post("/v3/memories/add/", json=body))["results"]
    assert {one["event"] for one in again} == {"NONE"}


def add_whole(mem0: httpx.Client, ann: str, messages: Any, **more: Any) -> dict[str, Any]:
    body = {"messages": messages, "user_id": ann, **more}
    added: dict[str, Any] = answer(mem0.post("/v3/memories/add/", json=body))
    return added


@pytest.mark.parametrize(
    "sentence",
    [
        "I'd rather fly than take the train",
        "Ich wohne in München",
        "I went to the zoo on Sunday",
        "She moved to Rome",
    ],
)
def test_a_lone_sentence_without_a_lasting_fact_is_kept(
    mem0: httpx.Client, client: httpx.Client, ann: str, sentence: str
) -> None:
    added = add_whole(mem0, ann, sentence, metadata={"k": 1})
    [one] = added["results"]
    assert (one["event"], one["memory"], added["skipped"]) == ("ADD", sentence, [])
    assert contents(client) == {sentence}
    assert answer(mem0.get(f"/v1/memories/{one['id']}/"))["metadata"] == {"k": 1}
    assert add_whole(mem0, ann, sentence)["results"][0]["event"] == "NONE"


@pytest.mark.parametrize(
    ("messages", "reasons"),
    [
        ("What is the weather like?", ["question"]),
        ("Hello there!", ["small_talk"]),
        ("Write me a poem about cats", ["request"]),
        ("def f(x): return x", ["code"]),
        ("My password is hunter2!x", ["redacted"]),
        ("Ich wohne in München. " * 30, ["language_not_read"]),
        (
            [
                {"role": "user", "content": "I went to the zoo on Sunday"},
                {"role": "assistant", "content": "Nice."},
            ],
            ["event", "assistant"],
        ),
    ],
)
def test_what_is_not_stored_is_named_with_the_reason(
    mem0: httpx.Client, client: httpx.Client, ann: str, messages: Any, reasons: list[str]
) -> None:
    added = add_whole(mem0, ann, messages)
    assert contents(client) == set()
    assert added["message"] == "Nothing was stored: `skipped` says why."
    assert {part["reason"] for part in added["skipped"]} == set(reasons)
    assert all(len(part["text"]) <= 200 for part in added["skipped"])
    event = answer(mem0.get(f"/v1/event/{added['event_id']}/"))
    assert event["skipped"] == added["skipped"]


@pytest.mark.parametrize("infer", [True, False])
def test_texts_in_parts_are_stored_and_other_parts_named(
    mem0: httpx.Client, client: httpx.Client, ann: str, infer: bool
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    parts = [{"type": "text", "text": "I play the cello"}, image]
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    messages = [{"role": "user", "content": parts}, called, {"role": "user", "content": image}]
    added = add_whole(mem0, ann, messages, infer=infer)
    assert contents(client) == {"I play the cello"}
    assert "[left out: image url]" in [part["text"] for part in added["skipped"]]


def test_an_immutable_text_is_a_constraint(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    add(mem0, ann, "Never deploy on Fridays", infer=False, immutable=True)
    [memory] = client.get("/v1/memories").json()["items"]
    assert memory["kind"] == "constraint"


def test_what_expired_is_shown_on_request(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    add(mem0, ann, "Tea is green", infer=False)
    past = {"valid_from": "2020-01-01", "valid_until": "2020-02-01"}
    client.post("/v1/memories", json={"content": "Tea is black", **past}).raise_for_status()
    assert list_texts(mem0, ann) == ["Tea is green"]
    body = {"filters": {"user_id": ann}, "show_expired": True}
    shown = answer(mem0.post("/v3/memories/", json=body))["results"]
    assert {memory["memory"] for memory in shown} == {"Tea is green", "Tea is black"}
    body["query"] = "colour of the tea"
    assert len(answer(mem0.post("/v3/memories/search/", json=body))["results"]) == 2


def test_an_addition_without_infer_has_what_was_said_of_it(mem0: httpx.Client, ann: str) -> None:
    [one] = add(
        mem0,
        ann,
        "Badge 4711",
        infer=False,
        agent_id="desk",
        metadata={"k": 1},
        timestamp=1700000000,
        expiration_date="2031-01-31",
    )
    memory = answer(mem0.get(f"/v1/memories/{one['id']}/"))
    assert (memory["agent_id"], memory["metadata"]) == ("desk", {"k": 1})
    assert memory["expiration_date"] == "2031-01-31"
    assert memory["valid_from"].startswith("2023-11-14T22:13:20")
    assert list_texts(mem0, ann, agent_id="desk") == ["Badge 4711"]
    assert list_texts(mem0, ann, agent_id="other") == []


def test_long_calls_with_metadata_are_refused_before_anything_is_stored(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    messages = [{"role": "user", "content": f"I like tea {n}"} for n in range(41)]
    body = {"messages": messages, "user_id": ann, "metadata": {"k": 1}}
    assert "at most 40 messages" in refused(mem0.post("/v3/memories/add/", json=body))
    assert contents(client) == set()


def test_a_long_call_is_pending_and_its_event_follows_it(mem0: httpx.Client, ann: str) -> None:
    messages = [{"role": "user", "content": f"Hello {n}"} for n in range(41)]
    added = answer(mem0.post("/v3/memories/add/", json={"messages": messages, "user_id": ann}))
    assert added["status"] == "PENDING"
    event = answer(mem0.get(f"/v1/event/{added['event_id']}/"))
    assert event["id"] == added["event_id"]
    assert event["status"] in ("PENDING", "SUCCEEDED")


def test_search_finds_memories_of_one_user(mem0: httpx.Client, ann: str) -> None:
    add(mem0, ann, "I live in Porto. I like jazz.")
    add(mem0, f"{ann}-other", "I live in Ghent")
    body = {"query": "Where do I live?", "filters": {"user_id": ann}, "top_k": 1}
    [hit] = answer(mem0.post("/v3/memories/search/", json=body))["results"]
    assert hit["memory"] == "I live in Porto"
    assert hit["score"] > 0
    body = {"query": "music", "filters": {"user_id": ann}, "fields": ["memory"], "threshold": 0.99}
    assert answer(mem0.post("/v3/memories/search/", json=body))["results"] == []


@pytest.mark.parametrize("threshold", [None, 0.3, 0.4])
@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("I live in Porto", "where does the user live"),
        ("I'm allergic to peanuts", "what should I avoid eating"),
        ("My dog is called Biscuit", "pets"),
        ("I work as a nurse", "user's occupation"),
    ],
)
def test_the_thresholds_of_its_tools_find_what_answers(
    mem0: httpx.Client, ann: str, fact: str, question: str, threshold: float | None
) -> None:
    """mem0's command line sends .3, and its plugins .3 or .4."""
    texts = {fact, "My car is blue", "I like jazz", "The office is in York"}
    add(mem0, ann, "", messages=[{"role": "user", "content": text} for text in texts], infer=False)
    body = {"query": question, "filters": {"user_id": ann}, "rerank": True}
    plain = answer(mem0.post("/v3/memories/search/", json=body))["results"]
    limited = answer(mem0.post("/v3/memories/search/", json=body | {"threshold": threshold}))
    hits = limited["results"]
    assert hits[0]["memory"] == fact
    assert [hit["score"] for hit in hits] == [hit["score"] for hit in plain[: len(hits)]]
    assert all(hit["score"] >= (threshold or 0) for hit in hits)
    assert len(hits) == 4 or plain[len(hits)]["score"] < (threshold or 0)


def test_a_search_can_look_at_an_earlier_day(mem0: httpx.Client, ann: str) -> None:
    add(mem0, ann, "I live in Porto", timestamp="2020-01-01")
    add(mem0, ann, "I live in Lisbon now", timestamp="2024-01-01")
    body = {"query": "home", "filters": {"user_id": ann}, "reference_date": "2021-06-01"}
    [hit] = answer(mem0.post("/v3/memories/search/", json=body))["results"]
    assert hit["memory"] == "I live in Porto"


def test_pages_count_all(mem0: httpx.Client, ann: str) -> None:
    for n in range(3):
        add(mem0, ann, f"Fact number {n} of tea", infer=False)
    body = {"filters": {"user_id": ann}}
    first = answer(mem0.post("/v3/memories/", json=body, params={"page": 1, "page_size": 2}))
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert "page=2" in first["next"]
    second = answer(mem0.post("/v3/memories/", json=body, params={"page": 2, "page_size": 2}))
    assert (len(second["results"]), second["next"]) == (1, None)
    for wrong in ("0", "-1", "x", "²", "9" * 4400):
        for name in ("page", "page_size", "top_k"):
            place = f"/v3/memories/?page_size=2&{name}={wrong}"
            assert name in refused(mem0.post(place, json=body))


def test_pages_follow_each_other_by_their_cursors(mem0: httpx.Client, ann: str) -> None:
    for n in range(7):
        add(mem0, ann, f"Fact number {n} of tea", infer=False)
    body = {"filters": {"user_id": ann}}
    followed, address = [], "/v3/memories/?page_size=3"
    while address:
        page = answer(mem0.post(address, json=body))
        followed += [memory["memory"] for memory in page["results"]]
        assert page["count"] == min(7, len(followed) + 1)
        address = page["next"]
    numbered = [
        memory["memory"]
        for number in (1, 2, 3, 4)
        for memory in answer(mem0.post(f"/v3/memories/?page_size=3&page={number}", json=body))[
            "results"
        ]
    ]
    assert followed == numbered == [f"Fact number {n} of tea" for n in range(7)][::-1]
    deep = mem0.post("/v3/memories/?page_size=1000&page=100", json=body)
    assert "follow next" in refused(deep)
    wrong = mem0.post("/v3/memories/?cursor=x", json=body)
    assert "cursor" in refused(wrong)


@pytest.mark.slow
def test_no_answer_is_larger_than_an_answer_may_be(database_url: str) -> None:
    settings = load_settings(database_url=database_url, max_answer_bytes=20_000)
    with running(settings) as address, httpx.Client(base_url=f"{address}/mem0") as mem0:
        text = "A long text about tea. " * 60
        for n in range(30):
            add(mem0, "big", f"{n}. {text}", infer=False, metadata={"n": "x" * 3000})
        lists = ("/v1/memories/?user_id=big", "/memories?user_id=big")
        for place in lists:
            assert "ask for pages" in refused(mem0.get(place))
            assert len(mem0.get(f"{place}&limit=3").content) < 20_000
        body = {"filters": {"user_id": "big"}}
        assert "smaller page_size" in refused(mem0.post("/v3/memories/", json=body))
        page = answer(mem0.post("/v3/memories/?page_size=3", json=body))
        assert len(page["results"]) == 3
        memory_id = page["results"][0]["id"]
        for n in range(12):
            answer(mem0.put(f"/v1/memories/{memory_id}/", json={"text": f"{n} {text}"}))
        assert "in pages" in refused(mem0.get(f"/v1/memories/{memory_id}/history/"))
        assert len(mem0.get("/v1/memories/?user_id=big&page=29&page_size=1").content) < 20_000


def test_a_small_page_reads_few_memories(mem0: httpx.Client, service: str, ann: str) -> None:
    """A page of one memory read all of them before."""
    for n in range(5):
        add(mem0, ann, f"Fact number {n} of tea", infer=False)
    asked: list[int] = []
    read = AsyncClient.list_memories

    def noted(self: AsyncClient, **fields: Any) -> Any:
        asked.append(fields["limit"])
        return read(self, **fields)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AsyncClient, "list_memories", noted)
        answer(mem0.get("/v1/memories/", params={"user_id": ann, "page": 1, "page_size": 1}))
    assert asked == [1]


HOSTILE = [
    ("GET", "/v1/event/abc/", {}),
    ("GET", "/v1/memories/?user_id=a&page=" + "9" * 4400, {}),
    ("GET", "/v1/memories/?user_id=a&top_k=" + "9" * 4400, {}),
    ("GET", "/v1/memories/?user_id=%00", {}),
    ("POST", "/v3/memories/search/", {"query": "x", "filters": {"user_id": "\ud800"}}),
    ("POST", "/v3/memories/search/", {"query": "\ud800", "filters": {"user_id": "a"}}),
    ("POST", "/v3/memories/search/", {"query": "x", "user_id": "a", "fields": [{}]}),
    ("POST", "/v3/memories/search/", {"query": "x", "user_id": "a", "fields": [[1]]}),
    ("POST", "/v3/memories/search/", {"query": "x", "user_id": "a", "reference_date": "9999"}),
    ("POST", "/v3/memories/search/", {"query": "x", "user_id": "a", "threshold": "high"}),
    ("POST", "/v3/memories/", {"user_id": "a", "categories": [{}]}),
    (
        "POST",
        "/v3/memories/add/",
        {"messages": [{"role": "\ud800", "content": "x"}], "user_id": "a"},
    ),
    ("POST", "/v3/memories/add/", {"messages": "x", "user_id": "a", "metadata": {"\ud800": 1}}),
    ("PUT", "/v1/batch/", {"memories": [{"memory_id": "\ud800", "text": "x"}]}),
    ("PUT", "/v1/batch/", {"memories": [{"memory_id": "x", "text": "x"}] * 1001}),
    ("DELETE", "/v1/batch/", {"memories": [{"memory_id": "x"}] * 1001}),
    ("DELETE", "/v1/batch/", {"memories": [{"memory_id": {}}]}),
    ("PUT", "/v1/memories/x/", {"text": {"a": 1}}),
    ("PUT", "/v1/memories/x/", {"expiration_date": "9999-12-31"}),
]


@pytest.mark.parametrize(("method", "path", "body"), HOSTILE)
def test_hostile_values_are_refused_in_words(
    mem0: httpx.Client, method: str, path: str, body: dict[str, Any]
) -> None:
    content = json.dumps(body).encode()
    refused_call = mem0.request(method, path, content=content)
    assert refused_call.status_code in (200, 404, 422), refused_call.text
    assert refused_call.status_code != 200 or path.startswith("/v3/memories/search")


def test_filters_and_metadata_may_not_be_nested_without_end(mem0: httpx.Client) -> None:
    nested = '{"AND":[' * 900 + '{"user_id":"a"}' + "]}" * 900
    refused(mem0.post("/v3/memories/search/", content=f'{{"query":"x","filters":{nested}}}'))


def test_lists_and_searches_filter_by_metadata(mem0: httpx.Client, ann: str) -> None:
    add(mem0, ann, "Tea is green", infer=False, metadata={"k": 1})
    add(mem0, ann, "The sea is blue", infer=False, metadata={"k": 2})
    assert list_texts(mem0, ann, metadata={"k": 2}) == ["The sea is blue"]
    body = {"query": "tea", "filters": {"user_id": ann, "metadata": {"k": 2}}}
    [hit] = answer(mem0.post("/v3/memories/search/", json=body))["results"]
    assert hit["memory"] == "The sea is blue"
    body["filters"]["metadata"] = {"k": {"gte": 1}}
    assert len(answer(mem0.post("/v3/memories/search/", json=body))["results"]) == 2
    body["filters"]["metadata"] = {"k": {"ne": 1}}
    [hit] = answer(mem0.post("/v3/memories/search/", json=body))["results"]
    assert hit["memory"] == "The sea is blue"
    assert list_texts(mem0, ann, keywords={"contains": "green"}) == ["Tea is green"]


def test_an_update_supersedes_and_its_history_tells(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    [one] = add(mem0, ann, "Tea is green", infer=False, metadata={"k": 1})
    place = f"/v1/memories/{one['id']}/"
    created = answer(mem0.get(place))["created_at"]
    updated = answer(mem0.put(place, json={"text": "Tea is black", "metadata": {"j": 2}}))
    assert updated["created_at"] == created
    assert (updated["id"], updated["memory"]) == (one["id"], "Tea is black")
    assert updated["metadata"] == {"k": 1, "j": 2}
    answer(mem0.put(place, json={"expiration_date": "2031-01-31"}))
    assert answer(mem0.get(place))["expiration_date"] == "2031-01-31"
    over = mem0.put(place, json={"expiration_date": "2020-01-31"})
    assert (over.status_code, "delete ends" in over.json()["detail"]) == (422, True)
    answer(mem0.put(place, json={"expiration_date": None}))
    assert answer(mem0.get(place))["expiration_date"] is None
    assert answer(mem0.delete(place))["message"] == "Memory deleted successfully!"
    events = answer(mem0.get(f"{place}history/"))
    assert [(event["event"], event["old_memory"], event["new_memory"]) for event in events] == [
        ("ADD", None, "Tea is green"),
        ("UPDATE", "Tea is green", "Tea is black"),
        ("DELETE", "Tea is black", None),
    ]
    assert {event["memory_id"] for event in events} == {one["id"]}
    assert contents(client) == set()
    assert contents(client, include_superseded=True) == {"Tea is green", "Tea is black"}


def test_what_is_deleted_or_unknown_is_not_there(mem0: httpx.Client, ann: str) -> None:
    [one] = add(mem0, ann, "Tea is green", infer=False)
    place = f"/v1/memories/{one['id']}/"
    answer(mem0.delete(place))
    agent = one["id"].partition(".")[2]
    for gone in (place, f"/v1/memories/{uuid4()}.{agent}/", f"/v1/memories/nothing.{agent}/"):
        refused(mem0.get(gone), 404)
        refused(mem0.delete(gone), 404)
        refused(mem0.put(gone, json={"text": "x"}), 404)


def test_what_took_its_place_in_another_chain_is_another_memory(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    green, black = (
        add(mem0, ann, f"Tea is {colour}", infer=False)[0] for colour in ("green", "black")
    )
    old, by = (one["id"].partition(".")[0] for one in (green, black))
    client.post(f"/v1/memories/{old}/supersede", json={"by": by}).raise_for_status()
    refused(mem0.get(f"/v1/memories/{green['id']}/"), 404)
    assert answer(mem0.get(f"/v1/memories/{black['id']}/"))["memory"] == "Tea is black"
    for one in (green, black):
        events = answer(mem0.get(f"/v1/memories/{one['id']}/history/"))
        assert {event["memory_id"] for event in events} == {one["id"]}


def test_what_was_erased_is_not_counted(mem0: httpx.Client, client: httpx.Client, ann: str) -> None:
    [one] = add(mem0, ann, "Tea is green", infer=False)
    add(mem0, ann, "The sea is blue", infer=False)
    memory_id = one["id"].partition(".")[0]
    client.delete(f"/v1/memories/{memory_id}", params={"erase": True}).raise_for_status()
    assert list_texts(mem0, ann) == ["The sea is blue"]
    refused(mem0.get(f"/v1/memories/{one['id']}/"), 404)


def test_delete_all_retracts_what_the_filter_names(mem0: httpx.Client, ann: str) -> None:
    add(mem0, ann, "Tea is green", infer=False, run_id="r1")
    add(mem0, ann, "The sea is blue", infer=False, run_id="r2")
    answer(mem0.delete("/v1/memories/", params={"user_id": ann, "run_id": "r1"}))
    assert list_texts(mem0, ann) == ["The sea is blue"]
    filters = {"user_id": ann, "keywords": {"contains": "sea"}}
    answer(mem0.delete("/v1/memories/", params={"filters": str(filters)}))
    assert list_texts(mem0, ann) == []
    assert "whose memory" in refused(mem0.delete("/v1/memories/"))


def test_the_deletion_of_a_user_reaches_only_what_came_this_way(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    """`reset` and `delete_users` of the clients delete each user of the service."""
    client.post("/v1/memories", json={"content": "I live in Rome"}).raise_for_status()
    add(mem0, ann, "I like jazz.")
    add(mem0, ann, "I have a cat.", run_id="r1")
    add(mem0, ann, "Badge 4711", infer=False)
    add(mem0, ann, "I own a boat.", agent_id="desk")
    said = answer(mem0.delete(f"/v2/entities/user/{ann}/"))["message"]
    assert "4 memories that came through" in said
    assert contents(client) == {"I live in Rome"}


def test_a_batch_is_done_whole_or_not_at_all(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    one, two = (add(mem0, ann, text, infer=False)[0] for text in ("Tea is green", "Snow is white"))
    unknown = [{"memory_id": one["id"], "text": "Tea is black"}, {"memory_id": "nope", "text": "x"}]
    refused(mem0.put("/v1/batch/", json={"memories": unknown}), 404)
    refused(mem0.request("DELETE", "/v1/batch/", json={"memories": unknown}), 422)
    ids = [{"memory_id": one["id"]}, {"memory_id": "nope"}]
    refused(mem0.request("DELETE", "/v1/batch/", json={"memories": ids}), 404)
    empty = [
        {"memory_id": one["id"], "text": "Tea is black"},
        {"memory_id": one["id"], "metadata": {"k": 1}},
        {"memory_id": two["id"]},
    ]
    assert "needs a text" in refused(mem0.put("/v1/batch/", json={"memories": empty}))
    assert contents(client) == {"Tea is green", "Snow is white"}
    assert answer(mem0.get(f"/v1/memories/{one['id']}/"))["metadata"] is None


def test_events_are_the_last_additions(mem0: httpx.Client, ann: str) -> None:
    added = add_whole(mem0, ann, "I like jazz.")
    events = {event["id"]: event for event in answer(mem0.get("/v1/events/"))["results"]}
    event = events[added["event_id"]]
    assert (event["event_type"], event["status"]) == ("ADD", "SUCCEEDED")


def test_batches_update_and_delete(mem0: httpx.Client, ann: str) -> None:
    [one] = add(mem0, ann, "Tea is green", infer=False)
    [two] = add(mem0, ann, "The sea is blue", infer=False)
    changes = [{"memory_id": one["id"], "text": "Tea is black"}]
    answer(mem0.put("/v1/batch/", json={"memories": changes}))
    answer(mem0.request("DELETE", "/v1/batch/", json={"memories": [{"memory_id": two["id"]}]}))
    assert list_texts(mem0, ann) == ["Tea is black"]
    refused(mem0.put("/v1/batch/", json={"memories": ["x"]}))


def test_users_are_agents(mem0: httpx.Client, ann: str) -> None:
    add(mem0, ann, "Tea is green", infer=False)
    users = {user["name"]: user for user in answer(mem0.get("/v1/entities/"))["results"]}
    assert (users[ann]["type"], users[ann]["total_memories"]) == ("user", 1)


def test_the_dialect_of_its_own_server(mem0: httpx.Client, ann: str) -> None:
    body = {"messages": [{"role": "user", "content": "I live in Porto"}], "user_id": ann}
    [one] = answer(mem0.post("/memories", json=body))["results"]
    assert answer(mem0.get(f"/memories/{one['id']}"))["memory"] == "I live in Porto"
    assert len(answer(mem0.get("/memories", params={"user_id": ann}))["results"]) == 1
    [hit] = answer(mem0.post("/search", json={"query": "home", "user_id": ann}))["results"]
    assert hit["id"] == one["id"]
    updated = answer(mem0.put(f"/memories/{one['id']}", json={"text": "I live in Faro"}))
    assert updated["message"] == "Memory updated successfully!"
    assert len(answer(mem0.get(f"/memories/{one['id']}/history"))) == 2
    assert ann in {entity["id"] for entity in answer(mem0.get("/entities"))}
    answer(mem0.delete(f"/memories/{one['id']}"))
    answer(mem0.delete("/memories", params={"user_id": ann}))
    assert answer(mem0.get("/memories", params={"user_id": ann})) == {"results": []}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/exports/"),
        ("POST", "/v1/feedback/"),
        ("GET", "/api/v1/orgs/organizations/o/projects/p/"),
        ("POST", "/configure"),
        ("POST", "/reset"),
        ("PATCH", "/api/v1/orgs/organizations/o/projects/p/"),
    ],
)
def test_other_calls_are_refused_in_words(mem0: httpx.Client, method: str, path: str) -> None:
    assert "no such call of mem0" in refused(mem0.request(method, path, json={}))


def test_metrics_name_the_routes(mem0: httpx.Client, service: str, ann: str) -> None:
    add(mem0, ann, "Tea is green", infer=False)
    metrics = httpx.get(f"{service}/metrics").text
    assert 'route="/mem0/v3/memories/add"' in metrics


@pytest.mark.parametrize("body", ["{", "[]", "1"])
def test_a_body_must_be_an_object(mem0: httpx.Client, body: str) -> None:
    assert "body" in refused(mem0.post("/v3/memories/search/", content=body))


def test_keys_agents_and_scopes_are_those_of_the_service(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address, Client(address, api_key=ROOT_KEY) as root:
        own = root.issue_key("ann's", scopes=["read", "write"], agents=["ann"])["key"]
        reads = root.issue_key("reads", scopes=["read"], agents=["ann"])["key"]

        def call(key: str | None, user: str, **headers: str) -> httpx.Response:
            named = {"Authorization": f"Token {key}"} if key else headers
            body = {"messages": "Tea is green", "user_id": user, "infer": False}
            return httpx.post(f"{address}/mem0/v3/memories/add/", json=body, headers=named)

        assert call(None, "ann").status_code == 401
        assert call("wrong", "ann").status_code == 401
        assert httpx.get(f"{address}/mem0/v1/ping/").status_code == 401
        refused(call(own, "bob"), 403)
        assert "`write`" in refused(call(reads, "ann"), 403)
        assert call(None, "ann", **{"X-API-Key": own}).status_code == 200
        [one] = answer(call(own, "ann"))["results"]
        other = one["id"].partition(".")[0] + ".Ym9i"
        foreign = httpx.get(
            f"{address}/mem0/v1/memories/{other}/", headers={"Authorization": f"Token {own}"}
        )
        refused(foreign, 403)


def test_a_page_of_another_origin_is_refused(mem0: httpx.Client) -> None:
    foreign = {"Origin": "https://example.org"}
    refused(mem0.get("/v1/memories/", params={"user_id": "ann"}, headers=foreign), 403)


@pytest.mark.parametrize(
    "body", ["{", "[" * 100_000, '{"a": NaN}', '{"a": 1e400}', '{"a": "\\ud800"}']
)
def test_a_body_that_is_no_json_is_refused(mem0: httpx.Client, body: str) -> None:
    filters = f'{{"query": "tea", "filters": {{"user_id": "ann", "metadata": {body}}}}}'
    for path in ("/v3/memories/search/", "/v3/memories/"):
        refused(mem0.post(path, content=filters))


def test_a_large_or_compressed_body_is_refused(mem0: httpx.Client) -> None:
    refused(mem0.post("/search", content=b" " * 300_000), 413)
    refused(mem0.post("/search", content=b"x", headers={"Content-Encoding": "gzip"}), 415)


def test_pages_by_number_go_on_where_the_one_before_ended(
    mem0: httpx.Client, client: httpx.Client, ann: str
) -> None:
    """A client that deletes each page that it reads would skip every second one."""
    for n in range(5):
        add(mem0, ann, f"Fact number {n} of tea", infer=False)
    body = {"filters": {"user_id": ann}}
    read = []
    for number in (1, 2, 3):
        page = answer(mem0.post(f"/v3/memories/?page_size=2&page={number}", json=body))
        read += [memory["memory"] for memory in page["results"]]
        for memory in page["results"]:
            answer(mem0.delete(f"/v1/memories/{memory['id']}/"))
    assert read == [f"Fact number {n} of tea" for n in range(5)][::-1]
    assert contents(client) == set()
