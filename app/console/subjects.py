"""Facts by subject, for a page that shows who or what an agent knows about.

A caller's entity and category come first. Facts without them are grouped by their words, and by the
names in them: "Fenna does judo" belongs to the family once "Fenna is my daughter" is known. The
subjects are for display only.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FAMILY, _OTHER = "Family and friends", "Everything else"
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SUBJECTS = {word: subject for subject, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NO_NAMES = frozenset(
    """
    I We My Our The A An It He She They His Her Their This That Never Always Before Dr Mr Mrs Ms
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
    July August September October November December
    """.split()
)

Fact = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts of a subject, in the order in which they came, and the filter that lists them."""

    title: str
    filters: Mapping[str, str] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)


def group_by_subject(facts: Sequence[Fact]) -> list[Subject]:
    """Return the subjects, the one with the most facts first and what has none last."""
    names = _list_subjects_of_names(facts)
    subjects: dict[str, Subject] = {}
    for fact in facts:
        title, filters = _name_subject(fact, names)
        subjects.setdefault(title, Subject(title, filters)).facts.append(fact)
    return sorted(subjects.values(), key=lambda one: (one.title == _OTHER, -len(one.facts)))


def _name_subject(fact: Fact, names: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    if fact["entity"] != "user":
        return fact["entity"], {"entity": fact["entity"]}
    if fact["category"]:
        return fact["category"].capitalize(), {"category": fact["category"]}
    words = _split_words(fact)
    of_names = [names[word] for word in words if word in names]
    if _FAMILY in of_names:
        return _FAMILY, {}
    return [*_list_subjects(words), *of_names, _OTHER][0], {}


def _list_subjects_of_names(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the subject that each name is mentioned with first; a relative stays one."""
    subjects: dict[str, str] = {}
    for fact in facts:
        words = _split_words(fact)
        subjects_of_fact = _list_subjects(words)
        for name in filter(_is_name, words if subjects_of_fact else ()):
            if _FAMILY in subjects_of_fact:
                subjects[name] = _FAMILY
            subjects.setdefault(name, subjects_of_fact[0])
    return subjects


def _split_words(fact: Fact) -> list[str]:
    return _WORD.findall((fact["content"] or "")[:400].replace("'s", "").replace("’s", ""))


def _list_subjects(words: Iterable[str]) -> list[str]:
    """Return the subjects of the words, the one that most of them have first."""
    counts = Counter(_SUBJECTS[word.lower()] for word in words if word.lower() in _SUBJECTS)
    return [subject for subject, _ in counts.most_common()]


def _is_name(word: str) -> bool:
    return word[0].isupper() and word not in _NO_NAMES and word.lower() not in _SUBJECTS
