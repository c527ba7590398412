"""Measures the signals on labelled cases, offline.

    measure_signals.py [--all] [--write] [--markdown] [--brief] [--errors NAME] [FILE…]

Without files: the evaluation files beside the checkout and the hand-written sets. Prints (a) the figures per file and kind, (b) how often
each signal was right where it decided, with its confidence, (c) the figures with every source left out in turn when confidences are learnt.

`--write` stores the confidences of (b) where the code reads them; `--markdown` prints (b) and (c) as the tables of docs/design/signals.md;
`--all` judges the whole scope instead of the ten candidates that cache_candidates.py wrote; `--errors` lists the wrong firings of a signal
("missed": targets that nothing hit; "retired", "lost": what must not happen).
"""

import argparse
import json
import math
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from app.classification.signals import (  # noqa: E402 - after the path is set
    endings,
    frames,
    patterns,
)
from app.classification.signals.finding import (  # noqa: E402 - after the path is set
    ACT_AT,
    ONLY_FLAGS,
)
from app.classification.signals.judge import FLAG_AT  # noqa: E402
from support.signal_cases import (  # noqa: E402
    HAND_WRITTEN,
    RETIRES,
    UNTRUSTED_KINDS,
    Outcome,
    answer_of,
    gold_of,
    is_lost,
    load,
    missed,
    run,
    verdicts,
    with_confidences,
    wrongly_retired,
)

CANDIDATES = ROOT / ".build" / "candidates"
CONFIDENCE_FILE = ROOT / "app" / "classification" / "signals" / "data" / "confidence.json"
EVALUATION = ROOT.parent / "shared" / "eval"
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
COLUMNS = (
    "n",
    "P",
    "R",
    "false",
    "neg",
    "dup",
    "lost",
    "mixed",
    "effect",
    "flagged",
    "right",
    "p50",
    "p95",
)


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    for flag in ("all", "write", "markdown", "brief"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--errors", default="")
    parser.add_argument("--limit", type=int, default=25)
    options = parser.parse_args()
    files = options.files or [
        *sorted(EVALUATION.glob("relations_*.gz")),
        *sorted(HAND_WRITTEN.glob("*.txt")),
    ]
    by_file = {
        path: run(load(path), None if options.all else candidates_of(path)) for path in files
    }
    measured = measure(by_file)
    if options.write:
        write_confidences(measured)
    confidences = json.loads(CONFIDENCE_FILE.read_text())
    decided = {
        path: [with_confidences(o, confidences) for o in outcomes]
        for path, outcomes in by_file.items()
    }
    if options.errors:
        print_errors(
            [o for outcomes in decided.values() for o in outcomes], options.errors, options.limit
        )
    elif options.markdown:
        print_markdown(measured, confidences, decided)
    else:
        print_tables(measured, confidences, decided, brief=options.brief)


def candidates_of(path: Path) -> dict[str, list[int]] | None:
    """The ten candidates per case, where they were written for this file."""
    cached = CANDIDATES / f"{short(path)}.json"
    return json.loads(cached.read_text()) if cached.exists() else None


def short(path: Path) -> str:
    """The file's name as the evaluation prints it."""
    return path.name.split(".")[0].removeprefix("relations_")


# --- how often a signal is right ----------------------------------------------------------------------------------------


def measure(by_file: Mapping[Path, Sequence[Outcome]]) -> dict[str, tuple[int, int]]:
    """(right, wrong) per signal; those for unlisted wording are measured as if no wording of the product cases were listed."""
    seen = reliability([o for outcomes in by_file.values() for o in outcomes])
    unlisted = reliability(run_unlisted([path for path in by_file if "endoflife" in path.name]))
    return seen | {name: counts for name, counts in unlisted.items() if "cued" in name}


def reliability(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """(right, wrong) per signal; a signal counts once per case, and is wrong if any of its firings there was."""
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for outcome in outcomes:
        told: dict[str, bool] = {}
        for finding, _, good in verdicts(outcome):
            told[finding.name] = told.get(finding.name, True) and good
        for name, good in told.items():
            counts[name][good] += 1
    return {name: (count[True], count[False]) for name, count in counts.items()}


def run_unlisted(paths: Sequence[Path]) -> list[Outcome]:
    """The product cases judged without any listed wording of their attributes: an honest test of the signals for unlisted wording."""
    listed = {key: list(entries) for key, entries in patterns.INDEX.items()}
    cached = (frames._find_frames_of_text, endings.find_ending)
    try:
        for key, entries in listed.items():
            patterns.INDEX[key] = [p for p in entries if p.attribute.name not in UNLISTED]
        for function in cached:
            function.cache_clear()
        return [o for path in paths for o in run(load(path), candidates_of(path))]
    finally:
        patterns.INDEX.update(listed)
        for function in cached:
            function.cache_clear()


def confidence(right: int, wrong: int) -> float:
    """A smoothed share: one right and one wrong are assumed beforehand."""
    return round((right + 1) / (right + wrong + 2), 3)


def write_confidences(measured: Mapping[str, tuple[int, int]]) -> None:
    """Stores what was measured; a signal that never fired keeps what it had, or counts as unproven."""
    known = json.loads(CONFIDENCE_FILE.read_text())
    stored = {
        name: confidence(*measured[name]) if name in measured else known.get(name, 0.5)
        for name in sorted(signal_meanings())
    }
    CONFIDENCE_FILE.write_text(json.dumps(stored, indent=1) + "\n")


def left_out(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    """Each source judged with confidences learnt on the others only; a signal never seen there does not act."""
    for source in sorted({o.source for o in outcomes}):
        others = reliability([o for o in outcomes if o.source != source])
        learnt = {name: confidence(*counts) for name, counts in others.items()}
        yield source, [with_confidences(o, learnt) for o in outcomes if o.source == source]


# --- figures ------------------------------------------------------------------------------------------------------------


def figures(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The columns of the evaluation."""
    count: Counter[str] = Counter()
    for outcome in outcomes:
        count.update(_counted(outcome))
    ms = sorted(o.ms for o in outcomes)
    shares = {
        "P": (3, _ratio(count["tp"], count["tp"] + count["fp"])),
        "R": (3, _ratio(count["tp"], count["tp"] + count["fn"])),
        "dup": (3, _ratio(count["dup_found"], count["dup"])),
        "effect": (3, _ratio(count["effect"], count["n"])),
        "right": (2, _ratio(count["flag_right"], count["flagged"])),
        "p50": (2, statistics.median(ms)),
        "p95": (2, ms[int(len(ms) * 0.95)]),
    }
    percents = {
        "false": _ratio(count["false"], count["n"]),
        "neg": _ratio(count["neg_false"], count["neg"]),
        "lost": _ratio(count["lost"], count["other"]),
        "mixed": _ratio(count["mixed"], count["n"]),
        "flagged": _ratio(count["flagged"], count["n"]),
    }
    told = {
        name: "–" if math.isnan(share) else f"{share:.{digits}f}"
        for name, (digits, share) in shares.items()
    }
    told |= {name: "–" if math.isnan(share) else f"{share:.2%}" for name, share in percents.items()}
    return {"n": str(count["n"])} | told


def _counted(outcome: Outcome) -> Counter[str]:
    case, answer = outcome.case, answer_of(outcome)
    must, _, accepted = gold_of(case)
    gold = case["gold"]
    wrong = wrongly_retired(outcome)
    is_negative = not must and gold["relation"] not in RETIRES
    allowed = set(gold["targets"]) if accepted & {"COMPLEMENT", "DUPLICATE"} else set()
    return Counter(
        n=1,
        tp=len(answer.retired & must),
        fp=len(wrong),
        fn=len(must - answer.retired),
        false=bool(wrong),
        neg=is_negative,
        neg_false=is_negative and bool(wrong),
        dup=gold["relation"] == "DUPLICATE",
        dup_found=gold["relation"] == "DUPLICATE"
        and answer.operation == "NOOP"
        and answer.same in gold["targets"],
        other="DUPLICATE" not in accepted,
        lost=is_lost(outcome),
        mixed=bool(answer.merged - allowed),
        effect=answer.operation in {EFFECT[relation] for relation in accepted},
        flagged=answer.review,
        flag_right=bool(answer.flagged & must),
    )


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.nan


# --- printing -----------------------------------------------------------------------------------------------------------


def print_tables(
    measured: Mapping[str, tuple[int, int]],
    confidences: Mapping[str, float],
    decided: Mapping[Path, list[Outcome]],
    *,
    brief: bool,
) -> None:
    """Tables (a), (b) and (c)."""
    everything = [o for outcomes in decided.values() for o in outcomes]
    print(_line("", dict.fromkeys(COLUMNS, "") | {c: c for c in COLUMNS}))
    for path, outcomes in decided.items():
        print(_line(short(path), figures(outcomes)))
        for kind, members in () if brief or path.suffix != ".gz" else _by_kind(outcomes):
            print(_line(f"  {kind}", figures(members)))
    print(_line("all", figures(everything)))
    print(f"\n{'signal':30s} {'right':>6s} {'wrong':>6s} {'confidence':>11s}")
    for name, (right, wrong) in _strongest_first(measured):
        print(
            f"{name:30s} {right:6d} {wrong:6d} {confidences.get(name, 0.5):11.3f} {_effect(name, confidences)}"
        )
    print("\nleft out")
    for source, outcomes in left_out(everything):
        print(_line(source, figures(outcomes)))


def _line(name: str, told: Mapping[str, str]) -> str:
    return f"{name:30s} " + " ".join(f"{told[column]:>8s}" for column in COLUMNS)


def _by_kind(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        kinds[outcome.case.get("kind") or outcome.case["gold"]["relation"]].append(outcome)
    yield from kinds.items()


def _strongest_first(measured: Mapping[str, tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted(measured.items(), key=lambda entry: (-entry[1][0], entry[0]))


def _effect(name: str, confidences: Mapping[str, float]) -> str:
    stands = confidences.get(name, 0.5)
    return (
        "acts"
        if stands >= ACT_AT and name not in ONLY_FLAGS
        else "flags"
        if stands >= FLAG_AT
        else "silent"
    )


def print_markdown(
    measured: Mapping[str, tuple[int, int]],
    confidences: Mapping[str, float],
    decided: Mapping[Path, list[Outcome]],
) -> None:
    """Tables (b) and (c) as they stand in docs/design/signals.md."""
    meanings = signal_meanings()
    print("| signal | what it sees | right / wrong | confidence | |\n|---|---|---|---|---|")
    for name, (right, wrong) in _strongest_first(measured):
        print(
            f"| `{name}` | {meanings.get(name, '')} | {right} / {wrong} | {confidences.get(name, 0.5):.3f} | {_effect(name, confidences)} |"
        )
    shown = ("n", "P", "R", "false", "dup", "lost", "effect")
    print(f"\n| source left out | {' | '.join(shown)} |\n|---|{'---|' * len(shown)}")
    for source, outcomes in left_out([o for members in decided.values() for o in members]):
        told = figures(outcomes)
        print(f"| {source} | {' | '.join(told[column] for column in shown)} |")


def signal_meanings() -> dict[str, str]:
    """What each signal sees, in a few words."""
    lines = (HAND_WRITTEN / "signals.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines if line)


def print_errors(outcomes: Sequence[Outcome], wanted: str, limit: int) -> None:
    """The wrong firings of a signal, or what the outcome of a case was wrong about."""
    lines = (line for outcome in outcomes for line in _errors(outcome, wanted))
    for _, line in zip(range(limit), lines, strict=False):
        print(line)


def _errors(outcome: Outcome, wanted: str) -> Iterator[str]:
    case, scope = outcome.case, outcome.case["scope"]
    head = f"{case['id']}/{case.get('kind')}: {case['new']['text']}"
    if wanted in ("missed", "retired", "lost"):
        places = {"missed": missed, "retired": wrongly_retired, "lost": _lost}[wanted](outcome)
        for place in (
            places if case.get("kind") not in UNTRUSTED_KINDS or wanted != "missed" else ()
        ):
            said = next(
                (j for j in outcome.judgments if outcome.places[j.candidate] == place), None
            )
            reason = said.reasoning + (" [flag]" if said.flag else "") if said else "no candidate"
            yield f"{head}\n     {wanted}: {scope[place]['text']}\n     {reason}"
        return
    for finding, place, good in verdicts(outcome):
        if not good and finding.name.startswith(wanted):
            yield f"{head}\n     {finding.name}: {scope[place]['text']}"


def _lost(outcome: Outcome) -> set[int]:
    same = answer_of(outcome).same
    return {same} if is_lost(outcome) and same is not None else set()


if __name__ == "__main__":
    main()
