"""Choose what a phrase of time is to its fact, from the outputs of a network."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.domain.dates.facts import TimedText
from app.domain.dates.roles import Role
from app.networks import weigh_logits

# In the order of a network's outputs.
ROLES: Final = tuple(Role)
_DATING: Final = [place for place, role in enumerate(ROLES) if role.dates]

# A text with its phrases of time, and the role of each.
RuledText = tuple[TimedText, list[Role]]


def choose_role(logits: NDArray[np.float32], least: float) -> Role:
    """Return the likeliest role. What is less likely than `least` to date the fact is left open.

    `logits` has one number for each of `ROLES`.
    """
    likely = weigh_logits(logits)
    role = ROLES[int(likely.argmax())]
    return Role.OPEN if role.dates and likely[_DATING].sum() < least else role
