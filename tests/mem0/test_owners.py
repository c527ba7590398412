"""The ids of mem0 become agents of this service, and come back."""

import pytest

from app.mem0.owners import (
    Owner,
    Unsupported,
    find_ids,
    find_owner,
    list_ids,
    name_memory,
    name_session,
    read_name,
)


def own(ids: dict[str, str]) -> Owner:
    return find_owner({name: {value} for name, value in ids.items()})


@pytest.mark.parametrize(
    ("ids", "agent"),
    [
        ({"user_id": "ann"}, "ann"),
        ({"agent_id": "bot"}, "agent/bot"),
        ({"app_id": "shop"}, "app/shop"),
        ({"run_id": "7"}, "run/7"),
        ({"user_id": "Jörg Müller 100%"}, "J%C3%B6rg%20M%C3%BCller%20100%25"),
        ({"user_id": "acme/ann"}, "acme/ann"),
        ({"user_id": "ann@example.org"}, "ann@example.org"),
    ],
)
def test_an_id_names_an_agent_and_the_agent_the_id(ids: dict[str, str], agent: str) -> None:
    assert own(ids).agent == agent
    assert find_ids(agent) == ids


def test_the_user_comes_first_and_the_others_are_on_its_memories() -> None:
    owner = own({"user_id": "ann", "agent_id": "bot", "app_id": "shop", "run_id": "7"})
    assert owner.agent == "ann"
    memory = {"tags": [*owner.tags, "food"], "session_id": owner.session_id}
    assert list_ids("ann", memory) == {
        "user_id": "ann",
        "agent_id": "bot",
        "app_id": "shop",
        "run_id": "7",
    }


@pytest.mark.parametrize("ids", [{}, {"user_id": ""}, {"user_id": "agent/bot"}])
def test_ids_that_name_nobody_are_refused(ids: dict[str, str]) -> None:
    with pytest.raises(Unsupported):
        own(ids)


def test_messages_without_a_run_have_a_session_that_is_no_run() -> None:
    session = name_session(own({"user_id": "ann"}))
    assert session != name_session(own({"user_id": "ann"}))
    assert list_ids("ann", {"session_id": session})["run_id"] is None


@pytest.mark.parametrize("agent", ["ann", "agent/bot", "J%C3%B6rg", "~", None])
def test_a_memory_is_named_with_its_agent(agent: str | None) -> None:
    assert read_name(name_memory(agent, "0190-1")) == (agent, "0190-1")


def test_a_name_that_ends_with_no_agent_is_refused() -> None:
    with pytest.raises(Unsupported, match="ends with no agent"):
        read_name("0190-1.\u00e9")
