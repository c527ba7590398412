"""Reads the word lists and tables in `data/`."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"


def read_lines(name: str) -> Iterator[list[str]]:
    """The words of each line; empty lines and comments left out."""
    for line in (_DATA / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def read_table(name: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / name).read_text(encoding="utf-8"))


def read_numbers(name: str) -> dict[str, float]:
    return {
        key: float(value)
        for key, value in json.loads((_DATA / name).read_text(encoding="utf-8")).items()
    }
