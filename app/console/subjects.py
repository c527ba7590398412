"""Facts by subject, for a page that shows who or what an agent knows about.

A caller's entity and category come first. Facts without them are grouped by their words, and by the
names in them: "Fenna does judo" belongs to the family once "Fenna is my daughter" is known. The
subjects are for display only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_FAMILY, _OTHER = "Family and friends", "Everything else"
_WORDS = {
    "Work": """
        work works working job manager boss team colleague colleagues client clients customer office
        company employer employed salary stand-up standup sprint meeting meetings deploy deploys
        deployment release releases project rollout invoice invoices portal career intern shift
        """,
    "Tools": """
        editor vim zed helix emacs laptop computer phone screen screens keyboard code python rust
        typescript javascript database postgres api server repo repository git branch tests test
        build library framework jira linear github docker linux macbook thinkpad tabs importer
        """,
    _FAMILY: """
        daughter son child children kid kids wife husband partner spouse girlfriend boyfriend mother
        father mum mom dad parents brother sister sister-in-law brother-in-law aunt uncle cousin
        niece nephew grandmother grandfather grandma grandpa friend friends married baby twins
        """,
    "Health": """
        doctor dr dentist physio physiotherapy physiotherapist surgery hospital clinic mri knee back
        heart condition allergic allergy asthma diabetes medication pills melatonin vitamin therapy
        therapist sick ill injury pregnant sleep injections diagnosed pain gym train run yoga
        marathon
        """,
    "Home": """
        live lives lived living moved move flat apartment house home rent rents landlord mortgage
        kitchen garden neighbour neighbours address street city shed tap parking car bike garage
        """,
    "Food and drink": """
        vegetarian vegan eat eats drink drinks coffee tea decaf meat fish vegetable vegetables lunch
        dinner breakfast cook cooks cooking restaurant beer wine recipe
        """,
    "Pets": "cat cats dog dogs vet puppy kitten horse hamster rabbit",
    "Travel": """
        flight flights fly trip travel travels travelling vacation hotel passport visa
        airport abroad berlin madrid
        """,
    "Free time": """
        orchestra cello piano guitar drums choir band books novel novels author read reading
        film films movie movies series game games chess judo climbing sail sailing swim swimming
        football tennis cycling running hobby painting
        """,
    "How to answer": "answer answers reply replies respond prefer prefers tone style bullet",
}
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
