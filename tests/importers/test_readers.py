"""Each product's sample becomes the facts that it means, and nothing of it is lost in silence."""

import io
import json
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.commands.client.transfer import Product
from app.importers.facts import Reading, SourceFact, UnreadableFile
from app.importers.markdown import build_fact, read_statements
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
    "chatgpt.json": "chatgpt",
    "chatgpt-memories.json": "chatgpt",
    "claude.json": "claude",
    "supermemory.json": "supermemory",
    "claude-mem.json": "claude-mem",
    "MEMORY.md": "markdown",
}


def read(sample: str) -> Reading:
    return read_product(DATA / sample, SAMPLES[sample])


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
        assert read(sample).facts or read(sample).talks
        return
    with pytest.raises(UnreadableFile, match=f"but of {SAMPLES[sample]}: use"):
        read_product(DATA / sample, name)


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
    "server-memory.jsonl": [
        (5, "it is no JSON"),
        (2, "an entity without observations"),
        (4, "Ada: it has an observation without text: 42"),
        (4, "Ada: it has an observation without text: None"),
        (4, "Ada: it has no text"),
    ],
    "hindsight.json": [(5, "it is an observation")],
    "chatgpt.json": [(195, "message m6: its create_time is no time: 'last week'")],
    "chatgpt-memories.json": [(12, "memory 01b: it has no content")],
    "claude.json": [(46, "message h3: its created_at is no time: 'soon'")],
    "supermemory.json": [(55, "memory s7: it is no memory, but a document")],
    "claude-mem.json": [
        (32, "observations 3: it has no facts, title or text"),
        (60, "session_summaries 2: it says nothing that was learned"),
        (75, "prompt 2: it has no prompt_text"),
    ],
    "MEMORY.md": [
        (19, "MEMORY.md: it is a block of code"),
        (23, "MEMORY.md: it is a table"),
        (27, "MEMORY.md: it names another file: @docs/style.md"),
    ],
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
        "Ada keeps bees",
        "Ada knows John_Smith",
    }


def test_an_observation_that_is_an_object_has_a_text_a_time_and_details() -> None:
    bees = by_content(read("server-memory.jsonl"))["Ada keeps bees"]
    assert bees.learned_at == day(2025, 5, 11, 10)
    assert bees.details == {
        "entity_type": "person",
        "observation": "Ada keeps bees",
        "version": "1.0",
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


def test_chatgpt_gives_its_memories_and_the_branch_that_was_seen() -> None:
    reading = read("chatgpt.json")
    facts = by_content(reading)
    saved = facts["User lives in Porto."]
    assert saved.learned_at == datetime(2023, 11, 14, 22, 13, 21, 500000, tzinfo=UTC)
    brief, long = facts["Answer briefly."], facts["Answer at length."]
    assert brief.chain == long.chain == "about_model_message"
    assert [fact.content for fact in reading.facts].count("I am a nurse.") == 1
    first, second = reading.talks
    assert (first.session_id, second.session_id) == ("chatgpt:c-1", "chatgpt:c-2")
    said = [(message["role"], message["content"]) for message in first.messages]
    assert said == [("user", "I live in Porto."), ("assistant", "Noted.")]
    assert second.messages[0]["at"] == day(2025, 2, 19, 21, 20)


def test_what_is_no_conversation_among_those_of_chatgpt_is_named() -> None:
    node = {"message": {"author": {"role": "user"}, "content": {"content_type": "text"}}}
    node["message"]["content"]["parts"] = ["I play squash."]
    talk = {
        "id": "c-1",
        "create_time": 1.0,
        "current_node": "n",
        "mapping": {"n": node | {"id": "n"}},
    }
    reading = read_product(json.dumps([talk, {"id": "c-2", "title": "Broken"}]).encode(), "chatgpt")
    assert [message["id"] for message in reading.talks[0].messages] == ["n"]
    [broken] = reading.left_out
    assert broken.reason == "conversation Broken: it has no mapping"


def test_attachments_of_messages_of_claude_are_counted() -> None:
    message = {
        "uuid": "m",
        "sender": "human",
        "text": "I row.",
        "created_at": "2026-02-01T10:00:00Z",
    }
    message["attachments"] = [{"file_name": "a.txt", "extracted_content": "I live in a file."}]
    talk = {"uuid": "k", "chat_messages": [message, message | {"uuid": "n", "text": ""}]}
    reading = read_product(json.dumps([talk]).encode(), "claude")
    assert [message["content"] for message in reading.talks[0].messages] == ["I row."]
    assert reading.notes == ["2 files of projects, memories and messages are not imported."]


def test_the_list_of_memories_of_chatgpt_is_read() -> None:
    [fact] = read("chatgpt-memories.json").facts
    assert (fact.origin, fact.learned_at) == ("01a", day(2024, 2, 1, 10))


def test_a_copied_list_of_memories_of_chatgpt_has_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "memories.txt"
    path.write_text("User lives in Lisbon.\n\n- [2025-06-18] - Has two dogs\n[2025-99-01] - No\n")
    reading = read_product(path, "chatgpt")
    home, dogs = reading.facts
    assert (home.content, home.learned_at) == ("User lives in Lisbon.", None)
    assert (dogs.content, dogs.learned_at) == ("Has two dogs", day(2025, 6, 18))
    assert [(one.line, one.reason) for one in reading.left_out] == [
        (4, "its date is none: 2025-99-01")
    ]


def build_claude() -> dict[str, str]:
    """Return the files of an export of Claude."""
    remembered = "**Work context**\n\nAnn is a nurse.\n\n- Prefers short answers"
    memory = {
        "conversations_memory": remembered,
        "project_memories": {"p-1": "The shop sells bikes."},
        "account_uuid": "a",
        "memory_files": [{}],
    }
    project = {
        "uuid": "p-1",
        "name": "Shop",
        "prompt_template": "Never name prices.",
        "docs": [{"filename": "prices.csv"}],
        "created_at": "2025-01-01T00:00:00Z",
    }
    return {
        "conversations.json": (DATA / "claude.json").read_text(),
        "memories/a.json": json.dumps(memory),
        "projects/p-1.json": json.dumps(project),
        "users.json": json.dumps([{"uuid": "a"}]),
    }


def check_claude(reading: Reading) -> None:
    facts = by_content(reading)
    assert facts["Ann is a nurse."].details["heading"] == "Work context"
    assert facts["Prefers short answers"].words == {"kind": "preference"}
    assert facts["The shop sells bikes."].words["project"] == "Shop"
    instruction = facts["Never name prices."]
    assert instruction.words == {"kind": "constraint", "project": "Shop"}
    assert instruction.learned_at == day(2025, 1, 1)
    [talk] = reading.talks
    assert [message["content"] for message in talk.messages] == ["I live in Porto.", "Noted."]
    assert reading.notes == ["2 files of projects, memories and messages are not imported."]


def test_an_export_of_claude_is_read_as_an_archive_and_as_a_folder(tmp_path: Path) -> None:
    archive, folder = tmp_path / "data.zip", tmp_path / "data"
    with zipfile.ZipFile(archive, "w") as written:
        for name, text in build_claude().items():
            written.writestr(name, text)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    check_claude(read_product(archive, "claude"))
    check_claude(read_product(folder, "claude"))


def test_a_damaged_file_of_a_folder_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "memories.json").write_text('{"broken')
    (tmp_path / "conversations.json").write_text((DATA / "claude.json").read_text())
    reading = read_product(tmp_path, "claude")
    assert len(reading.talks) == 1
    assert reading.left_out[0].reason.startswith("memories.json is neither JSON")


def test_supermemory_has_versions_and_ends() -> None:
    facts = by_content(read("supermemory.json"))
    porto, lisbon = facts["Ann lives in Porto"], facts["Ann lives in Lisbon"]
    assert porto.chain == lisbon.chain == "s2"
    assert (porto.learned_at, lisbon.learned_at) == (day(2024, 1, 1), day(2025, 2, 1))
    assert facts["Ann was born in Graz"].words == {"tier": "core"}
    cold = facts["Ann has a cold"]
    assert cold.valid_until == cold.end_learned_at == day(2024, 3, 9)
    assert facts["Ann is in Rome"].valid_until == day(2024, 4, 10)


def test_a_memory_below_two_documents_of_supermemory_is_one() -> None:
    memory = {"id": "m", "memory": "Ann sings", "isLatest": True, "spaceContainerTag": "ann"}
    documents = [{"id": "d", "memoryEntries": [memory]}, {"id": "e", "memoryEntries": [memory]}]
    [fact] = read_product(json.dumps({"documents": documents}).encode(), "supermemory").facts
    assert (fact.content, fact.owner, fact.chain) == ("Ann sings", "ann", None)


def test_each_fact_of_an_observation_of_claude_mem_is_one() -> None:
    reading = read("claude-mem.json")
    facts = by_content(reading)
    assert set(facts) == {
        "Tokens live ten minutes",
        "Refresh tokens are rotated",
        "The port moved: The service listens on 9000.",
        "The clock of the test machine is wrong",
    }
    tokens = facts["Tokens live ten minutes"]
    assert tokens.words == {"tags": ["decision", "auth"], "session_id": "s-1", "project": "shop"}
    assert tokens.learned_at == day(2025, 12, 1, 10)
    [talk] = reading.talks
    assert talk.session_id == "claude-mem:t-1"
    assert talk.messages[0]["content"] == "I prefer short commits."


def build_database(path: Path) -> Path:
    """Write the sample of claude-mem as its database, in which a write may be under way."""
    sample = json.loads((DATA / "claude-mem.json").read_text())
    tables = {"observations": "observations", "summaries": "session_summaries"}
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for name, table in (tables | {"prompts": "user_prompts"}).items():
            columns = list(dict.fromkeys(column for row in sample[name] for column in row))
            database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            for row in sample[name]:
                values = [row.get(column) for column in columns]
                marks = ", ".join("?" * len(columns))
                database.execute(f"INSERT INTO {table} VALUES ({marks})", values)
        database.commit()
    return path


def test_the_database_of_claude_mem_is_read_as_its_export_is(tmp_path: Path) -> None:
    reading = read_product(build_database(tmp_path / "claude-mem.db"), "claude-mem")
    exported = read("claude-mem.json")
    assert by_content(reading).keys() == by_content(exported).keys()
    assert reading.talks[0].messages == exported.talks[0].messages
    assert [one.line for one in reading.left_out] == [3, 2, 2]


def test_a_damaged_database_is_refused_in_words(tmp_path: Path) -> None:
    path = build_database(tmp_path / "claude-mem.db")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UnreadableFile, match="damaged database"):
        read_product(path, "claude-mem")
    with pytest.raises(UnreadableFile, match="from standard input"):
        read_product(path.read_bytes(), "claude-mem")


def test_bullets_paragraphs_and_what_leads_them_are_statements() -> None:
    facts = by_content(read("MEMORY.md"))
    assert list(facts) == [
        "The shop sells bikes, and repairs them.",
        "Always answer in German.",
        "I prefer small commits",
        "Deploys: never on Fridays",
        "Deploys: from `main` only",
        "The port is 9000",
        "Ann is the lead.",
    ]
    kinds = [fact.words["kind"] for fact in facts.values()]
    assert kinds == ["fact", "constraint", "preference", "constraint", "fact", "fact", "fact"]
    assert facts["The port is 9000"].learned_at == day(2025, 3, 1)
    assert facts["Ann is the lead."].details["heading"] == "Shop > Rules > Work context"


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("* one\n  two\n\n  three", ["one two", "three"]),
        ("- a:\n  - b:\n    - c\n- d", ["a: b: c", "d"]),
        ("Use these:\n1. uv\n2. ruff", ["Use these: uv", "Use these: ruff"]),
        (
            "## Needs\n- Node.js\n- uv, which installs Python too",
            ["Needs: Node.js", "uv, which installs Python too"],
        ),
        ("Name: Rui\nCity: Faro\nof old", ["Name: Rui", "City: Faro of old"]),
        ("**Docs**: in docs\n**Deploy:** by hand", ["Docs: in docs", "Deploy: by hand"]),
        ("~~~\n# no\n```\n~~~\nyes", ["yes"]),
        ("```\nnever closed\n- no", []),
        ("> quoted\n> words", ["quoted words"]),
        ("---\n\n***\n<details>\ntext\n</details>", ["text"]),
        ("<!-- a\n- b\n-->\n- c", ["c"]),
        ("[ref](x.md), ![image](y.png), **bold**: `__init__`", ["ref, image, bold: `__init__`"]),
    ],
)
def test_marks_of_markdown_are_not_part_of_statements(text: str, statements: list[str]) -> None:
    found = [one.text for one in read_statements(text) if not one.problem]
    assert found == statements


def test_the_name_of_a_statement_has_no_secret() -> None:
    [statement] = read_statements("- the API key is sk-live-51H8abcdEFGHijklMNOPqrstUVWX")
    fact = build_fact(statement, "AGENTS.md")
    assert fact.origin == "AGENTS.md/the API key is [redacted: model_key]"


def test_a_folder_is_searched_for_the_files_of_agents(tmp_path: Path) -> None:
    for name in (
        "CLAUDE.md",
        "README.md",
        "docs/AGENTS.md",
        ".claude/memory/2026-01-05.md",
        "node_modules/CLAUDE.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"- Line of {name}\n")
    facts = read_product(tmp_path, "markdown").facts
    assert {fact.details["file"]: fact.learned_at for fact in facts} == {
        "CLAUDE.md": None,
        "docs/AGENTS.md": None,
        ".claude/memory/2026-01-05.md": day(2026, 1, 5),
    }


@pytest.mark.parametrize(
    ("text", "left_out", "ids"),
    [
        ('{"id":"1","memory":"a"}\nnoise\n{"id":"2","memory":"b"}', [2], ["1", "2"]),
        ('noise\n{"id":"2","memory":"b"}', [1], ["2"]),
        ('{"id":"1","memory":"a"}{"id":"2","memory":"b"}', [], ["1", "2"]),
        ('{"id":"1","memory":"a"}\n{"id":"2","mem', [2], ["1"]),
        ('[{"id":"1","memory":"a"},{"id":"2","mem', [1], ["1"]),
        (
            '[\n  {"id":"1","memory":"a"},\n  {"id":"2" "memory":"b"},\n  {"id":"3","memory":"c"}\n]',
            [3],
            ["1", "3"],
        ),
        (
            '[\n  {\n    "id": "1",\n    "memory": "a\n  },\n  {\n    "id": "2", "memory": "b"\n  }\n]',
            [2],
            ["2"],
        ),
    ],
)
def test_what_is_damaged_is_named_and_all_else_is_read(
    text: str, left_out: list[int], ids: list[str]
) -> None:
    reading = read_product(text.encode(), "mem0")
    assert [fact.origin for fact in reading.facts] == ids
    assert [one.line for one in reading.left_out] == left_out
