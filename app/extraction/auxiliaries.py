"""Decides on statements with "have", "do", "can" and "will" whether they last."""

from collections.abc import Callable

from app.extraction import words as lists
from app.extraction.events import is_event
from app.extraction.phrases import list_phrases
from app.extraction.states import LASTING_PLANS, UNSTABLE, is_past_state, is_state
from app.extraction.times import has_date, has_habit, has_past_date, has_schedule
from app.extraction.tokens import Clause
from app.extraction.verbs import (
    Words,
    is_past_verb,
    is_pointing,
    names_task,
    names_title,
    skip_adverbs,
)

_NOTHING_HAD = (lists.TASK_NOUNS - {"bad"}) | frozenset(
    """
    few couple lot bit other first plan plans picture their his her no any time access nothing
    something anything everything that this it them these those fever sore cough temperature
    hangover rash cramp cramps opinion opinions view views philosophy preference reason reasons
    choice chance
    limit butterflies
    doubts confession goosebumps feelings concern concerns appetite energy patience slide slides
    page pages deadline
    """.split()
)


_AMOUNTS = frozenset("plenty one some none enough both any lots".split())


def _is_possession(after: Words, clause: Clause) -> bool:
    """Decide by the words after "has"."""
    more, rest = skip_adverbs(after)
    if rest[:1] == ("got",) and len(rest) > 1:
        rest = rest[1:]
    if not rest or _is_at_hand(rest, clause):
        return False
    first = rest[0]
    if first in {"trouble", "difficulty"} and len(rest) > 1:
        return rest[1].endswith("ing")
    if first == "to":
        return has_habit(clause)
    if first == "been":
        is_abroad = "never" in more and not is_pointing(rest[1:]) and rest[1:2] != ("there",)
        return is_abroad or _is_long_time(rest[1:], clause)
    if first in _EXPERIENCED and len(rest) > 1:
        return names_title(rest[1:], clause)
    if is_past_verb(first) or first in _PARTICIPLES:
        return _is_done(more, rest, clause)
    is_code = len(rest) == 2 and rest[1].isdigit()
    if is_code or (len(rest) == 1 and first in _AMOUNTS):
        return False
    if rest[-1] in {"open", "ready", "left", "here"}:
        return False
    if first == "the" or set(rest[:4]) & {"minutes", "seconds", "hours"}:
        return has_schedule(clause)
    if first == "no":
        return not set(rest[1:4]) & (_NOTHING_HAD - {"no", "any"})
    return not set(rest[:4]) & _NOTHING_HAD


def _is_done(adverbs: frozenset[str], rest: Words, clause: Clause) -> bool:
    """Decide by the participle after "has"."""
    first = rest[0]
    if "never" in adverbs:
        return not is_pointing(rest[1:]) and first not in _TALKED_PARTICIPLES
    if first == "had":
        is_long = clause.contains("for", "since") and not names_task(rest[1:], 4)
        return is_long or bool(set(rest[1:4]) & _LIFE_EVENTS)
    if "not" in adverbs:
        return clause.contains("since") and has_past_date(clause)
    is_old = first == "known" and clause.contains("for", "since")
    return is_old or is_event(first, rest[1:], clause)


_TODAY = frozenset("today tonight tomorrow".split())
_MEASURES = frozenset(
    """
    tin tins can cans bag bags sack sacks cup cups pack packs packet packets bottle bottles jar jars
    piece pieces slice slices pound pounds kilo kilos pile bunch stack box boxes list bowl handful
    pinch spoonful pot mug glass plate litre litres pint pints gram grams carton crate half
    """.split()
)
_AT_HAND = frozenset("some leftover leftovers fridge oven pan bowl cupboard front".split())
_PASSING_ILLS = frozenset("cold flu headache migraine stomachache toothache bug nosebleed".split())
_SPANS = frozenset("minutes seconds hours days weeks months minute hour week".split())
_WITHIN = frozenset("left total in to until before for".split())
_PASSING_ENDS = frozenset(
    "staring sitting waiting lying going coming standing looking here".split()
)


def _is_at_hand(rest: Words, clause: Clause) -> bool:
    """Return True for what somebody has for the moment: food, time, a task, a thing before them."""
    if has_habit(clause) and rest != ("an", "hour"):
        return False
    is_measured = bool(set(rest[:2]) & _MEASURES) and (rest[0] == "half" or "of" in rest[:4])
    is_time = bool(set(rest[1:2]) & _SPANS) and bool(set(rest[2:]) & _WITHIN or len(rest) == 2)
    is_today = bool(clause.word_set & _TODAY) and "birthday" not in clause.word_set
    is_food = bool(set(rest) & _AT_HAND) or bool(set(rest[:3]) & _PASSING_ILLS)
    is_chore = rest[0] in {"a", "an", "some", "one"} and rest[-2:-1] == ("to",)
    is_task = is_chore or clause.contains("next to me", "in front of me")
    return (
        is_measured
        or is_time
        or is_today
        or is_food
        or is_task
        or bool(set(rest[2:]) & _PASSING_ENDS)
    )


_EXPERIENCED = frozenset("seen read watched played visited".split())
_TALKED_PARTICIPLES = frozenset("seen heard understood had done used felt thought tried".split())
_PARTICIPLES = frozenset(
    """
    done seen written begun known broken taken gone run put set read come not forgotten shown given
    eaten drunk fallen worn torn drawn grown
    """.split()
)


_SHORT_TIMES = list_phrases(
    """
    hours/ages/minutes/an hour/a while/a bit/all day/all morning/days/forever
    /the whole day/weeks/all afternoon/all evening/since this morning/since yesterday
    /since lunch/since last night
    """
)
_LONG_STATES = frozenset(
    """
    diagnosed promoted vegan vegetarian married sober laid accepted hired moved cancelled canceled
    postponed renamed closed replaced rescheduled sold pushed divorced widowed retired appointed
    """.split()
)
_WORKPLACES = frozenset("at as in for remotely from here there with".split())


_LASTING_PROGRESSIVES = frozenset("learning studying living dating renting teaching".split())
_PASSING_PROGRESSIVES = frozenset(
    """
    trying looking getting debugging staring waiting thinking wondering struggling stuck asking
    fighting having meaning avoiding
    """.split()
)


def _is_long_time(after: Words, clause: Clause) -> bool:
    """Decide by the words after "has been"."""
    _, rest = skip_adverbs(after)
    if not rest or clause.contains(*_SHORT_TIMES):
        return False
    if rest[0] == "to" and not is_pointing(rest[1:]):
        return any(token.is_capital and token.lower != "i" for token in clause.tokens[1:])
    if rest[0] in _LONG_STATES:
        return True
    if rest[0] in _PASSING_PROGRESSIVES:
        return False
    if rest[0] in _LASTING_PROGRESSIVES and not is_pointing(rest[1:]):
        return len(rest) > 1 and not names_task(rest[1:], 4)
    if rest[0] == "working" and not set(rest[1:2]) & _WORKPLACES:
        return False
    if clause.contains("since") and (rest[0] not in UNSTABLE or has_past_date(clause)):
        return True
    is_counted = rest[-1] in {"years", "months", "decades"}
    is_long = is_counted or clause.contains("for", "all my life", "my whole life")
    return rest[0] not in UNSTABLE and is_long


_LIFE_EVENTS = frozenset(
    """
    operations surgeries cancer depression twins surgery
    baby stroke operation children kids sons daughters miscarriage transplant chemo
    """.split()
)
# "We had the gas taken out", "I had my spleen removed".
_LASTING_WORKS = frozenset("out removed replaced installed fitted built amputated pierced".split())


def _is_past_possession(after: Words, clause: Clause) -> bool:
    """Decide by the words after "had"."""
    if names_task(after, 4) or is_pointing(after) or after[:1] == ("to",):
        return False
    if set(after[1:3]) & lists.EVALUATIONS or after[:3] == ("one", "of", "those"):
        return False
    if (
        after[:1]
        and after[0] in {"my", "our", "the", "a", "both"}
        and set(after[2:5]) & _LASTING_WORKS
    ):
        return True
    is_own = after[:1] != ("the",)
    return (is_own and has_past_date(clause)) or bool(set(after[:3]) & _LIFE_EVENTS)


_DENIED = lists.TALK_VERBS | frozenset("seem find want need get even work give".split())
_WHOLE_DENIALS = frozenset("drive drink smoke cook swim".split())


_THIRD_PERSONS = frozenset("he she it they".split())


def _is_denial(after: Words, clause: Clause) -> bool:
    """Decide by the words after "does", most often "not"."""
    _, rest = skip_adverbs(after)
    if not rest:
        return False
    verb, objects = rest[0], rest[1:]
    if verb in {"read", "watch"} and objects and names_title(objects, clause):
        return True
    if verb in _WHOLE_DENIALS:
        return True
    if not objects or is_pointing(objects):
        return False
    if verb in {"have", "own"}:
        is_near = not set(objects[:3]) & (_NOTHING_HAD - {"any", "access"})
        return is_near and objects[-1] != "one" and objects[:2] != ("all", "day")
    if verb == "work" and clause.words[0] in lists.OWNERS:
        return len(objects) > 1
    if verb == "work":
        return bool(set(objects) & _WORKPLACES) or has_schedule(clause)
    if verb in {"need", "get", "see"}:
        return has_habit(clause)
    if verb in lists.QUESTION_WORDS | _THIRD_PERSONS:
        return False
    return verb not in _DENIED and not names_task(objects, 3)


_ABILITIES = frozenset(
    """
    speak play swim drive ski cook code juggle sing ride sail knit dance
    """.split()
)
_INABILITIES = frozenset(
    """
    eat drink drive swim stand tolerate have take work come attend digest sleep walk fly afford wear
    climb touch cook ride run lift donate type hear smell taste handle bear abide
    """.split()
)


def _is_ability(after: Words, clause: Clause) -> bool:
    """Decide by the words after "can"."""
    more, rest = skip_adverbs(after)
    if not rest or is_pointing(rest[1:]):
        return False
    if "not" in more:
        is_passing = clause.contains(
            "right now", "at the moment", "yet", "seem", "today", "tonight", "tomorrow", "this week"
        )
        is_numb = rest[0] == "feel" and rest[1:2] == ("my",)
        return (rest[0] in _INABILITIES or is_numb) and not is_passing
    if "only" in more:
        return has_schedule(clause)
    if rest[0] in {"read", "write", "understand"}:
        return names_title(rest[1:], clause) if rest[1:] else False
    return rest[0] in _ABILITIES and rest[1:2] not in {(), ("to",)}


_WHEREABOUTS = frozenset(
    """
    in at away out on off working travelling traveling visiting staying living moving flying
    """.split()
)


# "My brother won't fly"
_REFUSED = frozenset("eat drink touch fly wear take sleep drive swim speak share wash use".split())
_SURE_PLANS = frozenset("move join retire graduate marry".split())


def _is_plan(after: Words, clause: Clause) -> bool:
    """Decide by the words after "will"."""
    more, rest = skip_adverbs(after)
    if "not" in more and rest and clause.words[0] == "my" and clause.words[1] in lists.PEOPLE:
        return rest[0] in _REFUSED and not is_pointing(rest[1:])
    if len(rest) < 2 or is_pointing(rest[1:]):
        return False
    if "not" in more:
        return rest[0] in {"eat", "drink", "touch", "fly", "wear", "take"}
    if rest[0] == "be":
        return (
            rest[1] in _WHEREABOUTS
            or rest[1].isdigit()
            or (has_date(clause) and rest[1] not in UNSTABLE)
        )
    is_lasting_plan = rest[0] in LASTING_PLANS and has_date(clause)
    return (is_lasting_plan or rest[0] in _SURE_PLANS) and not names_task(rest[1:], 3)


JUDGES: dict[str, Callable[[Words, Clause], bool]] = {
    **dict.fromkeys(("am", "is", "are"), is_state),
    **dict.fromkeys(("was", "were"), is_past_state),
    **dict.fromkeys(("have", "has"), _is_possession),
    **dict.fromkeys(("do", "does"), _is_denial),
    "had": _is_past_possession,
    "been": _is_long_time,
    "can": _is_ability,
    "will": _is_plan,
}
