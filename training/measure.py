"""Measures the exported judge on whole writers that it was not trained on, through the service's own signals and weighing.

    python training/measure.py                     the writers of `MEASURED`
    python training/measure.py --writers projects
    python training/measure.py --curve             every threshold, to choose from
    python training/measure.py --calibration       how often what is read is right
    python training/measure.py --ablation          what each signal is worth
    python training/measure.py --cases FILE        labelled cases, each a text beside what is stored
    python training/measure.py --ways              plain sentences, made from held-out slots and opposites
    python training/measure.py --languages         the judge of many languages, on writers of `corpus/languages` that were held out

A scope is walked in order. Each text meets up to ten facts that hold, the nearest vectors first, as in the service (which ranks by words
too). *Found*: of the texts that end something, those that ended it. *Asked*: those that left a review which names it. *Wrong*: of all
texts, those that ended something that still holds. *Lost*: of all texts, those that were taken for a repetition and are none.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

from encoder import SentenceEncoder
from ways import (
    HELD_OUT_OPPOSITES,
    HELD_OUT_SEVERAL,
    HELD_OUT_SLOTS,
    KINDS,
    OPPOSITE_KINDS,
    PairDrawer,
    pair_changes_of_two_slots,
    read_opposites,
    read_slots,
)

from app.classification import signals
from app.classification.local.judge import ReadCandidate, Thresholds, weigh_readings
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.classification.local_judges import find_worth_reading
from app.classification.names import rename_alike
from app.domain.policy import Policy
from app.domain.relation import Judge, Judgment, Operation, decide_operation
from app.embedding.local import LocalEmbedder
from app.embedding.many_languages import open_network
from app.networks import FairThreads, find_many_languages
from corpus import (
    ENDINGS,
    FOLDER,
    MEASURED,
    RELATIONS,
    Line,
    Pair,
    Step,
    read_families,
    read_scopes,
    walk_scope,
)

CANDIDATES = 10
BANDS = (0.0, 0.02, 0.05, 0.2, 0.4, 0.6, 0.8, 0.92, 0.96, 0.98, 1.0)
WAYS = 400  # plain sentences of each kind
LEVELS = (0.86, 0.88, 0.9, 0.92, 0.94, 0.96, 0.97, 0.98)


@dataclass(frozen=True, slots=True)
class ReadStep:
    """A step as the service judges it.

    `texts` are its candidates with the names of the incoming text, `judgments` what the signals say
    of each, and `readings` what the judge reads of some, by place.
    """

    step: Step
    texts: tuple[str, ...]
    judgments: tuple[Judgment, ...]
    readings: dict[int, Reading]


def judge_by_signals(incoming: str, texts: Sequence[str]) -> tuple[Judgment, ...]:
    statements = [signals.Statement(text) for text in texts]
    judgments = []
    for found in signals.judge_candidates(signals.Statement(incoming), statements):
        judgments.append(
            Judgment(
                memory_id=UUID(int=found.candidate),
                relation=found.relation,
                confidence=found.confidence,
                reasoning=found.reasoning,
                decided_by=Judge.SIGNALS,
                findings=found.findings,
                vetoes=found.vetoes,
                flag=found.flag,
            )
        )
    return tuple(judgments)


def read_cases(file: Path, encoder: SentenceEncoder) -> Iterator[Step]:
    """Yield the cases of a `relations` file of ../shared/eval, whose README describes it."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            gold, texts = case["gold"], [fact["text"] for fact in case["scope"]]
            [incoming, *stored] = encoder.encode([case["new"]["text"], *texts])
            similarities = [float(vector @ incoming) for vector in stored]
            order = sorted(range(len(texts)), key=lambda place: -similarities[place])
            relation = gold["relation"]
            has_relation = relation in RELATIONS
            yield Step(
                case["new"]["text"],
                tuple(texts[place] for place in order),
                tuple(similarities[place] for place in order),
                {order.index(t): relation for t in gold["targets"] if has_relation},
                frozenset(),
                frozenset(map(order.index, gold.get("ignore", ()))),
            )


def draw_steps_of_ways(
    kind: PairDrawer, forms: Sequence[Any], encoder: SentenceEncoder
) -> Iterator[Step]:
    """Yield plain sentences of a kind, each beside the one that it is paired with.

    `forms` are slots or opposites.
    """
    rng = random.Random(1)
    yield from _walk_pairs([kind(rng.choice(forms), rng) for _ in range(WAYS)], encoder)


def _walk_pairs(pairs: Sequence[Pair], encoder: SentenceEncoder) -> Iterator[Step]:
    stored = encoder.encode([pair.stored for pair in pairs])
    incoming = encoder.encode([pair.incoming for pair in pairs])
    for pair, one, other in zip(pairs, stored, incoming, strict=True):
        relations = {} if pair.relation == "NONE" else {0: pair.relation}
        similarity = float(one @ other)
        yield Step(
            pair.incoming, (pair.stored,), (similarity,), relations, frozenset(), frozenset()
        )


async def read_steps(steps: Iterable[Step], network: LocalNetwork) -> list[ReadStep]:
    read = []
    for step in steps:
        renamed = rename_alike(step.incoming, step.candidates[:CANDIDATES])
        texts = tuple(one.text for one in renamed)
        judgments = judge_by_signals(step.incoming, texts)
        near = zip(texts, judgments, step.similarities, strict=False)
        candidates = [ReadCandidate(*each) for each in near]
        places = find_worth_reading(step.incoming, candidates)
        readings = await network.read([texts[place] for place in places], step.incoming)
        read.append(ReadStep(step, texts, judgments, dict(zip(places, readings, strict=True))))
    return read


def weigh(read: ReadStep, thresholds: Thresholds | None) -> list[Judgment]:
    """Return the final judgments, or those of the signals alone without thresholds."""
    judgments = list(read.judgments)
    if thresholds is None or not read.readings:
        return judgments
    places = sorted(read.readings)
    candidates = [
        ReadCandidate(read.texts[place], judgments[place], read.step.similarities[place])
        for place in places
    ]
    readings = [read.readings[place] for place in places]
    weighed = weigh_readings(read.step.incoming, candidates, readings, thresholds)
    for place, judgment in zip(places, weighed, strict=True):
        judgments[place] = judgment
    return judgments


def count_outcomes(read: Sequence[ReadStep], thresholds: Thresholds | None) -> Counter[str]:
    counts: Counter[str] = Counter(texts=len(read))
    policy = Policy()
    for one in read:
        choice = decide_operation(weigh(one, thresholds), policy.is_sure)
        acted = {judgment.memory_id.int for judgment in choice.acts_on}
        ended = acted if choice.operation in (Operation.UPDATE, Operation.DELETE) else set()
        asked = {judgment.memory_id.int for judgment in choice.flagged}
        due = {place for place, relation in one.step.relations.items() if relation in ENDINGS}
        counts["wrong"] += bool(ended - due - one.step.disputed)
        if due:
            counts["changes"] += 1
            counts["found"] += bool(ended & due)
            counts["asked"] += not ended & due and bool(asked & due)
        else:
            counts["others"] += 1
            counts["asked in vain"] += choice.operation is Operation.ADD and bool(asked)
        if one.step.has_duplicate:
            counts["duplicates"] += 1
            counts["duplicates found"] += choice.operation is Operation.NOOP
        else:
            counts["lost"] += choice.operation is Operation.NOOP
    return counts


def describe(name: str, counts: Counter[str]) -> str:
    def share(part: str, whole: str) -> float:
        return counts[part] / max(1, counts[whole])

    return (
        f"{name:34} found {share('found', 'changes'):.3f}  asked {share('asked', 'changes'):.3f}  "
        f"wrong {share('wrong', 'texts'):.2%}  asked in vain {share('asked in vain', 'others'):.1%}  "
        f"duplicates {share('duplicates found', 'duplicates'):.3f}  lost {share('lost', 'texts'):.2%}"
    )


def list_curve(chosen: Thresholds) -> Iterator[tuple[str, Thresholds]]:
    for act in LEVELS:
        yield f"act from {act}", replace(chosen, act=act)
    for repeats in LEVELS:
        yield f"repetitions from {repeats}", replace(chosen, repeats=repeats)


def list_ablations(read: Sequence[ReadStep], chosen: Thresholds) -> Iterator[str]:
    """Yield the outcomes without each signal, and without any. What the judge reads stays."""
    whole = signals.judge.SIGNALS
    left_out = {signal.__name__: [one for one in whole if one is not signal] for signal in whole}
    for name, kept in {**left_out, "any signal": []}.items():
        with patch.object(signals.judge, "SIGNALS", kept):
            judged = [
                replace(one, judgments=judge_by_signals(one.step.incoming, one.texts))
                for one in read
            ]
        yield describe(f"without {name}", count_outcomes(judged, chosen))


def list_calibration(read: Sequence[ReadStep]) -> Iterator[str]:
    """Yield how often the likeliest ending of a text was right, by bands of its probability."""
    surest = []
    for one in read:
        if one.readings:
            place = max(one.readings, key=lambda place: one.readings[place].ends)
            is_right = one.step.relations.get(place) in ENDINGS
            if place not in one.step.disputed:
                surest.append((one.readings[place].ends, is_right))
    for low, high in itertools.pairwise(BANDS):
        band = [is_right for probability, is_right in surest if low <= probability < high]
        if band:
            yield f"read {low} to {high}: right {sum(band) / len(band):.3f} of {len(band)}"


async def measure_families(writers: Sequence[str], network: LocalNetwork) -> None:
    """Print what each family's sentences would do, met one at a time: the hardest case there is."""
    told = []
    for family in read_families(writers):
        for incoming in family["incoming"]:
            [reading] = await network.read([family["stored"]], incoming["text"])
            told.append((incoming, reading))
    if not told:
        return  # some writers wrote scopes alone
    for level in LEVELS:
        ends = [one for one in told if one[0]["relation"] in ENDINGS]
        same = [one for one in told if one[0]["relation"] == "DUPLICATE"]
        none = [one for one in told if one[0]["relation"] == "NONE"]
        print(
            f"pairs, from {level}: found {_share(ends, level):.3f} "
            f"without a cue {_share([o for o in ends if o[0].get('cue') is False], level):.3f} "
            f"look-alikes ended {_share(none, level):.2%} "
            f"duplicates {sum(r.duplicate >= level for _, r in same) / max(1, len(same)):.3f}"
        )


def _share(told: Sequence[tuple[Line, Reading]], level: float) -> float:
    return sum(reading.ends >= level for _, reading in told) / max(1, len(told))


def measure_ways(encoder: SentenceEncoder, network: LocalNetwork) -> None:
    measured: list[tuple[Sequence[str], Sequence[Any], Sequence[PairDrawer]]] = [
        (HELD_OUT_SLOTS, read_slots(HELD_OUT_SLOTS), KINDS),
        (HELD_OUT_SEVERAL, read_slots(HELD_OUT_SEVERAL), KINDS),
        (HELD_OUT_OPPOSITES, read_opposites(HELD_OUT_OPPOSITES), OPPOSITE_KINDS),
    ]
    for writers, forms, kinds in measured:
        for kind in dict.fromkeys(kinds):
            steps = list(draw_steps_of_ways(kind, forms, encoder))
            read = asyncio.run(read_steps(steps, network))
            print(*writers, describe(kind.__name__, count_outcomes(read, Thresholds())))
    rng, slots = random.Random(1), read_slots(HELD_OUT_SLOTS)
    pairs = [pair_changes_of_two_slots(slots, rng) for _ in range(WAYS)]
    read = asyncio.run(read_steps(list(_walk_pairs(pairs, encoder)), network))
    print(*HELD_OUT_SLOTS, describe("changes of two slots", count_outcomes(read, Thresholds())))


async def measure_scopes(
    steps: Sequence[Step],
    network: LocalNetwork,
    *,
    with_curve: bool = False,
    with_calibration: bool = False,
    with_ablation: bool = False,
) -> None:
    read = await read_steps(steps, network)
    if with_calibration:
        print("\n".join(list_calibration(read)))
    counts = count_outcomes(read, None)
    print(
        f"{counts['texts']} texts, {counts['changes']} changes, {counts['duplicates']} repetitions, "
        f"{sum(len(one.readings) for one in read) / len(read):.2f} candidates read a text"
    )
    print(describe("signals alone", counts))
    chosen = Thresholds()
    print(describe("signals and judge", count_outcomes(read, chosen)))
    if with_curve:
        for name, thresholds in list_curve(chosen):
            print(describe(name, count_outcomes(read, thresholds)))
    if with_ablation:
        for line in list_ablations(read, chosen):
            print(line)


def measure_languages(*, with_curve: bool) -> None:
    threads = FairThreads(2)
    network = LocalNetwork(threads, find_many_languages())
    encoder = SentenceEncoder(LocalEmbedder(threads, open_network(threads.count)))
    for name in ("plain", "scopes"):
        everything: list[Step] = []
        for file in sorted((FOLDER / "languages").glob(f"*2/{name}.jsonl")):
            lines = file.read_text(encoding="utf-8").splitlines()
            steps = [step for line in lines for step in walk_scope(json.loads(line), encoder)]
            print(file.parent.name, name)
            asyncio.run(measure_scopes(steps, network))
            everything += steps
        print("all of them")
        asyncio.run(measure_scopes(everything, network, with_curve=with_curve))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the local judge.")
    parser.add_argument("--writers", nargs="+", default=list(MEASURED))
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--ways", action="store_true")
    parser.add_argument("--languages", action="store_true")
    arguments = parser.parse_args()
    if arguments.languages:
        measure_languages(with_curve=arguments.curve)
        return
    encoder = SentenceEncoder()
    if arguments.ways:
        measure_ways(encoder, LocalNetwork(FairThreads(2)))
        return
    steps: list[Step] = []
    if arguments.cases:
        steps += read_cases(arguments.cases, encoder)
    else:
        for scope in read_scopes(arguments.writers):
            steps += walk_scope(scope, encoder)
    network = LocalNetwork(FairThreads(2))
    asyncio.run(
        measure_scopes(
            steps,
            network,
            with_curve=arguments.curve,
            with_calibration=arguments.calibration,
            with_ablation=arguments.ablation,
        )
    )
    if not arguments.cases:
        asyncio.run(measure_families(arguments.writers, network))


if __name__ == "__main__":
    main()
