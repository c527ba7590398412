"""Measures the signals on labelled cases, offline.

    measure_signals.py [--all] [--write] [--errors NAME] FILE…

Prints (a) the figures of eval/run.py per file and kind, (b) how often each signal was right where it decided, with its confidence,
(c) the same with every source left out in turn when the confidences are learnt. `--write` stores the confidences of (b) in signals/data;
`--all` judges the whole scope instead of the ten candidates in cache/; `--errors` lists the wrong firings of a signal ("missed": the targets nothing hit).
"""

import argparse
import gzip
import json
import math
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from app.domain.signals import Decision, Finding, Judgment, Operation, Relation, Statement, decide, endings, frames, judge, patterns  # noqa: E402  # noqa: E402
from app.domain.signals.finding import ACT_AT, bounded  # noqa: E402
from app.domain.signals.judge import FLAG_AT  # noqa: E402

CONFIDENCE_FILE = HERE / "signals" / "data" / "confidence.json"
RETIRES = {"UPDATE", "CONTRADICTION", "RETRACTION"}
EFFECT = {
    "UPDATE": "UPDATE",
    "CONTRADICTION": "UPDATE",
    "RETRACTION": "DELETE",
    "DUPLICATE": "NOOP",
    "COMPLEMENT": "MERGE",
    "COEXIST": "ADD",
    "UNRELATED": "ADD",
}
UNLISTED = {"end_of_life", "active_support", "release_date", "latest_version"}
UNTRUSTED_KINDS = {"contradiction-implied"}
Case = dict[str, Any]


@dataclass
class Outcome:
    """A case with its judgments; `places` are the positions of the candidates in the scope."""

    case: Case
    places: list[int]
    judgments: list[Judgment]
    ms: float = 0.0
    decision: Decision = field(default_factory=lambda: Decision(Operation.ADD))

    @property
    def source(self) -> str:
        """Where the case comes from."""
        return str(self.case["source"])


def load(path: Path) -> list[Case]:
    """The cases of a (gzipped) JSON Lines file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def gold_of(case: Case) -> tuple[set[int], set[int], set[str]]:
    """As in eval/run.py: (facts that must be retired, facts that are not scored, accepted relations)."""
    gold = case["gold"]
    accepted = {gold["relation"], *gold.get("accept", [])}
    targets, unscored = set(gold["targets"]), set(gold.get("ignore", []))
    if accepted & RETIRES and accepted - RETIRES:
        return set(), unscored | targets, accepted
    return (targets if gold["relation"] in RETIRES else set()), unscored, accepted


def statements(case: Case) -> tuple[list[Statement], Statement]:
    """Scope and incoming statement; dates go along only where the new fact is the latest, as in eval/run.py."""
    new_at = case["new"].get("at")
    dated = bool(new_at) and all(fact.get("at") and fact["at"] < new_at for fact in case["scope"])

    def one(fact: dict[str, Any]) -> Statement:
        at = fact.get("at") if dated else None
        return Statement(fact["text"], _moment(at) if at else None)

    return [one(fact) for fact in case["scope"]], one(case["new"])


def _moment(at: str) -> datetime:
    moment = datetime.fromisoformat(at.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def run(cases: list[Case], top: dict[str, list[int]] | None) -> list[Outcome]:
    """Judges every case against its candidates."""
    outcomes = []
    for case in cases:
        scope, new = statements(case)
        places = top[case["id"]] if top else list(range(len(scope)))
        start = time.perf_counter()
        judgments = judge(new, [scope[i] for i in places])
        outcomes.append(Outcome(case, places, judgments, (time.perf_counter() - start) * 1e3))
    return outcomes


def run_unlisted(paths: list[Path]) -> list[Outcome]:
    """The product cases judged as if no wording of theirs were listed: the only honest test of the signals for unlisted wordings."""
    listed = {key: list(entries) for key, entries in patterns.INDEX.items()}
    cached = (frames._frames_of, endings.ending_of)
    try:
        for key, entries in listed.items():
            patterns.INDEX[key] = [p for p in entries if p.attribute.name not in UNLISTED]
        for function in cached:
            function.cache_clear()
        return [o for path in paths if "endoflife" in path.name for o in run(load(path), candidates_of(path))]
    finally:
        patterns.INDEX.update(listed)
        for function in cached:
            function.cache_clear()


def with_confidences(outcome: Outcome, confidences: dict[str, float]) -> Outcome:
    """The same outcome decided with other confidences."""
    return replace(outcome, decision=decide([_reweighed(j, confidences) for j in outcome.judgments]))


def _reweighed(judgment: Judgment, confidences: dict[str, float]) -> Judgment:
    if not judgment.findings or judgment.vetoes or judgment.relation in (Relation.OVERLAP, Relation.NONE):
        return judgment
    findings = [replace(f, confidence=bounded(f.name, confidences.get(f.name, 0.5))) for f in judgment.findings]
    best = max(findings, key=lambda f: f.confidence)
    flag = FLAG_AT <= best.confidence < ACT_AT
    return replace(judgment, relation=best.relation, confidence=best.confidence, flag=flag)


def got(outcome: Outcome) -> dict[str, Any]:
    """What run.py would read off the service's answer."""
    decision, places = outcome.decision, outcome.places
    acted = {places[j.candidate] for j in decision.acts_on}
    retires = decision.operation in (Operation.UPDATE, Operation.DELETE)
    return {
        "operation": decision.operation.value,
        "retired": acted if retires else set(),
        "merged": acted if decision.operation is Operation.MERGE else set(),
        "same": next(iter(acted), None) if decision.operation is Operation.NOOP else None,
        "flagged": {places[j.candidate] for j in decision.flagged if j.relation.retires},
        "review": bool(decision.flagged),
    }


def report(name: str, outcomes: list[Outcome], *, kinds: bool = True) -> None:
    """The columns of eval/run.py."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[""].append(outcome)
        if kinds:
            groups[outcome.case.get("kind") or outcome.case["gold"]["relation"]].append(outcome)
    for kind, members in groups.items():
        _line(f"  {kind}" if kind else name, members)


def _line(name: str, outcomes: list[Outcome]) -> None:
    count: Counter[str] = Counter()
    for outcome in outcomes:
        case, answer = outcome.case, got(outcome)
        must, unscored, accepted = gold_of(case)
        wrong = answer["retired"] - must - unscored
        count["tp"] += len(answer["retired"] & must)
        count["fp"] += len(wrong)
        count["fn"] += len(must - answer["retired"])
        count["n"] += 1
        count["false"] += bool(wrong)
        if not must and case["gold"]["relation"] not in RETIRES:
            count["neg"] += 1
            count["neg_false"] += bool(wrong)
        if case["gold"]["relation"] == "DUPLICATE":
            count["dup"] += 1
            count["dup_found"] += answer["operation"] == "NOOP" and answer["same"] in case["gold"]["targets"]
        elif "DUPLICATE" not in accepted:
            count["other"] += 1
            count["lost"] += answer["operation"] == "NOOP"
        allowed = set(case["gold"]["targets"]) if accepted & {"COMPLEMENT", "DUPLICATE"} else set()
        count["mixed"] += bool(answer["merged"] - allowed)
        count["effect"] += answer["operation"] in {EFFECT[relation] for relation in accepted}
        count["flagged"] += answer["review"]
        count["flag_right"] += bool(answer["flagged"] & must)
    print(_figures(name, count, sorted(o.ms for o in outcomes)))


def _figures(name: str, count: Counter[str], ms: list[float]) -> str:
    p, r = _ratio(count["tp"], count["tp"] + count["fp"]), _ratio(count["tp"], count["tp"] + count["fn"])
    return (
        f"{name:30s} {count['n']:5d} {p:6.3f} {r:6.3f} {_ratio(2 * p * r, p + r):6.3f} {_ratio(count['false'], count['n']):7.2%} {_ratio(count['neg_false'], count['neg']):7.2%} "
        f"{_ratio(count['dup_found'], count['dup']):6.3f} {_ratio(count['lost'], count['other']):6.2%} {_ratio(count['mixed'], count['n']):6.2%} {_ratio(count['effect'], count['n']):7.3f} "
        f"{_ratio(count['flagged'], count['n']):8.2%} {_ratio(count['flag_right'], count['flagged']):6.2f} {statistics.median(ms):6.2f} {ms[int(len(ms) * 0.95)]:6.2f}"
    )


HEADER = f"{'':30s} {'n':>5s} {'P':>6s} {'R':>6s} {'F1':>6s} {'false':>7s} {'neg':>7s} {'dup':>6s} {'lost':>6s} {'mixed':>6s} {'effect':>7s} {'flagged':>8s} {'right':>6s} {'p50':>6s} {'p95':>6s}"


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.nan


def verdicts(outcome: Outcome) -> Iterator[tuple[Finding, int, bool]]:
    """Every finding of the judgments, its place in the scope, and whether the labels bear it out."""
    must, unscored, accepted = gold_of(outcome.case)
    gold, targets = outcome.case["gold"]["relation"], set(outcome.case["gold"]["targets"])
    for judgment in outcome.judgments:
        place = outcome.places[judgment.candidate]
        if judgment.relation in (Relation.OVERLAP, Relation.NONE) or place in unscored:
            continue
        if outcome.case.get("kind") in UNTRUSTED_KINDS and place in targets:
            continue
        for finding in judgment.findings:
            if finding.relation.retires:
                yield finding, place, place in must
            elif finding.relation is Relation.DUPLICATE and "DUPLICATE" in accepted and gold != "DUPLICATE":
                continue
            elif finding.relation is Relation.DUPLICATE:
                yield finding, place, gold == "DUPLICATE"
            else:
                yield finding, place, place in targets and bool(accepted & {"COMPLEMENT"})


def reliability(outcomes: list[Outcome]) -> dict[str, tuple[int, int]]:
    """(right, wrong) per signal; a signal counts once per case."""
    right: dict[str, Counter[bool]] = defaultdict(Counter)
    for outcome in outcomes:
        told: dict[str, bool] = {}
        for finding, _, good in verdicts(outcome):
            told[finding.name] = told.get(finding.name, True) and good
        for name, good in told.items():
            right[name][good] += 1
    return {name: (count[True], count[False]) for name, count in right.items()}


def confidence(right: int, wrong: int) -> float:
    """A smoothed share: one right and one wrong are assumed beforehand."""
    return round((right + 1) / (right + wrong + 2), 3)


def print_errors(outcomes: list[Outcome], wanted: str, limit: int) -> None:
    """The wrong firings of a signal, or the targets that nothing hit."""
    shown = 0
    for outcome in outcomes:
        case = outcome.case
        lines = [(f, p) for f, p, good in verdicts(outcome) if not good and f.name.startswith(wanted)] if wanted != "missed" else []
        if wanted == "missed":
            hit = got(outcome)
            must, _, _ = gold_of(case)
            missing = (
                must - hit["retired"]
                if must
                else set(case["gold"]["targets"])
                if case["gold"]["relation"] == "DUPLICATE" and hit["operation"] != "NOOP"
                else set()
            )
            for place in missing if case.get("kind") not in UNTRUSTED_KINDS else ():
                judged = next(
                    (j.reasoning + (" [flag]" if j.flag else "") for j in outcome.judgments if outcome.places[j.candidate] == place),
                    "no candidate",
                )
                print(
                    f"{case['source']}/{case.get('kind')}: {case['new']['text']}\n     missed: {case['scope'][place]['text']}\n     {judged} | {hit['operation']}"
                )
                shown += 1
        for finding, place in lines:
            print(f"{case['source']}/{case.get('kind')}: {case['new']['text']}\n     {finding.name}: {case['scope'][place]['text']}")
            shown += 1
        if shown >= limit:
            return


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--errors", default="")
    parser.add_argument("--limit", type=int, default=25)
    options = parser.parse_args()
    by_file = {path: run(load(path), None if options.all else candidates_of(path)) for path in options.files}
    everything = [o for outcomes in by_file.values() for o in outcomes]
    measured = reliability(everything) | {
        name: counts for name, counts in reliability(run_unlisted(options.files)).items() if "cued" in name
    }
    if options.write:
        learnt = {name: confidence(*counts) for name, counts in sorted(measured.items())}
        kept = {name: value for name, value in json.loads(CONFIDENCE_FILE.read_text()).items() if name not in learnt}
        CONFIDENCE_FILE.write_text(json.dumps(dict(sorted((kept | learnt).items())), indent=1) + "\n")
    confidences = json.loads(CONFIDENCE_FILE.read_text())
    decided = {path: [with_confidences(o, confidences) for o in outcomes] for path, outcomes in by_file.items()}
    if options.errors:
        print_errors([o for outcomes in decided.values() for o in outcomes], options.errors, options.limit)
        return
    print(HEADER)
    for path, outcomes in decided.items():
        report(short(path), outcomes, kinds=not options.brief and path.suffix == ".gz")
    report("all", [o for outcomes in decided.values() for o in outcomes], kinds=False)
    print_reliability(measured, confidences)
    print_left_out(everything)


def print_reliability(measured: dict[str, tuple[int, int]], confidences: dict[str, float]) -> None:
    """Table (b)."""
    print(f"\n{'signal':30s} {'right':>6s} {'wrong':>6s} {'confidence':>11s}")
    for name, (right, wrong) in sorted(measured.items(), key=lambda item: -item[1][0]):
        stands = confidences.get(name, 0.5)
        print(
            f"{name:30s} {right:6d} {wrong:6d} {stands:11.3f} {'acts' if stands >= ACT_AT else 'flags' if stands >= FLAG_AT else 'silent'}"
        )


def print_left_out(outcomes: list[Outcome]) -> None:
    """Table (c): each source judged with confidences learnt on the others only; a signal never seen there does not act."""
    print("\nleft out\n" + HEADER)
    for source in sorted({o.source for o in outcomes}):
        others = reliability([o for o in outcomes if o.source != source])
        learnt = {name: confidence(*counts) for name, counts in others.items()}
        report(source, [with_confidences(o, learnt) for o in outcomes if o.source == source], kinds=False)


def short(path: Path) -> str:
    """The file's name as run.py prints it."""
    return path.name.split(".")[0].removeprefix("relations_")


def candidates_of(path: Path) -> dict[str, list[int]] | None:
    """The cached ten candidates per case, if there are any for this file."""
    cached = HERE / "cache" / f"{short(path)}.json"
    return json.loads(cached.read_text()) if cached.exists() else None


if __name__ == "__main__":
    main()
