"""Decides by its verb whether what is said of somebody lasts, or only tells of the moment."""

from app.extraction import words as lists
from app.extraction.times import has_date, has_habit, has_past_date, has_schedule
from app.extraction.tokens import Clause

Words = tuple[str, ...]


def is_lasting(rest: Words, clause: Clause) -> bool:
    """Return True if the words after a subject tell something that lasts, or a change.

    `rest` begins with the verb or its adverbs. The verb is in its plain form or in the third
    person.
    """
    adverbs, rest = skip_adverbs(rest)
    if not rest or clause.contains(*_SOON):
        return False
    verb, after = rest[0], rest[1:]
    if verb in _JUDGES:
        return _JUDGES[verb](adverbs, after, clause)
    if verb == "must":
        return has_date(clause) and not is_pointing(after[1:])
    if verb in lists.AUXILIARIES:
        return False
    if verb == "used" and after[:1] == ("to",):
        return len(after) > 2
    if is_past_verb(verb):
        return is_event(verb, after, clause)
    return _is_habit(find_plain_form(verb), after, clause)


_SOON = (
    "in five",
    "in ten",
    "in a minute",
    "in a sec",
    "in a bit",
    "in five minutes",
    "any minute",
)


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
    return bool(rest) and rest[0] in _POINTING


def _names_task(words: Words, count: int) -> bool:
    return bool(set(words[:count]) & lists.TASK_NOUNS)


# --- to be

_MOMENTS = frozenset(
    """
    meeting hurry rush middle way fence verge loss mood it phone train bus board laptop same page
    call break trouble mess pain tears panic zone point side debt luck shock minds line lines step chapter level work airport home bed station gym shop
    supermarket desk computer kitchen car town hospital doctors hotel office door bus
    """.split()
)
_UNSTABLE = lists.MOODS | lists.EVALUATIONS
# These last if it is told when or how often.
_SCHEDULED = frozenset(
    """
    open free home late early up down off out busy available back short long closed on away in
    quiet ready about slow new due
    """.split()
)
_NO_COMPLEMENT = frozenset(
    "that to what how why whether because when if like as more less with there where".split()
)


def _is_state(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "is"."""
    more, rest = skip_adverbs(after)
    if not rest or rest[0] in _NO_COMPLEMENT:
        return rest[:1] == ("with",) and len(rest) > 2 and not is_pointing(rest[1:])
    first, following = rest[0], set(rest[1:2])
    if first == "going":
        return _is_going(rest[1:], clause)
    if first == "getting":
        return bool(following & {"married", "divorced"}) or bool(set(rest[2:4]) & _ACQUIRED)
    if first == "about":
        return following != {"to"} and not following & _UNSTABLE and len(rest) > 1
    if first.endswith("ing") and len(first) > 4 and first not in {"during", "evening", "morning"}:
        return _is_progress(first, rest[1:], clause)
    if first in {"on", "in", "at"} and set(rest[1:4]) & _MOMENTS:
        return has_habit(clause)
    if first in {"a", "an"}:
        return not following & lists.NO_CLASS and not _names_task(rest[1:], 2)
    if more & lists.INTENSIFIERS and first not in {
        "allergic",
        "scared",
        "afraid",
        "terrified",
        "into",
        "close",
    }:
        return False
    if first in {"afraid", "scared", "terrified"}:
        return (
            following == {"of"} and len(rest) > 2 and rest[2] not in {"the", "this", "that", "it"}
        )
    if first in _SCHEDULED and first in _UNSTABLE:
        return has_schedule(clause)
    return first not in _UNSTABLE


_ACQUIRED = frozenset(
    """
    dog cat puppy kitten house flat apartment car divorce promotion baby new job tattoo mortgage
    raise bike boat van motorbike piano degree licence license diploma
    """.split()
)


def _is_progress(verb: str, after: Words, clause: Clause) -> bool:
    """Decide on "is learning …"."""
    if is_pointing(after) or _names_task(after, 3) or not after:
        return False
    if verb in lists.TASK_PROGRESSIVES or (verb == "working" and after[0] == "on"):
        return False
    return verb in lists.PROGRESSIVE_FACTS or has_date(clause)


_TASK_PLANS = frozenset(
    "try use do check see look test add write make need ask fix send call".split()
)
_LASTING_PLANS = frozenset(
    """
    be have start move join leave turn travel fly arrive visit stay retire attend graduate become
    marry host teach open close study
    """.split()
)


def _is_going(after: Words, clause: Clause) -> bool:
    if after[:1] != ("to",):
        return bool(set(after[1:2]) & {"holiday", "vacation", "leave"}) or has_date(clause)
    following = after[1] if len(after) > 1 else ""
    if following in _LASTING_PLANS:
        is_sure = following not in {"have", "be", "start", "leave"} or has_date(clause)
        return is_sure and len(after) > 2 and not is_pointing(after[2:])
    return has_date(clause) and following not in _TASK_PLANS


_SURE_PLANS = frozenset("move join retire graduate marry".split())
_PAST_STATES = frozenset(
    """
    born raised diagnosed promoted hired fired adopted vaccinated elected homeschooled brought moved
    founded built renamed cancelled canceled postponed rescheduled sold closed named made married
    bought replaced cut laid retired widowed
    """.split()
)


def _is_past_state(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "was"."""
    more, rest = skip_adverbs(after)
    if not rest or "not" in more or rest[0] in _UNSTABLE or rest[0].endswith("ing"):
        return False
    if rest[0] in _PAST_STATES:
        return not is_pointing(rest[1:]) and (rest[0] != "closed" or has_date(clause))
    if has_past_date(clause):
        return not _names_task(rest, 4)
    is_role = rest[0] in {"a", "an", "the", "in", "at", "vegan", "vegetarian", "my", "our"}
    return is_role and clause.contains("for", "until") and not _names_task(rest[1:], 3)


# --- to have

_NOTHING_HAD = (
    lists.TASK_NOUNS
    | frozenset("few couple lot bit other first plan picture their his her".split())
    | frozenset(
        "no any time access nothing something anything everything that this it them these those plans".split()
    )
)


def _is_possession(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "has"."""
    more, rest = skip_adverbs(after)
    if rest[:1] == ("got",) and len(rest) > 1:
        rest = rest[1:]
    if not rest:
        return False
    first = rest[0]
    if first == "to":
        return has_habit(clause)
    if first == "been":
        return _is_long_time(rest[1:], clause)
    if "never" in more:
        return not is_pointing(rest[1:]) and first not in _TALKED_PARTICIPLES
    if first == "had":
        return clause.contains("for", "since") and not _names_task(rest[1:], 4)
    if is_past_verb(first) or first in _PARTICIPLES:
        is_old = first == "known" and clause.contains("for", "since")
        return is_old or is_event(first, rest[1:], clause)
    if len(rest) == 1 and first in {
        "plenty",
        "one",
        "some",
        "none",
        "enough",
        "both",
        "any",
        "lots",
    }:
        return False
    if first == "the" or set(rest[:4]) & {"minutes", "seconds", "hours"}:
        return has_schedule(clause)
    if first == "no":
        return not set(rest[1:4]) & (_NOTHING_HAD - {"no", "any"})
    return not set(rest[:4]) & _NOTHING_HAD


_TALKED_PARTICIPLES = frozenset("seen heard understood had done used felt thought tried".split())
_PARTICIPLES = frozenset(
    """
    done seen written begun known broken taken gone run put set read come not forgotten shown given
    eaten drunk fallen worn torn drawn grown
    """.split()
)


_SHORT_TIMES = (
    "hours", "ages", "minutes", "an hour", "a while", "a bit", "all day", "all morning", "days",
    "forever", "the whole day", "weeks", "all afternoon", "all evening", "since this morning",
    "since yesterday", "since lunch", "since last night",
)  # fmt: skip
_LONG_STATES = frozenset(
    """
    diagnosed promoted vegan vegetarian married sober laid accepted hired moved cancelled canceled
    postponed renamed closed replaced rescheduled sold pushed divorced widowed retired appointed
    """.split()
)
_WORKPLACES = frozenset("at as in for remotely from here there with".split())


_PASSING_PROGRESSIVES = frozenset(
    """
    trying looking getting debugging staring waiting thinking wondering struggling stuck asking
    fighting having meaning avoiding
    """.split()
)


def _is_long_time(after: Words, clause: Clause) -> bool:
    """Decide by the words after "has been"."""
    more, rest = skip_adverbs(after)
    if not rest or clause.contains(*_SHORT_TIMES):
        return False
    if rest[0] in _LONG_STATES:
        return True
    if rest[0] in _PASSING_PROGRESSIVES:
        return False
    if rest[0] == "working" and not set(rest[1:2]) & _WORKPLACES:
        return False
    if clause.contains("since"):
        return True
    return rest[0] not in _UNSTABLE and clause.contains("for", "all my life", "my whole life")


def _is_past_possession(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "had"."""
    if _names_task(after, 4) or is_pointing(after) or after[:1] == ("to",):
        return False
    return has_past_date(clause) or bool(
        set(after[:3]) & {"twins", "surgery", "baby", "stroke", "operation"}
    )


# --- to do, can, will

_DENIED = lists.TALK_VERBS | frozenset("seem find want need get even work give".split())
_WHOLE_DENIALS = frozenset("drive drink smoke cook swim".split())


def _is_denial(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "does", most often "not"."""
    more, rest = skip_adverbs(after)
    if not rest:
        return False
    verb, objects = rest[0], rest[1:]
    if verb in _WHOLE_DENIALS:
        return True
    if not objects or is_pointing(objects):
        return False
    if verb in {"have", "own"}:
        return objects[-1:] != ("one",) and not set(objects[:3]) & (
            _NOTHING_HAD - {"any", "access"}
        )
    if verb == "work":
        return bool(set(objects) & _WORKPLACES) or has_schedule(clause)
    if verb in {"need", "get", "see"}:
        return has_habit(clause)
    return verb not in _DENIED and not _names_task(objects, 3)


_ABILITIES = frozenset(
    "speak play swim drive ski cook code juggle sing ride sail knit dance".split()
)
_INABILITIES = frozenset(
    """
    eat drink drive swim stand tolerate have take work come attend digest sleep walk fly afford wear
    climb touch cook ride run lift donate type hear smell taste handle bear abide
    """.split()
)


def _is_ability(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "can"."""
    more, rest = skip_adverbs(after)
    if not rest or is_pointing(rest[1:]):
        return False
    if "not" in more:
        is_passing = clause.contains("right now", "at the moment", "yet", "seem")
        return rest[0] in _INABILITIES and not is_passing
    if "only" in more:
        return has_schedule(clause)
    return rest[0] in _ABILITIES and rest[1:2] not in {(), ("to",)}


_WHEREABOUTS = frozenset(
    """
    in at away out on off working travelling traveling visiting staying living moving flying
    """.split()
)


def _is_plan(adverbs: frozenset[str], after: Words, clause: Clause) -> bool:
    """Decide by the words after "will"."""
    more, rest = skip_adverbs(after)
    if len(rest) < 2 or is_pointing(rest[1:]):
        return False
    if "not" in more:
        return rest[0] in {"eat", "drink", "touch", "fly", "wear", "take"}
    if rest[0] == "be":
        return (
            rest[1] in _WHEREABOUTS
            or rest[1].isdigit()
            or (has_date(clause) and rest[1] not in _UNSTABLE)
        )
    is_lasting_plan = rest[0] in _LASTING_PLANS and has_date(clause)
    return (is_lasting_plan or rest[0] in _SURE_PLANS) and not _names_task(rest[1:], 3)


_JUDGES = {
    **dict.fromkeys(("am", "is", "are"), _is_state),
    **dict.fromkeys(("was", "were"), _is_past_state),
    **dict.fromkeys(("have", "has"), _is_possession),
    **dict.fromkeys(("do", "does"), _is_denial),
    "had": _is_past_possession,
    "can": _is_ability,
    "will": _is_plan,
}

# --- other verbs

_NOT_PAST = frozenset("need feed breed speed exceed proceed embed shed weed bleed".split())


def is_past_verb(verb: str) -> bool:
    """Return True for a form that is only of the past."""
    is_regular = verb.endswith("ed") and verb not in _NOT_PAST
    return is_regular or verb in lists.IRREGULAR_PAST or verb in lists.PAST_EVENTS


def is_event(verb: str, after: Words, clause: Clause) -> bool:
    """Return True if a past verb tells of a change, or of something long ago."""
    if not after or is_pointing(after) or verb in lists.TALK_PAST or _names_task(after, 4):
        return False
    if has_past_date(clause):
        return True
    following = lists.PAST_EVENT_PHRASES.get(verb)
    if following is None:
        return verb in lists.PAST_EVENTS
    if verb == "decided":
        return _is_decision(after, clause)
    if verb in {"bought", "got", "booked"} and set(after[:4]) & _ACQUIRED:
        return True
    return after[0] in following and verb not in {"bought", "booked"}


def _is_decision(after: Words, clause: Clause) -> bool:
    """Return True for what "we" decided, or somebody about themselves with a name or a date."""
    is_waiting = set(after[:3]) & {"wait", "against", "it", "that", "this", "skip", "try"}
    has_name = any(token.is_capital and token.lower != "i" for token in clause.tokens[1:])
    return not is_waiting and (clause.words[0] == "we" or has_name or has_date(clause))


_INTRANSITIVE = frozenset(
    "smoke drive cook knit run swim cycle meditate freelance snore paint rent".split()
)
# Verbs of talk that tell of a habit if they have such an object.
_LASTING_OBJECTS = {
    "get": frozenset("up migraines seasick carsick hayfever paid my our".split()),
    "need": frozenset("my glasses subtitles".split()),
    "know": frozenset("python french some german spanish sql".split()),
    "see": frozenset("my a our".split()),
    "feel": frozenset(),
    "say": frozenset(),
}


_ARTICLES = frozenset("the a an this these those some my your".split())
_PREPOSITIONS = frozenset("for at in on with to from of about by".split())


def _is_habit(verb: str, after: Words, clause: Clause) -> bool:
    """Return True if a verb in the present tells what somebody does as a rule."""
    if verb == "keep":
        return bool(after) and not is_pointing(after) and not after[0].endswith("ing")
    if verb in lists.TALK_VERBS:
        return _is_lasting_talk(verb, after, clause)
    if verb in lists.TASK_VERBS or not verb.replace("-", "").isalpha():
        return False
    if not after:
        return verb in _INTRANSITIVE
    if len(after) == 1 and after[0] in _PREPOSITIONS:
        return False
    if verb in {"prefer", "love", "hate", "like", "dislike", "enjoy"}:
        is_choice = after[0] == "the" and set(after[1:3]) & (lists.DISCOURSE | lists.TASK_NOUNS)
        return not is_pointing(after) and not is_choice
    is_task = after[0] in _ARTICLES and _names_task(after, 3)
    return not is_pointing(after) and (not is_task or has_habit(clause))


def _is_lasting_talk(verb: str, after: Words, clause: Clause) -> bool:
    if verb == "say":
        inner = after[1:] if after[:1] == ("that",) else after
        return (
            len(inner) > 2
            and inner[0] in {"he", "she", "they"}
            and inner[1] in {"is", "are", "has", "have"}
        )
    if verb in {"try", "see", "get", "read", "need"}:
        if has_habit(clause) and not is_pointing(after):
            return True
    return (
        verb in {"get", "need", "know"}
        and bool(after)
        and after[0] in _LASTING_OBJECTS[verb]
        and not _names_task(after, 4)
    )
