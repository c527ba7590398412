"""What an agent, a key and all together may spend on the model."""

from app.domain.agent import AgentId
from app.remote.budget import Budget, Limits, Payer

ANA, BEN = Payer(AgentId("ana")), Payer(AgentId("ben"))
NOON = 1_767_268_800.0  # 1 January 2026


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def may_ask(budget: Budget, payer: Payer) -> bool:
    return budget.find_exceeded_limit(payer) is None


def ask(budget: Budget, payer: Payer, times: int) -> int:
    """How many of so many questions are allowed; those are asked."""
    asked = 0
    for _ in range(times):
        if may_ask(budget, payer):
            budget.count_question(payer)
            asked += 1
    return asked


def test_questions_are_limited_within_any_sixty_seconds() -> None:
    clock = Clock()
    budget = Budget(agent=Limits(calls_per_minute=3), clock=clock)
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
    budget = Budget(agent=Limits(tokens_per_day=1000), clock=clock)
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
    budget = Budget(agent=Limits(1, 10), clock=Clock())
    budget.count_question(ANA)
    budget.count_tokens(ANA, 10)
    assert not may_ask(budget, ANA)
    assert may_ask(budget, BEN)


def test_asking_whether_one_may_spends_nothing() -> None:
    budget = Budget(agent=Limits(calls_per_minute=1), clock=Clock())
    assert all(may_ask(budget, ANA) for _ in range(5))


def test_none_is_no_limit_and_nought_allows_nothing() -> None:
    free = Budget(clock=Clock())
    free.count_tokens(ANA, 10**12)
    assert ask(free, ANA, 1000) == 1000
    assert not may_ask(Budget(agent=Limits(calls_per_minute=0), clock=Clock()), ANA)
    assert not may_ask(Budget(agent=Limits(tokens_per_day=0), clock=Clock()), ANA)


def test_tokens_are_never_given_back() -> None:
    budget = Budget(agent=Limits(tokens_per_day=10), clock=Clock())
    budget.count_tokens(ANA, 10)
    budget.count_tokens(ANA, -10)
    assert not may_ask(budget, ANA)


def test_so_many_agents_are_remembered_and_the_one_unheard_longest_is_forgotten() -> None:
    budget = Budget(agent=Limits(calls_per_minute=1), remembered=2, clock=Clock())
    budget.count_question(ANA)
    budget.count_question(BEN)
    assert not may_ask(budget, ANA)
    budget.count_question(Payer(AgentId("cleo")))
    assert not may_ask(budget, ANA)
    assert may_ask(budget, BEN)


def test_a_key_spends_one_budget_whatever_agents_it_names() -> None:
    budget = Budget(agent=Limits(calls_per_minute=2), key=Limits(3, 10), clock=Clock())
    agents = [Payer(AgentId(f"agent-{number}"), "key:a") for number in range(10)]
    assert sum(ask(budget, payer, 5) for payer in agents) == 3
    assert (
        budget.find_exceeded_limit(agents[9])
        == "The key's budget of 3 questions to the model per minute is used up."
    )
    other = Payer(AgentId("agent-9"), "key:b")
    assert ask(budget, other, 5) == 2
    budget.count_tokens(other, 10)
    assert not may_ask(budget, Payer(AgentId("agent-8"), "key:b"))


def test_all_keys_together_spend_no_more_than_the_whole() -> None:
    clock = Clock()
    budget = Budget(total=Limits(4, 100), clock=clock)
    payers = [Payer(AgentId(f"agent-{number}"), f"key:{number}") for number in range(10)]
    assert sum(ask(budget, payer, 1) for payer in payers) == 4
    assert (
        budget.find_exceeded_limit(payers[9])
        == "The whole budget of 4 questions to the model per minute is used up."
    )
    clock.now += 60
    budget.count_tokens(payers[0], 100)
    assert not may_ask(budget, payers[9])


def test_agents_without_number_give_no_key_its_budget_back() -> None:
    budget = Budget(key=Limits(calls_per_minute=1), remembered=2, clock=Clock())
    for number in range(10):
        ask(budget, Payer(AgentId(f"agent-{number}"), "key:a"), 1)
    assert not may_ask(budget, Payer(AgentId("agent-0"), "key:a"))
