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
    ("filters", "fields", "metadata"),
    [
        ({"user_id": "ann"}, {}, {}),
        ({"AND": [{"user_id": "ann"}, {"run_id": "7"}]}, {"session_id": "7"}, {}),
        ({"OR": [{"user_id": "ann"}]}, {}, {}),
        ({"user_id": {"in": ["ann"]}}, {}, {}),
        ({"user_id": {"eq": "ann"}}, {}, {}),
        (
            {"user_id": "ann", "agent_id": "bot", "categories": {"contains": "food"}},
            {"tags_all": ["mem0:agent_id=bot", "food"]},
            {},
        ),
        ({"user_id": "ann", "categories": {"in": ["a", "b"]}}, {"tags_any": ["a", "b"]}, {}),
        ({"user_id": "ann", "metadata": {"k": 1}}, {}, {"k": 1}),
    ],
)
def test_filters_become_those_of_a_read(
    filters: dict[str, Any], fields: dict[str, Any], metadata: dict[str, Any]
) -> None:
    wanted = filtered(filters=filters)
    assert wanted.owner.agent == "ann"
    assert wanted.list_fields() == fields
    assert wanted.metadata == metadata


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({}, "whose memory"),
        ("user_id", "valid dict"),
        ({"OR": [{"user_id": "a"}, {"user_id": "b"}]}, "a call for each part"),
        ({"NOT": [{"user_id": "a"}]}, "NOT in filters"),
        ({"AND": [{"user_id": "a"}, {"user_id": "b"}]}, "another user_id"),
        ({"AND": ["user_id"]}, "a list of filters"),
        ({"user_id": "*"}, "one user_id"),
        ({"user_id": {"in": ["a", "b"]}}, "one user_id"),
        ({"user_id": {"ne": "a"}}, "ne of user_id"),
        ({"user_id": "a", "created_at": {"gte": "2024-01-01"}}, "filter created_at"),
        ({"user_id": "a", "topic": "x"}, "filter topic"),
        ({"user_id": "a", "categories": {"icontains": "x"}}, "categories must be"),
        ({"user_id": "a", "metadata": "x"}, "filter metadata"),
        ({"user_id": "a", "metadata": {"k": {"gt": 1}}}, "metadata.k must be"),
        ({"user_id": "a", "metadata": {"k": None}}, "metadata.k must be"),
        (
            {"AND": [{"user_id": "a"}, {"metadata": {"k": 1}}, {"metadata": {"k": 2}}]},
            "another metadata.k",
        ),
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
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "valid string"),
        ({"messages": [{"role": "user", "content": "x", "tool_calls": [1]}]}, "tool_calls"),
        ({"messages": HELLO, "metadata": "x"}, "metadata"),
        ({"messages": HELLO, "timestamp": "soon"}, "timestamp"),
        ({"messages": HELLO, "expiration_date": "never"}, "expiration_date"),
        ({"messages": HELLO, "expiration_date": "9999-12-31"}, "before the last day"),
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
    Parameters(rerank=False, explain=None, version="v2", output_format="v1.1")
    with pytest.raises(ValidationError, match="rerank"):
        Parameters(rerank=True)
