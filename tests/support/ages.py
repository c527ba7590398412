"""SQL that lets time pass for rows that are there."""


def move_back(column: str, by: str) -> str:
    """An assignment that moves a time back by a span, as `8 days`.

    It computes without a time zone: a cluster refuses an UPDATE that depends on a setting.
    """
    return f"{column} = (({column} AT TIME ZONE 'UTC') - interval '{by}') AT TIME ZONE 'UTC'"
