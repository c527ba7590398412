"""How strongly a memory stands out: importance that fades with age, slower where it was said again. It sorts and never hides."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log1p

from app.domain.memory import Kind, Memory, Tier

CORE_FLOOR = 0.60
MAX_REINFORCEMENTS = 100  # beyond, a half-life grows no further: 1 + ln 101 = 5.6 times the setting
MAX_HALF_LIVES = 60.0  # 2^-60 is nothing already; Postgres refuses a power too small for it instead of calling it 0
LEAST_IMPORTANCE = 1e-9  # for the same reason: a product that leaves the range of a double is an error there

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Days in which a memory that nobody repeats loses half its strength, per tier and kind; each is above 0."""

    semantic: Mapping[Kind, float]
    core: Mapping[Kind, float]

    def days(self, tier: Tier, kind: Kind) -> float:
        return (self.core if tier is Tier.CORE else self.semantic)[kind]


def strength(memory: Memory, as_of: datetime, half_lives: HalfLives) -> float:
    """Strength at `as_of`, 0 to 1.

    Age counts from when the fact was last said (reference 004: `timestamp`, `lastReinforced`), not from its start in the world: an allergy
    "since 1990" that is told today is fresh. A fact told ahead does not fade before it begins. At moments before that its age is 0.
    """
    fact, usage = memory.fact, memory.usage
    said = (memory.created_at, memory.belief.valid_from, usage.last_reinforced_at)
    age = (as_of - max(time for time in said if time is not None)).total_seconds() / _DAY
    assert fact.importance is not None
    assert fact.kind is not None
    half_life = half_lives.days(memory.belief.tier, fact.kind)
    return faded(fact.importance, memory.belief.tier, age_days=age, half_life_days=half_life, reinforcements=usage.access_count)


def faded(importance: float, tier: Tier, *, age_days: float, half_life_days: float, reinforcements: int) -> float:
    """Importance halved once per half-life; core keeps its floor (reference 002).

    Repetition stretches the half-life, each time by less: 1 + ln(1 + n) times. The curve that repetition flattens is Ebbinghaus's,
    as MemoryBank (arXiv:2305.10250) uses it; there every recall adds as much as the one before, without bound, so that chatter
    would make a fact immortal.
    """
    stretched = half_life_days * (1 + log1p(min(reinforcements, MAX_REINFORCEMENTS)))
    half_lives_passed = min(max(age_days, 0.0) / stretched, MAX_HALF_LIVES)
    left: float = max(importance, LEAST_IMPORTANCE) * 0.5**half_lives_passed
    return max(CORE_FLOOR, left) if tier is Tier.CORE else left
