"""`palimpsest demo` tells its story with the answers of a real service."""

from collections.abc import Iterator

import httpx
import pytest

from app.settings import load_settings
from support.service import running
from support.service_process import palimpsest


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    """A service as it is served, with its local judge."""
    with running(load_settings(database_url=database_url, local_judge=True)) as address:
        yield address


@pytest.mark.slow
def test_the_story_runs_over_a_service_and_erases_its_agent(address: str) -> None:
    shown = palimpsest("demo", "--yes", "--url", address)
    assert shown.returncode == 0, shown.stderr
    agent = shown.stdout.split("uses the agent ")[1].split(".")[0]
    path, named = f"{address}/v1/memories", {"X-Agent-Id": agent}
    holding = httpx.get(path, headers=named, timeout=60)
    left = httpx.get(path, headers=named, params={"include_superseded": True}, timeout=60)
    assert holding.json()["items"] == []
    assert {memory["content"] for memory in left.json()["items"]} == {None}
    lines = [line.removeprefix("  → ") for line in shown.stdout.splitlines()]
    now = lines.index("2. What is true now, and what was true then")
    assert lines[now + 2] == "I moved to Lisbon last month"
    assert lines[now + 4] == "I live in Porto"
    stay = lines.index("4. A fact for a while covers another and does not end it")
    assert "Ibis" in lines[stay + 4]
    assert "Lisbon" not in lines[stay + 4]
    assert "Lisbon" in lines[stay + 6]
    assert "Ibis" not in lines[stay + 6]
    assert "a fact: I am vegetarian" in lines
    assert "5 memories are erased everywhere, with a receipt." in lines


@pytest.mark.slow
def test_without_yes_and_without_a_terminal_the_agent_stays(address: str) -> None:
    shown = palimpsest("demo", "--url", address)
    assert shown.returncode == 0, shown.stderr
    agent = shown.stdout.split("uses the agent ")[1].split(".")[0]
    left = httpx.get(f"{address}/v1/memories", headers={"X-Agent-Id": agent}, timeout=60)
    contents = {memory["content"] for memory in left.json()["items"]}
    assert "I am vegetarian" in contents
    assert None not in contents


def test_a_service_that_does_not_answer_is_one_line() -> None:
    shown = palimpsest("demo", "--yes", "--url", "http://127.0.0.1:9")
    assert shown.returncode == 1
    assert "no answer from http://127.0.0.1:9" in shown.stderr
