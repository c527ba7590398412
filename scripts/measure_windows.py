"""How near the vector of a sample of a text's windows is to the mean of all: `python scripts/measure_windows.py`.

The corpus is English, of which 16,000 characters have 16 windows at most. So the texts measured are
longer ones, with as many windows as 16,000 characters of a script that is split more finely.
"""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.embedding.local import LocalEmbedder, cut_windows, split_pieces
from app.networks import FairThreads

CORPUS = Path(__file__).parent.parent / "corpus"
TEXTS = 20
WINDOWS = (20, 32, 63)
SAMPLES = (4, 8, 16)
CHARACTERS_PER_WINDOW = 1_150


def read_scopes() -> list[str]:
    """Return the sentences of each scope as one text: each is about one person or project."""
    texts = []
    for path in sorted((CORPUS / "scopes").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            texts.append(" ".join(fact["text"] for fact in json.loads(line)["facts"]))
    return texts


def build_texts(scopes: list[str], windows: int, *, shuffled: bool) -> Iterator[str]:
    """Yield texts of so many windows: scopes in a row, or all of their sentences mixed."""
    chance = random.Random(5)
    for _ in range(TEXTS):
        chosen = chance.sample(scopes, 80)
        if shuffled:
            sentences = ". ".join(chosen).split(". ")
            chance.shuffle(sentences)
            chosen = [". ".join(sentences)]
        yield " ".join(chosen)[: windows * CHARACTERS_PER_WINDOW]


def encode_sample(embedder: LocalEmbedder, text: str, most: int) -> NDArray[np.float32]:
    tokens = [token for piece in split_pieces(text) for token in embedder.tokenize(piece)]
    rows = [embedder.encode_window(window) for window in cut_windows(tokens, most=most)]
    total: NDArray[np.float32] = np.concatenate(rows).sum(axis=0)
    return total / np.linalg.norm(total)


def main() -> None:
    embedder = LocalEmbedder(FairThreads(1))
    scopes = read_scopes()
    print("| texts | windows | " + " | ".join(f"{n}: median, least" for n in SAMPLES) + " |")
    for shuffled in (False, True):
        for windows in WINDOWS:
            texts = list(build_texts(scopes, windows, shuffled=shuffled))
            cells = []
            wholes = list(map(partial(encode_sample, embedder, most=1_000), texts))
            for most in SAMPLES:
                parts = map(partial(encode_sample, embedder, most=most), texts)
                cosines = [float(a @ b) for a, b in zip(wholes, parts, strict=True)]
                cells.append(f"{np.median(cosines):.3f}, {min(cosines):.3f}")
            kind = "sentences mixed" if shuffled else "many subjects in a row"
            print(f"| {kind} | {windows} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
