from datetime import timedelta
from uuid import UUID

from domain.test_sweeping import KNOWN, POLICY, day, stored

from app.domain.fact import Fact, Kind
from app.domain.relation import Judge, Judgment, Relation
from app.planning.plan import IncomingFact
from app.planning.store import plan_store
from app.planning.sweeps import plan_sweep, select_comparison_chains


def test_a_sweep_does_not_end_the_constraint_that_it_looks_at():
    chain = [
        Fact("Uses Vim", key="it", value="vim", valid_from=day(0)),
        Fact("Uses Emacs", key="it", value="emacs", valid_from=day(9)),
    ]
    picture, _kept = stored(chain, classify=True)
    rule = Fact("Never Vim", kind=Kind.CONSTRAINT, trust=90, valid_from=day(5))
    plan = plan_store(
        IncomingFact(rule, UUID(int=9), classify=False),
        picture,
        POLICY,
        now=KNOWN + timedelta(hours=1),
    )
    picture.absorb_versions(plan.versions)
    memory = picture.get_version(UUID(int=9))
    said = Judgment(UUID(int=1), Relation.CONTRADICTION, 0.95, "x", Judge.SIGNALS)
    others = select_comparison_chains(memory, rule, picture, ())
    plan = plan_sweep(
        IncomingFact(rule, memory.id, (said,)),
        picture,
        others,
        POLICY,
        now=KNOWN + timedelta(days=1),
        proposes=False,
    )
    if plan:
        picture.absorb_versions(plan.versions)
    after = picture.get_version(UUID(int=9)).belief
    assert after.valid_until is None, (
        plan.operation,
        plan.superseded,
        after.valid_until,
        after.superseded_by,
    )
