"""The reviews in the console."""

import re
from typing import Any

import httpx
import pytest

from app.console.word_difference import MOST_WORDS, mark_difference
from support.builders import store


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
    assert "What accepting does" in one
    assert re.search(r"superseded</span>.*true from", one, re.DOTALL)


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
    assert decide(client).status_code == 422


def test_it_is_accepted_with_another_text(client: httpx.Client, waiting: dict[str, Any]) -> None:
    path = f"/ui/reviews/{waiting['review_id']}/edit"
    for _ in range(2):  # a second click changes nothing more
        sent = {"content": "I live in Lisbon", "idempotency_key": "edit"}
        answer = client.post(path, params=agent_of(client), data=sent)
    assert answer.status_code == 303
    assert list_contents(client) == {"I live in Lisbon"}


def test_an_empty_inbox_says_what_lands_there(client: httpx.Client) -> None:
    assert "lands here instead of being made" in show(client)


# --- differing words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("I live in Porto", "I live in Lisbon", ("<del>Porto</del>", "<ins>Lisbon</ins>")),
        ("I like tea.", "I like tea", ("I like tea.", "I like tea")),
        ("Same words", "same words", ("Same words", "same words")),
        ("", "All new", ("", "<ins>All new</ins>")),
        ("<b>x</b>", "y", ("<del>&lt;b&gt;x&lt;/b&gt;</del>", "<ins>y</ins>")),
        ("a \u202eb", "a", ("<del>⟨U+202E⟩b</del>", "a")),
        (None, "New", ("erased", "<ins>New</ins>")),
    ],
)
def test_differing_words_are_marked(old: str | None, new: str, marked: tuple[str, str]) -> None:
    for shown, expected in zip(mark_difference(old, new), marked, strict=True):
        assert expected in shown


def test_long_texts_are_compared_in_part() -> None:
    old, new = mark_difference("z " * 8000, "q " * 8000)
    assert old.count("z") <= MOST_WORDS
    assert "…" in new
