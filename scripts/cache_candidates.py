"""Writes, per case of the evaluation, the ten candidates that ranking by vectors and words hands over: cache_candidates.py [FILE…].

Without files: the evaluation files beside the checkout. measure_signals.py reads them from .build/candidates.
"""

import asyncio
import json
import re
import sys
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
WEIGHT_OF_WORDS = (
    0.3  # five times the rank of a text that has all words once (app/store/ranking.py)
)
Case = dict[str, Any]


async def write_candidates(path: Path, embedder: LocalEmbedder) -> None:
    """Encodes every text of the file once and writes the candidates of its cases."""
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
    """The positions in the scope, best first: by the cosine and the share of words, as the service ranks."""
    scope = [fact["text"] for fact in case["scope"]]
    cosines = np.array([vectors[text] for text in scope]) @ vectors[case["new"]["text"]]
    wanted = set(stems(case["new"]["text"]))
    shared = [len(wanted.intersection(stems(text))) / max(1, len(wanted)) for text in scope]
    scores = cosines + WEIGHT_OF_WORDS * np.array(shared)
    return [int(place) for place in np.argsort(-scores, kind="stable")[:KEPT]]


def stems(text: str) -> list[str]:
    """Lower-case words without stop words, cut roughly as the English text search configuration would."""
    words = re.findall(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*", text.lower())
    return [
        re.sub(r"(?:ing|ed|es|s|'s)$", "", word) or word for word in words if word not in STOP_WORDS
    ]


async def main(paths: Sequence[Path]) -> None:
    """Writes the candidates of every file."""
    with closing(FairThreads(THREADS)) as threads:
        embedder = LocalEmbedder(threads)
        for path in paths:
            await write_candidates(path, embedder)


if __name__ == "__main__":
    asyncio.run(main([Path(p) for p in sys.argv[1:]] or sorted(EVALUATION.glob("relations_*.gz"))))
