"""Score the splitting of compound sentences against labelled ones.

`score_compound.py FILE [--errors]` reads JSON Lines of `{"id", "text", "parts"}`. A sentence with
one part must stay whole. Parts are compared as folded texts without punctuation. `--errors` prints
each sentence whose parts are wrong.
"""

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path

from app.domain.text import fold
from app.extraction.compound import split_fact

_CONTRACTIONS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not"}


@dataclass(frozen=True, slots=True)
class Score:
    """One sentence with the parts that are wanted and those that were made, both folded."""

    text: str
    wanted: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return sorted(self.wanted) == sorted(self.made)

    @property
    def was_split_wrongly(self) -> bool:
        return len(self.wanted) == 1 and len(self.made) > 1

    @property
    def was_missed(self) -> bool:
        return len(self.wanted) > 1 and len(self.made) == 1


def fold_part(text: str) -> str:
    """Return the words of a part: folded, without punctuation, with contractions written out."""
    folded = fold(text).replace("’", "'")
    for short, full in _CONTRACTIONS.items():
        folded = folded.replace(short, full)
    return " ".join(re.findall(r"\w+", folded))


def score_line(line: str) -> Score:
    case = json.loads(line)
    wanted = tuple(fold_part(part) for part in case["parts"])
    made = tuple(fold_part(part.text) for part in split_fact(case["text"]))
    return Score(case["text"], wanted, made)


def print_scores(scores: list[Score]) -> None:
    compounds = [score for score in scores if len(score.wanted) > 1]
    wholes = [score for score in scores if len(score.wanted) == 1]
    exact = sum(score.is_right for score in compounds)
    missed = sum(score.was_missed for score in compounds)
    wrong = sum(score.was_split_wrongly for score in wholes)
    print(f"compounds: {len(compounds)}, all parts right: {exact}, missed (left whole): {missed}")
    print(f"compounds split with other parts: {len(compounds) - exact - missed}")
    print(f"wholes: {len(wholes)}, wrongly split: {wrong}")


def print_errors(scores: list[Score]) -> None:
    for score in scores:
        if not score.is_right:
            print(f"\n{score.text}\n  wanted: {' | '.join(score.wanted)}")
            print(f"  made:   {' | '.join(score.made)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    scores = [score_line(line) for line in options.file.read_text("utf-8").splitlines() if line]
    print_scores(scores)
    if options.errors:
        print_errors(scores)


if __name__ == "__main__":
    main()
