"""Two keys: what signals found and what the local judge reads, weighed together.

A signal that would change something needs a judge that does not object. The judge alone needs one
candidate that stands out from the others, and either a reason that a signal found too or a very
high probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.classification.local.difference import describe_difference, differs_in_few_words
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.classification.signals.correction import is_correction
from app.classification.signals.finding import SEEN_BY_SIGNALS_ALONE
from app.classification.signals.lexicon import CONFIDENCE
from app.classification.signals.scope import is_about_another
from app.domain.relation import LOCAL_FINDING, Finding, Judge, Judgment, Relation

FINDING = LOCAL_FINDING

# The network is surer than it is right. Of the endings that it reads with the first probability,
# the second share was right in scopes of the writers that the thresholds were chosen on
# (training/measure.py lists the shares).
CALIBRATION = (
    (0.0, 0.0),
    (0.03, 0.06),
    (0.14, 0.20),
    (0.3, 0.33),
    (0.6, 0.48),
    (0.75, 0.55),
    (0.88, 0.73),
    (0.94, 0.85),
    (0.965, 0.90),
    (0.977, 0.97),
    (1.0, 0.98),
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How surely the network must read something for the local judge to act or ask.

    They are chosen on held-out writers, and are probabilities as they are read, not calibrated.

    From `act`, the judge ends a fact that stands out from the next likeliest one by `margin`. If no
    other fact has at least the similarity `near`, nothing shows that this one stands out, and the
    judge needs `act_alone`. From `duplicate`, it takes two texts for the same. If they share most
    words, one of the other words may decide, and it needs `duplicate_alike`. From `with_reason`, it
    accepts what a signal says, and ends a fact if the text says of itself that it corrects. From
    `ask`, and where two facts are about equally likely, it leaves a review.
    """

    act: float = 0.9
    act_alone: float = 0.97
    near: float = 0.35
    with_reason: float = 0.7
    margin: float = 0.6
    ask: float = 0.3
    duplicate: float = 0.88
    duplicate_alike: float = 0.97


@dataclass(frozen=True, slots=True)
class ReadCandidate:
    """The text of a stored fact, and what the signals say of the incoming one beside it.

    `similarity` is the cosine of their vectors; None if the fact was not ranked by its vector.
    """

    text: str
    judgment: Judgment
    similarity: float | None


@dataclass(frozen=True, slots=True)
class LocalVerdict:
    """A judgment on each candidate, and what the network read of it, in order."""

    judgments: tuple[Judgment, ...] = ()
    readings: tuple[Reading, ...] = ()


class LocalJudge:
    """Judges the likeliest candidates of a fact, after the signals."""

    def __init__(self, network: LocalNetwork) -> None:
        self._network = network

    async def judge(self, incoming: str, candidates: Sequence[ReadCandidate]) -> LocalVerdict:
        if not candidates:
            return LocalVerdict()
        readings = await self._network.read([candidate.text for candidate in candidates], incoming)
        judgments = weigh_readings(incoming, candidates, readings)
        return LocalVerdict(tuple(judgments), tuple(readings))


def weigh_readings(
    incoming: str,
    candidates: Sequence[ReadCandidate],
    readings: Sequence[Reading],
    thresholds: Thresholds | None = None,
) -> list[Judgment]:
    """Return a judgment on each candidate, from the signals' judgment and the reading of it."""
    thresholds = thresholds or Thresholds()
    judgments = []
    for candidate, reading in zip(candidates, readings, strict=True):
        judgments.append(_check_signal(candidate.judgment, reading, thresholds))
    if any(_acts(judgment) for judgment in judgments):
        return judgments
    own = _find_ending(incoming, candidates, judgments, readings, thresholds)
    own = own or _find_duplicate(incoming, candidates, readings, thresholds)
    if own is not None:
        candidate = candidates[own.place]
        judgments[own.place] = _build_judgment(judgments[own.place], own, candidate.text, incoming)
    return judgments


def _acts(judgment: Judgment) -> bool:
    return judgment.relation.effect.changes_stored and not judgment.flag


def _check_signal(judgment: Judgment, reading: Reading, thresholds: Thresholds) -> Judgment:
    """Return the signals' judgment, or none in its place if the judge does not read the same."""
    if any(finding.name in SEEN_BY_SIGNALS_ALONE for finding in judgment.findings):
        return judgment
    if judgment.relation.effect.ends_stored:
        agreement = reading.ends
    elif judgment.relation is Relation.DUPLICATE:
        agreement = reading.duplicate
    else:
        return judgment
    if agreement >= thresholds.with_reason:
        return judgment
    if judgment.relation.effect.ends_stored and _sees_the_same_matter(reading, thresholds):
        return replace(judgment, flag=True)
    reasoning = f"the local judge objects ({agreement:.2f}) to {judgment.reasoning}"
    return replace(judgment, relation=Relation.OVERLAP, reasoning=reasoning, flag=False)


def _sees_the_same_matter(reading: Reading, thresholds: Thresholds) -> bool:
    """Return True if the judge gives an ending or a repetition enough to ask about it."""
    return max(reading.ends, reading.duplicate) >= thresholds.ask


@dataclass(frozen=True, slots=True)
class _OwnFinding:
    """What the judge itself found about the candidate at `place`."""

    place: int
    relation: Relation
    confidence: float
    flag: bool = False


def _find_ending(
    incoming: str,
    candidates: Sequence[ReadCandidate],
    judgments: Sequence[Judgment],
    readings: Sequence[Reading],
    thresholds: Thresholds,
) -> _OwnFinding | None:
    """Return the ending of the likeliest candidate, if there is one."""
    order = sorted(range(len(readings)), key=lambda place: -readings[place].ends)
    best = order[0]
    probability = readings[best].ends
    if probability < thresholds.ask:
        return None
    next_best = readings[order[1]].ends if len(order) > 1 else 0.0
    stands_out = probability - next_best >= thresholds.margin
    reason = _weigh_reason(incoming, judgments[best])
    is_alone = not any(_is_near(candidates[place], thresholds) for place in order[1:])
    least = thresholds.act_alone if is_alone else thresholds.act
    if reason:
        least = thresholds.with_reason
    relation = readings[best].ending_relation
    if relation is Relation.RETRACTION and judgments[best].relation is not Relation.RETRACTION:
        # A retraction would not store the incoming text, which may say more than what ended.
        relation = Relation.UPDATE
    confidence = 1 - (1 - calibrate(probability)) * (1 - reason)
    is_unsure = not stands_out or probability < least
    is_unsure = is_unsure or is_about_another(candidates[best].text, incoming)
    return _OwnFinding(best, relation, confidence, flag=is_unsure)


def _is_near(candidate: ReadCandidate, thresholds: Thresholds) -> bool:
    return candidate.similarity is None or candidate.similarity >= thresholds.near


def _weigh_reason(incoming: str, judgment: Judgment) -> float:
    """Return the confidence of a second reason for an ending, beside the network; 0 without one.

    A signal sees the same ending, or the text says of itself that it corrects ("Actually, …").
    """
    if judgment.relation.effect.ends_stored:
        return judgment.confidence
    return CONFIDENCE["correction"] if is_correction(incoming) else 0.0


def calibrate(probability: float) -> float:
    """Return how often an ending that is read with this probability is right."""
    read, right = zip(*CALIBRATION, strict=True)
    return round(float(np.interp(probability, read, right)), 3)


def _find_duplicate(
    incoming: str,
    candidates: Sequence[ReadCandidate],
    readings: Sequence[Reading],
    thresholds: Thresholds,
) -> _OwnFinding | None:
    """Return the likeliest repetition, if there is one. What a signal would end is none."""
    best = max(range(len(readings)), key=lambda place: readings[place].duplicate)
    probability = readings[best].duplicate
    one_word_may_decide = differs_in_few_words(candidates[best].text, incoming)
    least = thresholds.duplicate_alike if one_word_may_decide else thresholds.duplicate
    if probability < least or candidates[best].judgment.relation.effect.ends_stored:
        return None
    return _OwnFinding(best, Relation.DUPLICATE, probability)


def supports_duplicate(
    reading: Reading, stored: str, incoming: str, thresholds: Thresholds | None = None
) -> bool:
    """Return True if the reading supports a judge who takes the two texts for the same.

    With that judge's reason, `with_reason` is enough, unless one word may decide.
    """
    thresholds = thresholds or Thresholds()
    one_word_may_decide = differs_in_few_words(stored, incoming)
    least = thresholds.duplicate_alike if one_word_may_decide else thresholds.with_reason
    return reading.duplicate >= least


def _build_judgment(judgment: Judgment, own: _OwnFinding, stored: str, incoming: str) -> Judgment:
    difference = describe_difference(stored, incoming)
    finding = Finding(FINDING, own.relation, own.confidence, difference)
    return replace(
        judgment,
        relation=own.relation,
        confidence=own.confidence,
        reasoning=f"{FINDING}: {difference}",
        decided_by=Judge.LOCAL,
        findings=(*judgment.findings, finding),
        vetoes=(),
        flag=own.flag,
    )
