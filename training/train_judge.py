"""Trains the local judge on the corpus: `make judge`, or

    pip install -r training/requirements.txt
    python training/train_judge.py [folder for the weights] [--learned EPOCHS]

Writers of `corpus.HELD_OUT` are not trained on. `--learned` goes on from the weights that a run left after so many epochs, without what
its optimiser knew.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import torch
from encoder import SentenceEncoder
from network import ReadingNetwork, encode_crowd
from trainer import Trainer, make_batches
from ways import (
    HELD_OUT_OPPOSITES,
    HELD_OUT_SEVERAL,
    HELD_OUT_SLOTS,
    draw_crowds_of_ways,
    draw_pairs_of_opposites,
    list_form_writers,
    read_opposites,
    read_slots,
)

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
    take_apart,
)

SEED = 1
EPOCHS = 4
# The epochs in which each stored text is read by itself. Then all of them are read together.
APART = 1
# Near texts of a crowd, at most: of one that is read apart, and of one that is read together.
FEW, MANY = 3, 6
OTHER_PAIRS = 5_000
WAYS = 30_000  # plain sentences
OPPOSITES = 5_000
TOLD_EVERY = 200


def collect_crowds(
    writers: Sequence[str], encoder: SentenceEncoder, seed: int, *, is_apart: bool
) -> Iterator[Crowd]:
    """Yield what is read in one epoch. Each epoch meets other neighbours."""
    rng = random.Random(seed)
    others = read_other_pairs()
    pairs = [
        *pair_families(read_families(writers)),
        *rng.sample(others, min(OTHER_PAIRS, len(others))),
        *draw_pairs_of_opposites(read_opposites(list_trained("opposites")), rng, OPPOSITES),
    ]
    yield from map(build_crowd, pairs)
    slots = read_slots(list_trained("ways"))
    most = FEW if is_apart else MANY
    scopes = draw_crowds_of_scopes(read_scopes(writers), encoder, rng, most=most)
    ways = draw_crowds_of_ways(slots, rng, WAYS, most=most)
    for crowd in (*scopes, *ways):
        if is_apart:
            yield from take_apart(crowd)
        else:
            yield crowd


def list_trained(kind: str) -> list[str]:
    """Return the writers of forms, in `ways` or in `opposites`, that are trained on."""
    held_out = (*HELD_OUT_SLOTS, *HELD_OUT_SEVERAL, *HELD_OUT_OPPOSITES)
    return [writer for writer in list_form_writers(kind) if writer not in held_out]


def train(
    network: ReadingNetwork,
    collect: Callable[[int], Iterable[Crowd]],
    file: Path,
    *,
    learned: int = 0,
    epochs: int = EPOCHS,
) -> None:
    """Train on the crowds that `collect` gives for each epoch, after those that are learned already.

    Write the weights by name after every epoch.
    """
    rng, base, trainer = random.Random(SEED), network.base, Trainer(network)
    tokenizer = base.load_tokenizer()
    for epoch in range(learned, epochs):
        crowds = list(collect(epoch))
        counts = Counter(relation for crowd in crowds for relation in crowd.relations)
        print(f"epoch {epoch + 1}: {len(crowds)} crowds", dict(counts), flush=True)
        encoded = [encode_crowd(tokenizer, crowd, base) for crowd in crowds]
        batches = list(make_batches(encoded, rng))
        started, losses = time.perf_counter(), []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / epochs))
            if number % TOLD_EVERY == 0:
                minutes = (time.perf_counter() - started) / 60
                loss = sum(losses[-TOLD_EVERY:]) / TOLD_EVERY
                print(f"{number} of {len(batches)} loss {loss:.3f} {minutes:.1f} min", flush=True)
        torch.save(trainer.collect_weights(), file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the local judge.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    parser.add_argument("--learned", type=int, default=0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "judge.pt"
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    torch.manual_seed(SEED)
    encoder, network = SentenceEncoder(), ReadingNetwork(len(RELATIONS)).train()
    if arguments.learned:
        network.load_state_dict(torch.load(file))
    train(
        network,
        lambda epoch: collect_crowds(writers, encoder, SEED + epoch, is_apart=epoch < APART),
        file,
        learned=arguments.learned,
    )


if __name__ == "__main__":
    main()
