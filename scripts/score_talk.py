"""Scores the network that reads facts from talk on a file of labelled turns.

    score_talk.py FILE [--errors] [--many-languages]

FILE is one of corpus/turns or corpus/languages, or has one turn a line: session, turn, role, at, content, and labels
with a verbatim `span` and a `class`. A captured statement is right if at least half of its first quote lies in labels of class fact or confirmation; otherwise it is junk. A label is recalled if at least half of
it lies in such quotes. `--errors` lists what was captured wrongly and what was missed.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.domain.talk import Quote, Role, Statement, Turn
from app.extraction.message_network import FACT_KINDS, MessageNetwork
from app.extraction.talk_reader import read_talk
from app.networks import FairThreads, find_many_languages

WANTED = {"fact", "confirmation"}


@dataclass
class Score:
    """Counts over a file, and the lines that `--errors` prints."""

    captured: int = 0
    right: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    junk_classes: Counter[str] = field(default_factory=Counter)
    skipped_facts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def read_sessions(path: Path) -> list[list[dict[str, Any]]]:
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    # Those of corpus/languages are not written in full words.
    has_facts = any("fact" in each for row in rows for each in row.get("sentences", ()))
    for row in rows:
        labelled = label_turn(row, has_facts=has_facts) if "sentences" in row else row
        sessions[labelled["session"]].append(labelled)
    return [sorted(rows, key=lambda row: row["turn"]) for rows in sessions.values()]


def label_turn(turn: dict[str, Any], *, has_facts: bool) -> dict[str, Any]:
    """Return a turn of corpus/turns or corpus/languages in the form of corpus/speech."""
    labels = []
    for each in turn["sentences"]:
        is_fact = "fact" in each if has_facts else each["class"] in FACT_KINDS
        labels.append({"span": each["text"], "class": "fact" if is_fact else each["class"]})
    return {
        "session": turn["conversation"],
        "turn": turn["turn"],
        "role": "user",
        "at": "2026-03-02T12:00:00+00:00",
        "content": turn["text"],
        "labels": labels,
    }


def find_spans(content: str, labels: list[dict[str, str]]) -> list[tuple[int, int, str]]:
    """Return place and class of each label; equal spans are taken in their order."""
    spans = []
    place = 0
    for label in labels:
        start = content.find(label["span"], place)
        if start < 0:
            start = content.find(label["span"])
        assert start >= 0, (label, content)
        place = start + len(label["span"])
        spans.append((start, place, label["class"]))
    return spans


def count_overlap(quote: Quote, span: tuple[int, int, str]) -> int:
    return max(0, min(quote.end, span[1]) - max(quote.start, span[0]))


def score_session(rows: list[dict[str, Any]], network: MessageNetwork, score: Score) -> None:
    turns = [
        Turn(Role(row["role"]), row["content"], datetime.fromisoformat(row["at"])) for row in rows
    ]
    extraction = asyncio.run(read_talk(turns, network))
    quotes: dict[int, list[tuple[Quote, Statement]]] = defaultdict(list)
    for statement in extraction.statements:
        quotes[statement.quotes[0].turn].append((statement.quotes[0], statement))
    for place, row in enumerate(rows):
        spans = find_spans(row["content"], row["labels"])
        judge_captured(spans, quotes[place], score)
        reasons = [skip for skip in extraction.skipped if skip.quote.turn == place]
        for span in spans:
            score.labels[span[2]] += 1
            covered = sum(count_overlap(quote, span) for quote, _ in quotes[place])
            if covered * 2 >= span[1] - span[0]:
                score.hit[span[2]] += 1
            elif span[2] in WANTED:
                best = max(reasons, key=lambda skip: count_overlap(skip.quote, span), default=None)
                reason = best.reason.value if best else "?"
                score.skipped_facts[reason] += 1
                text = row["content"][span[0] : span[1]]
                score.errors.append(f"MISSED {reason:16} {text!r}")


def judge_captured(
    spans: list[tuple[int, int, str]], captured: list[tuple[Quote, Statement]], score: Score
) -> None:
    for quote, statement in captured:
        score.captured += 1
        wanted = sum(count_overlap(quote, span) for span in spans if span[2] in WANTED)
        if wanted * 2 >= quote.end - quote.start:
            score.right += 1
            continue
        best = max(spans, key=lambda span: count_overlap(quote, span), default=(0, 0, "?"))
        score.junk_classes[best[2]] += 1
        score.errors.append(f"JUNK   {best[2]:16} {statement.text!r}")


def print_score(score: Score, *, with_errors: bool) -> None:
    wanted = sum(score.labels[name] for name in WANTED)
    hit = sum(score.hit[name] for name in WANTED)
    junk = score.captured - score.right
    captured = max(score.captured, 1)
    print(f"captured {score.captured}, right {score.right}, junk {junk}")
    print(f"precision {score.right / captured:.3f}   junk share {junk / captured:.3f}")
    print(f"recall {hit / max(wanted, 1):.3f}   ({hit} of {wanted})")
    print("\nclass           labels  captured")
    for name, count in score.labels.most_common():
        print(f"{name:15} {count:6}  {score.hit[name]:6}  {score.hit[name] / count:.2f}")
    print("\njunk by class:", dict(score.junk_classes.most_common()))
    print("facts skipped as:", dict(score.skipped_facts.most_common()))
    if with_errors:
        print("\n" + "\n".join(sorted(score.errors)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--many-languages", action="store_true")
    arguments = parser.parse_args()
    many = find_many_languages() if arguments.many_languages else None
    network, score = MessageNetwork(FairThreads(2), many), Score()
    for rows in read_sessions(arguments.file):
        score_session(rows, network, score)
    print_score(score, with_errors=arguments.errors)


if __name__ == "__main__":
    main()
