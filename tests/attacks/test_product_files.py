"""R13: a hostile file of another product is read or refused in words, by the reader and at the command line."""

import copy
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.importers.documents import parse_file
from app.importers.facts import UnreadableFile
from app.importers.markdown import read_statements
from app.importers.products import read_product
from support.mutants import VALUES, Place, list_places
from support.service_process import palimpsest

DATA = Path(__file__).parents[1] / "importers" / "data"
SAMPLES = {
    "mem0.json": "mem0",
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
}
ODD: list[Any] = [
    *VALUES.values(),
    *("\0", "\ud800", "9999-12-31", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"),
    *("253402300799", 253402300799, -1e11, "²", 10**40, float("nan"), [None], [{}], {"\ud800": 1}),
]


def read_sample(name: str) -> list[Any]:
    """Return the values of a sample: one, or those of its lines that are JSON."""
    value = parse_file((DATA / name).read_bytes()).value
    return value if name.endswith(".jsonl") else [value]


def put(values: list[Any], path: Place, value: Any) -> bytes:
    """Return the file with this value in one place."""
    changed = copy.deepcopy(values)
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return "\n".join(map(json.dumps, changed)).encode()


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_with_one_other_value_is_read_or_refused_in_words(sample: str) -> None:
    values = read_sample(sample)
    for path, _ in list_places(values):
        for value in ODD:
            try:
                reading = read_product(put(values, path, value), SAMPLES[sample])
            except UnreadableFile:
                continue
            for one in (*reading.facts, *reading.left_out, *reading.talks):
                json.dumps(asdict(one), ensure_ascii=False, default=str).encode()


FACT = {"id": "a", "user_id": "u", "memory": "I like tea", "created_at": "2024-01-01T00:00:00Z"}
DEEP = '{"a":' * 100_000
FILES = {
    "brackets": ("mem0", "[" * 100_000),
    "nested": ("langmem", json.dumps(FACT) + "\n" + DEEP),
    "digits": ("mem0", json.dumps([FACT])[:-2] + ',"metadata":{"a":' + "9" * 5000 + "}}]"),
    "half a character": ("mem0", json.dumps([FACT | {"memory": "I like \ud800 tea"}])),
    "half a name": ("langmem", '{"namespace":["a"],"key":"k","value":{"\\ud800":"tea"}}'),
    "the last day": ("mem0", json.dumps([FACT | {"expiration_date": "9999-12-31"}])),
    "a namespace that is a number": ("langmem", '{"namespace":1,"key":"k","value":{"a":"tea"}}'),
    "observations that are a number": (
        "server-memory",
        '{"type":"entity","name":"Ann","entityType":"person","observations":7}',
    ),
    "not a number": ("mem0", json.dumps([FACT | {"metadata": {"a": float("nan")}}])),
}


@pytest.mark.parametrize("name", FILES)
def test_the_command_says_in_words_what_is_wrong_with_a_file(
    client: httpx.Client, tmp_path: Path, name: str
) -> None:
    product, content = FILES[name]
    file = tmp_path / "file.json"
    file.write_text(content)
    done = palimpsest(
        *("import", str(file), "--from", product),
        PALIMPSEST_URL=str(client.base_url),
        PALIMPSEST_AGENT=client.headers["X-Agent-Id"],
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(mark * 100_000 for mark in ("<!--", "[", "**", "# ", "- ", "`", "> ", "|", "- - ", "!(")),
        "#" + " " * 100_000 + "x",
        "---\n" + "- a:\n" * 20_000,
        "\n".join(" " * depth + "- a:" for depth in range(2_000)),
    ],
)
def test_markdown_is_read_in_a_time_that_grows_with_its_length(text: str) -> None:
    began = time.process_time()
    list(read_statements(text))
    assert time.process_time() - began < 5
