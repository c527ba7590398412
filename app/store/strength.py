"""The strength of a memory as SQL: the same formula as `domain/strength`, to sort by; a test holds the two equal."""

from app.domain.fact import Kind, Tier
from app.domain.strength import (
    CORE_FLOOR,
    LEAST_IMPORTANCE,
    MAX_HALF_LIVES,
    MAX_REINFORCEMENTS,
    USES_PER_REPETITION,
    HalfLives,
)

# Which counters of `u` count at the point read. A repetition later than its known time does not, nor do the ones before it, which are
# not kept apart; the same with uses, which go on between writes: what is known now counts them all.
_REPEATED = "u.last_reinforced_at <= (SELECT known_at FROM moment)"
_USED = (
    "(CAST(:used_by AS timestamptz) IS NULL OR u.last_accessed_at <= CAST(:used_by AS timestamptz))"
)
COUNTED = {
    "access_count": _REPEATED,
    "last_reinforced_at": _REPEATED,
    "use_count": _USED,
    "last_accessed_at": _USED,
}

# Joins the counters `u` that count to memories `m`.
USAGE = f"""
    LEFT JOIN LATERAL (
        SELECT {", ".join(f"CASE WHEN {counts} THEN u.{name} END AS {name}" for name, counts in COUNTED.items())}
        FROM memory_usage u WHERE u.agent_id = m.agent_id AND u.memory_id = m.id
    ) AS u ON true
"""


def _half_life_by_kind_sql(tier: Tier) -> str:
    cases = " ".join(
        f"WHEN '{kind}' THEN CAST(:half_life_{tier}_{kind} AS float8)" for kind in Kind
    )
    return f"CASE m.kind {cases} END"


_HALF_LIFE = f"CASE b.tier WHEN '{Tier.CORE}' THEN {_half_life_by_kind_sql(Tier.CORE)} ELSE {_half_life_by_kind_sql(Tier.SEMANTIC)} END"
_REPETITIONS = f"coalesce(u.access_count, 0) + coalesce(u.use_count, 0) / CAST({USES_PER_REPETITION} AS float8)"
_STRETCHED = f"({_HALF_LIFE}) * (1 + ln(1 + least({_REPETITIONS}, {MAX_REINFORCEMENTS})))"

_SAID = "greatest(m.created_at, b.valid_from, u.last_reinforced_at)"
_TO_LAST_USE = f"greatest(coalesce(u.last_accessed_at - {_SAID}, interval '0'), interval '0')"
_AGE_DAYS = f"""
    CAST(extract(epoch FROM (SELECT as_of FROM moment) - {_SAID}) - extract(epoch FROM {_TO_LAST_USE}) / 2 AS float8) / 86400
"""

_HALVINGS = f"least(greatest({_AGE_DAYS}, 0) / ({_STRETCHED}), {MAX_HALF_LIVES})"
_LEFT = f"greatest(m.importance, {LEAST_IMPORTANCE}) * power(CAST(0.5 AS float8), {_HALVINGS})"

# Of a memory `m`, the belief `b` held of it and its counters `u`, at the moment of the read.
STRENGTH = (
    f"greatest(CASE b.tier WHEN '{Tier.CORE}' THEN CAST({CORE_FLOOR} AS float8) END, {_LEFT})"
)


def half_life_values(half_lives: HalfLives) -> dict[str, float]:
    """The values of the parameters that STRENGTH names, in days."""
    return {
        f"half_life_{tier}_{kind}": half_lives.get_days(tier, kind)
        for tier in Tier
        for kind in Kind
    }
