"""Endings that a text states: "no longer", "forget that", "stopped", "was cancelled"."""

from collections.abc import Callable, Sequence
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
    ending = _find_first(reading, (_find_commanded_ending,))
    if ending:
        return ending
    ending = _find_first(reading, _OBSERVED)
    return ending and _leave_out_date(ending, text, dated_by)


def _find_first(
    reading: Reading, finders: Sequence[Callable[[Clause, Reading], StatedEnding | None]]
) -> StatedEnding | None:
    for find in finders:
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
    ending = _find_first(parse_text(undated), _OBSERVED) or ending
    return replace(ending, only=ending.only and not says_since)


def _find_commanded_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "Forget X", "drop what we have on X"."""
    bones = [
        t
        for t in build_skeleton(clause.tokens)
        if t.norm not in ("you", "can", "let", "we", "should")
    ]
    for words in _VERBS["commands"]:
        if _has_leading_words(bones, words):
            rest = bones[len(words) :]
            if any(t.norm == "it" for t in (*rest[:1], *rest[-1:])) and len(reading.clauses) > 1:
                return _make_ending(
                    words[0], _find_subject(reading.clauses[0]), reading, command=True
                )
            return _make_ending(words[0], rest, reading, command=True)
    return None


def _find_subject(clause: Clause) -> Sequence[Token]:
    """Return the tokens before the first verb that is known as one."""
    return tuple(takewhile(lambda t: t.norm not in lexicon.AUXILIARIES, clause.tokens))


def _find_no_longer_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "S no longer V", "S does not V any more"."""
    texts = [t.text.lower() for t in clause.tokens]
    pairs = list(pairwise(texts))
    if ("no", "longer") in pairs or (
        "not" in texts and ("anymore" in texts or any(p in _ANYMORE for p in pairs))
    ):
        return _make_ending(
            "no longer", [t for t in clause.tokens if t.norm not in ("no", "not")], reading
        )
    return None


def _find_active_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "S stopped V-ing", "S left O", "S sold O"."""
    if clause.negated or clause.modal:
        return None
    bones = [t for t in build_skeleton(clause.tokens) if t.norm not in _POSSESSIVES]
    norms = tuple(t.norm for t in bones)
    for words, kind in _ENDING_VERBS:
        place = _find_place(norms, words)
        if (
            place is not None
            and place + len(words) < len(bones)
            and _may_end(bones[place + len(words)], words)
        ):
            rest = [*bones[:place], *bones[place + len(words) :]]
            is_doing = bones[place + len(words)].text.lower().endswith("ing")
            return _make_ending(
                " ".join(words), rest, reading, ends=frozenset() if is_doing else _ENDS[kind]
            )
    return None


def _may_end(following: Token, words: tuple[str, ...]) -> bool:
    if words == ("stop",):
        return following.text.lower().endswith("ing")
    return following.norm not in ("to", "at", "for", "by", "on", "behind", "off")


def _find_passive_ending(clause: Clause, reading: Reading) -> StatedEnding | None:
    """ "X was cancelled"."""
    if clause.negated or clause.modal:
        return None
    bones = build_skeleton(clause.tokens)
    norms = tuple(t.norm for t in bones)
    for words in _VERBS["passive"]:
        place = _find_place(norms, words)
        ends_here = place is not None and all(
            t.is_value or t.kind == "mark" or t.norm in lexicon.PREPOSITIONS
            for t in bones[place + len(words) :]
        )
        if place and (words[0] == "be" or len(words) > 1 or ends_here):
            return _make_ending(" ".join(words), bones[:place], reading)
    return None


_OBSERVED = (_find_no_longer_ending, _find_active_ending, _find_passive_ending)


def _make_ending(
    trigger: str,
    tokens: Sequence[Token],
    reading: Reading,
    *,
    ends: frozenset[str] = frozenset(),
    command: bool = False,
) -> StatedEnding:
    attribute, attribute_words = _attribute_named(tokens)
    rest = [token for token in tokens if token.norm not in attribute_words]
    if attribute:
        remainder = _find_attribute_owner(trigger, rest, tokens)
    else:
        content = select_content([token for token in rest if not _is_plain_talk(token)])
        remainder = frozenset(token.norm for token in content) - frozenset(trigger.split())
    return StatedEnding(
        trigger=trigger,
        remainder=remainder,
        ends=ends,
        attribute=attribute,
        entity=command and all(token.norm != "that" for token in tokens),
        only=command or not _has_news(reading, remainder, trigger),
    )


def _is_talk(token: Token) -> bool:
    return token.norm in lexicon.RETRACTION_TALK or token.norm in lexicon.LIGHT_WORDS


def _is_plain_talk(token: Token) -> bool:
    return token.kind == "word" and _is_talk(token)


def _find_attribute_owner(
    trigger: str, rest: Sequence[Token], tokens: Sequence[Token]
) -> frozenset[str]:
    """Return what the attribute is of; a speaker who only reports is not part of it."""
    words = trigger.split()
    owner = [token for token in rest if not _is_talk(token) and token.norm not in words]
    remainder = collect_referents(owner)
    if any(token.norm in _SAYING for token in tokens):
        remainder -= {"i", "we", "you"}
    return remainder


def _has_news(reading: Reading, remainder: frozenset[str], trigger: str) -> bool:
    """Return True if another clause says something of its own, beyond the reason for the ending."""
    known = lexicon.RETRACTION_TALK | lexicon.LIGHT_WORDS | remainder
    words = trigger.split()
    others = (c for c in reading.clauses if not all(w in {t.norm for t in c.tokens} for w in words))
    return any(c.items - known and c.tokens[0].norm not in _REASONS for c in others)


def _attribute_named(tokens: Sequence[Token]) -> tuple[str | None, frozenset[str]]:
    """The attribute that the tokens name ("release date"), and the words that name it."""
    norms = [t.norm if t.kind == "word" else "" for t in tokens]
    for words, name in _NOUNS:
        if any(
            tuple(norms[i : i + len(words)]) == words for i in range(len(norms) - len(words) + 1)
        ):
            return name, frozenset(words)
    return None, frozenset()


def _has_leading_words(bones: Sequence[Token], words: tuple[str, ...]) -> bool:
    return tuple(t.norm for t in bones[: len(words)]) == words


def _find_place(norms: tuple[str, ...], words: tuple[str, ...]) -> int | None:
    if words[0] not in norms:
        return None
    return next(
        (i for i in range(len(norms) - len(words) + 1) if norms[i : i + len(words)] == words), None
    )


def _list_ending_verbs(kind: str) -> list[tuple[str, ...]]:
    return sorted(
        (
            tuple(reduce_to_lemma(word) for word in verb.split())
            for verb in lexicon.ENDINGS[kind]["verbs"]
        ),
        key=len,
        reverse=True,
    )


_VERBS = {kind: _list_ending_verbs(kind) for kind in lexicon.ENDINGS}
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
