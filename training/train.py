"""Trains the local judge on the corpus: `make judge`, or

    pip install -r training/requirements.txt
    python training/train.py [folder for the weights]

Writers of `corpus.HELD_OUT` are not trained on.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from encoder import SentenceEncoder
from network import MASK, Encoded, JudgeNetwork, encode_pair, load_tokenizer, pad_pairs

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
BATCH = 64
RATE = 2e-4
HEAD_RATE = 5  # times the rate of the encoder
WARM_UP = 0.06  # of all steps
LAST_RATE = 0.02  # of the highest rate
SMOOTHING = 0.02
MASKED = 0.1  # of the words, so that a pair is never quite the same twice
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SORTED_TOGETHER = 50  # batches whose pairs are sorted by length, so that little is padded
# Pairs without a relation for each text of a scope, drawn from so many of its nearest facts.
NEIGHBOURS, NEAREST = 2, 3
OTHER_PAIRS = 5_000
TOLD_EVERY = 200


class Trainer:
    """Steps of AdamW in float32 on a network that computes in bfloat16, which is twice as fast."""

    def __init__(self, network: JudgeNetwork, steps: int) -> None:
        self._network = network.to(torch.bfloat16)
        self._steps = steps
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._masters = [p.detach().float().clone() for p in self._parameters]
        names = [name for name, p in network.named_parameters() if p.requires_grad]
        encoder, head = [], []
        for name, master in zip(names, self._masters, strict=True):
            (encoder if name.startswith("bert") else head).append(master)
        self._optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": RATE}, {"params": head, "lr": RATE * HEAD_RATE}],
            weight_decay=WEIGHT_DECAY,
            fused=True,
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._scale_rate)
        self._loss = torch.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)

    def _scale_rate(self, step: int) -> float:
        rising = (step + 1) / (self._steps * WARM_UP)
        falling = max(LAST_RATE, 1 - step / self._steps)
        return min(1.0, rising) * falling

    def step(self, encoded: Sequence[Encoded], relations: Sequence[int]) -> float:
        """Learn from one batch and return its loss."""
        ids, types, mask = pad_pairs(encoded)
        logits = self._network(mask_words(ids), types, mask)
        loss = self._loss(logits.float(), torch.tensor(relations))
        loss.backward()
        for master, parameter in zip(self._masters, self._parameters, strict=True):
            master.grad = parameter.grad.float()
            parameter.grad = None
        torch.nn.utils.clip_grad_norm_(self._masters, LARGEST_GRADIENT)
        self._optimizer.step()
        self._schedule.step()
        with torch.no_grad():
            for master, parameter in zip(self._masters, self._parameters, strict=True):
                parameter.copy_(master)
        return loss.item()

    def collect_weights(self) -> dict[str, torch.Tensor]:
        """Return the weights in float32 by name."""
        weights = {name: value.float() for name, value in self._network.state_dict().items()}
        trained = [name for name, p in self._network.named_parameters() if p.requires_grad]
        weights.update(zip(trained, self._masters, strict=True))
        return weights


def mask_words(ids: torch.Tensor) -> torch.Tensor:
    """Hide some of the words. What is left must do."""
    is_hidden = (torch.rand(ids.shape) < MASKED) & (ids > MASK)
    return ids.masked_fill(is_hidden, MASK)


def collect_pairs(writers: Sequence[str], encoder: SentenceEncoder, seed: int) -> list[Pair]:
    """Return the pairs of one epoch. Each epoch meets other neighbours."""
    rng = random.Random(seed)
    pairs = pair_families(read_families(writers))
    pairs += pair_scopes(read_scopes(writers), encoder, rng, neighbours=NEIGHBOURS, nearest=NEAREST)
    others = read_other_pairs()
    pairs += rng.sample(others, min(OTHER_PAIRS, len(others)))
    return pairs


def make_batches(
    pairs: Sequence[Pair], encoded: Sequence[Encoded], rng: random.Random
) -> Iterator[tuple[list[Encoded], list[int]]]:
    order = list(range(len(pairs)))
    rng.shuffle(order)
    for start in range(0, len(order), BATCH * SORTED_TOGETHER):
        block = sorted(
            order[start : start + BATCH * SORTED_TOGETHER], key=lambda place: len(encoded[place][0])
        )
        batches = [block[at : at + BATCH] for at in range(0, len(block), BATCH)]
        rng.shuffle(batches)
        for batch in batches:
            relations = [RELATIONS.index(pairs[place].relation) for place in batch]
            yield [encoded[place] for place in batch], relations


def train(network: JudgeNetwork, writers: Sequence[str], file: Path) -> None:
    """Train, and write the weights by name after every epoch."""
    rng = random.Random(SEED)
    encoder, tokenizer = SentenceEncoder(), load_tokenizer()
    pairs = collect_pairs(writers, encoder, SEED)
    print(len(pairs), "pairs an epoch", dict(Counter(pair.relation for pair in pairs)))
    trainer = Trainer(network, steps=EPOCHS * len(pairs) // BATCH)
    started, total, count = time.perf_counter(), 0.0, 0
    for epoch in range(EPOCHS):
        if epoch:
            pairs = collect_pairs(writers, encoder, SEED + epoch)
        encoded = [encode_pair(tokenizer, pair) for pair in pairs]
        for batch, relations in make_batches(pairs, encoded, rng):
            total += trainer.step(batch, relations)
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
    train(JudgeNetwork().train(), writers, folder / "judge.pt")


if __name__ == "__main__":
    main()
