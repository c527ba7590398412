"""`palimpsest demo` tells its story with the answers of a real service."""

from pathlib import Path

import httpx
import pytest

from support.service_process import palimpsest, served


@pytest.mark.slow
def test_the_story_runs_over_a_service_and_erases_its_agent(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        shown = palimpsest("demo", "--yes", "--url", service.address)
        assert shown.returncode == 0, shown.stderr
        agent = shown.stdout.split("uses the agent ")[1].split(".")[0]
        path, named = f"{service.address}/v1/memories", {"X-Agent-Id": agent}
        holding = httpx.get(path, headers=named)
        left = httpx.get(path, headers=named, params={"include_superseded": True})
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
def test_without_yes_and_without_a_terminal_the_agent_stays(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        shown = palimpsest("demo", "--url", service.address)
        assert shown.returncode == 0, shown.stderr
        agent = shown.stdout.split("uses the agent ")[1].split(".")[0]
        left = httpx.get(f"{service.address}/v1/memories", headers={"X-Agent-Id": agent})
    contents = {memory["content"] for memory in left.json()["items"]}
    assert "I am vegetarian" in contents
    assert None not in contents


def test_a_service_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    shown = palimpsest("demo", "--yes", "--url", "http://127.0.0.1:9")
    assert shown.returncode == 1
    assert "no answer from http://127.0.0.1:9" in shown.stderr
