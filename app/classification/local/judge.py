"""Two keys: what signals found and what the local judge reads, weighed together.

A signal that would change something needs a judge that does not object. The judge alone needs one
candidate that stands out from the others, and either a reason that a signal found too or a very
high probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.classification.local.difference import describe_difference, differs_in_few_words
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.classification.signals.correction import is_correction
from app.classification.signals.endings import find_ending as find_stated_ending
from app.classification.signals.finding import SEEN_BY_SIGNALS_ALONE
from app.classification.signals.lexicon import CONFIDENCE
from app.classification.signals.named_values import find_only_bearer
from app.classification.signals.reading import parse_text
from app.classification.signals.same_frame import (
    RELIABLE,
    differs_in_value_only,
    has_values_of_one_kind,
)
from app.classification.signals.scope import is_about_another
from app.domain.dates.facts import drop_date_words
from app.domain.relation import LOCAL_FINDING, Finding, Judge, Judgment, Opinion, Relation

FINDING = LOCAL_FINDING
# Two decisions of one category may well be about other things if they are less similar.
_ALIKE = 0.3

@dataclass(frozen=True, slots=True)
class Thresholds:
    """How surely the network must read something for the local judge to act or ask.

    They are chosen on held-out writers. The network is about as often right as it is sure there
    (training/measure.py lists the shares).

    From `act`, the judge ends a fact that stands out by `margin` from the next likeliest one that
    has at least the similarity `near`. From `duplicate`, it takes two texts for the same. If they
    share most words, one of the other words may decide, and it needs `duplicate_alike`. What
    repeats another text must do so from `repeats` the other way round, and without the words of
    dates. From `with_reason`, it accepts what a signal says, ends a fact if the text says of itself
    that it corrects, and takes a fact for a copy of another. From `named`, it ends a fact if the
    text names a value of it that no other fact has.

    A question names every near fact from `ask`, and farther ones from `ask_far`. If one fact is
    plainly repeated or ended, it names only others from `ask_beside`. From `complement`, the judge
    asks whether two facts are one.
    """

    act: float = 0.92
    near: float = 0.35
    with_reason: float = 0.7
    named: float = 0.8
    margin: float = 0.1
    ask: float = 0.15
    ask_far: float = 0.3
    ask_beside: float = 0.7
    complement: float = 0.75
    duplicate: float = 0.8
    duplicate_alike: float = 0.93
    repeats: float = 0.5


@dataclass(frozen=True, slots=True)
class ReadCandidate:
    """The text of a stored fact, and what the signals say of the incoming one beside it.

    `similarity` is the cosine of their vectors; None if the fact was not ranked by its vector.
    `is_in_same_category` says that callers put both in one category, `is_decision_of_category`
    that both are decisions besides.
    """

    text: str
    judgment: Judgment
    similarity: float | None
    is_in_same_category: bool = False
    is_decision_of_category: bool = False


class LocalJudge:
    """Judges the likeliest candidates of a fact, after the signals."""

    def __init__(self, network: LocalNetwork) -> None:
        self._network = network

    async def read(self, incoming: str, stored: Sequence[str]) -> list[Reading]:
        """Return what the network reads of the incoming text beside each stored one."""
        readings = await self._network.read(stored, incoming)
        return [
            await self._check_repetition(reading, text, incoming)
            for reading, text in zip(readings, stored, strict=True)
        ]

    async def judge(
        self, incoming: str, candidates: Sequence[ReadCandidate], readings: Sequence[Reading]
    ) -> list[Judgment]:
        """Return a judgment on each candidate from its reading. Copies of a fact end with it."""
        if not candidates:
            return []
        weighed = _Weighed(incoming, candidates, readings, Thresholds())
        copies = await self._find_copies(weighed)
        return replace(weighed, copies=copies).judge()

    async def _check_repetition(self, reading: Reading, stored: str, incoming: str) -> Reading:
        """Return the reading, or one that denies the repetition that the network reads.

        A repetition is one the other way round too: "We spent Easter at my aunt's in Bath" does not
        say that she lives there. And dates that both texts name do not make them one.
        """
        thresholds = Thresholds()
        if reading.duplicate < thresholds.with_reason:
            return reading
        [back] = await self._network.read([incoming], stored)
        repeats = back.duplicate >= thresholds.repeats
        undated = [drop_date_words(text) for text in (stored, incoming)]
        if repeats and undated != [stored, incoming]:
            one, other = (parse_text(text).items for text in undated)
            repeats = not one.isdisjoint(other)
            repeats = repeats and await self._read_any_repetition(*undated) >= thresholds.repeats
        return reading if repeats else reading.deny_repetition()

    async def _read_any_repetition(self, one: str, other: str) -> float:
        """Return the probability that one of the texts repeats the other."""
        [forth] = await self._network.read([one], other)
        [back] = await self._network.read([other], one)
        return max(forth.duplicate, back.duplicate)

    async def _find_copies(self, weighed: "_Weighed") -> tuple[int, ...]:
        """Return the places of the candidates that say the same as the likeliest one to end.

        Only those are compared with it that are likely to end themselves.
        """
        likeliest, thresholds = weighed.likeliest, weighed.thresholds
        if weighed.readings[likeliest].ends < thresholds.with_reason:
            return ()
        others = [place for place in weighed.list_likely() if place != likeliest]
        stored = [weighed.candidates[place].text for place in others]
        compared = await self._network.read(stored, weighed.candidates[likeliest].text)
        pairs = zip(others, compared, strict=True)
        return tuple(p for p, reading in pairs if reading.duplicate >= thresholds.with_reason)


def weigh_readings(
    incoming: str,
    candidates: Sequence[ReadCandidate],
    readings: Sequence[Reading],
    thresholds: Thresholds | None = None,
    *,
    copies: Sequence[int] = (),
) -> list[Judgment]:
    """Return a judgment on each candidate, from the signals' judgment and the reading of it.

    `copies` are the places of the candidates that say the same as the likeliest one to end.
    """
    thresholds = thresholds or Thresholds()
    return _Weighed(incoming, candidates, readings, thresholds, tuple(copies)).judge()


def _acts(judgment: Judgment) -> bool:
    return judgment.relation.effect.changes_stored and not judgment.flag


def _check_signal(
    incoming: str, candidate: ReadCandidate, reading: Reading, thresholds: Thresholds
) -> Judgment:
    """Return the signals' judgment, with the judge's objection if it does not read the same.

    A reliable signal acts all the same if nothing but the value differs. If the judge sees a chance
    of the ending, or if both values are of one kind, the objection leaves a question.
    """
    judgment = candidate.judgment
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
    judgment = replace(judgment, disagree=True)
    if judgment.relation.effect.ends_stored:
        if _stands_alone(incoming, candidate, reading, thresholds):
            return judgment
        if _is_worth_asking(incoming, candidate, reading, thresholds):
            return replace(judgment, flag=True)
    reasoning = f"the local judge objects ({agreement:.2f}) to {judgment.reasoning}"
    return replace(judgment, relation=Relation.OVERLAP, reasoning=reasoning, flag=False)


def _stands_alone(
    incoming: str, candidate: ReadCandidate, reading: Reading, thresholds: Thresholds
) -> bool:
    """Return True if a reliable signal sees an ending, and nothing but the value differs.

    "NYC" after "New York City" may be the same value, which the judge sees.
    """
    may_repeat = max(reading.duplicate, reading.complement) >= thresholds.ask
    is_reliable = _is_reliable(candidate.judgment) and not may_repeat
    return is_reliable and differs_in_value_only(candidate.text, incoming)


def _is_reliable(judgment: Judgment) -> bool:
    return any(finding.name in RELIABLE for finding in judgment.findings)


def _is_worth_asking(
    incoming: str, candidate: ReadCandidate, reading: Reading, thresholds: Thresholds
) -> bool:
    """Return True if an objection to an ending that a signal sees should be asked about."""
    if max(reading.ends, reading.duplicate) >= thresholds.ask:
        return True
    if candidate.is_in_same_category and differs_in_few_words(candidate.text, incoming):
        return True
    return _is_reliable(candidate.judgment) and has_values_of_one_kind(candidate.text, incoming)


@dataclass(frozen=True, slots=True)
class _OwnFinding:
    """What the judge itself found about the candidate at `place`."""

    place: int
    relation: Relation
    confidence: float
    flag: bool = False


@dataclass(frozen=True)  # without slots, so that what signals and judge agree on is made once
class _Weighed:
    """The candidates of an incoming text with their readings.

    `copies` are the places of the candidates that say the same as the likeliest one to end.
    """

    incoming: str
    candidates: Sequence[ReadCandidate]
    readings: Sequence[Reading]
    thresholds: Thresholds
    copies: tuple[int, ...] = ()

    @cached_property
    def checked(self) -> list[Judgment]:
        """The judgments of the signals, with the objections of the judge."""
        checked = []
        for candidate, reading in zip(self.candidates, self.readings, strict=True):
            checked.append(_check_signal(self.incoming, candidate, reading, self.thresholds))
        return checked

    @cached_property
    def likeliest(self) -> int:
        """The place of the fact that signals end, or else of the likeliest one to end."""
        acting = set(self._list_acting())
        places = range(len(self.readings))
        return max(places, key=lambda place: (place in acting, self.readings[place].ends))

    def list_likely(self) -> list[int]:
        """Return the places of all facts whose ending is likely enough to ask about."""
        likely: list[int] = []
        for place, (candidate, reading) in enumerate(
            zip(self.candidates, self.readings, strict=True)
        ):
            is_near = _is_near(candidate, self.thresholds)
            least = self.thresholds.ask if is_near else self.thresholds.ask_far
            if reading.ends >= least:
                likely.append(place)
        return likely

    def judge(self) -> list[Judgment]:
        """Return the final judgment on each candidate."""
        judgments = list(self.checked)
        for own in self._find_own():
            text = self.candidates[own.place].text
            judgments[own.place] = _build_judgment(judgments[own.place], own, text, self.incoming)
        return [
            _note_opinions(candidate.judgment, judgment, reading, self.thresholds)
            for candidate, judgment, reading in zip(
                self.candidates, judgments, self.readings, strict=True
            )
        ]

    def _find_own(self) -> list[_OwnFinding]:
        """Return what the judge adds to the signals: an ending, a repetition, or questions."""
        if any(_acts(judgment) for judgment in self.checked):
            return self._find_others(self._list_acting())
        if self._is_sure():
            return [self._build_ending(self.likeliest), *self._find_others([self.likeliest])]
        repetition = self._find_duplicate()
        if repetition is not None:
            return [repetition]
        likely = self.list_likely()
        if likely:
            return [self._build_ending(place, flag=True) for place in likely]
        return self._find_merge() or self._find_decision()

    def _find_merge(self) -> list[_OwnFinding]:
        """Return the question about the fact that the text completes, if there is one."""
        readings = self.readings
        best = max(range(len(readings)), key=lambda place: readings[place].complement)
        probability = readings[best].complement
        if probability < self.thresholds.complement:
            return []
        return [_OwnFinding(best, Relation.COMPLEMENT, probability, flag=True)]

    def _find_decision(self) -> list[_OwnFinding]:
        """Return the question about the nearest decision of the same category (reference 004)."""
        for place, candidate in enumerate(self.candidates):
            if candidate.is_decision_of_category and (candidate.similarity or 0) >= _ALIKE:
                return [self._build_ending(place, flag=True)]
        return []

    def _list_acting(self) -> list[int]:
        """Return the places of the facts that signals end."""
        checked = enumerate(self.checked)
        return [p for p, each in checked if _acts(each) and each.relation.effect.ends_stored]

    def _find_others(self, ended: Sequence[int]) -> list[_OwnFinding]:
        """Return the copies of the ended facts, which end too, and what else may have ended.

        What only ends something has ended what it names, and nothing is asked about the rest.
        """
        if not ended:
            return []
        names_all = all(self.checked[place].relation is Relation.RETRACTION for place in ended)
        others: list[_OwnFinding] = []
        for place, reading in enumerate(self.readings):
            if place in ended:
                continue
            if place in self.copies:
                others.append(self._build_ending(place))
            elif reading.ends >= self.thresholds.ask_beside and not names_all:
                others.append(self._build_ending(place, flag=True))
        return others

    def _is_sure(self) -> bool:
        """Return True if the likeliest candidate ends without a question."""
        thresholds, best = self.thresholds, self.likeliest
        probability = self.readings[best].ends
        if probability < thresholds.with_reason:
            return False
        others = [place for place in range(len(self.readings)) if place != best]
        near = [place for place in others if _is_near(self.candidates[place], thresholds)]
        rivals = [self.readings[place].ends for place in near if place not in self.copies]
        stands_out = probability - max(rivals, default=0.0) >= thresholds.margin
        reason = _weigh_reason(self.incoming, self.checked[best])
        least = thresholds.act
        if near and self._names_value_of(best):
            stands_out, least = True, thresholds.named
        if reason:
            least = thresholds.with_reason
        is_sure = stands_out and probability >= least
        return is_sure and not is_about_another(self.candidates[best].text, self.incoming)

    def _names_value_of(self, best: int) -> bool:
        """Return True if the incoming text names a value that this candidate alone has."""
        texts = [candidate.text for candidate in self.candidates]
        return find_only_bearer(texts, self.incoming) == best

    def _build_ending(self, place: int, *, flag: bool = False) -> _OwnFinding:
        reading, judgment = self.readings[place], self.checked[place]
        relation = reading.ending_relation
        stated = find_stated_ending(self.incoming)
        if stated and stated.only and stated.trigger == "no longer":
            relation = Relation.RETRACTION
        elif relation is Relation.RETRACTION and judgment.relation is not Relation.RETRACTION:
            # The incoming text may say more than what ended, and then takes its place.
            relation = Relation.UPDATE
        reason = _weigh_reason(self.incoming, judgment)
        confidence = 1 - (1 - reading.ends) * (1 - reason)
        return _OwnFinding(place, relation, confidence, flag=flag)

    def _find_duplicate(self) -> _OwnFinding | None:
        """Return the likeliest repetition, if there is one. What a signal would end is none.

        Beside a likely ending nothing is a repetition.
        """
        readings, thresholds = self.readings, self.thresholds
        if max(reading.ends for reading in readings) >= thresholds.ask_beside:
            return None
        best = max(range(len(readings)), key=lambda place: readings[place].duplicate)
        candidate, probability = self.candidates[best], readings[best].duplicate
        if probability < thresholds.duplicate:
            return None
        one_word_may_decide = differs_in_few_words(candidate.text, self.incoming)
        least = thresholds.duplicate_alike if one_word_may_decide else thresholds.duplicate
        if probability < least or candidate.judgment.relation.effect.ends_stored:
            return None
        return _OwnFinding(best, Relation.DUPLICATE, probability)


def _note_opinions(
    signal: Judgment, judgment: Judgment, reading: Reading, thresholds: Thresholds
) -> Judgment:
    """Return the judgment with the opinions of the signals and of the network, if they have any."""
    opinions: list[Opinion] = []
    if signal.findings:
        opinion = Opinion(signal.decided_by, signal.relation, signal.confidence, signal.reasoning)
        opinions.append(opinion)
    if signal.findings or 1 - reading.none >= thresholds.ask:
        relation, probability = reading.likeliest
        opinions.append(Opinion(Judge.LOCAL, relation, probability, reading.describe()))
    return replace(judgment, opinions=tuple(opinions)) if opinions else judgment


def _is_near(candidate: ReadCandidate, thresholds: Thresholds) -> bool:
    return candidate.similarity is None or candidate.similarity >= thresholds.near


def _weigh_reason(incoming: str, judgment: Judgment) -> float:
    """Return the confidence of a second reason for an ending, beside the network; 0 without one.

    A signal sees the same ending, or the text says of itself that it corrects ("Actually, …").
    """
    if judgment.relation.effect.ends_stored:
        return judgment.confidence
    return CONFIDENCE["correction"] if is_correction(incoming) else 0.0


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
