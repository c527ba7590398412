"""The cascade of judges: signals and the local judge, then the model where one is set.

Nothing is locked while it runs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.classification.local.judge import LocalJudge
from app.classification.local_judges import LocalJudges, states_nothing
from app.classification.model.gate import build_question, find_reason_to_ask
from app.classification.model.hearing import find_lonely_words, hear_model
from app.classification.model.judge import ModelJudge, ModelVerdict
from app.classification.model.question import Question
from app.classification.model.trust import Trust
from app.classification.verdict import Candidate, LocalVerdict, Verdict
from app.domain.fact import Fact
from app.domain.language import is_english
from app.domain.relation import Classify
from app.remote.budget import Payer

# Facts of one batch that the model is asked about in one call.
MOST_ASKED_AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact with its candidates as the local judges read them, and what the model is to be asked.

    Without a question, the local verdict is the verdict.
    """

    fact: Fact
    candidates: Sequence[Candidate]
    local: LocalVerdict
    question: Question | None = None


class Cascade:
    """Judges facts against candidates.

    Where a model is set, it is asked what the local judges see a reason for, and neither ends alone
    what the other surely keeps. A repetition needs both: a fact that the model alone calls one
    would be found by no search.
    """

    def __init__(self, local: LocalJudge | None, model: ModelJudge | None) -> None:
        self._local = LocalJudges(local)
        self._model = model
        self._trust = Trust()

    def may_ask_model(self, tier: Classify) -> bool:
        """Return True if a model is set, and asked in this tier where there is a reason to."""
        return tier.asks_model and self._model is not None

    async def read(self, fact: Fact, candidates: Sequence[Candidate], tier: Classify) -> ReadFact:
        """Let the local judges read a fact that neither its slot nor an equal text decides.

        The likeliest candidates come first.
        """
        local = await self._local.judge(fact, candidates)
        is_read = is_english(fact.content) or self._local.can_read(fact.content)
        if candidates and self._model is None and not is_read:
            local = replace(local, verdict=replace(local.verdict, knows_language=False))
        read = ReadFact(fact, candidates, local)
        if not candidates or states_nothing(fact.content) or not tier.asks_model:
            return read
        if self._model is None:
            # A caller who insists on a model learns that there is none.
            reason = "no model is configured" if tier is Classify.MODEL else None
            return replace(
                read, local=replace(local, verdict=replace(local.verdict, look_again=reason))
            )
        if tier is not Classify.MODEL and not find_reason_to_ask(fact, candidates, local):
            return replace(
                read, local=replace(local, verdict=replace(local.verdict, gate_closed=True))
            )
        return replace(read, question=build_question(fact, candidates, local))

    async def decide(self, payer: Payer, read: Sequence[ReadFact]) -> list[Verdict]:
        """Return the verdicts on facts that were read, in their order.

        The model is asked about several of them in one call.
        """
        verdicts = [each.local.verdict for each in read]
        places = [place for place, each in enumerate(read) if each.question]
        if self._model is None or not places:
            return verdicts
        starts = range(0, len(places), MOST_ASKED_AT_ONCE)
        groups = [places[start : start + MOST_ASKED_AT_ONCE] for start in starts]
        answers = await asyncio.gather(
            *(self._ask(self._model, payer, [read[place] for place in group]) for group in groups)
        )
        for group, answered in zip(groups, answers, strict=True):
            for place, by_model in zip(group, answered, strict=True):
                each = read[place]
                judgments = by_model.judgments
                changed = [j.memory_id for j in judgments if j.relation.effect.changes_stored]
                readings = await self._local.read_more(each.fact, each.local, changed)
                verdicts[place] = hear_model(
                    each.fact, each.candidates, each.local, readings, by_model, self._trust
                )
        return verdicts

    async def _ask(
        self, model: ModelJudge, payer: Payer, read: Sequence[ReadFact]
    ) -> list[ModelVerdict]:
        """Return the model's verdicts. It is asked again about what it alone would change."""
        questions = [each.question for each in read if each.question]
        verdicts = await model.judge(payer, questions)
        doubted = [
            replace(question, again=find_lonely_words(each.local, verdict))
            for question, each, verdict in zip(questions, read, verdicts, strict=True)
        ]
        if not any(question.again for question in doubted):
            return verdicts
        return await model.ask_again(payer, doubted, verdicts)
