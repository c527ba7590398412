"""Decides whether a past verb tells of a change, or only of what was done a moment ago."""

from app.extraction import words as lists
from app.extraction.times import has_date, has_past_date
from app.extraction.tokens import Clause
from app.extraction.verbs import Words, is_pointing, names_task

# What somebody gets or buys of which a life takes notice.
ACQUIRED = frozenset(
    """
    dog cat puppy kitten house flat apartment car divorce promotion baby new job tattoo mortgage
    raise bike boat van motorbike piano degree licence license diploma
    """.split()
)


# What somebody does to become or learn something.
COURSES = frozenset(
    """
    course degree phd masters apprenticeship internship residency a-levels levels gcses bachelor
    thesis training master bachelors
    """.split()
)

# What is lost for good, unlike keys.
_LOSSES = lists.PEOPLE | frozenset(
    "job house home licence license hearing sight parents leg".split()
)

_LEFT = (
    _LOSSES
    | frozenset("company team project band choir club school country town city army navy".split())
    | frozenset("police party union church firm board uni university".split())
)


def is_event(verb: str, after: Words, clause: Clause) -> bool:
    """Return True if a past verb tells of a change, or of something long ago."""
    if not after or is_pointing(after) or verb in lists.TALK_PAST or names_task(after, 4):
        return False
    if has_past_date(clause) or _is_change(verb, after):
        return True
    if verb == "came" and after[0] == "from":
        return _names_object(after[1:], clause)
    if verb in {"went", "did"} and _names_school(verb, after):
        return True
    following = lists.PAST_EVENT_PHRASES.get(verb)
    if following is None:
        is_task = verb == "worked" and after[0] in {"on", "out", "it", "fine", "well", "perfectly"}
        return verb in lists.PAST_EVENTS and not is_task
    if verb == "decided":
        return _is_decision(after, clause)
    if verb in {"bought", "got", "booked"} and set(after[:4]) & ACQUIRED:
        return True
    if verb in {"given", "gave", "came"} and after[0] in {"up", "off"} and len(after) == 1:
        return False
    if verb in {"left", "joined"} and _names_object(after, clause):
        return True
    if verb == "sold" and set(after[:4]) & ACQUIRED:
        return True
    if verb == "left" and after[0] in {"my", "our", "the"} and not set(after[1:4]) & _LEFT:
        return False
    if verb == "lost" and not set(after[1:3]) & _LOSSES:
        return False
    return after[0] in following and verb not in {"bought", "booked"}


_EXCHANGES = frozenset("swapped traded exchanged replaced switched".split())
_LASTING_STARTS = frozenset("trying getting thinking wondering looking seeing feeling".split())
_GONE = frozenset(
    "vegan vegetarian freelance part-time full-time solo remote paperless grey".split()
)


def _is_change(verb: str, after: Words) -> bool:
    """Return True for a change of habit: "swapped cigarettes for a vape", "started swimming"."""
    if verb in _EXCHANGES:
        return after[0] not in {"the", "a"} and bool({"for", "by", "with"} & set(after[1:5]))
    if verb in {"stopped", "started", "quit"}:
        is_gerund = after[0].endswith("ing") and after[0] not in lists.TASK_PROGRESSIVES
        return is_gerund and after[0] not in _LASTING_STARTS
    if verb in {"learned", "learnt"}:
        return after[0] in {"to", "how"} or after[0].endswith("ing")
    return verb in {"went", "gone"} and after[0] in _GONE


_SCHOOLS = frozenset("university college school uni academy polytechnic".split())


def _names_school(verb: str, after: Words) -> bool:
    """Return True for "went to Towson University" and "did my degree in Hull"."""
    if verb == "went":
        return after[0] == "to" and bool(set(after[2:5]) & _SCHOOLS)
    return after[0] in {"my", "a", "an"} and bool(set(after[1:3]) & COURSES)


def _names_object(after: Words, clause: Clause) -> bool:
    """Return True if the object is a name: "left Verdelho"."""
    return after != () and any(
        token.lower == after[0] and token.is_capital for token in clause.tokens[1:]
    )


def _is_decision(after: Words, clause: Clause) -> bool:
    """Return True for what "we" decided, or somebody about themselves with a name or a date."""
    is_waiting = set(after[:3]) & {"wait", "against", "it", "that", "this", "skip", "try"}
    has_name = any(token.is_capital and token.lower != "i" for token in clause.tokens[1:])
    return not is_waiting and (clause.words[0] == "we" or has_name or has_date(clause))
