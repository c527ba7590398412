"""The encoding under the hashes of the log: what Postgres gives back has that of what it got."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.log_chain import (
    CONTENT_COLUMNS,
    LINKED_COLUMNS,
    START,
    digest_content,
    encode_columns,
    encode_value,
    hash_operation,
    join_columns,
)

ID = UUID("01a1f8f8-0000-7000-8000-000000000000")
NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
OPERATION: dict[str, Any] = {
    **dict.fromkeys((*CONTENT_COLUMNS, *LINKED_COLUMNS)),
    "id": ID,
    "created_at": NOW,
    "operation": "ADD",
    "source_memory_ids": [ID],
    "confidence": 1.0,
    "before_state": [],
}

plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
trees = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def write_number_like_postgres(number: float) -> str:
    """Return a number as jsonb writes it: all digits, no exponent, no negative zero."""
    text = format(Decimal(repr(number)), "f")
    return text.removeprefix("-") if number == 0 else text


def read_back(value: Any) -> Any:
    """Return JSON as it comes back from Postgres: other key order, numbers written in full."""
    return json.loads(write_like_postgres(value))


def write_like_postgres(value: Any) -> str:
    match value:
        case dict():
            names = sorted(value, key=lambda name: (len(name.encode()), name.encode()))
            pairs = (f"{json.dumps(name)}: {write_like_postgres(value[name])}" for name in names)
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(map(write_like_postgres, value)) + "]"
        case float():
            return write_number_like_postgres(value)
        case _:
            return json.dumps(value)


def encode_details(value: Any) -> str:
    return encode_columns({"after_state": [value]}, ["after_state"])


@given(trees)
def test_what_is_read_back_has_the_encoding_of_what_was_written(value: Any) -> None:
    assert encode_details(read_back(value)) == encode_details(value)


@given(trees, trees)
def test_other_values_have_another_encoding(one: Any, another: Any) -> None:
    same = write_like_postgres(read_back(one)) == write_like_postgres(read_back(another))
    assert same or encode_details(one) != encode_details(another)


@pytest.mark.parametrize("number", [1e22, 1e23, -1e16, -0.0, 5e-324, 1.7976931348623157e308, 1.0])
def test_numbers_that_postgres_writes_another_way(number: float) -> None:
    assert encode_details(read_back([number])) == encode_details([number])


@pytest.mark.parametrize(
    ("column", "one", "another"),
    [
        ("confidence", 1, 1.0),
        ("created_at", NOW, NOW.astimezone(timezone(timedelta(hours=2)))),
        ("id", ID, str(ID)),
        ("source_memory_ids", [ID], (str(ID),)),
    ],
)
def test_one_value_in_two_forms_has_one_encoding(column: str, one: Any, another: Any) -> None:
    assert encode_columns({column: one}, [column]) == encode_columns({column: another}, [column])


def test_a_column_without_a_value_changes_nothing() -> None:
    with_reverts = encode_columns({"id": ID, "reverts": None}, ["id", "reverts"])
    assert with_reverts == encode_columns({"id": ID}, ["id"])


@given(st.dictionaries(st.sampled_from(CONTENT_COLUMNS), trees.filter(lambda v: v is not None)))
def test_columns_that_are_joined_have_the_encoding_of_the_object(columns: dict[str, Any]) -> None:
    joined = join_columns({name: encode_value(value) for name, value in columns.items()})
    assert joined == encode_columns(columns, columns)


@pytest.mark.parametrize("column", CONTENT_COLUMNS)
def test_the_digest_covers_each_column_of_the_content(column: str) -> None:
    before = encode_columns(OPERATION, CONTENT_COLUMNS)
    assert encode_columns(change(column), CONTENT_COLUMNS) != before


@pytest.mark.parametrize("column", LINKED_COLUMNS)
def test_the_hash_covers_each_other_column(column: str) -> None:
    assert hash_operation(START, START, OPERATION) != hash_operation(START, START, change(column))


def change(column: str) -> Mapping[str, Any]:
    values = {"created_at": NOW + timedelta(microseconds=1), "confidence": 0.5, "duration_ms": 0.5}
    return {**OPERATION, column: values.get(column, "something else")}


def test_the_hash_covers_the_previous_one_and_the_digest() -> None:
    other = bytes([1]) * 32
    assert (
        len({hash_operation(a, b, OPERATION) for a in (START, other) for b in (START, other)}) == 4
    )


def test_the_digest_covers_salt_and_content() -> None:
    assert len({digest_content(salt, text) for salt in (b"1", b"2") for text in ("{}", "[]")}) == 4
