"""Tells a running service a life, a sentence at a time, and counts which changes it found, asked about or missed.

    replay_life.py BASE FILE... [--show]

A line of a FILE is a sentence: `order`, `content`, `ends` (the earlier sentences that no longer hold), `may_end` (those about
which people differ), `repeats` (the earlier sentence that says the same). The worlds of ../shared/eval/everyday_dev are read too.
A change is found if all that it ends has ended, and asked if a question names something of it that still stands. Nobody answers
the questions. `--show` prints every change that was not found, and everything that ended wrongly.
"""

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

Sentence = dict[str, Any]
ENDING = ("UPDATE", "CONTRADICTION", "RETRACTION")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    total = Counts()
    for path in arguments.files:
        counts = Counts()
        for sentences in read_lives(path):
            with httpx.Client(base_url=arguments.base, timeout=120) as client:
                Life(client, counts, show=arguments.show).tell(sentences)
        print(f"{path.parent.name}/{path.name}: {counts.describe()}")
        total.add(counts)
    print(f"all: {total.describe()}")


def read_lives(path: Path) -> Iterator[list[Sentence]]:
    """Yield the sentences of each life of a file in their order."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lives: dict[str, list[Sentence]] = defaultdict(list)
    for line in text.splitlines():
        sentence = json.loads(line)
        if "facts" in sentence:
            lives[sentence["id"]] = [convert_labelled(fact) for fact in sentence["facts"]]
        else:
            lives[sentence.get("world", "")].append(convert_expected(sentence))
    yield from lives.values()


def convert_labelled(fact: Sentence) -> Sentence:
    """Return a sentence of the corpus' scopes in the form of the lives."""
    orders = defaultdict(list)
    for relation in fact["relations"]:
        orders[relation["relation"]].append(relation["to"])
    return {
        "order": fact["n"],
        "content": fact["text"],
        "ends": [order for relation in ENDING for order in orders[relation]],
        "may_end": [*orders["PART"], *fact.get("disputed", ())],
        "repeats": next(iter(orders["DUPLICATE"]), None),
    }


def convert_expected(sentence: Sentence) -> Sentence:
    """Return a sentence of the everyday worlds in the form of the lives."""
    if "expect" not in sentence:
        return sentence
    expect = sentence["expect"]
    others = [{"operation": e} if isinstance(e, str) else e for e in expect.get("also_ok", [])]
    may_end = {order for each in others for order in each.get("supersedes_order", [])}
    ends = expect.get("supersedes_order", [])
    return sentence | {
        "ends": ends,
        "may_end": sorted(may_end - set(ends)),
        "repeats": 0 if expect["operation"] == "NOOP" else None,
        "may_repeat": any(each["operation"] == "NOOP" for each in others),
    }


@dataclass
class Counts:
    """What became of the sentences told."""

    of: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        self.of += other.of
        self.tokens += other.tokens

    def describe(self) -> str:
        of, changes, told = self.of, max(1, self.of["changes"]), max(1, self.of["told"])
        return (
            f"{of['told']} told, {of['changes']} changes: found {of['found'] / changes:.3f}, "
            f"asked {of['asked'] / changes:.3f}, silent {of['silent'] / changes:.3f}; "
            f"wrong ends {of['wrong']} ({of['wrong'] / told:.2%}), swallowed {of['swallowed']}; "
            f"questions {of['questions'] / told:.3f} a store, {of['vain']} in vain, "
            f"{of['named'] / max(1, of['questions']):.1f} named each; "
            f"repetitions {of['repeated']} of {of['repetitions']}; model calls {of['calls']}"
        )


class Life:
    """One life, told to an agent of its own."""

    def __init__(self, client: httpx.Client, counts: Counts, *, show: bool) -> None:
        client.headers["X-Agent-Id"] = f"life-{uuid4().hex[:12]}"
        self.client = client
        self.counts = counts.of
        self.show = show
        self.ids: dict[int, str] = {}  # of each sentence that was stored
        self.over: set[int] = set()  # sentences that no longer hold, by the labels
        self.ended: set[int] = set()  # sentences that the service ended

    def tell(self, sentences: list[Sentence]) -> None:
        for sentence in sentences:
            answer = self.client.post("/v1/memories", json={"content": sentence["content"]})
            answer.raise_for_status()
            self.count(sentence, answer.json())

    def count(self, sentence: Sentence, answer: dict[str, Any]) -> None:
        order, ends = sentence["order"], set(sentence["ends"])
        orders = {memory_id: order for order, memory_id in self.ids.items()}
        ended_ids = [each if isinstance(each, str) else each["id"] for each in answer["superseded"]]
        ended = {orders[each] for each in ended_ids if each in orders}
        if answer["operation"] == "MERGE":  # the merged memory says what both say
            self.ids |= dict.fromkeys(ended, answer["memory"]["id"])
            ended = set()
        named = {orders[each] for each in self.list_named(answer) if each in orders}
        self.ended |= ended
        self.counts["told"] += 1
        self.counts["calls"] += answer["usage"]["llm_calls"]
        self.count_change(sentence, ends, named)
        wrong = ended - ends - self.over - set(sentence.get("may_end", ()))
        self.counts["wrong"] += len(wrong)
        if wrong and self.show:
            print(f"  ENDED WRONGLY {sorted(wrong)} by {order}: {sentence['content']}")
        self.over |= ends
        if answer["operation"] != "NOOP" and answer["memory"]:
            self.ids[order] = answer["memory"]["id"]
        self.count_repetition(sentence, answer["operation"])
        if answer["review_id"]:
            self.counts["questions"] += 1
            self.counts["named"] += len(named)
            self.counts["vain"] += not named & (ends | self.over)

    def count_change(self, sentence: Sentence, ends: set[int], named: set[int]) -> None:
        if not ends:
            return
        self.counts["changes"] += 1
        standing = {order for order in ends if order in self.ids and order not in self.ended}
        outcome = "found" if not standing else "asked" if standing & named else "silent"
        self.counts[outcome] += 1
        if self.show and outcome != "found":
            print(f"  {outcome} {sorted(standing)} by {sentence['order']}: {sentence['content']}")

    def count_repetition(self, sentence: Sentence, operation: str) -> None:
        if sentence.get("repeats") is not None:
            self.counts["repetitions"] += 1
            self.counts["repeated"] += operation == "NOOP"
        elif operation == "NOOP" and not sentence.get("may_repeat"):
            self.counts["swallowed"] += 1
            if self.show:
                print(f"  SWALLOWED {sentence['order']}: {sentence['content']}")

    def list_named(self, answer: dict[str, Any]) -> list[str]:
        """Return the memories that the question of the answer is about."""
        if not answer["review_id"]:
            return []
        review = self.client.get(f"/v1/reviews/{answer['review_id']}").json()
        return [judgment["memory_id"] for judgment in review["judgments"]]


if __name__ == "__main__":
    main()
