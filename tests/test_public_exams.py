"""The public exams count as they say, of a memory that keeps all and of one that ends too much."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.public import consolidation, cost, data, precision, statebench, talk
from bench.public.memory import Turn

LIST = {
    "context": (
        "Here is a list of facts:\n0. Ann Lee was born in the city of Rome.\n"
        "1. The author of Dust is Bo.\n2. Ann Lee is married to Cy.\n"
        "3. Ann Lee was born in the city of Bonn.\n"
    ),
    "questions": ["Where was Ann Lee born?", "Who wrote Dust?"],
    "answers": [["Bonn"], ["Bo"]],
    "metadata": {"source": "factconsolidation_sh_6k"},
}


class Keeper:
    """Keeps every text, and finds those that share most words. `forgets` ends whatever has a word."""

    name = "keeper"

    def __init__(self, forgets: str = "\n") -> None:
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._forgets = forgets

    def store(self, agent: str, facts: Sequence[str]) -> None:
        self._texts[agent] += facts

    def list_held(self, agent: str) -> list[str]:
        return [text for text in self._texts[agent] if self._forgets not in text]

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        words = set(question.strip("?").split())
        texts = self.list_held(agent)
        return sorted(texts, key=lambda text: -len(words & set(text.split())))[:limit]

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        self.store(agent, [turn.text for session in sessions for turn in session])

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        return self.search(agent, question, limit)


def give(monkeypatch: pytest.MonkeyPatch, module: Any, **files: list[Any]) -> None:
    """Let an exam read these lines in place of the public files, by the first part of a name."""
    read = lambda source, name, folder: files[name.split(".")[0]]  # noqa: E731
    monkeypatch.setattr(module, "read_file", read)


def test_a_list_counts_what_is_stale_and_what_ended_wrongly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give(monkeypatch, consolidation, Conflict_Resolution=[LIST])
    assert consolidation.examine(Keeper(), "6k", None) == {
        "right first": "0.50",
        "right among five": "1.00",
        "wrongly ended": "0 of 3",
        "stale": "1 of 1",
    }
    ended = consolidation.examine(Keeper(forgets="Bo"), "6k", None)
    assert (ended["wrongly ended"], ended["stale"]) == ("2 of 3", "1 of 1")


@pytest.mark.parametrize(
    ("fact", "subject"),
    [
        ("Ann Lee was born in the city of Rome.", "Ann Lee was born in the city of "),
        ("The author of Dust is Bo.", "The author of Dust is "),
        ("Old is a citizen of Peru.", "Old is a citizen of "),
    ],
)
def test_a_value_stands_at_the_end_of_a_fact(fact: str, subject: str) -> None:
    assert consolidation.find_subject(fact) == subject


def test_a_timeline_counts_endings_and_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    def fact(key: str, value: str, supersedes: str | None = None) -> dict[str, Any]:
        return {"key": key, "value": value, "supersedes": supersedes, "layer": "persistent_facts"}

    truth = {"must_mention": ["live chat", "phone"], "must_not_mention": ["Email"]}
    query = {"type": "query", "prompt": "How to reply?", "ground_truth": truth}
    write = {"type": "supersession", "writes": [fact("b", "Prefers live chat", "a")]}
    timeline = {
        "id": "one",
        "track": "supersession",
        "initial_state": {"persistent_facts": [fact("a", "Prefers email")]},
        "events": [write, query],
    }
    give(monkeypatch, statebench, test=[timeline])
    assert statebench.examine(Keeper(), None) == {
        "superseded and ended": "0 of 1 (0 of 1)",
        "asked about": "0 of 1 (0 of 1)",
        "wrongly ended": "0 of 2 (0 of 2)",
        "must be mentioned, and is": "1 of 2 (1 of 2)",
        "must not be mentioned, and is": "1 of 1 (1 of 1)",
    }


def test_beliefs_count_what_is_brought_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def belief(name: str, content: str, *, pinned: bool = False) -> dict[str, Any]:
        told = {"canonical_name": name, "aliases": [], "content": content, "why_it_matters": ""}
        return told | {"_id": name, "user_id": "u", "scope": ["code"], "pinned": pinned}

    beliefs = [
        belief("db", "uses Redis"),
        belief("os", "runs Debian"),
        belief("pin", "x", pinned=True),
    ]
    case = {
        "userId": "u",
        "scope": ["code"],
        "query": "uses Redis",
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["db"]}},
    }
    give(monkeypatch, precision, beliefs=beliefs, retrieval=[case])
    assert precision.examine(Keeper(), None) == {
        "precision": "0.50",
        "recall": "1.00",
        "just right": "0 of 1",
    }


def test_talk_counts_the_turns_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [
        {"speaker": "Ann", "text": "I sold the boat", "dia_id": "D1:1"},
        {"speaker": "Bo", "text": "Why?", "dia_id": "D1:2", "blip_caption": "a boat"},
    ]
    line = {
        "session_1": turns,
        "observation": {"session_1": {"Ann": [["Ann sold the boat", "D1:1"]]}},
        "qa": [
            {"question": "sold what?", "evidence": ["D1:1"], "category": 1},
            {"question": "never?", "evidence": ["D1:2"], "category": 5},
            {"question": "who?", "evidence": ["D9:9"], "category": 1},
        ],
    }
    give(monkeypatch, talk, a=[line])
    monkeypatch.setattr(talk, "list_files", lambda source: ["a"])
    assert talk.examine_turns(Keeper(), data.LOCOMO, None) == {"right turns among five": "1.000"}
    assert talk.examine_facts(Keeper(), data.LOCOMO, None) == {
        "right fact first": "1.000",
        "among five": "1.000",
    }


def test_another_file_than_the_pinned_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / data.STATEBENCH.name / "test.jsonl"
    file.parent.mkdir()
    with pytest.raises(data.DataMissing, match="No such file"):
        data.read_file(data.STATEBENCH, "test.jsonl", tmp_path)
    file.write_text("{}\n")
    with pytest.raises(data.DataMissing, match="is not the file of Parslee-ai/statebench"):
        data.read_file(data.STATEBENCH, "test.jsonl", tmp_path)


def test_each_talk_is_pinned() -> None:
    assert len(data.list_files(data.LOCOMO)) == len(data.list_files(data.REALTALK)) == 10


def test_a_small_memory_tells_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, consolidation, Conflict_Resolution=[LIST])
    figures = cost.examine(Keeper(), None)
    assert figures["35 facts, one by one"] == "0.0 s"
    assert float(figures["memory"].removesuffix(" MB").replace(",", "")) > 10
    assert int(figures["tokens of five results"]) > 5
