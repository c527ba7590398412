"""Cutting a clause whose several subjects each do the same: "Emma and Liam are coming"."""

from dataclasses import replace

from app.extraction.compound import lexicon, verbs
from app.extraction.compound.clause import (
    Clause,
    Group,
    Person,
    find_clause,
    person_of_nouns,
    skip_adverbs,
)
from app.extraction.compound.words import Word, Words, carry_words

_MAX_ITEMS = 8
_TITLES = frozenset("mr mrs ms miss dr prof sir lady".split())
_BE = {"are": ("is", "am"), "were": ("was", "was"), "'re": ("is", "am")}


def split_subjects(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return a clause for each of the subjects; one clause if they may act together."""
    clause = find_clause(words)
    if clause is None or clause.person is not Person.PLURAL:
        return [words]
    subject = clause.subject
    if subject[-1].low == "," or any(word.low == "&" for word in subject):
        return [words]
    items = _read_items(subject)
    if len(items) < 2 or not _is_distributive(clause) or _is_fixed_pair(items):
        return [words]
    return [_build_clause(clause, item, first=item is items[0]) for item in items]


def _read_items(subject: Words) -> list[Words]:
    """Return the noun phrases that commas and one "and" join; nothing if one is unusual."""
    items: list[list[Word]] = [[]]
    for word in subject:
        if word.low in (",", "and", "&"):
            items.append([])
        else:
            items[-1].append(word)
    filled: list[Words] = [item for item in items if item]
    if len(filled) > _MAX_ITEMS or not all(_is_subject_item(item) for item in filled):
        return []
    names = [item for item in filled if len(item) == 1 and item[0].low != "i"]
    are_alike = len({item[0].is_capitalised for item in names}) <= 1
    return filled if are_alike else []


def _is_subject_item(item: Words) -> bool:
    first = item[0]
    if first.low == "i" and len(item) == 1:
        return True
    if any(word.low in lexicon.PREPOSITIONS or word.is_mark for word in item):
        return False
    if any(word.low == "'s" for word in item) or item[-1].low in lexicon.PLAIN_NAMES:
        return False
    if item[-1].low.rstrip(".") in _TITLES:
        return False
    if first.low in ("my", "our", "the"):
        names_several = any(word.low in lexicon.PLURAL_PERSON_NOUNS for word in item[1:-1])
        may_be_clause = any(word.low in verbs.THIRDS for word in item[2:])  # "the dog barks"
        return 1 < len(item) <= 5 and not names_several and not may_be_clause
    if len(item) == 1 and not first.is_capitalised:
        return first.low.isalpha() and first.low not in lexicon.DETERMINERS
    return all(word.is_capitalised for word in item) and len(item) <= 4 and first.low != "both"


def _is_fixed_pair(items: list[Words]) -> bool:
    pair = tuple(item[-1].low for item in items)
    return pair in lexicon.FIXED_PAIRS and items[-1][0].low not in ("my", "our", "the")


def _is_distributive(clause: Clause) -> bool:
    """Return True if what is said of all is plainly true of each."""
    predicate = clause.words[clause.subject_end :]
    lows = {word.low for word in predicate} - {"both"}
    if "meeting" in lows and clause.words[clause.main].low != "meeting":
        lows.remove("meeting")
    if lows & (lexicon.COLLECTIVE_WORDS | lexicon.THIRD_POSSESSIVES | lexicon.ANAPHORS):
        return False
    if lows & lexicon.LATER_PRONOUNS or any(word.low in (",", ";", ".") for word in predicate):
        return False
    if lows & {"i", "because", "separate", "and", "or", "but", "as", "who", "which", "our", "we"}:
        return False
    main = clause.words[clause.main]
    if clause.group is Group.COPULA:
        return _is_property(predicate)
    lemma = verbs.find_base(main.low)
    if lemma == "speak":  # "Anna and Ben speak on Fridays" may mean with each other
        behind = clause.words[clause.main + 1 : clause.main + 2]
        return any(word.low in lexicon.PLAIN_NAMES for word in behind)
    return lemma in lexicon.DISTRIBUTIVE_VERBS


def _is_property(predicate: Words) -> bool:
    """Return True if the words behind "are" are an adjective or a place, and no plural noun."""
    place = skip_adverbs(predicate, 1)
    words = predicate[place:]
    if not words:
        return False
    if _names_role(words):
        return True
    if words[0].low in ("the", "a", "an"):
        return False
    head_end = next(
        (i for i, word in enumerate(words) if word.low in lexicon.PREPOSITIONS), len(words)
    )
    head = words[head_end - 1] if head_end else words[0]
    if head_end and head.low.endswith("s") and head.low not in lexicon.STATUS_WORDS:
        return head.low.endswith(("ous", "ss"))
    return head.low not in lexicon.PLURAL_PERSON_NOUNS


def _names_role(words: Words) -> bool:
    """Return True for one plural noun that says what each is: "nurses", "vegetarians"."""
    is_short = len(words) == 1 or words[1].low in ("at", "in", "from", "for")
    return is_short and words[0].low.removesuffix("s") in lexicon.ROLE_NOUNS


def _build_clause(clause: Clause, item: Words, *, first: bool) -> tuple[Word, ...]:
    """Return the clause about one item. The last item owns the predicate, the others repeat it."""
    owns_predicate = clause.words[clause.subject_end - 1] is item[-1] or item[-1].carried
    predicate = _drop_both(clause.words[clause.subject_end :])
    finite = clause.words[clause.finite]
    predicate = [_agree(word, item) if word is finite else word for word in predicate]
    if clause.group is Group.COPULA and _agrees_in_singular(item):
        predicate = _singularise_role(predicate)
    lead = clause.lead if first else carry_words(clause.lead)
    return (*lead, *item, *(predicate if owns_predicate else carry_words(predicate)))


def _drop_both(predicate: Words) -> list[Word]:
    """Return the predicate without "both", and without the "all" of "are all vegan"."""
    return [
        word
        for place, word in enumerate(predicate)
        if word.low != "both" and not (word.low == "all" and place <= 1)
    ]


def _agrees_in_singular(item: Words) -> bool:
    return item[-1].low == "i" or person_of_nouns(item) is Person.THIRD


def _singularise_role(predicate: list[Word]) -> list[Word]:
    """Return "is a nurse" for "is nurses"."""
    place = skip_adverbs(predicate, 1)
    if place >= len(predicate) or not _names_role(predicate[place:]):
        return predicate
    plural = predicate[place]
    if not plural.low.endswith("s"):
        return predicate
    noun = plural.text.removesuffix("s")
    article = "an" if noun[0].lower() in "aeiou" else "a"
    role = replace(plural, text=f"{article} {noun}")
    return [*predicate[:place], role, *predicate[place + 1 :]]


def _agree(verb: Word, item: Words) -> Word:
    """Return the verb in the form that agrees with the item."""
    is_speaker = item[-1].low == "i"
    if not _agrees_in_singular(item):
        return verb
    if verb.low in _BE:
        other, speaker = _BE[verb.low]
        return _reword(verb, speaker if is_speaker else other)
    if is_speaker or verb.low not in verbs.BASES:
        return verb
    return _reword(verb, verbs.add_s(verb.low))


def _reword(verb: Word, text: str) -> Word:
    return replace(verb, text=text, low=text, glued=False)
