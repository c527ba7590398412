"""The budgets for the model: of each agent, of each key, and of all callers together."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from app.domain.agent import AgentId

MINUTE = 60.0
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Payer:
    """The one whose budgets a question to the model is counted in.

    `actor` names the key of the call. All calls without a key and all sweeps share one account.
    """

    agent: AgentId
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Questions within 60 seconds and tokens within a UTC day; None = no limit."""

    calls_per_minute: int | None = None
    tokens_per_day: int | None = None


@dataclass(slots=True)
class _Account:
    """The questions of the last minute, and the tokens of one day."""

    question_times: deque[float] = field(default_factory=deque)
    day: int = 0
    tokens: int = 0


class _Accounts:
    """Accounts with the same limits. `owner` names the owner of one in a sentence.

    At most `remembered` accounts are kept; then the one that asked longest ago is dropped.
    """

    def __init__(
        self, owner: str, limits: Limits, *, remembered: int, clock: Callable[[], float]
    ) -> None:
        self._owner = owner
        self._limits = limits
        self._remembered = remembered
        self._clock = clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def find_exceeded_limit(self, name: str) -> str | None:
        account = self._refresh_account(name)
        calls, tokens = self._limits.calls_per_minute, self._limits.tokens_per_day
        if calls is not None and len(account.question_times) >= calls:
            return f"{self._owner} budget of {calls} questions to the model per minute is used up."
        if tokens is not None and account.tokens >= tokens:
            return f"{self._owner} budget of {tokens} model tokens per day is used up."
        return None

    def count_question(self, name: str) -> None:
        if self._limits.calls_per_minute is not None:
            self._refresh_account(name).question_times.append(self._clock())

    def count_tokens(self, name: str, tokens: int) -> None:
        self._refresh_account(name).tokens += max(0, tokens)

    def _refresh_account(self, name: str) -> _Account:
        """Return the account without what has left its windows of time."""
        account = self._accounts.setdefault(name, _Account())
        self._accounts.move_to_end(name)
        if len(self._accounts) > self._remembered:
            self._accounts.popitem(last=False)
        now = self._clock()
        while account.question_times and account.question_times[0] <= now - MINUTE:
            account.question_times.popleft()
        if account.day != now // DAY:
            account.day, account.tokens = int(now // DAY), 0
        return account


class Budget:
    """Limits the questions of each agent, of each key whatever agents it names, and of all.

    Each process grants budgets of its own. `remembered` bounds the agents and the keys that are
    kept in memory. `clock` returns Unix seconds.
    """

    def __init__(
        self,
        *,
        agent: Limits | None = None,
        key: Limits | None = None,
        total: Limits | None = None,
        remembered: int = 10_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        def open_accounts(owner: str, limits: Limits | None) -> _Accounts:
            return _Accounts(owner, limits or Limits(), remembered=remembered, clock=clock)

        self._agents = open_accounts("The agent's", agent)
        self._keys = open_accounts("The key's", key)
        self._total = open_accounts("The whole", total)

    def find_exceeded_limit(self, payer: Payer) -> str | None:
        """Return a sentence about the limit that is reached; None if the payer may ask now."""
        for accounts, name in self._list_accounts(payer):
            if exceeded := accounts.find_exceeded_limit(name):
                return exceeded
        return None

    def count_question(self, payer: Payer) -> None:
        """Count a question. Call this first, so that concurrent questions see the limit reached."""
        for accounts, name in self._list_accounts(payer):
            accounts.count_question(name)

    def count_tokens(self, payer: Payer, tokens: int) -> None:
        """Count the tokens of an answer. Questions under way may go past the limit."""
        for accounts, name in self._list_accounts(payer):
            accounts.count_tokens(name, tokens)

    def _list_accounts(self, payer: Payer) -> list[tuple[_Accounts, str]]:
        return [
            (self._agents, payer.agent),
            (self._keys, payer.actor or ""),
            (self._total, ""),
        ]
