"""The strength of a memory as SQL: the same formula as `domain/strength`, to sort by; a test holds the two equal."""

from app.domain.memory import Kind, Tier
from app.domain.strength import CORE_FLOOR, LEAST_IMPORTANCE, MAX_HALF_LIVES, MAX_REINFORCEMENTS, HalfLives

# Joins the counters `u` to memories `m`: those of repetitions known at the point read.
REINFORCED = """
    LEFT JOIN memory_usage u
    ON u.agent_id = m.agent_id AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT known_at FROM moment)
"""


def _by_kind(tier: Tier) -> str:
    cases = " ".join(f"WHEN '{kind}' THEN CAST(:half_life_{tier}_{kind} AS float8)" for kind in Kind)
    return f"CASE m.kind {cases} END"


_HALF_LIFE = f"CASE b.tier WHEN '{Tier.CORE}' THEN {_by_kind(Tier.CORE)} ELSE {_by_kind(Tier.SEMANTIC)} END"
_STRETCHED = f"({_HALF_LIFE}) * (1 + ln(CAST(1 + least(coalesce(u.access_count, 0), {MAX_REINFORCEMENTS}) AS float8)))"
_AGE_DAYS = """
    CAST(extract(epoch FROM (SELECT as_of FROM moment) - greatest(m.created_at, b.valid_from, u.last_reinforced_at)) AS float8) / 86400
"""

_HALVINGS = f"least(greatest({_AGE_DAYS}, 0) / ({_STRETCHED}), {MAX_HALF_LIVES})"
_LEFT = f"greatest(m.importance, {LEAST_IMPORTANCE}) * power(CAST(0.5 AS float8), {_HALVINGS})"

# Of a memory `m`, the belief `b` held of it and its counters `u`, at the moment of the read.
STRENGTH = f"greatest(CASE b.tier WHEN '{Tier.CORE}' THEN CAST({CORE_FLOOR} AS float8) END, {_LEFT})"


def half_life_values(half_lives: HalfLives) -> dict[str, float]:
    """The values of the parameters that STRENGTH names, in days."""
    return {f"half_life_{tier}_{kind}": half_lives.days(tier, kind) for tier in Tier for kind in Kind}
