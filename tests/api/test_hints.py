"""Hints in the answers of stores and in the items of a context."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.settings import load_settings
from support.builders import editor, send, store
from support.service import running

Client = httpx.Client


def names(told: dict[str, Any]) -> list[str]:
    return [hint["name"] for hint in told["hints"]]


def in_context(client: Client, **params: Any) -> dict[str, list[str]]:
    items = client.get("/v1/context", params=params).json()["items"]
    return {item["memory"]["content"]: names(item) for kind in items.values() for item in kind}


def test_a_slot_that_keeps_changing_is_hinted_in_stores_and_contexts(client: Client) -> None:
    answers = [
        send(client, editor(value)) for value in ("Vim", "Emacs", "Helix", "Nano", "Kakoune", "Zed")
    ]
    assert [names(answer) for answer in answers] == [[]] * 5 + [["unstable_slot"]]
    [hint] = answers[-1]["hints"]
    assert hint["sentence"] == "changed 5 times in 30 days: ask before acting on it"
    assert hint["memory_ids"] == [answer["memory"]["id"] for answer in answers[1:]]
    assert names(send(client, editor("Zed"))) == ["unstable_slot"], "also where nothing changes"
    store(client, "Has a dog")
    assert in_context(client) == {"Uses Zed as editor": ["unstable_slot"], "Has a dog": []}
    assert in_context(client, known_at=answers[4]["known_at"])["Uses Kakoune as editor"] == []
    later = (datetime.now(UTC) + timedelta(days=40)).isoformat()
    assert in_context(client, as_of=later)["Uses Zed as editor"] == [], (
        "thirty quiet days are enough"
    )


def test_what_went_there_and_back_is_hinted(client: Client) -> None:
    vim, emacs = send(client, editor("Vim")), send(client, editor("Emacs"))
    back = send(client, editor("vim "))
    assert names(emacs) == []
    [hint] = back["hints"]
    assert (hint["name"], hint["memory_ids"]) == (
        "flip_flop",
        [a["memory"]["id"] for a in (vim, emacs, back)],
    )
    assert list(in_context(client).values()) == [["flip_flop"]]
    on = send(client, editor("Helix"))
    assert names(on) == []


def test_what_was_withdrawn_is_no_change_from_then_on(client: Client) -> None:
    _, emacs, back = (send(client, editor(value)) for value in ("Vim", "Emacs", "Vim"))
    client.post(
        f"/v1/memories/{emacs['memory']['id']}/retract", json={"never_true": True}
    ).raise_for_status()
    assert in_context(client) == {"Uses Vim as editor": []}
    assert in_context(client, known_at=back["known_at"]) == {"Uses Vim as editor": ["flip_flop"]}


def test_values_of_one_slot_in_several_chains_are_one_line(client: Client) -> None:
    """As in a slot that was filled without being classified."""
    for value in ("Vim", "Emacs"):
        send(client, editor(value, classify=False))
    again = send(client, editor("Vim", content="Back to Vim", classify=False))
    assert names(again) == ["flip_flop"]
    assert in_context(client)["Back to Vim"] == ["flip_flop"]


def test_text_without_a_key_is_hinted_by_its_chain(client: Client) -> None:
    for text in ("I live in Porto", "I moved to Lisbon"):
        assert names(store(client, text)) == []
    back = store(client, "I live in Porto")
    assert (back["operation"], names(back)) == ("UPDATE", ["flip_flop"])
    assert in_context(client) == {"I live in Porto": ["flip_flop"]}


def test_history_told_at_once_is_no_unrest(client: Client) -> None:
    """Seven homes since 2010, told today, are a life and no unstable slot."""
    homes = [
        store(
            client, f"Lives in town {n}", key="home", value=f"{n}", valid_from=f"20{10 + n}-01-01"
        )
        for n in range(7)
    ]
    assert [names(answer) for answer in homes] == [[]] * 7
    assert in_context(client) == {"Lives in town 6": []}


def test_verbs_and_items_of_a_batch_are_hinted_too(client: Client) -> None:
    batch = client.post(
        "/v1/memories/batch", json={"items": [editor(value) for value in ("Vim", "Emacs", "Vim")]}
    ).json()["results"]
    assert [names(answer) for answer in batch] == [[], [], ["flip_flop"]]
    last = batch[-1]["memory"]["id"]
    other = client.post(
        f"/v1/memories/{last}/supersede", json={"content": "Uses Emacs as editor", "value": "Emacs"}
    ).json()
    assert names(other) == ["flip_flop"]
    assert names(
        client.patch(f"/v1/memories/{other['memory']['id']}", json={"importance": 0.9}).json()
    ) == ["flip_flop"]
    assert (
        names(client.post(f"/v1/log/{other['log_id']}/revert", json={"cascade": True}).json()) == []
    )


def test_a_dry_run_is_hinted_as_the_store_will_be(client: Client) -> None:
    for value in ("Vim", "Emacs"):
        send(client, editor(value))
    assert names(send(client, editor("Vim", dry_run=True))) == ["flip_flop"]
    assert names(send(client, editor("Helix"))) == []


@pytest.mark.parametrize("keyed", [{}, {"key": "budget"}])
def test_what_a_constraint_stands_against_is_hinted_with_its_id(
    client: Client, keyed: dict[str, str]
) -> None:
    constraint = store(client, "The budget is 100 euros", kind="constraint", **keyed)["memory"][
        "id"
    ]
    answer = store(client, "The budget is 200 euros", **keyed)
    assert answer["operation"] == "ADD"
    [hint] = [hint for hint in answer["hints"] if hint["name"] == "conflicts_with_constraint"]
    assert hint["memory_ids"] == [constraint]
    assert constraint in hint["sentence"]
    assert (
        names(store(client, "The budget was agreed upon in May", **dict.fromkeys(keyed, "other")))
        == []
    )


def test_what_a_person_rejected_is_hinted_when_it_comes_again(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        Client(base_url=address, timeout=60) as client,
    ):
        store(client, "I was born in Porto")
        first = store(client, "I was born in Lisbon")
        assert first["review_id"]
        assert names(first) == []
        second = store(client, "I was born in Faro")
        assert second["review_id"]
        assert names(second) == [], "a review that waits is no rejection"
        client.post(
            f"/v1/reviews/{first['review_id']}/reject", json={"note": "It is right"}
        ).raise_for_status()
        third = store(client, "I was born in Braga")
        [hint] = third["hints"]
        assert (hint["name"], hint["memory_ids"]) == (
            "similar_rejected_before",
            [first["memory"]["id"]],
        )
        assert "It is right" not in hint["sentence"], "a note may quote what is erased later"
        other = {"X-Agent-Id": "another"}
        for text in ("I was born in Porto", "I was born in Lisbon"):
            foreign = client.post("/v1/memories", json={"content": text}, headers=other).json()
        assert foreign["review_id"]
        assert names(foreign) == []
