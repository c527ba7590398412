"""Trains the reader of messages on labelled talk: `make sentences`, or

    python training/train_sentences.py [--folder FOLDER] [--held-out NAME ...] [--measure]

It learns the kind of a sentence that follows what its message says before it. The sentences are from `corpus/turns`, and from
`corpus/speech`, whose classes are coarser: a fact there may be about the user or about others. Writers of turns whose names end in 2
are held out, and `--measure` prints how well their sentences are read. `--held-out` leaves folders of `corpus/speech` out too.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from network import Encoded, ReadingNetwork, encode_sentence, load_tokenizer, pad_texts
from trainer import Trainer, make_batches

from app.extraction.sentence_network import FACT_KINDS, SentenceKind
from corpus import HELD_OUT as OF_CHANGES_HELD_OUT
from corpus import list_writers, read_families

CORPUS = Path(__file__).parents[1] / "corpus"
CLASSES = tuple(SentenceKind)  # in the order of the network's outputs
# What a class of corpus/speech may be.
OF_SPEECH = {
    "fact": ("self", "other", "plan"),
    "none": ("event", "frame", "talk", "world"),
    "question": ("question",),
    "politeness": ("talk",),
    "wish": ("wish",),
    "hypothetical": ("wish", "talk"),
    "request": ("request", "instruction"),
    "quotation": ("frame",),
    "code": ("code",),
    "log": ("code",),
    "table": ("code", "frame"),
}
SPEECH = ("a", "c", "r", *(f"r{number}" for number in range(2, 13)), "s", "u", "w", "v")
# What may be said before anything else, and changes nothing of it.
ASIDES = frozenset(("talk", "question", "request", "event"))
SEED = 1
EPOCHS = 4
HELD_OUT = "2"  # the end of the names of writers of turns
REPEATS = 2  # of the sentences of turns, which are fewer
OF_SPEECH_AN_EPOCH = 8_000
STORED_AN_EPOCH = 2_000
LONGEST_RUN = 8  # facts that are told one after the other
HURRIED = 0.3  # of the sentences, as somebody types them

Example = tuple[str, str, tuple[str, ...]]  # what was said before, the sentence, what it may be


def read_turns(name: str) -> Iterator[Example]:
    """Yield the sentences of a writer of turns."""
    for turn in read_lines(CORPUS / "turns" / f"{name}.jsonl"):
        place = 0
        for sentence in turn["sentences"]:
            start = max(turn["text"].find(sentence["text"], place), place)
            yield turn["text"][:start], sentence["text"], (find_class(sentence),)
            place = start


def read_facts(name: str) -> Iterator[Example]:
    """Yield the facts of a writer of turns in words that stand alone."""
    for turn in read_lines(CORPUS / "turns" / f"{name}.jsonl"):
        for sentence in turn["sentences"]:
            if "fact" in sentence:
                yield "", sentence["fact"], (find_class(sentence),)


def read_runs(name: str) -> Iterator[Example]:
    """Yield what a writer's user says that is worth keeping, as if it came in one message."""
    told: dict[str, list[tuple[str, str]]] = {}
    for turn in read_lines(CORPUS / "turns" / f"{name}.jsonl"):
        for sentence in turn["sentences"]:
            if find_class(sentence) in FACT_KINDS:
                fact = (sentence["text"], find_class(sentence))
                told.setdefault(turn["conversation"], []).append(fact)
    for facts in told.values():
        for place, (text, kind) in enumerate(facts):
            before = facts[max(0, place - LONGEST_RUN) : place]
            yield " ".join(earlier for earlier, _ in before), text, (kind,)


def find_class(sentence: dict[str, Any]) -> str:
    """Return the class of a sentence. An event that is worth keeping is a fact about the user."""
    return "self" if sentence["class"] == "event" and "fact" in sentence else sentence["class"]


def read_speech(folder: str) -> Iterator[Example]:
    """Yield the sentences of users, and the facts in words that stand alone.

    "Yes, I do" says nothing by itself, and is left out.
    """
    for turn in read_lines(CORPUS / "speech" / folder / "talk.jsonl"):
        place = 0
        for label in turn["labels"]:
            start = max(turn["content"].find(label["span"], place), place)
            if label["class"] in OF_SPEECH:
                yield turn["content"][:start], label["span"], OF_SPEECH[label["class"]]
            if "fact" in label:
                yield "", label["fact"], OF_SPEECH["fact"]
            place = start


def read_stored() -> Iterator[Example]:
    """Yield what is stored in families of changes: plain statements that last."""
    writers = [writer for writer in list_writers() if writer not in OF_CHANGES_HELD_OUT]
    for family in read_families(writers):
        yield "", family["stored"], OF_SPEECH["fact"]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def collect_examples(folders: Sequence[str], rng: random.Random) -> list[Example]:
    """Return the sentences of one epoch, some of them as somebody in a hurry types them."""
    files = sorted((CORPUS / "turns").glob("*.jsonl"))
    names = [file.stem for file in files if not file.stem.endswith(HELD_OUT)]
    turns = [example for name in names for example in read_turns(name)]
    facts = [example for name in names for example in read_facts(name)]
    speech = [example for folder in folders for example in read_speech(folder)]
    some_speech = rng.sample(speech, min(len(speech), OF_SPEECH_AN_EPOCH))
    stored = list(read_stored())
    alone = [*facts, *rng.sample(stored, STORED_AN_EPOCH)]
    asides = [sentence for _, sentence, classes in turns if classes[0] in ASIDES]
    after_asides = [(rng.choice(asides), text, classes) for _, text, classes in alone]
    runs = [example for name in names for example in read_runs(name)]
    for _, text, classes in rng.sample(alone, STORED_AN_EPOCH):
        earlier = rng.sample(stored, rng.randint(1, LONGEST_RUN))
        runs.append((" ".join(one for _, one, _ in earlier), text, classes))
    examples = (*turns * REPEATS, *alone, *after_asides, *runs, *some_speech)
    return [type_hurriedly(example, rng) for example in examples]


def type_hurriedly(example: Example, rng: random.Random) -> Example:
    if rng.random() > HURRIED:
        return example
    before, sentence, classes = example
    return before.lower(), sentence.lower().replace("'", "").rstrip("."), classes


def encode_examples(examples: Sequence[Example]) -> list[Encoded]:
    """Return the tokens of the sentences, with the numbers of what each may be."""
    tokenizer = load_tokenizer()
    return [
        encode_sentence(tokenizer, before, text, tuple(map(CLASSES.index, names)))
        for before, text, names in examples
    ]


def train(network: ReadingNetwork, folders: Sequence[str], file: Path) -> None:
    """Train, and write the weights by name after every epoch."""
    rng, trainer = random.Random(SEED), Trainer(network)
    for epoch in range(EPOCHS):
        encoded = encode_examples(collect_examples(folders, rng))
        batches = list(make_batches(encoded, rng))
        losses = []
        for number, batch in enumerate(batches, 1):
            losses.append(trainer.step(batch, (epoch + number / len(batches)) / EPOCHS))
        print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f}", flush=True)
        torch.save(trainer.collect_weights(), file)


def measure(network: ReadingNetwork, name: str) -> None:
    """Print of a held-out writer's turns what is kept, by how sure one must be, and the classes."""
    examples = list(read_turns(name))
    network.float().eval()
    read = []
    for encoded in encode_examples(examples):
        with torch.no_grad():
            [[logits]] = network(pad_texts([encoded]))
        read.append(logits.softmax(-1))
    kept = [CLASSES.index(each) for each in FACT_KINDS]
    is_fact = [names[0] in FACT_KINDS for _, _, names in examples]
    for least in (0.3, 0.5, 0.7, 0.8, 0.9):
        taken = [bool(one[kept].sum() >= least) for one in read]
        right = sum(map(all, zip(taken, is_fact, strict=True)))
        junk = (sum(taken) - right) / max(1, sum(taken))
        print(f"{name} from {least}: found {right / sum(is_fact):.3f} junk {junk:.3f}")
    confused: Counter[tuple[str, str]] = Counter()
    for (_, _, [due]), one in zip(examples, read, strict=True):
        confused[due, CLASSES[int(one.argmax())]] += 1
    for (due, told), count in confused.most_common(25):
        print(f"    {due} read as {told}: {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the reader of messages.")
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=Path("build"))
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "sentences.pt"
    torch.manual_seed(SEED)
    network = ReadingNetwork(len(CLASSES)).train()
    train(network, [name for name in SPEECH if name not in arguments.held_out], file)
    if arguments.measure:
        trained = ReadingNetwork(len(CLASSES))
        trained.load_state_dict(torch.load(file))
        for held_out in sorted((CORPUS / "turns").glob("*2.jsonl")):
            measure(trained, held_out.stem)


if __name__ == "__main__":
    main()
