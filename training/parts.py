"""Texts of several facts, `corpus/parts`, as marks that the reader of messages learns.

A line is `{"text", "parts"}`: the facts in words of the text, or none if it stays whole. Which words
a fact shares with another, and which belong to none, is found by trying what gives these facts.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.extraction.parts import Mark, MarkedText, build_parts
from app.extraction.verbs import add_s
from corpus import FOLDER

HELD_OUT_PARTS = ("parts2", "speech_b", "speech_d")
MOST_UNSHARED = 4  # words in a row that belong to no fact
SINGULARS = {"is": "are", "was": "were", "has": "have", "does": "do", "doesn": "don"}

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Aligned:
    """How a fact lies in the text.

    An earlier fact has the first `shared` of its words too. Those at `places` are its own, and
    those of its `tail` stand further on in the text.
    """

    words: Words
    shared: int
    is_owned: bool
    places: tuple[int, ...]
    tail: Words


def list_part_writers() -> list[str]:
    """Return the writers that are trained on."""
    writers = sorted(file.stem for file in (FOLDER / "parts").glob("*.jsonl"))
    return [writer for writer in writers if writer not in HELD_OUT_PARTS]


def read_parts(writers: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for writer in writers:
        for line in (FOLDER / "parts" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            fields = json.loads(line)
            yield fields["text"], fields["parts"]


def mark_text(text: str, spans: Sequence[tuple[int, int]], parts: Words) -> MarkedText | None:
    """Return the marks that build these facts, or None if none do. Spans are those of the words."""
    if len(parts) < 2:
        return MarkedText(text, spans, [Mark.PLAIN] * len(spans), list(range(len(spans))))
    words = [text[start:end].lower() for start, end in spans]
    wanted = [normalise(part) for part in parts]
    split = [split_words(normalise(part)) for part in parts]
    for aligned in _align(words, split, (), 0):
        marked = _mark(text, spans, words, aligned)
        if [normalise(part.text) for part in build_parts(marked)] == wanted:
            return marked
    return None


def normalise(part: str) -> str:
    return part.lower().rstrip(".! ")


def split_words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def _align(
    words: Words, parts: Sequence[list[str]], earlier: tuple[_Aligned, ...], start: int
) -> Iterator[tuple[_Aligned, ...]]:
    """Yield the ways in which the facts after the earlier ones lie in the text from there on."""
    if len(earlier) == len(parts):
        yield earlier
        return
    part = parts[len(earlier)]
    for shared in range(len(part) if earlier else 1):
        if shared and not any(part[:shared] == one.words[:shared] for one in earlier):
            continue
        own = part[shared:]
        yield from _align_next(words, parts, earlier, start, shared, own, is_owned=False)
        if shared and list(own[:2]) == ["'", "s"]:
            yield from _align_next(words, parts, earlier, start, shared, own[2:], is_owned=True)


def _align_next(
    words: Words,
    parts: Sequence[list[str]],
    earlier: tuple[_Aligned, ...],
    start: int,
    shared: int,
    own: Words,
    *,
    is_owned: bool,
) -> Iterator[tuple[_Aligned, ...]]:
    for first in range(start, min(start + MOST_UNSHARED + 1, len(words))):
        for places in _match(words, own, first):
            tail = own[len(places) :]
            one = _Aligned(parts[len(earlier)], shared, is_owned, places, tail)
            yield from _align(words, parts, (*earlier, one), places[-1] + 1)


def _match(words: Words, part: Words, first: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of as many words of the fact as follow one another from there on.

    Where words lie between them, the fact may also end there, and have the rest from further on.
    """
    if not part or words[first] != part[0]:
        return
    places = [first]
    for word in part[1:]:
        after = range(places[-1] + 1, min(places[-1] + 2 + MOST_UNSHARED, len(words)))
        place = next((place for place in after if is_same(words[place], word)), None)
        if place is None:
            break
        if place > places[-1] + 1:
            yield tuple(places)
        places.append(place)
    yield tuple(places)


def is_same(plural: str, word: str) -> bool:
    """Return True if the words are equal, or the second is a singular of the first."""
    return (
        word in (plural, add_s(plural))
        or SINGULARS.get(word) == plural
        or (plural, word) == ("are", "am")
    )


def _mark(
    text: str, spans: Sequence[tuple[int, int]], words: Words, aligned: Sequence[_Aligned]
) -> MarkedText:
    """Return what the words are if the facts lie in the text so."""
    used = {place for one in aligned for place in one.places}
    marks = [Mark.PLAIN if place in used else Mark.JOIN for place in range(len(words))]
    pointers = list(range(len(words)))
    first_of_list: int | None = None
    for number, one in enumerate(aligned):
        start = one.places[0]
        if number and one.shared:
            pronoun = _find_pronoun(words, aligned[number - 1], one)
            marks[start] = Mark.START
            pointers[start] = _find_last_shared(aligned[:number], one)
            if pronoun is not None:
                marks[start] = Mark.PLAIN
                marks[pronoun] = Mark.OWNER if one.is_owned else Mark.PRONOUN
                pointers[pronoun] = pointers[start]
        elif number:
            marks[start] = Mark.START if first_of_list is None else Mark.SUBJECT
            pointers[start] = start if first_of_list is None else first_of_list
        if one.tail and first_of_list is None and not one.shared:
            first_of_list = start
        if not one.tail:
            first_of_list = None
            _mark_tail(words, marks, aligned[:number], one)
    return MarkedText(text, spans, marks, pointers)


def _find_last_shared(earlier: Sequence[_Aligned], one: _Aligned) -> int:
    """Return the place of the last shared word, in the last earlier fact that owns it."""
    count = one.shared
    for other in reversed(earlier):
        own = count - other.shared
        if other.words[:count] == one.words[:count] and 0 < own <= len(other.places):
            return other.places[own - 1]
    return one.places[0]


def _find_pronoun(words: Words, before: _Aligned, one: _Aligned) -> int | None:
    """Return the place of a pronoun right before the fact's own words, if one is there."""
    place = one.places[0] - 1
    pronouns = ("he", "she", "they", "it", "his", "her", "their", "its")
    return place if place > before.places[-1] and words[place] in pronouns else None


def _mark_tail(words: Words, marks: list[Mark], earlier: Sequence[_Aligned], one: _Aligned) -> None:
    """Mark where the words begin that the facts right before this one lack."""
    if not earlier or not earlier[-1].tail:
        return
    tail = earlier[-1].tail
    place = one.places[-len(tail)] if len(tail) < len(one.places) else None
    if place is not None:
        marks[place] = Mark.TAIL
