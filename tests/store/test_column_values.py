"""Every column of an enumeration or of JSON is declared, and the database checks the same values."""

import re

import psycopg
import pytest
from sqlalchemy.dialects.postgresql import JSONB

from app.store.column_values import ENUMERATIONS, JSON_SCHEMAS, check_json, find_wrong_values
from app.store.tables import metadata

# `signal_names` is computed. `archived_log` is empty but for the transaction of an erasure.
NOT_DECLARED = {("consolidation_log", "signal_names")}
ID = "01a21c7b-4895-758f-9847-ebbc40a3d657"
TIME = "2026-01-01T00:00:00.000000+00:00"


def read_checks(url: str) -> dict[tuple[str, str], str]:
    """Return the check of each column that has one of its own."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("""
            SELECT CAST(CAST(conrelid AS regclass) AS text), attname, pg_get_constraintdef(c.oid)
            FROM pg_constraint c
            JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
            WHERE contype = 'c' AND cardinality(conkey) = 1
              AND connamespace = CAST('public' AS regnamespace)
        """).fetchall()
    return {(table, column): check for table, column, check in rows}


def test_the_database_checks_the_members_of_each_enumeration(template_url: str) -> None:
    checks = read_checks(template_url)
    for table, columns in ENUMERATIONS.items():
        for column, enumeration in columns.items():
            members = set(re.findall(r"'(\w+)'", checks[table, column]))
            assert members == set(enumeration), f"{table}.{column} needs a migration"


def test_the_database_checks_whether_json_is_an_array_or_an_object(template_url: str) -> None:
    checks = read_checks(template_url)
    for table, columns in JSON_SCHEMAS.items():
        for column in columns:
            for text in ("[]", "{}"):
                kind = "array" if text == "[]" else "object"
                if f"'{kind}'" not in checks[table, column]:
                    with pytest.raises(ValueError, match="Expected"):
                        check_json(table, column, text)


def test_all_json_has_a_schema() -> None:
    columns = {
        (table.name, column.name)
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, JSONB) and table.name != "archived_log"
    }
    declared = {(table, column) for table, columns in JSON_SCHEMAS.items() for column in columns}
    assert columns - NOT_DECLARED == declared


@pytest.mark.parametrize(
    ("column", "text", "place"),
    [
        ("signals", '[{"name": "a", "relation": "LIKE", "confidence": 1, "explanation": ""}]', "[0].relation"),
        ("signals", '[{"name": "a", "relation": "NONE", "confidence": 2, "explanation": ""}]', "[0].confidence"),
        ("incoming", "{}", ""),
        ("incoming", '{"content": "a", "colour": "red"}', ""),
        ("incoming", '{"content": "a", "said_in": "' + ID.upper() + '"}', ".said_in"),
        ("incoming", '{"content": "a", "said_at": "2026-01-01"}', ".said_at"),
        ("incoming", '{"content": "a", "said_at": "0001-01-01T00:00:00+14:00"}', ".said_at"),
        ("incoming", '{"content": "a", "details": []}', ".details"),
        ("incoming", '{"content": "a", "details": ' + '{"a":' * 10 + "1" + "}" * 11, ".details" + "[...]" * 9),
        ("after_state", '[{"id": "' + ID + '"}]', "[0]"),
        ("after_state", '[{"links": [], "metadata": {}}]', "[0]"),
        ("after_state", '[{"metadata": {}}]', "[0]"),
    ],
)  # fmt: skip
def test_the_place_of_a_wrong_value_is_named_without_the_value(
    column: str, text: str, place: str
) -> None:
    row = dict.fromkeys(JSON_SCHEMAS["consolidation_log"])
    row |= {"operation": "ADD", "relation": "NONE", "decided_by": "rule", column: text}
    assert list(find_wrong_values("consolidation_log", row)) == [(column, place)]
    assert not list(find_wrong_values("consolidation_log", row | {column: None}))


def test_what_a_write_leaves_out_may_be_missing() -> None:
    check_json("consolidation_log", "incoming", f'{{"content": "a", "said_at": "{TIME}"}}')
    check_json("consolidation_log", "after_state", f'[{{"id": "{ID}", "metadata": {{}}}}]')
