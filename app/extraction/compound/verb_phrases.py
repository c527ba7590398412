"""Cutting a clause whose one subject has several verbs: "I live in Porto and work at Acme"."""

from dataclasses import dataclass

from app.extraction.compound import lexicon, verbs
from app.extraction.compound.clause import (
    Clause,
    Group,
    Person,
    find_clause,
    is_adverb,
    read_headless_clause,
    skip_adverbs,
)
from app.extraction.compound.lists import is_fixed_pair
from app.extraction.compound.words import Word, Words, carry_words

_JOINS = frozenset(("and", "but", ",", ";", "&", "plus"))
_AUXILIARIES = frozenset("am is are was were have has do does did will can".split())
_OTHER_LIST_VERBS = frozenset("do want need get send include require".split())
_STATIVE = frozenset("have own be know need want like love prefer live".split())


@dataclass(frozen=True, slots=True)
class _Cut:
    """The place of a conjunction, the start of the verb phrase behind it, and what it repeats."""

    place: int
    phrase_start: int
    carried: tuple[Word, ...]


def split_verb_phrases(
    words: tuple[Word, ...], *, is_followed: bool = False
) -> list[tuple[Word, ...]]:
    """Return a clause for each verb phrase of the one subject; one clause if in doubt.

    Commas part verb phrases if "and" comes last, or if another clause follows.
    """
    clause = find_clause(words) or read_headless_clause(words)
    if clause is None or _blocks(clause):
        return [words]
    cuts = _find_cuts(clause, is_followed=is_followed)
    ends = [cut.place for cut in cuts] + [len(words)]
    pieces = [words[: ends[0]]]
    for cut, end in zip(cuts, ends[1:], strict=True):
        pieces.append((*cut.carried, *words[cut.phrase_start : end]))
    return pieces


def _blocks(clause: Clause) -> bool:
    """Return True if a wish, a report or a negation may reach over all the verbs."""
    words = clause.words
    lows = {word.low for word in words}
    if clause.lemma in ("try", "attempt"):
        return True
    if lows & {"than", "both", "together"}:
        return True
    if any(word.low in lexicon.WISH_WORDS for word in words[clause.subject_end : clause.main]):
        return True
    if clause.group is Group.DO:
        return True
    return clause.is_negated and clause.group is not Group.COPULA and not _says_never(clause)


def _says_never(clause: Clause) -> bool:
    return any(word.low == "never" for word in clause.words[clause.subject_end : clause.main])


def _find_cuts(clause: Clause, *, is_followed: bool) -> list[_Cut]:
    """Return the cuts before each further verb phrase, in order."""
    words = clause.words
    cuts: list[_Cut] = []
    commas: list[_Cut] = []  # cuts at commas, until "and" or the end shows that they part verbs
    before_start = clause.main
    for place in range(clause.main + 1, len(words) - 1):
        if words[place].low not in _JOINS or words[place - 1].low == ",":
            continue
        phrase_start = _skip_joins(words, place + 1)
        if words[place].low == ";" and clause.subject:
            continue  # orders may follow; notes such as "Works at Acme; lives in Leeds" go on
        carried = _carry_subject(clause, phrase_start, in_series=bool(commas))
        before, after = words[before_start:place], words[phrase_start:]
        if carried is None or not _may_cut(clause, before, after):
            continue
        is_comma = words[place].low == "," and phrase_start == place + 1
        if is_comma and _may_be_participle(after[0]):
            continue
        commas.append(_Cut(place, phrase_start, carried))
        if not is_comma:
            cuts += commas
            commas = []
        before_start = phrase_start
    return cuts + commas if is_followed else cuts


def _skip_joins(words: Words, place: int) -> int:
    while place < len(words) - 1 and words[place].low in ("and", "but", "also", "plus"):
        place += 1
    return place


def _may_cut(clause: Clause, before: Words, after: Words) -> bool:
    """Return True if two verb phrases hold without each other."""
    if not _has_object(clause, before) or _may_share_auxiliary(clause, before, after[0]):
        return False
    if _says_never(clause) and after[0].low not in lexicon.FREQUENCY_ADVERBS:
        return False
    if clause.person is Person.THIRD and any(word.low == "their" for word in after):
        return False
    return not _is_bound(before, after)


def _may_be_participle(word: Word) -> bool:
    """Return True for "paid" after a comma, which may say more about the noun before."""
    low = word.low
    return low in verbs.PARTICIPLES and low not in verbs.BASES | lexicon.STATE_PARTICIPLES


def _may_share_auxiliary(clause: Clause, phrase: Words, word: Word) -> bool:
    """Return True for "was given soup and sent home" behind a first verb phrase."""
    if phrase[0] == clause.words[clause.main]:
        return False
    auxiliaries = lexicon.BE_FORMS | lexicon.HAVE_FORMS
    return phrase[0].low in auxiliaries and word.low in verbs.PARTICIPLES


def _has_object(clause: Clause, phrase: Words) -> bool:
    """Return True if the verb has words of its own; "sit and wait" is one act."""
    if not phrase:
        return False
    if clause.group is Group.COPULA and phrase[0] == clause.words[clause.main]:
        return len(phrase) > 1
    if phrase[0].low in lexicon.STATE_PARTICIPLES:
        return True
    lemma = verbs.find_base(phrase[0].low)
    return len(phrase) > 1 or lemma in lexicon.ACTIVITY_VERBS


def _is_bound(before: Words, after: Words) -> bool:
    """Return True if the verbs are a fixed pair, or a word of either needs the other."""
    first, second = verbs.find_base(before[0].low), verbs.find_base(after[0].low)
    if (first, second) in lexicon.SERIAL_PAIRS or is_fixed_pair(before[-1], after[0]):
        return True
    if any(word.low in lexicon.RELATIVE_WORDS for word in before):
        return True
    if any(word.low in lexicon.OUTCOME_WORDS for word in after[:2]):
        return True
    return _points_back(after) or (after[0].low == second and _has_infinitive(before))


def _points_back(phrase: Words) -> bool:
    """Return True if a word up to the next conjunction points at what stands before."""
    if phrase[-1].low in ("another", "none"):
        return True
    for word in phrase:
        if word.low in (",", "and", "but"):
            return False
        if word.low in lexicon.ANAPHORS:
            return True
    return False


def _has_infinitive(words: Words) -> bool:
    return any(
        word.low == "to" and place + 1 < len(words) and words[place + 1].low in verbs.BASES
        for place, word in enumerate(words)
    )


def _carry_subject(
    clause: Clause, phrase_start: int, *, in_series: bool
) -> tuple[Word, ...] | None:
    """Return the words to repeat before the verb phrase that begins there; None if none does.

    In a series another verb phrase stands between commas before.
    """
    words = clause.words
    place = skip_adverbs(words, phrase_start)
    if place >= len(words):
        return None
    word = words[place]
    if word.is_capitalised:
        return None
    following = words[place + 1] if place + 1 < len(words) else None
    subject = carry_words(words[: clause.subject_end])
    if word.low in _AUXILIARIES:
        return subject if _agrees_auxiliary(clause, word.low, following) else None
    auxiliaries = carry_words(words[clause.subject_end : clause.main])
    if _continues_group(clause, word.low):
        is_unclear = clause.is_negated or following is None
        return None if is_unclear else (*subject, *auxiliaries)
    if _says_state(clause, word.low):
        return (*subject, *carry_words([words[clause.finite]]))
    if clause.group is Group.MODAL:
        return (*subject, *auxiliaries) if _continues_modal(clause, word.low) else None
    if not _agrees(clause, word.low):
        return None
    if not in_series and not _is_plainly_verb(clause, word, following):
        return None
    return (*subject, *_carry_adverbs(clause))


def _continues_group(clause: Clause, low: str) -> bool:
    """Return True for "raised" behind "was born", and for "training" behind "is learning"."""
    if clause.group is Group.PROGRESSIVE:
        return low in verbs.GERUNDS
    return clause.group in (Group.PASSIVE, Group.PERFECT) and low in verbs.PARTICIPLES


def _says_state(clause: Clause, low: str) -> bool:
    """Return True for "closed on Fridays" behind "is open on Mondays"."""
    if clause.group not in (Group.COPULA, Group.PASSIVE):
        return False
    if low in lexicon.STATE_PARTICIPLES:
        return True
    is_present = clause.words[clause.finite].low in ("is", "are", "'s", "'re")
    is_participle = low in verbs.PARTICIPLES and low not in verbs.BASES
    return is_present and is_participle and not clause.is_about_person


def _continues_modal(clause: Clause, low: str) -> bool:
    """Return True for "play chess" behind "can swim"; "have a van" may stand for itself."""
    modal = clause.words[clause.finite].low
    return low in verbs.BASES - _STATIVE and modal in lexicon.CARRIED_MODALS


def _agrees_auxiliary(clause: Clause, low: str, following: Word | None) -> bool:
    if following is None or clause.group is Group.MODAL:
        return False
    if low in ("was", "will", "can", "did"):
        return low != "was" or clause.person is not Person.PLURAL
    if clause.person is Person.THIRD:
        return low in ("is", "has", "does")
    if low == "am":
        return clause.person is Person.FIRST
    return low in ("have", "do") or (low in ("are", "were") and clause.person is Person.PLURAL)


def _carry_adverbs(clause: Clause) -> tuple[Word, ...]:
    between = clause.words[clause.subject_end : clause.main]
    return carry_words([word for word in between if word.low in lexicon.CARRIED_ADVERBS])


def _agrees(clause: Clause, low: str) -> bool:
    """Return True if the form can be a verb of the clause's subject."""
    if low in verbs.PASTS and low not in verbs.BASES:
        return True
    if clause.person is Person.THIRD:
        return low in verbs.THIRDS
    if not clause.subject:
        return False
    return low in verbs.BASES


def _is_plainly_verb(clause: Clause, word: Word, following: Word | None) -> bool:
    """Return True if the word is no noun and no participle before a noun."""
    low = word.low
    base = verbs.find_base(low)
    is_past = low in verbs.PASTS and low not in verbs.BASES
    if following is None or following.is_mark or following.low in ("and", "or"):
        return base in lexicon.ACTIVITY_VERBS and clause.lemma in lexicon.ACTIVITY_VERBS
    first_is_past = clause.words[clause.finite].low in (*verbs.PASTS, "was", "were", "had")
    if is_past:
        return first_is_past or low not in verbs.PARTICIPLES or _follows_verb(following)
    may_be_noun = clause.lemma in lexicon.LIST_VERBS or clause.lemma in _OTHER_LIST_VERBS
    if may_be_noun and low in lexicon.PLURALS_LIKE_VERBS:
        return following.low not in ("in", "of", "for", "from", "about")
    may_be_noun = may_be_noun and base in lexicon.NOUNS_OR_VERBS
    if may_be_noun and clause.person is not Person.THIRD:
        return _follows_verb(following)
    return following.low not in ("of", "by")


def _follows_verb(word: Word) -> bool:
    """Return True if the word stands behind verbs rather than behind nouns."""
    low = word.low
    if low in lexicon.DETERMINERS or low in lexicon.PREPOSITIONS or low in lexicon.NUMERALS:
        return low not in ("of", "by")
    if word.is_number or is_adverb(word) or word.is_capitalised:
        return True
    return low in lexicon.VERB_FOLLOWERS or low in verbs.GERUNDS or low in lexicon.LEAD_STARTS
