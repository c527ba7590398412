"""What an incoming text is not about, however much else it shares with a stored one."""

from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.endings import find_ending
from app.classification.signals.reading import Reading, parse_text
from app.classification.signals.whole_activity import concerns_other_activity

_SEVERAL = lexicon.MANY_VALUED_NOUNS | (lexicon.KIN - lexicon.ONE_AT_A_TIME)


def is_about_another(stored: str, incoming: str) -> bool:
    """Return True if the incoming text says what it changes, and the stored one is not about that.

    It ends another thing, adds one of several, or is about another activity.
    """
    if len(incoming) > _MOST_READ or len(stored) > _MOST_READ:
        return False
    new, old = parse_text(incoming), parse_text(stored)
    return (
        _ends_another(old, incoming)
        or _adds_one_of_several(new)
        or concerns_other_activity(stored, incoming)
    )


# Characters. What is longer is no single fact.
_MOST_READ = 2_000


def _ends_another(old: Reading, incoming: str) -> bool:
    """Return True for "I've given up sugar" and "I drink wine", or "oat milk" and "almond milk"."""
    ending = find_ending(incoming)
    if ending is None or ending.attribute or not ending.remainder:
        return False
    known = old.words | old.items | frozenset(old.owner)
    if ending.remainder & known:
        return not ending.remainder <= known
    return not ending.ends & known


def _adds_one_of_several(new: Reading) -> bool:
    """Return True for "my new friend is Bea": one may have several."""
    return any(a.norm == "new" and b.norm in _SEVERAL for a, b in pairwise(new.tokens))
