"""Decides by its subject whether a clause is about the speaker, or somebody or something near."""

import re
from collections.abc import Callable

from app.extraction import words as lists
from app.extraction.compound.verbs import BASES
from app.extraction.phrases import list_phrases
from app.extraction.predicates import is_lasting
from app.extraction.states import LASTING_ADJECTIVES, UNSTABLE
from app.extraction.times import has_date, has_habit, has_schedule
from app.extraction.tokens import Clause
from app.extraction.verbs import is_past_verb, skip_adverbs

_PARTS = frozenset(
    """
    one some most all both none half two three many each neither
    """.split()
)
# Relatives who are named without "my".
_KIN = frozenset("mum mom mam dad nan gran granny grandma grandad grandpa".split())
_EVERYBODY = frozenset("everyone everybody nobody".split())
# "On Sundays I …", "In my family we …", "Last year I …"
_OPENINGS = frozenset(
    """
    on at in for during before after since until last every most these nowadays from by as once next
    throughout this all being mondays tuesdays wednesdays thursdays fridays saturdays sundays
    """.split()
)
_OPENING_LENGTH = 8


def _measure_opening(clause: Clause) -> int:
    """Return how many words stand before "I" or "we", if they only tell when or where."""
    words = clause.words
    if words[1:3] == ("and", "i"):
        return 2
    if words[0] in lists.ADVERBS and words[1:2] in {("i",), ("we",), ("my",), ("our",)}:
        return 1
    is_opened = words[0] in _OPENINGS or "ago" in words[1:4]
    if not is_opened or words[:2] == ("every", "time"):
        return 0
    for place in range(1, min(len(words) - 1, _OPENING_LENGTH)):
        if words[place] in lists.FIRST_PERSON:
            is_talk = set(words[1:place]) & _POINTING_OPENINGS
            return 0 if is_talk else place
    return 0


_POINTING_OPENINGS = lists.TASK_NOUNS | lists.DISCOURSE | {"your"}
_ELSEWHERE = frozenset("you your he she they him her his their its".split())


_VIEWS = list_phrases(
    """
    my understanding/my guess/my impression/my thoughts/my opinion/my point/my pick/my picks
    /my current pick/my current picks/my bet/my prediction/my predictions
    """
)


def is_stated(clause: Clause) -> bool:
    """Return True for a lasting statement about the speaker, or about what is near them."""
    words = clause.words[_measure_opening(clause) :]
    first = words[0]
    if clause.contains(*_VIEWS):
        return False
    if len(words) < 3 and first != "i":
        return _is_short_event(clause)
    if first in lists.FIRST_PERSON:
        return is_lasting(_skip_partner(words[1:]), clause)
    if first in _EVERYBODY and words[1] in {"calls", "call"}:
        return words[2] == "me"
    owned = _find_owned_noun(words)
    if owned is not None:
        return _tells_of_owned(clause, owned)
    if first in _SUBJECTS:
        return _SUBJECTS[first](clause)
    if _names_favourite(clause):
        return True
    if first in _ELSEWHERE:
        return False
    if first == "no" and clause.contains("is allowed", "are allowed"):
        return True
    return clause.starts_with(*_ELLIPSES) or _tells_of_named(clause)


_FAVOURITE = re.compile(
    r"(?!it\b|this\b|that\b|these\b|those\b|what\b|the\b)(?:[\w'’.-]+\s+){1,6}?(?:is|are|['’]s)\s+"
    r"(?:still\s+|probably\s+)?(?:my|our)\s+(?:\w+['’]s\s+)?(?:absolute\s+|all-time\s+)?favou?rite\b"
    r"|mine(?:\s+is|['’]s)\s+(?-i:[A-Z])",
    re.IGNORECASE,
)


def _names_favourite(clause: Clause) -> bool:
    """Return True for "Batman is my favourite" and "mine is Lion King"."""
    return _FAVOURITE.match(clause.text) is not None


def _is_short_event(clause: Clause) -> bool:
    """Return True for a name with a change: "Pauline retired"."""
    if len(clause.words) != 2 or not clause.tokens[0].is_capital:
        return False
    return clause.words[1] in lists.PAST_EVENTS and clause.words[0] not in lists.STARTERS


def _find_owned_noun(words: tuple[str, ...]) -> int | None:
    """Return the place of the noun in "my …", "one of our …" and the like, or None."""
    if words[0] in lists.OWNERS:
        return 1
    if words[0] in _KIN or words[0] in lists.PEOPLE:
        return 0
    if words[0] in _PARTS and words[1] in lists.OWNERS:
        return 2
    if words[0] in _PARTS and words[1:3] == ("of", "us"):
        return 2
    is_part = words[0] in _PARTS and words[1] == "of" and words[2] in lists.OWNERS
    is_everybody = words[0] in _EVERYBODY and lists.OURS & set(words[2:4])
    return 3 if is_part or is_everybody else None


_TASK_TALK = (
    lists.TALK_VERBS | lists.TASK_PROGRESSIVES | lists.MOODS | lists.TALK_PAST
) - frozenset(["saw", "read", "see"])


_VAGUE = frozenset("any or ever something anything able what which going".split())


_PASSING = list_phrases("now/today/tonight/at the moment/this morning/this minute")


def is_confirmable(clause: Clause) -> bool:
    """Return True for what an assistant may propose: any statement that is not of the task."""
    words = clause.words
    is_short = len(words) < 3 and not (len(words) == 2 and words[1] in lists.THIRD_VERBS)
    is_short = is_short or (len(words) == 3 and words[2] in lists.ADVERBS)
    if is_short or clause.word_set & (lists.TASK_NOUNS | _TASK_TALK):
        return False
    if clause.contains(*_PASSING) or words[-1] in {"on", "off", "ready", "done", "up"}:
        return False
    has_name = any(
        token.is_capital and token.lower not in lists.COUNTRIES for token in clause.tokens[1:]
    )
    is_first_name = words[0] not in lists.STARTERS | lists.COUNTRIES
    is_near = has_name or is_first_name or has_schedule(clause)
    if not is_near and not clause.word_set & (lists.OURS | lists.FIRST_PERSON | lists.PEOPLE):
        return False
    if clause.word_set & _VAGUE or words[0] in _ELSEWHERE | {"it", "this", "that", "there"}:
        return False
    verbs = lists.AUXILIARIES | lists.THIRD_VERBS | lists.IRREGULAR_PAST
    return bool(clause.word_set & verbs) or any(word.endswith("ed") for word in words[1:4])


def _skip_partner(rest: tuple[str, ...]) -> tuple[str, ...]:
    """Skip "and my wife" after "I", and "all" or "both" after "we"."""
    return rest[3:] if rest[:1] == ("and",) and len(rest) > 3 else rest


# Words that name a task in the plural or at hand, but also things of a life.
_OWN_THINGS = frozenset(
    """
    step class recipe branch test tests screen text line file head film story method stack
    """.split()
)


def _tells_of_owned(clause: Clause, start: int) -> bool:
    """Decide on "my …" and "our …"."""
    place = _find_verb(clause.words, start + 1)
    if place < 0:
        return False
    subject = set(clause.words[start:place])
    if subject & (lists.INVENTED | (lists.TASK_NOUNS - _OWN_THINGS)):
        return False
    return is_lasting(clause.words[place:], clause)


def _tells_of_thing(clause: Clause) -> bool:
    """Decide on "the …", of which much is only about the task at hand."""
    words = clause.words
    place = _find_verb(words, 2)
    if place < 0:
        return False
    subject = set(words[1:place])
    if subject & (_NOT_NAMED | _WORKS) or (words[1] in lists.DISCOURSE and words[2] != "of"):
        return False
    is_known = _is_known_everywhere(clause, place)
    is_own = clause.word_set & lists.OURS or subject & lists.LASTING_THINGS
    if words[place] in {"was", "were"} and not is_own and words[place + 1 : place + 2] != ():
        is_known = is_known or not words[place + 1].endswith("ed")
    return not is_known and _is_near(clause, subject) and is_lasting(words[place:], clause)


# Who and what is talked of when people talk of films and the like.
_WORKS = frozenset(
    """
    actor actress sequel season episode series show author singer director novel franchise film
    movie album
    """.split()
)
_LONG_AGO = re.compile(r"\b1[0-8]\d\d\b")


def _is_known_everywhere(clause: Clause, place: int) -> bool:
    """Return True for "the Eiffel Tower" and for what was centuries ago: general knowledge."""
    if clause.word_set & lists.OURS:
        return bool(set(clause.words[1:place]) & lists.INVENTED)
    named = [token for token in clause.tokens if token.is_word][1:place]
    is_title = len(named) > 1 and all(token.is_capital for token in named)
    return is_title or _LONG_AGO.search(clause.text) is not None


_NUMBERS = frozenset("two three four five six seven eight nine ten twelve".split())


def _is_near(clause: Clause, subject: set[str]) -> bool:
    """Return True if a clause about some thing tells by a name, a number or a date which one."""
    if clause.word_set & lists.OURS or subject & lists.LASTING_THINGS or has_schedule(clause):
        return True
    has_name = any(token.is_capital and token.lower != "i" for token in clause.tokens[1:])
    has_number = any(word[0].isdigit() or word in _NUMBERS for word in clause.words)
    return (has_name or has_number) and not subject & lists.TALKED_OF


def _tells_of_existence(clause: Clause) -> bool:
    words = clause.words
    if words[1] not in {"is", "are"} or set(words[2:6]) & lists.TASK_NOUNS:
        return False
    is_ours = bool(clause.word_set & lists.OURS)
    is_near = bool(clause.word_set & (lists.LASTING_THINGS | lists.PEOPLE | lists.PLURAL_PEOPLE))
    is_counted = words[2] in {"only", "just", *_NUMBERS} and "of" in words and is_ours
    return (is_ours and (is_near or is_counted)) or has_habit(clause)


def _tells_of_this(clause: Clause) -> bool:
    words = clause.words
    if (
        words[:2] == ("it", "is")
        and words[2] in {"just", "only"}
        and words[3] in {"me", "us", "the"}
    ):
        return clause.contains("me and", "of us")
    if words[:2] == ("it", "takes") and words[2] in {"me", "us"}:
        return len(words) > 5
    if words[:2] == ("it", "is"):
        return words[2] in lists.OWNERS and (has_date(clause) or "who" in words)
    if words[0] == "this" and words[1] in lists.LASTING_THINGS:
        place = _find_verb(words, 2)
        return place > 0 and is_lasting(words[place:], clause)
    return False


# Statements about the speaker without "I".
_ELLIPSES = list_phrases(
    """
    allergic to/born in/born on/married to/based in/lactose intolerant/been vegan
    /born and raised in/married with
    /been vegetarian/moved to/prefers/likes/works at/works as/lives in
    """
)


_NOT_NAMED = (
    frozenset("people women men folk folks".split())
    | lists.TASK_NOUNS
    | lists.PRONOUNS
    | lists.FIRST_PERSON
    | {"you"}
)


def _tells_of_named(clause: Clause) -> bool:
    """Decide on a sentence whose first words name somebody or something."""
    words = clause.words
    first = clause.tokens[0]
    if not first.is_word or first.lower in lists.STARTERS:
        return False
    place = _find_verb(words, 1)
    if place < 1 or place > 6:
        return False
    subject = set(words[:place])
    if subject & _NOT_NAMED:
        return False
    if _LONG_AGO.search(clause.text) or subject & lists.INVENTED:
        return False
    is_name = _is_name(clause, place)
    is_past = words[place] in {"was", "were", "did", "had"} or is_past_verb(words[place])
    is_scheduled = has_schedule(clause) and not is_past
    is_near = bool(clause.word_set & (lists.OURS | {"due"})) or is_scheduled
    if first.lower.endswith("ing") and not (is_near and place == 1):
        return False
    if not is_near and (words[place] == "won" or subject & _KNOWN):
        return False
    if not is_near and (not is_name or subject & lists.TALKED_OF or _is_doubtful(words, place)):
        return False
    if not is_near and _is_remark(words[place:]):
        return False
    return is_lasting(words[place:], clause)


_KNOWN = lists.TECHNOLOGIES | lists.COUNTRIES
_ABSTRACT_ENDINGS = ("ity", "ness", "tion", "sion", "ism", "ment", "ance", "ence", "ship", "logy")


def _is_opinion(after: tuple[str, ...]) -> bool:
    """Return True for "a great …" and "the …" after "is", which tell of the world at large."""
    if after[:2] == ("the", "new"):
        return False
    return after[:1] == ("the",) or bool(set(after[:3]) & lists.EVALUATIONS)


_PLAIN_COMPLEMENTS = frozenset("been from in at with my our a an also moving expecting".split())


def _is_remark(rest: tuple[str, ...]) -> bool:
    """Return True for what is said of anybody: an opinion, or that they did not do something."""
    if rest[0] in {"was", "were"} and rest[1:2] and rest[1] in UNSTABLE | {"different"}:
        return True
    if rest[0] in lists.BE:
        _, after = skip_adverbs(rest[1:])
        is_mere = bool(after) and after[0] not in _PLAIN_COMPLEMENTS | LASTING_ADJECTIVES
        return _is_opinion(rest[1:]) or (is_mere and "but" in after)
    return rest[:2] in {("did", "not"), ("has", "so"), ("have", "so")}


def _is_doubtful(words: tuple[str, ...], place: int) -> bool:
    """Return True if one word before what only may be a verb is taken for a name."""
    return place == 1 and not _is_surely_verb(words[place])


# Verbs of sentences about the world at large: "Coffee contains caffeine".
_GENERAL_VERBS = frozenset(
    """
    contains contain causes cause includes include requires require consists means helps produces
    produce
    """.split()
)


def _is_name(clause: Clause, place: int) -> bool:
    """Return True if the words before the verb are a name, or belong to one."""
    first = clause.tokens[0]
    if not first.is_capital or clause.words[place] in _GENERAL_VERBS:
        return False
    is_general = clause.words[place] not in lists.BE and first.lower in lists.COMMON_OPENERS
    if place == 1 and is_general:
        return False
    is_owner = first.lower.endswith("'s") or clause.tokens[1].text in {"'", "’"}
    has_other = any(token.is_capital for token in clause.tokens[1:place])
    if all(word in lists.ADVERBS for word in clause.words[1:place]):
        is_plural = clause.words[place] in {"are", "were", "have"}
        return not is_plural and not first.lower.endswith(_ABSTRACT_ENDINGS)
    return is_owner or has_other or clause.words[1] in {"from", "in", "at", "and"}


def _find_verb(words: tuple[str, ...], start: int) -> int:
    """Return the place of the verb after a subject, or -1."""
    for place in range(start, min(len(words), start + 9)):
        word = words[place]
        if word == "may" and words[place - 1] in _BEFORE_MAY:
            continue
        if word in lists.AUXILIARIES:
            return place
        if place < start + 6 and _is_surely_verb(word):
            return place
    for place in range(start, min(len(words), start + 6)):
        if _may_be_verb(words[place]) and words[place - 1] not in _BEFORE_NOUNS:
            return place
    for place in range(start, min(len(words), start + 3)):
        if words[place] in BASES and words[place - 1].endswith("s"):
            return place
    return -1


def _is_surely_verb(word: str) -> bool:
    return (
        word in lists.AUXILIARIES
        or word in lists.THIRD_VERBS
        or word in lists.IRREGULAR_PAST
        or word in lists.PAST_EVENTS
    )


_BEFORE_MAY = frozenset("in on of by since until before after last next this".split())
_BEFORE_NOUNS = frozenset(
    """
    and or of at in the for with all on to by two three four both some my our your his her their its
    every each this that these those no any a an from
    """.split()
)


def _may_be_verb(word: str) -> bool:
    if word in lists.PLAIN_VERBS or (word.endswith("ed") and len(word) > 3):
        return True
    return word.endswith("s") and not word.endswith(("ss", "'s", "us", "is"))


_SUBJECTS: dict[str, Callable[[Clause], bool]] = {
    "the": _tells_of_thing,
    "there": _tells_of_existence,
    **dict.fromkeys(("it", "this", "that", "these", "those"), _tells_of_this),
}
