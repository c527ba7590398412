"""Dates in words, over HTTP: what they set, what they end, and what answers say of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.settings import InvalidSettings, load_settings
from support.builders import contents, list_ended, problem, send, store
from support.messages import capture
from support.service import running


def month_start(months_ago: int) -> str:
    """The first instant of a month that lies so many months back, as answers give it."""
    day = datetime.now(UTC).replace(day=1)
    for _ in range(months_ago):
        day = (day - timedelta(days=1)).replace(day=1)
    return f"{day:%Y-%m-%d}T00:00:00.000000Z"


def get_memory(client: httpx.Client, memory_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/v1/memories/{memory_id}").raise_for_status().json()
    return answer


def read_context(client: httpx.Client) -> str:
    headers = {"Accept": "text/plain"}
    return client.get("/v1/context", headers=headers).raise_for_status().text


# --- what words set ------------------------------------------------------------------------------


def test_words_say_since_when_a_fact_holds_and_the_answer_names_them(client: httpx.Client) -> None:
    memory = store(client, "I moved to Lisbon last month")["memory"]
    assert memory["valid_from"] == month_start(1)
    assert memory["valid_until"] is None
    assert memory["dated_by"] == {
        "text": "last month",
        "span": [18, 28],
        "from": month_start(1),
        "until": None,
        "precision": "month",
    }
    assert memory["said_at"] == memory["created_at"]
    assert get_memory(client, memory["id"]) | {"strength": 0} == memory | {"strength": 0}


def test_relative_dates_count_from_when_the_words_were_spoken(client: httpx.Client) -> None:
    said_at = "2025-03-10T12:00:00Z"
    memory = store(client, "I moved to Lisbon last month", said_at=said_at)["memory"]
    assert memory["said_at"] == "2025-03-10T12:00:00.000000Z"
    assert memory["valid_from"] == "2025-02-01T00:00:00.000000Z"


def test_a_fact_without_a_date_holds_from_when_it_was_said(client: httpx.Client) -> None:
    memory = store(client, "I live in Porto", said_at="2025-03")["memory"]
    assert memory["valid_from"] == memory["said_at"] == "2025-03-01T00:00:00.000000Z"
    assert memory["dated_by"] is None


def test_what_is_said_later_changes_what_was_said_before_whatever_came_first(
    client: httpx.Client,
) -> None:
    lisbon = store(client, "I live in Lisbon", said_at="2025-06-01", key="home", value="Lisbon")
    store(client, "I live in Porto", said_at="2025-03-01", key="home", value="Porto")
    assert contents(client) == {"I live in Lisbon"}
    assert contents(client, asOf="2025-04") == {"I live in Porto"}
    assert get_memory(client, lisbon["memory"]["id"])["valid_from"].startswith("2025-06-01")


def test_words_spoken_in_the_future_are_refused(client: httpx.Client) -> None:
    body = {"content": "I live in Porto", "said_at": "2999"}
    assert "said_at" in problem(client.post("/v1/memories", json=body), 422)["detail"]


def test_what_the_caller_gives_stays(client: httpx.Client) -> None:
    content = "I worked at Acme from 2015 to 2018"
    memory = store(client, content, valid_from="2016-05-01")["memory"]
    assert memory["valid_from"] == "2016-05-01T00:00:00.000000Z"
    assert memory["valid_until"] == "2018-01-01T00:00:00.000000Z"
    assert memory["dated_by"]["from"] is None
    both = store(client, "I lived in Rome from 2015 to 2018", valid_from=2010, valid_until=2011)
    assert both["memory"]["valid_until"] == "2011-01-01T00:00:00.000000Z"
    assert both["memory"]["dated_by"] is None


def test_a_found_end_before_the_start_that_the_caller_gave_is_dropped(client: httpx.Client) -> None:
    memory = store(client, "I lived in Rome from 2015 to 2018", valid_from=2020)["memory"]
    assert memory["valid_until"] is None
    assert memory["dated_by"] is None


@pytest.mark.parametrize("more", [{"read_dates": False}, {"classify": False}, {"classify": "off"}])
def test_a_caller_may_have_no_dates_read(client: httpx.Client, more: dict[str, Any]) -> None:
    memory = store(client, "I moved to Lisbon last month", **more)["memory"]
    assert memory["dated_by"] is None
    assert memory["valid_from"] == memory["created_at"]


def test_dates_may_be_read_of_a_fact_that_is_compared_with_nothing(client: httpx.Client) -> None:
    more = {"classify": False, "read_dates": True}
    assert store(client, "I moved to Lisbon last month", **more)["memory"]["dated_by"]


def test_each_item_of_a_batch_has_its_own_time(client: httpx.Client) -> None:
    items = [
        {"content": "I moved to Lisbon last month", "said_at": "2025-03-10"},
        {"content": "I started a new job last month", "said_at": "2025-06-10"},
        {"content": "My sister moved to Faro last month", "read_dates": False},
    ]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    starts = [result["memory"]["valid_from"][:7] for result in results]
    assert starts[:2] == ["2025-02", "2025-05"]
    assert results[2]["memory"]["dated_by"] is None


def test_a_dry_run_shows_the_dates(client: httpx.Client) -> None:
    memory = store(client, "I moved to Lisbon last month", dry_run=True)["memory"]
    assert memory["dated_by"]["text"] == "last month"


def test_an_import_reads_no_dates(client: httpx.Client) -> None:
    line = '{"content": "I moved to Lisbon last month", "said_at": "2025-03-10"}\n'
    headers = {"Content-Type": "application/x-ndjson"}
    client.post("/v1/import", content=line, headers=headers).raise_for_status()
    [memory] = client.get("/v1/memories").json()["items"]
    assert memory["dated_by"] is None
    assert memory["valid_from"] == memory["said_at"] == "2025-03-10T00:00:00.000000Z"


def test_words_that_may_or_may_not_date_a_fact_are_named_in_a_hint(client: httpx.Client) -> None:
    answer = store(client, "They painted the fence until March")
    [hint] = [hint for hint in answer["hints"] if hint["name"] == "date_left_open"]
    assert hint["sentence"].startswith("“until March” may say when this holds")
    assert answer["memory"]["dated_by"] is None


# --- time zones ----------------------------------------------------------------------------------


def set_timezone(client: httpx.Client, timezone: str | None) -> dict[str, Any]:
    path = f"/v1/agents/{client.headers['X-Agent-Id']}"
    answer: dict[str, Any] = (
        client.patch(path, json={"timezone": timezone}).raise_for_status().json()
    )
    assert answer["timezone"] == timezone
    return answer


def test_dates_are_read_in_the_time_zone_of_the_agent(client: httpx.Client) -> None:
    set_timezone(client, "America/New_York")
    said_at = "2025-03-01T02:00:00Z"  # in New York, the evening of 28 February
    memory = store(client, "I moved to Lisbon last month", said_at=said_at)["memory"]
    assert memory["valid_from"] == "2025-01-01T05:00:00.000000Z"
    set_timezone(client, None)
    memory = store(client, "My sister moved to Faro last month", said_at=said_at)["memory"]
    assert memory["valid_from"] == "2025-02-01T00:00:00.000000Z"


OFFSETS = [
    ("I started the new job yesterday", "2026-06-13T00:30:00+08:00", "2026-06-11T16:00:00"),
    ("I became team lead this month", "2026-04-01T06:00:00+09:00", "2026-03-31T15:00:00"),
    ("I moved to Lima yesterday", "2026-05-02T21:00:00-05:00", "2026-05-01T05:00:00"),
    ("I moved to Lima yesterday", "2026-05-03T02:00:00Z", "2026-05-02T00:00:00"),
]


@pytest.mark.parametrize(("content", "said_at", "start"), OFFSETS)
def test_a_day_begins_at_the_midnight_of_who_spoke(
    client: httpx.Client, content: str, said_at: str, start: str
) -> None:
    memory = store(client, content, said_at=said_at)["memory"]
    assert memory["valid_from"] == f"{start}.000000Z"
    assert memory["said_at"].endswith("Z")


@pytest.mark.parametrize(
    ("at", "start"),
    [
        ("2026-06-13T00:30:00+08:00", "2026-06-11T16:00:00"),
        ("2026-06-12T21:00:00-05:00", "2026-06-11T05:00:00"),
        ("2026-06-13T00:30:00+05:45", "2026-06-11T18:15:00"),
        ("2026-06-13T02:00:00Z", "2026-06-12T00:00:00"),
    ],
)
def test_a_day_begins_at_the_midnight_of_who_wrote_the_message(
    client: httpx.Client, at: str, start: str
) -> None:
    message = {"role": "user", "content": "I moved to Lima yesterday", "at": at}
    capture(client, [message])
    [memory] = client.get("/v1/memories", params={"as_of": "2026-07"}).json()["items"]
    assert memory["valid_from"] == f"{start}.000000Z"


def test_the_zone_of_the_agent_comes_before_the_offset_of_a_call(client: httpx.Client) -> None:
    set_timezone(client, "America/New_York")
    memory = store(client, "I moved to Lima yesterday", said_at="2026-06-13T00:30:00+08:00")[
        "memory"
    ]
    assert memory["valid_from"] == "2026-06-11T04:00:00.000000Z"


def test_new_content_is_dated_by_the_midnight_of_who_spoke(client: httpx.Client) -> None:
    old = store(client, "I live in Porto", said_at="2026-01-01")["memory"]["id"]
    body = {"content": "I moved to Lima yesterday", "said_at": "2026-06-13T00:30:00+08:00"}
    answer = client.post(f"/v1/memories/{old}/supersede", json=body).raise_for_status().json()
    assert answer["memory"]["valid_from"] == "2026-06-11T16:00:00.000000Z"


def test_a_time_zone_and_a_mode_change_without_each_other(client: httpx.Client) -> None:
    path = f"/v1/agents/{client.headers['X-Agent-Id']}"
    set_timezone(client, "Europe/Lisbon")
    assert client.patch(path, json={"mode": "shadow"}).json()["timezone"] == "Europe/Lisbon"
    assert set_timezone(client, None)["mode"] == "shadow"
    assert client.get(path).json()["mode"] == "shadow"


@pytest.mark.parametrize(
    "body", [{"timezone": "Lisbon"}, {"timezone": "../etc"}, {"timezone": ""}, {}]
)
def test_a_time_zone_that_is_none_is_refused(client: httpx.Client, body: dict[str, Any]) -> None:
    problem(client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json=body), 422)


# --- what dated facts end ------------------------------------------------------------------------


@pytest.mark.parametrize("slot", [{}, {"key": "home"}])
def test_a_dated_change_ends_what_was_only_told_after_that_date(
    client: httpx.Client, slot: dict[str, Any]
) -> None:
    porto = store(client, "I live in Porto", **slot)["memory"]
    answer = store(client, "I moved to Lisbon last month", **slot)
    assert answer["operation"] == "UPDATE"
    assert list_ended(answer) == [porto["id"]]
    assert answer["memory"]["valid_from"] == month_start(1)
    assert contents(client) == {"I moved to Lisbon last month"}
    ended = get_memory(client, porto["id"])
    assert (ended["status"], ended["valid_until"]) == ("superseded", month_start(1))
    client.post(f"/v1/log/{answer['log_id']}/revert", json={}).raise_for_status()
    restored = get_memory(client, porto["id"])
    assert (restored["status"], restored["valid_from"]) == ("current", porto["valid_from"])


def test_a_start_that_was_given_stands_against_a_dated_change_before_it(
    client: httpx.Client,
) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    store(client, "I live in Porto", key="home", valid_from=yesterday)
    answer = store(client, "I moved to Lisbon last month", key="home")
    assert list_ended(answer) == []
    assert contents(client) == {"I live in Porto"}


def test_the_past_ends_nothing_that_holds(client: httpx.Client) -> None:
    store(client, "I live in Lisbon")
    episode = store(client, "I lived in Bristol from 2015 to 2018")
    assert (episode["operation"], list_ended(episode)) == ("ADD", [])
    memory = episode["memory"]
    assert (memory["valid_from"][:4], memory["valid_until"][:4]) == ("2015", "2018")
    assert (memory["status"], contents(client)) == ("expired", {"I live in Lisbon"})
    assert contents(client, asOf=2016) == {"I lived in Bristol from 2015 to 2018"}
    again = store(client, "I lived in Bristol from 2015 to 2018")
    assert (again["operation"], again["memory"]["id"]) == ("NOOP", memory["id"])


def test_the_past_ends_nothing_that_holds_in_a_slot(client: httpx.Client) -> None:
    lisbon = store(client, "I live in Lisbon", key="home", value="Lisbon", valid_from=2010)
    past = store(client, "I lived in Bristol from 2015 to 2018", key="home", value="Bristol")
    assert (past["operation"], list_ended(past)) == ("ADD", [])
    assert past["adjusted"] == [lisbon["memory"]["id"]]
    again = store(client, "I lived in Bristol from 2015 to 2018", key="home", value="Bristol")
    assert (again["operation"], again["memory"]["id"]) == ("NOOP", past["memory"]["id"])
    same = store(client, "I lived in Lisbon from 2019 to 2021", key="home", value="Lisbon")
    assert (same["operation"], same["memory"]["id"]) == ("NOOP", lisbon["memory"]["id"])
    assert contents(client) == {"I live in Lisbon"}
    assert contents(client, asOf=2016) == {"I lived in Bristol from 2015 to 2018"}


def test_a_past_end_without_a_start_is_no_present(client: httpx.Client) -> None:
    memory = store(client, "I lived in Bristol until 2018")["memory"]
    assert (memory["status"], memory["valid_until"][:4]) == ("expired", "2018")
    assert contents(client) == set()


def test_a_length_in_the_past_ends_nothing(client: httpx.Client) -> None:
    store(client, "I work nights", key="shift", value="nights")
    store(client, "I worked days for two years", key="shift", value="days")
    assert "I work nights" in contents(client)


def test_new_content_by_hand_is_dated_too(client: httpx.Client) -> None:
    porto = store(client, "I live in Porto")["memory"]
    body = {"content": "I moved to Lisbon last month"}
    answer = client.post(f"/v1/memories/{porto['id']}/supersede", json=body).json()
    assert answer["memory"]["valid_from"] == month_start(1)
    assert get_memory(client, porto["id"])["status"] == "superseded"
    undated = {"content": "I moved to Faro last week", "read_dates": False}
    path = f"/v1/memories/{answer['memory']['id']}/supersede"
    assert client.post(path, json=undated).json()["memory"]["dated_by"] is None


def test_a_change_that_a_person_accepts_ends_what_was_only_told_after_its_date(
    client: httpx.Client,
) -> None:
    store(client, "I live in Porto", key="home")
    client.patch(
        f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"}
    ).raise_for_status()
    review = store(client, "I moved to Lisbon last month", key="home")["review_id"]
    client.post(f"/v1/reviews/{review}/accept", json={}).raise_for_status()
    assert contents(client) == {"I moved to Lisbon last month"}


def test_a_store_that_waited_keeps_the_dates_it_was_sent_with(client: httpx.Client) -> None:
    path = f"/v1/agents/{client.headers['X-Agent-Id']}"
    client.patch(path, json={"mode": "frozen"}).raise_for_status()
    said = {"content": "I moved to Lisbon last month", "said_at": "2025-03-10"}
    review = send(client, said)["review_id"]
    client.patch(path, json={"mode": "live"}).raise_for_status()
    answer = client.post(f"/v1/reviews/{review}/accept", json={}).raise_for_status().json()
    memory = get_memory(client, answer["memory"]["id"])
    assert memory["valid_from"] == "2025-02-01T00:00:00.000000Z"
    assert memory["dated_by"]["text"] == "last month"
    assert memory["said_at"] == "2025-03-10T00:00:00.000000Z"


# --- what reads say ------------------------------------------------------------------------------


def test_a_context_says_since_only_of_what_was_dated(client: httpx.Client) -> None:
    store(client, "I moved to Lisbon last month")
    store(client, "Has a dog")
    store(client, "Plays the cello", valid_from="2020-05-05")
    store(client, "Likes tea", said_at="2025-03-10")
    text = read_context(client)
    assert f"I moved to Lisbon last month (since {month_start(1)[:10]})" in text
    assert f"Has a dog (told {datetime.now(UTC):%Y-%m-%d})" in text
    assert "Plays the cello (since 2020-05-05)" in text
    assert "Likes tea (told 2025-03-10)" in text


def test_a_search_says_since_only_of_what_was_dated(client: httpx.Client) -> None:
    store(client, "I moved to Lisbon last month")
    store(client, "Has a dog")
    results = client.get("/v1/search", params={"q": "dog"}).json()["results"]
    why = {result["memory"]["content"]: result["why"] for result in results}
    assert why["I moved to Lisbon last month"].startswith(f"current: since {month_start(1)[:10]}")
    assert why["Has a dog"].startswith("current: told ")


def test_a_corrected_start_counts_as_given(client: httpx.Client) -> None:
    memory = store(client, "Has a dog")["memory"]
    client.patch(f"/v1/memories/{memory['id']}", json={"valid_from": 2021}).raise_for_status()
    assert "Has a dog (since 2021-01-01)" in read_context(client)


def test_an_erased_memory_keeps_no_words_that_dated_it(client: httpx.Client) -> None:
    memory = store(client, "I moved to Lisbon last month", said_at="2025-03-10")["memory"]
    client.delete(f"/v1/memories/{memory['id']}", params={"erase": True}).raise_for_status()
    erased = get_memory(client, memory["id"])
    assert (erased["dated_by"], erased["said_at"]) == (None, memory["said_at"])
    assert "last month" not in client.get("/v1/log").text


def test_an_export_carries_the_dates_to_another_agent(client: httpx.Client) -> None:
    set_timezone(client, "Europe/Lisbon")
    store(client, "I moved to Lisbon last month", said_at="2025-03-10")
    [memory] = client.get("/v1/memories").json()["items"]
    lines = client.get("/v1/export").content
    client.headers["X-Agent-Id"] += "-copy"
    headers = {"Content-Type": "application/x-ndjson"}
    client.post("/v1/import", content=lines, headers=headers).raise_for_status()
    [copy] = client.get("/v1/memories").json()["items"]
    assert copy | {"strength": 0} == memory | {"strength": 0}
    path = f"/v1/agents/{client.headers['X-Agent-Id']}"
    assert client.get(path).json()["timezone"] == "Europe/Lisbon"


def test_a_year_or_a_month_is_a_date_in_reads_too(client: httpx.Client) -> None:
    store(client, "Has a dog", valid_from="2024-06", valid_until=2025)
    assert contents(client, asOf="2024") == set()
    assert contents(client, asOf="2024-07") == {"Has a dog"}
    refused = problem(client.get("/v1/memories", params={"asOf": "1767607200000"}), 422)
    assert "milliseconds" in refused["detail"]
    refused = problem(client.get("/v1/memories", params={"asOf": "20250105"}), 422)
    assert "no year" in refused["detail"]


# --- settings ------------------------------------------------------------------------------------


def test_the_settings_may_turn_dates_off_or_choose_their_time_zone(database_url: str) -> None:
    said = {"content": "I moved to Lisbon last month", "said_at": "2025-03-01T02:00:00Z"}
    with (
        running(load_settings(database_url=database_url, timezone="America/New_York")) as address,
        httpx.Client(base_url=address) as client,
    ):
        assert send(client, said)["memory"]["valid_from"] == "2025-01-01T05:00:00.000000Z"
    with (
        running(load_settings(database_url=database_url, read_dates=False)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "another"}) as client,
    ):
        memory = send(client, {**said, "read_dates": True})["memory"]
        assert (memory["dated_by"], memory["valid_from"]) == (None, memory["said_at"])


def test_a_time_zone_that_is_none_stops_the_start() -> None:
    with pytest.raises(InvalidSettings, match="PALIMPSEST_TIMEZONE"):
        load_settings(timezone="Lisbon")


def test_who_names_the_same_end_in_other_words_repeats_a_fact(client: httpx.Client) -> None:
    start = {"valid_from": "2025-01-03"}
    stored = {"content": "Joe Wilson's current term ends on 2027-01-03.", "classify": False}
    send(client, stored | start)
    repeated = send(client, {"content": "Joe Wilson is in office until 2027-01-03."} | start)

    assert repeated["operation"] == "NOOP"
