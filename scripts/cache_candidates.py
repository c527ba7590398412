"""Writes, per case of the evaluation, the ten candidates that rank fusion of vectors and words hands over: cache_candidates.py [FILE…].

Without files: the evaluation files beside the checkout. measure_signals.py reads them from .build/candidates.
"""

import asyncio
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from measure_signals import CANDIDATES, EVALUATION, short
from numpy.typing import NDArray

from app.embedding.local import LocalEmbedder
from app.networks import FairThreads
from support.signal_cases import load  # measure_signals finds it

STOP_WORDS = frozenset(
    "a an and are as at be by for from has have he her his i in is it its me my of on or our she that the their they this to was we were "
    "will with you your".split()
)
THREADS = 2
KEPT = 10
Case = dict[str, Any]


async def write_candidates(path: Path, embedder: LocalEmbedder) -> None:
    """Encodes every text of the file once and writes the fused candidates of its cases."""
    cases = load(path)
    texts = sorted({fact["text"] for case in cases for fact in [*case["scope"], case["new"]]})
    vectors = dict(zip(texts, await embedder.encode(texts), strict=True))
    chosen = {case["id"]: candidates(case, vectors) for case in cases}
    CANDIDATES.mkdir(parents=True, exist_ok=True)
    (CANDIDATES / f"{short(path)}.json").write_text(json.dumps(chosen))
    aimed = [case for case in cases if case["gold"]["targets"]]
    held = sum(set(case["gold"]["targets"]) <= set(chosen[case["id"]]) for case in aimed)
    print(f"{short(path)}: {len(cases)} cases, targets held in {held} of {len(aimed)}", flush=True)


def candidates(case: Case, vectors: dict[str, NDArray[np.float32]]) -> list[int]:
    """The positions in the scope, best first."""
    scope = [fact["text"] for fact in case["scope"]]
    cosines = np.array([vectors[text] for text in scope]) @ vectors[case["new"]["text"]]
    nearest = [int(i) for i in np.argsort(-cosines, kind="stable")]
    return fuse(nearest, word_ranks(case["new"]["text"], scope))


def word_ranks(query: str, texts: Sequence[str]) -> list[int]:
    """Positions of the texts by summed inverse document frequency of the shared stems, best first."""
    bags = [Counter(stems(text)) for text in texts]
    spread = Counter(stem for bag in bags for stem in bag)
    wanted = set(stems(query))

    def score(bag: Counter[str]) -> float:
        hits = sum(
            math.log(1 + len(bags) / spread[s]) * bag[s] / (bag[s] + 1.2)
            for s in wanted
            if s in bag
        )
        return hits / math.sqrt(1 + sum(bag.values()) / 10)

    scored = [(score(bag), -i) for i, bag in enumerate(bags)]
    return [-i for s, i in sorted(scored, reverse=True) if s > 0]


def stems(text: str) -> list[str]:
    """Lower-case words without stop words, cut roughly as the English text search configuration would."""
    words = re.findall(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*", text.lower())
    return [
        re.sub(r"(?:ing|ed|es|s|'s)$", "", word) or word for word in words if word not in STOP_WORDS
    ]


def fuse(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion with the usual constant of 60."""
    total: dict[int, float] = {}
    for ranking in rankings:
        for rank, i in enumerate(ranking):
            total[i] = total.get(i, 0.0) + 1 / (61 + rank)
    return sorted(total, key=lambda i: -total[i])[:KEPT]


async def main(paths: Sequence[Path]) -> None:
    """Writes the candidates of every file."""
    with closing(FairThreads(THREADS)) as threads:
        embedder = LocalEmbedder(threads)
        for path in paths:
            await write_candidates(path, embedder)


if __name__ == "__main__":
    asyncio.run(main([Path(p) for p in sys.argv[1:]] or sorted(EVALUATION.glob("relations_*.gz"))))
