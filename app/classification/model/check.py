"""A check of the model: ten pairs with known answers, asked as the service asks."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from uuid import UUID

from app.classification.model.judge import ModelJudge, ModelUsage, ModelVerdict
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.domain.agent import AgentId
from app.remote.budget import Payer
from app.remote.chat import ChatClient
from app.remote.dialect import Dialect

# The service itself pays. No agent has an empty id.
SERVICE = Payer(AgentId(""))
# A model that finds fewer of the five endings is of no use.
LEAST_FOUND = 3


@dataclass(frozen=True, slots=True)
class KnownPair:
    """A stored text and a later one; `ends` says whether the later one ends the stored one."""

    stored: str
    incoming: str
    ends: bool


_MOVED = "We moved from Leeds to York last month."
_MIGRATED = "The billing service was migrated from MySQL to PostgreSQL."
_ONCE = "I had a cappuccino at the airport this morning."
# Pairs with the same incoming text stand together and are one question.
PAIRS = (
    KnownPair("I live in Leeds.", _MOVED, ends=True),
    KnownPair("My sister lives in Leeds.", _MOVED, ends=False),  # another person
    KnownPair("Our home address is 12 Mill Lane, Leeds.", _MOVED, ends=True),
    KnownPair("I was born in Leeds.", _MOVED, ends=False),  # the past
    KnownPair("Our flat is in Leeds, near the station.", _MOVED, ends=True),
    KnownPair("The billing service stores its data in MySQL.", _MIGRATED, ends=True),
    KnownPair("The inventory service stores its data in MySQL.", _MIGRATED, ends=False),
    KnownPair("New tables of the billing service go into MySQL.", _MIGRATED, ends=True),
    KnownPair("I drink my coffee black.", _ONCE, ends=False),  # a habit, and one occasion
    KnownPair("I usually have breakfast at home.", _ONCE, ends=False),
)


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """A known pair, and whether the model ends its stored text."""

    pair: KnownPair
    is_ended: bool

    @property
    def is_right(self) -> bool:
        return self.is_ended == self.pair.ends


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """The outcome of a check.

    `failure` is the word of a verdict for the trouble that broke the check off, and `detail` a
    sentence about it, which may quote the model's server. `slowest_ms` is the time of the slowest
    question; `usage` is the cost of all.
    """

    model: str
    address: str
    prompt_version: str
    dialect: Dialect
    checked_at: datetime
    pairs: tuple[CheckedPair, ...]
    usage: ModelUsage
    slowest_ms: float
    failure: str | None = None
    detail: str | None = None

    @property
    def right(self) -> int:
        return sum(each.is_right for each in self.pairs)

    @property
    def ended_wrongly(self) -> int:
        return sum(each.is_ended and not each.pair.ends for each in self.pairs)

    @property
    def endings_found(self) -> int:
        return sum(each.is_ended and each.pair.ends for each in self.pairs)

    @property
    def is_usable(self) -> bool:
        """Return True if the model answers, ends nothing that holds, and finds most endings."""
        is_good = self.endings_found >= LEAST_FOUND and not self.ended_wrongly
        return self.failure is None and is_good


class ModelChecker:
    """Checks the model, and keeps the latest report.

    A verdict counts as an ending from the confidence `sure` on, as it does for a store.
    """

    def __init__(self, chat: ChatClient, judge: ModelJudge, *, sure: float) -> None:
        self._chat = chat
        self._judge = judge
        self._sure = sure
        self.report: ModelReport | None = None

    @property
    def model(self) -> str:
        return self._chat.model

    async def check(self) -> ModelReport:
        """Ask about the known pairs until a question has no answer. Trouble raises nothing."""
        pairs: list[CheckedPair] = []
        verdicts: list[ModelVerdict] = []
        failure, detail = None, None
        for incoming, group in groupby(PAIRS, key=lambda pair: pair.incoming):
            known = list(group)
            candidates = tuple(
                PromptCandidate(UUID(int=number), PromptStatement(pair.stored))
                for number, pair in enumerate(known, 1)
            )
            question = Question(PromptStatement(incoming), candidates)
            [verdict] = await self._judge.judge(SERVICE, [question])
            verdicts.append(verdict)
            if verdict.failure and not verdict.judgments:
                failure, detail = verdict.failure, verdict.trouble
                break
            ended = {
                each.memory_id
                for each in verdict.judgments
                if each.relation.effect.ends_stored and each.confidence >= self._sure
            }
            for candidate, pair in zip(candidates, known, strict=True):
                pairs.append(CheckedPair(pair, candidate.memory_id in ended))
        self.report = ModelReport(
            model=self._chat.model,
            address=self._chat.address,
            prompt_version=verdicts[0].prompt_version,
            dialect=self._chat.dialect,
            checked_at=datetime.now(UTC),
            pairs=tuple(pairs),
            usage=sum((verdict.usage for verdict in verdicts), ModelUsage()),
            slowest_ms=max(verdict.usage.ms for verdict in verdicts),
            failure=failure,
            detail=detail,
        )
        return self.report
