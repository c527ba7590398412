"""Word lists and tables, read once at import. Words are found by their dictionary form as well as the form in the file."""

from collections.abc import Iterable

from app.domain.signals.lemma import IRREGULAR, lemma
from app.domain.signals.tables import lines, numbers, table

_WORDS = table("words.toml")


def _words(name: str) -> frozenset[str]:
    return _forms(_WORDS[name].split())


def _forms(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (word, lemma(word)))


def _groups(name: str) -> dict[str, frozenset[int]]:
    """The groups (by number) that each word is in."""
    places: dict[str, frozenset[int]] = {}
    for place, group in enumerate(lines(name)):
        for word in _forms(group):
            places[word] = places.get(word, frozenset()) | {place}
    return places


def _opposites(name: str) -> dict[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for left, right in lines(name):
        for one, others in ((left, _forms([right])), (right, _forms([left]))):
            for form in _forms([one]):
                opposites[form] = opposites.get(form, frozenset()) | others
    return opposites


ARTICLES = _words("articles")
FUNCTION_WORDS = _words("function_words")
STARTERS = _words("starters")
SUPPORT = _words("support")
NEGATORS = _words("negators")
FIRST_PERSON = _words("first_person")
FIRST_PLURAL = _words("first_plural")
THIRD_PERSON = _words("third_person")
KIN = _words("kin")
MODALS = _words("modals")
INTENTIONS = _words("intentions")
AUXILIARIES = _words("auxiliaries")
QUANTIFIERS = _words("quantifiers")
IDENTIFYING_NOUNS = _words("identifying_nouns")
PREPOSITIONS = _words("prepositions")
EVENT_VERBS = _words("event_verbs")
MANY_VALUED_VERBS = _words("many_valued_verbs")
MANY_VALUED_NOUNS = _words("many_valued_nouns")
UNIQUE_ROLES = _words("unique_roles")
LIKING = _words("liking")
DISLIKING = _words("disliking")
SUPPORT_CUES = _words("support_cues")
ACTIVE_CUES = _words("active_cues")
RELEASE_CUES = _words("release_cues")
NEWEST_CUES = _words("newest_cues")
VALUE_ENDS = _words("value_ends")
CHANGE_VERBS = _words("change_verbs")
REPLACING_VERBS = _words("replacing_verbs")
SPAN_ENDS = _words("span_ends")
RETRACTION_TALK = _words("retraction_talk")
ALTERING_VERBS = _words("altering_verbs")
SINGLE_NOUNS = _words("single_nouns")
UPGRADE_VERBS = _words("upgrade_verbs")
MEASURED_NOUNS = _words("measured_nouns")
PRONOUNS = _words("pronouns")
HEADLESS_VERBS = _words("headless_verbs")
PAST_FORMS = frozenset(word for word in IRREGULAR if not word.endswith(("ing", "s"))) - _words("not_past")
ONE_AT_A_TIME = _words("one_at_a_time")
EVENT_NOUNS = _words("event_nouns")
OCCUPYING_VERBS = _words("occupying_verbs")
LIGHT_WORDS = _words("light_words")

ANTONYMS = _opposites("antonyms.txt")
EXCLUSIVE_GROUPS = _groups("exclusive.txt")
ASPECTS = _groups("aspects.txt")
_CLASSES = table("tools.toml")
ROLES: dict[str, frozenset[str]] = {name: _forms(entry["roles"].split()) for name, entry in _CLASSES.items()}
TOOLS: dict[str, tuple[str, ...]] = {}
for _name, _entry in _CLASSES.items():
    for _tool in _entry["members"].split():
        TOOLS[_tool] = (*TOOLS.get(_tool, ()), _name)

ATTRIBUTES = table("attributes.toml")
ENDINGS = table("endings.toml")
CONFIDENCE = numbers("confidence.json")
