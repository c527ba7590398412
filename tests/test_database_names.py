"""Names of the database as people read them."""

import pytest

from app.database_names import find_rule, remove_shard, remove_shards


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("memories_pkey_102016", "memories_pkey"),
        ("memories_102013", "memories"),
        ("memories_pkey", "memories_pkey"),
        ("08006", "08006"),
    ],
)
def test_a_name_loses_the_number_of_its_shard(name: str, plain: str) -> None:
    assert remove_shard(name) == plain


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        (
            'duplicate key value violates unique constraint "memories_pkey_102016"',
            'duplicate key value violates unique constraint "memories_pkey"',
        ),
        (
            'Key (agent_id)=(bob_1234567) is not present in table "agents_102008".',
            'Key (agent_id)=(bob_1234567) is not present in table "agents".',
        ),
        (
            'new row for relation "reviews_102020" violates check constraint "check_102021"',
            'new row for relation "reviews" violates check constraint "check"',
        ),
        ('Failing row contains (alice, "order_1234567").',) * 2,
    ],
)
def test_a_message_loses_the_numbers_of_shards_and_nothing_else(message: str, plain: str) -> None:
    assert remove_shards(message) == plain


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            'new row for relation "keys_102042" violates check constraint "not_this_102042"',
            "not_this_102042",
        ),
        ('duplicate key value violates unique constraint "memories_pkey"', "memories_pkey"),
        ("division by zero", None),
    ],
)
def test_a_message_names_the_rule_that_was_broken(message: str, rule: str | None) -> None:
    assert find_rule(message) == rule
