"""The corpus of labelled memory changes, read from `corpus/`, and the pairs and crowds that training takes from it."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from encoder import SentenceEncoder
from numpy.typing import NDArray

FOLDER = Path(__file__).parents[1] / "corpus"
# Whole writers, and with them whole fields, are held out of training.
CALIBRATION = ("relationships", "projects")  # the thresholds are chosen on them
# Are reported: a year of a person, notes of a coding agent, of an assistant, of businesses, records of
# machines, what is told in passing, events of which one ends several facts, and the plainest sentences.
MEASURED = (
    "years2",
    "agents2",
    "thirds2",
    "decisions2",
    "records2",
    "passing2",
    "consequences2",
    "spoken2",
)
# Are reported too, to compare with earlier judges: totals or errors of them have been seen.
LOOKED_AT = ("persons", "mixture", "business", "worlds", "days", "desks", "reversals2")
HELD_OUT = frozenset((*CALIBRATION, *MEASURED, *LOOKED_AT))
RELATIONS = ("NONE", "DUPLICATE", "UPDATE", "CONTRADICTION", "RETRACTION", "COMPLEMENT", "PART")
ENDINGS = frozenset(("UPDATE", "CONTRADICTION", "RETRACTION"))
OTHER = "cases"  # pairs from other sources, under their own licences

Line = dict[str, Any]  # of a file, as corpus/README.md has it


@dataclass(frozen=True, slots=True)
class Pair:
    """A stored and an incoming text, and the relation that the incoming one has to the stored one."""

    stored: str
    incoming: str
    relation: str


@dataclass(frozen=True, slots=True)
class Crowd:
    """Stored texts, an incoming one, and its relation to each. None is one on which readers differ."""

    incoming: str
    stored: tuple[str, ...]
    relations: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One incoming text of a scope, beside what holds then.

    `candidates` are the texts that hold, the nearest vector first, with their similarities. `relations` are the relations to some of them,
    by place; `look_alikes` the places that a writer marked as looking concerned, without being it; `disputed` the places on which two
    readers differ. `has_ending` is True if the text ends anything that holds, near or not; `has_duplicate` if it repeats anything.
    """

    incoming: str
    candidates: tuple[str, ...]
    similarities: tuple[float, ...]
    relations: dict[int, str]
    look_alikes: frozenset[int]
    disputed: frozenset[int]

    @property
    def has_ending(self) -> bool:
        return not ENDINGS.isdisjoint(self.relations.values())

    @property
    def has_duplicate(self) -> bool:
        return "DUPLICATE" in self.relations.values()


def list_writers() -> list[str]:
    return sorted({file.stem for file in FOLDER.glob("[fs]*/*.jsonl")})


def read_families(writers: Sequence[str]) -> list[Line]:
    return [family for writer in writers for family in _read_lines("families", writer)]


def read_scopes(writers: Sequence[str]) -> list[Line]:
    return [scope for writer in writers for scope in _read_lines("scopes", writer)]


def _read_lines(kind: str, writer: str) -> list[Line]:
    file = FOLDER / kind / f"{writer}.jsonl"
    if not file.exists():
        return []  # some writers wrote scopes alone
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def read_other_pairs() -> list[Pair]:
    lines = (FOLDER / "other" / f"{OTHER}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def build_crowd(pair: Pair) -> Crowd:
    return Crowd(pair.incoming, (pair.stored,), (pair.relation,))


def pair_families(families: Sequence[Line]) -> list[Pair]:
    """Return the pairs of the families, and repetitions both ways.

    Sentences of different families are not paired: said by the same "I", one may well end another.
    """
    pairs = []
    for family in families:
        for incoming in family["incoming"]:
            pairs.append(Pair(family["stored"], incoming["text"], incoming["relation"]))
            if incoming["relation"] == "DUPLICATE":
                pairs.append(Pair(incoming["text"], family["stored"], "DUPLICATE"))
    return pairs


def walk_scope(scope: Line, encoder: SentenceEncoder) -> Iterator[Step]:
    """Yield the texts of a scope in order, each beside what holds before it."""
    texts = {fact["n"]: fact["text"] for fact in scope["facts"]}
    vectors = dict(zip(texts, encoder.encode(list(texts.values())), strict=True))
    living: list[int] = []
    for fact in scope["facts"]:
        relations = {r["to"]: r["relation"] for r in fact["relations"]}
        if living:
            yield _build_step(fact, relations, living, texts, vectors)
        for number, relation in relations.items():
            if relation in ENDINGS and number in living:
                living.remove(number)
        if "DUPLICATE" not in relations.values():
            living.append(fact["n"])


def _build_step(
    fact: Line,
    relations: dict[int, str],
    living: Sequence[int],
    texts: dict[int, str],
    vectors: dict[int, NDArray[np.float32]],
) -> Step:
    similarities = {number: float(vectors[number] @ vectors[fact["n"]]) for number in living}
    order = sorted(living, key=lambda number: -similarities[number])
    related, look_alikes = {}, set()
    for place, number in enumerate(order):
        relation = relations.get(number)
        if relation == "NONE":
            look_alikes.add(place)
        elif relation:
            related[place] = relation
    return Step(
        fact["text"],
        tuple(texts[number] for number in order),
        tuple(similarities[number] for number in order),
        related,
        frozenset(look_alikes),
        frozenset(
            place for place, number in enumerate(order) if number in fact.get("disputed", ())
        ),
    )


def draw_crowds_of_scopes(
    scopes: Sequence[Line], encoder: SentenceEncoder, rng: random.Random, *, most: int
) -> Iterator[Crowd]:
    """Yield each text of the scopes beside all that it concerns, or seems to, and its nearest neighbours.

    How many neighbours is drawn anew for each, `most` at most.
    """
    for scope in scopes:
        for step in walk_scope(scope, encoder):
            marked = {**dict.fromkeys(step.look_alikes, "NONE"), **step.relations}
            nearest = range(min(rng.randint(1, most), len(step.candidates)))
            places = sorted({*marked, *nearest})
            relations = tuple(
                None if place in step.disputed else marked.get(place, "NONE") for place in places
            )
            if any(relations):
                stored = tuple(step.candidates[place] for place in places)
                yield Crowd(step.incoming, stored, relations)


def take_apart(crowd: Crowd) -> Iterator[Crowd]:
    """Yield each stored text of a crowd by itself."""
    for stored, relation in zip(crowd.stored, crowd.relations, strict=True):
        if relation is not None:
            yield Crowd(crowd.incoming, (stored,), (relation,))
