"""Facts of other products become lines that keep both of their time axes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.importers.facts import SourceFact
from app.importers.lines import Earlier, Lines, build_lines, name_source

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOTHING = Earlier([])


def day(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def fact(**fields: Any) -> SourceFact:
    return SourceFact(**{"line": 1, "origin": "a", "content": "Ann sings", **fields})


def build(*facts: SourceFact, earlier: Earlier = NOTHING, with_known_times: bool = True) -> Lines:
    return build_lines("mem0", facts, earlier, now=NOW, with_known_times=with_known_times)


def test_an_end_that_became_known_later_is_a_second_version() -> None:
    lines = build(fact(learned_at=day(2020), valid_until=day(2022), end_learned_at=day(2023)))
    opened, ended = (line.fields for line in lines.lines)
    assert "valid_until" not in opened
    assert ended["valid_until"].startswith("2022")
    assert (opened["created_at"][:4], ended["created_at"][:4]) == ("2020", "2023")
    assert opened["valid_from"] == ended["valid_from"]
    assert opened["key"] == ended["key"] == "mem0:a"
    assert lines.fact_count == 1


def test_without_known_times_it_is_one_version_that_was_said_then() -> None:
    lines = build(
        fact(learned_at=day(2020), valid_until=day(2022), end_learned_at=day(2023)),
        with_known_times=False,
    )
    [line] = lines.lines
    assert "created_at" not in line.fields
    assert "key" not in line.fields
    assert line.fields["said_at"].startswith("2020")
    assert line.fields["valid_until"].startswith("2022")
    assert line.fields["details"]["mem0"]["learned_at"].startswith("2020")


def test_an_end_without_a_beginning_in_known_time_is_one_version() -> None:
    [line] = build(fact(valid_until=day(2027), end_learned_at=day(2025))).lines
    assert "created_at" not in line.fields
    assert line.fields["valid_until"].startswith("2027")


def test_lines_come_in_the_order_of_their_known_times_and_undated_ones_last() -> None:
    lines = build(
        fact(origin="c"), fact(origin="b", learned_at=day(2022)), fact(learned_at=day(2021))
    )
    assert [line.fact.origin for line in lines.lines] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"learned_at": day(2027)}, "in the future"),
        ({"learned_at": day(2025), "valid_until": day(2024)}, "before it begins"),
        ({"valid_until": day(2025)}, "before it begins"),
    ],
)
def test_what_no_line_can_say_is_left_out(fields: dict[str, Any], words: str) -> None:
    lines = build(fact(**fields))
    assert lines.lines == []
    assert words in lines.left_out[0].reason


def test_what_was_said_after_it_became_known_was_said_then() -> None:
    [line] = build(fact(learned_at=day(2020), said_at=day(2021))).lines
    assert "said_at" not in line.fields


def memory(source: str | None, content: str = "Ann sings", **more: Any) -> dict[str, Any]:
    fields = {
        "id": "1",
        "content": content,
        "source": source,
        "sources": [],
        "status": "current",
        "valid_from": "2020-01-01T00:00:00Z",
        "valid_until": None,
    }
    return fields | more


@pytest.mark.parametrize(
    ("source", "again"),
    [
        ("mem0:a", fact()),
        ("mem0:a/e1", fact()),
        ("mem0:a/e1", fact(origin="a/e1", chain="a")),
        ("mem0:a", fact(origin="a/e1", chain="a")),
    ],
)
def test_what_an_earlier_import_stored_is_a_duplicate(source: str, again: SourceFact) -> None:
    lines = build(again, earlier=Earlier([memory(source)]))
    assert (lines.duplicates, lines.lines, lines.left_out) == (1, [], [])


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({"learned_at": day(2022)}, "2022"),
        ({"valid_from": day(2021), "learned_at": day(2022)}, "2021"),
        ({"valid_from": day(2020), "learned_at": day(2022)}, None),
        ({}, None),
    ],
)
def test_a_changed_text_supersedes_the_earlier_one_from_its_own_start(
    fields: dict[str, Any], start: str | None
) -> None:
    lines = build(fact(**fields), earlier=Earlier([memory("mem0:a", "Ann sang")]))
    [change] = lines.changes
    assert (lines.lines, lines.left_out, lines.duplicates) == ([], [], 0)
    assert (change.memory_id, change.fields["content"]) == ("1", "Ann sings")
    assert change.fields["source"] == "mem0:a"
    assert change.fields.get("valid_from", "")[:4] == (start or "")
    assert "created_at" not in change.fields


def test_what_is_stored_without_its_secret_is_no_new_text() -> None:
    secret = fact(content="the API key is sk-live-51H8abcdEFGHijklMNOPqrstUVWX")
    stored = memory("mem0:a", "the API key is [redacted: model_key]")
    lines = build(secret, earlier=Earlier([stored]))
    assert (lines.duplicates, lines.changes) == (1, [])


@pytest.mark.parametrize("source", ["mem0:a", "mem0:a/end"])
def test_an_end_that_came_later_is_set(source: str) -> None:
    lines = build(fact(valid_until=day(2023)), earlier=Earlier([memory(source)]))
    [change] = lines.changes
    assert change.fields == {"valid_until": "2023-01-01T00:00:00.000000+00:00"}
    assert not change.is_new_text


@pytest.mark.parametrize(
    ("stored", "again"),
    [
        (memory("mem0:a", valid_until="2023-01-01T00:00:00Z"), fact(valid_until=day(2023))),
        (memory("mem0:a", status="superseded"), fact(valid_until=day(2023))),
        (memory("mem0:a", valid_until="2023-01-01T00:00:00Z"), fact()),
    ],
)
def test_an_end_that_is_there_already_is_a_duplicate(
    stored: dict[str, Any], again: SourceFact
) -> None:
    lines = build(again, earlier=Earlier([stored]))
    assert (lines.duplicates, lines.changes) == (1, [])


@pytest.mark.parametrize(
    ("stored", "again", "words"),
    [
        (memory("mem0:a", "Ann sang", status="superseded"), fact(), "palimpsest supersede 1"),
        (memory("mem0:a", "Ann sang", status="retracted"), fact(), "is retracted here"),
        (memory("x", "Ann sang", sources=["mem0:a"]), fact(), "merged with others"),
        (
            memory("mem0:a", valid_until="2024-01-01T00:00:00Z"),
            fact(valid_until=day(2023)),
            "changes `valid_until`",
        ),
    ],
)
def test_what_was_decided_otherwise_here_stays_and_is_left_out(
    stored: dict[str, Any], again: SourceFact, words: str
) -> None:
    lines = build(again, earlier=Earlier([stored]))
    assert (lines.duplicates, lines.changes, lines.lines) == (0, [], [])
    assert words in lines.left_out[0].reason


def test_the_newest_of_two_memories_of_a_name_counts() -> None:
    earlier = Earlier([memory("mem0:a"), memory("mem0:a", "Ann sang", status="superseded")])
    assert build(fact(), earlier=earlier).duplicates == 1


def test_a_merged_memory_counts_by_all_of_its_sources() -> None:
    merged = memory(None, sources=["mem0:a"])
    assert build(fact(), earlier=Earlier([merged])).duplicates == 1


def test_a_long_origin_has_a_short_name() -> None:
    assert name_source("letta", "x") == "letta:x"
    assert len(name_source("letta", "x" * 600)) < 100
    assert name_source("letta", "x" * 600) != name_source("letta", "x" * 601)
