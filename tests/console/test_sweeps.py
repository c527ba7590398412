"""Sweeps in the console."""

import re
from typing import Any

import httpx

from support.sweeps import Place

AGENT = {"agent": "default"}


def open_page(place: Place, path: str = "/ui/sweeps", **params: Any) -> str:
    answer = place.client.get(path, params=AGENT | params)
    assert answer.status_code == 200, answer.text
    return answer.text


def start(place: Place, **form: str) -> httpx.Response:
    return place.client.post("/ui/sweeps", params=AGENT, data=form)


def find_path(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].split("?")[0]


def test_a_dry_run_is_followed_until_it_shows_what_would_change(place: Place) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    place.editor("Nano", valid_from="2025-01-01")
    path = find_path(start(place, scope="all", dry_run="1"))
    waiting = open_page(place, path)
    assert "data-runs" in waiting
    assert "Refresh" in waiting
    place.work()
    over = open_page(place, path)
    assert "data-runs" not in over
    assert "2 of 2 memories examined" in over
    assert "Would end" in over
    assert "Uses Vim" in over
    assert "Uses Nano" in over
    assert place.standing(vim) == ["current"]
    assert "dry run" in open_page(place)


def test_a_sweep_of_a_slot_leaves_the_others(place: Place) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    place.editor("Nano", valid_from="2025-01-01")
    porto = place.store("In Porto", key="city", value="Porto", valid_from="2023-01-01")
    place.store("In Lisbon", key="city", value="Lisbon", valid_from="2025-01-01")
    path = find_path(start(place, scope="slot", category="tooling", key="editor"))
    place.work()
    assert "the attribute" in open_page(place, path)
    assert place.standing(vim, porto) == ["superseded", "current"]


def test_a_slot_without_a_key_is_refused(place: Place) -> None:
    answer = start(place, scope="slot", key=" ")
    assert answer.status_code == 422
    assert "Nothing was started" in answer.text
    assert "No sweep was run yet" in answer.text


def test_a_double_click_starts_one_sweep(place: Place) -> None:
    key = re.search(r'name="idempotency_key" value="(\w+)"', open_page(place))
    assert key
    paths = {find_path(start(place, scope="all", idempotency_key=key[1])) for _ in range(2)}
    assert len(paths) == 1


def test_a_waiting_sweep_is_cancelled(place: Place) -> None:
    place.editor("Vim")
    path = find_path(start(place, scope="all"))
    assert "Stop it here" in open_page(place, path)
    place.client.post(f"{path}/cancel", params=AGENT)
    over = open_page(place, path)
    assert "was cancelled" in over
    assert "Stop it here" not in over
