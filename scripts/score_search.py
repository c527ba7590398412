"""Asks the service questions, and prints how often a right fact comes first and among three.

    python scripts/score_search.py            questions of writers from whom nothing was learned
    python scripts/score_search.py --odds     learns the odds of app/store/odds.py, and tries them
    PALIMPSEST_LANGUAGES=many python scripts/score_search.py

The facts of a scope that hold at its end are those of one agent. The odds are learned from other
writers (`LEARNED`). Each question counts as it is, and, for a third, with its answers taken away.
"""

import argparse
import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from app.store.odds import COMPETING, ODDS_OF_MESSAGES
from bench.public.__main__ import OURS, open_memory
from bench.public.memory import Palimpsest, Turn

CORPUS = Path(__file__).parent.parent / "corpus"
ENDINGS = {"UPDATE", "CONTRADICTION", "RETRACTION"}
HELD_OUT = ("relationships",)
HELD_OUT_ENDING = "2"  # of the names of writers in other languages
HELD_OUT_WORLDS = "*[a-z]25.jsonl"
WORLDS = ("english2",)
LEARNED = (*WORLDS, "business")  # the encoder did not learn from them
TALKS = "talks2"  # nor from these
MODES = ("hybrid", "vector", "text")
RARE_WORDS_WEIGHT = 0.03  # as in app/store/search.py
UNANSWERED = 0.35  # of the questions
STEPS, RATE = 2_000, 0.03
BANDS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.01)

Line = dict[str, Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a search in one mode ranks: the scores before they are chances, and what is right."""

    scores: Floats
    right: Floats

    def compete(self) -> Iterator[tuple[Floats, Floats, float]]:
        """Yield the best scores, whether each is right, and a weight: with answers and without."""
        for left, weight in (
            (np.ones(len(self.right), bool), 1 - UNANSWERED),
            (self.right == 0, UNANSWERED),
        ):
            scores, right = self.scores[left][:COMPETING], self.right[left][:COMPETING]
            missing = COMPETING - len(scores)
            yield (
                np.pad(scores, (0, missing), constant_values=-9),
                np.pad(right, (0, missing)),
                weight,
            )


def read_lines(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def list_questions(names: Sequence[str]) -> Iterator[tuple[str, list[Line], list[Line]]]:
    """Yield the scopes and the questions of English writers by name, or of a language with ''."""
    every = [
        line for file in sorted((CORPUS / "scopes").glob("*.jsonl")) for line in read_lines(file)
    ]
    for name in filter(None, names):
        if name in WORLDS:
            yield name, *read_worlds(CORPUS / "worlds" / f"{name}.jsonl")
        else:
            yield name, every, read_lines(CORPUS / "questions" / f"{name}.jsonl")
    if "" in names:
        for folder in sorted((CORPUS / "languages").glob(f"*{HELD_OUT_ENDING}")):
            if (folder / "questions.jsonl").exists():
                scopes = read_lines(folder / "scopes.jsonl")
                yield folder.name, scopes, read_lines(folder / "questions.jsonl")
        for file in sorted((CORPUS / "worlds").glob(HELD_OUT_WORLDS)):
            yield file.stem, *read_worlds(file)


def read_worlds(file: Path) -> tuple[list[Line], list[Line]]:
    """Return worlds as scopes in which nothing ends, and their questions."""
    worlds = read_lines(file)
    scopes = [
        {
            "id": world["id"],
            "facts": [
                {"n": number, "text": text, "relations": []}
                for number, text in enumerate(world["facts"])
            ],
        }
        for world in worlds
    ]
    questions = [
        question | {"scope": world["id"]} for world in worlds for question in world["questions"]
    ]
    return scopes, questions


def list_holding(scope: Line) -> dict[str, int]:
    """Return the numbers of the facts that hold at the end of a scope, by text."""
    ended = {
        relation["to"]
        for fact in scope["facts"]
        for relation in fact["relations"]
        if relation["relation"] in ENDINGS
    }
    return {fact["text"]: fact["n"] for fact in scope["facts"] if fact["n"] not in ended}


def ask(
    client: httpx.Client, scopes: Sequence[Line], questions: Sequence[Line]
) -> dict[str, list[Ranked]]:
    """Return what is ranked for each question that something answers, by mode."""
    ranked: dict[str, list[Ranked]] = {mode: [] for mode in MODES}
    asked = {question["scope"] for question in questions}
    for scope in (scope for scope in scopes if scope["id"] in asked):
        numbers = list_holding(scope)
        agent = {"X-Agent-Id": scope["id"]}
        items = [{"content": text, "classify": False} for text in numbers]
        client.post("/v1/memories/batch", json={"items": items}, headers=agent).raise_for_status()
        for question in questions:
            answers = set(question["answers"]) & set(numbers.values())
            if question["scope"] != scope["id"] or not answers:
                continue
            for mode in MODES:
                sent = {"query": question["query"], "mode": mode, "limit": 1000}
                answer = client.post("/v1/search", json=sent, headers=agent).raise_for_status()
                hits = answer.json()["results"]
                right = [numbers.get(hit["memory"]["content"]) in answers for hit in hits]
                scores = [combine(hit["scores"]) for hit in hits]
                ranked[mode].append(Ranked(np.array(scores), np.array(right, float)))
    return ranked


def ask_of_talks(memory: Palimpsest) -> list[Ranked]:
    """Return what is ranked of messages: of each talk by itself, and of all as one agent's."""
    talks = read_lines(CORPUS / "worlds" / f"{TALKS}.jsonl")
    ranked = []
    for agent, told in [(TALKS, talks), *((talk["id"], [talk]) for talk in talks)]:
        sessions = [[Turn(**turn) for turn in talk["turns"]] for talk in told]
        memory.store_talk(agent, sessions)
        for talk in told:
            for question in talk["questions"]:
                answers = {talk["turns"][place]["text"] for place in question["answers"]}
                sent = {"query": question["query"], "limit": 1000, "include": ["turns"]}
                answer = memory.client.post("/v1/search", json=sent, headers={"X-Agent-Id": agent})
                turns = answer.raise_for_status().json()["turns"]
                right = [turn["content"] in answers for turn in turns]
                scores = undo_chances([turn["score"] for turn in turns])
                if answers:
                    ranked.append(Ranked(scores, np.array(right, float)))
    return ranked


def undo_chances(chances: Sequence[float]) -> Floats:
    """Return the scores of messages from their chances, best first."""
    odds = ODDS_OF_MESSAGES["hybrid"]
    nothing = 1 - sum(chances[:COMPETING])
    return (np.log(chances) + odds.none - math.log(nothing)) / odds.sharpness


def combine(scores: Mapping[str, float]) -> float:
    """Return the score of a hit in its mode before it is a chance."""
    if "vector" not in scores:
        return scores["text"]
    return scores["vector"] + RARE_WORDS_WEIGHT * scores.get("text", 0.0)


def weigh(scores: Floats, sharpness: float, none: float) -> Floats:
    """Return the chances of the scores, (questions, competing)."""
    powers = np.exp(sharpness * scores)
    chances: Floats = powers / (np.exp(none) + powers.sum(axis=1, keepdims=True))
    return chances


def collect(ranked: Sequence[Ranked]) -> tuple[Floats, Floats, Floats]:
    scores, right, weights = zip(*(one for each in ranked for one in each.compete()), strict=True)
    return np.array(scores), np.array(right), np.array(weights)


def learn_odds(ranked: Sequence[Ranked], start: float) -> tuple[float, float]:
    """Return the sharpness and the odds of none under which what is right was likeliest."""
    scores, right, weights = collect(ranked)
    odds, mean, square = np.array([start, 3.0]), np.zeros(2), np.zeros(2)
    for step in range(1, STEPS + 1):
        chances = weigh(scores, *odds)
        # The slope of the log-likelihood of independent hits, by the derivatives of the chances.
        wrong = (right - chances) / np.maximum(1 - chances, 1e-6) / np.maximum(chances, 1e-9)
        middle = (chances * scores).sum(axis=1, keepdims=True)
        nothing = 1 - chances.sum(axis=1, keepdims=True)
        by_sharpness = wrong * chances * (scores - middle)
        by_none = wrong * chances * -nothing
        slope = np.array([(by * weights[:, None]).sum() for by in (by_sharpness, by_none)])
        slope /= len(scores)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        odds = odds + RATE * mean / (1 - 0.9**step) / np.sqrt(square / (1 - 0.99**step) + 1e-12)
    return float(odds[0]), float(odds[1])


def describe_ranks(name: str, ranked: Sequence[Ranked]) -> str:
    first = np.mean([each.right[:1].any() for each in ranked])
    among = np.mean([each.right[:3].any() for each in ranked])
    return f"{name} first {first:.3f} among three {among:.3f}"


def describe_calibration(ranked: Sequence[Ranked], sharpness: float, none: float) -> str:
    """Return, by bands of the chance, how often what has it is right."""
    scores, right, weights = collect(ranked)
    chances = weigh(scores, sharpness, none)
    told = []
    for low, high in itertools.pairwise(BANDS):
        band = ((low <= chances) & (chances < high)) * weights[:, None]
        if band.sum() > 3:
            told.append(f"from {low}: {(right * band).sum() / band.sum():.2f}")
    return ", ".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the search of the service.")
    parser.add_argument("--odds", action="store_true")
    arguments = parser.parse_args()
    others = [""] if os.environ.get("PALIMPSEST_LANGUAGES") == "many" else []
    learned = LEARNED if arguments.odds else ()
    asked: dict[str, dict[str, list[Ranked]]] = {}
    with open_memory(OURS) as memory:
        assert isinstance(memory, Palimpsest)
        for name, scopes, questions in list_questions([*learned, *HELD_OUT, *others]):
            asked[name] = ask(memory.client, scopes, questions)
            for mode, ranked in asked[name].items():
                print(describe_ranks(f"{name:14} {mode:7}", ranked), flush=True)
        talks = ask_of_talks(memory) if arguments.odds else []
    if arguments.odds:
        for mode, start in zip(MODES, (11.0, 13.0, 1.5), strict=True):
            odds = learn_odds([one for name in learned for one in asked[name][mode]], start)
            print(f"{mode}: sharpness {odds[0]:.2f}, none {odds[1]:.2f}")
            for name in (name for name in asked if name not in learned):
                print(f"  {name}: {describe_calibration(asked[name][mode], *odds)}")
        odds = learn_odds(talks, 10.0)
        print(f"messages: sharpness {odds[0]:.2f}, none {odds[1]:.2f}")
        print(describe_ranks(f"  {TALKS}", talks))


if __name__ == "__main__":
    main()
