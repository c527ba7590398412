"""R8: nine values at `/mem0` were faults of the service, its answers had no bound, nor had its batches."""

import json
from collections.abc import Iterator

import httpx
import pytest

from app.settings import load_settings
from support.databases import fresh_database
from support.service import running
from support.urls import name_of

MOST_BYTES = 200_000
ADD, SEARCH = ("POST", "/v3/memories/add/"), ("POST", "/v3/memories/search/")
DEEP_FILTERS = '{"AND":[' * 900 + '{"user_id":"a"}' + "]}" * 900


@pytest.fixture(scope="module")
def mem0(server_url: str, template_url: str) -> Iterator[httpx.Client]:
    """A service whose answers are small, where `big` has more than one may hold."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, max_answer_bytes=MOST_BYTES)) as address,
        httpx.Client(base_url=f"{address}/mem0", timeout=60) as client,
    ):
        for number in range(40):
            memory = {"messages": f"Number {number}", "metadata": {"a": "x" * 9000}}
            body = {**memory, "user_id": "big", "infer": False}
            client.post("/v3/memories/add/", json=body).raise_for_status()
        yield client


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (ADD, '"messages":"x","user_id":"a","expiration_date":"9999-12-31"'),
        (ADD, '"messages":"x","user_id":"a","expiration_date":253402300799'),
        (ADD, '"messages":"x","user_id":"\\ud800"'),
        (ADD, '"messages":"x","user_id":{"\\ud800":1}'),
        (ADD, '"messages":"x","user_id":"a","\\ud800":1'),
        (SEARCH, '"query":"x","user_id":"a","fields":[{}]'),
        (SEARCH, '"query":"x","user_id":"a","fields":[[1]]'),
        (SEARCH, f'"query":"x","filters":{DEEP_FILTERS}'),
        (("GET", "/v1/event/abc/"), ""),
        (("GET", f"/v1/memories/?user_id=a&page={'9' * 4400}"), ""),
        (("GET", f"/v1/memories/?user_id=a&top_k={'9' * 4400}"), ""),
    ],
)
def test_what_is_wrong_with_a_call_is_said(
    mem0: httpx.Client, call: tuple[str, str], fields: str
) -> None:
    answer = mem0.request(*call, content=f"{{{fields}}}".encode())
    assert answer.status_code in (404, 422), answer.text
    assert answer.json()["detail"]


def test_no_answer_is_larger_than_one_of_v1(mem0: httpx.Client) -> None:
    for path in ("/v1/memories/", "/memories"):
        answer = mem0.get(path, params={"user_id": "big"})
        assert len(answer.content) < MOST_BYTES
        assert "ask for pages" in answer.json()["detail"]
    page = mem0.get("/v1/memories/", params={"user_id": "big", "page": 1, "page_size": 5})
    assert len(page.json()["results"]) == 5


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_batch_has_a_bound(mem0: httpx.Client, method: str) -> None:
    items = [{"memory_id": "00000000-0000-0000-0000-000000000000.YQ", "text": "x"}] * 1001
    answer = mem0.request(method, "/v1/batch/", content=json.dumps({"memories": items}))
    assert answer.status_code == 422
    assert "1000" in answer.json()["detail"]
