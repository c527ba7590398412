"""Learns which statements of talk are about the user's own life, and writes the weights.

    relevance.py [--held-out FOLDER ...]

A logistic regression over the encoder's vector of a sentence and three marks of its words. It learns from the labelled talk for
development, from the dated and compound facts of the same writers, and from facts of corpus/scopes. `--held-out` leaves folders of
corpus/speech out, and prints how well the weights read them.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.embedding.local import LocalEmbedder
from app.extraction.relevance import Weights, list_marks
from app.networks import FairThreads

CORPUS = Path(__file__).parents[1] / "corpus"
WEIGHTS = Path(__file__).parents[1] / "app" / "extraction" / "relevance.json"
WRITTEN = ("a", "c")
REAL = ("r", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "s", "u", "w")
FROM_SCOPES = 400
# There are four times as many sentences of real talk, which is mostly about films and games.
COUNT_OF_WRITTEN = 2
# Chosen by cross-validation over sessions: vectors have unit length, and marks are 0 or 1.
VECTOR_SCALE = 3.0
PENALTY = 2.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--held-out", nargs="*", default=[])
    held_out = parser.parse_args().held_out
    written = [*read_talk(WRITTEN, held_out), *read_facts(held_out)]
    examples = [*written * COUNT_OF_WRITTEN, *read_talk(REAL, held_out)]
    weights = learn(examples)
    print(f"{len(examples)} sentences, {sum(is_fact for _, is_fact in examples)} of them facts")
    if held_out:
        report(weights, list(read_talk(held_out, [])))
    else:
        write_weights(weights)


def read_talk(folders: Sequence[str], held_out: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of users, and whether each states a fact of the user's life."""
    for folder in folders:
        if folder not in held_out:
            for turn in read_lines(CORPUS / "speech" / folder / "talk.jsonl"):
                for label in turn["labels"]:
                    yield label["span"].strip(), label["class"] == "fact"


def read_facts(held_out: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield facts that somebody wrote to be remembered."""
    for folder in WRITTEN:
        if folder not in held_out:
            for name in ("dates", "compound"):
                for line in read_lines(CORPUS / "speech" / folder / f"{name}.jsonl"):
                    yield line["text"], True
    texts = []
    for path in sorted((CORPUS / "scopes").glob("*.jsonl")):
        for scope in read_lines(path):
            texts += [fact["text"] for fact in scope["facts"]]
    for text in random.Random(0).sample(texts, FROM_SCOPES):
        yield text, True


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def learn(examples: Sequence[tuple[str, bool]]) -> Weights:
    """Fit the regression by Newton's method."""
    texts = [text for text, _ in examples]
    inputs = np.hstack([encode(texts) * VECTOR_SCALE, make_marks(texts)])
    inputs = np.hstack([inputs, np.ones((len(texts), 1))])
    wanted = np.array([is_fact for _, is_fact in examples], float)
    penalty = np.diag([*[PENALTY] * (inputs.shape[1] - 1), 0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (likely - wanted) + penalty @ weights
        curvature = (inputs * (likely * (1 - likely))[:, None]).T @ inputs + penalty
        weights -= np.linalg.solve(curvature, gradient)
    marks = len(list_marks(""))
    vector = (weights[: -marks - 1] * VECTOR_SCALE).astype(np.float32)
    return Weights(
        LocalEmbedder.name, vector, tuple(weights[-marks - 1 : -1].tolist()), float(weights[-1])
    )


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    return asyncio.run(LocalEmbedder(FairThreads(2)).encode(texts))


def make_marks(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([list_marks(text) for text in texts], float)


def report(weights: Weights, examples: Sequence[tuple[str, bool]]) -> None:
    vectors = encode([text for text, _ in examples])
    for least in (0.2, 0.3, 0.5, 0.7):
        chosen = [
            is_fact
            for (text, is_fact), vector in zip(examples, vectors, strict=True)
            if weights.measure(text, vector) >= least
        ]
        wanted = sum(is_fact for _, is_fact in examples)
        print(
            f"from {least}: precision {sum(chosen) / len(chosen):.3f}, recall {sum(chosen) / wanted:.3f}"
        )


def write_weights(weights: Weights) -> None:
    stored = {
        "encoder": weights.encoder,
        "bias": round(weights.bias, 4),
        "marks": [round(weight, 4) for weight in weights.marks],
        "vector": [round(float(weight), 4) for weight in weights.vector],
    }
    WEIGHTS.write_text(json.dumps(stored, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
