"""What a score means: the chance that a memory or a message answers the question.

The best of an answer compete with one another, and with `none`, that nothing stored answers. So ten
that are alike share what one alone would have, and the chance means the same in each mode.
"""

from dataclasses import dataclass

# So many compete, whatever the limit of the answer is.
COMPETING = 10


@dataclass(frozen=True, slots=True)
class Odds:
    """What is ahead by 1 is `sharpness` times e as likely. `none` stands where nothing answers."""

    sharpness: float
    none: float


# scripts/score_search.py learns them from 600 questions about memories and 150 about messages, and
# from the same ones with their answers taken away, which count for a third.
ODDS = {"hybrid": Odds(11.0, 4.5), "vector": Odds(12.8, 4.8), "text": Odds(0.9, 2.0)}
ODDS_OF_MESSAGES = ODDS | {"hybrid": Odds(9.8, 5.4)}

# One point of a cosine says as much as 12 points of a rank by words: 11.0 to 0.9, as above.
RANKS_PER_COSINE = 12


def build_chance(odds: Odds) -> str:
    """Return the SQL of the chance of what has this `score`. The CTE `best` has what competes."""
    return f"""
        exp({odds.sharpness} * score) / (
            SELECT exp({odds.none}) + sum(exp({odds.sharpness} * competing.score))
            FROM (SELECT score FROM best ORDER BY score DESC LIMIT {COMPETING}) AS competing
        )
    """
