"""Whose turn it is: the key that places and networks are shared by."""

import pytest

from app.api.admission import _find_party
from app.domain.keys import ANONYMOUS, ROOT, Actor, Rights, Scope

TENANT = Actor("key:0123456789abcdef", Rights(scopes=frozenset({Scope.READ}), agents=("acme/*",)))


@pytest.mark.parametrize(
    ("actor", "agent", "name"),
    [
        (ROOT, "ann", "ann"),
        (ANONYMOUS, "ann", "ann"),
        (ROOT, None, "default"),
        (TENANT, "acme/1", "key:0123456789abcdef"),
        (TENANT, "acme/2", "key:0123456789abcdef"),
        (TENANT, None, "key:0123456789abcdef"),
    ],
)
def test_a_key_has_one_turn_whatever_agents_it_names(
    actor: Actor, agent: str | None, name: str
) -> None:
    headers = [(b"x-agent-id", agent.encode())] if agent else []
    assert _find_party({"actor": actor, "headers": headers}).key == name
