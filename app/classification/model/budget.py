"""What each agent may spend on the model, so that one cannot use up everybody's."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from app.domain.agent import AgentId

MINUTE = 60.0
DAY = 86_400.0


@dataclass(slots=True)
class _Account:
    """One agent's questions of the last minute, and its tokens of one day."""

    question_times: deque[float] = field(default_factory=deque)
    day: int = 0
    tokens: int = 0


class Budget:
    """Questions within any 60 seconds and tokens within a UTC day, per agent; None = no limit.

    Kept in this process only: each of several processes grants its own. At most `agents` are remembered; beyond, the one
    that asked longest ago starts afresh. `clock` gives Unix seconds.
    """

    def __init__(
        self,
        *,
        calls_per_minute: int | None = 60,
        tokens_per_day: int | None = 1_000_000,
        agents: int = 10_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._calls_per_minute = calls_per_minute
        self._tokens_per_day = tokens_per_day
        self._agents = agents
        self._clock = clock
        self._accounts: OrderedDict[AgentId, _Account] = OrderedDict()

    def may_ask(self, agent: AgentId) -> bool:
        """Whether the agent may ask now."""
        return self.find_exceeded_limit(agent) is None

    def find_exceeded_limit(self, agent: AgentId) -> str | None:
        """Which limit keeps the agent from asking now, as a sentence; None where it may ask."""
        account = self._refresh_account(agent)
        if (
            self._calls_per_minute is not None
            and len(account.question_times) >= self._calls_per_minute
        ):
            return f"The agent's budget of {self._calls_per_minute} questions to the model per minute is used up."
        if self._tokens_per_day is not None and account.tokens >= self._tokens_per_day:
            return f"The agent's budget of {self._tokens_per_day} model tokens per day is used up."
        return None

    def count_question(self, agent: AgentId) -> None:
        """Counts a question, before it is asked: others must not slip past the limit while it is under way."""
        if self._calls_per_minute is not None:
            self._refresh_account(agent).question_times.append(self._clock())

    def count_tokens(self, agent: AgentId, tokens: int) -> None:
        """Counts the tokens of an answer. Questions under way when the limit is reached may go past it."""
        self._refresh_account(agent).tokens += max(0, tokens)

    def _refresh_account(self, agent: AgentId) -> _Account:
        """The agent's account, with what lies outside its windows dropped."""
        account = self._accounts.setdefault(agent, _Account())
        self._accounts.move_to_end(agent)
        if len(self._accounts) > self._agents:
            self._accounts.popitem(last=False)
        now = self._clock()
        while account.question_times and account.question_times[0] <= now - MINUTE:
            account.question_times.popleft()
        if account.day != now // DAY:
            account.day, account.tokens = int(now // DAY), 0
        return account
