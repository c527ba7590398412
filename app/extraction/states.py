"""Decides on statements with "be" whether they last."""

from collections.abc import Callable

from app.extraction import words as lists
from app.extraction.events import ACQUIRED, COURSES
from app.extraction.phrases import list_phrases
from app.extraction.times import has_date, has_habit, has_past_date, has_schedule
from app.extraction.tokens import Clause
from app.extraction.verbs import Words, is_pointing, names_task, skip_adverbs

_MOMENTS = frozenset(
    """
    end meeting hurry rush middle way fence verge loss mood it phone train bus board laptop same
    page call break trouble mess pain tears panic zone point side hold table
    debt luck shock minds line lines
    percent
    step chapter level work airport home bed station gym shop supermarket desk computer kitchen
    car town hospital doctors hotel office door settings menu folder
    """.split()
)
# Moods, opinions, and how a thing at hand behaves.
UNSTABLE = lists.MOODS | lists.EVALUATIONS
# These last if it is told when or how often.
_SCHEDULED = frozenset(
    """
    open free home late early up down off out busy available back short long closed on away in
    quiet ready about slow new due
    """.split()
)
_NO_COMPLEMENT = frozenset(
    """
    that to what how why whether because when if like as more less with there where such and but or
    """.split()
)


_TRAITS = frozenset(
    """
    shy introverted extroverted organised organized messy competitive clumsy impatient stubborn
    religious sporty frugal picky squeamish athletic chatty bipolar forgetful punctual
    """.split()
)
_FRAIL = frozenset(
    "bad weak poor terrible stiff worse worst shot dodgy knackered long short".split()
)
_BODY = frozenset(
    """
    back knee knees hip hips neck shoulder shoulders eyes eyesight ears hearing heart lungs feet
    hair ankle ankles hands wrist wrists memory allergies eczema asthma skin teeth
    """.split()
)
# "I'm bad with names", "she is good at chess".
_SKILLED = frozenset(
    "good bad terrible great awful hopeless rubbish useless brilliant excellent better".split()
)
_FEARS = frozenset("afraid scared terrified".split())
# With "very" and the like these last; other words are opinions then.
_MEASURED = _FEARS | {"allergic", "into", "close"}
_NOW = list_phrases("today/tonight/this morning/right now/just now/at the moment/this minute")
_LASTING_STAYS = frozenset("living staying studying renting".split())
_NO_VERBS = frozenset("during evening morning".split())


def is_state(after: Words, clause: Clause) -> bool:
    """Decide by the words after "is"."""
    more, rest = skip_adverbs(after)
    if not rest or rest[0] in _NO_COMPLEMENT:
        return rest[:1] == ("with",) and len(rest) > 1 and not is_pointing(rest[1:])
    first = rest[0]
    is_now = clause.contains(*_NOW) and first not in _LASTING_STAYS
    if is_now and "birthday" not in clause.word_set:
        return False
    if _is_trait(rest, clause) and "so" not in more:
        return True
    if _is_passing(rest, clause) or _is_bare_mood(rest, clause):
        return False
    is_renounced = first == "off" and set(rest[1:2]).isdisjoint(_AFTER_OFF) and len(rest) > 1
    is_old = clause.words[0] in lists.OWNERS and clause.contains("since")
    if is_renounced or (first in UNSTABLE and is_old):
        return True
    if first in _WITH_FOLLOWING:
        return _WITH_FOLLOWING[first](rest[1:], clause)
    if first.endswith("ing") and len(first) > 4 and first not in _NO_VERBS:
        return _is_progress(first, rest[1:], clause)
    if more & lists.INTENSIFIERS and first not in _MEASURED:
        return False
    if first in _SCHEDULED and first in UNSTABLE:
        return has_schedule(clause)
    return first not in UNSTABLE and rest[:2] != ("out", "of")


_RATHER = {("a", "bit", "of"), ("more", "of", "a"), ("much", "of", "a")}


def _is_trait(rest: Words, clause: Clause) -> bool:
    """Return True for what somebody is like, is good at or is interested in."""
    if rest[:3] in _RATHER and len(rest) > 3:
        return not names_task(rest[3:], 3)
    if rest[:2] == ("interested", "in") and len(rest) > 2:
        is_task = is_pointing(rest[2:]) or set(rest[2:3]) & {"the", "how", "what"}
        return not is_task and not rest[2].endswith("ing")
    if rest[0] in _SKILLED and rest[1:2] in {("at",), ("with",)}:
        return not is_pointing(rest[2:]) and len(rest) > 2
    is_language = clause.words[0] == "my" and clause.tokens[1].is_capital and len(rest) == 1
    if is_language and rest[0] in lists.EVALUATIONS:
        return True
    is_frail = clause.words[0] in lists.OWNERS and bool(set(clause.words[1:3]) & _BODY)
    return (rest[0] in _TRAITS and len(rest) == 1) or (is_frail and rest[0] in _FRAIL)


def _is_place(after: Words, clause: Clause) -> bool:
    """Decide on "is in …", which for many nouns is so for the moment."""
    is_near = bool(set(after[:3]) & {"this", "that", "these"})
    is_counted = after[:1] == ("my",) and bool(set(after[1:2]) & lists.DISCOURSE)
    is_passing = is_near or is_counted or bool(set(after[:3]) & _MOMENTS)
    return not is_passing or has_habit(clause)


# What a speaker alone says of themselves with one word, if it lasts; other such words are moods.
LASTING_ADJECTIVES = lists.STATES | frozenset(
    """
    pescatarian pescetarian celiac asthmatic dyslexic autistic epileptic anaemic anemic colourblind
    colorblind mute disabled gay lesbian bisexual bi trans nonbinary straight queer single widowed
    engaged separated unemployed freelance teetotal sober religious atheist agnostic catholic
    jewish muslim christian hindu buddhist bilingual trilingual ambidextrous hypertensive intolerant
    insured vaccinated tall bald ginger blonde blond introverted extroverted adopted homeschooled
    self-employed childless lefthanded righthanded shortsighted longsighted insulin-dependent
    expecting claustrophobic
    """.split()
)
_AFTER_OFF = frozenset("to work sick today now for topic by on and the this until".split())
_ALREADY = {"still", "already", "now", "too", "also", "again", "anymore"}


def _is_passing(rest: Words, clause: Clause) -> bool:
    """Return True for "the oven is on", "I'm half asleep" and "I'm no expert"."""
    is_half = rest[0] == "half" and bool(set(rest[1:2]) & UNSTABLE)
    is_modest = rest[0] == "no" and clause.words[0] == "i"
    is_joke = "i" in clause.words[:1] and (
        rest[:2] == ("the", "same")
        or rest[0] == "your"
        or (rest[0] == "the" and bool(set(rest[1:2]) & UNSTABLE))
    )
    is_partway = len(rest) > 1 and rest[-1] == "in"
    return is_half or is_modest or is_joke or is_partway or rest in {("on",), ("off",)}


def _is_bare_mood(rest: Words, clause: Clause) -> bool:
    """Return True for "I'm bitter": one word of oneself that is not known to last."""
    has_more = bool(set(rest[1:]) - _ALREADY) and not rest[0].endswith("ly")
    if has_more or clause.words[0] not in lists.FIRST_PERSON:
        return False
    word = rest[0]
    if word.endswith("ly") and len(rest) == 2:
        return True
    is_name = any(token.lower == word and token.is_capital for token in clause.tokens)
    return not (is_name or word[0].isdigit() or "-" in word or word in LASTING_ADJECTIVES)


_DISCLAIMED = frozenset("expert fan robot idiot fool genius saint monster lawyer doctor".split())


def _is_class(after: Words, clause: Clause) -> bool:
    """Decide on "is a …"."""
    is_joke = "i" in clause.words[:2] and bool(set(after[:1]) & _DISCLAIMED)
    is_joke = is_joke and after[:2] != ("fan", "of")
    is_joke = is_joke or clause.contains(
        "am just a", "am just an", "am such a", "are just a", "am being a"
    )
    return not is_joke and not set(after[:1]) & lists.NO_CLASS and not names_task(after, 2)


def _is_fear(after: Words, clause: Clause) -> bool:
    """Decide on "is afraid of …"."""
    return after[:1] == ("of",) and not set(after[1:2]) & {"the", "this", "that", "it"}


def _is_getting(after: Words, clause: Clause) -> bool:
    is_married = bool(set(after[:1]) & {"married", "divorced"})
    return is_married or bool(set(after[1:3]) & ACQUIRED)


def _is_about(after: Words, clause: Clause) -> bool:
    return bool(after) and after[0] != "to" and after[0] not in UNSTABLE


def _is_hard(after: Words, clause: Clause) -> bool:
    """Decide on "is hard …", of which only "hard of hearing" lasts."""
    return after[:1] == ("of",)


_LONG_TRIALS = frozenset("lose quit save learn conceive become".split())
_ACTIVITY_NOUNS = frozenset("hobby hobbies passion job sport pastime favourite favorite".split())


def _is_progress(verb: str, after: Words, clause: Clause) -> bool:
    """Decide on "is learning …"."""
    if verb == "doing" and set(after[:5]) & COURSES:
        return True
    if not after:
        return bool(set(clause.words[1:3]) & _ACTIVITY_NOUNS)
    if is_pointing(after) or names_task(after, 3):
        return False
    if verb == "coming" and after[0] == "to":
        return after[1:2] in {("live",), ("stay",), ("work",)}
    if verb == "having":
        return bool(set(after[:2]) & {"surgery", "baby", "operation", "twins", "chemo"})
    if verb == "coming" and after[0] == "up":
        return clause.words[0] in lists.OWNERS and has_date(clause)
    if verb == "trying" and after[0] == "to" and set(after[1:2]) & _LONG_TRIALS:
        return len(after) > 2 and not is_pointing(after[2:]) and not names_task(after[2:], 3)
    if verb == "seeing" and set(after[1:4]) & lists.PEOPLE:
        return True
    if verb in lists.TASK_PROGRESSIVES or (verb == "working" and after[0] == "on"):
        return False
    return verb in lists.PROGRESSIVE_FACTS or has_date(clause)


_TASK_PLANS = frozenset(
    """
    try use do check see look test add write make need ask fix send call
    """.split()
)
LASTING_PLANS = frozenset(
    """
    be have start move join leave turn travel fly arrive visit stay retire attend graduate become
    marry host teach open close study
    """.split()
)


def _is_going(after: Words, clause: Clause) -> bool:
    if after[:1] != ("to",):
        return bool(set(after[1:2]) & {"holiday", "vacation", "leave"}) or has_date(clause)
    following = after[1] if len(after) > 1 else ""
    if following in LASTING_PLANS:
        is_sure = following not in {"have", "be", "start", "leave"} or has_date(clause)
        return is_sure and len(after) > 2 and not is_pointing(after[2:])
    return has_date(clause) and following not in _TASK_PLANS


_PAST_STATES = frozenset(
    """
    born raised diagnosed promoted hired fired adopted vaccinated elected homeschooled brought
    moved founded built renamed cancelled canceled postponed rescheduled sold closed named made
    married bought replaced cut laid retired widowed
    """.split()
)


def is_past_state(after: Words, clause: Clause) -> bool:
    """Decide by the words after "was"."""
    more, rest = skip_adverbs(after)
    if not rest or "not" in more or rest[0] in UNSTABLE or rest[0].endswith("ing"):
        return False
    if rest[:2] == ("born", "to"):
        return False
    if rest[0] in _PAST_STATES:
        return not is_pointing(rest[1:]) and (rest[0] != "closed" or has_date(clause))
    if has_past_date(clause):
        return not names_task(rest, 4)
    if clause.words[0] in lists.OWNERS and set(clause.words[1:4]) & (lists.PEOPLE | COURSES):
        return rest[0] in {"a", "an", "in"}
    if clause.words[:2] in {("my", "first"), ("our", "first")}:
        return rest[0] in {"a", "an"} and not names_task(clause.words, 4)
    is_role = rest[0] in {"a", "an", "the", "in", "at", "vegan", "vegetarian", "my", "our"}
    is_over = clause.contains("for", "until", "before that", "before this")
    return is_role and is_over and not names_task(rest[1:], 3)


_WITH_FOLLOWING: dict[str, Callable[[Words, Clause], bool]] = {
    **dict.fromkeys(("in", "on", "at", "under", "behind", "inside"), _is_place),
    **dict.fromkeys(("a", "an"), _is_class),
    **dict.fromkeys(_FEARS, _is_fear),
    "going": _is_going,
    "getting": _is_getting,
    "about": _is_about,
    "hard": _is_hard,
}
