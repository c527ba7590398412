"""Trains the network that finds the facts in texts that hold several: `make parts`, or

    python training/train_parts.py [folder for the weights]

It learns from `corpus/parts`, but for the writers that are held out (`parts.py`).
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from network import (
    NOWHERE,
    Encoded,
    PartsNetwork,
    encode_marked,
    load_tokenizer,
    pad_texts,
)
from parts import list_part_writers, mark_text, read_parts
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from trainer import SMOOTHING, Trainer, make_batches

from app.networks import locate_words

SEED = 1
EPOCHS = 24
HURRIED = 0.3  # of the texts, in lower case


def train(network: PartsNetwork, file: Path) -> None:
    """Train, and write the weights by name after every epoch."""
    rng, tokenizer = random.Random(SEED), load_tokenizer()
    trainer = Trainer(network, compute_loss_of_marks)
    texts = list(read_parts(list_part_writers()))
    for epoch in range(EPOCHS):
        batches = list(make_batches(list(encode_parts(tokenizer, texts, rng)), rng))
        losses = []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / EPOCHS))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
        torch.save(trainer.collect_weights(), file)


def compute_loss_of_marks(network: PartsNetwork, encoded: Sequence[Encoded]) -> torch.Tensor:
    """Return how unlikely the network held what the words are, and where they point."""
    batch = pad_texts(encoded, is_pooled=False)
    marks, pointers = (logits.float() for logits in network(batch))
    pointers = pointers + batch.mask[:, 0].float()
    losses = []
    for row, one in enumerate(encoded):
        due = torch.tensor([number for [number] in one.classes])
        losses.append(cross_entropy(marks[row, one.starts], due, label_smoothing=SMOOTHING))
        pointing = [place for place, target in enumerate(one.pointers) if target != NOWHERE]
        if pointing:
            starts = [one.starts[place] for place in pointing]
            targets = torch.tensor([one.pointers[place] for place in pointing])
            losses.append(cross_entropy(pointers[row, starts], targets))
    return torch.stack(losses).mean()


def encode_parts(
    tokenizer: Tokenizer, texts: Sequence[tuple[str, list[str]]], rng: random.Random
) -> Iterator[Encoded]:
    """Yield the texts with what their words are, some of them in lower case.

    A text is left out if its facts have other words.
    """
    for text, parts in texts:
        is_hurried = rng.random() < HURRIED
        typed = text.lower().rstrip(".") if is_hurried else text
        spans = [
            span for _, span in locate_words(tokenizer.encode(typed, add_special_tokens=False))
        ]
        marked = mark_text(typed, spans, parts)
        if marked is not None:
            yield encode_marked(tokenizer, marked)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the network that finds facts in texts.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    train(PartsNetwork().train(), folder / "parts.pt")


if __name__ == "__main__":
    main()
