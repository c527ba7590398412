"""`palimpsest import --from` as a process against a running service."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.builders import contents, store
from support.service_process import palimpsest

DATA = Path(__file__).parents[2] / "importers" / "data"


def run(client: httpx.Client, *words: str) -> Any:
    return palimpsest(
        "import",
        *words,
        PALIMPSEST_URL=str(client.base_url),
        PALIMPSEST_AGENT=client.headers["X-Agent-Id"],
    )


def run_sample(client: httpx.Client, name: str, product: str, *words: str) -> list[str]:
    done = run(client, str(DATA / name), "--from", product, *words)
    assert done.returncode == 0, done.stderr
    lines: list[str] = done.stdout.splitlines()
    return lines


def test_mem0_comes_with_its_history_on_both_axes(client: httpx.Client) -> None:
    report = run_sample(client, "mem0.json", "mem0")
    assert report[0] == "read 7, stored 5, duplicates 0, left out 2 (and 1 known ends)"
    assert report[1].startswith("line 35: ")
    assert report[-1] == "Known times: those of mem0."
    assert contents(client) == {"Alice loves playing badminton", "Alice works at Initech"}
    then = {"as_of": "2024-06-01", "known_at": "2024-06-01"}
    assert contents(client, **then) == {"Alice works at Acme", "Alice owns a bike"}
    assert contents(client, as_of="2024-10-01", known_at="2024-08-31") == {
        "Alice works at Acme",
        "Alice owns a bike",
    }
    assert contents(client, as_of="2024-10-01", known_at="2024-09-02") == {"Alice works at Acme"}


def test_graphiti_keeps_when_it_learned_of_an_end(client: httpx.Client) -> None:
    run_sample(client, "graphiti.json", "graphiti")
    july = {"as_of": "2024-07-01"}
    assert contents(client, **july) == {"Ann lives in Ghent"}
    assert "Ann works at Acme" in contents(client, **july, known_at="2024-06-04")
    assert contents(client, as_of="2022-01-01") == {"Ann works at Acme"}
    assert contents(client, as_of="2022-01-01", known_at="2024-01-09") == set()


@pytest.mark.parametrize(
    ("name", "product", "count"),
    [
        ("mem0.json", "mem0", 5),
        ("mem0-export-shop-2026-08-20.md", "mem0", 2),
        ("graphiti.json", "graphiti", 2),
        ("letta.af", "letta", 1),
        ("langmem.jsonl", "langmem", 2),
        ("server-memory.jsonl", "server-memory", 5),
        ("hindsight.json", "hindsight", 3),
        ("chatgpt.json", "chatgpt", 4),
        ("supermemory.json", "supermemory", 5),
        ("claude-mem.json", "claude-mem", 4),
        ("MEMORY.md", "markdown", 7),
    ],
)
def test_a_second_run_stores_nothing(
    client: httpx.Client, name: str, product: str, count: int
) -> None:
    assert f"stored {count}, duplicates 0" in run_sample(client, name, product)[0]
    before = contents(client, include_superseded=True)
    again = run_sample(client, name, product)
    assert f"stored 0, duplicates {count}" in again[0]
    assert not any(line.startswith("Known times") for line in again)
    assert contents(client, include_superseded=True) == before


def test_a_dry_run_writes_nothing(client: httpx.Client) -> None:
    report = run_sample(client, "mem0.json", "mem0", "--dry-run")
    assert report[0].startswith("read 7, would store 5, ")
    assert contents(client, include_superseded=True) == set()


def test_a_dry_run_says_what_would_become_of_each(client: httpx.Client) -> None:
    report = run_sample(client, "chatgpt.json", "chatgpt", "--dry-run")
    assert "line 71: store 'Answer briefly.' from 2023-11-14" in report
    assert "line 195: message m6: its create_time is no time: 'last week'." in report
    assert "ADD: 'I moved to Lisbon'" in report
    assert contents(client, include_superseded=True) == set()


def test_conversations_are_read_in_the_order_of_their_times(client: httpx.Client) -> None:
    report = run_sample(client, "chatgpt.json", "chatgpt")
    line = "Conversations 2, messages 3, 0 known before, 2 facts read from them."
    assert line in report
    now = contents(client)
    assert {"I moved to Lisbon", "Answer at length."} <= now
    assert not {"I live in Porto", "Answer briefly."} & now
    assert "I live in Porto" in contents(client, as_of="2024-06-01")
    again = run_sample(client, "chatgpt.json", "chatgpt")
    assert "Conversations 2, messages 3, 3 known before, 0 facts read from them." in again
    assert contents(client) == now


def test_a_folder_of_markdown_is_imported(client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\n- Never deploy on Fridays\n")
    (tmp_path / "notes.md").write_text("- Not read\n")
    done = run(client, str(tmp_path), "--from", "markdown")
    assert done.stdout.startswith("read 1, stored 1, ")
    [memory] = client.get("/v1/memories").json()["items"]
    assert (memory["content"], memory["kind"]) == ("Never deploy on Fridays", "constraint")
    nothing = run(client, str(tmp_path / "nothing"), "--from", "markdown")
    assert (nothing.returncode, "No such file" in nothing.stderr) == (1, True)


def test_an_agent_that_knows_more_takes_no_known_times_and_the_report_says_so(
    client: httpx.Client,
) -> None:
    store(client, "Alice likes jazz")
    report = run_sample(client, "graphiti.json", "graphiti")
    assert "known times never go back" in report[-1]
    assert contents(client, as_of="2022-01-01") == {"Ann works at Acme"}
    assert contents(client, as_of="2022-01-01", known_at="2025-01-01") == set()


def test_an_export_that_has_grown_adds_what_is_new_with_its_known_times(
    client: httpx.Client, tmp_path: Path
) -> None:
    sings = {"id": "1", "memory": "Ann sings", "created_at": "2024-01-01T00:00:00Z"}
    paints = {"id": "2", "memory": "Ann paints", "created_at": "2025-01-01T00:00:00Z"}
    run(client, write_memories(tmp_path / "one.json", sings), "--from", "mem0")
    done = run(client, write_memories(tmp_path / "two.json", sings, paints), "--from", "mem0")
    assert "stored 1, duplicates 1" in done.stdout
    assert "Known times: those of mem0." in done.stdout
    assert contents(client, known_at="2024-12-31") == {"Ann sings"}


def test_an_export_that_has_changed_changes_what_was_imported(
    client: httpx.Client, tmp_path: Path
) -> None:
    sings = {"id": "1", "memory": "Ann sings", "created_at": "2024-01-01T00:00:00Z"}
    paints = {"id": "2", "memory": "Ann paints", "created_at": "2024-02-01T00:00:00Z"}
    run(client, write_memories(tmp_path / "one.json", sings, paints), "--from", "mem0")
    sings |= {"memory": "Ann plays the oboe", "updated_at": "2025-01-01T00:00:00Z"}
    paints |= {"expiration_date": "2024-12-30"}
    file = write_memories(tmp_path / "two.json", sings, paints)
    tried = run(client, file, "--from", "mem0", "--dry-run")
    assert "would store 0, duplicates 0, left out 0, would update 2" in tried.stdout
    assert contents(client) == {"Ann sings", "Ann paints"}
    done = run(client, file, "--from", "mem0")
    assert "stored 0, duplicates 0, left out 0, updated 2" in done.stdout
    assert contents(client) == {"Ann plays the oboe"}
    assert contents(client, as_of="2024-06-01") == {"Ann sings", "Ann paints"}
    assert contents(client, as_of="2025-02-01") == {"Ann plays the oboe"}
    assert "duplicates 2, left out 0\n" in run(client, file, "--from", "mem0").stdout


def test_a_change_that_the_service_refuses_is_left_out(
    client: httpx.Client, tmp_path: Path
) -> None:
    sings = {"id": "1", "memory": "Ann sings", "created_at": "2024-01-01T00:00:00Z"}
    run(client, write_memories(tmp_path / "one.json", sings), "--from", "mem0")
    changed = sings | {"memory": "Ann plays the oboe", "metadata": {"bad": build_deep()}}
    done = run(client, write_memories(tmp_path / "two.json", changed), "--from", "mem0")
    assert "stored 0, duplicates 0, left out 1" in done.stdout
    assert "line 1: 1: as " in done.stdout
    assert contents(client) == {"Ann sings"}


def build_deep() -> dict[str, Any]:
    """Return what no details can hold."""
    deep: dict[str, Any] = {}
    for _ in range(12):
        deep = {"deeper": deep}
    return deep


def write_memories(path: Path, *memories: dict[str, Any]) -> str:
    path.write_text(json.dumps({"results": list(memories)}))
    return str(path)


def test_memories_of_several_are_not_mixed(client: httpx.Client, tmp_path: Path) -> None:
    file = write_memories(
        tmp_path / "all.json",
        {"id": "1", "memory": "Ann sings", "user_id": "ann"},
        {"id": "2", "memory": "Bob paints", "user_id": "bob"},
    )
    refused = run(client, file, "--from", "mem0")
    assert refused.returncode == 1
    assert "ann (1), bob (1)" in refused.stderr
    done = run(client, file, "--from", "mem0", "--of", "bob")
    assert "of others 1" in done.stdout
    assert contents(client) == {"Bob paints"}


def test_what_the_service_refuses_is_left_out_by_its_line(
    client: httpx.Client, tmp_path: Path
) -> None:
    file = write_memories(
        tmp_path / "deep.json",
        {"id": "1", "memory": "Ann sings"},
        {"id": "2", "memory": "Ann paints", "metadata": {"bad": build_deep(), "word": "x"}},
    )
    done = run(client, file, "--from", "mem0")
    assert "stored 1, duplicates 0, left out 1" in done.stdout
    assert "line 1: 2: details" in done.stdout
    assert contents(client) == {"Ann sings"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--from", "graphiti"), "does not look like an export of graphiti but of mem0"),
        (("--from", "mem0", "--of", "bob"), "has no memories of bob"),
        (("--dry-run",), "add --from"),
        (("--of", "x"), "add --from"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    client: httpx.Client, words: tuple[str, ...], reason: str
) -> None:
    done = run(client, str(DATA / "mem0.json"), *words)
    assert done.returncode == 1
    assert reason in done.stderr
    assert contents(client, include_superseded=True) == set()
