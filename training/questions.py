"""Questions, and what answers them: pairs to teach an encoder, and to measure it by."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import ENDINGS, FOLDER, HELD_OUT, Line, list_writers, read_families, read_scopes

HELD_OUT_ENDINGS = ("2", "5", "8")  # of the names of writers
ASKED = ("asked1", "asked3")  # writers of English questions to scopes
HELD_OUT_ASKED = ("relationships", "business")
SAME = (*ENDINGS, "DUPLICATE")
MIXED = "mixed"  # a register of scopes with sentences of two languages
FEWEST_OTHERS = 4
FAMILY_PAIRS = 4_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, or a fact, the texts that it belongs to, and others that it is told from."""

    query: str
    answers: tuple[str, ...]
    others: tuple[str, ...] = ()


def read_lines(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def list_worlds(language: str | None = None, *, is_held_out: bool) -> Iterator[Path]:
    """Yield the files of `corpus/worlds` in a language, or in all; talks count as one."""
    for file in sorted((FOLDER / "worlds").glob("*.jsonl")):
        is_wanted = language in (None, name_language(file.stem))
        if is_wanted and file.stem.endswith(HELD_OUT_ENDINGS) == is_held_out:
            yield file


def list_language_writers(file: str, *, is_held_out: bool) -> list[Path]:
    """Return the folders of the writers of `corpus/languages` who wrote such a file."""
    folders = sorted(path.parent for path in (FOLDER / "languages").glob(f"*/{file}"))
    return [folder for folder in folders if folder.name.endswith(HELD_OUT_ENDINGS) == is_held_out]


def name_language(writer: str) -> str:
    return writer.rstrip("0123456789")


def read_worlds(file: Path) -> Iterator[Asked]:
    """Yield the questions of a file of worlds or of talks. A message has its speaker before it."""
    for world in read_lines(file):
        texts = world.get("facts") or [
            f"{turn['speaker']}: {turn['text']}" for turn in world["turns"]
        ]
        for question in world["questions"]:
            yield _ask(question["query"], dict(enumerate(texts)), question["answers"])


def read_questions(scopes: Iterable[Line], file: Path) -> Iterator[Asked]:
    """Yield the questions of a file to what scopes hold at their end."""
    by_id = {scope["id"]: scope for scope in scopes}
    for line in read_lines(file):
        facts = by_id[line["scope"]]["facts"]
        ended = {
            relation["to"]
            for fact in facts
            for relation in fact["relations"]
            if relation["relation"] in ENDINGS
        }
        holding = {fact["n"]: fact["text"] for fact in facts if fact["n"] not in ended}
        asked = _ask(line["query"], holding, line["answers"])
        if asked.answers:
            yield asked


def _ask(query: str, texts: dict[int, str], answers: Sequence[int]) -> Asked:
    right = tuple(texts[number] for number in answers if number in texts)
    return Asked(query, right, tuple(text for text in texts.values() if text not in right))


def read_english_questions(writers: Iterable[str]) -> Iterator[Asked]:
    scopes = read_scopes(list_writers())
    for writer in writers:
        yield from read_questions(scopes, FOLDER / "questions" / f"{writer}.jsonl")


def pair_scopes(scopes: Iterable[Line]) -> Iterator[Asked]:
    """Yield each fact of a scope that ends or repeats others, beside these."""
    for scope in scopes:
        texts = {fact["n"]: fact["text"] for fact in scope["facts"]}
        for fact in scope["facts"]:
            relations = {relation["to"]: relation["relation"] for relation in fact["relations"]}
            same = tuple(texts[n] for n, relation in relations.items() if relation in SAME)
            before = (n for n in texts if n < fact["n"] and n not in relations)
            others = tuple(texts[n] for n in before)
            if same and len(others) >= FEWEST_OTHERS:
                yield Asked(fact["text"], same, others)


def draw_pairs_of_families(rng: random.Random) -> list[Asked]:
    """Return texts of English families beside what they end or repeat."""
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    pairs = [
        Asked(incoming["text"], (family["stored"],))
        for family in read_families(writers)
        for incoming in family["incoming"]
        if incoming["relation"] in SAME
    ]
    return rng.sample(pairs, FAMILY_PAIRS)
