"""The budget of each agent for the model, so that no agent can use up everybody's."""

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
    """Limits each agent to questions within 60 seconds and tokens within a UTC day; None = no
    limit.

    Each process grants a budget of its own. It remembers `agents` accounts at most and then drops
    the one that asked longest ago. `clock` returns Unix seconds.
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

    def find_exceeded_limit(self, agent: AgentId) -> str | None:
        """Return a sentence about the limit that the agent has reached; None if it may ask now."""
        account = self._refresh_account(agent)
        calls, tokens = self._calls_per_minute, self._tokens_per_day
        if calls is not None and len(account.question_times) >= calls:
            return f"The agent's budget of {calls} questions to the model per minute is used up."
        if tokens is not None and account.tokens >= tokens:
            return f"The agent's budget of {tokens} model tokens per day is used up."
        return None

    def count_question(self, agent: AgentId) -> None:
        """Count a question. Call this first, so that concurrent questions see the limit reached."""
        if self._calls_per_minute is not None:
            self._refresh_account(agent).question_times.append(self._clock())

    def count_tokens(self, agent: AgentId, tokens: int) -> None:
        """Count the tokens of an answer. Questions under way may go past the limit."""
        self._refresh_account(agent).tokens += max(0, tokens)

    def _refresh_account(self, agent: AgentId) -> _Account:
        """Return the agent's account without what has left its windows of time."""
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
