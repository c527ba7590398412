"""Labelled cases: reading them, judging them, and comparing what was judged with the labels.

A case is one incoming fact against stored ones, as in the evaluation files (JSON Lines). Hand-written sets are blocks of text:

    UPDATE residence            relations that count as right, and a kind
    > I moved to Lisbon.        the incoming fact
    ! I live in Porto.          a stored fact that it concerns
    - My sister lives in Porto. a stored fact that must stay
"""

import gzip
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from app.classification.signals import SignalJudgment, Statement, judge_candidates
from app.classification.signals.finding import ACT_AT, bound_confidence
from app.classification.signals.judge import FLAG_AT
from app.domain.relation import Finding, Judge, Judgment, Operation, Relation, decide_operation

HAND_WRITTEN = Path(__file__).parents[1] / "classification" / "signals" / "data"
RETIRES = {"UPDATE", "CONTRADICTION", "RETRACTION"}
UNTRUSTED_KINDS = {
    "contradiction-implied"
}  # About half of these presume that only one value can hold: nothing is learnt from them.
MAX_CLOSURES = 3
Case = dict[str, Any]


# --- reading ------------------------------------------------------------------------------------------------------------


def load(path: Path) -> list[Case]:
    """The cases of a hand-written set or of a (gzipped) JSON Lines file."""
    if path.suffix == ".txt":
        return [
            _case_of(path.stem, n, lines)
            for n, lines in enumerate(_blocks(path.read_text(encoding="utf-8")), 1)
        ]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _blocks(text: str) -> Iterator[list[str]]:
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            yield lines


def _case_of(source: str, number: int, lines: Sequence[str]) -> Case:
    relations, kind = lines[0].split()
    relation, *accepted = relations.split(",")
    told = {mark: [line[2:] for line in lines[1:] if line[0] == mark] for mark in ">!-"}
    scope = told["-"] + told["!"]
    if relation == "COEXIST":
        accepted = [*accepted, "UNRELATED"]
    gold = {
        "relation": relation,
        "targets": list(range(len(told["-"]), len(scope))),
        "accept": accepted,
    }
    facts = [{"i": i, "text": text, "at": None} for i, text in enumerate(scope)]
    return {
        "id": f"{source}-{number:03d}",
        "source": source,
        "kind": kind,
        "scope": facts,
        "new": {"text": told[">"][0], "at": None},
        "gold": gold,
    }


def gold_of(case: Case) -> tuple[set[int], set[int], set[str]]:
    """What the labels ask: facts that must be retired, facts that are not scored, relations that count as right."""
    gold = case["gold"]
    accepted = {gold["relation"], *gold.get("accept", [])}
    targets, unscored = set(gold["targets"]), set(gold.get("ignore", []))
    if accepted & RETIRES and accepted - RETIRES:
        return set(), unscored | targets, accepted
    return (targets if gold["relation"] in RETIRES else set()), unscored, accepted


def statements(case: Case) -> tuple[list[Statement], Statement]:
    """Scope and incoming statement; dates go along only where the new fact is the latest, as over HTTP."""
    new_at = case["new"].get("at")
    dated = bool(new_at) and all(fact.get("at") and fact["at"] < new_at for fact in case["scope"])

    def one(fact: dict[str, Any]) -> Statement:
        at = fact.get("at") if dated else None
        return Statement(fact["text"], _moment(at) if at else None)

    return [one(fact) for fact in case["scope"]], one(case["new"])


def _moment(at: str) -> datetime:
    moment = datetime.fromisoformat(at.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# --- judging ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with its judgments; `places` are the positions of the candidates in the scope, `ms` is processor time."""

    case: Case
    places: Sequence[int]
    judgments: Sequence[SignalJudgment]
    ms: float = 0.0

    @property
    def source(self) -> str:
        return str(self.case["source"])

    @property
    def choice(self) -> "SignalChoice":
        return decided(self.judgments)


@dataclass(frozen=True, slots=True)
class SignalChoice:
    """The operation that signals lead to, with the judgments that it acts on and those to review."""

    operation: Operation
    acts_on: tuple[SignalJudgment, ...]
    flagged: tuple[SignalJudgment, ...]


def decided(judgments: Sequence[SignalJudgment]) -> SignalChoice:
    """The choice that the service would make of signals alone, its cap on closures included."""
    by_id = {UUID(int=j.candidate): j for j in judgments}
    asked = [
        Judgment(memory_id, j.relation, j.confidence, j.reasoning, Judge.SIGNALS, flag=j.flag)
        for memory_id, j in by_id.items()
    ]
    choice = decide_operation(asked, lambda j: j.confidence >= ACT_AT)
    return SignalChoice(
        choice.operation,
        tuple(by_id[j.memory_id] for j in choice.acts_on[:MAX_CLOSURES]),
        tuple(by_id[j.memory_id] for j in choice.flagged),
    )


def run(
    cases: Iterable[Case], candidates: Mapping[str, Sequence[int]] | None = None
) -> list[Outcome]:
    """Judges every case against its candidates, or against its whole scope."""
    return [
        _run(case, candidates[case["id"]] if candidates else range(len(case["scope"])))
        for case in cases
    ]


def _run(case: Case, places: Sequence[int]) -> Outcome:
    scope, new = statements(case)
    chosen = [scope[i] for i in places]
    start = time.process_time()
    judgments = judge_candidates(new, chosen)
    return Outcome(case, places, judgments, (time.process_time() - start) * 1e3)


def with_confidences(outcome: Outcome, confidences: Mapping[str, float]) -> Outcome:
    """The same outcome as other confidences would have it."""
    return replace(outcome, judgments=[_reweighed(j, confidences) for j in outcome.judgments])


def _reweighed(judgment: SignalJudgment, confidences: Mapping[str, float]) -> SignalJudgment:
    if not judgment.findings or judgment.vetoes:
        return judgment
    findings = tuple(
        replace(f, confidence=bound_confidence(f.name, confidences.get(f.name, 0.5)))
        for f in judgment.findings
    )
    best = max(findings, key=lambda f: f.confidence)
    flag = FLAG_AT <= best.confidence < ACT_AT
    relation = best.relation if best.confidence >= FLAG_AT else Relation.OVERLAP
    return replace(
        judgment, relation=relation, confidence=best.confidence, findings=findings, flag=flag
    )


# --- comparing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What was done, as positions in the scope."""

    operation: str
    retired: set[int]
    merged: set[int]
    same: int | None
    flagged: set[int]
    review: bool


def answer_of(outcome: Outcome) -> Answer:
    """What the evaluation would read off the service's answer."""
    choice, places = outcome.choice, outcome.places
    acted = {places[j.candidate] for j in choice.acts_on}
    return Answer(
        operation=choice.operation.value,
        retired=acted if choice.operation in (Operation.UPDATE, Operation.DELETE) else set(),
        merged=acted if choice.operation is Operation.MERGE else set(),
        same=next(iter(acted), None) if choice.operation is Operation.NOOP else None,
        flagged={places[j.candidate] for j in choice.flagged if j.relation.effect.ends_stored},
        review=bool(choice.flagged),
    )


def wrongly_retired(outcome: Outcome) -> set[int]:
    must, unscored, _ = gold_of(outcome.case)
    return answer_of(outcome).retired - must - unscored


def is_lost(outcome: Outcome) -> bool:
    """Whether a fact that says something new was taken for one that is stored."""
    return "DUPLICATE" not in gold_of(outcome.case)[2] and answer_of(outcome).operation == "NOOP"


def missed(outcome: Outcome) -> set[int]:
    """Targets that nothing was done about."""
    must, _, _ = gold_of(outcome.case)
    answer, gold = answer_of(outcome), outcome.case["gold"]
    if must:
        return must - answer.retired
    return (
        set(gold["targets"])
        if gold["relation"] == "DUPLICATE" and answer.operation != "NOOP"
        else set()
    )


def verdicts(outcome: Outcome) -> Iterator[tuple[Finding, int, bool]]:
    """Every finding, the place in the scope that it speaks of, and whether the labels bear it out."""
    must, unscored, accepted = gold_of(outcome.case)
    gold, targets = outcome.case["gold"]["relation"], set(outcome.case["gold"]["targets"])
    for judgment in outcome.judgments:
        place = outcome.places[judgment.candidate]
        is_noise = outcome.case.get("kind") in UNTRUSTED_KINDS and place in targets
        if judgment.vetoes or place in unscored or is_noise:
            continue
        for finding in judgment.findings:
            if finding.relation.effect.ends_stored:
                yield finding, place, place in must
            elif finding.relation is Relation.COMPLEMENT:
                yield finding, place, place in targets and "COMPLEMENT" in accepted
            elif gold == "DUPLICATE" or "DUPLICATE" not in accepted:
                yield finding, place, gold == "DUPLICATE"
