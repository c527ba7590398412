"""Decides by its verb whether what is said of somebody lasts, or only tells of the moment."""

from app.extraction import words as lists
from app.extraction.auxiliaries import JUDGES
from app.extraction.compound.verbs import BASES
from app.extraction.events import is_event
from app.extraction.phrases import list_phrases
from app.extraction.times import has_date, has_habit
from app.extraction.tokens import Clause
from app.extraction.verbs import (
    Words,
    find_plain_form,
    is_past_verb,
    is_pointing,
    names_task,
    names_title,
    skip_adverbs,
)

_SOON = list_phrases(
    "in five/in ten/in a minute/in a sec/in a bit/in five minutes/in ten minutes/any minute"
    "/in an hour/in half an hour/in a while/in a moment/in twenty/in two minutes"
)


# "I never learned to drive", "she never married".
_NEVER_DONE = frozenset("learned learnt smoked drank married drove ate owned finished".split())


def is_lasting(rest: Words, clause: Clause) -> bool:
    """Return True if the words after a subject tell something that lasts, or a change.

    `rest` begins with the verb or its adverbs. The verb is in its plain form or in the third
    person.
    """
    adverbs, rest = skip_adverbs(rest)
    if not rest or clause.contains(*_SOON):
        return False
    verb, after = rest[0], rest[1:]
    if "never" in adverbs and verb in _NEVER_DONE:
        return not is_pointing(after)
    if verb in JUDGES:
        return JUDGES[verb](after, clause)
    if verb == "must":
        return has_date(clause) and not is_pointing(after[1:])
    if verb in _PAST_TASTES or (verb == "did" and after[:1] and after[0] in _TASTES | {"like"}):
        return _is_past_taste(after if verb != "did" else after[1:])
    if verb == "read":
        return _is_read(after, clause)
    if verb == "did":
        return is_event(verb, after, clause)
    if verb in lists.AUXILIARIES:
        return False
    if verb in {"used", "use"} and after[:1] == ("to",):
        return len(after) > 2
    if is_past_verb(verb):
        return is_event(verb, after, clause)
    return _is_habit(find_plain_form(verb), after, clause)


_WITHOUT_OBJECT = frozenset(
    "smoke drive drink cook bake knit run swim cycle meditate freelance snore paint rent".split()
)
# Said of the talk or of the moment: "I stand corrected", "I speak from experience".
_IDIOMS = {
    "speak": frozenset("from".split()),
    "run": frozenset("out into".split()),
    "play": frozenset("along dumb".split()),
    "go": frozenset("round around with left right back".split()),
    "stand": frozenset("corrected by at here there in".split()),
    "sit": frozenset("here there down in on at".split()),
    "walk": frozenset("in into out away up over".split()),
    "rest": frozenset("my easy".split()),
    "take": frozenset("your back".split()),
    "live": frozenset("for".split()),
    "drink": frozenset("to".split()),
}
# "I put chips in my belly" may tell of a moment, "I put them out on Tuesdays" does not.
_SAME_IN_PAST = frozenset("put hit set shut".split())
_TASTES = frozenset("prefer love hate like dislike enjoy".split())
_PAST_TASTES = frozenset("loved liked hated disliked enjoyed preferred adored".split())
_ARTICLES = frozenset("the a an this these those some my your".split())
_PREPOSITIONS = frozenset("for at in on with to from of about by".split())


def _is_habit(verb: str, after: Words, clause: Clause) -> bool:
    """Return True if a verb in the present tells what somebody does as a rule."""
    if verb in lists.TALK_VERBS and verb != "keep":
        return _is_lasting_talk(verb, after, clause)
    if not verb.replace("-", "").isalpha() or verb in _PREPOSITIONS:
        return False
    if verb in _SAME_IN_PAST:
        return has_habit(clause)
    if verb in lists.TASK_VERBS:
        return has_date(clause)
    if not after:
        return verb in _WITHOUT_OBJECT
    is_own = clause.words[0] in lists.FIRST_PERSON
    if is_own and verb not in BASES | lists.PLAIN_VERBS:
        return False
    is_idiom = is_own and after[0] in _IDIOMS.get(verb, ())
    is_report = after[:1] == ("there",) and set(after[1:2]) & lists.BE
    if is_idiom or is_report or set(after[:2]) & {"what", "whatever"}:
        return False
    if verb in _TASTES and after[:2] == ("it", "when"):
        return True
    is_cut = len(after) == 1 and after[0] in _PREPOSITIONS
    if is_cut or is_pointing(after):
        return False
    if verb == "keep":
        return not after[0].endswith("ing") and not names_task(after, 3)
    if after[-1] in {"above", "below"}:
        return False
    if verb in _TASTES:
        is_verdict = "personally" in clause.words
        is_about_topic = _is_choice(after) or _is_role(after)
        return not is_about_topic and after[0] != "how" and not is_verdict
    is_task = after[0] in _ARTICLES and names_task(after, 3)
    return not is_task or has_habit(clause)


def _is_choice(after: Words) -> bool:
    """Return True for "the second one" and "things like that", which point into the talk."""
    is_at_hand = after[0] == "the" and set(after[1:3]) & (lists.DISCOURSE | lists.TASK_NOUNS)
    is_part = after[:2] in {("some", "of"), ("one", "of")}
    return bool(is_at_hand) or is_part or after[0] == "things" or after[-2:] == ("like", "that")


def _is_role(after: Words) -> bool:
    """Return True for "Boseman as Black Panther", which praises one piece of work."""
    return after[1:2] == ("as",) and after[2:3] not in {("well",), ("much",), ("a",), ("an",)}


_OF_THE_MOMENT = frozenset("the your this that these those it them how what when to".split())


def _is_past_taste(after: Words) -> bool:
    """Return True for "loved Firefly" and "liked X-Men as a kid", not for "loved the ending"."""
    if not after or names_task(after, 4):
        return False
    is_further = after[-1] == "too" or after[-2:] == ("as", "well")
    if after[0] in _OF_THE_MOMENT and not (after[0] == "the" and is_further):
        return False
    return after[0] not in lists.PRONOUN_OWNERS | {"him", "her"}


def _is_read(after: Words, clause: Clause) -> bool:
    """Return True for a title that somebody has read, and for what they read as a rule."""
    is_title = after[:1] != () and names_title(after, clause)
    is_much = set(after[:1]) & _AMOUNTS_READ and "lot" in (*after[:2], "lot")
    return bool(is_title or is_much or (has_habit(clause) and not is_pointing(after)))


# Verbs of talk that tell of a habit if they have such an object.
_LASTING_OBJECTS = {
    "get": frozenset("up migraines seasick carsick hayfever paid my our".split()),
    "look": frozenset(["after"]),
    "need": frozenset("my glasses subtitles".split()),
    "know": frozenset("python french some german spanish sql".split()),
}
_HABITS_OF_TALK = frozenset("try see get read need forget".split())
_AMOUNTS_READ = frozenset("a lots mostly loads".split())
_CAUSES = frozenset("from when in on with easily".split())


def _is_lasting_talk(verb: str, after: Words, clause: Clause) -> bool:
    """Decide on verbs such as "say" and "get", which mostly tell of the talk or the moment."""
    if verb == "say":
        inner = after[1:] if after[:1] == ("that",) else after
        is_person = inner[:1] in {("he",), ("she",), ("they",)}
        return is_person and len(inner) > 2 and inner[1] in {"is", "are", "has", "have"}
    if verb in _HABITS_OF_TALK and has_habit(clause) and not is_pointing(after):
        return True
    if verb == "believe" and after[:1] == ("in",):
        return not is_pointing(after[1:])
    if verb == "understand" and after and not is_pointing(after):
        return names_title(after, clause)
    if verb == "see" and after[:1] and after[0] in {"a", "an", "my", "our"}:
        return bool(set(after[1:3]) & (lists.PEOPLE | {"psychologist", "counsellor"}))
    if verb == "get" and after and after[0].endswith("s") and set(after[1:3]) & _CAUSES:
        return not names_task(after, 3) and not is_pointing(after)
    objects = _LASTING_OBJECTS.get(verb, frozenset())
    return after[:1] != () and after[0] in objects and not names_task(after, 4)
