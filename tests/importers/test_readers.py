"""Each product's sample becomes the facts that it means, and nothing of it is lost in silence."""

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.commands.client.transfer import Product
from app.importers.facts import Reading, SourceFact, UnreadableFile
from app.importers.products import NATIVE, PRODUCTS, read_product

DATA = Path(__file__).parent / "data"
SAMPLES = {
    "mem0.json": "mem0",
    "mem0-export-shop-2026-08-20.md": "mem0",
    "graphiti.json": "graphiti",
    "letta.af": "letta",
    "langmem.jsonl": "langmem",
    "server-memory.jsonl": "server-memory",
    "hindsight.json": "hindsight",
}


def read(sample: str) -> Reading:
    return read_product((DATA / sample).read_bytes(), SAMPLES[sample])


def by_content(reading: Reading) -> dict[str, SourceFact]:
    return {fact.content: fact for fact in reading.facts}


def day(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


def test_the_command_offers_each_product() -> None:
    assert {product.value for product in Product} == {NATIVE, *PRODUCTS}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_file_of_another_product_is_refused_by_its_name(sample: str, name: str) -> None:
    if name == SAMPLES[sample]:
        assert read(sample).facts
        return
    with pytest.raises(UnreadableFile, match=f"but of {SAMPLES[sample]}: use"):
        read_product((DATA / sample).read_bytes(), name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"# Notes\n", "neither JSON nor lines of JSON"),
        (b'{"a": 1}', "nor of any other product"),
        (b"[]", "nor of any other product"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"PK\x03\x04 broken", "damaged archive"),
        (b'{"type":"palimpsest","format":1}\n{"type":"end","counts":{}}', "but of palimpsest"),
    ],
)
def test_what_no_product_writes_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words):
        read_product(content, "mem0")


LEFT_OUT = {
    "mem0.json": [(35, "it has no memory"), (42, "created_at is no time: 'some time ago'")],
    "mem0-export-shop-2026-08-20.md": [],
    "graphiti.json": [(20, "it ends")],
    "letta.af": [(19, "persona: it has no value")],
    "langmem.jsonl": [(4, "it is no JSON"), (3, "its value has no text")],
    "server-memory.jsonl": [(2, "an entity without observations")],
    "hindsight.json": [(5, "it is an observation")],
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_left_out_is_named_with_its_line(sample: str) -> None:
    left_out = read(sample).left_out
    assert [one.line for one in left_out] == [line for line, _ in LEFT_OUT[sample]]
    for one, (_, words) in zip(left_out, LEFT_OUT[sample], strict=True):
        assert words in one.reason


def test_mem0_is_read_as_it_was_known() -> None:
    facts = by_content(read("mem0.json"))
    badminton = facts["Alice loves playing badminton"]
    assert badminton.words == {"tags": ["hobbies", "sports"]}
    assert badminton.details["agent_id"] == "coach"
    assert badminton.details["metadata"] == {"source": "chat"}
    cooks = facts["Alice cooks at home on weekdays"]
    assert (cooks.learned_at, cooks.valid_until) == (day(2025, 1, 20, 9, 30), day(2025, 7, 1))
    assert cooks.words == {"session_id": "trip-7"}


def test_the_history_of_mem0_becomes_a_chain() -> None:
    facts = by_content(read("mem0.json"))
    acme, initech = facts["Alice works at Acme"], facts["Alice works at Initech"]
    assert acme.chain == initech.chain == "2f0c9a44-0d0b-4a5e-9a56-7f1d3a0f2b11"
    assert (acme.learned_at, initech.learned_at) == (day(2023, 3, 1, 10), day(2025, 2, 1, 10))
    bike = facts["Alice owns a bike"]
    assert (bike.valid_until, bike.end_learned_at) == (day(2024, 9, 1), day(2024, 9, 1))
    assert bike.owner == "alice"


def test_a_memory_whose_last_text_its_history_lacks_has_it_too() -> None:
    file = {
        "results": [{"id": "m", "memory": "New", "updated_at": "2025-01-02T00:00:00Z"}],
        "history": [
            {"id": "e", "memory_id": "m", "new_memory": "Old", "created_at": "2024-01-01T00:00:00Z"}
        ],
    }
    reading = read_product(json.dumps(file).encode(), "mem0")
    assert [(fact.content, fact.chain) for fact in reading.facts] == [("Old", "m"), ("New", "m")]


def test_the_markdown_of_the_plugin_of_mem0_is_read() -> None:
    first, second = read("mem0-export-shop-2026-08-20.md").facts
    assert first.content == "Prices are stored in cents: never as floats."
    assert first.words == {"tags": ["architecture_decisions", "tax"]}
    assert first.details["files"] == "src/cart.py, src/tax.py"
    assert (second.line, second.learned_at) == (12, day(2026, 8, 2, 9))


def test_graphiti_carries_all_four_times() -> None:
    works = by_content(read("graphiti.json"))["Ann works at Acme"]
    assert works.learned_at == datetime(2024, 1, 10, 12, 0, 0, 123456, tzinfo=UTC)
    assert (works.valid_from, works.valid_until) == (day(2021, 3, 1), day(2024, 5, 31))
    assert works.end_learned_at == day(2024, 6, 5, 8)
    assert works.words == {"entity": "Ann", "entities": ["Ann", "Acme"]}
    assert works.owner == "team"


def test_an_edge_that_expired_without_an_end_ends_when_it_expired() -> None:
    edge = {
        "uuid": "e",
        "fact": "Ann sings",
        "created_at": "2024-01-01T00:00:00Z",
        "expired_at": "2024-03-01T00:00:00Z",
    }
    [fact] = read_product(json.dumps({"facts": [edge]}).encode(), "graphiti").facts
    assert fact.valid_until == fact.end_learned_at == day(2024, 3, 1)


def test_a_block_of_letta_is_a_core_memory_under_its_label() -> None:
    reading = read("letta.af")
    [block] = reading.facts
    assert block.words == {"tier": "core", "category": "letta block", "key": "human"}
    assert block.owner == "Sam"
    assert any("1 messages" in note for note in reading.notes)


def test_passages_of_letta_are_read() -> None:
    passages = [{"id": "passage-1", "text": "Likes tea", "created_at": "2025-01-01T00:00:00Z"}]
    [fact] = read_product(json.dumps(passages).encode(), "letta").facts
    assert (fact.origin, fact.learned_at) == ("passage-1", day(2025, 1, 1))


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"content": "plain"}, "plain"),
        ({"kind": "Memory", "content": "text"}, "text"),
        ({"food": "pizza", "city": None}, "food: pizza"),
        ({"kind": "Triple", "content": {"subject": "A", "object": "B"}}, "subject: A; object: B"),
    ],
)
def test_values_of_a_store_become_text(value: dict[str, Any], content: str) -> None:
    item = {"namespace": ["a"], "key": "k", "value": value}
    [fact] = read_product(json.dumps([item]).encode(), "langmem").facts
    assert fact.content == content
    assert fact.details["value"] == value


def test_observations_name_their_entity() -> None:
    assert set(by_content(read("server-memory.jsonl"))) == {
        "John_Smith: Speaks fluent Spanish",
        "John_Smith prefers morning meetings",
        "John_Smith works at Anthropic",
    }


def test_hindsight_keeps_when_it_was_said_and_when_it_occurred() -> None:
    facts = by_content(read("hindsight.json"))
    race, leave = facts["Alice ran the Berlin marathon"], facts["Alice was on leave"]
    assert (race.valid_from, race.valid_until) == (day(2024, 9, 29), None)
    assert (leave.valid_from, leave.valid_until) == (day(2024, 8, 1), day(2024, 9, 1))
    assert race.said_at == day(2024, 10, 1, 9)
    assert race.words == {"entities": ["Alice", "Berlin"], "tags": ["sport"]}
    moved = facts["Alice lives in Bonn"]
    assert (moved.valid_until, moved.end_learned_at) == (day(2025, 2, 1), day(2025, 2, 1))
    assert moved.details["invalidation_reason"] == "she moved"


def test_an_archive_of_hindsight_is_read() -> None:
    fact = {
        "text": "Bob paints",
        "fact_type": "world",
        "mentioned_at": "2024-01-02T00:00:00Z",
        "created_at": "2024-01-03T00:00:00Z",
        "entities": ["Bob"],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("documents/000000.json", json.dumps({"id": "d", "facts": [fact]}))
        archive.writestr(
            "observations.json", json.dumps([{"text": "Bob is an artist", "proof_count": 2}])
        )
        archive.writestr(
            "manifest.json", json.dumps({"schema_version": 1, "source_bank_id": "bank"})
        )
    reading = read_product(buffer.getvalue(), "hindsight")
    [bob] = reading.facts
    assert (bob.origin, bob.owner, bob.learned_at) == ("d/0", "bank", day(2024, 1, 3))
    assert ["an observation" in one.reason for one in reading.left_out] == [True]
