"""Forms of verbs, and what the words behind them point to."""

from app.extraction import words as lists

Words = tuple[str, ...]


def skip_adverbs(rest: Words) -> tuple[frozenset[str], Words]:
    """Return the adverbs at the start, "not" and "no longer" among them, and the other words."""
    place = 0
    while place < len(rest):
        if rest[place : place + 2] == ("no", "longer"):
            place += 2
        elif rest[place] in lists.ADVERBS:
            place += 1
        else:
            break
    return frozenset(rest[:place]), rest[place:]


_NOT_PAST = frozenset("need feed breed speed exceed proceed embed shed weed bleed".split())


def is_past_verb(verb: str) -> bool:
    """Return True for a form that is only of the past."""
    is_regular = verb.endswith("ed") and verb not in _NOT_PAST
    return is_regular or verb in lists.IRREGULAR_PAST or verb in lists.PAST_EVENTS
