"""The strength of a memory: importance that fades with age, slower after repetition or use.

Strength sorts and never hides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log1p

from app.domain.fact import Kind, Tier
from app.domain.version import Memory

CORE_FLOOR = 0.60
# Beyond this many, a half-life grows no further: 1 + ln 101 = 5.6 times the setting.
MAX_REINFORCEMENTS = 100
# A use counts less than a repetition: an answered search shows interest in the memory, but nobody
# has said that the fact is still true.
USES_PER_REPETITION = 10
# 2^-60 is nothing already. Postgres refuses a power too small for it instead of calling it 0.
MAX_HALF_LIVES = 60.0
# For the same reason: in Postgres a product that leaves the range of a double is an error.
LEAST_IMPORTANCE = 1e-9

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Days in which a memory that nobody repeats loses half its strength, per tier and kind.

    Each is above 0.
    """

    semantic: Mapping[Kind, float]
    core: Mapping[Kind, float]

    def get_days(self, tier: Tier, kind: Kind) -> float:
        return (self.core if tier is Tier.CORE else self.semantic)[kind]


def compute_strength(memory: Memory, as_of: datetime, half_lives: HalfLives) -> float:
    """Return the strength at `as_of`, 0 to 1.

    Age counts from the last time the fact was stated (reference 004: `timestamp`,
    `lastReinforced`), not from its start in the world: an allergy "since 1990" that is stored today
    is fresh. A use since then halves the way: age counts from the middle between the two. A
    scheduled fact does not fade before it begins. At moments before that its age is 0.
    """
    fact, usage = memory.fact, memory.usage
    stated = max(memory.created_at, memory.belief.valid_from)
    if usage.last_reinforced_at is not None:
        stated = max(stated, usage.last_reinforced_at)
    used = max(stated, usage.last_accessed_at or stated)
    age = ((as_of - stated).total_seconds() - (used - stated).total_seconds() / 2) / _DAY
    return fade_importance(
        fact.importance,
        memory.belief.tier,
        age_days=age,
        half_life_days=half_lives.get_days(memory.belief.tier, fact.kind),
        reinforcements=usage.access_count + usage.use_count / USES_PER_REPETITION,
    )


def fade_importance(
    importance: float,
    tier: Tier,
    *,
    age_days: float,
    half_life_days: float,
    reinforcements: float,
) -> float:
    """Return importance halved once per half-life; core keeps its floor (reference 002).

    Repetition stretches the half-life, each time by less: 1 + ln(1 + n) times; ten uses count as
    one. The curve that repetition flattens is Ebbinghaus's, as MemoryBank (arXiv:2305.10250) uses
    it. There, every recall adds as much as the one before, without bound, and sets the age to 0.
    Chatter would make a fact immortal then, and the first results would stay the first.
    """
    stretched = half_life_days * (1 + log1p(min(reinforcements, MAX_REINFORCEMENTS)))
    half_lives_passed = min(max(age_days, 0.0) / stretched, MAX_HALF_LIVES)
    left: float = max(importance, LEAST_IMPORTANCE) * 0.5**half_lives_passed
    return max(CORE_FLOOR, left) if tier is Tier.CORE else left
