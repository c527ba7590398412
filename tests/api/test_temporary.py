"""Facts for a while: what they cover resumes at their stated end, on both axes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.planning import building_blocks
from support.builders import contents, list_ended, send
from support.doctor_check import assert_agent_healthy, assert_healthy

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def day(number: int) -> str:
    return (TODAY + timedelta(days=number)).isoformat()


def store_home(client: httpx.Client, place: str, start: int, **more: Any) -> dict[str, Any]:
    fact = {"content": f"Lives in {place}", "key": "home", "value": place, "valid_from": day(start)}
    return send(client, fact | more)


def stay(client: httpx.Client, place: str, start: int, end: int) -> dict[str, Any]:
    return store_home(client, place, start, content=f"Staying at {place}", valid_until=day(end))


def homes(client: httpx.Client, *days: int, known_at: str | None = None) -> list[list[str]]:
    """What holds in the slot on each day."""
    found = []
    for number in days:
        params = {"key": "home", "as_of": day(number)}
        if known_at:
            params["known_at"] = known_at
        items = client.get("/v1/memories", params=params).json()["items"]
        found.append([memory["value"] for memory in items])
    return found


def test_the_home_resumes_when_the_stay_ends(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)
    ibis = stay(client, "Ibis", -2, 3)
    assert (ibis["operation"], list_ended(ibis)) == ("ADD", [])
    assert ibis["adjusted"] == [home["memory"]["id"]]
    assert ibis["memory"]["temporary"]
    assert homes(client, -3, -2, 2, 3, 400) == [["Porto"], ["Ibis"], ["Ibis"], ["Porto"], ["Porto"]]
    before = homes(client, -3, -2, 2, 3, known_at=home["known_at"])
    assert before == [["Porto"]] * 4, "what was known before the stay stays as it was"
    covered = client.get(f"/v1/memories/{home['memory']['id']}").json()
    assert (covered["status"], covered["valid_until"]) == ("covered", None)
    [cover] = covered["covered"]
    assert [moment[:10] for moment in (cover["since"], cover["until"])] == [
        day(-2)[:10],
        day(3)[:10],
    ]


def test_a_covered_memory_is_in_no_search_and_no_context(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    stay(client, "Ibis", -2, 3)
    found = client.get("/v1/search", params={"q": "Where does the user live?"}).json()
    assert [result["memory"]["value"] for result in found["results"]] == ["Ibis"]
    assert "Porto" not in client.get("/v1/context").json()["text"]
    later = client.get("/v1/search", params={"q": "Where does the user live?", "as_of": day(5)})
    assert [result["memory"]["value"] for result in later.json()["results"]] == ["Porto"]


def test_the_history_shows_both_and_names_the_one_that_holds(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    ibis = stay(client, "Ibis", -2, 3)["memory"]["id"]
    history = client.get(f"/v1/memories/{home}/history").json()
    assert history["current"] == ibis
    assert [v["status"] for v in history["versions"]] == ["covered", "current"]
    why = client.get(f"/v1/memories/{home}/why").json()
    assert "will hold again" in why["summary"]


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (5, [["Ibis"], ["Ibis"], ["Porto"]]),
        (1, [["Ibis"], ["Porto"], ["Porto"]]),
        (None, [["Ibis"], ["Ibis"], ["Ibis"]]),
    ],
)
def test_a_corrected_end_moves_the_return(
    client: httpx.Client, end: int | None, expected: list[list[str]]
) -> None:
    store_home(client, "Porto", -100)
    ibis = stay(client, "Ibis", -2, 3)["memory"]["id"]
    until = None if end is None else day(end)
    assert client.patch(f"/v1/memories/{ibis}", json={"valid_until": until}).status_code == 200
    assert homes(client, 0, 4, 6) == expected


def test_a_stay_that_is_broken_off_returns_the_home_at_once(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    ibis = stay(client, "Ibis", -2, 3)["memory"]["id"]
    client.post(f"/v1/memories/{ibis}/retract", json={"at": day(1)})
    assert homes(client, 0, 1, 2, 4) == [["Ibis"], ["Porto"], ["Porto"], ["Porto"]]


def test_a_stay_that_was_never_true_and_one_that_is_undone_leave_no_trace(
    client: httpx.Client,
) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    ibis = stay(client, "Ibis", -2, 3)
    client.post(f"/v1/memories/{ibis['memory']['id']}/retract", json={"never_true": True})
    assert homes(client, -2, 0, 4) == [["Porto"]] * 3
    hilton = stay(client, "Hilton", -1, 3)
    assert homes(client, 0) == [["Hilton"]]
    assert client.post(f"/v1/log/{hilton['log_id']}/revert", json={}).status_code == 200
    assert homes(client, -2, 0, 4) == [["Porto"]] * 3
    assert client.get(f"/v1/memories/{home}").json()["covered"] == []


def test_a_stay_within_a_stay_returns_to_the_outer_one(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    stay(client, "Ibis", -5, 10)
    stay(client, "Hilton", 0, 3)
    expected = [["Ibis"], ["Hilton"], ["Ibis"], ["Porto"]]
    assert homes(client, -1, 1, 4, 11) == expected


def test_a_move_within_the_stay_ends_home_and_stay(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    ibis = stay(client, "Ibis", -5, 3)["memory"]["id"]
    moved = store_home(client, "Braga", -1)
    assert (moved["operation"], list_ended(moved)) == ("UPDATE", [ibis])
    assert moved["adjusted"] == [home]
    assert homes(client, -6, -3, 0, 4) == [["Porto"], ["Ibis"], ["Braga"], ["Braga"]]


def test_a_move_told_late_is_what_the_stay_returns_to(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    stay(client, "Ibis", -5, 3)
    late = store_home(client, "Braga", -20)
    assert (late["operation"], list_ended(late)) == ("UPDATE", [home])
    assert homes(client, -30, -10, 0, 4) == [["Porto"], ["Braga"], ["Ibis"], ["Braga"]]


def test_a_stay_that_outlasts_the_home_ends_it(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100, valid_until=day(2))["memory"]["id"]
    ibis = stay(client, "Ibis", -1, 5)
    assert (ibis["operation"], list_ended(ibis)) == ("UPDATE", [home])
    assert homes(client, -2, 0, 6) == [["Porto"], ["Ibis"], []]


def test_a_scheduled_stay_covers_when_it_comes(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    stay(client, "Ibis", 5, 8)
    assert homes(client, 0, 6, 9) == [["Porto"], ["Ibis"], ["Porto"]]


def test_saying_again_where_one_lives_after_the_stay_is_known_already(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    stay(client, "Ibis", -9, -3)
    again = store_home(client, "Porto", -1)
    assert (again["operation"], again["memory"]["id"]) == ("NOOP", home)


def test_a_named_successor_ends_for_good(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    body = {"content": "Lives in Braga", "value": "Braga", "valid_until": day(3)}
    answer = client.post(f"/v1/memories/{home}/supersede", json=body).json()
    assert not answer["memory"]["temporary"]
    assert homes(client, 1, 4) == [["Braga"], []]


def test_an_end_that_is_told_later_brings_nothing_back(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    store_home(client, "Braga", -10)
    store_home(client, "Braga", -1, valid_until=day(3))
    assert homes(client, 1, 4) == [["Braga"], []]


@pytest.mark.parametrize(("temporary", "after"), [(True, ["Porto"]), (False, [])])
def test_an_imported_line_covers_if_it_says_so(
    client: httpx.Client, temporary: bool, after: list[str]
) -> None:
    store_home(client, "Porto", -100)
    line = {"content": "Staying at Ibis", "key": "home", "value": "Ibis", "valid_from": day(-2)}
    line |= {"valid_until": day(3), "temporary": temporary}
    headers = {"Content-Type": "application/x-ndjson"}
    assert client.post("/v1/import", json=line, headers=headers).status_code == 200
    assert homes(client, 0, 4) == [["Ibis"], after]


def test_more_stays_than_a_slot_takes_are_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_blocks, "MOST_TEMPORARY", 2)
    store_home(client, "Porto", -100)
    stay(client, "Ibis", -9, -8)
    stay(client, "Hilton", -7, -6)
    fact = {"content": "Staying at Ritz", "key": "home", "value": "Ritz", "valid_from": day(-4)}
    refused = client.post("/v1/memories", json=fact | {"valid_until": day(-3)})
    assert refused.status_code == 422
    assert "a key of its own" in refused.json()["detail"]


@pytest.fixture
def full_slot(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A slot with as many stays in a row as it takes."""
    monkeypatch.setattr(building_blocks, "MOST_TEMPORARY", 2)
    store_home(client, "Porto", -100)
    stay(client, "Ibis", -9, -8)
    stay(client, "Hilton", -7, -6)
    return client


def require_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 422, answer.text
    assert "a key of its own" in answer.json()["detail"]


def test_a_stay_that_ends_another_one_needs_room_too(full_slot: httpx.Client) -> None:
    """It goes on longer than what it follows, which does not resume."""
    fact = {"content": "Staying at Ritz", "key": "home", "value": "Ritz", "valid_from": day(-9)}
    require_refused(full_slot.post("/v1/memories", json=fact | {"valid_until": day(-6)}))


def test_a_stay_cannot_be_moved_to_where_there_is_no_room(full_slot: httpx.Client) -> None:
    store_home(full_slot, "Braga", -5)
    later = f"/v1/memories/{stay(full_slot, 'Ritz', -4, -3)['memory']['id']}"
    require_refused(full_slot.patch(later, json={"valid_from": day(-8)}))
    moved = full_slot.patch(later, json={"valid_from": day(-4), "valid_until": day(3)})
    assert moved.status_code == 200, moved.text


def test_a_stay_of_a_full_slot_can_be_moved_within_it(full_slot: httpx.Client) -> None:
    [ibis] = full_slot.get("/v1/memories", params={"key": "home", "as_of": day(-9)}).json()["items"]
    moved = full_slot.patch(f"/v1/memories/{ibis['id']}", json={"valid_from": day(-10)})
    assert moved.status_code == 200, moved.text
    assert homes(full_slot, -10, -8) == [["Ibis"], ["Porto"]]


def test_an_undo_brings_no_stay_back_where_there_is_no_room(full_slot: httpx.Client) -> None:
    [ibis] = full_slot.get("/v1/memories", params={"key": "home", "as_of": day(-9)}).json()["items"]
    path = f"/v1/memories/{ibis['id']}"
    withdrawn = full_slot.post(f"{path}/retract", json={"never_true": True}).json()
    stay(full_slot, "Ritz", -4, -3)
    require_refused(full_slot.post(f"/v1/log/{withdrawn['log_id']}/revert"))


def test_stays_on_both_sides_of_a_home_that_was_never_true_are_all_read(
    full_slot: httpx.Client, database_url: str
) -> None:
    """There are more than a slot takes then, and no further one is taken."""
    braga = store_home(full_slot, "Braga", -5)["memory"]["id"]
    stay(full_slot, "Ritz", -4, -3)
    retracted = full_slot.post(f"/v1/memories/{braga}/retract", json={"never_true": True})
    assert retracted.status_code == 200, retracted.text
    expected = [["Ibis"], ["Porto"], ["Hilton"], ["Porto"], ["Ritz"], ["Porto"]]
    assert homes(full_slot, -9, -8, -7, -6, -4, -3) == expected
    assert_healthy(database_url)


def test_the_doctor_and_the_export_know_covers(client: httpx.Client, database_url: str) -> None:
    store_home(client, "Porto", -100)
    stay(client, "Ibis", -5, 10)
    stay(client, "Hilton", 0, 3)
    assert_healthy(database_url)
    lines = client.get("/v1/export").text
    headers = {"Content-Type": "application/x-ndjson", "X-Agent-Id": "somebody-else"}
    assert client.post("/v1/import", content=lines, headers=headers).status_code == 200
    client.headers["X-Agent-Id"] = "somebody-else"
    assert homes(client, -1, 1, 4, 11) == [["Ibis"], ["Hilton"], ["Ibis"], ["Porto"]]
    assert_healthy(database_url)


def test_a_stay_in_plain_words_covers_the_home_that_it_changes(client: httpx.Client) -> None:
    """Without a key: the home is what the judge says that the stay replaces."""
    home = send(client, {"content": "My editor is Vim", "valid_from": day(-100)})["memory"]["id"]
    said = {"content": "My editor is Emacs", "valid_from": day(-1), "valid_until": day(3)}
    answer = send(client, said)
    assert answer["adjusted"] == [home]
    assert contents(client) == {"My editor is Emacs"}
    assert contents(client, as_of=day(4)) == {"My editor is Vim"}


@pytest.mark.parametrize(
    ("lasting", "temporary"),
    [
        ("I live in Porto", "I'm staying at the Ibis until {end}"),
        ("I live in Porto", "We're at the Ibis in Lisbon until {end}"),
        ("I live in Porto", "I'm living in Lisbon until {end}"),
        ("I work at Acme", "I'm working at Globex until {end}"),
        ("My boss is Anna", "My boss is Ben until {end}"),
    ],
)
def test_plain_words_with_an_end_cover_until_then(
    client: httpx.Client, lasting: str, temporary: str
) -> None:
    send(client, {"content": lasting, "valid_from": day(-100)})
    words = temporary.format(end=day(3)[:10])
    covering = send(client, {"content": words, "said_at": day(-2)})

    assert (covering["operation"], len(covering["adjusted"])) == ("ADD", 1)
    held = [contents(client, as_of=day(number)) for number in (-3, 0, 3)]
    assert held == [{lasting}, {words}, {lasting}]


def test_a_move_during_a_stay_ends_the_stay_and_the_home(client: httpx.Client) -> None:
    send(client, {"content": "I live in Porto", "valid_from": day(-100)})
    send(client, {"content": f"I'm staying at the Ibis until {day(3)[:10]}", "said_at": day(-2)})
    send(client, {"content": "I moved to Braga", "said_at": day(-1)})

    held = [contents(client, as_of=day(number)) for number in (-3, 0, 3)]
    assert held == [{"I live in Porto"}, {"I moved to Braga"}, {"I moved to Braga"}]


def test_the_hours_of_a_visit_cover_no_home(client: httpx.Client) -> None:
    send(client, {"content": "I live in Porto", "valid_from": day(-100)})
    visit = send(client, {"content": "I'm in Lisbon until 6 pm", "said_at": day(0)})

    assert visit["adjusted"] == []


# --- a stay that waited for a person -------------------------------------------------------------


def propose_stay(client: httpx.Client, place: str, start: int, end: int) -> dict[str, Any]:
    """A stay of lower trust than the home is stored apart, and a review waits."""
    content = f"Staying at {place}"
    answer = store_home(client, place, start, content=content, valid_until=day(end), trust=30)
    assert answer["review_id"], "lower trust does not cover by itself"
    return answer


def accept(client: httpx.Client, proposed: dict[str, Any]) -> dict[str, Any]:
    response = client.post(f"/v1/reviews/{proposed['review_id']}/accept", json={})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_an_accepted_stay_covers_the_home(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)
    ibis = propose_stay(client, "Ibis", -2, 3)
    review = client.get(f"/v1/reviews/{ibis['review_id']}").json()
    assert "for a while" in review["sentence"]
    accepted = accept(client, ibis)
    assert (accepted["operation"], list_ended(accepted)) == ("AMEND", [])
    assert accepted["adjusted"] == [home["memory"]["id"]]
    assert accepted["memory"]["id"] == ibis["memory"]["id"]
    assert accepted["memory"]["chain_id"] == home["memory"]["chain_id"]
    assert homes(client, -3, -2, 2, 3, 400) == [["Porto"], ["Ibis"], ["Ibis"], ["Porto"], ["Porto"]]
    assert_agent_healthy(client)


def test_before_the_acceptance_was_known_both_stood_apart(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]
    ibis = propose_stay(client, "Ibis", -2, 3)
    accept(client, ibis)
    known_at = {"known_at": ibis["known_at"]}
    for memory in (home, ibis["memory"]):
        then = client.get(f"/v1/memories/{memory['id']}/history", params=known_at).json()
        assert then["chain_id"] == memory["id"]
        assert [(v["id"], v["chain_id"]) for v in then["versions"]] == [(memory["id"],) * 2]
        now = client.get(f"/v1/memories/{memory['id']}/history").json()
        assert now["chain_id"] == home["id"]
        assert [version["id"] for version in now["versions"]] == [home["id"], ibis["memory"]["id"]]


def test_the_return_follows_the_end_of_an_accepted_stay(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    ibis = propose_stay(client, "Ibis", -2, 3)
    accept(client, ibis)
    path = f"/v1/memories/{ibis['memory']['id']}"
    assert client.patch(path, json={"valid_until": day(6)}).status_code == 200
    assert homes(client, 0, 5, 7) == [["Ibis"], ["Ibis"], ["Porto"]]
    assert client.post(f"{path}/retract", json={"at": day(2)}).status_code == 200
    assert homes(client, 0, 3, 7) == [["Ibis"], ["Porto"], ["Porto"]]
    assert_agent_healthy(client)


def test_undoing_an_acceptance_takes_the_stay_out_of_the_chain(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100)["memory"]["id"]
    ibis = propose_stay(client, "Ibis", -2, 3)
    accepted = accept(client, ibis)
    undone = client.post(f"/v1/log/{accepted['log_id']}/revert", json={}).json()
    stay_id = ibis["memory"]["id"]
    assert client.get(f"/v1/memories/{stay_id}").json()["chain_id"] == stay_id
    assert client.get(f"/v1/memories/{home}").json()["covered"] == []
    assert homes(client, 4) == [["Porto"]]
    again = client.post(f"/v1/log/{undone['log_id']}/revert", json={})
    assert again.status_code == 200, again.text
    assert client.get(f"/v1/memories/{stay_id}").json()["chain_id"] == home
    assert homes(client, 0, 4) == [["Ibis"], ["Porto"]]
    assert_agent_healthy(client)


def test_what_was_built_on_an_acceptance_is_undone_with_it(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    accepted = accept(client, propose_stay(client, "Ibis", -5, 10))
    stay(client, "Hilton", 0, 3)
    assert homes(client, 1, 4, 11) == [["Hilton"], ["Ibis"], ["Porto"]]
    path = f"/v1/log/{accepted['log_id']}/revert"
    assert client.post(path, json={}).status_code == 409
    assert client.post(path, json={"cascade": True}).status_code == 200
    assert [sorted(held) for held in homes(client, 1, 11)] == [["Ibis", "Porto"], ["Porto"]]
    assert_agent_healthy(client)


def test_an_accepted_stay_that_outlasts_the_home_ends_it(client: httpx.Client) -> None:
    home = store_home(client, "Porto", -100, valid_until=day(2))["memory"]["id"]
    accepted = accept(client, propose_stay(client, "Ibis", -1, 5))
    assert (accepted["operation"], list_ended(accepted)) == ("SUPERSEDE", [home])
    assert homes(client, -2, 0, 6) == [["Porto"], ["Ibis"], []]
    assert_agent_healthy(client)


def test_an_accepted_stay_survives_export_and_import(client: httpx.Client) -> None:
    store_home(client, "Porto", -100)
    accept(client, propose_stay(client, "Ibis", -2, 3))
    lines = client.get("/v1/export").content
    headers = {"X-Agent-Id": f"test-{uuid4().hex}"}
    with httpx.Client(base_url=client.base_url, headers=headers) as other:
        kind = {"content-type": "application/x-ndjson"}
        assert other.post("/v1/import", content=lines, headers=kind).is_success
        assert homes(other, 0, 4) == homes(client, 0, 4) == [["Ibis"], ["Porto"]]
        assert_agent_healthy(other)


def test_a_captured_stay_covers_once_it_is_accepted(client: httpx.Client) -> None:
    send(client, {"content": "I live in Porto"})
    message = {"role": "user", "content": "I'm staying at the Ibis until Friday."}
    answer = client.post("/v1/messages", json={"session_id": "s", "messages": [message]}).json()
    [fact] = answer["messages"][0]["facts"]
    if fact["review_id"]:
        accept(client, fact)
    assert contents(client, as_of=day(30)) == {"I live in Porto"}
