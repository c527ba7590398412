"""Trains the second reader of messages on labelled talk: `make relevance`, or

    python training/train_relevance.py [--folder FOLDER] [--held-out FOLDER ...]

It learns which sentences state something of the speaker's own life: from the labelled talk for development, from dated and compound
facts of the same writers, and from facts of corpus/scopes. `--held-out` leaves folders of corpus/speech out, which
scripts/score_talk.py can then score.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from network import ReadingNetwork, encode_text, load_tokenizer
from trainer import Trainer, make_batches

CORPUS = Path(__file__).parents[1] / "corpus"
WRITTEN = ("a", "c")
REAL = (
    "r",
    "r2",
    "r3",
    "r4",
    "r5",
    "r6",
    "r7",
    "r8",
    "r9",
    "r10",
    "r11",
    "r12",
    "s",
    "u",
    "w",
    "v",
)
FROM_SCOPES = 400
SEED = 1
EPOCHS = 3

Example = tuple[str, bool]


def collect_examples(folders: list[str]) -> list[Example]:
    """Return sentences, and whether each states something of the speaker's life."""
    examples = [example for folder in folders for example in read_talk(folder)]
    for folder in folders:
        if folder in WRITTEN:
            examples += read_facts(folder)
    texts = []
    for path in sorted((CORPUS / "scopes").glob("*.jsonl")):
        texts += [fact["text"] for scope in read_lines(path) for fact in scope["facts"]]
    return examples + [(text, True) for text in random.Random(SEED).sample(texts, FROM_SCOPES)]


def read_talk(folder: str) -> Iterator[Example]:
    """Yield the sentences of users, and the facts in words that stand alone.

    "Yes, I do" says nothing by itself, so of a confirmation only the fact counts.
    """
    for turn in read_lines(CORPUS / "speech" / folder / "talk.jsonl"):
        for label in turn["labels"]:
            if label["class"] != "confirmation":
                yield label["span"].strip(), label["class"] == "fact"
            if label.get("fact", label["span"]) != label["span"]:
                yield label["fact"], True


def read_facts(folder: str) -> Iterator[Example]:
    """Yield facts that somebody wrote to be remembered."""
    for name in ("dates", "compound"):
        for line in read_lines(CORPUS / "speech" / folder / f"{name}.jsonl"):
            yield line["text"], True


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def train(network: ReadingNetwork, examples: list[Example], file: Path) -> None:
    """Train, and write the weights by name after every epoch."""
    rng, tokenizer = random.Random(SEED), load_tokenizer()
    encoded = [encode_text(tokenizer, text, int(is_fact)) for text, is_fact in examples]
    trainer = Trainer(network)
    for epoch in range(EPOCHS):
        batches = list(make_batches(encoded, rng))
        losses = [
            trainer.step(batch, (epoch + number / len(batches)) / EPOCHS)
            for number, batch in enumerate(batches, 1)
        ]
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
        torch.save(trainer.collect_weights(), file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the second reader.")
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=Path("build"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    folders = [name for name in (*WRITTEN, *REAL) if name not in arguments.held_out]
    examples = collect_examples(folders)
    print(f"{len(examples)} sentences, {sum(is_fact for _, is_fact in examples)} of them facts")
    torch.manual_seed(SEED)
    train(ReadingNetwork(classes=2).train(), examples, arguments.folder / "relevance.pt")


if __name__ == "__main__":
    main()
