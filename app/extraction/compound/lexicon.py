"""The word lists of the splitter, read once at import."""

import tomllib
from pathlib import Path

_DATA = Path(__file__).parent / "data"
_LISTS: dict[str, str] = tomllib.loads((_DATA / "words.toml").read_text(encoding="utf-8"))


def _load_words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _load_phrases(name: str) -> frozenset[tuple[str, ...]]:
    """Return the lines of a list as words; contractions are two words, as in a text."""
    lines = _LISTS[name].splitlines()
    return frozenset(tuple(line.split()) for line in lines if line.strip())


SUBJECT_PRONOUNS = _load_words("subject_pronouns")
LATER_PRONOUNS = _load_words("later_pronouns")
FIRST_PERSON = _load_words("first_person")
DETERMINERS = _load_words("determiners")
POSSESSIVES = _load_words("possessives")
NUMERALS = _load_words("numerals")
MODALS = _load_words("modals")
CARRIED_MODALS = _load_words("carried_modals")
BE_FORMS = _load_words("be_forms")
HAVE_FORMS = _load_words("have_forms")
DO_FORMS = _load_words("do_forms")
NEGATORS = _load_words("negators")
ADVERBS = _load_words("adverbs")
CARRIED_ADVERBS = _load_words("carried_adverbs")
PREPOSITIONS = _load_words("prepositions")
PARTICIPLES_BEHIND_NOUNS = _load_words("participles_behind_nouns")
RELATIVE_WORDS = _load_words("relative_words")
WISH_WORDS = _load_words("wish_words")
ANAPHORS = _load_words("anaphors")
THIRD_POSSESSIVES = _load_words("third_possessives")
SAYING_VERBS = _load_words("saying_verbs")
PERSON_NOUNS = _load_words("person_nouns")
PLURAL_PERSON_NOUNS = _load_words("plural_person_nouns")
LIST_VERBS = _load_words("list_verbs")
NEGATED_LIST_VERBS = _load_words("negated_list_verbs")
CHAIN_VERBS = _load_words("chain_verbs")
CAPITAL_LIST_VERBS = _load_words("capital_list_verbs")
LIST_PHRASES = _load_phrases("list_phrases")
PREDICATE_STARTS = _load_phrases("predicate_starts")
STATUS_WORDS = _load_words("status_words")
ACTIVITY_VERBS = _load_words("activity_verbs")
SHARED_HEAD_ADJECTIVES = _load_words("shared_head_adjectives") | _load_words("nationalities")
NATIONALITY_ENDINGS = tuple(_LISTS["nationality_endings"].split())
SHARED_HEADS = _load_words("shared_heads")
COLLECTIVE_WORDS = _load_words("collective_words")
DISTRIBUTIVE_VERBS = _load_words("distributive_verbs")
NOUNS_OR_VERBS = _load_words("nouns_or_verbs")
VERB_FOLLOWERS = _load_words("verb_followers")
TAIL_STARTS = _load_words("tail_starts")
SHARED_TAILS = _load_words("shared_tails")
SHARED_TAIL_PHRASES = _load_phrases("shared_tail_phrases")
LEAD_STARTS = _load_words("lead_starts")
BLOCKING_STARTS = _load_words("blocking_starts")
FIXED_PAIRS = _load_phrases("fixed_pairs")
OUTCOME_WORDS = _load_words("outcome_words")
LIMITING_ADVERBS = _load_words("limiting_adverbs")
STATE_PARTICIPLES = _load_words("state_participles")
MASS_NOUNS = _load_words("mass_nouns")
PLAIN_NAMES = _load_words("languages") | _load_words("weekdays")
FREQUENCY_ADVERBS = _load_words("frequency_adverbs")
ORDINALS = _load_words("ordinals")
PLURALS_LIKE_VERBS = _load_words("plurals_like_verbs")
ROLE_NOUNS = _load_words("role_nouns")
SERIAL_PAIRS = _load_phrases("serial_pairs")
