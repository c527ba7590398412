"""Trains the network that tells what phrases of time are to their facts: `make dates`, or

    python training/train_dates.py [folder for the weights]

It learns from `corpus/dates`, but for the writers that are held out (`dates.py`).
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from dates import DatedSentence, list_date_writers, read_dates
from network import DatesNetwork, Encoded, encode_dated, load_tokenizer, pad_texts
from trainer import Trainer, compute_loss, make_batches, mask_words

from app.domain.dates.roles import Role

SEED = 1
EPOCHS = 11
HURRIED = 0.3  # of the texts, in lower case
REDATED = 0.5  # of the texts, with phrases of others in place of theirs

Alike = dict[tuple[Role, str], list[str]]


def train(network: DatesNetwork, file: Path) -> None:
    """Train, and write the weights by name."""
    rng, tokenizer = random.Random(SEED), load_tokenizer()
    trainer = Trainer(network, compute_loss_of_roles)
    sentences = list(read_dates(list_date_writers()))
    alike = collect_phrases(sentences)
    for epoch in range(EPOCHS):
        drawn = [redate(one, alike, rng) if rng.random() < REDATED else one for one in sentences]
        encoded = [encode_dated(tokenizer, hurry(one, rng)) for one in drawn]
        batches = list(make_batches([one for one in encoded if one.starts], rng))
        losses = []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / EPOCHS))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
    torch.save(trainer.collect_weights(), file)


def collect_phrases(sentences: Sequence[DatedSentence]) -> Alike:
    """Return the phrases of each role by their first words."""
    alike: Alike = defaultdict(list)
    for sentence in sentences:
        for start, end, role in sentence.phrases:
            words = sentence.text[start:end]
            alike[role, words.split()[0].lower()].append(words)
    return alike


def redate(sentence: DatedSentence, alike: Alike, rng: random.Random) -> DatedSentence:
    """Return the sentence with phrases of other sentences that have the same roles and first words.

    So the network learns that "in 2014" and "in March" are alike.
    """
    text, done = "", 0
    phrases = []
    for start, end, role in sentence.phrases:
        text += sentence.text[done:start]
        words = rng.choice(alike[role, sentence.text[start:end].split()[0].lower()])
        first = words[0].upper() if sentence.text[start].isupper() else words[0].lower()
        phrases.append((len(text), len(text) + len(words), role))
        text += first + words[1:]
        done = end
    return DatedSentence(text + sentence.text[done:], phrases)


def hurry(sentence: DatedSentence, rng: random.Random) -> DatedSentence:
    """Return some sentences as somebody in a hurry types them."""
    lower = sentence.text.lower()
    is_hurried = rng.random() < HURRIED and len(lower) == len(sentence.text)
    return replace(sentence, text=lower) if is_hurried else sentence


def compute_loss_of_roles(network: DatesNetwork, encoded: Sequence[Encoded]) -> torch.Tensor:
    """Return how unlikely the network held the roles of the words of phrases."""
    batch = pad_texts(encoded, is_pooled=False)
    roles = network(replace(batch, ids=mask_words(batch.ids, network.base))).float()
    most = max(len(one.starts) for one in encoded)
    words = torch.tensor([[*one.starts, *[0] * (most - len(one.starts))] for one in encoded])
    return compute_loss(
        roles.gather(1, words.unsqueeze(-1).expand(-1, -1, roles.shape[-1])), encoded
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the network of dates.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    train(DatesNetwork().train(), folder / "dates.pt")


if __name__ == "__main__":
    main()
