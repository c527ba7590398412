"""Pairs of plain sentences, made from the slots of `corpus/ways`: every change in every way of saying it, and look-alikes said the same way.

A slot holds one value at a time. What is told of it is told by somebody, in some way, as somebody types. Whether it ends what is stored
depends on none of that, so the network meets each of them on both sides.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from corpus import FOLDER, Crowd, Pair

HELD_OUT_SLOTS = ("slots2",)  # a writer of slots
HELD_OUT_SEVERAL = ("several2",)
HELD_OUT_OPPOSITES = ("opposites2",)
SOONER = ("", "", "just ", "recently ", "finally ")
BEFORE = ("", "", "", "By the way, ", "Actually, ", "FYI, ", "Oh, and ", "Quick update: ", "So ")
WHEN = (
    "",
    "",
    "",
    " last month",
    " yesterday",
    " on Monday",
    " this week",
    " in March",
    " a while ago",
)
SINCE = ("Since Monday, ", "As of this week, ", "From today on, ", "As of May, ", "")
STILL = ("", " now", " these days", " at the moment", " as of today")
# How the user is named, as a subject and as an owner.
OF_USER = (
    *[("I", "my")] * 3,
    ("we", "our"),
    ("User", "User's"),
    ("the user", "the user's"),
)
KIN = ("sister", "flatmate", "boss", "neighbour", "cousin", "best friend", "colleague", "uncle")
NAMES = ("Maya", "Tom", "Ines", "Farid", "Oksana", "Bo")
PLURAL = ("I", "we")
ALONE = 0.3  # of the texts among facts about other slots, so many have none about their own


@dataclass(frozen=True, slots=True)
class Teller:
    """How a sentence names whose slot it tells. `person` is the same for all names of the user."""

    subject: str
    possessive: str
    person: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A thing of which somebody has one at a time, and the forms of sentences about it.

    Without forms of changes, it is one of which somebody may have several. `corpus/README.md` says
    what the forms hold.
    """

    name: str
    writer: str
    values: tuple[str, ...]
    states: tuple[str, ...]
    changes: tuple[str, ...]
    perfects: tuple[str, ...]
    endings: tuple[str, ...]
    near: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opposites:
    """Two sides of one thing: forms of a side say the same, and exclude those of the other side."""

    name: str
    values: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]


def read_opposites(writers: Sequence[str]) -> list[Opposites]:
    read = []
    for writer in writers:
        for line in (FOLDER / "opposites" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            fields = json.loads(line)
            name = fields.pop("opposites")
            read.append(Opposites(name, **{key: tuple(value) for key, value in fields.items()}))
    return read


def read_slots(writers: Sequence[str]) -> list[Slot]:
    slots = []
    for writer in writers:
        for line in (FOLDER / "ways" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            fields = json.loads(line)
            name = fields.pop("slot")
            forms = {key: tuple(value) for key, value in fields.items()}
            slots.append(Slot(name, writer, **forms))
    return slots


def list_form_writers(kind: str) -> list[str]:
    """Return who wrote forms of sentences, in `ways` or in `opposites`."""
    return sorted(file.stem for file in (FOLDER / kind).glob("*.jsonl"))


def draw_crowds_of_ways(
    slots: Sequence[Slot], rng: random.Random, count: int, *, most: int
) -> Iterator[Crowd]:
    """Yield so many pairs, each among facts about other slots, with at most `most` stored texts.

    Of some texts no fact about their own slot is stored. What is stored of other slots tells changes
    as often as states: "I switched to Helix" does not end "I moved to Lisbon". The slots of one crowd
    are of one writer, since those of two may be the same.
    """
    for _ in range(count):
        slot = rng.choice(slots)
        pair = rng.choice(KINDS)(slot, rng)
        stored = {pair.stored: pair.relation}
        others = [each for each in slots if each.writer == slot.writer and each.name != slot.name]
        neighbours = rng.sample(others, min(len(others), rng.randint(0, most - 1)))
        if neighbours and rng.random() < ALONE:
            stored = {}
        for other in neighbours:
            one, _ = _draw_tellers(rng)
            value, before = rng.sample(other.values, 2)
            form = rng.choice((_tell_stored, _tell_change))(other, rng) if other.changes else ""
            text = _tell(form or rng.choice(other.states), one, value, before, rng)
            stored.setdefault(text, "NONE")
        yield Crowd(pair.incoming, tuple(stored), tuple(stored.values()))


def pair_changes_of_two_slots(slots: Sequence[Slot], rng: random.Random) -> Pair:
    """Return a change told of one slot, and then one of another slot of the same writer."""
    changing = [slot for slot in slots if slot.changes]
    slot = rng.choice(changing)
    other = rng.choice([each for each in changing if each.writer == slot.writer and each != slot])
    stored, incoming = _draw_tellers(rng)
    value, before = rng.sample(other.values, 2)
    new, old = rng.sample(slot.values, 2)
    return Pair(
        _tell(_tell_change(other, rng), stored, value, before, rng),
        _tell(_tell_change(slot, rng), incoming, new, old, rng),
        "NONE",
    )


def pair_change(slot: Slot, rng: random.Random) -> Pair:
    """Return a stored value and a change to another one, by the same person."""
    if not slot.changes:
        return pair_look_alike(slot, rng)
    stored, incoming = _draw_tellers(rng)
    old, new = rng.sample(slot.values, 2)
    before = rng.choice([value for value in slot.values if value not in (old, new)])
    text = rng.choice((_tell_change, _tell_change, _tell_state))(slot, rng)
    return Pair(
        _tell(_tell_stored(slot, rng), stored, old, before, rng),
        _tell(text, incoming, new, old, rng),
        "UPDATE",
    )


def pair_ending(slot: Slot, rng: random.Random) -> Pair:
    """Return a stored value and the news that it ended."""
    stored, incoming = _draw_tellers(rng)
    value, other = rng.sample(slot.values, 2)
    state = rng.choice(slot.states)
    told = rng.choice(
        (
            rng.choice(BEFORE) + rng.choice(slot.endings) + rng.choice(WHEN),
            rng.choice(slot.endings),
            "It is no longer true that " + state.replace("{v}", "{old}"),
        )
    )
    return Pair(
        _tell(state, stored, value, value, rng),
        _tell(told, incoming, other, value, rng),
        "RETRACTION",
    )


def pair_ending_of_another(slot: Slot, rng: random.Random) -> Pair:
    """Return a stored value and the news that another one ended."""
    stored, incoming = _draw_tellers(rng)
    value, other, before = rng.sample(slot.values, 3)
    ending = rng.choice([form for form in slot.endings if "{old}" in form])
    return Pair(
        _tell(_tell_stored(slot, rng), stored, value, before, rng),
        _tell(ending + rng.choice(WHEN), incoming, value, other, rng),
        "NONE",
    )


def pair_repetition(slot: Slot, rng: random.Random) -> Pair:
    """Return one value told twice, in other words or by another name of the same person."""
    stored, incoming = _draw_tellers(rng)
    value = rng.choice(slot.values)
    first, second = rng.choice(slot.states), rng.choice(slot.states)
    if first == second:
        second = rng.choice(("", "By the way, ", "As I said, ", "FYI, ")) + second
    return Pair(
        _tell(first, stored, value, value, rng),
        _tell(second, incoming, value, value, rng),
        "DUPLICATE",
    )


def pair_look_alike(slot: Slot, rng: random.Random) -> Pair:
    """Return a stored value and what sounds like a change of it, and is none."""
    stored, incoming = _draw_tellers(rng)
    old, new, before = rng.sample(slot.values, 3)
    form = rng.choice(slot.near if rng.random() < 0.8 else slot.others)
    when = rng.choice(WHEN) if form.startswith("{I} {a}") else ""
    return Pair(
        _tell(_tell_stored(slot, rng), stored, old, before, rng),
        _tell(rng.choice(BEFORE) + form + when, incoming, new, old, rng),
        "NONE",
    )


def pair_of_others(slot: Slot, rng: random.Random) -> Pair:
    """Return a stored value of one person and a change told of another, where both are named."""
    states = [form for form in slot.states if names_teller(form)]
    changes = [form for form in (*slot.changes, *slot.perfects) if names_teller(form)]
    if not states or not changes:
        return pair_look_alike(slot, rng)
    stored, incoming = _draw_tellers(rng)
    while incoming.person == stored.person:
        incoming = _draw_tellers(rng)[1]
    old, new, before = rng.sample(slot.values, 3)
    return Pair(
        _tell(rng.choice(states), stored, old, before, rng),
        _tell(rng.choice(BEFORE) + rng.choice(changes), incoming, new, before, rng),
        "NONE",
    )


def names_teller(form: str) -> bool:
    return "{I}" in form or "{my}" in form


def draw_pairs_of_opposites(
    opposites: Sequence[Opposites], rng: random.Random, count: int
) -> Iterator[Pair]:
    """Yield so many pairs: what excludes the stored text, repeats it, or is about another thing."""
    for _ in range(count):
        yield rng.choice(OPPOSITE_KINDS)(rng.choice(opposites), rng)


def pair_opposites(opposites: Opposites, rng: random.Random) -> Pair:
    """Return both sides about one thing, told by one person."""
    side, other = rng.sample((opposites.one, opposites.other), 2)
    return _pair_sides(rng.choice(side), rng.choice(other), rng.choice(opposites.values), rng)


def pair_one_side(opposites: Opposites, rng: random.Random) -> Pair:
    """Return one side about one thing, told twice by one person in other words."""
    side = rng.choice((opposites.one, opposites.other))
    one, other = rng.sample(side, 2)
    pair = _pair_sides(one, other, rng.choice(opposites.values), rng)
    return replace(pair, relation="DUPLICATE")


def pair_sides_of_others(opposites: Opposites, rng: random.Random) -> Pair:
    """Return any two sides about two things."""
    stored, incoming = _draw_tellers(rng)
    forms = (*opposites.one, *opposites.other)
    value, other = rng.sample(opposites.values, 2)
    return Pair(
        _tell(rng.choice(forms), stored, value, value, rng),
        _tell(rng.choice(BEFORE) + rng.choice(forms), incoming, other, other, rng),
        "NONE",
    )


def _pair_sides(old: str, new: str, value: str, rng: random.Random) -> Pair:
    stored, incoming = _draw_tellers(rng)
    told = rng.choice(BEFORE) + new + rng.choice(("", "", *STILL))
    return Pair(
        _tell(old, stored, value, value, rng), _tell(told, incoming, value, value, rng), "UPDATE"
    )


OPPOSITE_KINDS = (pair_opposites, pair_opposites, pair_one_side, pair_sides_of_others)


PairDrawer = Callable[[Any, random.Random], Pair]  # of a slot, or of opposites
KINDS: tuple[PairDrawer, ...] = (
    *[pair_change] * 4,
    pair_ending,
    pair_ending_of_another,
    pair_repetition,
    *[pair_look_alike] * 3,
    pair_of_others,
)


def _tell_stored(slot: Slot, rng: random.Random) -> str:
    """Return what was told of a value: how it is, or that it came to be."""
    return rng.choice((*slot.states, *slot.states, *slot.changes))


def _tell_change(slot: Slot, rng: random.Random) -> str:
    form = rng.choice((*slot.changes, *slot.changes, *slot.perfects))
    when = "" if form in slot.perfects else rng.choice(WHEN)
    return rng.choice(BEFORE) + form + when


def _tell_state(slot: Slot, rng: random.Random) -> str:
    return rng.choice((*SINCE, *BEFORE)) + rng.choice(slot.states) + rng.choice(STILL)


def _draw_tellers(rng: random.Random) -> tuple[Teller, Teller]:
    """Return how two sentences name one person: mostly the user, or a name, or somebody's kin."""
    drawn = rng.random()
    if drawn < 0.7:
        one, other = (Teller(*rng.choice(OF_USER), "user") for _ in range(2))
        return one, other
    if drawn < 0.85:
        name = rng.choice(NAMES)
        teller = Teller(name, f"{name}'s", name)
        return teller, teller
    kin = rng.choice(KIN)
    owners = (rng.choice(("my", "User's")) for _ in range(2))
    one, other = (Teller(f"{owner} {kin}", f"{owner} {kin}'s", kin) for owner in owners)
    return one, other


def _tell(form: str, teller: Teller, new: str, old: str, rng: random.Random) -> str:
    """Return the sentence of a form as somebody types it, mostly with a capital and a full stop."""
    number = 0 if teller.subject in PLURAL else 1
    text = re.sub(r"([\w']+)\|([\w']+)", lambda forms: forms[number + 1], form)
    if teller.subject == "we":
        text = re.sub(r"\bam\b", "are", text)
    kin = rng.choice([kin for kin in KIN if kin != teller.person])
    values = {
        "I": teller.subject,
        "my": teller.possessive,
        "v": new,
        "old": old,
        "a": rng.choice(SOONER),
        "kin": kin,
    }
    text = re.sub(r"\{(\w+)\}", lambda place: values[place[1]], text)
    drawn = rng.random()
    if drawn < 0.75:
        return f"{text[0].upper()}{text[1:]}."
    return text.lower().replace("'", "") if drawn < 0.9 else text
