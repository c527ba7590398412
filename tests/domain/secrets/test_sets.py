"""How many of the secrets that people write are taken out, and how many of their other words."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.domain.secrets import redact_secrets

DATA = Path(__file__).parent / "data"
CORPUS = Path(__file__).parents[3] / "corpus"
# Stands inside tokens, so that no scanner of sources takes them for real ones.
CUT = "§"


def read_set(name: str) -> list[tuple[str, str | None]]:
    lines = (DATA / name).read_text("utf-8").replace(CUT, "").splitlines()
    return [(row["text"], row["secret"]) for row in map(json.loads, lines)]


FIRST_SET = read_set("first_set.jsonl")


@pytest.mark.parametrize(("text", "secret"), [row for row in FIRST_SET if row[1]])
def test_a_secret_of_the_first_set_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact_secrets(text)[0]


@pytest.mark.parametrize("text", [text for text, secret in FIRST_SET if secret is None])
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_secrets(text) == (text, 0)


def list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("content", "text") and isinstance(inner, str):
                yield inner
            else:
                yield from list_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from list_texts(inner)


def test_ordinary_sentences_stay_as_they_are() -> None:
    texts = set()
    for folder in ("lives", "speech", "scopes"):
        for file in (CORPUS / folder).rglob("*.jsonl"):
            for line in file.read_text("utf-8").splitlines():
                texts.update(list_texts(json.loads(line)))
    sample = random.Random(41).sample(sorted(texts), 2_000)
    touched = [text for text in sample if redact_secrets(text)[1]]
    assert len(touched) <= 10, touched
