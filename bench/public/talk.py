"""LoCoMo and REALTALK: long talks of two people, and in which turns the answer to a question lies.

Two exams: of the facts that come with LoCoMo (its observations), whether one that was drawn from
the right turns is among five; of the turns themselves, what share of the right ones is among five.
Questions that no turn answers are left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.public.data import Source, list_files, read_file
from bench.public.memory import Memory, Turn

AMONG = 5
UNANSWERED = 5  # the category of questions that nothing answers


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk by its sessions, its turns and facts by their places, and its questions.

    `facts` has the places of the turns that a fact was drawn from. A question has the places of
    the turns that answer it.
    """

    sessions: Sequence[Sequence[Turn]]
    places: dict[str, str]
    facts: Sequence[tuple[str, frozenset[str]]]
    questions: Sequence[tuple[str, frozenset[str]]]


def read_talk(source: Source, name: str, folder: Path | None) -> Talk:
    """Return one talk of a source. Raises DataMissing."""
    (line,) = read_file(source, name, folder)
    talk = line.get("conversation", line)
    sessions: list[list[Turn]] = []
    places: dict[str, str] = {}
    for number in sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key)):
        turns = talk[f"session_{number}"]
        sessions.append([Turn(turn["speaker"], _read_text(turn)) for turn in turns])
        places |= {turn["dia_id"]: _read_text(turn) for turn in turns}
    questions = [
        (question["question"], _read_places(question.get("evidence", [])) & set(places))
        for question in line["qa"]
        if question.get("category") != UNANSWERED
    ]
    return Talk(sessions, places, list(_read_facts(line)), [each for each in questions if each[1]])


def _read_text(turn: Any) -> str:
    text = turn.get("text") or turn.get("clean_text") or ""
    picture = turn.get("blip_caption")
    return f"{text} [shares {picture}]" if picture else text


def _read_places(value: Any) -> frozenset[str]:
    return frozenset(re.findall(r"D\d+:\d+", str(value)))


def _read_facts(line: Any) -> Iterator[tuple[str, frozenset[str]]]:
    for session in line.get("observation", {}).values():
        for facts in session.values():
            yield from ((fact[0], _read_places(fact[1])) for fact in facts if len(fact) == 2)


def examine_turns(memory: Memory, source: Source, folder: Path | None) -> dict[str, str]:
    """Return the share of the right turns among five, by name."""
    shares = []
    for name in list_files(source):
        talk, agent = read_talk(source, name, folder), f"{source.name}-{name}"
        memory.store_talk(agent, talk.sessions)
        for question, places in talk.questions:
            right = {talk.places[place] for place in places}
            found = set(memory.search_talk(agent, question, AMONG))
            shares.append(len(found & right) / len(right))
    return {"right turns among five": f"{fmean(shares):.3f}"}


def examine_facts(memory: Memory, source: Source, folder: Path | None) -> dict[str, str]:
    """Return how often a fact that was drawn from a right turn is first, and among five, by name."""
    first, among = [], []
    for name in list_files(source):
        talk, agent = read_talk(source, name, folder), f"facts-{source.name}-{name}"
        memory.store(agent, [text for text, _ in talk.facts])
        for question, places in talk.questions:
            right = {text for text, drawn in talk.facts if drawn & places}
            if right:
                found = [text in right for text in memory.search(agent, question, AMONG)]
                first.append(any(found[:1]))
                among.append(any(found))
    return {"right fact first": f"{fmean(first):.3f}", "among five": f"{fmean(among):.3f}"}
