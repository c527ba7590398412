"""Memories with the belief that a read is about, as the FROM of a statement that has a `moment`."""

from app.store.columns import BELIEF_COLUMNS


def build_belief_from_sql(memory: str, belief: str, *, past: bool) -> str:
    """Rows of `memories` by this name, each with the belief by that name: the latest, or where the read asks for the past, the one held
    at the known time of the moment; what was not known then is left out."""
    own, kept = _belief_columns_sql(memory), _belief_columns_sql("x")
    if not past:
        return f"memories {memory} CROSS JOIN LATERAL (SELECT {own}) AS {belief}"
    # The row's own belief where it was known by then, else the one kept for that time. The second half is entered only for rows
    # believed otherwise since.
    return f"""
        memories {memory} JOIN LATERAL (
            SELECT {own} WHERE {memory}.known_from <= (SELECT known_at FROM moment)
            UNION ALL
            SELECT {kept} FROM memory_beliefs x
            WHERE {memory}.known_from > (SELECT known_at FROM moment) AND x.agent_id = {memory}.agent_id AND x.memory_id = {memory}.id
              AND x.known_from <= (SELECT known_at FROM moment) AND x.known_until > (SELECT known_at FROM moment)
        ) AS {belief} ON true
    """


def _belief_columns_sql(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in BELIEF_COLUMNS)
