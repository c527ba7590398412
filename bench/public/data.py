"""The public data: where it lies, and what its bytes are."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

HOST = "https://raw.githubusercontent.com"
SUMS = Path(__file__).parent / "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of a public repository, at a commit, and what its publisher allows."""

    name: str
    repository: str
    commit: str
    folder: str
    licence: str


CONSOLIDATION = Source(
    "FactConsolidation",
    "DSAIL-Memory/EvoMemBench",
    "aa4cea8fd936b76b2d3591d3ef897030617dc43a",
    "In-Episode-Knowledge/INEP-KNOW/MemoryAgentBench/data",
    "MIT",
)
STATEBENCH = Source(
    "StateBench",
    "Parslee-ai/statebench",
    "564f804198b9a5d4a11f32a2192bbbc77883d368",
    "data/releases/v1.0",
    "MIT",
)
BELIEFS = Source(
    "PrecisionMemBench",
    "tenurehq/precisionMemBench",
    "18c7955357b33098a64d601bc8e4624c41743972",
    "fixtures",
    "MIT",
)
LOCOMO = Source(
    "LoCoMo",
    "danny911kr/REALTALK",
    "b903e06a9770bf4e5fe9018c3e132889666d3b4a",
    "data/locomo",
    "CC BY-NC 4.0",
)
REALTALK = Source("REALTALK", LOCOMO.repository, LOCOMO.commit, "data", "none is named")


class DataMissing(Exception):
    """A file cannot be had, or is another one."""


def read_file(source: Source, name: str, folder: Path | None) -> list[Any]:
    """Return the values of a JSON file, or of the lines of a JSONL file.

    It lies in `folder`, if there is one, under the name of its source, and is fetched else.
    Raises DataMissing.
    """
    data = _read_bytes(source, name, folder)
    if hashlib.sha256(data).hexdigest() != read_sums()[f"{source.name}/{name}"]:
        raise DataMissing(f"{name} is not the file of {source.repository} at {source.commit}.")
    text = data.decode("utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


def list_files(source: Source) -> list[str]:
    """Return the names of the pinned files of a source."""
    start = f"{source.name}/"
    return [name.removeprefix(start) for name in read_sums() if name.startswith(start)]


def read_sums() -> dict[str, str]:
    lines = SUMS.read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _read_bytes(source: Source, name: str, folder: Path | None) -> bytes:
    if folder:
        try:
            return (folder / source.name / name).read_bytes()
        except OSError as error:
            raise DataMissing(str(error)) from error
    url = f"{HOST}/{source.repository}/{source.commit}/{source.folder}/{name}"
    try:
        return httpx.get(url, timeout=60).raise_for_status().content
    except httpx.HTTPError as error:
        raise DataMissing(
            f"{url}: {error}. Without a network, lay the files into a folder: --folder"
        ) from error
