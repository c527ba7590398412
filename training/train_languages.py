"""Teaches the encoder of many languages memory: which facts answer a question, and which one a fact ends or repeats.

    PYTHONPATH=. .venv-training/bin/python training/train_languages.py   # half an hour; then `make languages`

The upper four of the twelve layers of the published encoder learn, and behind them a middle of its vectors and a matrix that turns them.
Writers whose names end in 2, 5 or 8 are held out.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from contrast import Lesson, Texts, list_texts, measure, teach
from e5 import E5, build_e5
from export_languages import LEARNED
from quantised_bert import quantise_channels
from questions import (
    ASKED,
    HELD_OUT_ASKED,
    Asked,
    draw_pairs_of_families,
    list_language_writers,
    list_worlds,
    name_language,
    pair_scopes,
    read_english_questions,
    read_lines,
    read_questions,
    read_worlds,
)
from torch.nn.functional import normalize

from app.embedding.many_languages import PREFIX

SEED = 1
UPPER, LAYERS = 4, 12
STEPS = 600
TELLING = 400  # texts of a language that tell what is its own
NOT_QUESTIONS = ("english", "talks")  # worlds of the English encoder


class Turning:
    """The middle of the vectors (384), and a matrix that turns what is left of them (384, 384)."""

    def __init__(self) -> None:
        learned = np.load(LEARNED)
        self.middle = torch.from_numpy(learned["middle"]).requires_grad_()
        self.matrix = torch.from_numpy(learned["matrix"]).requires_grad_()

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        return normalize((vectors - self.middle) @ self.matrix, dim=-1)


def read_own_questions(*, is_held_out: bool) -> Iterator[tuple[str, list[Asked]]]:
    """Yield the questions of writers in other languages than English, by their names."""
    for folder in list_language_writers("questions.jsonl", is_held_out=is_held_out):
        scopes = read_lines(folder / "scopes.jsonl")
        files = sorted(folder.glob("*questions.jsonl"))
        yield folder.name, [one for file in files for one in read_questions(scopes, file)]
    for file in list_worlds(is_held_out=is_held_out):
        if name_language(file.stem) not in NOT_QUESTIONS:
            yield file.stem, list(read_worlds(file))


def remove_languages(texts: Texts, told: Mapping[str, Sequence[str]]) -> torch.Tensor:
    """Return a matrix (384, 384) that leaves of vectors what does not tell the language.

    `told` has texts by their language. The means of languages differ in as many directions as there
    are other languages; these are taken out. So a question finds an answer in another language
    among facts in its own.
    """
    with torch.no_grad():
        means = torch.stack([texts.encode(lines).mean(0) for lines in told.values()])
    *_, directions = torch.linalg.svd(means - means.mean(0), full_matrices=False)
    directions = directions[: len(told) - 1]
    return torch.eye(directions.shape[1]) - directions.T @ directions


def save(layers: torch.nn.ModuleList, middle: torch.Tensor, matrix: torch.Tensor) -> None:
    """Write what was learned, the weights of the layers in 8 bits with a scale for each row."""
    learned: dict[str, Any] = {"middle": middle.numpy(), "matrix": matrix.numpy()}
    for place, layer in enumerate(layers, LAYERS - UPPER):
        for name, value in layer.state_dict().items():
            full = f"encoder.layer.{place}.{name}"
            if value.dim() == 2:
                codes, scales = quantise_channels(value.numpy())
                learned |= {f"{full}.codes": codes, f"{full}.scales": scales}
            else:
                learned[full] = value.numpy()
    np.savez(LEARNED, **learned)


def tell(held_out: Mapping[str, Sequence[Asked]], texts: Texts, turning: Turning) -> None:
    for name, asked in held_out.items():
        first, among = measure(texts, asked, turning)
        print(f"{name}: right first {first:.3f}, among three {among:.3f}", flush=True)


def main() -> None:
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    asked: list[Asked] = []
    scopes: list[Asked] = []
    told: dict[str, list[str]] = defaultdict(list)
    for writer, own in read_own_questions(is_held_out=False):
        asked += own
        told[name_language(writer)] += (text for one in own for text in one.answers)
    for folder in list_language_writers("scopes.jsonl", is_held_out=False):
        lines = read_lines(folder / "scopes.jsonl")
        scopes += pair_scopes(lines)
    families = draw_pairs_of_families(rng)
    told["english"] = [text for pair in families for text in pair.answers]
    english = list(read_english_questions(ASKED))
    english += [
        one for file in list_worlds("english", is_held_out=False) for one in read_worlds(file)
    ]
    lessons = [Lesson(asked, 28), Lesson(english, 6), Lesson(scopes, 8), Lesson(families, 6)]
    held_out = {"english": list(read_english_questions(HELD_OUT_ASKED))}
    held_out |= dict(read_own_questions(is_held_out=True))
    few = {
        language: rng.sample(lines, min(TELLING, len(lines))) for language, lines in told.items()
    }
    tokenizer = E5.load_tokenizer()
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False).ids
    bert = build_e5(LAYERS)
    texts = Texts(bert, tokenizer, [E5.start, *prefix], [E5.end], upper=UPPER)
    for each in (*(lesson.asked for lesson in lessons), *held_out.values()):
        texts.add(list_texts(each))
    print(f"{len(asked)} questions, {len(scopes)} pairs of scopes; before:", flush=True)
    turning = Turning()
    tell(held_out, texts, turning)
    teach(texts, lessons, STEPS, turning, [turning.middle, turning.matrix])
    turning.matrix = remove_languages(texts, few) @ turning.matrix.detach()
    print("learned:", flush=True)
    tell(held_out, texts, turning)
    save(texts.upper, turning.middle.detach(), turning.matrix)


if __name__ == "__main__":
    main()
