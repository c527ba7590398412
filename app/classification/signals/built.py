"""Frames of plain build, for attributes that no list knows: "S's N is V", "the N of S is V", "V is the N of S", "raised the N to V"."""

from collections.abc import Sequence
from dataclasses import replace

from app.classification.signals import lexicon
from app.classification.signals.frame import Frame, Value, find_leading_phrase, make_built_frame
from app.classification.signals.reading import Clause
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import Token

Tokens = Sequence[Token]
_CHOSEN = frozenset("favourite prefer current default main primary official".split())
_ADOPTS = frozenset(("use", "adopt", "choose"))
_GOES_OVER = frozenset(("switch", "move", "migrate", "go"))
_TURNS_PASSIVE = frozenset(("to", "from", "by", "up", "down"))


def find_built_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """The frame of a plainly built clause, or None."""
    changed = _find_altered_frame(clause, bones)
    if changed:
        return changed
    planned = _find_event_frame(clause, bones)
    if planned:
        return planned
    cut = next((i for i, t in enumerate(bones) if t.norm in ("be", ":")), 0)
    left, right = bones[:cut], bones[cut + 1 :]
    if not left or not right:
        return None
    return _find_owned_frame(clause, left, right) or _find_role_frame(clause, left, right)


def _find_event_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """ "Meeting on Tuesday", which may be one of several."""
    noun = [t for t in bones if t.norm not in ("my", "our")][:1]
    turn = len(bones) - 2
    if (
        turn < 1
        or len(bones) - len(noun) > 3
        or bones[turn].norm not in ("on", "at")
        or noun != [bones[turn - 1]]
    ):
        return None
    if noun[0].norm not in lexicon.EVENT_NOUNS or bones[-1].kind not in ("date", "weekday", "time"):
        return None
    value = Value(frozenset((bones[-1].norm,)), bones[-1].kind, frozenset(), bones[-1].text)
    frame = make_built_frame(clause, noun, bones[: turn - 1], value, single=False)
    return replace(frame, attribute="schedule", subject=collect_referents(bones[:turn]))


def find_used_as_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """ "We use V as our N", "we moved to V as our N": one N at a time."""
    verb = next((i for i in range(len(bones)) if _takes_up(bones, i)), None)
    turn = next(
        (i for i, t in enumerate(bones) if t.norm == "as" and verb is not None and i > verb + 1),
        None,
    )
    if verb is None or turn is None:
        return None
    spoken = [t for t in bones[verb + 1 : turn] if t.norm not in ("to", "with")]
    purpose = [t for t in bones[turn + 1 :] if t.norm not in ("my", "our")]
    if not collect_referents(spoken) or not collect_referents(purpose):
        return None
    value = Value(collect_referents(spoken), "name", frozenset(), " ".join(t.text for t in spoken))
    return make_built_frame(clause, purpose, bones[:verb], value)


def _takes_up(bones: Tokens, i: int) -> bool:
    following = bones[i + 1].norm if i + 1 < len(bones) else ""
    return bones[i].norm in _ADOPTS or (bones[i].norm in _GOES_OVER and following in ("to", "with"))


def _split_owner(left: Tokens) -> tuple[Tokens, Tokens] | None:
    """(owner, noun) of "S 's N", "my N" and "N of S"."""
    if left[0].norm in ("my", "our") and len(left) > 1:
        return left[:1], left[1:]
    mark = next((i for i, t in enumerate(left) if t.kind == "possessive"), 0)
    if mark:
        return left[:mark], left[mark + 1 :]
    of = next((i for i, t in enumerate(left) if i and t.norm in ("of", "for", "at")), 0)
    return (left[of + 1 :], left[:of]) if of else None


def _find_owned_frame(clause: Clause, left: Tokens, right: Tokens) -> Frame | None:
    """ "S's N is V"; without an owner only where the noun or the value tells enough ("the default N is V", "the rent is $900")."""
    parts = _split_owner(left)
    if (
        parts is None
        and clause.tokens[0].norm in lexicon.ARTICLES
        and (_is_chosen(left) or right[0].is_value)
    ):
        parts = ((), left)
    if parts is None and _is_setting(left):
        parts = ((), left)
    value = find_leading_phrase(right)
    if parts is None or value is None or not _is_plain_noun(parts[1]) or _is_passive(right[0]):
        return None
    return make_built_frame(
        clause, parts[1], parts[0], value, single=_is_single(parts[1], value, right)
    )


def _is_setting(left: Tokens) -> bool:
    """Whether it is the name of a variable: "max_connections"."""
    return len(left) == 1 and "_" in left[0].text


def _is_chosen(noun: Tokens) -> bool:
    return any(t.norm in _CHOSEN for t in noun)


def _is_passive(token: Token) -> bool:
    """Whether the verb goes on behind "is", as in "is released"."""
    return (
        token.kind == "word"
        and token.text.lower() != token.norm
        and token.text.lower().endswith(("ed", "en", "ing"))
    )


def _is_plain_noun(noun: Tokens) -> bool:
    if not noun or noun[-1].kind != "word" or noun[-1].norm in lexicon.KIN - lexicon.ONE_AT_A_TIME:
        return False
    return not any(
        t.kind in ("possessive", "mark") or (t.kind == "word" and t.norm in lexicon.PREPOSITIONS)
        for t in noun
    )


def _is_single(noun: Tokens, value: Value, right: Tokens) -> bool:
    """Whether the noun holds one value: counted values do, listed nouns do, plurals and nouns such as "friend" do not."""
    if any(t.is_value and t.norm in value.items for t in right):
        return True
    head = noun[-1]
    low = head.text.lower()
    if head.norm in lexicon.MANY_VALUED_NOUNS or (low != head.norm and low.endswith("s")):
        return False
    return value.kind == "name" or _is_chosen(noun) or head.norm in lexicon.SINGLE_NOUNS


def _find_altered_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """ "Raised my rent to V", "the rent was raised from O to V": the noun before, its new value behind."""
    verb = next(
        (i for i, t in enumerate(bones) if t.kind == "word" and t.norm in lexicon.ALTERING_VERBS),
        len(bones),
    )
    to = next((i for i, t in enumerate(bones) if i > verb and t.norm == "to"), len(bones))
    value = find_leading_phrase(bones[to + 1 :])
    noun = _find_changed_noun(bones, verb, to)
    if value is None or not noun:
        return None
    owner, head = _split_owner(noun) or ((), noun)
    if (
        not _is_plain_noun(head)
        or head[-1].norm in lexicon.FUNCTION_WORDS
        or any(t.kind == "name" for t in head)
    ):
        return None
    counted = any(t.is_value for t in bones[to + 1 :] if t.norm in value.items)
    return make_built_frame(
        clause, head, owner, value, change=True, single=counted or value.kind == "name"
    )


def _find_changed_noun(bones: Tokens, verb: int, to: int) -> Tokens:
    """What the verb changes: its object, or its subject where it is passive or takes no object."""
    if to >= len(bones):
        return ()
    is_passive = verb > 0 and (
        bones[verb - 1].norm == "be" or bones[verb + 1].norm in _TURNS_PASSIVE
    )
    noun = bones[: verb - (bones[verb - 1].norm == "be")] if is_passive else bones[verb + 1 : to]
    start = next((i for i, t in enumerate(noun) if t.norm == "from"), len(noun))
    return noun[:start]


def _find_role_frame(clause: Clause, left: Tokens, right: Tokens) -> Frame | None:
    """ "V is the N of S", for roles that one person holds."""
    if any(t.kind != "name" for t in left):
        return None
    of = next((i for i, t in enumerate(right) if i and t.norm in ("of", "for", "at")), 0)
    if not of or right[of - 1].norm not in lexicon.UNIQUE_ROLES or len(right) <= of + 1:
        return None
    role = [t for t in right[:of] if t.norm not in ("new", "current")]
    value = Value(collect_referents(left), "name", frozenset(), " ".join(t.text for t in left))
    return make_built_frame(clause, role, right[of + 1 :], value)
