"""Forms of verbs, and what the words behind them point to."""

from app.extraction import words as lists
from app.extraction.tokens import Clause

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


def find_plain_form(verb: str) -> str:
    """Return "work" for "works" and "go" for "goes"; a word without such an ending as it is."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("shes", "ches", "xes", "sses", "oes", "zzes")):
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith(("ss", "us", "'s")):
        return verb[:-1]
    return verb


_POINTING = frozenset("it this that these those them him her you your".split())


def is_pointing(after: Words) -> bool:
    """Return True if the object is a word that points to something outside of the clause."""
    rest = [word for word in after if word not in lists.ADVERBS]
    if rest[:1] in (["this"], ["that"]) and set(rest[1:2]) & lists.LASTING_THINGS:
        return False
    return rest == ["one"] or (bool(rest) and rest[0] in _POINTING)


def names_task(words: Words, count: int) -> bool:
    return bool(set(words[:count]) & lists.TASK_NOUNS)


_WORKS = frozenset(
    "movie movies film films show shows series book books novels games comics".split()
)


def names_title(after: Words, clause: Clause) -> bool:
    """Return True if an object is a work: it begins with a name, or is called a film or a book."""
    first = after[1] if after[0] in {"the", "all", "some", "any"} and len(after) > 1 else after[0]
    is_name = any(token.lower == first and token.is_capital for token in clause.tokens[1:])
    return is_name or bool(set(after[:5]) & _WORKS and not is_pointing(after))


_NOT_PAST = frozenset("need feed breed speed exceed proceed embed shed weed bleed".split())


def is_past_verb(verb: str) -> bool:
    """Return True for a form that is only of the past."""
    is_regular = verb.endswith("ed") and verb not in _NOT_PAST
    return is_regular or verb in lists.IRREGULAR_PAST or verb in lists.PAST_EVENTS
