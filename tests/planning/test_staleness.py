"""What an operation ends, and which links can be made, as tables of cases."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.chains import Chains
from app.domain.errors import InvalidFact, PalimpsestError, UnknownMemory, Withdrawn
from app.domain.fact import StoredFact
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.relationship import BINDING, LinkType, Relationship
from app.domain.version import Belief, StalenessCause, Status
from app.planning.building_blocks import Placement, build_version
from app.planning.explicit import plan_relationship
from app.planning.plan import Plan, VersionChange
from app.planning.staleness import StaleMemory, find_ended_versions

ONE, TWO, THREE = (UUID(int=n) for n in range(1, 4))
NOW = datetime(2026, 5, 4, tzinfo=UTC)
START, YESTERDAY, TOMORROW = (
    NOW - timedelta(days=9),
    NOW - timedelta(days=1),
    NOW + timedelta(days=1),
)


def belief(**claims: Any) -> Belief:
    return Belief(
        **{
            "chain_id": UUID(int=1),
            "valid_from": START,
            "asserted_at": START,
            "known_from": START,
            **claims,
        }
    )


def plan(before: Belief, after: Belief) -> Plan:
    version = build_version(StoredFact("One"), Placement(ONE, ONE, START, START))
    change = VersionChange(
        version.replace_claims(**fields(before)), version.replace_claims(**fields(after))
    )
    return Plan(
        Operation.AMEND, NOW, Decision(Relation.NONE, 1.0, Judge.CALLER, ""), changed=(change,)
    )


def fields(of: Belief) -> dict[str, Any]:
    return {name: getattr(of, name) for name in Belief.__dataclass_fields__}


OPEN, ENDED, LATER = belief(), belief(valid_until=YESTERDAY), belief(valid_until=TOMORROW)
TO_COME = belief(valid_from=TOMORROW)
WITHDRAWN = belief(void=True, valid_until=START)


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        (OPEN, ENDED, True),
        (OPEN, belief(valid_until=NOW), True),
        (OPEN, LATER, False),
        (LATER, ENDED, True),
        (ENDED, belief(valid_until=START), False),
        (ENDED, OPEN, False),
        (OPEN, WITHDRAWN, True),
        (ENDED, WITHDRAWN, True),
        (TO_COME, WITHDRAWN, True),
        (WITHDRAWN, OPEN, False),
        (WITHDRAWN, ENDED, False),
        (TO_COME, OPEN, False),
    ],
)
def test_an_operation_ends_what_stood_and_what_it_withdraws(
    before: Belief, after: Belief, ends: bool
) -> None:
    assert find_ended_versions(plan(before, after)) == ((ONE,) if ends else ())


def test_a_memory_is_stale_because_of_some_or_all_that_ended() -> None:
    because = tuple(StalenessCause(i, LinkType.CAUSES, Status.RETRACTED, NOW) for i in (ONE, TWO))
    assert StaleMemory(THREE, because).narrow_to({TWO}) == StaleMemory(THREE, because[1:])


def build_chains(**claims: Any) -> Chains:
    one = build_version(StoredFact("One"), Placement(ONE, ONE, START, START))
    two = build_version(StoredFact("Two"), Placement(TWO, TWO, START, START))
    return Chains([one.replace_claims(**claims), two])


@pytest.mark.parametrize("kind", LinkType)
@pytest.mark.parametrize("claims", [{}, {"retracted_at": YESTERDAY}])
def test_a_link_is_an_amendment_that_changes_no_version(
    kind: LinkType, claims: dict[str, Any]
) -> None:
    link = Relationship(ONE, TWO, kind)
    planned = plan_relationship(link, build_chains(**claims), now=NOW)
    assert (planned.operation, planned.links, planned.changed, planned.inserted) == (
        Operation.AMEND,
        (link,),
        (),
        (),
    )
    assert (planned.target, planned.touched, planned.superseded) == (ONE, (ONE, TWO), ())


@pytest.mark.parametrize(
    ("link", "claims", "error"),
    [
        (Relationship(TWO, TWO, LinkType.CAUSES), {}, InvalidFact),
        (Relationship(TWO, THREE, LinkType.CAUSES), {}, UnknownMemory),
        (Relationship(THREE, TWO, LinkType.CAUSES), {}, UnknownMemory),
        (Relationship(TWO, ONE, LinkType.CAUSES), {"void": True}, Withdrawn),
        (Relationship(ONE, TWO, LinkType.CAUSES), {"void": True}, Withdrawn),
    ],
)
def test_what_cannot_be_linked_says_why(
    link: Relationship, claims: dict[str, Any], error: type[PalimpsestError]
) -> None:
    with pytest.raises(error):
        plan_relationship(link, build_chains(**claims), now=NOW)


def test_four_types_do_not_bind() -> None:
    assert set(LinkType) - set(BINDING) == {
        LinkType.CONTRADICTS,
        LinkType.SIMILAR,
        LinkType.SUPERSEDES,
        LinkType.RELATED_TO,
    }
