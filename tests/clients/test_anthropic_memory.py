"""Anthropic's memory tool on the client, against the real service."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from palimpsest_client import AsyncClient, Client

pytest.importorskip("anthropic", reason="pip install anthropic")

from anthropic.lib.tools import ToolError

from palimpsest_anthropic_memory import AsyncPalimpsestMemoryTool, PalimpsestMemoryTool

NOTES = "/memories/notes.md"


@pytest.fixture
def memory(service: str) -> Iterator[Client]:
    """A client of the shared service, as an agent nobody else is."""
    with Client(service, agent=f"anthropic-{uuid4().hex}") as client:
        yield client


@pytest.fixture
def tool(memory: Client) -> PalimpsestMemoryTool:
    return PalimpsestMemoryTool(memory)


def call(tool: PalimpsestMemoryTool, command: str, **fields: Any) -> Any:
    return tool.call({"command": command, **fields})


def test_every_edit_is_a_version(tool: PalimpsestMemoryTool, memory: Client) -> None:
    call(tool, "create", path=NOTES, file_text="Lives in Porto\nDrinks tea\n")
    call(tool, "str_replace", path=NOTES, old_str="Porto", new_str="Lisbon")
    call(tool, "insert", path=NOTES, insert_line=0, insert_text="# Ada")
    shown = call(tool, "view", path=NOTES, view_range=[1, 2])
    assert shown.splitlines()[1:] == ["     1\t# Ada", "     2\tLives in Lisbon"]
    [current] = memory.list_memories()
    texts = [version["details"]["text"] for version in memory.history(current["id"])]
    assert texts[0] == "Lives in Porto\nDrinks tea\n"
    assert texts[2] == "# Ada\nLives in Lisbon\nDrinks tea\n"


def test_files_are_renamed_and_deleted_by_folders(
    tool: PalimpsestMemoryTool, memory: Client
) -> None:
    for name in ("a/one.md", "a/b/Two.md", "a/b/two.md", "ab.md"):
        call(tool, "create", path=f"/memories/{name}", file_text=name)
    call(tool, "rename", old_path="/memories/a", new_path="/memories/c")
    call(tool, "delete", path="/memories/c/b/two.md")
    listed = [line.split("\t")[1] for line in call(tool, "view", path="/memories").splitlines()[1:]]
    assert listed == [
        "/memories",
        "/memories/ab.md",
        "/memories/c/",
        "/memories/c/b/",
        "/memories/c/one.md",
    ]
    assert call(tool, "view", path="/memories/c/b/Two.md").endswith("a/b/Two.md")
    versions = list(memory.list_memories(include_superseded=True))
    assert sorted(v["status"] for v in versions) == ["current"] * 3 + ["retracted"] * 4


@pytest.mark.parametrize(
    ("command", "fields", "words"),
    [
        ("create", {"path": NOTES, "file_text": ""}, "already exists"),
        ("create", {"path": "/etc/passwd", "file_text": ""}, "must start with"),
        ("create", {"path": "/memories/../x", "file_text": ""}, "would escape"),
        ("view", {"path": "/memories/no.md"}, "does not exist"),
        ("insert", {"path": NOTES, "insert_line": 9, "insert_text": "x"}, "within the range"),
        ("str_replace", {"path": NOTES, "old_str": "a", "new_str": "b"}, "in lines: 1, 1, 2"),
        ("str_replace", {"path": "/memories", "old_str": "a", "new_str": "b"}, "not a file"),
        ("rename", {"old_path": NOTES, "new_path": NOTES}, "already exists"),
        ("delete", {"path": "/memories"}, "Cannot delete"),
    ],
)
def test_what_cannot_be_done_is_said(
    tool: PalimpsestMemoryTool, command: str, fields: dict[str, Any], words: str
) -> None:
    call(tool, "create", path=NOTES, file_text="aa\na")
    with pytest.raises(ToolError, match=words):
        call(tool, command, **fields)


def test_it_works_asynchronously(service: str) -> None:
    async def use() -> Any:
        async with AsyncClient(service, agent=f"anthropic-{uuid4().hex}") as client:
            tool = AsyncPalimpsestMemoryTool(client)
            await tool.call({"command": "create", "path": NOTES, "file_text": "tea"})
            return await tool.call({"command": "view", "path": NOTES})

    assert asyncio.run(use()).endswith("     1\ttea")
