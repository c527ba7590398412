"""GET /v1/doctor: what is wrong with the calling agent's memory, while others write."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from app.api import doctor
from app.settings import load_settings
from support.builders import editor, send, store
from support.service import running


@pytest.fixture
def own(unchecked_database_url: str) -> Iterator[tuple[httpx.Client, str]]:
    """A client of a service over a database of the test's own, to be damaged."""
    url = unchecked_database_url
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client, url


def examined(client: httpx.Client, agent: str = "default") -> dict[str, Any]:
    response = client.get("/v1/doctor", headers={"X-Agent-Id": agent})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def damage(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode(), values).rowcount > 0


def test_all_holds_of_an_agent_with_a_history_and_of_one_that_never_was(
    client: httpx.Client,
) -> None:
    send(client, editor("Vim"))
    send(client, editor("Emacs"))
    assert examined(client, client.headers["X-Agent-Id"]) == {"problems": [], "left_out": 0}
    assert examined(client, "never-heard-of") == {"problems": [], "left_out": 0}


def test_a_problem_is_told_to_its_own_agent_in_plain_words_with_its_ids(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    memory = store(client)["memory"]["id"]
    client.post("/v1/memories", json={"content": "Has a cat"}, headers={"X-Agent-Id": "other"})
    damage(url, "UPDATE memories SET importance = 0.1, content_hash = '' WHERE id = %s", memory)
    assert examined(client)["problems"] == [
        {
            "agent_id": "default",
            "check": "log",
            "ids": [memory],
            "problem": f"The log and the table do not say the same of memory {memory}: importance.",
            "repairable": False,
        },
        {
            "agent_id": "default",
            "check": "hashes",
            "ids": [memory],
            "problem": f"Memory {memory} is found by words that it does not hold: content_hash.",
            "repairable": True,
        },
    ]
    assert examined(client, "other")["problems"] == []


def test_no_sentence_quotes_what_was_said(own: tuple[httpx.Client, str]) -> None:
    client, url = own
    store(client, "The code is Zebra", key="code", value="Zebra", tags=["zebra"])
    damage(
        url,
        "UPDATE memories SET content = 'The code is Yak', value = 'Yak', key = 'yak', tags = '{yak}'",
    )
    told = examined(client)["problems"]
    assert "content" in told[0]["problem"]
    assert not any(word in str(told).casefold() for word in ("zebra", "yak"))


def test_very_many_problems_are_counted_rather_than_told(
    own: tuple[httpx.Client, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = own
    monkeypatch.setattr(doctor, "MOST", 3)
    client.post(
        "/v1/memories/batch",
        json={"items": [{"content": f"Fact {number}", "classify": "off"} for number in range(10)]},
    )
    damage(url, "UPDATE memories SET importance = 0.123")
    answer = examined(client)
    assert (len(answer["problems"]), answer["left_out"]) == (3, 7)


def test_writers_meanwhile_are_no_problem_and_do_not_wait(client: httpx.Client) -> None:
    """Every examination sees one moment, however many statements it takes."""
    agent = client.headers["X-Agent-Id"]
    stop = threading.Event()
    written = []

    def write(writer: int) -> None:
        with httpx.Client(
            base_url=client.base_url, headers={"X-Agent-Id": agent}, timeout=60
        ) as own:
            while not stop.is_set():
                written.append(send(own, editor(f"Editor {len(written)} of {writer}")))
                own.post("/v1/memories", json={"content": "Has a dog"})

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in writers:
        thread.start()
    try:
        seen = []
        for _ in range(12):
            assert examined(client, agent)["problems"] == []
            seen.append(len(written))
    finally:
        stop.set()
        for thread in writers:
            thread.join(30)
    assert seen[0] < seen[-1], "there was writing meanwhile"
