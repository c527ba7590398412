"""Cutting a clause whose verb has a list: "I take aspirin and metformin"."""

from dataclasses import dataclass, replace

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
from app.extraction.compound.words import Word, Words, carry_words

MAX_ITEMS = 12
MAX_NOUN_PHRASE = 6
MAX_ITEM = 10

_BLOCKING_WORDS = frozenset("than both between together either respectively ( :".split())
_VAGUE = frozenset(
    """
    more others other stuff things everything something so etc such similar whatever co like
    much less lots including include especially particularly namely also else anything that
    these those one ones it them him her me us you i we he she they half
    """.split()
)
_TIMES_OF_DAY = frozenset("mornings afternoons evenings nights weekdays day night".split())
_NO_NOUNS = frozenset("i we you he she they is are was were am 'm 's etc".split())
_GERUND_LIKERS = frozenset("quit stop start like love enjoy hate dislike adore prefer".split())
_TASTES = frozenset("like love enjoy hate dislike eat drink prefer".split())
_NOUNS_LIKE_VERBS = frozenset("saw left sweets lists arts means lies fries bites burns".split())
_SMALL_NUMBERS = tuple("one two three four five six seven eight nine ten eleven twelve".split())
_CLAUSE_STARTS = frozenset("when whenever because after before until till while if since".split())
_NO_ADJECTIVES = frozenset("music garlic fabric magic topic clinic plastic arabic gaelic".split())

Item = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """The items of a list, and the words behind it that belong to all of them."""

    items: tuple[Item, ...]
    tail: Item = ()


def split_lists(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return a clause for each item of the list; one clause if in doubt."""
    clause = find_clause(words) or read_headless_clause(words)
    if clause is None or _blocks(clause):
        return [words]
    start = _find_list_start(clause)
    row = None if start is None else _read_objects(clause, start)
    if row is None and clause.group is Group.COPULA and not clause.is_negated:
        start = skip_adverbs(words, clause.main + 1)
        row = _read_predicates(clause, start)
    if row is None:
        return [words]
    return _build_clauses(words[:start], row)


def _build_clauses(prefix: Words, row: _Row) -> list[tuple[Word, ...]]:
    """Return the clauses. The first owns the prefix, the last owns the tail."""
    pieces: list[tuple[Word, ...]] = []
    last = len(row.items) - 1
    for number, item in enumerate(row.items):
        before = prefix if number == 0 else carry_words(prefix)
        behind = row.tail if number == last else carry_words(row.tail)
        pieces.append((*before, *item, *behind))
    return pieces


def _blocks(clause: Clause) -> bool:
    """Return True if a comparison, "only" or a wish may reach over the whole list."""
    if clause.has_pronoun and clause.subject[0].low == "it":
        return True
    behind_subject = clause.words[clause.subject_end :]
    if any(word.low in _BLOCKING_WORDS for word in clause.words):
        return True
    if any(word.low in lexicon.LIMITING_ADVERBS for word in behind_subject):
        return True
    before_verb = clause.words[clause.subject_end : clause.main]
    return any(word.low in lexicon.WISH_WORDS for word in before_verb)


# --- where the list starts ------------------------------------------------------------------------


def _find_list_start(clause: Clause) -> int | None:
    """Return the place behind the verb, or behind a phrase such as "allergic to"."""
    place = _find_phrase_end(clause)
    if place is not None:
        return place
    last = _follow_chain(clause)
    allowed = lexicon.NEGATED_LIST_VERBS if clause.is_negated else lexicon.LIST_VERBS
    if _lemma_at(clause, last) in allowed:
        return _skip_plain_adverbs(clause.words, last + 1)
    if clause.lemma in _GERUND_LIKERS and not clause.is_negated:
        return _skip_plain_adverbs(clause.words, clause.main + 1)
    return None


def _skip_plain_adverbs(words: Words, place: int) -> int:
    """Return the place behind adverbs such as "still"; "monthly" may be an adjective."""
    while place < len(words) and words[place].low in lexicon.ADVERBS:
        place += 1
    return place


def _lemma_at(clause: Clause, place: int) -> str | None:
    if clause.words[place].low == "got":
        return "have"
    if place == clause.main:
        return clause.lemma
    return verbs.find_base(clause.words[place].low)


def _find_phrase_end(clause: Clause) -> int | None:
    """Return the place behind a phrase near the verb that a list may follow, or None."""
    lows = [word.low for word in clause.words]
    for start in range(clause.finite, min(clause.finite + 6, len(lows))):
        if lows[start] in ("and", ",", "but"):
            return None
        for size in (4, 3, 2, 1):
            if tuple(lows[start : start + size]) in lexicon.LIST_PHRASES:
                is_plain = size > 1 or _follows_be(clause, start)
                return start + size if is_plain else None
    return None


def _follows_be(clause: Clause, place: int) -> bool:
    """Return True for "I'm on sertraline …" and "I'm into climbing …", not for "on the corner"."""
    words = clause.words
    is_next = clause.group is Group.COPULA and place == clause.main + 1
    is_bare = place + 1 < len(words) and words[place + 1].low not in lexicon.DETERMINERS
    return is_next and clause.is_about_person and is_bare


def _follow_chain(clause: Clause) -> int:
    """Return the place of the last verb in "want to learn" or "stopped taking"."""
    words = clause.words
    at = clause.main
    while at + 2 < len(words) and _lemma_at(clause, at) in lexicon.CHAIN_VERBS:
        following, second = words[at + 1].low, words[at + 2].low
        if following == "to" and second in verbs.BASES:
            at += 2
        elif following in verbs.GERUNDS and second not in ("and", ",", "&"):
            at += 1
        else:
            break
    return at


_MANNERS = frozenset("well badly healthily less more out".split())


# --- objects --------------------------------------------------------------------------------------


def _read_objects(clause: Clause, start: int) -> _Row | None:
    """Return the objects that start there, with what they share; None if in doubt."""
    if clause.words[start : start + 1] and clause.words[start].low in _MANNERS:
        return None
    row = _read_items(clause.words, start, join="or" if clause.is_negated else "and")
    if row is None:
        return None
    row = _take_tail(clause, _drop_repeated_preposition(row, clause.words[start - 1]))
    if row is None or not all(_is_item(item) for item in row.items):
        return None
    if _ends_in_verb(clause, row.items) or _lists_colours(row.items):
        return None
    if clause.words[start - 1].low == "on" and not all(_is_bare_word(item) for item in row.items):
        return None  # "on level 2 and …", "on Mondays and Fridays"
    if any(_is_predicate(item) and not _is_counted(item) for item in row.items[1:]):
        return None
    if _is_one_thing(clause, row.items) or _is_apposition(row.items):
        return None
    items = _share_head(clause, row.items)
    items = None if items is None else _share_determiner(items)
    return None if items is None else _Row(items, row.tail)


def _read_items(words: Words, start: int, *, join: str) -> _Row | None:
    """Return the items between commas and one last "and"; None if there is no such row."""
    items: list[list[Word]] = [[]]
    joins = 0
    place = start
    while place < len(words):
        size = _measure_join(words, place, join)
        if size and not _joins_fixed_pair(words, place, start):
            joins += 1
            items.append([])
        elif words[place].low == ",":
            if joins:
                return None  # "twin girls, Mila and Ronja, aged seven" goes on
            items.append([])
        elif _ends_row(words[place].low, join):
            return None
        else:
            items[-1].append(words[place])
        place += max(size, 1)
    rows = tuple(tuple(item) for item in items if item)
    if len(rows) == 2 and any(word.low == "," for word in words[start:]):
        return None  # ", and" parts clauses rather than two nouns
    is_row = joins == 1 and 2 <= len(rows) <= MAX_ITEMS and bool(items[0])
    return _Row(rows) if is_row else None


def _measure_join(words: Words, place: int, join: str) -> int:
    """Return the number of words of the conjunction there; 0 if there is none."""
    low = words[place].low
    if low == join or (join == "and" and low in ("&", "plus", "+")):
        return 1
    lows = [word.low for word in words[place : place + 3]]
    return 3 if join == "and" and lows == ["as", "well", "as"] else 0


def _ends_row(low: str, join: str) -> bool:
    return low in (";", ".", ":", "(", ")", "but") or (low in ("or", "and") and low != join)


def _joins_fixed_pair(words: Words, place: int, start: int) -> bool:
    if place == start or place + 1 >= len(words):
        return True
    before, after = words[place - 1], words[place + 1]
    are_numbers = _is_number(before) and _is_number(after)
    return are_numbers or is_fixed_pair(before, after)


def _is_number(word: Word) -> bool:
    return word.is_number or word.low in lexicon.NUMERALS


def is_fixed_pair(first: Word, second: Word) -> bool:
    """Return True for pairs such as "fish and chips", in singular or plural."""
    lows = (first.low, second.low)
    singular = (first.low.removesuffix("s"), second.low.removesuffix("s"))
    return lows in lexicon.FIXED_PAIRS or singular in lexicon.FIXED_PAIRS


def _drop_repeated_preposition(row: _Row, before: Word) -> _Row:
    """Return the row without the second "to" of "to the LRB and to History Today"."""
    if before.low not in lexicon.PREPOSITIONS:
        return row
    items = []
    for item in row.items:
        is_repeated = item[0].low == before.low and len(item) > 1
        items.append(item[1:] if is_repeated else item)
    return _Row(tuple(items))


# --- what stands behind the items -----------------------------------------------------------------


def _take_tail(clause: Clause, row: _Row) -> _Row | None:
    """Return the row with a tail that all items share; None if it is unclear whose tail it is."""
    *others, last = row.items
    if any(_find_tail(item) is not None for item in others):
        return row if _have_own_tails(row.items) else None
    place = _find_tail(last)
    if place is None:
        return row
    if _holds_clause(last[place:]):
        return None
    if _is_shared_tail(clause, row.items, last[place:]):
        return _Row((*others, last[:place]), last[place:])
    return row if _is_counted(last) or last[0].low in verbs.GERUNDS else None


def _holds_clause(tail: Words) -> bool:
    """Return True for "when he comes home", and not for "since May"."""
    for place in range(len(tail) - 1):
        if tail[place].low in _CLAUSE_STARTS and tail[place + 1].low in lexicon.SUBJECT_PRONOUNS:
            return True
    return False


def _find_tail(item: Words) -> int | None:
    """Return the place of the first word behind the noun of the item, or None."""
    for place in range(1, len(item)):
        low = item[place].low
        if low in lexicon.TAIL_STARTS or low in lexicon.PREPOSITIONS:
            return place
        if is_adverb(item[place]) and not item[place].is_capitalised:
            return place
        if low in lexicon.PARTICIPLES_BEHIND_NOUNS or low in lexicon.RELATIVE_WORDS:
            return place
    return None


def _is_shared_tail(clause: Clause, items: tuple[Item, ...], tail: Words) -> bool:
    lows = tuple(word.low for word in tail)
    if lows[0] in lexicon.SHARED_TAILS:
        return True
    if any(lows[:size] in lexicon.SHARED_TAIL_PHRASES for size in (2, 3)):
        return True
    names_place = lows[0] in ("in", "on", "at") and lows[1:2] in (("the",), ("my",), ("our",))
    if clause.lemma in _TASTES or not names_place:
        return False
    return not any(_is_counted(item) for item in items)


def _have_own_tails(items: tuple[Item, ...]) -> bool:
    """Return True if no item can be a part of the tail of the one before."""
    for place in range(len(items) - 1):
        before, after = items[place], items[place + 1]
        tail = _find_tail(before)
        if tail is not None and not _is_outside_tail(before, tail, after):
            return False
    return True


def _is_outside_tail(before: Item, tail: int, after: Item) -> bool:
    """Return True if the item is built like the whole one before, and not like its tail."""
    if before[0].low in verbs.GERUNDS:
        return after[0].low in verbs.GERUNDS
    if _is_counted(after) != _is_counted(before):
        return False
    if any(word.low == "with" for word in before[tail:]):
        return False
    inner = before[tail + 1 : tail + 2]
    if _is_counted(after):
        is_like_inner = bool(inner) and _is_counted(inner)
        has_other_article = bool(inner) and inner[0].low != after[0].low == before[0].low
        return not is_like_inner or has_other_article
    place = _find_tail(after)
    if place is not None and after[place].low == before[tail].low and len(before) <= tail + 3:
        return True
    is_short = tail <= 2 and before[tail].low not in ("with", "of", "for")
    return is_short and place is not None


def _ends_in_name(item: Item) -> bool:
    """Return True for "the brands Brio": a common noun in the plural and a name."""
    return len(item) > 2 and item[-1].is_capitalised and item[-2].low.endswith("s")


def _count_things(items: list[Item]) -> int:
    """Return how many things the items name: "two Fiats and a Toyota" are three."""
    return sum(_read_number(item[0]) or 1 for item in items)


def _read_number(word: Word) -> int | None:
    if word.low in _SMALL_NUMBERS:
        return _SMALL_NUMBERS.index(word.low) + 1
    return int(word.low) if word.low.isdecimal() and len(word.low) < 4 else None


def _is_counted(item: Words) -> bool:
    """Return True if an article, a possessive or a number begins the item."""
    low = item[0].low
    return low in lexicon.DETERMINERS or low in lexicon.NUMERALS or item[0].is_number


# --- what the items are ---------------------------------------------------------------------------


def _is_item(item: Words) -> bool:
    """Return True for a short noun phrase, or for what somebody likes doing."""
    first = item[0]
    if first.is_mark or is_adverb(first) or len(item) > MAX_ITEM:
        return False
    if first.low in ("every", "each") or item[-1].low in _TIMES_OF_DAY:
        return False
    if (
        first.low in _VAGUE
        or item[-1].low in _VAGUE
        or first.low in lexicon.PREPOSITIONS
        or first.low in ("not", "to")
    ):
        return False
    starts_with_verb = first.low in verbs.BASES and first.low not in lexicon.NOUNS_OR_VERBS
    if starts_with_verb and len(item) > 1 and first.low not in verbs.GERUNDS:
        return False
    if any(word.low in ("it", "them") for word in item):
        return False
    if first.low in (lexicon.HAVE_FORMS | lexicon.DO_FORMS | lexicon.MODALS):
        return False
    tail = _find_tail(item)
    noun_phrase = item if tail is None else item[:tail]
    if any(word.low in _NO_NOUNS for word in noun_phrase) or _holds_verb(noun_phrase):
        return False
    if noun_phrase[-1].low in lexicon.ORDINALS:
        return False
    return len(noun_phrase) <= MAX_NOUN_PHRASE


def _holds_verb(noun_phrase: Words) -> bool:
    """Return True for "the cakes arrived" and for "sings": a clause that was not seen before."""
    if any(word.low in verbs.PASTS and not _may_be_noun(word) for word in noun_phrase[2:]):
        return True
    low = noun_phrase[0].low
    is_third = low in verbs.THIRDS and verbs.THIRDS[low] not in lexicon.NOUNS_OR_VERBS
    return len(noun_phrase) == 1 and is_third and not _may_be_noun(noun_phrase[0])


def _may_be_noun(word: Word) -> bool:
    return word.is_capitalised or word.low in verbs.BASES or word.low in _NOUNS_LIKE_VERBS


def _is_bare_word(item: Item) -> bool:
    return len(item) == 1 and not item[0].is_capitalised


def _ends_in_verb(clause: Clause, items: tuple[Item, ...]) -> bool:
    """Return True for "has a new joint and dances"."""
    last = items[-1]
    may_be_verb = len(last) == 1 and last[0].low in verbs.THIRDS
    return may_be_verb and clause.person is Person.THIRD and _is_counted(items[0])


def _lists_colours(items: tuple[Item, ...]) -> bool:
    """Return True for "Arsenal, red and white": bare adjectives at the end."""
    return all(
        len(item) == 1 and item[0].low in lexicon.SHARED_HEAD_ADJECTIVES - lexicon.PLAIN_NAMES
        for item in items[1:]
    )


def _is_one_thing(clause: Clause, items: tuple[Item, ...]) -> bool:
    """Return True for fixed pairs and for two capitalised words that may be one name."""
    if len(items) != 2:
        return False
    first, second = items
    if is_fixed_pair(first[-1], second[0]) or is_fixed_pair(first[-1], second[-1]):
        return True
    if clause.lemma not in _GERUND_LIKERS and second[0].low in verbs.GERUNDS:
        return first[0].low not in verbs.GERUNDS
    are_names = all(word.is_capitalised for item in items for word in item)
    if all(item[0].low in lexicon.PLAIN_NAMES for item in items):
        return False
    if not are_names or _find_phrase_end(clause) is not None:
        return False
    return _lemma_at(clause, _follow_chain(clause)) not in lexicon.CAPITAL_LIST_VERBS


def _is_apposition(items: tuple[Item, ...]) -> bool:
    """Return True for "two cats, Biscuit and Olive", where the names are those of the cats."""
    first, *others = items
    if _is_number(first[0]) and first[0].low not in ("one", "1"):
        are_counted = all(_is_counted(item) for item in others)
        return not are_counted or _count_things(others) == _read_number(first[0])
    if _ends_in_name(first) and all(word.is_capitalised for item in others for word in item):
        return True
    is_common = not first[-1].is_capitalised
    return len(items) > 2 and is_common and all(item[0].is_capitalised for item in others)


def _share_head(clause: Clause, items: tuple[Item, ...]) -> tuple[Item, ...] | None:
    """Return the items with the noun that adjectives share, as in "Thai and Vietnamese food".

    Return None if they seem to share one and it is unclear which.
    """
    *others, last = items
    if clause.lemma == "speak" or len(last) < 2:
        return items
    if not all(len(item) == 1 and _is_adjective(item[0]) for item in others):
        return items
    if len(last) == 2 and last[-1].low in lexicon.SHARED_HEADS and _is_adjective(last[0]):
        head = carry_words(last[1:])
        return (*((*item, *head) for item in others), last)
    return None


def _is_adjective(word: Word) -> bool:
    if word.low in lexicon.SHARED_HEAD_ADJECTIVES or word.low in lexicon.STATUS_WORDS:
        return True
    if word.is_capitalised:
        return word.low.endswith(lexicon.NATIONALITY_ENDINGS)
    return word.low.endswith(("ional", "ic", "ical")) and word.low not in _NO_ADJECTIVES


def _share_determiner(items: tuple[Item, ...]) -> tuple[Item, ...] | None:
    """Return the items with the determiner of the first before each bare singular noun.

    Return None if it is unclear whether more than the determiner is shared.
    """
    first, *others = items
    if first[0].low in ("my", "our"):
        return items if all(_is_counted(item) for item in others) else None
    if first[0].low not in ("a", "an", "the"):
        return items
    if not any(_is_bare_singular(item) for item in others):
        return items
    # "A long and tiring day" looks like "a dog and cat": a longer item may lend its noun.
    if len(first) != 2 or any(_is_bare_singular(item) and len(item) > 1 for item in others):
        return None
    return (first, *(_determine(item, first[0]) for item in others))


def _is_bare_singular(item: Item) -> bool:
    first = item[0]
    if _is_counted(item) or first.low == "no" or first.is_capitalised:
        return False
    if item[-1].low in lexicon.MASS_NOUNS:
        return False
    return first.low not in verbs.GERUNDS and not item[-1].low.endswith("s")


def _determine(item: Item, determiner: Word) -> Item:
    if not _is_bare_singular(item):
        return item
    text = determiner.low
    if text in ("a", "an"):
        text = "an" if item[0].low[0] in "aeiou" else "a"
    return (replace(determiner, text=text, low=text, carried=True, glued=False), *item)


# --- what somebody is -----------------------------------------------------------------------------


def _read_predicates(clause: Clause, start: int) -> _Row | None:
    """Return the professions, states and ages behind "am"; None if one is something else."""
    if not clause.is_about_person:
        return None
    row = _read_items(clause.words, start, join="and")
    if row is None or not all(_is_predicate(item) for item in row.items):
        return None
    return row


def _is_predicate(item: Words) -> bool:
    lows = tuple(word.low for word in item)
    if set(lows) & (lexicon.RELATIVE_WORDS | lexicon.ANAPHORS | {"i"}):
        return False
    if lows[0] in ("a", "an", "the") and len(lows) > 1:
        return len(lows) <= 8
    if lows[-1] in lexicon.STATUS_WORDS and len(lows) <= 2:
        return True
    if item[0].is_number and (len(lows) == 1 or lows[1:] in (("years", "old"), ("yo",))):
        return True
    if len(lows) == 2 and lows[1] in ("intolerant", "free"):
        return True
    return any(lows[:size] in lexicon.PREDICATE_STARTS for size in (1, 2, 3))
