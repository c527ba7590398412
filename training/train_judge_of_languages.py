"""Trains the judge of many languages: `make judge-of-languages`.

Writers of `corpus/languages` whose names end in 2, 5 or 8 are held out, and so are those of `corpus.HELD_OUT`. Six in ten of the texts are English:
what a change is, is learned from them.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import torch
from e5 import E5
from encoder import SentenceEncoder
from network import ReadingNetwork
from questions import list_language_writers, read_lines
from train_judge import MANY, SEED, list_trained, train
from ways import draw_crowds_of_ways, draw_pairs_of_opposites, read_opposites, read_slots

from app.embedding.local import LocalEmbedder
from app.embedding.many_languages import open_network
from app.networks import FairThreads
from corpus import (
    HELD_OUT,
    RELATIONS,
    Crowd,
    build_crowd,
    draw_crowds_of_scopes,
    list_writers,
    pair_families,
    read_families,
    read_other_pairs,
    read_scopes,
)

DRAWS = 6  # times that each text of another language is read, beside other neighbours
SCOPES, FAMILIES = 21_500, 13_200
WAYS, OPPOSITES, OTHERS = 11_700, 3_100, 2_300


def collect_crowds() -> Iterator[Crowd]:
    rng = random.Random(SEED)
    threads = FairThreads(2)
    many = SentenceEncoder(LocalEmbedder(threads, open_network(threads.count)))
    scopes = [
        scope
        for folder in list_language_writers("scopes.jsonl", is_held_out=False)
        for scope in read_lines(folder / "scopes.jsonl")
    ]
    for _ in range(DRAWS):
        yield from draw_crowds_of_scopes(scopes, many, rng, most=MANY)
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    english = draw_crowds_of_scopes(read_scopes(writers), SentenceEncoder(), rng, most=MANY)
    yield from rng.sample(list(english), SCOPES)
    pairs = [
        *rng.sample(pair_families(read_families(writers)), FAMILIES),
        *rng.sample(read_other_pairs(), OTHERS),
        *draw_pairs_of_opposites(read_opposites(list_trained("opposites")), rng, OPPOSITES),
    ]
    yield from map(build_crowd, pairs)
    yield from draw_crowds_of_ways(read_slots(list_trained("ways")), rng, WAYS, most=MANY)


def main() -> None:
    folder = Path("build")
    folder.mkdir(exist_ok=True)
    torch.manual_seed(SEED)
    network = ReadingNetwork(len(RELATIONS), E5).train()
    train(network, lambda _: collect_crowds(), folder / "judge_of_languages.pt", epochs=1)


if __name__ == "__main__":
    main()
