"""What an incoming text is not about, however much else it shares with a stored one."""

from app.classification.signals import lexicon
from app.classification.signals.endings import find_ending
from app.classification.signals.reading import Reading, parse_text
from app.classification.signals.whole_activity import concerns_other_activity

_SPEAKERS = (("i",), ("we",))
_SEVERAL = lexicon.MANY_VALUED_NOUNS | (lexicon.KIN - lexicon.ONE_AT_A_TIME)


def is_about_another(stored: str, incoming: str) -> bool:
    """Return True if the incoming text says what it changes, and the stored one is not about that.

    It ends another thing, adds one of several, or is about another activity.
    """
    if len(incoming) > _MOST_READ or len(stored) > _MOST_READ:
        return False
    new, old = parse_text(incoming), parse_text(stored)
    return (
        _ends_another(old, new)
        or _adds_one_of_several(new)
        or concerns_other_activity(stored, incoming)
    )


# Characters. What is longer is no single fact.
_MOST_READ = 2_000


def _ends_another(old: Reading, new: Reading) -> bool:
    """Return True for "I've given up sugar" and "I drink wine", or "oat milk" and "almond milk".

    Of others people tell an ending in more words than name its object.
    """
    ending = find_ending(new.text)
    if ending is None or ending.attribute or not ending.remainder:
        return False
    if new.owner not in _SPEAKERS or ending.trigger == "no longer":
        return False
    known = old.words | old.items | frozenset(old.owner)
    if ending.remainder & known:
        return not ending.remainder <= known
    return not ending.ends & known


def _adds_one_of_several(new: Reading) -> bool:
    """Return True for "my new friend is Bea": one may have several."""
    triples = zip(new.tokens, new.tokens[1:], new.tokens[2:], strict=False)
    return any(
        owner.norm in lexicon.FIRST_PERSON | lexicon.FIRST_PLURAL
        and word.norm == "new"
        and thing.norm in _SEVERAL
        for owner, word, thing in triples
    )
