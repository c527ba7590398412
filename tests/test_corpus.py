"""The corpus of labelled memory changes is what its card says it is."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parent.parent / "corpus"
RELATIONS = {
    "NONE",
    "DUPLICATE",
    "UPDATE",
    "CONTRADICTION",
    "RETRACTION",
    "COMPLEMENT",
    "PART",
}
KINDS = {
    *("sense", "past", "plan", "wish", "condition", "question", "quote", "person", "possessor"),
    *("scope", "nearid", "samevalue", "more", "attempt", "attribute", "temporary", "topic"),
}

CLASSES = {
    *("self", "other", "instruction", "remember", "plan", "event", "question", "request"),
    *("wish", "frame", "link", "talk", "code", "world"),
}


def read_lines(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted((CORPUS / kind).glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield file.stem, json.loads(line)


def test_families_are_well_formed_and_many() -> None:
    ids, pairs = Counter[str](), 0
    for writer, family in read_lines("families"):
        ids[family["id"]] += 1
        assert family["id"].startswith(f"{writer}-")
        assert family["stored"].strip() == family["stored"] != ""
        for incoming in family["incoming"]:
            pairs += 1
            assert incoming["text"].strip() == incoming["text"] != ""
            assert incoming["text"] != family["stored"]
            assert incoming["relation"] in RELATIONS, family["id"]
            assert ("kind" in incoming) <= (incoming["relation"] == "NONE")
            assert incoming.get("kind", "past") in KINDS, family["id"]
    assert set(ids.values()) == {1}
    assert pairs >= 20_000


def test_dates_are_well_formed_and_many() -> None:
    ids = Counter[str]()
    for writer, line in read_lines("dates"):
        ids[line["id"]] += 1
        assert line["id"].startswith(f"{writer}-")
        assert line["phrases"], line["id"]
        for phrase in line["phrases"]:
            assert phrase["words"] in line["text"], line["id"]
            assert phrase["role"] in {"starts", "lasts", "episode", "value", "open"}, line["id"]
        assert line["role"] in {"validity", "episode", "value", "open"}
        is_dated = line["role"] in {"validity", "episode"}
        assert is_dated or line["from"] is line["until"] is None, line["id"]
    assert set(ids.values()) == {1}
    assert len(ids) >= 1_600


def test_scopes_are_well_formed_and_many() -> None:
    ids = Counter[str]()
    for writer, scope in read_lines("scopes"):
        ids[scope["id"]] += 1
        assert scope["id"].startswith(f"{writer}-s")
        for number, fact in enumerate(scope["facts"], 1):
            assert fact["n"] == number
            assert fact["text"].strip() == fact["text"] != ""
            for relation in fact["relations"]:
                assert relation["relation"] in RELATIONS, scope["id"]
                assert 0 < relation["to"] < number, scope["id"]
    assert set(ids.values()) == {1}
    assert sum(ids.values()) >= 600


def test_no_family_stands_with_two_writers() -> None:
    """A family that stood with two writers would leak from training into what is measured."""
    seen: dict[str, str] = {}
    for writer, family in read_lines("families"):
        stored = family["stored"].casefold()
        assert seen.setdefault(stored, writer) == writer, (stored, writer)


@pytest.mark.parametrize("heading", ["How it was written", "Second readers", "Licence", "Limits"])
def test_the_card_says_where_it_comes_from(heading: str) -> None:
    assert f"## {heading}" in (CORPUS / "README.md").read_text("utf-8")


def test_turns_are_whole_and_end_what_was_said_before() -> None:
    said = set[str]()
    for writer, turn in read_lines("turns"):
        name = f"{turn['conversation']}:{turn['turn']}"
        assert turn["conversation"].startswith(f"{writer}-c")
        assert name not in said
        whole = "".join(sentence["text"] for sentence in turn["sentences"])
        assert "".join(whole.split()) == "".join(turn["text"].split()), name
        for sentence in turn["sentences"]:
            assert sentence["class"] in CLASSES, name
            assert said.issuperset(sentence.get("ends", ())), name
        said.add(name)
    assert len(said) >= 700


def test_the_forms_of_a_slot_name_what_they_may() -> None:
    for _, slot in read_lines("ways"):
        assert len(set(slot["values"])) == len(slot["values"]) >= 6, slot["slot"]
        for kind in ("states", "changes", "perfects", "endings", "near", "others"):
            for form in slot[kind]:
                names = set(re.findall(r"\{(\w*)\}", form))
                assert names <= {"I", "my", "v", "old", "kin", "a"}, form
        assert all("{v}" in form for form in slot["states"]), slot["slot"]


def test_facts_of_texts_have_the_words_of_the_text() -> None:
    facts, misfits = 0, []
    for writer, case in read_lines("parts"):
        if writer.startswith("speech_"):
            continue  # these were written before facts had to keep to the words of the text
        words = set(re.findall(r"\w+", case["text"].lower()))
        for part in case["parts"]:
            facts += 1
            added = set(re.findall(r"\w+", part.lower())) - words
            if not all(_is_form_of_one(word, words) for word in added):
                misfits.append(part)
    assert len(misfits) < facts / 100, misfits


def _is_form_of_one(word: str, words: set[str]) -> bool:
    """Return True for a singular of a verb in the text, and for an added "'s"."""
    singulars = {"is": "are", "was": "were", "has": "have", "am": "are", "does": "do"}
    stems = (word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y")
    return word == "s" or singulars.get(word) in words or any(stem in words for stem in stems)


def test_what_is_written_in_other_languages_is_well_formed() -> None:
    files = list((CORPUS / "languages").glob("*/scopes.jsonl"))
    assert len(files) == 42
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            facts = json.loads(line)["facts"]
            assert [fact["n"] for fact in facts] == list(range(1, 41))
            for fact in facts:
                assert fact["text"].strip()
                for relation in fact["relations"]:
                    assert relation["to"] < fact["n"]
                    assert relation["relation"] in RELATIONS


def test_pieces_of_messages_in_other_languages_lie_in_their_order() -> None:
    files = list((CORPUS / "languages").glob("*/talk.jsonl"))
    assert len(files) == 24
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            turn, place = json.loads(line), 0
            for sentence in turn["sentences"]:
                assert sentence["class"] in CLASSES
                place = turn["text"].index(sentence["text"], place) + len(sentence["text"])


def test_dates_in_other_languages_are_well_formed() -> None:
    files = list((CORPUS / "languages").glob("*/dates.jsonl"))
    assert len(files) == 49
    ids = Counter[str]()
    for file in files:
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            ids[line["id"]] += 1
            place = 0
            for phrase in line["phrases"]:
                place = line["text"].index(phrase["words"], place) + len(phrase["words"])
                assert phrase["english"].strip()
                assert phrase["role"] in {"starts", "lasts", "episode", "value", "open"}
    assert set(ids.values()) == {1}


def test_worlds_are_well_formed_and_many() -> None:
    ids, questions = Counter[str](), 0
    for writer, world in read_lines("worlds"):
        ids[world["id"]] += 1
        assert world["id"].startswith(f"{writer}-")
        texts = world.get("facts") or [turn["text"] for turn in world["turns"]]
        assert all(turn["speaker"] for turn in world.get("turns", ()))
        assert all(text.strip() for text in texts)
        asked = [question["query"] for question in world["questions"]]
        assert len(set(asked)) == len(asked), world["id"]
        questions += len(asked)
        for question in world["questions"]:
            answers = question["answers"]
            assert 0 < len(set(answers)) == len(answers), world["id"]
            assert max(answers) < len(texts), world["id"]
    assert set(ids.values()) == {1}
    assert questions >= 8_000
