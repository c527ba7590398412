"""Cutting a clause whose verb has a list: "I take aspirin and metformin"."""

from dataclasses import dataclass, replace

from app.extraction.compound import lexicon, verbs
from app.extraction.compound.clause import (
    Clause,
    Group,
    find_clause,
    read_headless_clause,
    skip_adverbs,
)
from app.extraction.compound.words import Word, Words, carry_words

MAX_ITEMS = 12
MAX_ITEM = 6
_VAGUE = frozenset(
    """
    more others other stuff things everything something so etc such similar whatever co like much
    also else anything that these those one ones it them him her me us you i we he she they half
    """.split()
)


@dataclass(frozen=True, slots=True)
class _List:
    """The items of a list, and the words behind it that belong to all of them."""

    items: tuple[tuple[Word, ...], ...]
    tail: tuple[Word, ...]


def split_lists(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return a clause for each item of the list; one clause if in doubt."""
    clause = find_clause(words) or read_headless_clause(words)
    if clause is None or _blocks(clause):
        return [words]
    start = _find_list_start(clause)
    if start is not None:
        items = _read_objects(clause, start)
    elif clause.group is Group.COPULA and not clause.is_negated:
        start = skip_adverbs(words, clause.main + 1)
        items = _read_predicates(clause, start)
    else:
        items = None
    if items is None or start is None:
        return [words]
    return _build_clauses(words[:start], items)


def _build_clauses(prefix: Words, row: _List) -> list[tuple[Word, ...]]:
    """Return the clauses. The first owns the prefix, the last owns the tail."""
    pieces: list[tuple[Word, ...]] = []
    last = len(row.items) - 1
    for number, item in enumerate(row.items):
        before = prefix if number == 0 else carry_words(prefix)
        behind = row.tail if number == last else carry_words(row.tail)
        pieces.append((*before, *item, *behind))
    return pieces


def _blocks(clause: Clause) -> bool:
    lows = {word.low for word in clause.words}
    if lows & {"than", "both", "between", "together", "either", "respectively", "not", ":", "("} - {
        "not"
    }:
        return True
    verbs_before = clause.words[clause.subject_end : clause.main]
    return any(word.low in lexicon.WISH_WORDS for word in verbs_before)


# --- where the list starts ------------------------------------------------------------------------


def _find_list_start(clause: Clause) -> int | None:
    """Return the place behind the verb, or behind a phrase such as "allergic to"."""
    place = _find_phrase_end(clause)
    if place is not None:
        return place
    at = _follow_chain(clause)
    lemma = verbs.find_base(clause.words[at].low)
    allowed = lexicon.NEGATED_LIST_VERBS if clause.is_negated else lexicon.LIST_VERBS
    if lemma not in allowed and not (lemma == "get" and clause.words[at].low == "got"):
        if at == clause.main or lemma is None or at - 1 < clause.main:
            return None
        if lemma not in lexicon.LIST_VERBS:
            at = clause.main
            lemma = clause.lemma
            if lemma not in ("quit", "stop", "start", "like", "love", "enjoy", "hate"):
                return None
            return skip_adverbs(clause.words, at + 1)
    return skip_adverbs(clause.words, at + 1)


def _find_phrase_end(clause: Clause) -> int | None:
    lows = [word.low for word in clause.words]
    for start in range(clause.finite, min(clause.finite + 6, len(lows))):
        for size in (4, 3, 2):
            if tuple(lows[start : start + size]) in lexicon.LIST_PHRASES:
                return start + size
    return None


def _follow_chain(clause: Clause) -> int:
    """Return the place of the last verb in "want to learn" or "stopped taking"."""
    words = clause.words
    at = clause.main
    while at + 2 < len(words):
        if verbs.find_base(words[at].low) not in lexicon.CHAIN_VERBS:
            break
        if words[at + 1].low == "to" and words[at + 2].low in verbs.BASES:
            at += 2
        elif words[at + 1].low in verbs.GERUNDS and words[at + 2].low not in ("and", ",", "&"):
            at += 1
        else:
            break
    return at


# --- objects --------------------------------------------------------------------------------------


def _read_objects(clause: Clause, start: int) -> _List | None:
    words = clause.words
    row = _read_items(words, start, join="or" if clause.is_negated else "and")
    if row is None:
        return None
    row = _take_tail(row)
    if row is None:
        return None
    items = row.items
    if not all(_is_item(item) for item in items):
        return None
    if _is_one_thing(clause, items) or _is_apposition(items):
        return None
    shared = _share_head(clause, items)
    if shared is None:
        return None
    return _List(_share_determiner(shared), row.tail)


def _read_items(words: Words, start: int, *, join: str) -> _List | None:
    """Return the items between commas and one last "and"; None if there is no such row."""
    items: list[list[Word]] = [[]]
    joins = 0
    place = start
    while place < len(words):
        word = words[place]
        is_join = word.low == join or (join == "and" and word.low in ("&", "plus", "+"))
        if (
            word.low in (";", ".", ":", "(", ")")
            or word.low in ("but", "or", "and")
            and not is_join
        ):
            return None
        if is_join and not _joins_fixed_pair(words, place, start):
            joins += 1
            items.append([])
        elif word.low == ",":
            items.append([])
        elif [each.low for each in words[place : place + 3]] == ["as", "well", "as"]:
            joins += 1
            items.append([])
            place += 2
        else:
            items[-1].append(word)
        place += 1
    rows = [tuple(item) for item in items if item]
    if joins != 1 or not 2 <= len(rows) <= MAX_ITEMS or not items[0]:
        return None
    return _List(tuple(rows), ())


def _joins_fixed_pair(words: Words, place: int, start: int) -> bool:
    if place == start or place + 1 >= len(words):
        return True
    before, after = words[place - 1], words[place + 1]
    if before.is_number and after.is_number:
        return True
    pair = (before.low, after.low)
    if pair in lexicon.FIXED_PAIRS:
        return True
    singular = (before.low.removesuffix("s"), after.low.removesuffix("s"))
    return singular in lexicon.FIXED_PAIRS


def _take_tail(row: _List) -> _List | None:
    """Return the row with a tail that all items share; None if it is unclear whose tail it is."""
    *others, last = row.items
    if any(_find_tail(item) is not None for item in others):
        return _keep_own_tails(row)
    place = _find_tail(last)
    if place is None:
        return row
    tail = last[place:]
    lows = tuple(word.low for word in tail)
    is_shared = lows[0] in lexicon.SHARED_TAILS or any(
        lows[:size] in lexicon.SHARED_TAIL_PHRASES for size in (2, 3)
    )
    if is_shared:
        return _List((*others, last[:place]), tail)
    if (
        last[0].low in lexicon.DETERMINERS
        or last[0].low in verbs.GERUNDS
        or last[0].low in lexicon.NUMERALS
    ):
        return row
    return None


def _keep_own_tails(row: _List) -> _List | None:
    """Return the row if each item after one with a tail is plainly no part of that tail."""
    for before, after in zip(row.items, row.items[1:], strict=False):
        place = _find_tail(before)
        if place is None:
            continue
        both_gerunds = before[0].low in verbs.GERUNDS and after[0].low in verbs.GERUNDS
        has_own = _find_tail(after) is not None
        inner = before[place + 1 : place + 2]
        inner_determined = bool(inner) and inner[0].low in lexicon.DETERMINERS
        determined = after[0].low in (*lexicon.DETERMINERS, *lexicon.NUMERALS)
        if not (both_gerunds or has_own or (determined and not inner_determined)):
            return None
    return row


def _find_tail(item: Words) -> int | None:
    for place in range(1, len(item)):
        low = item[place].low
        if low in lexicon.TAIL_STARTS or low in lexicon.PREPOSITIONS:
            return place
        if low in lexicon.PARTICIPLES_BEHIND_NOUNS or low in lexicon.RELATIVE_WORDS:
            return place
    return None


def _is_item(item: Words) -> bool:
    first = item[0]
    if not 1 <= len(item) <= MAX_ITEM + 4 or first.is_mark:
        return False
    if first.low in _VAGUE or first.low in lexicon.PREPOSITIONS or first.low in ("no", "not", "to"):
        return False
    lows = {word.low for word in item}
    if lows & (lexicon.RELATIVE_WORDS | {"i", "is", "are", "was", "were", "am", "etc", "'m"}):
        return False
    place = _find_tail(item)
    return (place if place is not None else len(item)) <= MAX_ITEM


def _is_one_thing(clause: Clause, items: tuple[tuple[Word, ...], ...]) -> bool:
    """Return True for fixed pairs and for two capitalised words that may be one name."""
    if len(items) != 2:
        return False
    first, second = items
    for pair in ((first[-1].low, second[0].low), (first[-1].low, second[-1].low)):
        singular = (pair[0].removesuffix("s"), pair[1].removesuffix("s"))
        if pair in lexicon.FIXED_PAIRS or singular in lexicon.FIXED_PAIRS:
            return True
    are_names = all(word.is_capitalised for item in items for word in item)
    lemma = verbs.find_base(clause.words[_follow_chain(clause)].low)
    return (
        are_names and lemma not in lexicon.CAPITAL_LIST_VERBS and _find_phrase_end(clause) is None
    )


def _is_apposition(items: tuple[tuple[Word, ...], ...]) -> bool:
    """Return True for "two cats, Biscuit and Olive", where the names are those of the cats."""
    first, *others = items
    if first[0].low in lexicon.NUMERALS or first[0].is_number:
        if first[0].low not in ("one", "1") and not all(_is_counted(item) for item in others):
            return True
    is_common = not first[-1].is_capitalised
    return len(items) > 2 and is_common and all(item[0].is_capitalised for item in others)


def _is_counted(item: Words) -> bool:
    return item[0].low in (*lexicon.NUMERALS, *lexicon.DETERMINERS) or item[0].is_number


def _share_head(
    clause: Clause, items: tuple[tuple[Word, ...], ...]
) -> tuple[tuple[Word, ...], ...] | None:
    """Return the items with the noun that adjectives share: "Thai and Vietnamese food"."""
    last = items[-1]
    if len(last) < 2 or not all(len(item) == 1 and _is_adjective(item[0]) for item in items[:-1]):
        return items
    if clause.lemma == "speak":
        return items
    if len(last) == 2 and last[-1].low in lexicon.SHARED_HEADS and _is_adjective(last[0]):
        head = carry_words(last[1:])
        return (*((*item, *head) for item in items[:-1]), last)
    return None


def _is_adjective(word: Word) -> bool:
    if word.low in lexicon.SHARED_HEAD_ADJECTIVES or word.low in lexicon.STATUS_WORDS:
        return True
    if word.is_capitalised:
        return word.low.endswith(lexicon.NATIONALITY_ENDINGS)
    return word.low.endswith(("ical", "ional", "ic")) and word.low not in (
        "music",
        "garlic",
        "fabric",
    )


def _share_determiner(items: tuple[tuple[Word, ...], ...]) -> tuple[tuple[Word, ...], ...]:
    """Return the items with the determiner of the first, if the others are bare singular nouns."""
    first = items[0][0]
    if first.low not in ("a", "an", "the", "my", "our") or len(items[0]) < 2:
        return items
    return (items[0], *(_determine(item, first) for item in items[1:]))


def _determine(item: tuple[Word, ...], determiner: Word) -> tuple[Word, ...]:
    first = item[0]
    is_plural = item[-1].low.endswith("s") and determiner.low in ("a", "an", "the")
    if first.low in (*lexicon.DETERMINERS, *lexicon.NUMERALS) or first.is_number or is_plural:
        return item
    if first.is_capitalised or first.low in verbs.GERUNDS:
        return item
    text = determiner.low
    if text in ("a", "an"):
        text = "an" if first.low[0] in "aeiou" else "a"
    carried = replace(determiner, text=text, low=text, carried=True, glued=False)
    return (carried, *item)


# --- what somebody is -----------------------------------------------------------------------------


def _read_predicates(clause: Clause, start: int) -> _List | None:
    """Return the row of professions, states and ages behind "am"; None if one is something else."""
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
