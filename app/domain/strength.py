"""How strongly a memory stands out: importance that fades with age, slower where it was said again or used. It sorts and never hides."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log1p

from app.domain.fact import Kind, Tier
from app.domain.version import Memory

CORE_FLOOR = 0.60
MAX_REINFORCEMENTS = 100  # beyond, a half-life grows no further: 1 + ln 101 = 5.6 times the setting
USES_PER_REPETITION = (
    10  # that a search answered it shows interest in it, but nobody has said that it is still so
)
MAX_HALF_LIVES = 60.0  # 2^-60 is nothing already; Postgres refuses a power too small for it instead of calling it 0
LEAST_IMPORTANCE = (
    1e-9  # for the same reason: a product that leaves the range of a double is an error there
)

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Days in which a memory that nobody repeats loses half its strength, per tier and kind; each is above 0."""

    semantic: Mapping[Kind, float]
    core: Mapping[Kind, float]

    def get_days(self, tier: Tier, kind: Kind) -> float:
        return (self.core if tier is Tier.CORE else self.semantic)[kind]


def compute_strength(memory: Memory, as_of: datetime, half_lives: HalfLives) -> float:
    """Strength at `as_of`, 0 to 1.

    Age counts from when the fact was last said (reference 004: `timestamp`, `lastReinforced`), not from its start in the world: an allergy
    "since 1990" that is told today is fresh. A use since then halves the way: age counts from the middle between the two. A fact told
    ahead does not fade before it begins. At moments before that its age is 0.
    """
    fact, usage = memory.fact, memory.usage
    told = (memory.created_at, memory.belief.valid_from, usage.last_reinforced_at)
    said = max(time for time in told if time is not None)
    used = max(said, usage.last_accessed_at or said)
    age = ((as_of - said).total_seconds() - (used - said).total_seconds() / 2) / _DAY
    half_life = half_lives.get_days(memory.belief.tier, fact.kind)
    repetitions = usage.access_count + usage.use_count / USES_PER_REPETITION
    return fade_importance(
        fact.importance,
        memory.belief.tier,
        age_days=age,
        half_life_days=half_life,
        reinforcements=repetitions,
    )


def fade_importance(
    importance: float, tier: Tier, *, age_days: float, half_life_days: float, reinforcements: float
) -> float:
    """Importance halved once per half-life; core keeps its floor (reference 002).

    Repetition stretches the half-life, each time by less: 1 + ln(1 + n) times; ten uses count as one. The curve that repetition flattens
    is Ebbinghaus's, as MemoryBank (arXiv:2305.10250) uses it: there every recall adds as much as the one before, without bound, and sets
    the age to 0, so that chatter would make a fact immortal, and what is shown first would stay first.
    """
    stretched = half_life_days * (1 + log1p(min(reinforcements, MAX_REINFORCEMENTS)))
    half_lives_passed = min(max(age_days, 0.0) / stretched, MAX_HALF_LIVES)
    left: float = max(importance, LEAST_IMPORTANCE) * 0.5**half_lives_passed
    return max(CORE_FLOOR, left) if tier is Tier.CORE else left
