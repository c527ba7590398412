"""`palimpsest insights` against a running service."""

import json
from uuid import uuid4

import httpx
import pytest

from support.builders import editor, send, store
from support.service_process import palimpsest


@pytest.fixture
def words(service: str) -> tuple[str, ...]:
    """The options that name the service and an agent who changed the editor, moved, and is bound."""
    words = ("--url", service, "--agent", f"cli-{uuid4().hex}")
    with httpx.Client(base_url=service, headers={"X-Agent-Id": words[3]}, timeout=60) as client:
        for year, value in ((2020, "Vim"), (2022, "Emacs [the OS]"), (2024, "Vim")):
            send(client, editor(value, valid_from=f"{year}-01-01"))
        store(client, "Alice lives in Porto", kind="constraint")
        store(client, "Alice moved to Lisbon")
        store(client, "Bob lives in Porto")
        store(client, "Bob moved to Lisbon")
    return words


def test_every_section_is_a_table_of_its_own(words: tuple[str, ...]) -> None:
    told = palimpsest("insights", *words)
    assert told.returncode == 0, told.stderr
    lines = [line.split() for line in told.stdout.splitlines()]
    about = ["user", "/", "tooling", "/", "editor"]
    assert ["2", "preference", "2024-01-01", "00:00", *about] in [
        line[:4] + line[5:] for line in lines
    ]
    days = ["2020-01-01", "2022-01-01", "2024-01-01"]
    turns = [word for day in days for word in (day, "00:00")]
    assert ["1", *turns, *about] in [line[:7] + line[8:] for line in lines]
    assert ["730.50", "730.50", "2", "1", "preference"] in lines
    assert ["rule", "0.9", "to", "1.0"] in [line[:4] for line in lines]
    assert ["changed_attribute", "0.00", "1.00", "0.67", "1", "0", "0", "0", "0", "1", "0"] in lines
    assert "contradicted by 1 later fact; 1 review that would end it: waiting" in told.stdout
    assert ["3", "1"] in lines


def test_sections_can_be_chosen_and_had_as_json(words: tuple[str, ...]) -> None:
    told = palimpsest("insights", "--section", "flip_flops", "--section", "churn", *words)
    assert [line for line in told.stdout.splitlines() if line.startswith("What")] == [
        "What went back (A, B, A)",
        "What keeps changing",
    ]
    answer = json.loads(
        palimpsest("insights", "--section", "churn", "--limit", "1", "--json", *words).stdout
    )
    assert (len(answer["churn"]), answer["signals"]) == (1, None)


def test_nothing_to_tell_is_said(service: str) -> None:
    told = palimpsest(
        "insights", "--section", "churn", "--url", service, "--agent", f"cli-{uuid4().hex}"
    )
    assert told.stdout.splitlines()[:2] == ["What keeps changing", "nothing"]


@pytest.mark.parametrize(
    "asked", [("--since", "someday"), ("--since", "2026-02-01", "--until", "2026-01-01")]
)
def test_what_cannot_be_asked_is_one_plain_line(
    words: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    failed = palimpsest("insights", *asked, *words)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
