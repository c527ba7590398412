"""Score the splitting of texts into facts against labelled ones.

`score_parts.py FILE [--errors]` reads JSON Lines of `{"text", "parts"}`, as `corpus/parts` has them.
A text with fewer than two parts must stay whole. Facts are compared as words, whatever their case.
`--errors` prints each text whose facts are wrong.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.text import fold
from app.extraction.fact_splitter import FactSplitter
from app.extraction.parts_network import PartsNetwork
from app.networks import FairThreads

_CONTRACTIONS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not"}


@dataclass(frozen=True, slots=True)
class Score:
    """A text with the facts that are wanted and those that were made, as their words."""

    text: str
    wanted: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def is_compound(self) -> bool:
        return len(self.wanted) > 1

    @property
    def is_split(self) -> bool:
        return len(self.made) > 1

    @property
    def is_right(self) -> bool:
        if self.is_compound:
            return sorted(self.wanted) == sorted(self.made)
        return not self.is_split


def fold_part(text: str) -> str:
    """Return the words of a fact: folded, without punctuation, with contractions written out."""
    folded = fold(text).replace("’", "'")
    for short, full in _CONTRACTIONS.items():
        folded = folded.replace(short, full)
    return " ".join(re.findall(r"\w+", folded))


async def score_cases(cases: Iterable[dict[str, Any]]) -> list[Score]:
    splitter = FactSplitter(PartsNetwork(FairThreads(1)))
    scores = []
    for case in cases:
        made = await splitter.split(case["text"])
        scores.append(
            Score(
                case["text"],
                tuple(map(fold_part, case["parts"])),
                tuple(fold_part(part.text) for part in made),
            )
        )
    return scores


def describe_scores(scores: list[Score]) -> str:
    compounds = [score for score in scores if score.is_compound]
    wholes = [score for score in scores if not score.is_compound]
    right = sum(score.is_right for score in compounds)
    left = sum(not score.is_split for score in compounds)
    split = sum(score.is_split for score in wholes)
    return (
        f"{len(compounds)} compounds: all facts right {right / max(1, len(compounds)):.3f}, "
        f"left whole {left / max(1, len(compounds)):.3f}; "
        f"{len(wholes)} others: split {split / max(1, len(wholes)):.3f}"
    )


def list_errors(scores: list[Score]) -> Iterator[str]:
    for score in scores:
        if not score.is_right:
            wanted, made = " | ".join(score.wanted), " | ".join(score.made)
            yield f"\n{score.text}\n  wanted: {wanted}\n  made:   {made}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    cases = map(json.loads, options.file.read_text("utf-8").splitlines())
    scores = asyncio.run(score_cases(cases))
    print(describe_scores(scores))
    if options.errors:
        print("\n".join(list_errors(scores)))


if __name__ == "__main__":
    main()
