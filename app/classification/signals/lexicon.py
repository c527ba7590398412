"""Word lists and tables, read once at import. Words are found by their dictionary form as well as
the form in the file.
"""

from collections.abc import Iterable

from app.classification.signals.lemma import IRREGULAR, reduce_to_lemma
from app.classification.signals.tables import read_lines, read_numbers, read_table

_WORDS = read_table("words.toml")


def _load_words(name: str) -> frozenset[str]:
    return _expand_forms(_WORDS[name].split())


def _expand_forms(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (word, reduce_to_lemma(word)))


def _load_groups(name: str) -> dict[str, frozenset[int]]:
    """The groups (by number) that each word is in."""
    places: dict[str, frozenset[int]] = {}
    for place, group in enumerate(read_lines(name)):
        for word in _expand_forms(group):
            places[word] = places.get(word, frozenset()) | {place}
    return places


def _load_opposites(name: str) -> dict[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for left, right in read_lines(name):
        for one, others in ((left, _expand_forms([right])), (right, _expand_forms([left]))):
            for form in _expand_forms([one]):
                opposites[form] = opposites.get(form, frozenset()) | others
    return opposites


ARTICLES = _load_words("articles")
FUNCTION_WORDS = _load_words("function_words")
STARTERS = _load_words("starters")
SUPPORT = _load_words("support")
NEGATORS = _load_words("negators")
FIRST_PERSON = _load_words("first_person")
FIRST_PLURAL = _load_words("first_plural")
THIRD_PERSON = _load_words("third_person")
KIN = _load_words("kin")
MODALS = _load_words("modals")
INTENTIONS = _load_words("intentions")
AUXILIARIES = _load_words("auxiliaries")
QUANTIFIERS = _load_words("quantifiers")
IDENTIFYING_NOUNS = _load_words("identifying_nouns")
PREPOSITIONS = _load_words("prepositions")
EVENT_VERBS = _load_words("event_verbs")
MANY_VALUED_VERBS = _load_words("many_valued_verbs")
MANY_VALUED_NOUNS = _load_words("many_valued_nouns")
UNIQUE_ROLES = _load_words("unique_roles")
SUPPORT_CUES = _load_words("support_cues")
ACTIVE_CUES = _load_words("active_cues")
RELEASE_CUES = _load_words("release_cues")
NEWEST_CUES = _load_words("newest_cues")
VALUE_ENDS = _load_words("value_ends")
CHANGE_VERBS = _load_words("change_verbs")
REPLACING_VERBS = _load_words("replacing_verbs")
SPAN_ENDS = _load_words("span_ends")
RETRACTION_TALK = _load_words("retraction_talk")
ALTERING_VERBS = _load_words("altering_verbs")
SINGLE_NOUNS = _load_words("single_nouns")
UPGRADE_VERBS = _load_words("upgrade_verbs")
MEASURED_NOUNS = _load_words("measured_nouns")
PRONOUNS = _load_words("pronouns")
HEADLESS_VERBS = _load_words("headless_verbs")
PAST_FORMS = frozenset(word for word in IRREGULAR if not word.endswith(("ing", "s"))) - _load_words(
    "not_past"
)
ONE_AT_A_TIME = _load_words("one_at_a_time")
EVENT_NOUNS = _load_words("event_nouns")
OCCUPYING_VERBS = _load_words("occupying_verbs")
LIGHT_WORDS = _load_words("light_words")

ANTONYMS = _load_opposites("antonyms.txt")
EXCLUSIVE_GROUPS = _load_groups("exclusive.txt")
ASPECTS = _load_groups("aspects.txt")

ATTRIBUTES = read_table("attributes.toml")
ENDINGS = read_table("endings.toml")
CONFIDENCE = read_numbers("confidence.json")
