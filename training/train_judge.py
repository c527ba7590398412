"""Trains the local judge on the corpus: `make judge`, or

    pip install -r training/requirements.txt
    python training/train_judge.py [folder for the weights]

Writers of `corpus.HELD_OUT` are not trained on.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from encoder import SentenceEncoder
from network import ReadingNetwork, encode_pair, load_tokenizer
from trainer import BATCH, Trainer, make_batches
from ways import HELD_OUT_SLOTS, list_slot_writers, pair_ways, read_slots

from corpus import (
    HELD_OUT,
    RELATIONS,
    Pair,
    list_writers,
    pair_families,
    pair_scopes,
    read_families,
    read_other_pairs,
    read_scopes,
)

SEED = 1
EPOCHS = 4
# Pairs without a relation for each text of a scope, drawn from so many of its nearest facts.
NEIGHBOURS, NEAREST = 2, 3
OTHER_PAIRS = 5_000
WAYS = 12_000  # pairs of plain sentences
TOLD_EVERY = 200


def collect_pairs(writers: Sequence[str], encoder: SentenceEncoder, seed: int) -> list[Pair]:
    """Return the pairs of one epoch. Each epoch meets other neighbours."""
    rng = random.Random(seed)
    pairs = pair_families(read_families(writers))
    pairs += pair_scopes(read_scopes(writers), encoder, rng, neighbours=NEIGHBOURS, nearest=NEAREST)
    others = read_other_pairs()
    pairs += rng.sample(others, min(OTHER_PAIRS, len(others)))
    slots = read_slots([writer for writer in list_slot_writers() if writer not in HELD_OUT_SLOTS])
    return [*pairs, *pair_ways(slots, rng, WAYS)]


def train(network: ReadingNetwork, collect: Callable[[int], list[Pair]], file: Path) -> None:
    """Train on the pairs that `collect` gives for each epoch's seed.

    Write the weights by name after every epoch.
    """
    rng, tokenizer = random.Random(SEED), load_tokenizer()
    pairs = collect(SEED)
    print(len(pairs), "pairs an epoch", dict(Counter(pair.relation for pair in pairs)))
    trainer = Trainer(network, steps=EPOCHS * len(pairs) // BATCH)
    started, total, count = time.perf_counter(), 0.0, 0
    for epoch in range(EPOCHS):
        if epoch:
            pairs = collect(SEED + epoch)
        encoded = [encode_pair(tokenizer, pair) for pair in pairs]
        classes = [(RELATIONS.index(pair.relation),) for pair in pairs]
        for batch in make_batches(encoded, classes, rng):
            total += trainer.step(*batch)
            count += 1
            if count % TOLD_EVERY == 0:
                speed = count * BATCH / (time.perf_counter() - started)
                loss = total / TOLD_EVERY
                print(
                    f"epoch {epoch + 1} step {count} loss {loss:.3f} {speed:.0f} pairs/s",
                    flush=True,
                )
                total = 0.0
        torch.save(trainer.collect_weights(), file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the local judge.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    torch.manual_seed(SEED)
    encoder = SentenceEncoder()
    train(
        ReadingNetwork(len(RELATIONS)).train(),
        lambda seed: collect_pairs(writers, encoder, seed),
        folder / "judge.pt",
    )


if __name__ == "__main__":
    main()
