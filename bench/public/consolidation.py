"""FactConsolidation of MemoryAgentBench: a numbered list of facts, of which later ones overwrite earlier ones.

Facts are told in the order of the list, as plain text, with no key. The labels say which answer is
right; which fact a later one overwrites follows from the templates of its sentences.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.public.data import CONSOLIDATION, read_file
from bench.public.memory import Memory

SIZES = ("6k", "32k", "64k", "262k")
AMONG = 5

# What stands before the value in the templates. The value is what follows the last of these, or,
# in a sentence that has none, the first " is ".
_BEFORE_VALUE = re.compile(
    r".* (?:in the (?:city|continent|country|field|language) of|with the (?:sport|religion) of"
    r"|the (?:language|position) of|a citizen of|married to|employed by|famous for"
    r"|(?:founded|created|developed|performed|produced) by) "
)
_IS = re.compile(r".*? is ")


@dataclass(frozen=True, slots=True)
class Case:
    """The facts in their order, and the questions, each with its right answers."""

    facts: Sequence[str]
    questions: Sequence[tuple[str, Sequence[str]]]


def read_case(size: str, folder: Path | None) -> Case:
    """Return the questions of a single hop over the list of a size. Raises DataMissing."""
    lines: list[Any] = read_file(CONSOLIDATION, "Conflict_Resolution.json", folder)
    name = f"factconsolidation_sh_{size}"
    line = next(line for line in lines if line["metadata"]["source"] == name)
    facts = re.findall(r"^\d+\. (.+)$", line["context"], re.MULTILINE)
    return Case(facts, list(zip(line["questions"], line["answers"], strict=True)))


def find_subject(fact: str) -> str:
    """Return what a fact says up to its value, which is what it gives a value to."""
    found = _BEFORE_VALUE.match(fact) or _IS.match(fact)
    return found[0] if found else fact


def list_overwritten(facts: Sequence[str]) -> Iterator[str]:
    """Yield the facts of which a later one gives another value to the same."""
    last = {find_subject(fact): fact for fact in facts}
    yield from (fact for fact in dict.fromkeys(facts) if last[find_subject(fact)] != fact)


def examine(memory: Memory, size: str, folder: Path | None) -> dict[str, str]:
    """Return how often a right answer is found, and how the facts stand in the end, by name."""
    case, agent = read_case(size, folder), f"consolidation-{size}"
    memory.store(agent, case.facts)
    held = set(memory.list_held(agent))
    overwritten = set(list_overwritten(case.facts))
    valid = set(case.facts) - overwritten
    first, among = [], []
    for question, answers in case.questions:
        found = memory.search(agent, question, AMONG)
        right = [any(answer in text for answer in answers) for text in found]
        first.append(any(right[:1]))
        among.append(any(right))
    return {
        "right first": f"{fmean(first):.2f}",
        "right among five": f"{fmean(among):.2f}",
        "wrongly ended": f"{len(valid - held)} of {len(valid):,}",
        "stale": f"{len(overwritten & held)} of {len(overwritten):,}",
    }
