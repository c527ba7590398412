"""How far a model can be trusted, by what it ends and what it takes back when asked again."""

from app.classification.local.reading import Reading
from app.domain.relation import Judgment

# Hardly one true ending in a hundred is read with this probability of no relation, and has vectors
# that are farther apart.
SURELY_NONE = 0.982
NEAR = 0.47
# A good model ends one such fact in a thousand.
MOST_ENDED = 0.01
# A good model takes back one word in twenty.
MOST_TAKEN_BACK = 0.3
# So many at least make a share.
FEW = 2


class Trust:
    """Counts the candidates that surely hold, and those of them that a model ends.

    Counts also the words that it was asked about again, and those of them that it took back.
    """

    def __init__(self) -> None:
        self.shown = 0
        self.ended = 0
        self.asked_again = 0
        self.taken_back = 0

    @property
    def is_low(self) -> bool:
        """Return True if the model ends what holds, so that its word alone ends nothing."""
        return (self.ended >= FEW and self.ended > MOST_ENDED * self.shown) or (
            self.taken_back >= FEW and self.taken_back > MOST_TAKEN_BACK * self.asked_again
        )

    def count(self, by_model: Judgment) -> None:
        """Count what the model said of a candidate that surely holds."""
        self.shown += 1
        self.ended += by_model.relation.effect.ends_stored

    def count_second_word(self, *, is_confirmed: bool) -> None:
        """Count a word of the model that it was asked about again."""
        self.asked_again += 1
        self.taken_back += not is_confirmed


def surely_holds(reading: Reading, local: Judgment, similarity: float | None) -> bool:
    """Return True if neither the local judge, a signal nor the vectors see that two facts are
    related.
    """
    is_near = similarity is not None and similarity >= NEAR
    return reading.none >= SURELY_NONE and not is_near and not local.findings
