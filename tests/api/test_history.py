"""The history of a memory is one line, whichever way its versions took each other's place."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.builders import decide, editor, mode, problem, send, store
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.sweeps import Place

Json = dict[str, Any]

EDITORS = (("Vim", 2018), ("Emacs", 2020), ("Helix", 2022))


def read_history(client: httpx.Client, memory_id: str, **query: Any) -> Json:
    response = client.get(f"/v1/memories/{memory_id}/history", params=query)
    assert response.status_code == 200, response.text
    history: Json = response.json()
    return history


def tell(client: httpx.Client, text: str, year: int, **said: Any) -> str:
    """Store a fact in a chain of its own, and return its id."""
    told = {"classify": "off", "valid_from": f"{year}-01-01"} | said
    memory_id: str = store(client, text, **told)["memory"]["id"]
    return memory_id


def succeed(client: httpx.Client, old: str, by: str) -> Json:
    response = client.post(f"/v1/memories/{old}/supersede", json={"by": by})
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


def list_contents(history: Json) -> list[str]:
    return [version["content"] for version in history["versions"]]


def list_joints(history: Json) -> list[tuple[str, str]]:
    return [(joint["superseded"], joint["by"]) for joint in history["joints"]]


def tell_editors(client: httpx.Client) -> list[str]:
    return [tell(client, f"Edits texts with {name}", year) for name, year in EDITORS]


# --- ways to take a place ----------------------------------------------------------------------


def by_slot(client: httpx.Client) -> list[str]:
    facts = [editor(name, valid_from=f"{year}-01-01") for name, year in EDITORS]
    return [send(client, fact)["memory"]["id"] for fact in facts]


def by_id(client: httpx.Client) -> list[str]:
    ids = tell_editors(client)
    for old, by in pairwise(ids):
        succeed(client, old, by)
    return ids


def by_id_from_the_last(client: httpx.Client) -> list[str]:
    ids = tell_editors(client)
    for old, by in reversed([*pairwise(ids)]):
        succeed(client, old, by)
    return ids


def by_review(client: httpx.Client) -> list[str]:
    mode(client, "shadow")
    ids = []
    for name, year in EDITORS:
        answer = send(client, editor(name, valid_from=f"{year}-01-01"))
        ids.append(answer["memory"]["id"])
        if answer["review_id"]:
            decide(client, answer["review_id"], "accept")
    return ids


def by_id_and_then_by_content(client: httpx.Client) -> list[str]:
    vim, emacs, _ = tell_editors(client)
    succeed(client, vim, emacs)
    by = client.post(
        f"/v1/memories/{emacs}/supersede",
        json={"content": "Edits texts with Helix", "valid_from": "2022-01-01"},
    )
    return [vim, emacs, by.json()["memory"]["id"]]


def assert_one_line(client: httpx.Client, ids: list[str]) -> None:
    histories = [read_history(client, memory_id) for memory_id in ids]
    for history in histories:
        versions = history["versions"]
        assert [version["id"] for version in versions] == ids
        assert [version["status"] for version in versions] == [
            *["superseded"] * (len(ids) - 1),
            "current",
        ]
        assert history["current"] == ids[-1]
        assert list_joints(history) == [
            (old["id"], new["id"])
            for old, new in pairwise(versions)
            if old["chain_id"] != new["chain_id"]
        ]
        assert history["operations"] == histories[0]["operations"]


@pytest.mark.parametrize(
    ("take_places", "joints"),
    [
        (by_slot, 0),
        (by_id, 2),
        (by_id_from_the_last, 2),
        (by_review, 2),
        (by_id_and_then_by_content, 1),
    ],
)
def test_a_history_is_the_same_line_from_each_of_its_versions(
    client: httpx.Client, take_places: Callable[[httpx.Client], list[str]], joints: int
) -> None:
    ids = take_places(client)
    assert_one_line(client, ids)
    assert len(read_history(client, ids[0])["joints"]) == joints


def test_what_a_sweep_put_in_order_is_one_line(database_url: str) -> None:
    settings = load_settings(database_url=database_url)
    with (
        running(settings) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        place = Place(database_url, client)
        ids = [place.editor(name, valid_from=f"{year}-01-01") for name, year in EDITORS]
        place.sweep()
        assert_one_line(client, ids)


def test_a_merge_is_shown_from_both_of_its_sources(database_url: str) -> None:
    with (
        ScriptedModel(every("COMPLEMENT")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, "The Falcon app was written by Anna", valid_from="2024-01-01")
        merged = store(client, "The Falcon app has 12000 users")["memory"]
        for source in merged["merged_from"]:
            history = read_history(client, source)
            assert history["current"] == merged["id"]
            assert {source, merged["id"]} <= {version["id"] for version in history["versions"]}
        first, second = merged["merged_from"]
        whole = read_history(client, merged["id"])
        assert {v["id"] for v in whole["versions"]} == {first, second, merged["id"]}
        assert list_joints(whole) == [(second, merged["id"])]


# --- which way a line goes -----------------------------------------------------------------------


def test_what_one_fact_ended_together_leads_to_it_and_not_to_each_other(
    client: httpx.Client,
) -> None:
    pets = [tell(client, f"User has a {pet}", 2020 + n) for n, pet in enumerate(("cat", "dog"))]
    answer = store(client, "User has no pets", supersedes=pets, valid_from="2024-01-01")
    none = answer["memory"]["id"]
    cat, dog = (read_history(client, pet) for pet in pets)
    assert list_contents(cat) == ["User has a cat", "User has a dog", "User has no pets"]
    assert list_contents(dog) == ["User has a dog", "User has no pets"]
    assert cat["current"] == dog["current"] == none
    assert list_joints(dog) == [(pets[1], none)]
    later = store(client, "User has a hamster", supersedes=[none], valid_from="2025-01-01")
    assert read_history(client, pets[1])["current"] == later["memory"]["id"]


def test_a_line_begins_with_what_led_to_it_in_another_chain(client: httpx.Client) -> None:
    """Only up to the joint: what came later in the other chain is another line."""
    flat, house, boat = (tell(client, f"Lives in a {home}", y) for home, y in HOMES)
    succeed(client, flat, house)
    houseboat = client.post(
        f"/v1/memories/{boat}/supersede",
        json={"content": "Lives in a houseboat", "valid_from": "2026-01-01"},
    ).json()["memory"]["id"]
    assert list_contents(read_history(client, house)) == ["Lives in a flat", "Lives in a house"]
    succeed(client, house, houseboat)
    whole = ["flat", "house", "boat", "houseboat"]
    assert list_contents(read_history(client, houseboat)) == [f"Lives in a {h}" for h in whole]
    assert list_contents(read_history(client, flat)) == [
        f"Lives in a {h}" for h in ("flat", "house", "houseboat")
    ]


HOMES = (("flat", 2018), ("house", 2020), ("boat", 2022))


def test_an_end_that_is_undone_parts_the_line_again(client: httpx.Client) -> None:
    vim, emacs, _ = tell_editors(client)
    log_id = succeed(client, vim, emacs)["log_id"]
    client.post(f"/v1/log/{log_id}/revert").raise_for_status()
    history = read_history(client, vim)
    assert (list_contents(history), history["current"]) == (["Edits texts with Vim"], vim)
    assert history["joints"] == []


# --- both axes of time -----------------------------------------------------------------------


def test_a_line_is_shown_as_it_was_known(client: httpx.Client) -> None:
    ids = tell_editors(client)
    before = read_history(client, ids[0])["known_at"]
    known_at = [before] + [succeed(client, old, by)["known_at"] for old, by in pairwise(ids)]
    for place, known in enumerate(known_at):
        history = read_history(client, ids[0], known_at=known)
        assert [version["id"] for version in history["versions"]] == ids[: place + 1]
        assert history["current"] == ids[place]
        assert len(history["joints"]) == place
    now = read_history(client, ids[2])
    assert read_history(client, ids[2], known_at=known_at[-1])["versions"] == now["versions"]


@pytest.mark.parametrize(
    ("as_of", "current"), [("2019", 0), ("2021", 1), ("2023", 2), ("2017", None)]
)
def test_what_held_at_a_moment_is_named_from_the_first_version(
    client: httpx.Client, as_of: str, current: int | None
) -> None:
    ids = by_id(client)
    history = read_history(client, ids[0], as_of=f"{as_of}-06-01")
    assert history["current"] == (None if current is None else ids[current])


def test_nothing_is_current_once_the_last_version_has_ended(client: httpx.Client) -> None:
    ids = by_id(client)
    client.post(f"/v1/memories/{ids[-1]}/retract", json={}).raise_for_status()
    for memory_id in ids:
        assert read_history(client, memory_id)["current"] is None


# --- long lines and other agents -----------------------------------------------------------------


@pytest.mark.slow
def test_a_long_line_is_read_page_by_page_in_one_picture(client: httpx.Client) -> None:
    years = range(1000, 2010)
    facts = [{"content": f"Year {y}", "classify": "off", "valid_from": f"{y}-01-01"} for y in years]
    ids: list[str] = []
    for start in range(0, len(facts), 100):
        results = client.post("/v1/memories/batch", json={"items": facts[start : start + 100]})
        ids += [result["memory"]["id"] for result in results.json()["results"]]
    for old, by in pairwise(ids):
        succeed(client, old, by)
    pages = [read_history(client, ids[0])]
    tell(client, "Another fact, told meanwhile", 2011)
    while cursor := pages[-1]["next_cursor"]:
        pages.append(read_history(client, ids[0], cursor=cursor))
    assert [version["id"] for page in pages for version in page["versions"]] == ids
    assert [joint for page in pages for joint in list_joints(page)] == [*pairwise(ids)]
    assert {page["current"] for page in pages} == {ids[-1]}


def test_a_line_ends_at_the_border_of_its_agent(client: httpx.Client) -> None:
    ids = by_id(client)
    for memory_id in ids:
        foreign = client.get(
            f"/v1/memories/{memory_id}/history", headers={"X-Agent-Id": "somebody-else"}
        )
        problem(foreign, 404)


def test_a_ring_in_older_data_is_read_to_its_end(unchecked_database_url: str) -> None:
    with (
        running(load_settings(database_url=unchecked_database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        ids = by_id(client)
        with psycopg.connect(unchecked_database_url, autocommit=True) as connection:
            connection.execute(
                "UPDATE memories SET ended_by = %s, superseded_by = %s, valid_until = valid_from "
                "WHERE id = %s",
                (ids[0], ids[0], ids[-1]),
            )
        for memory_id in ids:
            history = read_history(client, memory_id)
            assert [version["id"] for version in history["versions"]] == ids
            assert history["current"] is None
