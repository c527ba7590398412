"""Judges an incoming statement against stored candidates: veto first, then reasons, then how sure they make us."""

from collections.abc import Callable, Iterator, Sequence

from app.domain.signals import temporal
from app.domain.signals.antonyms import antonyms
from app.domain.signals.complement import complement
from app.domain.signals.correction import correction
from app.domain.signals.duplicate import duplicate
from app.domain.signals.exclusive_claim import exclusive_claim
from app.domain.signals.explicit_change import explicit_change
from app.domain.signals.finding import ACT_AT
from app.domain.signals.identity import vetoes
from app.domain.signals.liking import liking
from app.domain.signals.negation import negation
from app.domain.signals.pair import Pair
from app.domain.signals.reading import read
from app.domain.signals.relation import Finding, Judgment, Relation, Statement
from app.domain.signals.retraction import leftover, retraction
from app.domain.signals.single_valued import single_valued
from app.domain.signals.tools import tools
from app.domain.signals.value_conflict import value_conflict
from app.domain.signals.versions import versions

Signal = Callable[[Pair], Iterator[Finding]]

SIGNALS: tuple[Signal, ...] = (
    duplicate,
    retraction,
    explicit_change,
    correction,
    single_valued,
    versions,
    value_conflict,
    antonyms,
    liking,
    tools,
    negation,
    exclusive_claim,
    complement,
)
FLAG_AT = 0.3


def judge(incoming: Statement, candidates: Sequence[Statement]) -> list[Judgment]:
    """One judgment per candidate, in order."""
    pairs = [Pair(read(incoming.text), read(c.text), incoming, c) for c in candidates]
    judged = [_judge(i, pair) for i, pair in enumerate(pairs)]
    return _closest_denials(_closest_retractions(judged, pairs), pairs)


def _judge(place: int, pair: Pair) -> Judgment:
    vetoed = tuple(vetoes(pair))
    if vetoed:
        return Judgment(place, Relation.NONE, 1.0, f"kept apart: {vetoed[0]}", vetoes=vetoed, akin=pair.akin)
    if pair.new.asks or pair.old.asks:
        return Judgment(place, Relation.NONE, 1.0, "a question states nothing")
    findings = _overruled(tuple(f for signal in SIGNALS for f in signal(pair)))
    if not findings:
        return Judgment(place, _without_reason(pair), 0.5, "no reason to change anything")
    return _weigh(place, pair, findings)


def _overruled(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The same words change nothing; what does not change in the world is flagged, whatever else speaks for a change."""
    ruling = tuple(f for f in findings if f.name in ("same_text", "fixed_attribute"))
    return ruling or findings


def _without_reason(pair: Pair) -> Relation:
    return Relation.OVERLAP if pair.shared else Relation.NONE


def _weigh(place: int, pair: Pair, findings: tuple[Finding, ...]) -> Judgment:
    best = max(findings, key=lambda f: f.confidence)
    support = temporal.supports(pair) if best.relation.retires else ""
    reasoning = f"{best.name}: {best.explanation}" + (f" ({support})" if support else "")
    if best.confidence < FLAG_AT:
        return Judgment(place, Relation.OVERLAP, 0.5, f"no reason to change anything; {reasoning} proves too little", findings)
    is_sacred = pair.stored.kind == "constraint" and best.relation.retires
    if best.confidence >= ACT_AT and not is_sacred:
        return Judgment(place, best.relation, best.confidence, reasoning, findings)
    return Judgment(place, best.relation, best.confidence, reasoning, findings, flag=True)


def _closest_retractions(judged: list[Judgment], pairs: Sequence[Pair]) -> list[Judgment]:
    """A retraction ends what it matches most closely; what it matches less closely stays."""
    hit = [j.candidate for j in judged if j.findings and j.reasoning.startswith("retraction")]
    if len(hit) < 2:
        return judged
    nearest = min(leftover(pairs[i]) for i in hit)
    return [_spare(j) if j.candidate in hit and leftover(pairs[j.candidate]) > nearest else j for j in judged]


def _closest_denials(judged: list[Judgment], pairs: Sequence[Pair]) -> list[Judgment]:
    """Where both a fact and a special case of it are denied, the fact is meant."""
    hit = [j.candidate for j in judged if j.reasoning.startswith("negation")]

    def is_special(place: int) -> bool:
        return any(pairs[other].old.items < pairs[place].old.items for other in hit)

    return [_spare(j) if j.candidate in hit and is_special(j.candidate) else j for j in judged]


def _spare(judgment: Judgment) -> Judgment:
    closer = "another candidate is closer to what is denied"
    return Judgment(judgment.candidate, Relation.OVERLAP, 0.5, closer, judgment.findings, vetoes=(closer,))
