"""A damaged export is refused with what is wrong with it, and nothing of it is kept."""

import base64
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest

from support.builders import problem, store
from support.transfers import NDJSON, exported, holds_nothing, joined, lines_of, other, telling


@pytest.fixture(scope="module")
def told(server_url: str, template_url: str) -> Iterator[tuple[httpx.Client, str]]:
    with telling(server_url, template_url) as client_and_url:
        yield client_and_url


def first(lines: list[dict[str, Any]], kind: str, **having: Any) -> int:
    return next(
        i
        for i, line in enumerate(lines)
        if line["type"] == kind and all(line[n] == v for n, v in having.items())
    )


def changed(kind: str, /, **values: Any) -> Callable[[list[Any]], int]:
    """Changes the first line of a type, and says which it was."""

    def change(lines: list[Any]) -> int:
        place = first(lines, kind)
        lines[place] |= values
        return place + 1

    return change


def without(kind: str, name: str) -> Callable[[list[Any]], int]:
    def change(lines: list[Any]) -> int:
        place = first(lines, kind)
        del lines[place][name]
        return place + 1

    return change


def replaced(kind: str, raw: bytes) -> Callable[[list[Any]], int]:
    def change(lines: list[Any]) -> int:
        place = first(lines, kind)
        lines[place] = raw
        return place + 1

    return change


def numbered(kind: str, name: str, number: bytes) -> Callable[[list[Any]], int]:
    """Writes a number as Python's JSON would not."""

    def change(lines: list[Any]) -> int:
        place = first(lines, kind)
        marked = joined([lines[place] | {name: ["NUMBER"] if name == "signals" else "NUMBER"}])
        lines[place] = marked.replace(b'"NUMBER"', number)
        return place + 1

    return change


def doubled(kind: str) -> Callable[[list[Any]], int]:
    def change(lines: list[Any]) -> int:
        place = first(lines, kind)
        lines.insert(place, lines[place])
        return _counted(lines, kind, 1, place + 2)

    return change


def _counted(lines: list[Any], kind: str, more: int, answer: int) -> int:
    """Keeps the count of the `end` line right, so that it is not what is noticed."""
    lines[-1] = {
        "type": "end",
        "counts": lines[-1]["counts"] | {kind: lines[-1]["counts"][kind] + more},
    }
    return answer


def moved_to_the_end(lines: list[Any]) -> int:
    memory = lines.pop(first(lines, "memory"))
    lines.insert(len(lines) - 1, memory)
    return len(lines) - 1


def cut_off(lines: list[Any]) -> int:
    del lines[-1]
    return len(lines) + 1


def cut_within(lines: list[Any]) -> int:
    lines[-1] = joined([lines[-1]])[:-9]
    return len(lines)


def one_lost(lines: list[Any]) -> int:
    del lines[first(lines, "review")]
    return len(lines)


def one_after_the_end(lines: list[Any]) -> int:
    lines.append(lines[first(lines, "usage")])
    return len(lines)


def blank_within(lines: list[Any]) -> int:
    lines.insert(3, b"\n")
    return 4


LONG_VECTOR = base64.b64encode(np.full(384, 2, "<f4").tobytes()).decode()
SHORT_VECTOR = base64.b64encode(np.array([1, 0], "<f4").tobytes()).decode()
DAMAGE: list[tuple[str, Callable[[list[Any]], int], str]] = [
    ("cut off", cut_off, "cut off"),
    ("cut within a line", cut_within, "Invalid JSON"),
    ("a line lost", one_lost, "lines are missing"),
    ("a line after the end", one_after_the_end, "follow the `end`"),
    ("a blank line", blank_within, "blank"),
    ("out of order", moved_to_the_end, "may not follow"),
    ("a memory twice", doubled("memory"), "memories_pkey"),
    ("an operation twice", doubled("operation"), "consolidation_log_pkey"),
    ("another format", changed("palimpsest", format=3), "format"),
    ("an earlier format", changed("palimpsest", format=1), "format"),
    ("what reviews of an earlier format had", changed("review", sentence="So"), "`sentence`"),
    ("a header without an agent", changed("palimpsest", agent=None), ""),
    ("an unknown field", changed("memory", colour="red"), "unknown field `colour`"),
    ("a missing field", without("memory", "content"), "content"),
    ("an unknown type", changed("usage", type="secret"), "type"),
    ("no JSON", replaced("memory", b'{"type":"memory",\n'), "Invalid JSON"),
    ("not UTF-8", replaced("belief", b'{"type":"belief","tier":"\xff"}\n'), "Invalid JSON"),
    ("a NUL", changed("memory", content="a\u0000b"), "NUL"),
    ("a text too long", changed("memory", content="x" * 200_000), "content"),
    ("an empty text", changed("memory", content=""), "memories_erased_check"),
    ("an unknown kind", changed("memory", kind="rumour"), "kind"),
    ("a number too large", changed("memory", trust=10**6), "trust"),
    ("a count that cannot go on", changed("memory", revision=2**31 - 1), "revision"),
    ("not a number", changed("memory", importance=float("nan")), "Invalid JSON"),
    ("a number beyond 64 bits", numbered("memory", "importance", b"1e400"), "importance"),
    ("a number of many digits", numbered("operation", "signals", b"1e100000"), "out of range"),
    ("JSON nested too deep", numbered("operation", "signals", b"[" * 9_000 + b"]" * 9_000), ""),
    ("half of a character", numbered("operation", "signals", rb'"\ud800"'), "Invalid JSON"),
    ("details that are no object", changed("memory", details=[1]), "details"),
    ("a time that is none", changed("memory", created_at="yesterday"), "created_at"),
    ("a time without a zone", changed("memory", created_at="2020-01-01T00:00:00"), "created_at"),
    (
        "a time before the year 1",
        changed("memory", created_at="0001-01-01T00:00:00+14:00"),
        "created_at",
    ),
    (
        "known after the last known time",
        changed("operation", created_at="2999-01-01T00:00:00Z"),
        "last_known_at",
    ),
    (
        "superseded at no time",
        changed("memory", superseded_by=str(uuid4()), superseded_at=None),
        "superseded_at",
    ),
    (
        "a half of a derived slot",
        changed("memory", derived_key="home", derived_entity=None),
        "derived_entity",
    ),
    ("a vector that is none", changed("memory", embedding="????"), "embedding"),
    ("a vector of another length", changed("memory", embedding=LONG_VECTOR), "unit length"),
    ("a vector of other dimensions", changed("memory", embedding=SHORT_VECTOR), "384"),
    ("a vector missing", without("memory", "embedding"), "embedding is missing"),
    ("an unknown language", changed("memory", language="klingon"), "klingon"),
    (
        "an end before the start",
        changed("memory", valid_until="0001-01-01T00:00:00Z"),
        "memories_interval_check",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "said"), [d[1:] for d in DAMAGE], ids=[d[0] for d in DAMAGE])
def test_a_damaged_line_is_named_and_nothing_is_kept(
    told: tuple[httpx.Client, str], damage: Callable[[list[Any]], int], said: str
) -> None:
    lines: list[Any] = lines_of(exported(told[0]))
    line = damage(lines)
    with other(told[0]) as two:
        refused = problem(two.post("/v1/import", headers=NDJSON, content=joined(lines)), 422)
        if said:
            assert refused["line"] == line, refused["detail"]
        assert said in refused["detail"]
        assert holds_nothing(two)


def stranger(kind: str, name: str) -> Callable[[list[Any]], str]:
    """Points to a memory that is not there."""

    def change(lines: list[Any]) -> str:
        foreign = str(uuid4())
        lines[first(lines, kind)][name] = foreign
        return foreign

    return change


def stranger_quoted(lines: list[Any]) -> str:
    foreign = str(uuid4())
    lines[first(lines, "captured")]["quotes"][0]["turn_id"] = foreign
    return foreign


def later_end(lines: list[Any]) -> str:
    line = next(
        line
        for line in lines
        if line["type"] == "memory" and line["superseded_by"] and line["valid_until"]
    )
    line["valid_until"] = "2900-01-01T00:00:00.000000Z"
    return str(line["id"])


def open_twice(lines: list[Any]) -> str:
    line = next(
        line
        for line in lines
        if line["type"] == "memory" and line["superseded_by"] and not line["void"]
    )
    line |= {"valid_until": None, "superseded_by": None, "superseded_at": None}
    return str(line["id"])


def belief_lost(lines: list[Any]) -> str:
    line = lines.pop(first(lines, "belief"))
    _counted(lines, "belief", -1, 0)
    return str(line["memory_id"])


def belief_shifted(lines: list[Any]) -> str:
    line = lines[first(lines, "belief")]
    line["known_from"] = "2001-01-01T00:00:00.000000Z"
    return str(line["memory_id"])


def operation_lost(lines: list[Any]) -> str:
    """One that no review points to."""
    kept = {line["log_id"] for line in lines if line["type"] in ("review", "relationship")}
    place = next(
        i
        for i, line in enumerate(lines)
        if line["type"] == "operation" and line["operation"] == "ADD" and line["id"] not in kept
    )
    line = lines.pop(place)
    _counted(lines, "operation", -1, 0)
    return str(line["target_memory_id"])


def another_chain(lines: list[Any]) -> str:
    """A chain whose first version says that it belongs to another."""
    heads = [line for line in lines if line["type"] == "memory" and line["id"] == line["chain_id"]]
    members = {
        line["chain_id"]
        for line in lines
        if line["type"] == "memory" and line["id"] != line["chain_id"]
    }
    head = next(line for line in heads if line["id"] in members)
    head["chain_id"] = next(line["id"] for line in heads if line["id"] != head["id"])
    return ""


TOGETHER: list[tuple[str, Callable[[list[Any]], str]]] = [
    ("a belief of no memory", stranger("belief", "memory_id")),
    ("usage of no memory", stranger("usage", "memory_id")),
    ("a link to no memory", stranger("relationship", "target_id")),
    ("a review of no operation", stranger("review", "log_id")),
    ("a quote of no message", stranger_quoted),
    ("a chain that is not there", stranger("memory", "chain_id")),
    ("contradicted by no memory", stranger("memory", "contradicted_by")),
    ("an end that the chain does not give", later_end),
    ("two open versions", open_twice),
    ("a belief lost", belief_lost),
    ("a belief that begins early", belief_shifted),
    ("an operation lost", operation_lost),
    ("a chain torn apart", another_chain),
]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [d[1] for d in TOGETHER], ids=[d[0] for d in TOGETHER])
def test_lines_that_are_no_history_together_are_refused_by_id(
    told: tuple[httpx.Client, str], damage: Callable[[list[Any]], str]
) -> None:
    lines: list[Any] = lines_of(exported(told[0]))
    named = damage(lines)
    with other(told[0]) as two:
        refused = problem(two.post("/v1/import", headers=NDJSON, content=joined(lines)), 422)
        assert refused["type"].endswith("damaged-import"), refused
        assert named in refused["detail"]
        assert holds_nothing(two)


def test_numbers_of_details_come_back_as_they_are(client: httpx.Client) -> None:
    store(client, "Has a dog", details={"seen": "SEEN", "size": "SIZE"})
    export = exported(client)
    for name, number in (("SEEN", b"123456789012345678901234567890"), ("SIZE", b"2.5e3")):
        export = export.replace(f'"{name}"'.encode(), number)
    with other(client) as two:
        assert two.post("/v1/import", headers=NDJSON, content=export).is_success
        [memory] = [line for line in lines_of(exported(two)) if line["type"] == "memory"]
    assert memory["details"] == {"seen": 123456789012345678901234567890, "size": 2500}


def test_a_last_known_time_far_in_the_future_is_refused(client: httpx.Client) -> None:
    store(client, "Has a dog")
    lines = lines_of(exported(client))
    lines[0]["agent"]["last_known_at"] = "2999-01-01T00:00:00Z"
    with other(client) as two:
        refused = problem(two.post("/v1/import", headers=NDJSON, content=joined(lines)), 422)
        assert (refused["line"], "future" in refused["detail"]) == (1, True)
