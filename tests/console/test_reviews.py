"""The reviews in the console."""

import re
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

from app.console.pages.reviews import PAGE
from app.console.word_difference import are_alike
from support.builders import store
from support.questions import CARS, MOVED, ask, open_agent, open_unsure


def agent_of(client: httpx.Client) -> dict[str, str]:
    return {"agent": client.headers["X-Agent-Id"]}


def show(client: httpx.Client, path: str = "/ui/reviews", **params: Any) -> str:
    answer = client.get(path, params={**agent_of(client), **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def decide(client: httpx.Client, **form: Any) -> httpx.Response:
    return client.post("/ui/reviews/decide", params=agent_of(client), data=form)


@pytest.fixture
def waiting(client: httpx.Client) -> dict[str, Any]:
    """A change that waits, because the agent is in shadow mode."""
    store(client, "I live in Porto", key="city")
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    return store(client, "I live in sunny Lisbon", key="city")


def list_contents(client: httpx.Client) -> set[str]:
    return {memory["content"] for memory in client.get("/v1/memories").json()["items"]}


def test_both_texts_stand_side_by_side_with_their_difference(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    page = show(client)
    assert "I live in <del>Porto</del>" in page
    assert "I live in <ins>sunny Lisbon</ins>" in page
    assert "shadow mode" in page
    one = show(client, f"/ui/reviews/{waiting['review_id']}")
    assert "What a yes changes" in one
    assert re.search(r"replaced</span>.*true from", one, re.DOTALL)


class _Labels(HTMLParser):
    """Collects what a screen reader says of the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == "aria-label"]


def test_a_review_is_labelled_by_its_question(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    (review,) = client.get("/v1/reviews").json()["items"]
    assert review["sentence"] in _Labels(show(client)).found


def test_it_is_accepted_and_taken_back_from_the_same_place(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    answer = decide(client, accept=waiting["review_id"])
    assert list_contents(client) == {"I live in sunny Lisbon"}
    page = client.get(answer.headers["location"]).text
    assert "Accepted." in page
    assert "Nothing waits for you" in page
    undo = re.search(r'href="(/ui/undo\?[^"]+)"', page)
    assert undo
    preview = client.get(undo[1].replace("&amp;", "&")).text
    assert "will be true from" in preview
    log_id = re.search(r'name="log_id" value="([^"]+)"', preview)
    assert log_id
    back = client.post(
        "/ui/undo",
        params={**agent_of(client), "back": "/ui/reviews"},
        data={"log_id": log_id[1]},
    )
    assert "/ui/reviews?" in back.headers["location"]
    assert "I live in Porto" in list_contents(client)


def test_it_is_rejected_with_a_note(client: httpx.Client, waiting: dict[str, Any]) -> None:
    decide(client, reject=waiting["review_id"], note="only a visit")
    review = client.get(f"/v1/reviews/{waiting['review_id']}").json()
    assert (review["status"], review["note"]) == ("rejected", "only a visit")
    assert "only a visit" in show(client, f"/ui/reviews/{waiting['review_id']}")
    assert "Lisbon" in show(client, status="rejected")


def test_several_are_decided_at_once(client: httpx.Client, waiting: dict[str, Any]) -> None:
    store(client, "I use Vim", key="editor")
    other = store(client, "I use Zed", key="editor")
    ids = [waiting["review_id"], other["review_id"]]
    decide(client, reject="chosen", review_id=ids)
    assert "Nothing waits for you" in show(client)


def test_what_could_not_be_decided_says_why(client: httpx.Client, waiting: dict[str, Any]) -> None:
    decide(client, accept=waiting["review_id"])
    answer = decide(client, reject=waiting["review_id"])
    assert answer.status_code == 409
    assert "1 of 1 review could not be decided" in answer.text


def test_without_a_choice_nothing_is_decided(client: httpx.Client) -> None:
    assert decide(client, accept="chosen").status_code == 422
    assert decide(client).status_code == 204


def test_it_is_accepted_with_another_text(client: httpx.Client, waiting: dict[str, Any]) -> None:
    path = f"/ui/reviews/{waiting['review_id']}/edit"
    for _ in range(2):  # a second click changes nothing more
        sent = {"content": "I live in Lisbon", "idempotency_key": "edit"}
        answer = client.post(path, params=agent_of(client), data=sent)
    assert answer.status_code == 303
    assert list_contents(client) == {"I live in Lisbon"}


def edit(client: httpx.Client, review_id: str, content: str) -> httpx.Response:
    path = f"/ui/reviews/{review_id}/edit"
    return client.post(path, params=agent_of(client), data={"content": content})


def read_status(client: httpx.Client, review_id: str) -> str:
    status: str = client.get(f"/v1/reviews/{review_id}").json()["status"]
    return status


@pytest.mark.parametrize("content", ["", "  ", "x" * 16_001])
def test_a_text_that_cannot_be_stored_accepts_nothing(
    client: httpx.Client, waiting: dict[str, Any], content: str
) -> None:
    answer = edit(client, waiting["review_id"], content)
    assert answer.status_code == 422
    assert "Nothing was done" in answer.text
    assert read_status(client, waiting["review_id"]) == "pending"


@pytest.mark.parametrize(
    ("old", "new"),
    [("I use Vim", "I use vim"), ("I use two screens", "i use two screens.")],
)
def test_another_text_is_refused_when_accepting_withdraws_the_new_fact(
    client: httpx.Client, old: str, new: str
) -> None:
    store(client, old)
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    review_id = store(client, new)["review_id"]
    assert "Accept with this text" not in show(client, f"/ui/reviews/{review_id}")
    assert edit(client, review_id, "Something else").status_code == 422
    assert read_status(client, review_id) == "pending"
    assert list_contents(client) == {old, new}


def test_another_text_is_refused_for_a_store_that_was_kept_back(client: httpx.Client) -> None:
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "frozen"})
    held = client.post("/v1/memories", json={"content": "I live in Porto"}).json()
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "live"})
    assert edit(client, held["review_id"], "I live in Lisbon").status_code == 422
    assert read_status(client, held["review_id"]) == "pending"


def test_undoing_an_edit_undoes_the_text_too(client: httpx.Client, waiting: dict[str, Any]) -> None:
    answer = edit(client, waiting["review_id"], "I live in Lisbon")
    log_ids = re.findall(r"log_id=([^&]+)", answer.headers["location"])
    client.post("/ui/undo", params=agent_of(client), data={"log_id": log_ids})
    assert list_contents(client) == {"I live in Porto", "I live in sunny Lisbon"}
    assert read_status(client, waiting["review_id"]) == "pending"


def offer_changes(client: httpx.Client, count: int) -> list[str]:
    for number in range(count):
        store(client, f"Box {number} is red", entity=f"box {number}", key="colour")
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    changes = [
        store(client, f"Box {number} is blue", entity=f"box {number}", key="colour")
        for number in range(count)
    ]
    return [change["review_id"] for change in changes]


def test_a_whole_page_of_decisions_can_be_undone(client: httpx.Client) -> None:
    answer = decide(client, accept="chosen", review_id=offer_changes(client, PAGE))
    assert answer.headers["location"].count("log_id=") == PAGE


def test_what_was_decided_can_be_undone_although_others_failed(client: httpx.Client) -> None:
    first, second = offer_changes(client, 2)
    decide(client, accept=first)
    answer = decide(client, reject="chosen", review_id=[first, second])
    assert "1 of 2 reviews could not be decided" in answer.text
    assert "1 review was rejected" in answer.text
    log_id = client.get(f"/v1/reviews/{second}").json()["decision_log_id"]
    assert f"log_id={log_id}" in answer.text


def test_a_page_that_was_used_before_decides_again(client: httpx.Client) -> None:
    first, second = offer_changes(client, 2)
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', show(client)))
    for review_id in (first, second, second):
        assert decide(client, accept=review_id, **hidden).status_code == 303


def test_reviews_are_narrowed_and_stay_so(client: httpx.Client, waiting: dict[str, Any]) -> None:
    assert "Lisbon" in show(client, source="shadow")
    assert "sunny" not in show(client, source="frozen")
    assert "Lisbon" in show(client, source="nonsense")
    narrow = {**agent_of(client), "source": "shadow"}
    answer = client.post("/ui/reviews/decide", params=narrow, data={"reject": waiting["review_id"]})
    assert "source=shadow" in answer.headers["location"]


def test_filters_show_only_where_there_is_something_with_its_number(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    assert "Asked because of" not in show(client)
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "live"})
    store(client, "I live in Evora", key="city", trust=10)
    assert "Asked because of" in show(client)
    chips = re.findall(r'class="chip" href="[^"]*source=(\w+)">([^<]+)</a>', show(client))
    assert chips == [("shadow", "shadow mode 1"), ("trust", "less trusted 1")]


def test_each_page_says_how_many_reviews_wait(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    for path in ("/ui", "/ui/log", "/ui/reviews"):
        assert re.search(r'Reviews <span [^>]*title="waiting">1</span>', show(client, path)), path
    decide(client, reject=waiting["review_id"])
    assert 'title="waiting"' not in show(client, "/ui")


def test_questions_about_the_same_fact_stand_in_one_card(client: httpx.Client) -> None:
    first, second = offer_changes(client, 2)
    again = store(client, "Box 0 is green", entity="box 0", key="colour")["review_id"]
    page = show(client)
    places = [page.index(f'name="accept" value="{i}"') for i in (again, first, second)]
    assert places == sorted(places)
    assert page.count('<section class="card">') == 2
    assert re.search(r"<h2>2 questions about “<bdi[^>]*>Box 0 is red</bdi>”</h2>", page)


def test_the_question_is_asked_in_words_that_lead_to_the_facts(
    client: httpx.Client, waiting: dict[str, Any]
) -> None:
    (review,) = client.get("/v1/reviews").json()["items"]
    question = re.search(r'<p class="question">(.*?)</p>', show(client), re.DOTALL)
    assert question
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", question[1])).strip()
    assert words == review["sentence"]
    for memory_id in (review["memory_id"], review["candidates"][0]["memory_id"]):
        assert f"/ui/facts/{memory_id}?" in question[1]
    assert "Yes, it ended" in show(client)
    assert "No, both are true" in show(client)


@pytest.mark.parametrize(
    ("old", "new", "is_marked"),
    [("I live in Porto", "I live in Lisbon", True), ("I'm vegetarian", "I eat fish again", False)],
)
def test_only_texts_that_are_alike_have_their_differences_marked(
    old: str, new: str, is_marked: bool
) -> None:
    assert are_alike(old, new) == is_marked


def test_each_candidate_of_a_question_is_ticked_on_its_own(
    server_url: str, template_url: str
) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as client:
        client.event_hooks = {}
        ids, found = ask(client, *CARS)
        page = show(client)
        assert "What is ticked ended" in page
        assert "None of these" in page
        for each in ids:
            assert f'name="memory" value="{found["id"]}/{each}"' in page
        without = decide(client, accept=found["id"])
        assert without.status_code == 409
        assert "Tick what ended" in without.text
        assert "Accept with this text" not in show(client, f"/ui/reviews/{found['id']}")
        assert edit(client, found["id"], "Something else").status_code == 422
        ticked = [f"{found['id']}/{each}" for each in (ids[0], ids[2])]
        assert decide(client, accept=found["id"], memory=ticked).status_code == 303
        assert list_contents(client) == {CARS[1], MOVED}


def test_an_empty_inbox_says_what_lands_there(client: httpx.Client) -> None:
    assert "lands here instead of being made" in show(client)
