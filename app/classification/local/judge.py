"""One decision over a list: what the network reads of each candidate, and what signals say of it.

Signals decide on regular text, such as "Node 20: latest release 20.3". Of everything else the
network decides, which reads all candidates in one pass; other signals only bear it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.classification.local.difference import describe_difference
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.classification.signals.endings import find_ending
from app.classification.signals.finding import DECIDING
from app.domain.corrections import is_correction
from app.domain.dates.dated_text import DatedBy
from app.domain.dates.facts import drop_date_words
from app.domain.language import is_english, is_in_known_script
from app.domain.relation import LOCAL_FINDING, Finding, Judge, Judgment, Opinion, Relation

FINDING = LOCAL_FINDING
# Two decisions of one category may well be about other things if they are less similar.
_ALIKE = 0.3
# Likelier than not.
_LIKELY = 0.5
# Another value of one attribute. It is asked about even if the network reads no change.
_OTHER_VALUE = "changed_attribute"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How surely the network must read something for the local judge to act or ask.

    They are chosen on held-out writers (`make measure-judge` prints the curve). From `act` a fact
    ends, from `ask` it is asked about. From `repeats` the text repeats a fact, from `completes` the
    judge asks whether both are one. What another judge says too need only be likelier than not.
    """

    act: float = 0.96
    ask: float = 0.05
    repeats: float = 0.9
    completes: float = 0.75


@dataclass(frozen=True, slots=True)
class ReadCandidate:
    """The text of a stored fact, and what the signals say of the incoming one beside it.

    `similarity` is the cosine of their vectors; None if the fact was not ranked by its vector.
    `is_decision_of_category` says that both are decisions of one category, `is_in_list` that both
    give a value to one subject in a list (`app/classification/lists.py`).
    """

    text: str
    judgment: Judgment
    similarity: float | None
    is_decision_of_category: bool = False
    is_in_list: bool = False


class LocalJudge:
    """Judges the likeliest candidates of a fact, after the signals.

    The English network reads English beside English, and that of many languages the rest.
    """

    def __init__(self, english: LocalNetwork, many_languages: LocalNetwork | None = None) -> None:
        self._english = english
        self._many_languages = many_languages

    def can_read(self, text: str) -> bool:
        is_other = self._many_languages is not None and is_in_known_script(text)
        return is_other or is_english(text)

    async def read(self, incoming: str, stored: Sequence[str]) -> list[Reading]:
        """Return what a network reads of the incoming text beside each stored one."""
        many = self._many_languages
        if many is None:
            return await _read_with(self._english, incoming, stored)
        texts = list(dict.fromkeys(stored))
        english = list(filter(many.is_english, texts)) if many.is_english(incoming) else []
        others = [text for text in texts if text not in english]
        readings: dict[str, Reading] = {}
        for network, read in ((self._english, english), (many, others)):
            readings |= zip(read, await _read_with(network, incoming, read), strict=True)
        return [readings[text] for text in stored]


async def _read_with(network: LocalNetwork, incoming: str, stored: Sequence[str]) -> list[Reading]:
    readings = await network.read(stored, incoming)
    for place, text in enumerate(stored):
        is_said = readings[place].duplicate >= _LIKELY
        if is_said and not await _repeats(network, text, incoming):
            readings[place] = readings[place].deny_repetition()
    return readings


async def _repeats(network: LocalNetwork, stored: str, incoming: str) -> bool:
    """Return True if both texts say the same the other way round and without dates, too.

    "We spent Easter at my aunt's in Bath" does not say that she lives there. And dates that both
    texts name do not make them one.
    """
    undated = drop_date_words(stored), drop_date_words(incoming)
    for one, other in dict.fromkeys(((stored, incoming), undated)):
        [back] = await network.read([other], one)
        if back.duplicate < _LIKELY:
            return False
    return True


def weigh_readings(
    incoming: str,
    candidates: Sequence[ReadCandidate],
    readings: Sequence[Reading],
    thresholds: Thresholds | None = None,
    *,
    dated_by: DatedBy | None = None,
    has_end: bool = False,
) -> list[Judgment]:
    """Return a judgment on each candidate, from the signals' judgment and the reading of it.

    `dated_by` are the words that date the incoming text. `has_end` is True if that text holds for a
    while only.
    """
    if not candidates:
        return []
    ending = find_ending(incoming, dated_by)
    only_ends = ending is not None and ending.only and ending.trigger == "no longer"
    weighing = _Weighing(
        incoming, candidates, readings, thresholds or Thresholds(), only_ends, has_end
    )
    return weighing.judge()


@dataclass(frozen=True, slots=True)
class _Weighing:
    """The candidates of an incoming text with their readings.

    `only_ends` is True if the text says no more than what is no longer so. `has_end` is True if it
    holds for a while only.
    """

    incoming: str
    candidates: Sequence[ReadCandidate]
    readings: Sequence[Reading]
    thresholds: Thresholds
    only_ends: bool
    has_end: bool

    def judge(self) -> list[Judgment]:
        """Return the final judgment on each candidate."""
        judgments = list(map(self._judge_one, self.candidates, self.readings))
        if any(map(_ends, judgments)):
            judgments = self._keep_likely_questions(judgments)
        elif max(reading.ends for reading in self.readings) < _LIKELY:
            judgments = self._find_repetition() or judgments
        if not any(each.flag or each.relation.effect.changes_stored for each in judgments):
            judgments = self._ask_about_merge(judgments) or self._ask_about_decision(judgments)
        return [
            _note_opinions(candidate.judgment, judgment, reading, self.thresholds)
            for candidate, judgment, reading in zip(
                self.candidates, judgments, self.readings, strict=True
            )
        ]

    def _judge_one(self, candidate: ReadCandidate, reading: Reading) -> Judgment:
        """Return what becomes of one candidate, whatever becomes of the others."""
        signal, thresholds = candidate.judgment, self.thresholds
        if signal.vetoes:
            return signal
        strongest = max(signal.findings, key=lambda finding: finding.confidence, default=None)
        if strongest and strongest.name in DECIDING:
            # "NYC" after "New York City" is the same value, which the network sees.
            may_be_one = max(reading.duplicate, reading.complement) >= _LIKELY
            is_asked = _ends(signal) and may_be_one
            return replace(signal, flag=True, disagree=True) if is_asked else signal
        if signal.relation is Relation.DUPLICATE:
            is_read = reading.duplicate >= _LIKELY
            return signal if is_read else _object(signal, reading.duplicate)
        sees_ending = signal.relation.effect.ends_stored
        if sees_ending and not signal.flag and reading.ends >= _LIKELY:
            return signal
        if reading.ends < thresholds.ask:
            if sees_ending and strongest and strongest.name == _OTHER_VALUE:
                return replace(signal, flag=True, disagree=True)
            return _object(signal, reading.ends) if sees_ending else signal
        relation = self._choose_ending(signal, reading)
        has_reason = (
            candidate.is_in_list
            or signal.relation is Relation.RETRACTION
            or is_correction(self.incoming)
        )
        least = _LIKELY if has_reason else thresholds.act
        own = self._build(candidate, relation, reading.ends, flag=reading.ends < least)
        return replace(own, disagree=sees_ending and own.flag)

    def _choose_ending(self, signal: Judgment, reading: Reading) -> Relation:
        """Return how the stored fact ends.

        A text that holds for a while takes the place of the stored fact meanwhile, so it is no
        retraction unless a signal reads one.
        """
        if self.only_ends:
            return Relation.RETRACTION
        relation = reading.ending_relation
        is_signalled = signal.relation is Relation.RETRACTION
        if relation is Relation.RETRACTION and self.has_end and not is_signalled:
            return Relation.UPDATE
        return relation

    def _keep_likely_questions(self, judgments: Sequence[Judgment]) -> list[Judgment]:
        """Return the judgments without questions about what the text has likely left alone.

        If signals read the text as a mere ending, it has ended what it names, and nothing is asked
        about the rest.
        """
        names_all = self.only_ends or all(
            candidate.judgment.relation is Relation.RETRACTION
            for candidate, judgment in zip(self.candidates, judgments, strict=True)
            if _ends(judgment)
        )
        likely = []
        for candidate, judgment, reading in zip(
            self.candidates, judgments, self.readings, strict=True
        ):
            is_question = judgment.flag and judgment.decided_by is Judge.LOCAL
            is_unlikely = is_question and (names_all or reading.ends < _LIKELY)
            likely.append(candidate.judgment if is_unlikely else judgment)
        return likely

    def _find_repetition(self) -> list[Judgment] | None:
        """Return the judgments of the signals with the likeliest repetition, if there is one."""
        best = max(range(len(self.readings)), key=lambda place: self.readings[place].duplicate)
        candidate, probability = self.candidates[best], self.readings[best].duplicate
        is_other = candidate.judgment.relation.effect.ends_stored or candidate.judgment.vetoes
        if probability < self.thresholds.repeats or is_other:
            return None
        own = self._build(candidate, Relation.DUPLICATE, probability)
        signals = [each.judgment for each in self.candidates]
        return [*signals[:best], own, *signals[best + 1 :]]

    def _ask_about_merge(self, judgments: list[Judgment]) -> list[Judgment] | None:
        """Return the judgments with a question about the fact that the text completes, if any.

        What bears another number completes nothing.
        """
        places = range(len(self.readings))
        best = max(places, key=lambda place: self.readings[place].complement)
        probability = self.readings[best].complement
        if probability < self.thresholds.completes or self.candidates[best].judgment.vetoes:
            return None
        own = self._build(self.candidates[best], Relation.COMPLEMENT, probability, flag=True)
        return [*judgments[:best], own, *judgments[best + 1 :]]

    def _ask_about_decision(self, judgments: list[Judgment]) -> list[Judgment]:
        """Return the judgments with a question about the nearest decision of the same category.

        Reference 004 asks for it.
        """
        for place, candidate in enumerate(self.candidates):
            if candidate.is_decision_of_category and (candidate.similarity or 0) >= _ALIKE:
                probability = self.readings[place].ends
                own = self._build(candidate, Relation.UPDATE, probability, flag=True)
                return [*judgments[:place], own, *judgments[place + 1 :]]
        return judgments

    def _build(
        self,
        candidate: ReadCandidate,
        relation: Relation,
        confidence: float,
        *,
        flag: bool = False,
    ) -> Judgment:
        """Return the network's own judgment. It names the words that differ."""
        difference = describe_difference(candidate.text, self.incoming)
        finding = Finding(FINDING, relation, confidence, difference)
        return replace(
            candidate.judgment,
            relation=relation,
            confidence=confidence,
            reasoning=f"{FINDING}: {difference}",
            decided_by=Judge.LOCAL,
            findings=(*candidate.judgment.findings, finding),
            vetoes=(),
            flag=flag,
        )


def _ends(judgment: Judgment) -> bool:
    return judgment.relation.effect.ends_stored and not judgment.flag


def _object(signal: Judgment, agreement: float) -> Judgment:
    """Return a mere overlap in place of what a signal sees and the network does not read."""
    reasoning = f"the local judge objects ({agreement:.2f}) to {signal.reasoning}"
    return replace(
        signal, relation=Relation.OVERLAP, reasoning=reasoning, flag=False, disagree=True
    )


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
