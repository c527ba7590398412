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
from dataclasses import dataclass
from pathlib import Path

import torch
from encoder import SentenceEncoder
from network import Encoded, JudgeNetwork, encode_pair, load_tokenizer, pad_pairs

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
BATCH = 64
HEAD_RATE = 5  # times the rate of the encoder
WARM_UP = 0.06  # of all steps
LAST_RATE = 0.02  # of the highest rate
SMOOTHING = 0.02
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SORTED_TOGETHER = 50  # batches whose pairs are sorted by length, so that little is padded
OTHER_PAIRS = 5_000
TOLD_EVERY = 200


@dataclass(frozen=True, slots=True)
class Phase:
    """Some epochs at one highest rate. Dropout within the encoder costs a quarter of the speed."""

    epochs: int
    rate: float
    encoder_dropout: float
    neighbours: int  # pairs without a relation for each text of a scope
    nearest: int  # of which so many nearest facts they are drawn


PHASES = (
    Phase(epochs=5, rate=2e-4, encoder_dropout=0.0, neighbours=2, nearest=4),
    Phase(epochs=2, rate=1.2e-4, encoder_dropout=0.1, neighbours=3, nearest=3),
)


class Trainer:
    """Steps of AdamW in float32 on a network that computes in bfloat16, which is twice as fast."""

    def __init__(self, network: JudgeNetwork, steps: int, rate: float) -> None:
        self._network = network.to(torch.bfloat16)
        self._steps = steps
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._masters = [p.detach().float().clone() for p in self._parameters]
        names = [name for name, p in network.named_parameters() if p.requires_grad]
        encoder, head = [], []
        for name, master in zip(names, self._masters, strict=True):
            (encoder if name.startswith("bert") else head).append(master)
        self._optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": rate}, {"params": head, "lr": rate * HEAD_RATE}],
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
        logits = self._network(*pad_pairs(encoded))
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


def collect_pairs(
    writers: Sequence[str], encoder: SentenceEncoder, phase: Phase, seed: int
) -> list[Pair]:
    """Return the pairs of one epoch. Each epoch meets other neighbours."""
    rng = random.Random(seed)
    pairs = pair_families(read_families(writers))
    pairs += pair_scopes(
        read_scopes(writers), encoder, rng, neighbours=phase.neighbours, nearest=phase.nearest
    )
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


def train_phase(
    network: JudgeNetwork, writers: Sequence[str], phase: Phase, seed: int, file: Path
) -> None:
    """Train, and write the weights by name after every epoch."""
    rng = random.Random(seed)
    encoder, tokenizer = SentenceEncoder(), load_tokenizer()
    network.set_encoder_dropout(phase.encoder_dropout)
    pairs = collect_pairs(writers, encoder, phase, seed)
    print(phase, len(pairs), "pairs an epoch", dict(Counter(pair.relation for pair in pairs)))
    trainer = Trainer(network, steps=phase.epochs * len(pairs) // BATCH, rate=phase.rate)
    started, total, count = time.perf_counter(), 0.0, 0
    for epoch in range(phase.epochs):
        if epoch:
            pairs = collect_pairs(writers, encoder, phase, seed + epoch)
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


def average_weights(files: Sequence[Path]) -> dict[str, torch.Tensor]:
    """Return the mean of these weights, which reads better than the last ones alone."""
    states = [torch.load(file) for file in files]
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the local judge.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    torch.manual_seed(SEED)
    network = JudgeNetwork().train()
    files = []
    for number, phase in enumerate(PHASES):
        file = folder / f"phase{number + 1}.pt"
        train_phase(network, writers, phase, SEED + 100 * number, file)
        network.load_state_dict(torch.load(file))
        files.append(file)
    torch.save(average_weights(files), folder / "judge.pt")


if __name__ == "__main__":
    main()
