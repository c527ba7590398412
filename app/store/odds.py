"""What a score means: the chance that a memory or a message answers the question.

The best of an answer compete with one another, and with `none`, that nothing stored answers. So ten
that are alike share what one alone would have, and the chance means the same in each mode.
"""

from dataclasses import dataclass

# So many compete, whatever the limit of the answer is.
COMPETING = 10


@dataclass(frozen=True, slots=True)
class _Odds:
    """What is ahead by 1 is `sharpness` times e as likely. `none` stands where nothing answers."""

    sharpness: float
    none: float


# scripts/score_search.py learns them from 600 questions, and from the same ones with their
# answers taken away, which count for a third.
_ODDS = {"hybrid": _Odds(11.0, 4.5), "vector": _Odds(12.8, 4.8), "text": _Odds(0.9, 2.0)}


def build_chance(mode: str) -> str:
    """Return the SQL of the chance of what has this `score`. The CTE `best` has what competes."""
    odds = _ODDS[mode]
    return f"""
        exp({odds.sharpness} * score) / (
            SELECT exp({odds.none}) + sum(exp({odds.sharpness} * competing.score))
            FROM (SELECT score FROM best ORDER BY score DESC LIMIT {COMPETING}) AS competing
        )
    """
