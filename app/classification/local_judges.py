"""What signals and the local judge say of a fact beside its candidates, without a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar
from uuid import UUID

from app.classification import signals
from app.classification.lists import is_in_list
from app.classification.local.judge import LocalJudge, ReadCandidate, weigh_readings
from app.classification.local.reading import Reading
from app.classification.merge_text import join_texts
from app.classification.names import RenamedText, rename_alike
from app.classification.signals.endings import find_ending
from app.classification.verdict import Candidate, LocalVerdict, Verdict
from app.classification.wording import spell_alike, write_as_holding
from app.domain.dates.dated_text import Precision
from app.domain.dates.facts import drop_date_words
from app.domain.fact import BaseFact, Fact, Kind, StoredFact, Tier
from app.domain.relation import Judge, Judgment, Relation
from app.domain.text import differ_in_exact_words
from app.domain.version import Memory
from app.turns import read_in_thread

# Characters. A longer text is a document rather than a fact, and reading it would block others.
MAX_READ = 2_000

# How many of the nearest candidates the local judge reads.
NEAREST_READ = 5
# The cosine below which a text hardly ever concerns another, and is not read beside it. Candidates
# of the same slot or category that were not ranked by their vectors count as just near.
REACH = 0.12

AnyFact = TypeVar("AnyFact", Fact, StoredFact)


class LocalJudges:
    """The signals and, if its network is shipped, the local judge."""

    def __init__(self, judge: LocalJudge | None) -> None:
        self._judge = judge

    def can_read(self, text: str) -> bool:
        return self._judge is not None and self._judge.can_read(text)

    async def judge(self, fact: Fact, candidates: Sequence[Candidate]) -> LocalVerdict:
        """Return what signals and the local judge say.

        If a dated fact would end nothing, they read it and the candidates once more as their words
        would tell them while they hold: "My boss is Ben until Friday" is another boss.
        """
        whole = await self._judge_words(fact, candidates)
        present = _write_as_holding(fact)
        if present.content == fact.content or whole.ends_something:
            return whole
        present_candidates = [
            replace(each, memory=replace(each.memory, fact=_write_as_holding(each.memory.fact)))
            for each in candidates
        ]
        # A stated end that is a time of the day makes no stay.
        lasts_for_days = fact.valid_until is not None and (
            fact.dated_by is None or fact.dated_by.precision is not Precision.INSTANT
        )
        holding = await self._judge_words(present, present_candidates, is_temporary=lasts_for_days)
        return _join_readings(whole, holding, fact, candidates)

    async def read_more(
        self, fact: Fact, local: LocalVerdict, memory_ids: Iterable[UUID]
    ) -> dict[UUID, Reading]:
        """Return all readings of the verdict, and those of these memories, if they can be read."""
        unread = [each for each in memory_ids if each in local.texts and each not in local.readings]
        if self._judge is None or not unread or not self._judge.can_read(fact.content):
            return dict(local.readings)
        texts = [local.texts[memory_id].text for memory_id in unread]
        readings = await self._judge.read(fact.content, texts)
        return dict(local.readings) | dict(zip(unread, readings, strict=True))

    async def _judge_words(
        self,
        fact: Fact,
        candidates: Sequence[Candidate],
        *,
        is_temporary: bool = False,
    ) -> LocalVerdict:
        """Return what signals and the local judge say of the words as they are.

        `is_temporary` says that the fact has a stated end, which its words do not name.
        """
        memories = [candidate.memory for candidate in candidates]
        verdict, texts = await read_in_thread(
            partial(_judge_by_signals, fact, memories, is_temporary=is_temporary),
            (fact.content, *(memory.fact.content for memory in memories)),
        )
        if states_nothing(fact.content):
            return LocalVerdict(verdict, texts)
        verdict, readings = await self._read_candidates(fact, candidates, verdict, texts)
        judgments = [
            _drop_false_repetition(each, fact.content, texts[each.memory_id])
            for each in verdict.judgments
        ]
        verdict = replace(verdict, judgments=tuple(judgments))
        return LocalVerdict(verdict, texts, readings, can_read=self.can_read(fact.content))

    async def _read_candidates(
        self,
        fact: Fact,
        candidates: Sequence[Candidate],
        verdict: Verdict,
        texts: Mapping[UUID, RenamedText],
    ) -> tuple[Verdict, dict[UUID, Reading]]:
        """Let the local judge read the likeliest candidates, and those that signals change."""
        if self._judge is None or not self._judge.can_read(fact.content):
            return verdict, {}
        judgments = {judgment.memory_id: judgment for judgment in verdict.judgments}
        stored = {memory_id: text.text for memory_id, text in texts.items()}
        read = []
        for each in candidates:
            memory_id, key = each.memory.id, each.memory.fact.slot.key
            # No reading outranks that callers gave both facts a key, and not the same.
            has_both = fact.key is not None and each.memory.fact.key is not None
            if memory_id not in judgments or (has_both and fact.slot.key != key):
                continue
            others = (text for other, text in stored.items() if other != memory_id)
            candidate = ReadCandidate(
                text=stored[memory_id],
                judgment=judgments[memory_id],
                similarity=each.similarity,
                is_decision_of_category=is_another_decision(fact, each.memory.fact),
                is_in_list=is_in_list(fact.content, stored[memory_id], others),
            )
            read.append(candidate)
        worth = [read[place] for place in find_worth_reading(fact.content, read)]
        readings = await self._judge.read(fact.content, [each.text for each in worth])
        weighed = weigh_readings(
            fact.content,
            worth,
            readings,
            dated_by=fact.dated_by,
            has_end=fact.valid_until is not None,
        )
        judgments |= {judgment.memory_id: judgment for judgment in weighed}
        by_id = {
            each.judgment.memory_id: reading for each, reading in zip(worth, readings, strict=True)
        }
        return replace(verdict, judgments=tuple(judgments.values())), by_id


def states_nothing(text: str) -> bool:
    """Return True for a question or quoted speech: it ends nothing, and nothing ends it."""
    return len(text) <= MAX_READ and signals.find_speech(text) is not None


def is_another_decision(fact: Fact, stored: StoredFact) -> bool:
    are_decisions = fact.kind is Kind.DECISION and stored.kind is Kind.DECISION
    is_in_category = bool(fact.slot.category) and fact.slot.category == stored.slot.category
    return are_decisions and is_in_category


def find_worth_reading(incoming: str, candidates: Sequence[ReadCandidate]) -> list[int]:
    """Return the places of the stored texts that the local judge reads beside the incoming one.

    They are the nearest ones within reach, and those that signals would change.
    """
    if states_nothing(incoming):
        return []
    nearness = [REACH if each.similarity is None else each.similarity for each in candidates]
    near = [place for place in range(len(candidates)) if nearness[place] >= REACH]
    nearest = set(sorted(near, key=lambda place: -nearness[place])[:NEAREST_READ])
    places = []
    for place, candidate in enumerate(candidates):
        is_likely = place in nearest or candidate.judgment.relation.effect.changes_stored
        if is_likely and not states_nothing(candidate.text):
            places.append(place)
    return places


def should_consider(
    memory: Memory, similarity: float | None, *, min_importance: float, similarity_floor: float
) -> bool:
    """Return True if a candidate is important enough, or core, and near enough (reference 002).

    A candidate without a similarity was not ranked by its vector and counts as near.
    """
    is_important = memory.belief.tier is Tier.CORE or memory.fact.importance >= min_importance
    is_near = similarity is None or similarity >= similarity_floor
    return is_important and is_near


def _judge_by_signals(
    fact: Fact, memories: Sequence[Memory], *, is_temporary: bool
) -> tuple[Verdict, dict[UUID, RenamedText]]:
    """Judge the candidates that are short enough, if the fact itself is. Return their texts too."""
    if len(fact.content) > MAX_READ:
        return Verdict(), {}
    read = [memory for memory in memories if len(memory.fact.content) <= MAX_READ]
    # The texts with the names and the spelling that the fact uses.
    spelled = [spell_alike(fact.content, memory.fact.content) for memory in read]
    renamed = rename_alike(fact.content, spelled)
    texts = {memory.id: text for memory, text in zip(read, renamed, strict=True)}
    statements = [_build_statement(memory.fact, texts[memory.id].text) for memory in read]
    judgments = []
    incoming = replace(_build_statement(fact, fact.content), is_temporary=is_temporary)
    for judgment in signals.judge_candidates(incoming, statements):
        judgments.append(_judgment_from_signal(judgment, read[judgment.candidate], fact))
    # "Until the end of May" ends nothing that is stored.
    retracts = find_ending(fact.content, fact.dated_by) and find_ending(
        drop_date_words(fact.content), None
    )
    return Verdict(judgments=tuple(judgments), retracts=bool(retracts)), texts


def _drop_false_repetition(judgment: Judgment, incoming: str, stored: RenamedText) -> Judgment:
    """Return a mere overlap in place of a repetition of a text that says less."""
    if judgment.relation is not Relation.DUPLICATE:
        return judgment
    reasoning = find_other_words(incoming, stored)
    if reasoning is None:
        return judgment
    return replace(
        judgment,
        relation=Relation.OVERLAP,
        reasoning=f"{reasoning}; else {judgment.reasoning}",
        flag=False,
    )


def find_other_words(incoming: str, stored: RenamedText) -> str | None:
    """Return why the incoming text is no repetition, although a judge may read it as one.

    "My sister Nora lives in Bonn" says more than "Nora lives in Bonn". And the network reads
    neither case nor most marks.
    """
    if stored.adds_description:
        return "it says who or what is meant"
    if differ_in_exact_words(stored.text, incoming):
        return "a word is written otherwise, which may matter"
    return None


def _build_statement(fact: BaseFact, text: str) -> signals.Statement:
    # "user" is the default, so that it does not tell whether the caller named an entity.
    entity = None if fact.entity == "user" else fact.entity
    kind = fact.kind or Kind.FACT
    return signals.Statement(
        text=text,
        at=fact.valid_from,
        entity=entity,
        key=fact.key,
        kind=kind.value,
        dated_by=fact.dated_by if text == fact.content else None,
    )


def _write_as_holding(fact: AnyFact) -> AnyFact:
    return replace(fact, content=write_as_holding(fact), dated_by=None)


def _join_readings(
    whole: LocalVerdict, holding: LocalVerdict, fact: Fact, candidates: Sequence[Candidate]
) -> LocalVerdict:
    """Return the whole verdict, with the endings of the fact as told while it holds."""
    memories = {candidate.memory.id: candidate.memory for candidate in candidates}
    joined = {judgment.memory_id: judgment for judgment in whole.verdict.judgments}
    for judgment in holding.verdict.judgments:
        if _is_plain_ending(judgment, fact, memories[judgment.memory_id]):
            joined[judgment.memory_id] = judgment
    if tuple(joined.values()) == whole.verdict.judgments:
        return whole
    return replace(holding, verdict=replace(holding.verdict, judgments=tuple(joined.values())))


def _is_plain_ending(judgment: Judgment, fact: Fact, memory: Memory) -> bool:
    """Return True if the fact as told while it holds ends the memory, whose place in time is known.

    "I moved to London in 2010" may be told of the time before "I live in Leeds", which nobody
    dated. Without its date it reads as a move of today.
    """
    if judgment.relation is Relation.RETRACTION:
        return not judgment.flag
    if not judgment.relation.effect.ends_stored:
        return False
    if fact.valid_until is not None:
        return not judgment.flag or fact.valid_until <= memory.told_at
    is_undated = memory.stated_start is None
    return not (is_undated and fact.valid_from and fact.valid_from < memory.told_at)


def _judgment_from_signal(judgment: signals.SignalJudgment, memory: Memory, fact: Fact) -> Judgment:
    new_text = None
    if judgment.relation is Relation.COMPLEMENT:
        # The text under its new name and the fact, if the fact gives another name.
        renamed = signals.rename_text(memory.fact.content, fact.content)
        new_text = renamed and join_texts(renamed, fact.content)
    return Judgment(
        memory_id=memory.id,
        relation=judgment.relation,
        confidence=judgment.confidence,
        reasoning=judgment.reasoning,
        decided_by=Judge.SIGNALS,
        findings=judgment.findings,
        vetoes=judgment.vetoes,
        flag=judgment.flag,
        akin=judgment.akin,
        new_text=new_text,
    )
