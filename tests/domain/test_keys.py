"""The rights of keys, as tables of cases."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.errors import AgentForbidden, AgentNotNamed, ScopeMissing, TrustTooHigh
from app.domain.keys import (
    EVERYTHING,
    ApiKey,
    KeyId,
    PresentedKey,
    Rights,
    Scope,
    hash_secret,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = "5" * 64
READ = frozenset({Scope.READ})


def rights(*agents: str, scopes: frozenset[Scope] = READ, ceiling: int = 100) -> Rights:
    return Rights(scopes=scopes, agents=agents, trust_ceiling=ceiling)


@pytest.mark.parametrize(
    ("allowed", "agent", "is_allowed"),
    [
        ("*", "anybody", True),
        ("*", "*", True),
        ("ann", "ann", True),
        ("ann", "anna", False),
        ("ann", "an", False),
        ("ann", "Ann", False),
        ("acme/*", "acme/ann", True),
        ("acme/*", "acme/ann/2", True),
        ("acme/*", "acme/", False),
        ("acme/*", "acme", False),
        ("acme/*", "acmexann", False),
        ("acme/*", "other/acme/ann", False),
        ("acme/ann", "acme/*", False),
    ],
)
def test_a_key_is_for_the_agents_that_it_names(allowed: str, agent: str, is_allowed: bool) -> None:
    assert rights(allowed).allows_agent(agent) is is_allowed
    assert rights("nobody", allowed).allows_agent(agent) is is_allowed


def test_a_key_for_no_agent_allows_none() -> None:
    assert not rights().allows_agent("default")


@pytest.mark.parametrize(
    ("agents", "named", "chosen"),
    [
        (["ann"], None, "ann"),
        (["ann"], "ann", "ann"),
        (["*"], None, "default"),
        (["*"], "ann", "ann"),
        (["ann", "default"], None, "default"),
        (["acme/*"], "acme/ann", "acme/ann"),
    ],
)
def test_the_agent_of_a_call(agents: list[str], named: str | None, chosen: str) -> None:
    assert rights(*agents).choose_agent(named) == chosen


@pytest.mark.parametrize("agents", [["ann"], ["acme/*"], ["ann", "ben"], []])
def test_a_foreign_agent_is_refused_and_never_replaced(agents: list[str]) -> None:
    with pytest.raises(AgentForbidden):
        rights(*agents).choose_agent("somebody")


@pytest.mark.parametrize("agents", [["acme/*"], ["ann", "ben"], []])
def test_a_call_must_name_one_of_several_agents(agents: list[str]) -> None:
    with pytest.raises(AgentNotNamed):
        rights(*agents).choose_agent(None)


@pytest.mark.parametrize(
    ("ceiling", "stated", "trust"),
    [(100, None, None), (100, 100, 100), (50, None, None), (20, None, 20), (20, 20, 20), (0, 0, 0)],
)
def test_the_trust_of_a_fact(ceiling: int, stated: int | None, trust: int | None) -> None:
    assert rights("*", ceiling=ceiling).limit_trust(stated) == trust


def test_a_stated_trust_above_the_ceiling_is_refused() -> None:
    with pytest.raises(TrustTooHigh, match=r"trust is 21, .* at most 20"):
        rights("*", ceiling=20).limit_trust(21)


def test_no_scope_contains_another() -> None:
    for granted in Scope:
        only = rights("*", scopes=frozenset({granted}))
        for needed in Scope:
            if needed is granted:
                only.require_scope(needed)
            else:
                with pytest.raises(ScopeMissing):
                    only.require_scope(needed)


@pytest.mark.parametrize(
    ("own", "other", "includes"),
    [
        (EVERYTHING, EVERYTHING, True),
        (rights("acme/*"), rights("acme/*"), True),
        (rights("acme/*"), rights("acme/ann", "acme/x/*"), True),
        (rights("acme/*"), rights("acme/ann", "ben"), False),
        (rights("acme/*"), rights("*"), False),
        (rights("acme/x/*"), rights("acme/*"), False),
        (rights("ann"), rights("ann", scopes=frozenset(Scope)), False),
        (rights("ann", scopes=frozenset(Scope)), rights("ann"), True),
        (rights("ann", ceiling=50), rights("ann", ceiling=51), False),
        (rights("ann", ceiling=50), rights("ann", ceiling=50), True),
    ],
)
def test_rights_include_no_more_than_they_allow(own: Rights, other: Rights, includes: bool) -> None:
    assert own.include(other) is includes


def key(**values: object) -> ApiKey:
    usual = {
        "id": KeyId("0123456789abcdef"),
        "secret_hash": hash_secret(SECRET),
        "name": "a key",
        "rights": EVERYTHING,
        "created_at": NOW,
        "created_by": "root",
    }
    return ApiKey(**(usual | values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "is_valid"),
    [
        ({}, True),
        ({"expires_at": NOW + timedelta(seconds=1)}, True),
        ({"expires_at": NOW}, False),
        ({"revoked_at": NOW + timedelta(days=1)}, False),
    ],
)
def test_a_key_ends(values: dict[str, datetime], is_valid: bool) -> None:
    assert key(**values).is_valid(NOW) is is_valid


def test_only_the_whole_secret_is_the_secret() -> None:
    assert key().has_secret(SECRET)
    for wrong in ("", SECRET[:-1], SECRET + "5", "6" * 64):
        assert not key().has_secret(wrong)


def test_a_key_is_read_as_it_is_written() -> None:
    presented = PresentedKey(KeyId("0123456789abcdef"), SECRET)
    assert PresentedKey.parse(presented.format()) == presented


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pal__",
        f"pal_0123456789abcdef_{SECRET[1:]}",
        f"pal_0123456789abcdef_{SECRET}5",
        f"pal_0123456789abcdef_{SECRET}\n",
        f"PAL_0123456789abcdef_{SECRET}",
        f"pal_0123456789ABCDEF_{SECRET}",
        f"pal_0123456789abcde\u0664_{SECRET}",
        f" pal_0123456789abcdef_{SECRET}",
    ],
)
def test_anything_else_is_no_key(text: str) -> None:
    assert PresentedKey.parse(text) is None


def test_neither_a_secret_nor_its_hash_is_shown() -> None:
    shown = repr(key()) + repr(PresentedKey(KeyId("0123456789abcdef"), SECRET))
    assert SECRET not in shown
    assert repr(hash_secret(SECRET)) not in shown
