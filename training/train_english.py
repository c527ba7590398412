"""Learns to tell English from other languages: `make english`.

It learns one weight for each piece of the tokenizer of many languages: a text is English if those of its pieces sum to more than 0. Writers of
`corpus/languages` whose names end in 2, 5 or 8 are held out, and so are those of `corpus.HELD_OUT`.
"""

import json
import random
from collections.abc import Iterator

import numpy as np
import torch
from e5 import E5
from export_languages import FOLDER
from questions import MIXED, list_language_writers, read_lines
from tokenizers import Tokenizer

from corpus import FOLDER as CORPUS
from corpus import HELD_OUT, list_writers, read_scopes

SEED = 1
EPOCHS = 6
BATCH = 512
RATE = 0.02
DECAY = 3e-6  # of the squared weights
CUT = 0.5  # of the texts, to a few words in a row
HURRIED = 0.3  # of the texts, in lower case
ENGLISH = 40_000  # texts


def read_foreign() -> Iterator[str]:
    """Yield what eight writers and more told in other languages."""
    for folder in list_language_writers("scopes.jsonl", is_held_out=False):
        for scope in read_lines(folder / "scopes.jsonl"):
            if MIXED not in scope["register"]:
                yield from (fact["text"] for fact in scope["facts"])
        for name in ("dates", "talk"):
            file = folder / f"{name}.jsonl"
            yield from (line["text"] for line in read_lines(file)) if file.exists() else ()


def read_english(rng: random.Random) -> list[str]:
    """Return what people told in English, in facts and to an assistant."""
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    texts = [fact["text"] for scope in read_scopes(writers) for fact in scope["facts"]]
    for file in sorted((CORPUS / "turns").glob("*.jsonl")):
        if not file.stem.endswith("2"):
            texts += [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
    return rng.sample(texts, min(len(texts), ENGLISH))


def cut(text: str, rng: random.Random) -> str:
    """Return some texts in lower case, and of some a few words in a row."""
    text = text.lower() if rng.random() < HURRIED else text
    words = text.split(" ")
    if rng.random() > CUT or len(words) < 4:
        return text
    first = rng.randrange(len(words) - 2)
    return " ".join(words[first : first + rng.randint(2, 6)])


def measure(tokenizer: Tokenizer, weights: torch.Tensor) -> None:
    """Print how many texts of held-out writers are taken for another language."""
    foreign: list[str] = []
    for folder in list_language_writers("scopes.jsonl", is_held_out=True):
        foreign += (line["text"] for line in read_lines(folder / "dates.jsonl"))
        scopes = read_lines(folder / "plain.jsonl")
        foreign += (fact["text"] for scope in scopes for fact in scope["facts"])
    english = [fact["text"] for scope in read_scopes(sorted(HELD_OUT)) for fact in scope["facts"]]
    for name, texts, is_english in (("other", foreign, False), ("English", english, True)):
        encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
        taken = [bool(weights[sorted(set(one.ids))].sum() > 0) for one in encodings]
        print(f"{len(texts)} {name} texts, {taken.count(not is_english)} taken for the other kind")


def main() -> None:
    rng, tokenizer = random.Random(SEED), E5.load_tokenizer()
    torch.manual_seed(SEED)
    foreign, english = list(read_foreign()), read_english(rng)
    print(f"{len(english)} English texts, {len(foreign)} others")
    share = len(foreign) / len(english)
    weights = torch.nn.EmbeddingBag(tokenizer.get_vocab_size(), 1, mode="sum")
    torch.nn.init.zeros_(weights.weight)
    optimizer = torch.optim.Adam(weights.parameters(), RATE)
    for epoch in range(EPOCHS):
        texts = [(cut(one, rng), 1.0) for one in english] + [
            (cut(one, rng), 0.0) for one in foreign
        ]
        rng.shuffle(texts)
        losses = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            encodings = tokenizer.encode_batch(
                [text for text, _ in batch], add_special_tokens=False
            )
            ids = [torch.tensor(sorted(set(one.ids)), dtype=torch.long) for one in encodings]
            offsets = torch.tensor([0, *map(len, ids)][:-1]).cumsum(0)
            sums = weights(torch.cat(ids), offsets).squeeze(1)
            wanted = torch.tensor([is_english for _, is_english in batch])
            scale = torch.where(wanted == 1, share, 1.0)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(sums, wanted, scale)
            optimizer.zero_grad()
            (loss + DECAY * (weights.weight**2).sum()).backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.4f}", flush=True)
    measure(tokenizer, weights.weight.detach().squeeze(1))
    np.save(FOLDER / "english.npy", weights.weight.detach().squeeze(1).numpy().astype(np.float16))


if __name__ == "__main__":
    main()
