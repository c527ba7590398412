"""What an agent may spend on the model."""

from app.classification.model.budget import Budget
from app.domain.agent import AgentId

ANA, BEN = AgentId("ana"), AgentId("ben")
NOON = 1_767_268_800.0  # 1 January 2026


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def may_ask(budget: Budget, agent: AgentId) -> bool:
    return budget.find_exceeded_limit(agent) is None


def ask(budget: Budget, agent: AgentId, times: int) -> int:
    """How many of so many questions are allowed; those are asked."""
    asked = 0
    for _ in range(times):
        if may_ask(budget, agent):
            budget.count_question(agent)
            asked += 1
    return asked


def test_questions_are_limited_within_any_sixty_seconds() -> None:
    clock = Clock()
    budget = Budget(calls_per_minute=3, clock=clock)
    assert ask(budget, ANA, 2) == 2
    clock.now += 30
    assert ask(budget, ANA, 5) == 1
    assert (
        budget.find_exceeded_limit(ANA)
        == "The agent's budget of 3 questions to the model per minute is used up."
    )
    clock.now += 29.9
    assert ask(budget, ANA, 5) == 0
    clock.now += 0.1
    assert ask(budget, ANA, 5) == 2


def test_tokens_are_limited_within_a_day_and_begin_again_at_midnight() -> None:
    clock = Clock()
    budget = Budget(tokens_per_day=1000, clock=clock)
    budget.count_tokens(ANA, 999)
    assert may_ask(budget, ANA)
    budget.count_tokens(ANA, 500)
    assert (
        budget.find_exceeded_limit(ANA)
        == "The agent's budget of 1000 model tokens per day is used up."
    )
    clock.now += 12 * 3600 - 1
    assert not may_ask(budget, ANA)
    clock.now += 1
    assert may_ask(budget, ANA)


def test_one_agent_does_not_spend_what_is_anothers() -> None:
    budget = Budget(calls_per_minute=1, tokens_per_day=10, clock=Clock())
    budget.count_question(ANA)
    budget.count_tokens(ANA, 10)
    assert not may_ask(budget, ANA)
    assert may_ask(budget, BEN)


def test_asking_whether_one_may_spends_nothing() -> None:
    budget = Budget(calls_per_minute=1, clock=Clock())
    assert all(may_ask(budget, ANA) for _ in range(5))


def test_none_is_no_limit_and_nought_allows_nothing() -> None:
    free = Budget(calls_per_minute=None, tokens_per_day=None, clock=Clock())
    free.count_tokens(ANA, 10**12)
    assert ask(free, ANA, 1000) == 1000
    assert not may_ask(Budget(calls_per_minute=0, clock=Clock()), ANA)
    assert not may_ask(Budget(tokens_per_day=0, clock=Clock()), ANA)


def test_tokens_are_never_given_back() -> None:
    budget = Budget(tokens_per_day=10, clock=Clock())
    budget.count_tokens(ANA, 10)
    budget.count_tokens(ANA, -10)
    assert not may_ask(budget, ANA)


def test_so_many_agents_are_remembered_and_the_one_unheard_longest_is_forgotten() -> None:
    budget = Budget(calls_per_minute=1, agents=2, clock=Clock())
    budget.count_question(ANA)
    budget.count_question(BEN)
    assert not may_ask(budget, ANA)
    budget.count_question(AgentId("cleo"))
    assert not may_ask(budget, ANA)
    assert may_ask(budget, BEN)
