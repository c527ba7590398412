"""Trains the network that reads dates in many languages: `make dates-of-languages`, after `make messages-of-languages`.

It begins where the reader of messages ended. Writers of `corpus/languages` whose names end in 2, 5 or 8 are held out.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from dates_of_languages import Timed, collect_phrases, read_trained, redate
from e5 import E5
from network import DIMENSIONS, DROPOUT, SHARED, Batch, Encoded, encode, pad_texts
from tokenizers import Tokenizer
from trainer import Trainer, make_batches, mask_words

from app.domain.dates.meanings import CHOICES
from app.extraction.date_roles import ROLES
from app.extraction.foreign_dates import (
    BEGINS,
    FIGURES,
    INSIDE,
    NUMBER,
    OUTSIDE,
    PLACES,
)

SEED = 1
EPOCHS = 20
HURRIED = 0.2  # of the texts, in lower case
REDATED = 0.6  # of the texts, with phrases of others in place of theirs
ENGLISH_AN_EPOCH = 2_500
TIMES = 2  # that each sentence of another language is read in an epoch
UNSET = -100  # is not learned
MARKS = 3
TABLES = {"roles": (0, len(ROLES)), **PLACES}


@dataclass(frozen=True, slots=True)
class EncodedDates(Encoded):
    """The tokens of a sentence. `marks` are those of its tokens.

    `phrases` have their tokens and the right choice of each table; `numbers` their tokens and what they are.
    """

    marks: Sequence[int] = ()
    phrases: Sequence[tuple[list[int], list[int]]] = ()
    numbers: Sequence[tuple[list[int], int]] = ()


class DatesOfLanguages(torch.nn.Module):
    """Marks the phrases of time, and weighs what each means."""

    def __init__(self) -> None:
        super().__init__()
        self.base = E5
        self.bert = E5.build_encoder()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.marks = torch.nn.Linear(DIMENSIONS, MARKS)
        self.choices = torch.nn.Linear(DIMENSIONS, max(end for _, end in TABLES.values()))
        self.figures = torch.nn.Linear(DIMENSIONS, len(FIGURES))

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the logits of marks, choices and figures, each (texts, tokens, classes)."""
        hidden = self.dropout(encode(self.bert, batch))
        return self.marks(hidden), self.choices(hidden), self.figures(hidden)


def encode_dates(tokenizer: Tokenizer, sentence: Timed) -> EncodedDates:
    """Return the tokens of a sentence with what is to be learned of them."""
    encoding = tokenizer.encode(sentence.text, add_special_tokens=False)
    ids = [E5.start, *encoding.ids, E5.end]
    located = [(1 + place, span) for place, span in E5.locate(encoding, sentence.text)]
    marks = [UNSET] * len(ids)
    for place, _ in located:
        marks[place] = OUTSIDE
    phrases, numbers = [], []
    for told in sentence.phrases:
        its = [at for at, (first, last) in located if first < told.end and told.start < last]
        if not its:
            continue
        for place in its:
            marks[place] = INSIDE
        marks[its[0]] = BEGINS
        chosen = [ROLES.index(told.role)]
        for name in PLACES:
            chosen.append(CHOICES[name].index(getattr(told.meaning, name)))
        phrases.append((its, chosen))
        found = NUMBER.finditer(sentence.text, told.start, told.end)
        for number, figure in zip(found, told.figures, strict=True):
            start, end = number.span()
            digits = [at for at, (first, last) in located if first < end and start < last]
            numbers.append((digits, FIGURES.index(figure)))
    return EncodedDates(
        ids,
        [0] * len(ids),
        list(range(len(ids))),
        [SHARED] * len(ids),
        [0],
        [()],
        marks=marks,
        phrases=phrases,
        numbers=numbers,
    )


def compute_loss_of_dates(
    network: DatesOfLanguages, encoded: Sequence[EncodedDates]
) -> torch.Tensor:
    """Return how unlikely the network held the marks, the choices and the figures."""
    batch = pad_texts(encoded, is_pooled=False)
    wanted = torch.full(batch.ids.shape, UNSET)
    for row, one in enumerate(encoded):
        wanted[row, : len(one.marks)] = torch.tensor(one.marks)
    # Without a word of its own, a phrase means something else.
    is_kept = (wanted == BEGINS) | (wanted == INSIDE)
    ids = torch.where(is_kept, batch.ids, mask_words(batch.ids, network.base))
    marks, choices, figures = network(replace(batch, ids=ids))
    loss = learn(marks.float().flatten(0, 1), wanted.flatten())
    phrases = [
        (choices[row, its].float().mean(0), chosen)
        for row, one in enumerate(encoded)
        for its, chosen in one.phrases
    ]
    if phrases:
        logits = torch.stack([each for each, _ in phrases])
        targets = torch.tensor([chosen for _, chosen in phrases])
        for place, (first, end) in enumerate(TABLES.values()):
            loss = loss + learn(logits[:, first:end], targets[:, place])
    numbers = [
        (figures[row, its].float().mean(0), figure)
        for row, one in enumerate(encoded)
        for its, figure in one.numbers
    ]
    if numbers:
        logits = torch.stack([each for each, _ in numbers])
        loss = loss + learn(logits, torch.tensor([figure for _, figure in numbers]))
    return loss


def learn(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits, classes, ignore_index=UNSET)


def hurry(sentence: Timed, rng: random.Random) -> Timed:
    """Return some sentences as somebody in a hurry types them."""
    lower = sentence.text.lower()
    is_hurried = rng.random() < HURRIED and len(lower) == len(sentence.text)
    return replace(sentence, text=lower) if is_hurried else sentence


def main() -> None:
    folder = Path("build")
    torch.manual_seed(SEED)
    rng, tokenizer = random.Random(SEED), E5.load_tokenizer()
    network = DatesOfLanguages().train()
    reader = torch.load(folder / "messages_of_languages.pt")
    learned = {name: value for name, value in reader.items() if name.startswith("bert.")}
    network.load_state_dict(learned, strict=False)
    trainer = Trainer(network, compute_loss_of_dates)
    sentences = read_trained()
    alike = collect_phrases(sentences)
    english = [one for one in sentences if one.language == "english"]
    others = [one for one in sentences if one.language != "english"]
    for epoch in range(EPOCHS):
        drawn = [*rng.sample(english, ENGLISH_AN_EPOCH), *others * TIMES]
        drawn = [redate(one, alike, rng) if rng.random() < REDATED else one for one in drawn]
        encoded = [encode_dates(tokenizer, hurry(one, rng)) for one in drawn]
        batches = list(make_batches(encoded, rng))
        losses = []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / EPOCHS))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
        torch.save(trainer.collect_weights(), folder / "dates_of_languages.pt")


if __name__ == "__main__":
    main()
