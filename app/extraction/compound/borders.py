"""Cutting a text into clauses that each have a subject and a verb of their own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.extraction.compound import lexicon
from app.extraction.compound.clause import (
    Clause,
    Group,
    Person,
    find_clause,
    is_function_word,
    read_clause,
)
from app.extraction.compound.words import Word, Words, carry_words

_JOINS = frozenset(
    ("and", "but", "while", "whereas", "plus", "&", "n", "also", "though", "although", "so")
)
_MARKS = frozenset((",", ";", ".", "!", "-", "–", "—"))
_SHORT_ANSWERS = frozenset(("too", "also", "either", "not", "n't"))
_ENDS = frozenset((";", ".", "!"))
# "While" without a comma means "as long as".
_JOINS_BEHIND_COMMA = frozenset(("while", "whereas", "though", "although"))
_TIME_NOUNS = frozenset(
    """
    week weekend month year morning afternoon evening summer winter spring autumn fall time days
    quarter term semester season monday tuesday wednesday thursday friday saturday sunday
    """.split()
)


@dataclass(frozen=True, slots=True)
class _Border:
    """A run of conjunctions and marks: the place of its first word, and the one behind it."""

    start: int
    end: int
    joins: frozenset[str]


def split_clauses(words: Words) -> list[tuple[Word, ...]]:
    """Return the clauses of the words, in order; one if they are no plain row of clauses."""
    pieces: list[tuple[Word, ...]] = []
    rest = tuple(words)
    cut = _find_cut(rest)
    while cut is not None:
        before, rest = cut
        pieces.append(before)
        cut = _find_cut(rest)
    pieces.append(rest)
    return pieces


def _find_cut(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]] | None:
    """Return the words before and behind the first border that may be cut."""
    borders = list(_list_borders(words))
    for number, border in enumerate(borders):
        before = find_clause(words[: border.start])
        if before is None:
            continue
        next_start = borders[number + 1].start if number + 1 < len(borders) else len(words)
        after = find_clause(words[border.end :])
        if after is None or not _may_cut(border, before, after, next_start - border.end):
            continue
        following = _resolve_pronoun(before, after)
        if following is not None:
            return before.words, following
    return None


def _list_borders(words: Words) -> Iterator[_Border]:
    place = 0
    while place < len(words):
        start = place
        while place < len(words) and _may_part(words, place):
            place += 1
        if place > start > 0 and place < len(words):
            joins = frozenset(word.low for word in words[start:place])
            if joins != {"also"}:
                yield _Border(start, place, joins)
        if place == start:
            place += 1


def _may_part(words: Words, place: int) -> bool:
    """Return True for a conjunction or mark; the mark in ".sketch" belongs to its word."""
    low = words[place].low
    is_glued = place + 1 < len(words) and words[place + 1].glued
    return low in _JOINS or (low in _MARKS and not is_glued)


def _may_cut(border: _Border, before: Clause, after: Clause, length: int) -> bool:
    """Return True if both sides are statements that hold without each other."""
    if border.joins <= {",", "-", "–", "—"} and not _may_cut_at_comma(before, after):
        return False
    if "but" in border.joins and _is_correction(before, after):
        return False
    if not border.joins & (_ENDS | {"but"}) and _reports_clause(before):
        return False
    if not border.joins & (_ENDS | {",", "while", "whereas"}) and _has_relative(before):
        return False
    if border.joins & _JOINS_BEHIND_COMMA and not border.joins & _MARKS:
        return False
    if not border.joins & _ENDS and _lends_time(before):
        return False
    if border.joins == {"and"} and _may_be_item(before, after):
        return False
    if "so" in border.joins and not _follows_for_speaker(border, after):
        return False
    return not _names_nobody(after) and not _needs_what_stands_before(after, length)


def _follows_for_speaker(border: _Border, after: Clause) -> bool:
    """Return True for ", so I …", which holds without its reason."""
    return "," in border.joins and after.subject[0].low in lexicon.FIRST_PERSON


def _may_be_item(before: Clause, after: Clause) -> bool:
    """Return True if a bare noun after "and" may end a list: "the fours and zeros were …"."""
    first = after.subject[0]
    is_bare = not first.is_capitalised and first.low not in lexicon.SUBJECT_PRONOUNS
    if not is_bare or first.low in lexicon.DETERMINERS:
        return False
    return any(word.low == "," for word in before.words)


def _lends_time(clause: Clause) -> bool:
    """Return True if a phrase such as "In March" opens the clause: it may reach over the next."""
    return bool(clause.lead) and clause.lead[0].low in lexicon.PREPOSITIONS


def _names_nobody(clause: Clause) -> bool:
    """Return True for "two", "the second" or "Anna's": a subject whose noun stands before."""
    lows = [word.low for word in clause.subject]
    if lows[-1] == "'s":
        return True
    is_number = lows[-1] in lexicon.ORDINALS or lows[-1] in lexicon.NUMERALS
    return is_number and (len(lows) == 1 or lows[0] == "the")


def _may_cut_at_comma(before: Clause, after: Clause) -> bool:
    """Return True if a comma is enough: "I" or "my" follows, or two people do the same."""
    if after.lead or len(before.words) < 3:
        return False
    first, second = before.subject[0].low, after.subject[0].low
    if second in lexicon.FIRST_PERSON:
        return first in lexicon.FIRST_PERSON | {"the"}
    are_names = before.subject[0].is_capitalised and after.subject[0].is_capitalised
    if are_names and first != "the":
        return before.is_about_person and after.is_about_person
    are_parallel = before.lemma == after.lemma and before.group is after.group
    return are_parallel and (are_names or first == second == "the")


def _is_correction(before: Clause, after: Clause) -> bool:
    """Return True for "I don't work at A but I work at B" and "I no longer …, but …"."""
    lows = [word.low for word in before.words]
    if "longer" in lows or "anymore" in lows:
        return True
    return before.is_negated and before.lemma == after.lemma


def _has_relative(clause: Clause) -> bool:
    """Return True if the clause holds a "where" or "who" whose clause may go on."""
    return any(word.low in lexicon.RELATIVE_WORDS for word in clause.words[clause.main :])


def _reports_clause(clause: Clause) -> bool:
    """Return True if the clause tells what somebody says or thinks, in a clause of its own."""
    if not {word.low for word in clause.words} & lexicon.SAYING_VERBS:
        return False
    inner = range(clause.main + 1, len(clause.words) - 1)
    return any(read_clause(clause.words, place) is not None for place in inner)


def _needs_what_stands_before(clause: Clause, length: int) -> bool:
    """Return True if the clause leans on the one before, up to `length` words into it."""
    # A mark inside of the subject ends nothing.
    words = clause.words[:length] if length > clause.main else clause.words
    if _is_elliptical(clause, words):
        return True
    return any(_points_back(clause, words, place) for place in range(len(words)))


def _is_elliptical(clause: Clause, words: Words) -> bool:
    """Return True if "does too", "did not attend" or "want another" leaves out what is meant."""
    behind = {word.low for word in words[clause.main + 1 :]}
    if words[-1].low in ("another", "none", "any"):
        return True
    if not behind <= _SHORT_ANSWERS:
        return False
    if clause.group is Group.DO:
        return clause.lemma not in lexicon.ACTIVITY_VERBS
    low = words[clause.finite].low
    is_auxiliary = low in lexicon.DO_FORMS | lexicon.HAVE_FORMS | lexicon.BE_FORMS
    return clause.main == clause.finite and is_auxiliary


def _points_back(clause: Clause, words: Words, place: int) -> bool:
    """Return True if the word there points back beyond the subject of its own clause."""
    word = words[place]
    is_in_subject = place < clause.subject_end
    if is_in_subject and word.low in lexicon.LATER_PRONOUNS:
        return False
    if word.low in lexicon.THIRD_POSSESSIVES and place != clause.subject_start:
        is_foreign = word.low in ("his", "her") and not clause.is_about_person
        return is_in_subject or clause.has_pronoun or is_foreign or _is_object(words, place)
    if word.text == "IT" or _counts_noun(words, place):
        return False
    return word.low in lexicon.ANAPHORS and not _names_time(words, place)


def _counts_noun(words: Words, place: int) -> bool:
    """Return True for the "one" of "deaf in one ear"."""
    following = words[place + 1] if place + 1 < len(words) else None
    is_noun = following is not None and following.low.isalpha()
    return words[place].low == "one" and is_noun and not is_function_word(words[place + 1])


def _is_object(words: Words, place: int) -> bool:
    """Return True if the word is "her" and no possessive: no noun follows."""
    if words[place].low != "her":
        return False
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None or following.is_mark or following.low in lexicon.RELATIVE_WORDS:
        return True
    return following.low in lexicon.PREPOSITIONS


def _names_time(words: Words, place: int) -> bool:
    """Return True for "this week", for "that" before a clause, and for "too", which is left out."""
    following = words[place + 1].low if place + 1 < len(words) else ""
    is_conjunction = words[place].low == "that" and following != ""
    return following in _TIME_NOUNS or is_conjunction or words[place].low == "too"


def _resolve_pronoun(before: Clause, after: Clause) -> tuple[Word, ...] | None:
    """Return the words of the second clause, with a name for "he" or "his"; None if unclear."""
    pronoun = after.subject[0]
    if pronoun.low in lexicon.THIRD_POSSESSIVES:
        return _resolve_possessive(before, after)
    if not after.has_pronoun or pronoun.low not in lexicon.LATER_PRONOUNS:
        return after.words
    if before.has_pronoun and {before.subject[0].low, pronoun.low} <= {"he", "she"}:
        return after.words  # "he" was as unclear in the whole text
    if before.has_pronoun or not before.subject or pronoun.low == "they":
        return None
    if (pronoun.low == "it") == before.is_about_person:
        return None
    if before.person is not after.person or _names_another(before):
        return None
    if after.lead or any(word.low == "'s" for word in before.subject):
        return None  # "Naomi's father is away and she lives with us"
    if before.group is Group.COPULA and pronoun.low == "it" and _names_thing(before):
        return None
    if any(word.low in lexicon.RELATIVE_WORDS for word in after.words[after.main + 1 :][:1]):
        return None
    verb, *rest = after.words[after.subject_end :]
    if verb.low == "'s" and rest and rest[0].low in ("based", "a", "an", "the", "in", "at", "from"):
        verb = replace(verb, text="is", glued=False)
    elif verb.low.startswith("'"):
        verb = replace(verb, text=verb.low)  # "hell" is "he" and "'ll"
    return (*after.lead, *_repeat_subject(before), verb, *rest)


def _resolve_possessive(before: Clause, after: Clause) -> tuple[Word, ...] | None:
    """Return the words with "Anna's" for "her", if the first clause is about Anna alone."""
    low = after.subject[0].low
    if before.has_pronoun or not before.subject or low == "their" or _names_another(before):
        return None
    if (low == "its") == before.is_about_person or before.person is not Person.THIRD:
        return None
    pronoun = after.subject[0]
    mark = replace(pronoun, text="'s", low="'s", glued=True, carried=True)
    rest = after.words[after.subject_start + 1 :]
    return (*after.lead, *_repeat_subject(before), mark, *rest)


def _repeat_subject(clause: Clause) -> tuple[Word, ...]:
    first, *others = carry_words(clause.head)
    return (replace(first, glued=False), *others)


def _is_object_or_article(words: Words, place: int) -> bool:
    """Return True for the "her" of "gave her a phone"."""
    following = words[place + 1] if place + 1 < len(words) else None
    return _is_object(words, place) or (
        following is not None and following.low in lexicon.DETERMINERS
    )


def _skip_predicate(words: Words, start: int) -> int:
    """Return the place behind "a nurse" or a name, which is the subject under another word."""
    if words[start].low in ("a", "an"):
        return start + 3
    while start < len(words) and words[start].is_capitalised:
        start += 1
    return start


def _names_thing(clause: Clause) -> bool:
    """Return True if a noun, which "it" may mean, stands directly behind "is"."""
    words = clause.words
    return clause.main + 1 < len(words) and words[clause.main + 1].low in lexicon.DETERMINERS


def _names_another(clause: Clause) -> bool:
    """Return True if the predicate holds somebody else whom a pronoun may mean."""
    words = clause.words
    start = clause.main + 1
    is_naming = words[clause.main].low in ("called", "named")
    if start < len(words) and (clause.group is Group.COPULA or is_naming):
        start = _skip_predicate(words, start)
    for place in range(start, len(words)):
        word = words[place]
        if word.low in lexicon.PERSON_NOUNS or word.low in ("him", "them"):
            return True
        if word.low == "her" and _is_object_or_article(words, place):
            return True
        is_place = words[place - 1].low in ("in", "at", "to", "from", "near", "for", "of")
        if word.is_capitalised and not is_place and not words[place - 1].is_capitalised:
            return True
    return False
