"""What users write to an assistant, cut into pieces of a kind: `corpus/turns` and `corpus/speech`."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from app.extraction.message_network import FACT_KINDS, replace_numbers
from corpus import FOLDER, HELD_OUT, list_writers, read_families

# What a class of corpus/speech may be.
OF_SPEECH: Final = {
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
    "link": ("link",),
}
SPEECH: Final = ("a", "c", "r", *(f"r{number}" for number in range(2, 13)), "s", "u", "w", "v")
HELD_OUT_TURNS: Final = "2"  # the end of the names of writers of turns
# What may stand before anything else, and changes nothing of it.
ASIDES: Final = frozenset(("talk", "question", "request", "event"))

FACT_CLASSES: Final = frozenset(map(str, FACT_KINDS))
# Marks and words that tie pieces of a sentence that runs on.
TIES: Final = (
    (",", ""),
    ("", ""),
    (",", "so"),
    ("", "so"),
    ("", "and"),
    (",", "and"),
    (",", "but"),
    ("", "because"),
)

Classes = tuple[str, ...]  # what a piece may be
BULLETS: Final = (None, None, "", "- ", "- ", "* ", "• ")  # None is a row
HEADED: Final = 0.5  # of the lists
LINK: Final[Classes] = ("link",)
Lead = tuple[str, bool]  # what leads up to a fact, and whether it asks to remember it


@dataclass(frozen=True, slots=True)
class Piece:
    """A half-open place in a message, and what it may be. Nothing is learned without classes."""

    start: int
    end: int
    classes: Classes


@dataclass(frozen=True, slots=True)
class Message:
    """What a user wrote, after what the same message says before it, in pieces."""

    before: str
    text: str
    pieces: tuple[Piece, ...]


def list_turn_writers(*, held_out: bool = False) -> list[str]:
    names = sorted(file.stem for file in (FOLDER / "turns").glob("*.jsonl"))
    return [name for name in names if name.endswith(HELD_OUT_TURNS) is held_out]


def read_turns(name: str) -> Iterator[Message]:
    """Yield the messages of a writer of turns."""
    return read_talk(FOLDER / "turns" / f"{name}.jsonl")


def read_talk(file: Path) -> Iterator[Message]:
    """Yield the messages of a file of turns."""
    for turn in _read_lines(file):
        spans = [(one["text"], (find_class(one),)) for one in turn["sentences"]]
        yield cut_message(turn["text"], spans, unmarked=LINK)


def find_class(sentence: dict[str, Any]) -> str:
    """Return the class of a sentence. An event that is worth keeping is a fact about the user."""
    return "self" if sentence["class"] == "event" and "fact" in sentence else sentence["class"]


def read_speech(folder: str) -> Iterator[Message]:
    """Yield the messages of users. "Yes, I do" says nothing by itself: nothing is learned of it."""
    for turn in _read_lines(FOLDER / "speech" / folder / "talk.jsonl"):
        if turn["role"] == "user":
            spans = [(one["span"], OF_SPEECH.get(one["class"], ())) for one in turn["labels"]]
            yield cut_message(turn["content"], spans, unmarked=())


def read_facts(writers: Sequence[str], folders: Sequence[str]) -> Iterator[Message]:
    """Yield facts in words that stand alone."""
    for name in writers:
        for turn in _read_lines(FOLDER / "turns" / f"{name}.jsonl"):
            for one in turn["sentences"]:
                if "fact" in one:
                    yield write_piece(one["fact"], (find_class(one),))
    for folder in folders:
        for turn in _read_lines(FOLDER / "speech" / folder / "talk.jsonl"):
            for one in turn["labels"]:
                if "fact" in one:
                    yield write_piece(one["fact"], OF_SPEECH["fact"])
    for family in read_families([one for one in list_writers() if one not in HELD_OUT]):
        yield write_piece(family["stored"], OF_SPEECH["fact"])


def write_piece(text: str, classes: Classes) -> Message:
    return Message("", text, (Piece(0, len(text), classes),))


def cut_message(text: str, spans: Sequence[tuple[str, Classes]], unmarked: Classes) -> Message:
    """Return a message in pieces: the spans in their order, and what lies between them."""
    pieces: list[Piece] = []
    place = 0
    written = text
    text = replace_numbers(written)
    for span, classes in spans:
        start = written.find(span, place)
        if start < 0:
            continue
        if re.search(r"\w", text[place:start]):
            pieces.append(Piece(place, start, unmarked))
        place = start + len(span)
        pieces.append(Piece(start, place, classes))
    if re.search(r"\w", text[place:]):
        pieces.append(Piece(place, len(text), unmarked))
    return Message("", text, tuple(pieces))


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def split_message(message: Message, rng: random.Random) -> Message:
    """Return what follows one of its pieces, as the rest of a long message."""
    first = rng.randrange(len(message.pieces))
    start = message.pieces[first].start
    rest = [
        Piece(one.start - start, one.end - start, one.classes) for one in message.pieces[first:]
    ]
    return Message(message.text[:start], message.text[start:], tuple(rest))


def join_messages(messages: Sequence[Message], bullet: str | None = None) -> Message:
    """Return several messages as one: in a row, or as lines that begin with the bullet.

    A bullet belongs to the piece behind it.
    """
    text, pieces = "", list[Piece]()
    for message in messages:
        if text:
            text += " " if bullet is None else "\n"
        start = len(text)
        text += bullet or ""
        shift = len(text)
        moved = [Piece(shift + p.start, shift + p.end, p.classes) for p in message.pieces]
        pieces += [replace(moved[0], start=start), *moved[1:]]
        text += message.text
    return Message("", text, tuple(pieces))


def list_facts(
    facts: Sequence[Message], headings: Sequence[Message], rng: random.Random
) -> Message:
    """Return facts one after the other, or as lines, perhaps under a heading."""
    bullet = rng.choice(BULLETS)
    listed = join_messages(facts, bullet)
    is_headed = bullet is not None and rng.random() < HEADED
    return join_messages([rng.choice(headings), listed], "") if is_headed else listed


def collect_headings(messages: Sequence[Message]) -> list[Message]:
    """Return the lines that stand over others."""
    headings: list[Message] = []
    for message in messages:
        for piece in message.pieces:
            text = message.text[piece.start : piece.end]
            if piece.classes == ("talk",) and (text.endswith(":") or text.startswith("#")):
                headings.append(write_piece(text, piece.classes))
    return headings


def type_hurriedly(message: Message, *, without_marks: bool) -> Message:
    """Return a message as somebody in a hurry types it, perhaps without marks between sentences."""
    text, pieces, place = "", list[Piece](), 0
    for piece in message.pieces:
        text += _hurry(message.text[place : piece.start])
        start, place = len(text), piece.end
        typed = _hurry(message.text[piece.start : piece.end])
        text += typed.rstrip(".,;!") if without_marks else typed
        pieces.append(Piece(start, len(text), piece.classes))
    typed = (text + _hurry(message.text[place:])).rstrip(".")
    last = pieces[-1]
    pieces[-1] = Piece(last.start, min(last.end, len(typed)), last.classes)
    return Message(_hurry(message.before), typed, tuple(pieces))


def collect_leads(messages: Sequence[Message]) -> list[Lead]:
    """Return what leads up to facts in the messages, and whether the user asks to remember them."""
    leads: list[Lead] = []
    for message in messages:
        for first, second in pairwise(message.pieces):
            if first.classes == LINK and FACT_CLASSES.issuperset(second.classes):
                text = message.text[first.start : first.end]
                leads.append((text, second.classes == ("remember",)))
    return leads


def collect_tails(messages: Sequence[Message]) -> list[str]:
    """Return what trails behind the last fact of a message."""
    tails: list[str] = []
    for message in messages:
        for first, second in pairwise(message.pieces[-2:]):
            if second.classes == LINK and FACT_CLASSES.issuperset(first.classes):
                tails.append(message.text[second.start : second.end])
    return tails


def lead_up(message: Message, lead: Lead, tail: str) -> Message:
    """Return a fact behind words that lead up to it, and before those that trail, if any."""
    text, is_note = lead
    start = len(text) + 1
    classes = ("remember",) if is_note else message.pieces[0].classes
    fact = message.text.rstrip(".!") if tail else message.text
    whole = f"{text} {fact} {tail}".rstrip()
    end = start + len(fact)
    pieces = [
        Piece(0, len(text), LINK),
        Piece(start, end, classes),
        Piece(end + 1, len(whole), LINK),
    ]
    return Message("", whole, tuple(pieces if tail else pieces[:2]))


def mix_pieces(pieces: Sequence[tuple[str, Classes]], rng: random.Random) -> Message:
    """Return pieces of several messages as one sentence that runs on."""
    text, mixed = "", list[Piece]()
    for sentence, classes in pieces:
        words = sentence.rstrip(".!")
        if text:
            mark, tie = rng.choice(TIES)
            text += mark + " "
            if tie:
                mixed.append(Piece(len(text), len(text) + len(tie), LINK))
                text += tie + " "
        start = len(text)
        text += words if start == 0 or words.startswith(("I ", "I'")) else _lower_first(words)
        mixed.append(Piece(start, len(text), classes))
    return Message("", text, tuple(mixed))


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _hurry(text: str) -> str:
    return text.lower().replace("'", "").replace("’", "")
