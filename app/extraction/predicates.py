"""Decides by its subject and its verb whether a clause tells something that lasts."""

import re

from app.extraction import words as lists
from app.extraction.tokens import Clause

_Words = tuple[str, ...]


def is_stated(clause: Clause) -> bool:
    """Return True for a statement about the speaker, or about people, things and plans near them."""
    words = clause.words
    first = words[0]
    if len(words) < 3 and not (len(words) == 2 and first == "i"):
        return False
    if first in lists.FIRST_PERSON:
        return _tells_of_speaker(words[1:], clause)
    if first in lists.OWNERS or (
        first in {"one", "some", "most", "all", "both", "none", "half"}
        and words[1] == "of"
        and words[2] in lists.OWNERS
    ):
        return _tells_of_owned(clause)
    if first == "the":
        return _tells_of_thing(clause)
    if first == "there":
        return _tells_of_existence(clause)
    if first in {"it", "this", "that", "these", "those"}:
        return _tells_of_this(clause)
    if first in {"you", "your", "he", "she", "they", "him", "her", "his", "their"}:
        return False
    if _tells_without_subject(clause):
        return True
    return _tells_of_named(clause)


# --- I and we


def _tells_of_speaker(rest: _Words, clause: Clause) -> bool:
    """Decide by the words after "I" or "we"."""
    rest = _join_subjects(rest)
    adverbs, rest = _skip_adverbs(rest)
    if not rest:
        return False
    verb, after = rest[0], rest[1:]
    if verb in {"am", "are"}:
        return _is_lasting_state(after, clause)
    if verb in {"was", "were"}:
        return _is_past_state(after, clause)
    if verb in {"have", "has"}:
        return _is_possession(after, clause)
    if verb == "had":
        return _is_past_possession(after, clause)
    if verb in {"do", "does"}:
        return _is_denial(after, clause)
    if verb in {"can"}:
        return _is_ability(after, clause)
    if verb in {"will"}:
        return _is_plan(after, clause)
    if verb in lists.AUXILIARIES or verb in {"cannot", "not"}:
        return False
    if verb in {"used"} and after[:1] == ("to",):
        return len(after) > 2
    if verb == "prefer" or verb in {"identify", "love", "hate", "like", "dislike", "enjoy"}:
        return len(after) > 0 and not _is_pointing(after)
    if _is_past_verb(verb):
        return _is_event(verb, after, clause, adverbs)
    return _is_habit(verb, after, clause, adverbs)


def _join_subjects(rest: _Words) -> _Words:
    """Skip "and my wife" in "I and my wife"; the rest begins with the verb."""
    return rest[3:] if rest[:1] == ("and",) and len(rest) > 3 else rest


def _skip_adverbs(rest: _Words) -> tuple[frozenset[str], _Words]:
    place = 0
    if rest[:2] == ("no", "longer"):
        place = 2
    while place < len(rest) and rest[place] in lists.ADVERBS:
        place += 1
    return frozenset(rest[:place]), rest[place:]


_POINTING = frozenset("it this that these those them him her you your".split())


def _is_pointing(after: _Words) -> bool:
    """Return True if the object is nothing but a word that points elsewhere."""
    rest = [word for word in after if word not in lists.ADVERBS]
    return bool(rest) and rest[0] in _POINTING and not set(rest[1:2]) & lists.LASTING_THINGS


_MOMENT_STARTS = frozenset("in on at under out off".split())
_MOMENT_NOUNS = frozenset(
    """
    meeting hurry rush middle way fence verge loss mood it phone train bus board laptop same page
    call break trouble mess pain tears panic zone point side
    """.split()
)


def _is_lasting_state(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I am"."""
    adverbs, rest = _skip_adverbs(after)
    if not rest:
        return False
    first = rest[0]
    if first == "going":
        return _is_going(rest[1:], clause)
    if first in {"getting"}:
        return rest[1:2] and rest[1] in {"married", "divorced", "a", "my", "our", "new"} or False
    if first.endswith("ing") and len(first) > 4:
        return (
            first in lists.PROGRESSIVE_FACTS
            and not _is_pointing(rest[1:])
            and (first not in {"doing", "taking", "seeing"} or len(rest) > 2)
        )
    if first in {"on", "in", "at"} and set(rest[1:4]) & _MOMENT_NOUNS:
        return False
    if (
        first in {"a", "an"}
        and rest[1:2]
        and rest[1] in {"bit", "little", "tad", "mess", "wreck", "idiot", "fool", "lot"}
    ):
        return False
    if first in {
        "more",
        "less",
        "as",
        "like",
        "that",
        "what",
        "where",
        "how",
        "to",
        "with",
        "there",
        "out",
        "off",
        "over",
    }:
        return False
    if first in lists.MOODS:
        return _is_lasting_mood(first, rest, clause)
    return True


def _is_lasting_mood(first: str, rest: _Words, clause: Clause) -> bool:
    """Return True for the few uses of a word of moods that last."""
    if first == "afraid":
        return (
            rest[1:2] == ("of",) and len(rest) > 2 and rest[2] not in {"the", "this", "that", "it"}
        )
    if first == "up":
        return rest[1:2] in {("at",), ("by",)}
    if first in {"home", "free", "busy", "available"}:
        return has_schedule(clause)
    if first == "scared":
        return rest[1:2] == ("of",)
    return False


def _is_going(after: _Words, clause: Clause) -> bool:
    if after[:1] != ("to",):
        return (
            after[:1] in {("on",)}
            and len(after) > 1
            and after[1] in {"holiday", "vacation", "leave"}
        )
    following = after[1] if len(after) > 1 else ""
    if following in {
        "be",
        "have",
        "start",
        "move",
        "marry",
        "become",
        "join",
        "visit",
        "leave",
        "retire",
        "study",
    }:
        return not _is_pointing(after[2:])
    return has_date(clause) and following not in _TASK_PLANS


_TASK_PLANS = frozenset(
    "try use do check see look test add write make need ask fix send call".split()
)


def _is_past_state(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I was"."""
    adverbs, rest = _skip_adverbs(after)
    if not rest:
        return False
    first = rest[0]
    if first in {
        "born",
        "raised",
        "diagnosed",
        "promoted",
        "hired",
        "fired",
        "adopted",
        "vaccinated",
        "baptised",
        "elected",
        "homeschooled",
        "brought",
    }:
        return True
    if first == "laid":
        return rest[1:2] == ("off",)
    if first.endswith("ing") or first in lists.MOODS:
        return False
    return first in {"a", "an", "the", "in", "at", "married", "vegan", "vegetarian"} and (
        has_past_date(clause) or clause.contains("for")
    )


_TASK_NOUNS_AFTER_HAVE = lists.TASK_NOUNS | frozenset(
    "no any time access nothing something anything everything that this it them these those plans".split()
)
_CLASS_WORDS = frozenset("two three four five six seven eight nine ten 2 3 4 5 6 7 8 9".split())


def _is_possession(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I have"."""
    adverbs, rest = _skip_adverbs(after)
    if not rest:
        return False
    first = rest[0]
    if first == "got" and rest[1:2]:
        first, rest = rest[1], rest[1:]
        if first in {"rid", "it", "this", "that"}:
            return False
    if first == "to":
        return has_habit(clause)
    if first == "been":
        return _is_long_time(rest[1:], clause)
    if "never" in adverbs:
        return not _is_pointing(rest[1:]) and first not in {
            "seen",
            "heard",
            "understood",
            "had",
            "done",
            "used",
        }
    if first in lists.LIFE_PARTICIPLES:
        return len(rest) > 1 and not _is_pointing(rest[1:])
    if first == "had":
        return clause.contains("for", "since") and not set(rest[1:5]) & lists.TASK_NOUNS
    if (
        first.endswith("ed")
        or first in lists.IRREGULAR_PAST
        or first
        in {
            "done",
            "seen",
            "written",
            "been",
            "begun",
            "known",
            "broken",
            "taken",
            "gone",
            "run",
            "put",
            "set",
            "read",
            "come",
            "not",
        }
    ):
        return first == "known" and clause.contains("for", "since")
    return not set(rest[:4]) & _TASK_NOUNS_AFTER_HAVE


def _is_past_possession(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I had"."""
    return has_past_date(clause) and not set(after[:4]) & lists.TASK_NOUNS


_SHORT_TIMES = (
    "hours",
    "ages",
    "minutes",
    "an hour",
    "a while",
    "a bit",
    "all day",
    "all morning",
    "days",
    "forever",
    "the whole day",
    "weeks",
)
_TASK_PROGRESSIVES = frozenset(
    "trying looking getting debugging staring waiting thinking wondering reading meaning struggling stuck asking working playing fighting having told asked there seeing".split()
)


def _is_long_time(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I have been"."""
    adverbs, rest = _skip_adverbs(after)
    if clause.contains(*_SHORT_TIMES) or not rest:
        return False
    if rest[0] in _TASK_PROGRESSIVES:
        return (
            rest[0] == "working"
            and rest[1:2]
            in {
                ("at",),
                ("as",),
                ("in",),
                ("for",),
                ("remotely",),
                ("from",),
                ("here",),
                ("there",),
            }
            and clause.contains("for", "since")
        )
    if rest[0] in {
        "diagnosed",
        "promoted",
        "vegan",
        "vegetarian",
        "married",
        "sober",
        "laid",
        "accepted",
        "hired",
    }:
        return True
    return clause.contains("for", "since", "all my life", "my whole life")


_DENIED_TALK = lists.TALK_VERBS | frozenset("seem work find want need get even".split())


def _is_denial(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I do", most often "not"."""
    adverbs, rest = _skip_adverbs(after)
    if "not" not in adverbs:
        return (
            bool(rest)
            and rest[0] not in lists.TALK_VERBS
            and len(rest) > 1
            and not _is_pointing(rest[1:])
        )
    if not rest:
        return False
    verb = rest[0]
    if verb in {"have", "own"}:
        return not set(rest[1:4]) & (_TASK_NOUNS_AFTER_HAVE - {"any", "access"})
    if verb == "work":
        return len(rest) > 1
    return (
        verb not in _DENIED_TALK
        and len(rest) > 1
        and not _is_pointing(rest[1:])
        or verb in {"drive", "drink", "smoke", "cook", "swim"}
    )


_ABILITIES = frozenset(
    "speak play swim drive ski cook code juggle sing ride sail knit dance".split()
)
_INABILITIES = frozenset(
    """
    eat drink drive swim stand tolerate have take work come attend digest sleep walk fly afford wear
    touch cook ride run lift donate read type hear smell taste handle
    """.split()
)


def _is_ability(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I can"."""
    adverbs, rest = _skip_adverbs(after)
    if not rest or _is_pointing(rest[1:]):
        return False
    if "not" in adverbs:
        return rest[0] in _INABILITIES and not clause.contains(
            "right now", "at the moment", "yet", "seem"
        )
    return ("only" in adverbs and has_schedule(clause)) or (rest[0] in _ABILITIES and len(rest) > 1)


_PLANS = frozenset(
    "be have start move join leave turn travel fly arrive visit stay retire attend graduate become marry host teach".split()
)


def _is_plan(after: _Words, clause: Clause) -> bool:
    """Decide by the words after "I will"."""
    adverbs, rest = _skip_adverbs(after)
    if len(rest) < 2 or rest[0] not in _PLANS:
        return False
    if rest[0] == "be":
        return (
            rest[1]
            in {
                "in",
                "at",
                "away",
                "out",
                "on",
                "off",
                "working",
                "travelling",
                "traveling",
                "visiting",
                "staying",
                "living",
                "moving",
                "flying",
            }
            or rest[1].isdigit()
        )
    if rest[0] == "have":
        return has_date(clause)
    return not _is_pointing(rest[1:]) and (
        has_date(clause)
        or rest[0] in {"move", "join", "retire", "graduate", "marry", "travel", "fly"}
    )


def _is_past_verb(verb: str) -> bool:
    is_regular = verb.endswith("ed") and verb not in {
        "need",
        "feed",
        "breed",
        "speed",
        "exceed",
        "proceed",
        "embed",
        "shed",
        "weed",
    }
    return is_regular or verb in lists.IRREGULAR_PAST or verb in lists.PAST_EVENTS


def _is_event(verb: str, after: _Words, clause: Clause, adverbs: frozenset[str]) -> bool:
    """Return True if a past verb tells of a change, or of something with a far date."""
    if not after or _is_pointing(after):
        return False
    if verb in lists.TALK_VERBS or verb in {
        "tried",
        "said",
        "told",
        "thought",
        "asked",
        "saw",
        "noticed",
        "wanted",
        "needed",
        "felt",
        "checked",
        "looked",
        "forgot",
        "heard",
        "wondered",
    }:
        return False
    following = lists.PAST_EVENT_PHRASES.get(verb)
    if following is not None and after[0] in following:
        return not set(after[:3]) & lists.TASK_NOUNS
    if following is None and verb in lists.PAST_EVENTS:
        return not set(after[:3]) & lists.TASK_NOUNS
    return has_past_date(clause) and not set(after[:4]) & lists.TASK_NOUNS


_TASK_OBJECTS = frozenset(
    "it this that these those them you your error errors exception warning".split()
)


def _is_habit(verb: str, after: _Words, clause: Clause, adverbs: frozenset[str]) -> bool:
    """Return True if a verb in the present tells what the speaker does as a rule."""
    if verb in lists.TALK_VERBS:
        return _is_lasting_need(verb, after, clause)
    if verb in lists.PRESENT_TASK_VERBS or not verb.isalpha():
        return False
    if not after:
        return verb in {
            "smoke",
            "drive",
            "cook",
            "knit",
            "run",
            "swim",
            "cycle",
            "meditate",
            "freelance",
        }
    return (
        not _is_pointing(after)
        and not set(after[:3]) & (lists.TASK_NOUNS - {"first", "last", "more", "less", "only"})
        or has_habit(clause)
    )


def _is_lasting_need(verb: str, after: _Words, clause: Clause) -> bool:
    if verb == "get":
        return has_habit(clause) or after[:1] in {
            ("up",),
            ("migraines",),
            ("seasick",),
            ("carsick",),
            ("hayfever",),
            ("paid",),
        }
    if verb == "try":
        return after[:1] == ("to",) and has_habit(clause)
    if verb == "need":
        return after[:1] == ("my",) or has_habit(clause)
    if verb == "keep":
        return bool(after) and after[0] in {
            "my",
            "our",
            "a",
            "kosher",
            "halal",
            "chickens",
            "bees",
            "all",
        }
    if verb == "know":
        return after[:1] in {("python",), ("french",), ("some",), ("german",), ("spanish",)}
    if verb == "mind":
        return False
    if verb == "see":
        return bool(after) and after[0] in {"my", "a"} and has_habit(clause)
    if verb == "feel":
        return False
    return False


# --- my, our, the, names


def _find_verb(words: _Words, start: int) -> int:
    """Return the place of the verb after a subject, or -1."""
    for place in range(start, min(len(words), start + 9)):
        if words[place] in lists.AUXILIARIES:
            return place
    for place in range(start, min(len(words), start + 6)):
        if _looks_like_verb(words[place]):
            return place
    return -1


_PLAIN_VERBS = frozenset(
    """
    live work go like love hate use prefer need want speak play run take start end eat drink sleep
    come get make study teach own cost meet open close happen keep stay sit stand hold give bring
    include cover contain require expire belong deploy ship share rent drive walk swim wear know
    mean say call visit arrive leave die turn run rotate depend host store serve sell buy pay
    """.split()
)


def _looks_like_verb(word: str) -> bool:
    if word in _PLAIN_VERBS or word in lists.IRREGULAR_PAST or word in lists.PAST_EVENTS:
        return True
    if word.endswith("ed") and len(word) > 4:
        return True
    is_third = word.endswith("s") and not word.endswith(("ss", "'s", "us", "is"))
    return is_third and (
        word[:-1] in _PLAIN_VERBS
        or word[:-2] in _PLAIN_VERBS
        or word.endswith(("es", "ts", "ks", "ns", "ds", "ps", "rs", "ls", "ys", "ws", "gs", "ms"))
    )


def _tells_of_owned(clause: Clause) -> bool:
    words = clause.words
    place = _find_verb(words, 2)
    if place < 0:
        return False
    subject = words[1:place]
    if set(subject) & (
        lists.TASK_NOUNS
        - {
            "only",
            "first",
            "last",
            "next",
            "other",
            "step",
            "class",
            "version",
            "recipe",
            "branch",
            "build",
            "test",
            "tests",
            "screen",
            "text",
            "result",
            "results",
            "line",
            "file",
            "more",
            "thing",
            "head",
        }
    ):
        return False
    return _is_third_stated(words[place:], clause)


_MACHINE_VERBS = frozenset(
    """
    crashes fails failed crashed hangs throws returns shows looks seems sounds works worked keeps
    says said thinks thought wants wanted told asked suggested helped gave feels appears breaks
    complains prints gets got went tried happened looked seemed ran showed returned threw needs
    needed made did
    """.split()
)


def _is_third_stated(rest: _Words, clause: Clause) -> bool:
    """Decide by the verb of somebody or something that is named."""
    adverbs, rest = _skip_adverbs(rest)
    if len(rest) < 2:
        return False
    verb, after = rest[0], rest[1:]
    if verb in {"is", "are", "am"}:
        return _is_third_state(after, clause)
    if verb in {"was", "were"}:
        return _is_third_past_state(after, clause)
    if verb in {"has", "have"}:
        return _is_third_possession(after, clause)
    if verb == "had":
        return (
            has_past_date(clause)
            or not set(after[:4]) & lists.TASK_NOUNS
            and after[0] in {"a", "an", "twins", "surgery"}
        )
    if verb in {"do", "does"}:
        inner = _skip_adverbs(after)[1]
        return bool(inner) and inner[0] not in _DENIED_TALK - {"work"} and len(after) > 1
    if verb in {"will", "shall"}:
        return len(after) > 1 and after[0] not in {"not"}
    if verb in {"can"}:
        return (
            _skip_adverbs(after)[1][:1] != ()
            and _skip_adverbs(after)[1][0] in _ABILITIES | _INABILITIES
        )
    if verb in lists.MODALS or verb in {"did", "be", "been", "being"}:
        return False
    if verb in _MACHINE_VERBS:
        return _is_lasting_report(verb, after, clause)
    return not _is_pointing(after)


def _is_lasting_report(verb: str, after: _Words, clause: Clause) -> bool:
    if verb == "works":
        return after[0] in {
            "at",
            "in",
            "for",
            "as",
            "from",
            "nights",
            "part",
            "full",
            "with",
            "on",
            "remotely",
            "weekends",
            "shifts",
            "there",
            "here",
        }
    if verb == "worked":
        return after[0] in {"at", "for", "as", "in"}
    if verb in {"got", "gets"}:
        return after[0] in {
            "married",
            "divorced",
            "engaged",
            "promoted",
            "a",
            "up",
            "into",
            "paid",
            "back",
            "home",
            "carsick",
        }
    if verb == "went":
        return after[0] in {"to", "vegan", "vegetarian"} and has_past_date(clause)
    if verb in {"keeps", "made"}:
        return after[0] in {"kosher", "halal", "a", "bees", "chickens"}
    if verb in {"says", "thinks"}:
        inner = after[1:] if after[0] == "that" else after
        return (
            len(inner) > 2
            and inner[0] in {"he", "she", "they", "my"}
            and inner[1] in {"is", "are", "has", "have"}
        )
    if verb == "ran":
        return has_past_date(clause)
    return False


def _is_third_state(after: _Words, clause: Clause) -> bool:
    adverbs, rest = _skip_adverbs(after)
    if not rest:
        return False
    first = rest[0]
    if first == "not" and rest[1:]:
        first, rest = rest[1], rest[1:]
    if first in {
        "that",
        "to",
        "what",
        "how",
        "why",
        "whether",
        "because",
        "when",
        "if",
        "like",
        "as",
    }:
        return first == "to" and bool(lists.OWNERS & set(clause.words[:1])) and False
    if first == "going":
        return rest[1:2] == ("to",) and (
            has_date(clause) or rest[2:3] in {("be",), ("have",), ("move",), ("start",), ("close",)}
        )
    if first == "feeling":
        return False
    if first == "getting":
        return rest[1:2] in {
            ("married",),
            ("divorced",),
            ("a",),
            ("an",),
            ("new",),
            ("replaced",),
            ("renovated",),
        }
    if first in lists.EVALUATIONS:
        return False
    return first not in lists.MOODS - {
        "proud",
        "open",
        "up",
        "down",
        "late",
        "free",
        "new",
        "available",
        "afraid",
        "scared",
        "home",
        "terrified",
        "busy",
        "back",
        "done",
        "about",
        "off",
        "over",
    }


def _is_third_past_state(after: _Words, clause: Clause) -> bool:
    adverbs, rest = _skip_adverbs(after)
    if not rest or rest[0] in lists.EVALUATIONS or rest[0] in lists.MOODS:
        return False
    if rest[0].endswith("ing") and rest[0] not in {"born"}:
        return False
    if rest[0] in {"a", "an", "the"}:
        return not set(rest[1:3]) & (lists.TASK_NOUNS | lists.EVALUATIONS)
    return rest[0].endswith("ed") or rest[0] in {
        "born",
        "in",
        "at",
        "from",
        "built",
        "sold",
        "made",
        "held",
        "founded",
        "cut",
        "set",
        "called",
        "on",
        "taken",
        "chosen",
        "given",
    }


def _is_third_possession(after: _Words, clause: Clause) -> bool:
    adverbs, rest = _skip_adverbs(after)
    if not rest:
        return False
    first = rest[0]
    if first in {"to", "got"} and first == "to":
        return has_habit(clause) or has_date(clause)
    if first == "been":
        return _is_long_time(rest[1:], clause) or rest[1:2] in {
            ("moved",),
            ("cancelled",),
            ("canceled",),
            ("postponed",),
            ("diagnosed",),
            ("promoted",),
            ("renamed",),
            ("closed",),
            ("replaced",),
            ("rescheduled",),
            ("sold",),
            ("pushed",),
        }
    if first in {"failed", "crashed", "stopped", "started", "broken", "worked", "gone", "done"}:
        return first in {"stopped", "started"} and rest[1:2] in {
            ("drinking",),
            ("smoking",),
            ("eating",),
            ("school",),
            ("nursery",),
            ("university",),
            ("college",),
            ("a",),
        }
    return not set(rest[:4]) & (lists.TASK_NOUNS | {"this", "that", "it"})


_TALKED_OF = lists.TASK_NOUNS | frozenset(
    """
    time way point problem person people world weather news internet web page button link image
    picture photo video song book chapter article paper email mail letter report summary outline
    plan itinerary table chart graph diagram data dataset model api library framework package
    module docs documentation server db database container pod job pipeline process log logs
    whole entire new old one ones food meal dinner flight hotel
    """.split()
)


def _tells_of_thing(clause: Clause) -> bool:
    """Decide on a sentence about "the …"."""
    words = clause.words
    place = _find_verb(words, 2)
    if place < 0:
        return False
    subject = words[1:place]
    rest = words[place:]
    is_ours = bool(clause.word_set & lists.FIRST_PERSON_ANYWHERE)
    if set(subject) & lists.TASK_NOUNS:
        return False
    if set(subject) & _TALKED_OF and not is_ours and not has_schedule(clause):
        return False
    verb = rest[0]
    if verb not in lists.AUXILIARIES and _is_past_verb(verb):
        return (
            verb
            in {
                "changed",
                "moved",
                "closed",
                "opened",
                "died",
                "started",
                "expired",
                "switched",
                "burned",
                "burnt",
                "retired",
                "merged",
                "closes",
            }
            and len(rest) > 2
        )
    return _is_third_stated(rest, clause)


def _tells_of_existence(clause: Clause) -> bool:
    words = clause.words
    if words[1:2] not in {("is",), ("are",)} or set(words[2:6]) & lists.TASK_NOUNS:
        return False
    is_ours = bool(clause.word_set & (lists.FIRST_PERSON_ANYWHERE - {"i", "me"}))
    return is_ours or has_habit(clause) or has_weekly_day(clause)


def _tells_of_this(clause: Clause) -> bool:
    words = clause.words
    if words[:3] == ("it", "takes", "me") or words[:3] == ("it", "takes", "us"):
        return len(words) > 5
    if words[0] == "it" and words[1] == "is":
        return words[2] in lists.OWNERS and not set(words[3:5]) & lists.TASK_NOUNS
    if words[0] == "this" and words[1] in lists.LASTING_THINGS:
        place = _find_verb(words, 2)
        return place > 0 and _is_third_stated(words[place:], clause)
    return False


_ELLIPTIC = (
    "allergic to", "born in", "born on", "married to", "based in", "lactose intolerant", "been vegan", "been vegetarian",
    "moved to", "user prefers", "user likes",
)  # fmt: skip


def _tells_without_subject(clause: Clause) -> bool:
    return clause.starts_with(*_ELLIPTIC)


def _tells_of_named(clause: Clause) -> bool:
    """Decide on a sentence whose first words name somebody or something."""
    words = clause.words
    first = clause.tokens[0]
    if not first.is_word or first.lower in lists.STARTERS:
        return False
    place = _find_named_verb(clause)
    if place < 1:
        return False
    subject = words[:place]
    if set(subject) & _TALKED_OF or set(subject) & lists.PRONOUNS:
        return False
    is_name = first.is_capital and (len(subject) == 1 or _has_name(clause, place))
    is_ours = bool(clause.word_set & lists.FIRST_PERSON_ANYWHERE)
    rest = words[place:]
    if is_ours or has_schedule(clause) or has_date(clause):
        return _is_third_stated(rest, clause)
    return is_name and place <= 5 and _is_third_stated(rest, clause)


def _has_name(clause: Clause, place: int) -> bool:
    return any(token.is_capital for token in clause.tokens[1:place] if token.is_word)


def _find_named_verb(clause: Clause) -> int:
    return _find_verb(clause.words, 1)


# --- dates and habits

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WEEKLY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:weekends|weekdays|weeknights|mornings|evenings|nights|afternoons)\b"
)
_HABITS = (
    "every", "daily", "weekly", "monthly", "yearly", "annually", "always", "usually", "often", "never", "each",
    "twice", "once a", "once every", "times a", "rarely", "most days", "most mornings", "normally", "generally",
    "sometimes", "regularly", "nightly", "per week", "a week", "a day", "typically", "fortnightly", "before meals",
)  # fmt: skip


def has_habit(clause: Clause) -> bool:
    """Return True if the clause tells how often something happens."""
    return clause.contains(*_HABITS) or has_weekly_day(clause)


def has_weekly_day(clause: Clause) -> bool:
    """Return True for "on Mondays" and the like."""
    return _WEEKLY.search(clause.text.lower()) is not None


def has_past_date(clause: Clause) -> bool:
    """Return True if the clause names a past time that is more than days ago."""
    if _YEAR.search(clause.text) or clause.word_set & (
        lists.MONTHS - {"may", "march", "mar", "sep"}
    ):
        return True
    return clause.contains(
        "years ago", "year ago", "months ago", "month ago", "weeks ago", "last year", "last month", "last summer", "last winter",
        "last spring", "last autumn", "last fall", "when i was", "as a kid", "as a child", "in may", "in march", "decades ago",
        "in my twenties", "in college", "in high school", "at university", "back in", "last christmas", "this year", "last week",
    )  # fmt: skip


_DATE_WORDS = lists.WEEKDAYS | frozenset("tomorrow tonight noon midnight today".split())
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|\b\d{1,2}(?:st|nd|rd|th)\b", re.IGNORECASE)


def has_date(clause: Clause) -> bool:
    """Return True if the clause names a day, a month, a year or a time of day."""
    if clause.word_set & (_DATE_WORDS | (lists.MONTHS - {"may", "march"})) or _CLOCK.search(
        clause.text
    ):
        return True
    return has_past_date(clause) or clause.contains(
        "next week", "next month", "next year", "next summer", "next spring", "this summer", "this weekend", "next weekend", "in may",
        "in march", "the end of", "this winter", "this spring", "this autumn", "this month", "until", "from now on",
    )  # fmt: skip


def has_schedule(clause: Clause) -> bool:
    """Return True if the clause names a time or how often something happens."""
    return has_date(clause) or has_habit(clause)
