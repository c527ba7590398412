"""Planning a store: which rule decides where a fact takes its place.

`tests/support/oracle.py` states the same rules as a program.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import DEFAULT_TRUST, Fact
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Relation
from app.planning.building_blocks import Placement, check_end, choose_start, plan_addition
from app.planning.cases import StoreCase
from app.planning.classified import plan_classified, plan_forgetting
from app.planning.dating import choose_place
from app.planning.plan import IncomingFact, Plan
from app.planning.repetitions import plan_known_duplicate
from app.planning.slots import plan_in_slot


def plan_store(
    incoming: IncomingFact,
    chains: Chains,
    policy: Policy,
    *,
    now: datetime,
) -> Plan:
    """Plan the storing of one fact (DESIGN §2, §3).

    A classified fact whose slot holds one value joins that slot's chain. Otherwise an equal text is
    reinforced or amended. What is left follows the judgments, or is added.

    Raise InvalidFact if the end does not lie after the start.
    """
    fact = incoming.fact
    start = choose_start(fact, now)
    check_end(start, fact.valid_until)
    case = StoreCase(
        incoming=incoming,
        chains=chains,
        policy=policy,
        start=choose_place(start, fact.valid_until),
        now=now,
    )
    has_slot = incoming.classify and fact.one_value
    slot_chains = chains.find_value_chains(fact.slot) if has_slot else ()
    if incoming.forgets:
        plan = plan_forgetting(case)
    elif slot_chains:
        plan = plan_in_slot(case, slot_chains)
    elif known := plan_known_duplicate(case):
        plan = known
    elif incoming.classify and not fact.one_value:
        plan = plan_classified(case)
    else:
        plan = plan_addition(fact, case.place_in_new_chain(), chains)
    return plan.with_incoming(fact, incoming.judgments)


def plan_import(
    fact: Fact,
    chains: Chains,
    *,
    now: datetime,
    new_id: UUID,
    temporary: bool,
) -> Plan:
    """Plan one imported version as it is.

    It is never deduplicated. Versions of one single-valued slot form a chain, but lower trust never
    ends higher: such a version begins a chain of its own. A `temporary` version covers what comes
    before it until its stated end.
    """
    start = choose_start(fact, now)
    check_end(start, fact.valid_until)
    slot_chains = chains.find_value_chains(fact.slot) if fact.one_value else []
    chain_id = _find_chain_to_join(fact, chains, slot_chains, start) or new_id
    reasoning = "Imported as given."
    if slot_chains and chain_id == new_id:
        reasoning = (
            "Imported as given, in a chain of its own: the slot holds a value of higher trust."
        )
    decision = Decision.certain(Relation.NONE, Judge.CALLER, reasoning)
    placement = Placement(new_id, chain_id, start=start, now=now, temporary=temporary)
    return plan_addition(fact, placement, chains).with_incoming(fact).with_decision(decision)


def _find_chain_to_join(
    fact: Fact, chains: Chains, slot_chains: Sequence[UUID], start: datetime
) -> UUID | None:
    """Return the first chain of the slot in which the version would end none of higher trust."""
    trust = DEFAULT_TRUST if fact.trust is None else fact.trust
    for chain_id in slot_chains:
        holding = chains.find_holding(chain_id, start)
        if holding is None or holding.trust <= trust:
            return chain_id
    return None
