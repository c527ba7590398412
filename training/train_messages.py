"""Trains the reader of messages on labelled talk: `make messages`, or

    python training/train_messages.py [--folder FOLDER] [--held-out NAME ...]

It learns where the pieces of a message begin, and of what kind they are. Writers of turns whose names end in 2 are held out.
`--held-out` leaves folders of `corpus/speech` out too.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from messages import (
    ASIDES,
    FACT_CLASSES,
    SPEECH,
    Message,
    collect_headings,
    collect_leads,
    collect_tails,
    lead_up,
    list_facts,
    list_turn_writers,
    mix_pieces,
    read_facts,
    read_speech,
    read_turns,
    split_message,
    type_hurriedly,
    write_piece,
)
from network import NOWHERE, Encoded, MessageNetwork, encode_message, pad_texts
from torch.nn.functional import cross_entropy
from trainer import Trainer, compute_loss, make_batches, mask_words

SEED = 1
EPOCHS = 10
OF_SPEECH_AN_EPOCH = 3_000
FACTS_AN_EPOCH = 3_000
IDLE_AN_EPOCH = 3_000  # pieces that are no facts, alone
RUNS_AN_EPOCH = 1_800
LONGEST_RUN = 8  # facts that are told one after the other
REPEATS = 2  # of the messages of turns
MOST_MIXED = 4  # pieces of a sentence that runs on
LATER = 0.25  # of the messages: the rest behind a piece of them
UNMIXED = frozenset(("frame", "code", "link"))  # say nothing without what stands around them
HURRIED = 0.3  # of the messages, as somebody types them
WITHOUT_MARKS = 0.4  # of these

Draw = Callable[[random.Random], Iterable[Message]]


def draw_messages(folders: Sequence[str], rng: random.Random) -> Iterator[Message]:
    """Yield the messages of one epoch, some of them as somebody in a hurry types them."""
    writers = list_turn_writers()
    turns = [message for name in writers for message in read_turns(name)]
    speech = [message for folder in folders for message in read_speech(folder)]
    facts = list(read_facts(writers, folders))
    cut = [
        (message.text[piece.start : piece.end], piece.classes)
        for message in turns
        for piece in message.pieces
        if not UNMIXED.intersection(piece.classes)
    ]
    asides = [text for text, classes in cut if ASIDES.intersection(classes)]
    some_speech = rng.sample(speech, min(len(speech), OF_SPEECH_AN_EPOCH))
    drawn = [message for message in (*turns * REPEATS, *some_speech) if message.pieces]
    drawn = [split_message(one, rng) if rng.random() < LATER else one for one in drawn]
    idle = [
        write_piece(message.text[piece.start : piece.end], piece.classes)
        for message in (*turns, *speech)
        for piece in message.pieces
        if not FACT_CLASSES.intersection(piece.classes) and not UNMIXED.issuperset(piece.classes)
    ]
    alone = rng.sample(facts, FACTS_AN_EPOCH)
    idle = rng.sample(idle, IDLE_AN_EPOCH)
    after = [Message(rng.choice(asides), one.text, one.pieces) for one in alone[::3]]
    leads = collect_leads([*turns, *speech])
    tails = [*collect_tails([*turns, *speech]), ""]
    led = [
        lead_up(one, rng.choice(leads), rng.choice((rng.choice(tails), ""))) for one in alone[1::3]
    ]
    mixed = [
        mix_pieces(rng.sample(cut, rng.randint(2, MOST_MIXED)), rng) for _ in range(RUNS_AN_EPOCH)
    ]
    headings = collect_headings(turns)
    runs = [
        list_facts(rng.sample(facts, rng.randint(2, LONGEST_RUN)), headings, rng)
        for _ in range(RUNS_AN_EPOCH)
    ]
    for message in (*drawn, *alone, *idle, *after, *led, *mixed, *runs):
        if rng.random() < HURRIED:
            yield type_hurriedly(message, without_marks=rng.random() < WITHOUT_MARKS)
        else:
            yield message


def compute_loss_of_pieces(network: MessageNetwork, encoded: Sequence[Encoded]) -> torch.Tensor:
    """Return how unlikely the network held where pieces begin, and what their words are."""
    batch = pad_texts(encoded, is_pooled=False)
    batch.ids.copy_(mask_words(batch.ids, network.base))
    kinds, begins = (logits.float() for logits in network(batch))
    most = max(len(one.starts) for one in encoded)
    words = torch.tensor([[*one.starts, *[0] * (most - len(one.starts))] for one in encoded])
    kinds = kinds.gather(1, words.unsqueeze(-1).expand(-1, -1, kinds.shape[-1]))
    begins = begins.gather(1, words.unsqueeze(-1).expand(-1, -1, 2))
    due = torch.tensor([[*one.begins, *[NOWHERE] * (most - len(one.begins))] for one in encoded])
    is_learned = due != NOWHERE
    return compute_loss(kinds, encoded) + cross_entropy(begins[is_learned], due[is_learned])


def train(network: MessageNetwork, draw: Draw, file: Path, epochs: int = EPOCHS) -> None:
    """Train on what is drawn for each epoch, and write the weights by name after every one."""
    rng, tokenizer = random.Random(SEED), network.base.load_tokenizer()
    trainer = Trainer(network, compute_loss_of_pieces)
    for epoch in range(epochs):
        encoded = [encode_message(tokenizer, one, network.base) for one in draw(rng)]
        batches = list(make_batches([one for one in encoded if one.starts], rng))
        losses = []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / epochs))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
        torch.save(trainer.collect_weights(), file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the reader of messages.")
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=Path("build"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    folders = [name for name in SPEECH if name not in arguments.held_out]
    train(
        MessageNetwork().train(), partial(draw_messages, folders), arguments.folder / "messages.pt"
    )


if __name__ == "__main__":
    main()
