"""The strength of a memory as SQL, to sort by. A test compares it with `domain/strength`."""

from app.domain.fact import Kind, Tier
from app.domain.strength import (
    CORE_FLOOR,
    LEAST_IMPORTANCE,
    MAX_HALF_LIVES,
    MAX_REINFORCEMENTS,
    USES_PER_REPETITION,
    HalfLives,
)
from app.store.fragments import AS_OF, KNOWN_AT

# When a counter of `u` counts. A repetition after the known time of the read does not count.
# Neither do the repetitions before it, because they are not stored one by one. Uses go on between
# writes, so a read of what is known now counts all of them.
_WAS_REPEATED = f"u.last_reinforced_at <= {KNOWN_AT}"
_WAS_USED = """
    (
        CAST(:used_by AS timestamptz) IS NULL
        OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
    )
"""
COUNTER_CONDITIONS = {
    "access_count": _WAS_REPEATED,
    "last_reinforced_at": _WAS_REPEATED,
    "use_count": _WAS_USED,
    "last_accessed_at": _WAS_USED,
}


_COUNTERS = ",\n".join(
    f"CASE WHEN {condition} THEN u.{name} END AS {name}"
    for name, condition in COUNTER_CONDITIONS.items()
)

# Joins to memories `m` their counters `u` that count.
USAGE = f"""
    LEFT JOIN LATERAL (
        SELECT {_COUNTERS}
        FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id
    ) AS u ON true
"""


def _half_life_by_kind_sql(tier: Tier) -> str:
    cases = []
    for kind in Kind:
        cases.append(f"WHEN '{kind}' THEN CAST(:half_life_{tier}_{kind} AS float8)")
    return "CASE m.kind\n{}\nEND".format("\n".join(cases))


_HALF_LIFE = f"""
    CASE b.tier
        WHEN '{Tier.CORE}' THEN {_half_life_by_kind_sql(Tier.CORE)}
        ELSE {_half_life_by_kind_sql(Tier.SEMANTIC)}
    END
"""
_REPETITIONS = f"""
    coalesce(u.access_count, 0)
    + coalesce(u.use_count, 0) / CAST({USES_PER_REPETITION} AS float8)
"""
_STRETCHED_HALF_LIFE = f"""
    ({_HALF_LIFE}) * (1 + ln(1 + least({_REPETITIONS}, {MAX_REINFORCEMENTS})))
"""

_LAST_STATED_AT = "greatest(m.created_at, b.valid_from, u.last_reinforced_at)"
_TIME_TO_LAST_USE = f"""
    greatest(coalesce(u.last_accessed_at - {_LAST_STATED_AT}, interval '0'), interval '0')
"""


def _build_strength(at: str) -> str:
    """Return the strength at this time of a memory `m` with the belief `b` and the counters `u`."""
    age_in_days = f"""
    CAST(
        extract(epoch FROM {at} - {_LAST_STATED_AT})
        - extract(epoch FROM {_TIME_TO_LAST_USE}) / 2
        AS float8
    ) / 86400
"""
    halvings = f"""
    least(greatest({age_in_days}, 0) / ({_STRETCHED_HALF_LIFE}), {MAX_HALF_LIVES})
"""
    remainder = f"""
    greatest(m.importance, {LEAST_IMPORTANCE}) * power(CAST(0.5 AS float8), {halvings})
"""
    return f"""
    greatest(
        CASE b.tier WHEN '{Tier.CORE}' THEN CAST({CORE_FLOOR} AS float8) END,
        {remainder}
    )
"""


# The strength at the moment of the read.
STRENGTH = _build_strength(AS_OF)
# The strength at another time than that of the read.
STRENGTH_THEN = _build_strength("CAST(:strength_as_of AS timestamptz)")


def half_life_values(half_lives: HalfLives) -> dict[str, float]:
    """Return the values of the parameters that STRENGTH names, in days."""
    return {
        f"half_life_{tier}_{kind}": half_lives.get_days(tier, kind)
        for tier in Tier
        for kind in Kind
    }
