"""Measure what splitting does to judging, on the families of the corpus whose stored text is split.

`measure_splitting.py [--trained]` meets each incoming text of a family with the whole stored text,
and with its parts, as signals and the local judge do in a store. It counts what ends and what
leaves a review, by what the incoming text changes: a part, the whole, or nothing. Without
`--trained`, only the writers are read whom the local judge was not trained on.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from app.classification import signals
from app.classification.local.judge import LocalJudge, ReadCandidate, weigh_readings
from app.classification.local.network import LocalNetwork
from app.domain.relation import Judge, Judgment
from app.extraction.compound import split_fact
from app.networks import FairThreads

FAMILIES = Path(__file__).parent.parent / "corpus" / "families"
HELD_OUT = {"persons", "mixture", "business", "relationships", "projects"}
ENDINGS = {"UPDATE", "CONTRADICTION", "RETRACTION"}
# As if all texts were ranked by their vectors and near each other.
SIMILARITY = 0.5


def list_families(*, trained: bool) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield each family whose stored text is split, with the parts."""
    for path in sorted(FAMILIES.glob("*.jsonl")):
        if (path.stem in HELD_OUT) == trained:
            continue
        for line in path.read_text("utf-8").splitlines():
            family = json.loads(line)
            parts = [part.text for part in split_fact(family["stored"])]
            if len(parts) > 1:
                yield family, parts


async def judge_texts(judge: LocalJudge, texts: Sequence[str], incoming: str) -> list[str]:
    """Return "ends", "review" or "nothing" for each stored text."""
    statements = [signals.Statement(text=text) for text in texts]
    judged = signals.judge_candidates(signals.Statement(text=incoming), statements)
    candidates = [
        ReadCandidate(text, build_judgment(signal), SIMILARITY)
        for text, signal in zip(texts, judged, strict=True)
    ]
    judgments = weigh_readings(incoming, candidates, await judge.read(incoming, texts))
    return [describe_effect(judgment) for judgment in judgments]


def build_judgment(signal: signals.SignalJudgment) -> Judgment:
    return Judgment(
        memory_id=UUID(int=signal.candidate + 1),
        relation=signal.relation,
        confidence=signal.confidence,
        reasoning=signal.reasoning,
        decided_by=Judge.SIGNALS,
        findings=signal.findings,
        vetoes=signal.vetoes,
        flag=signal.flag,
        akin=signal.akin,
    )


def describe_effect(judgment: Judgment) -> str:
    if not judgment.relation.effect.ends_stored:
        return "nothing"
    return "review" if judgment.flag else "ends"


def summarise(effects: Sequence[str]) -> str:
    count = effects.count("ends")
    if count:
        return "one ends" if count == 1 else "several end"
    return "review" if "review" in effects else "nothing"


def describe_change(relation: str) -> str:
    if relation == "PART":
        return "changes a part"
    return "ends the whole" if relation in ENDINGS else "changes nothing"


async def measure(*, trained: bool) -> None:
    judge = LocalJudge(LocalNetwork(FairThreads(2)))
    counts: Counter[tuple[str, str, str]] = Counter()
    families = list(list_families(trained=trained))
    for family, parts in families:
        for incoming in family["incoming"]:
            change = describe_change(incoming["relation"])
            for name, texts in (("whole", [family["stored"]]), ("parts", parts)):
                effects = await judge_texts(judge, texts, incoming["text"])
                counts[change, name, summarise(effects)] += 1
    print(f"families: {len(families)}")
    for (change, name, effect), count in sorted(counts.items()):
        print(f"{change:16} {name:6} {effect:12} {count:5}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trained", action="store_true")
    asyncio.run(measure(trained=parser.parse_args().trained))


if __name__ == "__main__":
    main()
