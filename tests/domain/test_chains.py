"""Chains settle only what a claim can change, and that is all that the full rule changes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import chains as chains_module
from app.domain.chains import Chains
from app.domain.fact import Fact, StoredFact
from app.domain.timeline import order_versions, settle_chain
from app.domain.version import Version
from app.planning.building_blocks import Placement, build_version
from support.depth import DEEP

T0 = datetime(2026, 1, 1, tzinfo=UTC)
CHAIN = UUID(int=1)


def at(day: int) -> datetime:
    return T0 + timedelta(days=day)


def new_version(number: int, start: int, now: datetime) -> Version:
    fact = StoredFact.from_fact(Fact(f"Version {number}", key="level", value=str(number)))
    return build_version(fact, Placement(UUID(int=number), CHAIN, at(start), now))


DAYS = st.integers(0, 6)
ENDS = st.none() | DAYS
CLAIMS = st.one_of(
    st.fixed_dictionaries({"valid_from": DAYS}),
    st.fixed_dictionaries({"said_until": ENDS}),
    st.fixed_dictionaries({"retracted_at": ENDS}),
    st.fixed_dictionaries({"void": st.booleans()}),
    st.fixed_dictionaries({"temporary": st.booleans()}),
)
# Each operation asserts something about a few versions. A number not seen before is a new version.
OPERATIONS = st.lists(
    st.dictionaries(st.integers(1, 8), st.tuples(DAYS, CLAIMS), min_size=1, max_size=3),
    max_size=12,
)


def claim_on(version: Version, claim: dict[str, Any], now: datetime) -> Version:
    values = {k: v if isinstance(v, bool | None) else at(v) for k, v in claim.items()}
    if "valid_from" in values:
        values["asserted_at"] = now + timedelta(microseconds=version.id.int)
    return version.replace_claims(**values)


@settings(max_examples=600 if DEEP else 200, deadline=None, derandomize=True)
@given(OPERATIONS)
def test_settling_around_the_claims_is_settling_the_chain(
    operations: list[dict[int, tuple[int, dict[str, Any]]]],
) -> None:
    chains = Chains()
    for second, operation in enumerate(operations):
        now = at(100) + timedelta(seconds=second)
        claims: dict[UUID, Version] = {}
        for number, (start, claim) in operation.items():
            known = chains.has_version(UUID(int=number))
            asserted = now + timedelta(microseconds=number)
            version = (
                chains.get_version(UUID(int=number))
                if known
                else new_version(number, start, asserted)
            )
            claims[version.id] = claim_on(version, claim, now) if known else version
        stored = {version.id: version for version in chains.find_chain(CHAIN)}
        full = {v.id: v for v in settle_chain((stored | claims).values(), now)}
        chains.absorb_versions(chains.settle_claims(CHAIN, claims.values(), now))
        assert {v.id: v for v in chains.find_chain(CHAIN)} == full
        assert_lookups_agree(chains)


def assert_lookups_agree(chains: Chains) -> None:
    chain = chains.find_chain(CHAIN)
    for day in range(-1, 8):
        holding = [version for version in chain if version.belief.holds_at(at(day))]
        assert [chains.find_holding(CHAIN, at(day))] == (holding or [None])
        later = [v for v in order_versions(chain) if v.belief.valid_from > at(day)]
        assert chains.find_next_after(CHAIN, at(day)) == (later[0] if later else None)
        lasting = [version for version in later if not version.belief.temporary]
        assert chains.find_next_lasting(CHAIN, at(day)) == (lasting[0] if lasting else None)
        if holding:
            assert_resume_in_turn(chain, [*holding, *chains.find_resuming(*holding, at(day))], day)


def assert_resume_in_turn(chain: Sequence[Version], standing: Sequence[Version], day: int) -> None:
    """Each of them holds once those before it have ended, and then nothing does."""
    line = {version.id: version for version in chain}
    for version in (*standing, None):
        settled = settle_chain(line.values(), at(200))
        holding = [v.id for v in settled if v.belief.holds_at(at(day))]
        assert holding == ([version.id] if version else [])
        if version:
            line[version.id] = version.replace_claims(retracted_at=at(day))


@pytest.mark.parametrize("length", [100, 1_000])
def test_a_claim_settles_as_few_versions_in_a_long_chain(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chains = Chains()
    for number in range(1, length + 1):
        chains.absorb_versions(chains.settle_claims(CHAIN, [new_version(number, number, T0)], T0))
    settled: list[UUID] = []
    settle_line = chains_module.settle_line

    def count(line: Sequence[Version], *more: Any) -> list[Version]:
        settled.extend(version.id for version in line)
        return settle_line(line, *more)

    monkeypatch.setattr(chains_module, "settle_line", count)
    chains.settle_claims(CHAIN, [new_version(length + 1, length // 2, T0)], T0)
    assert len(settled) == 2
