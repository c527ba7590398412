"""StateBench: a person's facts at work, some of which replace others, and what a prompt may say then.

Each fact is told as the text of its value, without its key. What the labels say it supersedes is
ended, asked about, or missed; any other fact that ends is ended wrongly.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.public.data import STATEBENCH, read_file
from bench.public.memory import Memory, Palimpsest

TALK = "brutal_realistic"  # a track that repeats three scenes; labels say that each turn ends one


@dataclass(frozen=True, slots=True)
class Write:
    """A fact that is told, and the text of the one that it supersedes."""

    text: str
    superseded: str | None


def list_writes(timeline: Any) -> Iterator[Write | Any]:
    """Yield the facts of a timeline in their order, and its queries as they are."""
    texts: dict[str, str] = {}
    for fact in timeline["initial_state"]["persistent_facts"]:
        texts[fact["key"]] = fact["value"]
        yield Write(fact["value"], None)
    for event in timeline["events"]:
        if event["type"] == "query":
            yield event
        for fact in event.get("writes", ()):
            if fact["layer"] == "persistent_facts":
                yield Write(fact["value"], texts.get(fact["supersedes"]))
                texts[fact["key"]] = fact["value"]


def examine(memory: Memory, folder: Path | None) -> dict[str, str]:
    """Return the fates of superseded facts, and what texts for a prompt mention, by name.

    What lies in brackets leaves out the track of talk, whose facts are turns.
    """
    every: Counter[str] = Counter()
    facts: Counter[str] = Counter()
    for timeline in read_file(STATEBENCH, "test.jsonl", folder):
        counted = _run_timeline(memory, timeline)
        every += counted
        if timeline["track"] != TALK:
            facts += counted
    return {
        figure: f"{every[count]} of {every[total]} ({facts[count]} of {facts[total]})"
        for figure, count, total in (
            ("superseded and ended", "ended", "superseded"),
            ("asked about", "asked", "superseded"),
            ("wrongly ended", "wrong", "told"),
            ("must be mentioned, and is", "mentioned", "must"),
            ("must not be mentioned, and is", "forbidden", "must not"),
        )
    }


def _run_timeline(memory: Memory, timeline: Any) -> Counter[str]:
    """Tell a timeline to an agent of its own, and return what became of its facts and queries."""
    counted: Counter[str] = Counter()
    agent = f"statebench-{timeline['id']}"
    held: set[str] = set()
    for write in list_writes(timeline):
        if not isinstance(write, Write):
            counted += _count_mentions(memory, agent, write)
            continue
        memory.store(agent, [write.text])
        now = set(memory.list_held(agent))
        ended, held = held - now, now
        counted["told"] += 1
        counted["wrong"] += not ended <= {write.superseded}
        if write.superseded:
            counted["superseded"] += 1
            counted[_name_fate(memory, agent, write, ended)] += 1
    return counted


def _name_fate(memory: Memory, agent: str, write: Write, ended: set[str]) -> str:
    if write.superseded in ended:
        return "ended"
    if isinstance(memory, Palimpsest) and any(
        old == write.superseded for _, old in memory.list_asked(agent)
    ):
        return "asked"
    return "missed"


def _count_mentions(memory: Memory, agent: str, query: Any) -> Counter[str]:
    truth = query["ground_truth"]
    text = build_prompt(memory, agent, query["prompt"]).casefold()
    must, must_not = truth["must_mention"], truth["must_not_mention"]
    return Counter(
        {
            "must": len(must),
            "mentioned": sum(words.casefold() in text for words in must),
            "must not": len(must_not),
            "forbidden": sum(words.casefold() in text for words in must_not),
        }
    )


def build_prompt(memory: Memory, agent: str, query: str) -> str:
    """Return what a memory gives to a model: the service's context, or the ten best hits."""
    if isinstance(memory, Palimpsest):
        return memory.build_context(agent, query)
    return "\n".join(memory.search(agent, query, 10))
