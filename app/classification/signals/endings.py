"""Endings that a text states: "no longer", "forget that", "stopped", "was cancelled"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, takewhile

from app.classification.signals import lexicon
from app.classification.signals.lemma import reduce_to_lemma
from app.classification.signals.reading import Clause, Reading, parse_text, select_content
from app.classification.signals.skeleton import build_skeleton, collect_referents
from app.classification.signals.token import Token
from app.domain.dates.dated_text import DatedBy
from app.domain.dates.facts import drop_date_words

_SAYING = frozenset("say tell note record mention list store write".split())
_POSSESSIVES = frozenset("my our his her their its your".split())
_REASONS = frozenset(("because", "since", "as"))
_ANYMORE = (("any", "more"), ("any", "longer"))
_TALK = lexicon.RETRACTION_TALK | lexicon.LIGHT_WORDS
_BEFORE_COMMANDS = ("you", "can", "let", "we", "should")
# Before these, the words are another verb: "left for", "sold to".
_AFTER_OTHER_VERBS = ("to", "at", "for", "by", "on", "behind", "off")


@dataclass(frozen=True, slots=True)
class StatedEnding:
    """The ending that a text states.

    A stored fact ends if it holds the `remainder`, and one of the words in `ends` if there are
    any. If the text names an `attribute`, as in "the release date of X", the remainder is its
    subject. `entity` is True if the text may mean all that is known of somebody or something
    ("forget X"). `only` is True if the text says nothing else.
    """

    trigger: str
    remainder: frozenset[str]
    ends: frozenset[str]
    attribute: str | None
    entity: bool
    only: bool


@lru_cache(maxsize=4096)
def find_ending(text: str, dated_by: DatedBy | None) -> StatedEnding | None:
    """The ending that a text tells, or None. `dated_by` are the words that date it, if known."""
    reading = parse_text(text)
    if reading.is_question:
        return None
    for clause in reading.clauses:
        ending = _find_commanded_ending(clause, reading)
        if ending:
            return ending
    ending = _find_observed_ending(reading)
    return ending and _leave_out_date(ending, text, dated_by)


def _find_observed_ending(reading: Reading) -> StatedEnding | None:
    for find in (_find_no_longer_ending, _find_active_ending, _find_passive_ending):
        for clause in reading.clauses:
            ending = find(clause, reading)
            if ending:
                return ending
    return None


def _leave_out_date(ending: StatedEnding, text: str, dated_by: DatedBy | None) -> StatedEnding:
    """Return the ending without words of time. A text that has them may say since when."""
    if dated_by is None:
        undated, says_since = drop_date_words(text), True
    else:
        undated = text[: dated_by.start] + text[dated_by.end :]
        says_since = dated_by.holds_from is not None
    if undated == text:
        return ending
    ending = _find_observed_ending(parse_text(undated)) or ending
    return replace(ending, only=ending.only and not says_since)


def _find_commanded_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "Forget X", "drop what we have on X"."""
    bones = [t for t in build_skeleton(clause.tokens) if t.norm not in _BEFORE_COMMANDS]
    norms = tuple(t.norm for t in bones)
    for words in _VERBS["commands"]:
        if norms[: len(words)] != words:
            continue
        rest: Sequence[Token] = bones[len(words) :]
        if any(t.norm == "it" for t in (*rest[:1], *rest[-1:])) and len(reading.clauses) > 1:
            # "It" is the subject of the first clause.
            first = reading.clauses[0].tokens
            rest = tuple(takewhile(lambda t: t.norm not in lexicon.AUXILIARIES, first))
        return _make_ending(words[0], rest, reading, command=True)
    return None


def _find_no_longer_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "S no longer V", "S does not V any more"."""
    texts = [t.text.lower() for t in clause.tokens]
    pairs = list(pairwise(texts))
    says_anymore = "anymore" in texts or any(pair in _ANYMORE for pair in pairs)
    if ("no", "longer") not in pairs and not ("not" in texts and says_anymore):
        return None
    rest = [t for t in clause.tokens if t.norm not in ("no", "not")]
    return _make_ending("no longer", rest, reading)


def _find_active_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "S stopped V-ing", "S left O", "S sold O"."""
    if clause.negated or clause.modal:
        return None
    bones = [t for t in build_skeleton(clause.tokens) if t.norm not in _POSSESSIVES]
    norms = tuple(t.norm for t in bones)
    for words, kind in _ENDING_VERBS:
        place = _find_place(norms, words)
        if place is None or place + len(words) == len(bones):
            continue
        following = bones[place + len(words)]
        is_doing = following.text.lower().endswith("ing")
        may_end = is_doing if words == ("stop",) else following.norm not in _AFTER_OTHER_VERBS
        if may_end:
            rest = [*bones[:place], *bones[place + len(words) :]]
            ends = frozenset[str]() if is_doing else _ENDS[kind]
            return _make_ending(" ".join(words), rest, reading, ends=ends)
    return None


def _find_passive_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "X was cancelled"."""
    if clause.negated or clause.modal:
        return None
    bones = build_skeleton(clause.tokens)
    norms = tuple(t.norm for t in bones)
    for words in _VERBS["passive"]:
        place = _find_place(norms, words)
        if not place:
            continue
        ends_here = all(
            t.is_value or t.kind == "mark" or t.norm in lexicon.PREPOSITIONS
            for t in bones[place + len(words) :]
        )
        if words[0] == "be" or len(words) > 1 or ends_here:
            return _make_ending(" ".join(words), bones[:place], reading)
    return None


def _make_ending(
    trigger: str,
    tokens: Sequence[Token],
    reading: Reading,
    *,
    ends: frozenset[str] = frozenset(),
    command: bool = False,
) -> StatedEnding:
    attribute, attribute_words = _find_attribute(tokens)
    rest = [token for token in tokens if token.norm not in attribute_words]
    words = frozenset(trigger.split())
    if attribute:
        owner = [t for t in rest if t.norm not in _TALK and t.norm not in words]
        remainder = collect_referents(owner)
        if any(token.norm in _SAYING for token in tokens):
            remainder -= {"i", "we", "you"}  # a speaker who only reports
    else:
        content = select_content([t for t in rest if t.kind != "word" or t.norm not in _TALK])
        remainder = frozenset(token.norm for token in content) - words
    return StatedEnding(
        trigger=trigger,
        remainder=remainder,
        ends=ends,
        attribute=attribute,
        entity=command and all(token.norm != "that" for token in tokens),
        only=command or not _has_news(reading, remainder, words),
    )


def _has_news(reading: Reading, remainder: frozenset[str], trigger: frozenset[str]) -> bool:
    """Return True if another clause says something of its own, beyond the reason for the ending."""
    for clause in reading.clauses:
        is_ending = trigger <= {token.norm for token in clause.tokens}
        gives_reason = clause.tokens[0].norm in _REASONS
        if not is_ending and not gives_reason and clause.items - _TALK - remainder:
            return True
    return False


def _find_attribute(tokens: Sequence[Token]) -> tuple[str | None, frozenset[str]]:
    """The attribute that the tokens name ("release date"), and the words that name it."""
    norms = tuple(t.norm if t.kind == "word" else "" for t in tokens)
    for words, name in _NOUNS:
        if _find_place(norms, words) is not None:
            return name, frozenset(words)
    return None, frozenset()


def _find_place(norms: tuple[str, ...], words: tuple[str, ...]) -> int | None:
    if words[0] not in norms:
        return None
    places = range(len(norms) - len(words) + 1)
    return next((place for place in places if norms[place : place + len(words)] == words), None)


_VERBS = {
    kind: sorted(
        (tuple(map(reduce_to_lemma, verb.split())) for verb in entry["verbs"]),
        key=len,
        reverse=True,
    )
    for kind, entry in lexicon.ENDINGS.items()
}
_ENDING_VERBS = sorted(
    (
        (words, kind)
        for kind in _VERBS
        if kind not in ("passive", "commands")
        for words in _VERBS[kind]
    ),
    key=lambda entry: -len(entry[0]),
)
_ENDS = {kind: frozenset(entry["ends"]) for kind, entry in lexicon.ENDINGS.items()}
_NOUNS = sorted(
    (
        (tuple(t.norm for t in parse_text(noun).tokens), name)
        for name, entry in lexicon.ATTRIBUTES.items()
        for noun in entry.get("nouns", ())
    ),
    key=lambda pair: -len(pair[0]),
)
