"""Trains the reader of messages of many languages: `make messages-of-languages`, after `make judge-of-languages`.

It begins where the judge ended. Writers of `corpus/languages` whose names end in 2, 5 or 8 are held out.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import torch
from e5 import E5
from messages import SPEECH, Message, join_messages, read_talk, split_message, write_piece
from network import MessageNetwork
from questions import list_language_writers
from train_messages import LATER, SEED, UNMIXED, draw_messages, train

EPOCHS = 4
ENGLISH_AN_EPOCH = 7_000
ALONE_AN_EPOCH = 3_000  # pieces
RUNS_AN_EPOCH = 1_000
LONGEST_RUN = 4  # messages


def draw_messages_of_languages(rng: random.Random) -> Iterator[Message]:
    """Yield what is read in one epoch: whole messages, pieces alone, several in a row, and English."""
    pieces: list[Message] = []
    for folder in list_language_writers("talk.jsonl", is_held_out=False):
        talk = folder / "talk.jsonl"
        messages = [one for one in read_talk(talk) if one.pieces]
        for message in messages:
            yield message
            yield split_message(message, rng) if rng.random() < LATER else message
            for piece in message.pieces:
                if not UNMIXED.intersection(piece.classes):
                    words = message.text[piece.start : piece.end]
                    pieces.append(write_piece(words, piece.classes))
        for _ in range(RUNS_AN_EPOCH // 8):
            yield join_messages(rng.sample(messages, rng.randint(2, LONGEST_RUN)))
    yield from rng.sample(pieces, min(len(pieces), ALONE_AN_EPOCH))
    yield from rng.sample(list(draw_messages(SPEECH, rng)), ENGLISH_AN_EPOCH)


def main() -> None:
    folder = Path("build")
    torch.manual_seed(SEED)
    network = MessageNetwork(E5).train()
    judge = torch.load(folder / "judge_of_languages.pt")
    learned = {name: value for name, value in judge.items() if name.startswith("bert.")}
    network.load_state_dict(learned, strict=False)
    train(network, draw_messages_of_languages, folder / "messages_of_languages.pt", EPOCHS)


if __name__ == "__main__":
    main()
