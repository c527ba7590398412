"""Learns what brings a question near the facts that answer it, and a fact near those that it ends or repeats, in many languages.

    PYTHONPATH=. .venv-training/bin/python training/train_languages.py   # three minutes; then `make languages`

Of the encoder itself nothing is changed. Learned are the middle of its vectors and a matrix that turns them, 384 by 384, which the exporter
puts behind it. Writers of `corpus/languages` whose names end in 2, 5 or 8 are held out.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from e5 import E5
from export_languages import LEARNED, build_encoder, build_tokenizer
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from published_e5 import read_published

from app.embedding.many_languages import PREFIX
from corpus import ENDINGS, FOLDER, Line, list_writers, read_families, read_scopes
from corpus import HELD_OUT as HELD_OUT_OF_ENGLISH

SEED = 1
STEPS = 600
DIMENSIONS = 384
RATE = 1e-3
TEMPERATURE = 0.05
KEEPS = 1e-3  # times the squared distance of the matrix from one that turns nothing
QUESTIONS, FAMILIES = 64, 32  # pairs of a step: of scopes, and of families
OTHERS = 8  # facts of its own scope that a pair of a scope is told from
FAMILY_PAIRS = 3_000
SAME = (*ENDINGS, "DUPLICATE")
ASKED = ("asked1", "asked3")  # writers of English questions
HELD_OUT_ASKED = ("relationships", "business")
MIXED = "mixed"  # a register with sentences of two languages
HELD_OUT_ENDINGS = ("2", "5", "8")  # of the names of the writers in other languages


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that belong together, and others of the same scope that do not."""

    text: str
    fact: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to what a scope holds at its end, and which of its facts answer it."""

    query: str
    facts: tuple[str, ...]
    answers: frozenset[str]


def read_lines(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def list_language_writers(file: str, *, is_held_out: bool) -> list[Path]:
    """Return the folders of the writers of `corpus/languages` who wrote such a file."""
    folders = sorted(path.parent for path in (FOLDER / "languages").glob(f"*/{file}"))
    return [folder for folder in folders if folder.name.endswith(HELD_OUT_ENDINGS) == is_held_out]


def read_questions(scopes: Iterable[Line], file: Path) -> Iterator[Asked]:
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
        answers = frozenset(holding[n] for n in line["answers"] if n in holding)
        if answers:
            yield Asked(line["query"], tuple(holding.values()), answers)


def read_english_questions(writers: Iterable[str]) -> Iterator[Asked]:
    scopes = read_scopes(list_writers())
    for writer in writers:
        yield from read_questions(scopes, FOLDER / "questions" / f"{writer}.jsonl")


def draw_pairs_of_questions(asked: Sequence[Asked]) -> Iterator[Pair]:
    for each in asked:
        others = tuple(fact for fact in each.facts if fact not in each.answers)
        yield from (Pair(each.query, answer, others) for answer in sorted(each.answers))


def draw_pairs_of_scopes(scopes: Sequence[Line]) -> Iterator[Pair]:
    """Yield each fact beside what it ends or repeats."""
    for scope in scopes:
        texts = {fact["n"]: fact["text"] for fact in scope["facts"]}
        for fact in scope["facts"]:
            concerned = {relation["to"]: relation["relation"] for relation in fact["relations"]}
            before = (n for n in texts if n < fact["n"] and n not in concerned)
            others = tuple(texts[n] for n in before)
            for number, relation in concerned.items():
                if relation in SAME and len(others) >= OTHERS:
                    yield Pair(fact["text"], texts[number], others)


def draw_pairs_of_families(rng: random.Random) -> list[Pair]:
    writers = [writer for writer in list_writers() if writer not in HELD_OUT_OF_ENGLISH]
    pairs = [
        Pair(incoming["text"], family["stored"])
        for family in read_families(writers)
        for incoming in family["incoming"]
        if incoming["relation"] in SAME
    ]
    return rng.sample(pairs, FAMILY_PAIRS)


class Texts:
    """Texts and their vectors by the published encoder, each made once."""

    def __init__(self) -> None:
        published = read_published()
        plain = np.zeros(DIMENSIONS, np.float32), np.eye(DIMENSIONS, dtype=np.float32)
        model = build_encoder(published, *plain)
        self._session = InferenceSession(model.SerializeToString())
        self._tokenizer = build_tokenizer(published)
        self._rows: dict[str, int] = {}
        self._vectors: list[NDArray[np.float32]] = []

    def add(self, texts: Sequence[str]) -> None:
        for text in texts:
            if text not in self._rows:
                self._rows[text] = len(self._rows)
                encoded = self._tokenizer.encode(f"{PREFIX} {text}", add_special_tokens=False)
                ids = np.array([[E5.start, *encoded.ids, E5.end]])
                self._vectors.append(self._session.run(["vectors"], {"ids": ids})[0][0])

    def get(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors as (texts, 384)."""
        return torch.tensor(np.stack([self._vectors[self._rows[text]] for text in texts]))


def learn(
    texts: Texts, scoped: Sequence[Pair], families: Sequence[Pair]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the middle (384) and the matrix (384, 384)."""
    rng = random.Random(SEED)
    middle = texts.get([pair.fact for pair in (*scoped, *families)]).mean(0).requires_grad_()
    matrix = torch.eye(DIMENSIONS, requires_grad=True)
    optimizer = torch.optim.Adam([middle, matrix], lr=RATE)
    # The rate falls to nothing, so that the last steps are as good as any.
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, STEPS)

    def turn(lines: Sequence[str]) -> torch.Tensor:
        return torch.nn.functional.normalize((texts.get(lines) - middle) @ matrix, dim=-1)

    for step in range(1, STEPS + 1):
        few = rng.sample(scoped, QUESTIONS)
        batch = [*few, *rng.sample(families, FAMILIES)]
        ours, facts = turn([pair.text for pair in batch]), turn([pair.fact for pair in batch])
        likeness = ours @ facts.T
        named = [pair.fact for pair in batch]
        for row, pair in enumerate(batch):
            for column, fact in enumerate(named):
                if row != column and fact in (pair.fact, pair.text):
                    likeness[row, column] = -1
        others = turn([other for pair in few for other in rng.choices(pair.others, k=OTHERS)])
        of_scope = torch.full((len(batch), OTHERS), -1.0)
        of_scope[:QUESTIONS] = (
            ours[:QUESTIONS, None] * others.view(QUESTIONS, OTHERS, DIMENSIONS)
        ).sum(-1)
        scores = torch.cat([likeness, of_scope], 1) / TEMPERATURE
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(batch)))
        loss = loss + KEEPS * (matrix - torch.eye(DIMENSIONS)).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        falling.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    return middle.detach(), matrix.detach()


def remove_languages(texts: Texts, told: Mapping[str, Sequence[str]]) -> torch.Tensor:
    """Return a matrix (384, 384) that leaves of vectors what does not tell the language.

    `told` has texts by their language. The means of languages differ in as many directions as there
    are other languages; these are taken out. So a question finds an answer in another language
    among facts in its own.
    """
    means = torch.stack([texts.get(lines).mean(0) for lines in told.values()])
    *_, directions = torch.linalg.svd(means - means.mean(0), full_matrices=False)
    directions = directions[: len(told) - 1]
    return torch.eye(DIMENSIONS) - directions.T @ directions


def measure(
    texts: Texts, asked: Sequence[Asked], middle: torch.Tensor, matrix: torch.Tensor
) -> tuple[float, float]:
    """Return the shares of questions that have a right fact first, and among three."""
    first = among = 0
    for each in asked:
        turned = torch.nn.functional.normalize(
            (texts.get([each.query, *each.facts]) - middle) @ matrix, dim=-1
        )
        order = torch.argsort(-(turned[1:] @ turned[0])).tolist()
        places = [each.facts[place] in each.answers for place in order]
        first += places[0]
        among += any(places[:3])
    return first / len(asked), among / len(asked)


def main() -> None:
    torch.manual_seed(SEED)
    scopes, asked = [], list(read_english_questions(ASKED))
    told: dict[str, list[str]] = defaultdict(list)
    for folder in list_language_writers("scopes.jsonl", is_held_out=False):
        lines = read_lines(folder / "scopes.jsonl")
        scopes += lines
        for scope in lines:
            if MIXED not in scope["register"]:
                told[folder.name.rstrip("0123456789")] += (fact["text"] for fact in scope["facts"])
        for file in sorted(folder.glob("*questions.jsonl")):
            asked += read_questions(lines, file)
    scoped = [*draw_pairs_of_questions(asked), *draw_pairs_of_scopes(scopes)]
    families = draw_pairs_of_families(random.Random(SEED))
    told["english"] = [pair.fact for pair in families]
    print(f"{len(asked)} questions, {len(scoped)} pairs of scopes", flush=True)
    held_out = {"english": list(read_english_questions(HELD_OUT_ASKED))}
    for folder in list_language_writers("questions.jsonl", is_held_out=True):
        lines = read_lines(folder / "scopes.jsonl")
        held_out[folder.name] = list(read_questions(lines, folder / "questions.jsonl"))
    texts = Texts()
    for pair in (*scoped, *families):
        texts.add([pair.text, pair.fact, *pair.others])
    for own in told.values():
        texts.add(own)
    for questions in held_out.values():
        for each in questions:
            texts.add([each.query, *each.facts])
    plain = torch.zeros(DIMENSIONS), torch.eye(DIMENSIONS)
    middle, matrix = learn(texts, scoped, families)
    learned = middle, remove_languages(texts, told) @ matrix
    for name, questions in held_out.items():
        for what, turning in (("before", plain), ("learned", learned)):
            first, among = measure(texts, questions, *turning)
            print(f"{name}, {what}: right first {first:.3f}, among three {among:.3f}", flush=True)
    middle, matrix = learned
    np.savez(LEARNED, middle=middle.numpy(), matrix=matrix.numpy())


if __name__ == "__main__":
    main()
