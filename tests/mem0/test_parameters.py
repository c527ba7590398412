"""Each parameter of mem0 is followed, or refused in words."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from app.mem0.owners import Unsupported
from app.mem0.parameters import Addition, Filter, read_addition, read_filter
from app.mem0.schemas import NewMemories, Parameters, Selection


def filtered(**fields: Any) -> Filter:
    return read_filter(Selection.model_validate(fields))


def added(**fields: Any) -> Addition:
    return read_addition(NewMemories.model_validate(fields))


HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("filters", "fields"),
    [
        ({"user_id": "ann"}, {}),
        ({"AND": [{"user_id": "ann"}, {"run_id": "7"}]}, {"session_id": "7"}),
        ({"OR": [{"user_id": "ann"}]}, {}),
        ({"user_id": {"in": ["ann"]}}, {}),
        ({"user_id": {"eq": "ann"}, "agent_id": None}, {}),
        (
            {"user_id": "ann", "agent_id": "bot", "categories": {"contains": "food"}},
            {"tags_all": ["mem0:agent_id=bot"], "tags_any": ["food"]},
        ),
        ({"user_id": "ann", "categories": {"in": ["a", "b"]}}, {"tags_any": ["a", "b"]}),
        ({"user_id": "ann", "metadata": {"k": 1}}, {"details": {"k": 1}}),
        ("{'user_id': 'ann'}", {}),
        ('{"user_id": "ann"}', {}),
    ],
)
def test_filters_become_those_of_a_read(filters: Any, fields: dict[str, Any]) -> None:
    wanted = filtered(filters=filters)
    assert wanted.owner.agent == "ann"
    assert wanted.list_fields() == fields
    assert wanted.is_exact


MEMORY = {
    "chain_id": "019ca8d7-2d00-7448-9fa7-83de610b26c9",
    "content": "I like Jazz",
    "created_at": "2026-03-01T10:00:00Z",
    "last_reinforced_at": None,
    "status": "current",
    "session_id": "r1",
    "tags": ["mem0:agent_id=a", "mem0:agent_id=b", "music"],
    "details": {"topic": "music", "n": 5, "on": ["x", "y"]},
}


@pytest.mark.parametrize(
    ("filters", "is_meant"),
    [
        ({"OR": [{"run_id": "r2"}, {"metadata": {"topic": "music"}}]}, True),
        ({"OR": [{"run_id": "r2"}, {"metadata": {"topic": "sport"}}]}, False),
        ({"NOT": [{"run_id": "r1"}]}, False),
        ({"NOT": {"run_id": "r2"}}, True),
        ({"NOT": [{"NOT": [{"run_id": "r1"}]}]}, True),
        ({"run_id": {"in": ["r1", "r2"]}}, True),
        ({"run_id": {"nin": ["r1", "r2"]}}, False),
        ({"run_id": "*"}, True),
        ({"app_id": "*"}, False),
        ({"app_id": {"ne": "*"}}, True),
        ({"agent_id": {"ne": "a"}}, False),
        ({"AND": [{"agent_id": "a"}, {"agent_id": {"in": ["b", "c"]}}]}, True),
        ({"AND": [{"run_id": "r1"}, {"run_id": "r2"}]}, False),
        ({"created_at": {"gte": "2026-03-01", "lt": "2026-03-02"}}, True),
        ({"created_at": {"gt": "2026-03-01T10:00:00Z"}}, False),
        ({"updated_at": {"lte": "2026-03-01T12:00:00+02:00"}}, True),
        ({"metadata": {"topic": {"ne": "music"}}}, False),
        ({"metadata": {"absent": {"ne": "x"}}}, True),
        ({"metadata": {"topic": {"contains": "usi"}}}, True),
        ({"metadata": {"topic": {"icontains": "USI"}}}, True),
        ({"metadata": {"topic": {"in": ["a", "music"]}}}, True),
        ({"metadata": {"n": {"gte": 5, "lt": 6}}}, True),
        ({"metadata": {"n": {"gt": "4"}}}, False),
        ({"metadata": {"on": {"contains": "x"}}}, True),
        ({"AND": [{"metadata": {"n": 5}}, {"metadata": {"n": 6}}]}, False),
        ({"AND": [{"categories": ["music"]}, {"categories": {"contains": "art"}}]}, False),
        ({"categories": {"nin": ["art"]}}, True),
        ({"keywords": {"contains": "jazz"}}, False),
        ({"keywords": "jazz"}, True),
        ({"memory_ids": ["019ca8d7-2d00-7448-9fa7-83de610b26c9.YW5u"]}, True),
        ({"memory_ids": {"in": ["other"]}}, False),
    ],
)
def test_other_filters_look_at_each_memory(filters: dict[str, Any], is_meant: bool) -> None:
    wanted = filtered(filters={"AND": [{"user_id": "ann"}, filters]})
    assert not wanted.is_exact
    assert wanted.means(MEMORY) is is_meant


def test_the_parts_of_an_or_may_name_the_same_owner() -> None:
    parts = [{"user_id": "ann", "run_id": "r1"}, {"user_id": {"in": ["ann"]}, "run_id": "r2"}]
    wanted = filtered(filters={"OR": parts})
    assert wanted.owner.agent == "ann"
    assert wanted.owner.session_id is None
    assert wanted.means(MEMORY)
    assert not wanted.means(MEMORY | {"session_id": "r3"})


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({}, "whose memory"),
        (["user_id"], "valid dict"),
        ({"OR": [{"user_id": "a"}, {"user_id": "b"}]}, "a call for each"),
        ({"OR": [{"user_id": "a"}, {"agent_id": "b"}]}, "in each part of an OR"),
        ({"NOT": [{"user_id": "a"}]}, "whose memory"),
        ({"AND": [{"user_id": "a"}, {"user_id": "b"}]}, "a call for each"),
        ("[object Object]", "Node's client"),
        ("{'user_id': 'a', 'topic': (" + "1," * 50_000 + ")}", "Node's client"),
        ({"AND": ["user_id"]}, "a list of filters"),
        ({"user_id": "*"}, "whose memory"),
        ({"user_id": {"in": ["a", "b"]}}, "one user_id"),
        ({"user_id": {"ne": "a"}}, "whose memory"),
        ({"user_id": {"like": "a"}}, "like of user_id"),
        ({"user_id": "a", "created_at": {"gte": "soon"}}, "filter created_at: give an RFC"),
        ({"user_id": "a", "topic": "x"}, "filter topic"),
        ({"user_id": "a", "categories": {"icontains": "x"}}, "icontains of categories"),
        ({"user_id": "a", "metadata": "x"}, "filter metadata"),
        ({"user_id": "a", "metadata": {"k": {"like": 1}}}, "like of metadata.k"),
        ({"user_id": "a", "metadata": {"k": None}}, "metadata.k must be"),
    ],
)
def test_other_filters_are_refused(filters: Any, words: str) -> None:
    with pytest.raises((Unsupported, ValidationError), match=words):
        filtered(filters=filters)


def test_an_addition_reads_ids_in_both_places() -> None:
    for body in ({"user_id": "ann"}, {"filters": {"user_id": "ann"}}):
        assert added(messages=HELLO, **body).owner.agent == "ann"


def test_an_addition_dates_its_messages_and_its_memories() -> None:
    body = {"user_id": "ann", "timestamp": 1700000000, "expiration_date": "2030-01-31"}
    addition = added(messages="hello", **body, metadata={"k": 1})
    [message] = addition.messages
    assert message == {"role": "user", "content": "hello", "at": "2023-11-14T22:13:20+00:00"}
    assert addition.fields == {"details": {"k": 1}, "valid_until": "2030-02-01T00:00:00+00:00"}
    assert addition.infer


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": []}, "at least 1 item"),
        ({"messages": [{"role": "narrator", "content": "x"}]}, "role"),
        ({"messages": HELLO, "immutable": True}, "infer=False"),
        ({"messages": HELLO, "metadata": "x"}, "metadata"),
        ({"messages": HELLO, "timestamp": "soon"}, "timestamp"),
        ({"messages": HELLO, "expiration_date": "never"}, "expiration_date"),
        ({"messages": HELLO, "expiration_date": "9999-12-31"}, "before the last day"),
        ({"messages": HELLO, "expiration_date": "2020-01-31"}, "is over"),
        ({"messages": HELLO, "expiration_date": 253402300799}, "expiration_date"),
        ({"messages": HELLO, "metadata": json.loads('{"a":' * 50 + "1" + "}" * 50)}, "deep"),
        ({"messages": HELLO, "run_id": "\ud800"}, "run_id"),
        ({"messages": HELLO, "timestamp": "9" * 4400}, "timestamp"),
        ({"messages": HELLO * 1001}, "at most 1000"),
        ({"messages": HELLO, "filters": {"categories": ["a"]}}, "ids only"),
        ({"messages": HELLO, "custom_instructions": "be brief"}, "custom_instructions"),
        ({"messages": HELLO, "memory_type": "procedural_memory"}, "memory_type"),
        ({"messages": HELLO, "prompt": "x"}, "prompt"),
        ({"messages": HELLO, "enable_graph": True}, "enable_graph"),
        ({"messages": HELLO, "includes": "sports"}, "includes"),
    ],
)
def test_additions_that_ask_for_more_are_refused(body: dict[str, Any], words: str) -> None:
    with pytest.raises((Unsupported, ValidationError), match=words):
        added(user_id="ann", **body)


def test_what_asks_for_nothing_is_taken() -> None:
    Parameters(rerank=True, explain=None, version="v2", output_format="v1.1")
    with pytest.raises(ValidationError, match="explain"):
        Parameters(explain=True)
