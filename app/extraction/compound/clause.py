"""Reading a clause: its lead, its subject, and its group of verbs."""

from dataclasses import dataclass
from enum import Enum

from app.extraction.compound import lexicon, verbs
from app.extraction.compound.words import Word, Words
from app.extraction.words import LASTING_ADJECTIVES

MAX_SUBJECT = 10
MAX_LEAD = 6
MAX_ADVERBS = 3


class Person(Enum):
    """The forms of a verb that agree with a subject."""

    FIRST = "first"  # "I": base forms, "am"
    PLURAL = "plural"  # base forms, "are"
    THIRD = "third"  # forms in -s, "is"


class Group(Enum):
    """What a finite verb and the words after it are."""

    PLAIN = "plain"
    COPULA = "copula"
    PROGRESSIVE = "progressive"
    PASSIVE = "passive"
    PERFECT = "perfect"
    MODAL = "modal"
    DO = "do"


@dataclass(frozen=True, slots=True)
class Clause:
    """Places in the words of a clause. The lead ends where the subject starts.

    `finite` is the place of the finite verb, `main` that of the verb that carries the meaning.
    """

    words: tuple[Word, ...]
    subject_start: int
    subject_end: int
    person: Person
    finite: int
    main: int
    group: Group
    is_negated: bool

    @property
    def lead(self) -> Words:
        return self.words[: self.subject_start]

    @property
    def subject(self) -> Words:
        return self.words[self.subject_start : self.subject_end]

    @property
    def head(self) -> Words:
        """Return the subject without what a preposition adds: "Mr Bell" of "Mr Bell in room 4"."""
        for place, word in enumerate(self.subject):
            if place and word.low in lexicon.PREPOSITIONS:
                return self.subject[:place]
        return self.subject

    @property
    def lemma(self) -> str | None:
        low = self.words[self.main].low
        return "have" if low == "'ve" else verbs.find_base(low)

    @property
    def has_pronoun(self) -> bool:
        subject = self.subject
        return len(subject) == 1 and subject[0].low in lexicon.SUBJECT_PRONOUNS

    @property
    def is_about_person(self) -> bool:
        """Return True if the subject is the speaker, a name, or a word for a person."""
        subject = self.subject
        if not subject or self.has_pronoun:
            return True
        lows = _list_head_words(subject)
        if lows & (lexicon.PERSON_NOUNS | lexicon.PLURAL_PERSON_NOUNS | {"i"}):
            return True
        if self.words[self.finite - 1].low == "both":
            return True
        if subject[0].low == "the" or subject[0].low in lexicon.NUMERALS:
            return False
        names = [word for word in self.head if word.low not in ("and", "&", ",")]
        return all(word.is_capitalised for word in names)


def _list_head_words(subject: Words) -> set[str]:
    """Return the words of the subject behind the last possessive: the alarm of "User's alarm"."""
    start = 0
    for place, word in enumerate(subject):
        if word.low == "'s" and place + 1 < len(subject):
            start = place + 1
    return {word.low for word in subject[start:]}


def find_clause(words: Words) -> Clause | None:
    """Return the clause that begins the words, after a lead if there is one."""
    if not words:
        return None
    if words[0].low in lexicon.BLOCKING_STARTS and not _starts_lead(words):
        return None
    clause = read_clause(words, 0)
    if clause is not None:
        return clause
    if words[0].low in ("all", "both", "neither"):
        return None
    if not (words[0].low in lexicon.LEAD_STARTS or is_adverb(words[0])):
        return None
    for start in range(1, min(MAX_LEAD + 1, len(words))):
        if words[start].low in lexicon.RELATIVE_WORDS:
            return None
        clause = read_clause(words, start)
        if clause is not None:
            return clause
    return None


def _starts_lead(words: Words) -> bool:
    """Return True if the first word begins a phrase of time and no clause."""
    if words[0].low not in lexicon.LEAD_STARTS or len(words) < 3:
        return False
    return words[1].low not in lexicon.POSSESSIVES and read_clause(words, 1) is None


def read_clause(words: Words, start: int) -> Clause | None:
    """Return the clause whose subject starts there; None if no subject with its verb does."""
    first = words[start]
    if first.low == "nobody":
        return _read_verbs(words, start, start + 1, Person.THIRD)
    if first.low in lexicon.SUBJECT_PRONOUNS:
        person = _person_of_pronoun(first.low)
        return _read_verbs(words, start, start + 1, person)
    return _read_noun_clause(words, start)


def read_headless_clause(words: Words) -> Clause | None:
    """Return the clause of a note without a subject, such as "Lives in Porto"."""
    first = words[0].low
    if first in verbs.THIRDS:
        return _read_verbs(words, 0, 0, Person.THIRD)
    if first in verbs.PASTS and first not in verbs.BASES:
        return _read_verbs(words, 0, 0, Person.FIRST)
    return None


def _person_of_pronoun(low: str) -> Person:
    if low == "i":
        return Person.FIRST
    return Person.THIRD if low in ("he", "she", "it") else Person.PLURAL


# --- subjects that are nouns ----------------------------------------------------------------------


def _read_noun_clause(words: Words, start: int) -> Clause | None:
    """Try each place behind the start of a noun phrase as that of its finite verb."""
    if not _starts_noun_phrase(words, start):
        return None
    joined = False
    commas = 0
    for place in range(start + 1, min(start + MAX_SUBJECT + 1, len(words))):
        word, before = words[place], words[place - 1]
        if word.low in ("and", "&"):
            if before.low == "," and commas == 1:
                return None  # "Anna, and Ben is …" begins another clause
            joined = True
            continue
        if word.low == ",":
            commas += 1
            continue
        if word.low == "i" and before.low == "and":
            continue
        if _ends_noun_phrase(word):
            return None
        if before.low in ("and", "&") or before.low in lexicon.DETERMINERS:
            continue
        if not joined and (commas == 1 or (commas == 2 and before.low != ",")):
            continue
        person = Person.PLURAL if joined else person_of_nouns(words[start:place])
        clause = _read_verbs(words, start, place, person)
        if clause is not None and _is_verb_of_noun(clause):
            return None if joined and _is_singular(words[clause.finite].low) else clause
    return None


def _is_singular(low: str) -> bool:
    return low in ("is", "was", "has", "does", "'s", "am", "'m") or low in verbs.THIRDS


def _starts_noun_phrase(words: Words, start: int) -> bool:
    word = words[start]
    if word.is_mark or word.is_number or word.low in lexicon.RELATIVE_WORDS:
        return False
    if word.low in ("the", "a", "an", "this", "both") or word.low in lexicon.POSSESSIVES:
        return True
    if word.low in lexicon.PERSON_NOUNS or word.low in lexicon.PLURAL_PERSON_NOUNS:
        return True
    if word.low in lexicon.PREPOSITIONS or is_adverb(word) or word.low in lexicon.DETERMINERS:
        return False
    if word.is_capitalised or _joins_two_names(words, start):
        return True
    return _starts_bare_noun_phrase(words, start)


def _joins_two_names(words: Words, start: int) -> bool:
    """Return True for "kacper and jay both …": names without capitals."""
    lows = [word.low for word in words[start : start + 4]]
    return len(lows) == 4 and lows[1] == "and" and lows[3] == "both"


def _starts_bare_noun_phrase(words: Words, start: int) -> bool:
    """Return True if one or two common words stand directly before "is" or "are".

    One word may also stand before a verb that cannot be a noun: "nickel gives me a rash".
    """
    for place in range(start + 1, min(start + 3, len(words))):
        if words[place].low in ("is", "are", "was", "were"):
            return True
        if place == start + 1 and _is_plain_third(words[place].low):
            return not is_function_word(words[start])
        if is_function_word(words[place]):
            return False
    return False


def _is_plain_third(low: str) -> bool:
    return low in verbs.THIRDS and verbs.THIRDS[low] not in lexicon.NOUNS_OR_VERBS


def _ends_noun_phrase(word: Word) -> bool:
    low = word.low
    if low in lexicon.SUBJECT_PRONOUNS or low in lexicon.RELATIVE_WORDS:
        return True
    return word.is_mark or low in ("or", "but")


def person_of_nouns(subject: Words) -> Person:
    """Return the person by the last word before a preposition."""
    head = subject[0]
    for word in subject[1:]:
        if word.low in lexicon.PREPOSITIONS:
            break
        head = word
    if head.low in lexicon.PLURAL_PERSON_NOUNS:
        return Person.PLURAL
    is_plural = head.low.endswith("s") and not head.low.endswith(("ss", "us", "is", "'s"))
    return Person.PLURAL if is_plural and not head.is_capitalised else Person.THIRD


_STRONG_VERBS = frozenset(
    """
    lives goes needs takes comes gets has owns speaks knows wants likes prefers eats opens
    closes costs starts ends begins expires brings gives runs teaches studies keeps makes uses
    hates loves works plays sleeps attends belongs contains requires arrives leaves
    """.split()
)


def _is_verb_of_noun(clause: Clause) -> bool:
    """Return True if the word is a verb of the noun phrase and neither noun nor participle."""
    words, place = clause.words, clause.finite
    low = words[place].low
    if low == "'s":
        return _is_short_is(words, place)
    if low in lexicon.BE_FORMS | lexicon.HAVE_FORMS | lexicon.DO_FORMS | lexicon.MODALS:
        return True
    following = words[place + 1] if place + 1 < len(words) else None
    is_person = clause.is_about_person
    may_stand_before_by = is_person and low in verbs.THIRDS
    if following is None:
        is_past = low in verbs.PASTS and low not in lexicon.PARTICIPLES_BEHIND_NOUNS
        return is_person and (is_past or (low in verbs.THIRDS and is_adverb(words[place - 1])))
    if following.low == "of":
        return False
    if following.low == "by" and not may_stand_before_by:
        return False
    if clause.person is Person.THIRD and low.endswith("s") and verbs.find_base(low) is None:
        return is_person and is_function_word(following) and not following.is_mark
    if low in verbs.THIRDS and clause.person is Person.THIRD:
        base = verbs.THIRDS[low]
        if is_person or (low in _STRONG_VERBS and base not in lexicon.NOUNS_OR_VERBS):
            return True
        is_strong = low in _STRONG_VERBS or base not in lexicon.NOUNS_OR_VERBS
        return is_strong and _follows_working(following)
    if low in verbs.BASES and clause.person is Person.PLURAL:
        return is_person
    if low in verbs.PASTS and low not in lexicon.PARTICIPLES_BEHIND_NOUNS:
        return is_person or low not in verbs.PARTICIPLES
    return False


def _follows_working(word: Word) -> bool:
    """Return True if the word shows that "runs" or "uses" before it is a verb."""
    low = word.low
    if low in ("on", "at", "from", "to", "a", "an", "the", "our", "my", "in", "with", "every"):
        return True
    return word.is_capitalised or word.is_number


def _is_short_is(words: Words, place: int) -> bool:
    """Return True if "'s" after a noun means "is" and not "of"."""
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None:
        return False
    low = following.low
    if words[place - 1].low == "name":
        return True
    if low in ("a", "an", "the", "not", "my", "our", "now", "at", "in", "on", "from", "called"):
        return True
    if low in LASTING_ADJECTIVES:
        return True
    return low in lexicon.STATUS_WORDS or low in ("allergic", "moving", "working", "coming")


# --- verbs ----------------------------------------------------------------------------------------


def is_adverb(word: Word) -> bool:
    low = word.low
    return low in lexicon.ADVERBS or (
        low.endswith("ly") and len(low) > 4 and low not in _NOT_ADVERBS
    )


_NOT_ADVERBS = frozenset(
    """
    family lily emily kelly molly sally italy july bully jelly reply apply rely supply multiply
    fly belly ally billy holly assembly monopoly anomaly
    """.split()
)


def skip_adverbs(words: Words, place: int) -> int:
    end = min(place + MAX_ADVERBS, len(words))
    while place < end and (is_adverb(words[place]) or words[place].low in ("n't", "not")):
        place += 1
    return place


def is_function_word(word: Word) -> bool:
    low = word.low
    if word.is_mark or low in ("and", "or", "but", "not", "n't", "to", "'s"):
        return True
    return (
        low in lexicon.DETERMINERS or low in lexicon.PREPOSITIONS or low in lexicon.RELATIVE_WORDS
    )


_NEVER_AFTER_I = frozenset("are is 's has does 're".split())


def _read_verbs(words: Words, start: int, end: int, person: Person) -> Clause | None:
    """Read the verbs behind a subject that ends there."""
    finite = skip_adverbs(words, end)
    if finite >= len(words):
        return None
    low = words[finite].low
    verb_group = _read_group(words, finite, person)
    if verb_group is None or (person is Person.FIRST and low in _NEVER_AFTER_I):
        return None
    main, group = verb_group
    behind = words[finite + 1].low if finite + 1 < len(words) else ""
    before_main = {word.low for word in words[end : main + 1]}
    is_negated = bool(before_main & lexicon.NEGATORS) or behind in ("not", "n't")
    if person is Person.THIRD and low in ("are", "were", "'re", "have", "'ve"):
        person = Person.PLURAL
    return Clause(tuple(words), start, end, person, finite, main, group, is_negated)


def _read_group(words: Words, finite: int, person: Person) -> tuple[int, Group] | None:
    low = words[finite].low
    after = skip_adverbs(words, finite + 1)
    following = words[after].low if after < len(words) else ""
    if low == "'s" and following in ("had", "been", "got"):
        return _read_have_group(words, finite, after, following)
    if low in lexicon.BE_FORMS or low == "'s":
        return _read_be_group(finite, after, following)
    if low in lexicon.HAVE_FORMS:
        return _read_have_group(words, finite, after, following)
    if low in lexicon.DO_FORMS and following in verbs.BASES and after > finite + 1:
        return after, Group.DO
    if low in lexicon.MODALS:
        is_unknown = following.isalpha() and verbs.find_base(following) is None
        is_verb = following in verbs.BASES or (is_unknown and after > finite + 1)
        return (after, Group.MODAL) if is_verb else None
    return (finite, Group.PLAIN) if _is_finite_form(words[finite], person) else None


def _read_be_group(finite: int, after: int, following: str) -> tuple[int, Group]:
    if following in verbs.GERUNDS:
        return after, Group.PROGRESSIVE
    if _is_participle(following) and following not in lexicon.STATUS_WORDS:
        return after, Group.PASSIVE
    return finite, Group.COPULA


def _read_have_group(words: Words, finite: int, after: int, following: str) -> tuple[int, Group]:
    if following == "been" and after + 1 < len(words):
        inner = skip_adverbs(words, after + 1)
        if inner < len(words) and words[inner].low in verbs.GERUNDS:
            return inner, Group.PROGRESSIVE
        return after, Group.PERFECT
    if _is_participle(following):
        return after, Group.PERFECT
    return finite, Group.PLAIN


def _is_participle(low: str) -> bool:
    """Return True for known participles, and for unknown words in -ed."""
    return low in verbs.PARTICIPLES or (low.endswith("ed") and verbs.find_base(low) is None)


def _is_finite_form(word: Word, person: Person) -> bool:
    low = word.low
    if is_function_word(word) or not low[0].isalpha():
        return False
    if low in verbs.PASTS:
        return True
    is_unknown = verbs.find_base(low) is None and not word.is_capitalised
    if person is Person.THIRD:
        return low in verbs.THIRDS or (is_unknown and low.endswith("s") and low.isalpha())
    return low in verbs.BASES or (is_unknown and person is Person.FIRST and low.isalpha())
