"""One value differs in an otherwise matching sentence."""

from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import Token

_NUMERIC = frozenset(("number", "version", "code", "ordinal"))
_COUNTING = frozenset("have own need take contain include feature hold".split())
_WHEN = frozenset(("date", "weekday", "time"))


def find_value_conflict(pair: Pair) -> Iterator[Finding]:
    """Yield an update if both texts match but for one typed value, or one name, in one place."""
    if not _match_but_for_value(pair) or _may_repeat(pair) or _is_one_of_many(pair):
        return
    former, present = " ".join(sorted(pair.only_old)), " ".join(sorted(pair.only_new))
    explanation = f"{former} before, {present} now"
    if _typed_alike(pair):
        if not _begins_with_it(pair):
            yield make_finding(_value_name(pair), Relation.UPDATE, explanation)
    elif pair.one_span:
        yield make_finding(_span_name(pair), Relation.UPDATE, explanation)


def _match_but_for_value(pair: Pair) -> bool:
    """Return True if both texts assert the same things in the same order but for what differs."""
    if not pair.only_new or not pair.only_old or not pair.same_order:
        return False
    shares_owner = pair.same_owner and bool(pair.new.owner)
    if len(pair.shared) + shares_owner < 2:
        return False
    return pair.new.modal == pair.old.modal and not (pair.new.negated or pair.old.negated)


def _value_name(pair: Pair) -> str:
    is_event = _is_past_event(pair.new) or _is_one_of_several_dates(pair)
    return "event_value" if is_event else "value_conflict"


def _is_one_of_many(pair: Pair) -> bool:
    """ "One of my favourite films is V"."""
    return any((a.norm, b.norm) == ("one", "of") for a, b in pairwise(pair.new.tokens))


def _is_one_of_several_dates(pair: Pair) -> bool:
    """Return True for "has a meeting on Tuesday": on another day there may be another one."""
    if not all(_says_when(pair.new, item) for item in pair.only_new):
        return False
    tokens = [t for t in pair.new.tokens if t.norm not in lexicon.SUPPORT]
    return any(
        a.norm in ("have", "be") and b.norm in ("a", "an", "another") for a, b in pairwise(tokens)
    )


def _says_when(reading: Reading, item: str) -> bool:
    """Return True for a day or a time, "at 10" too."""
    if _find_value_family(reading, item) in _WHEN:
        return True
    return any(a.norm == "at" and b.norm == item for a, b in pairwise(reading.tokens))


def _is_past_event(reading: Reading) -> bool:
    """Return True if the text tells what happened once.

    That is a simple past without "be", "have" or "get" before it, of a verb that does not say
    that a lasting value changed.
    """
    tokens = [token for token in reading.tokens if token.norm not in lexicon.SUPPORT]
    for before, token in pairwise(tokens):
        if before.norm in ("be", "have", "get", "not") or token.norm in _LASTING:
            continue
        if _is_simple_past(token):
            is_subject = before.kind in ("name", "word", "number")
            return is_subject and before.norm not in lexicon.ARTICLES | lexicon.PREPOSITIONS
    return False


def _is_simple_past(token: Token) -> bool:
    low = token.text.lower()
    if token.kind != "word" or low == token.norm or low.endswith("s"):
        return False
    return low.endswith("ed") or low in lexicon.PAST_FORMS


_LASTING = (
    lexicon.CHANGE_VERBS
    | lexicon.ALTERING_VERBS
    | frozenset(("be", "have", "do", "will", "can", "shall", "may", "base", "reach", "hit", "turn"))
)


def _typed_alike(pair: Pair) -> bool:
    kinds_new = sorted(_find_value_family(pair.new, i) for i in pair.only_new)
    kinds_old = sorted(_find_value_family(pair.old, i) for i in pair.only_old)
    many = len(kinds_new) > 1 and not set(kinds_new) <= _WHEN
    return kinds_new == kinds_old and not many and "" not in kinds_new


def _find_value_family(reading: Reading, item: str) -> str:
    kind = reading.kinds[item]
    return "number" if kind in _NUMERIC else "" if kind in ("word", "name", "habit") else kind


def _begins_with_it(pair: Pair) -> bool:
    """Return True if what differs stands first and so tells which thing is meant."""
    if pair.new.owner or pair.new.tokens[0].norm == "there":
        return False
    return pair.new.order[0] in pair.only_new or pair.old.order[0] in pair.only_old


def _may_repeat(pair: Pair) -> bool:
    """Return True if the verb tells something that can happen again or hold of many, and nothing
    narrows it to one.
    """
    verbs = (
        _event_verbs(pair.old) if "now" not in pair.new.words or _is_past_event(pair.old) else set()
    )
    if not _is_exact(pair):
        counted = {b.norm for a, b in pairwise(pair.old.tokens) if a.is_value}
        verbs |= (
            {t.norm for t in pair.old.tokens if t.kind == "word"} & lexicon.MANY_VALUED_VERBS
        ) - counted
    if _is_count(pair):
        verbs -= _COUNTING
    if _is_last(pair) or _has_purpose(pair):
        verbs -= lexicon.OCCUPYING_VERBS
    return bool(verbs) and not _is_progress(pair)


def _event_verbs(reading: Reading) -> set[str]:
    """Return the verbs of events, known by their inflection or by the person before them."""
    verbs = set()
    before: Token | None = None
    for token in reading.tokens:
        if token.kind == "word" and token.norm in lexicon.EVENT_VERBS:
            is_inflected = token.text.lower() != token.norm
            if is_inflected or (before is not None and _is_person(before)):
                verbs.add(token.norm)
        before = token
    return verbs


def _is_person(token: Token) -> bool:
    return token.kind == "name" or token.norm in _PERSONS


_PERSONS = lexicon.FIRST_PERSON | lexicon.FIRST_PLURAL | lexicon.THIRD_PERSON


def _is_exact(pair: Pair) -> bool:
    """Return True if what differs is a date, an amount, a version or the like, rather than a bare
    number or a name.
    """
    return all(pair.new.kinds[i] not in ("word", "name", "number") for i in pair.only_new)


def _is_count(pair: Pair) -> bool:
    return all(pair.new.kinds[i] == "number" for i in pair.only_new)


def _is_last(pair: Pair) -> bool:
    """Return True if what differs ends both texts and is a version or a number: "runs Ubuntu
    22.04".
    """
    ends = pair.new.order[-1] in pair.only_new and pair.old.order[-1] in pair.only_old
    return ends and all(pair.new.kinds[i] in _NUMERIC for i in pair.only_new)


def _has_purpose(pair: Pair) -> bool:
    """Return True if both go on to say what for: "use X for the billing service"."""
    tokens = pair.new.tokens
    return any(a.norm in pair.only_new and b.norm in ("for", "as") for a, b in pairwise(tokens))


def _is_progress(pair: Pair) -> bool:
    """Return True if the number counts towards a total: "9 of 12"."""
    tokens = pair.new.tokens
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return any(
        a.norm in pair.only_new and b.norm in ("of", "out") and c.is_value for a, b, c in triples
    )


def _span_name(pair: Pair) -> str:
    names = all(pair.new.kinds[i] == "name" for i in pair.only_new) and all(
        pair.old.kinds[i] == "name" for i in pair.only_old
    )
    if not names:
        return "span_conflict"
    if _names_one_of_several(pair):
        return "name_of_object"
    told_of_one = "be" in pair.old.words or _has_purpose(pair) or "now" in pair.new.words
    return "name_conflict" if told_of_one else "name_of_object"


def _names_one_of_several(pair: Pair) -> bool:
    """Return True if the names belong to one of several: my cats, my sons, the clubs that somebody
    chairs.
    """
    tokens = pair.new.tokens
    place = next((i for i, t in enumerate(tokens) if t.norm in pair.only_new), 0)
    if place and tokens[place - 1].norm == "of":
        return bool(pair.new.owner)
    be = next((i for i, t in enumerate(tokens) if t.norm == "be"), 0)
    head = tokens[be - 1].norm if be else ""
    return place > be and (
        head in lexicon.MANY_VALUED_NOUNS or head in lexicon.KIN - lexicon.ONE_AT_A_TIME
    )
