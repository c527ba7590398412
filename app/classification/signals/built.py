"""Frames of plain build, for attributes that no list knows.

The forms are "S's N is V", "the N of S is V", "V is the N of S" and "raised the N to V", where S is
the subject, N the noun and V the value.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.classification.signals import lexicon
from app.classification.signals.frame import Frame, Value, find_leading_phrase, make_built_frame
from app.classification.signals.reading import Clause
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import CALENDAR, Token, find_place, join_texts

Tokens = Sequence[Token]
_CHOSEN = frozenset("favourite prefer current default main primary official".split())
_ADOPTS = frozenset(("use", "adopt", "choose"))
_GOES_OVER = frozenset(("switch", "move", "migrate", "go"))
_TURNS_PASSIVE = frozenset(("to", "from", "by", "up", "down"))
_OURS = frozenset(("my", "our"))
_OWNER_MARKS = frozenset(("of", "for", "at"))


def find_built_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """Return the frame of a plainly built clause, or None."""
    changed = _find_altered_frame(clause, bones) or _find_event_frame(clause, bones)
    if changed:
        return changed
    cut = find_place(bones, ("be", ":")) or 0
    left, right = bones[:cut], bones[cut + 1 :]
    if not left or not right:
        return None
    return _find_owned_frame(clause, left, right) or _find_role_frame(clause, left, right)


def _find_event_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """Return the frame of "Meeting on Tuesday", which may be one of several."""
    turn = len(bones) - 2
    if turn < 1 or bones[turn].norm not in ("on", "at"):
        return None
    time = bones[-1]
    before = [token for token in bones[:-1] if token.norm not in _OURS]
    noun = bones[turn - 1]
    is_short = len(bones) <= 4 and bool(before) and before[0] == noun
    if not is_short or noun.norm not in lexicon.EVENT_NOUNS or time.kind not in CALENDAR:
        return None
    value = Value(frozenset((time.norm,)), time.kind, frozenset(), time.text)
    frame = make_built_frame(clause, [noun], bones[: turn - 1], value, single=False)
    return replace(frame, attribute="schedule", subject=collect_referents(bones[:turn]))


def find_used_as_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """Return the frame of "We use V as our N" and "we moved to V as our N": one N at a time."""
    for verb, token in enumerate(bones):
        following = bones[verb + 1].norm if verb + 1 < len(bones) else ""
        goes_over = token.norm in _GOES_OVER and following in ("to", "with")
        if goes_over or token.norm in _ADOPTS:
            break
    else:
        return None
    turn = find_place(bones, ("as",), start=verb + 2)
    if turn is None:
        return None
    adopted = [token for token in bones[verb + 1 : turn] if token.norm not in ("to", "with")]
    purpose = [token for token in bones[turn + 1 :] if token.norm not in _OURS]
    if not collect_referents(adopted) or not collect_referents(purpose):
        return None
    value = Value(collect_referents(adopted), "name", frozenset(), join_texts(adopted))
    return make_built_frame(clause, purpose, bones[:verb], value)


def _split_owner(left: Tokens) -> tuple[Tokens, Tokens] | None:
    """Return (owner, noun) of "S 's N", "my N" and "N of S"."""
    if left[0].norm in _OURS and len(left) > 1:
        return left[:1], left[1:]
    for place, token in enumerate(left):
        if token.kind == "possessive":
            if place:
                return left[:place], left[place + 1 :]
            break
    mark = find_place(left, _OWNER_MARKS, start=1)
    return (left[mark + 1 :], left[:mark]) if mark else None


def _find_owned_frame(clause: Clause, left: Tokens, right: Tokens) -> Frame | None:
    """Return the frame of "S's N is V".

    The owner may be missing if the noun or the value says enough, as in "the default N is V" and
    "the rent is $900".
    """
    parts = _split_owner(left)
    if parts is None:
        has_article = clause.tokens[0].norm in lexicon.ARTICLES
        is_variable = len(left) == 1 and "_" in left[0].text  # such as "max_connections"
        if is_variable or (has_article and (_is_chosen(left) or right[0].is_value)):
            parts = ((), left)
    value = find_leading_phrase(right)
    if parts is None or value is None:
        return None
    owner, noun = parts
    if not _is_plain_noun(noun) or _is_passive(right[0]):
        return None
    return make_built_frame(clause, noun, owner, value, single=_is_single(noun, value, right))


def _is_chosen(noun: Tokens) -> bool:
    return any(token.norm in _CHOSEN for token in noun)


def _is_passive(token: Token) -> bool:
    """Return True if the verb goes on behind "is", as in "is released"."""
    low = token.text.lower()
    is_inflected = token.kind == "word" and low != token.norm
    return is_inflected and low.endswith(("ed", "en", "ing"))


def _is_plain_noun(noun: Tokens) -> bool:
    if not noun or noun[-1].kind != "word":
        return False
    if noun[-1].norm in lexicon.KIN - lexicon.ONE_AT_A_TIME:
        return False
    for token in noun:
        is_preposition = token.kind == "word" and token.norm in lexicon.PREPOSITIONS
        if is_preposition or token.kind in ("possessive", "mark"):
            return False
    return True


def _is_single(noun: Tokens, value: Value, right: Tokens) -> bool:
    """Return True if the noun holds one value.

    Counted values are single and listed nouns are. Plurals and nouns such as "friend" are not.
    """
    if any(token.is_value and token.norm in value.items for token in right):
        return True
    head = noun[-1]
    low = head.text.lower()
    is_plural = low != head.norm and low.endswith("s")
    if is_plural or head.norm in lexicon.MANY_VALUED_NOUNS:
        return False
    return value.kind == "name" or _is_chosen(noun) or head.norm in lexicon.SINGLE_NOUNS


def _find_altered_frame(clause: Clause, bones: Tokens) -> Frame | None:
    """Return the frame of "Raised my rent to V" and "the rent was raised from O to V"."""
    words = (place for place, token in enumerate(bones) if token.kind == "word")
    verb = next((place for place in words if bones[place].norm in lexicon.ALTERING_VERBS), None)
    to = None if verb is None else find_place(bones, ("to",), start=verb + 1)
    if verb is None or to is None:
        return None
    value = find_leading_phrase(bones[to + 1 :])
    noun = _find_changed_noun(bones, verb, to)
    if value is None or not noun:
        return None
    owner, head = _split_owner(noun) or ((), noun)
    if not _is_plain_noun(head) or head[-1].norm in lexicon.FUNCTION_WORDS:
        return None
    if any(token.kind == "name" for token in head):
        return None
    counted = any(token.is_value and token.norm in value.items for token in bones[to + 1 :])
    single = counted or value.kind == "name"
    return make_built_frame(clause, head, owner, value, change=True, single=single)


def _find_changed_noun(bones: Tokens, verb: int, to: int) -> Tokens:
    """Return the object of the verb, or its subject if it is passive or takes no object."""
    after_be = verb > 0 and bones[verb - 1].norm == "be"
    if verb > 0 and (after_be or bones[verb + 1].norm in _TURNS_PASSIVE):
        noun = bones[: verb - 1] if after_be else bones[:verb]
    else:
        noun = bones[verb + 1 : to]
    start = find_place(noun, ("from",))
    return noun if start is None else noun[:start]


def _find_role_frame(clause: Clause, left: Tokens, right: Tokens) -> Frame | None:
    """Return the frame of "V is the N of S", for roles that one person holds."""
    if any(token.kind != "name" for token in left):
        return None
    of = find_place(right, _OWNER_MARKS, start=1)
    if not of or right[of - 1].norm not in lexicon.UNIQUE_ROLES or len(right) <= of + 1:
        return None
    role = [token for token in right[:of] if token.norm not in ("new", "current")]
    value = Value(collect_referents(left), "name", frozenset(), join_texts(left))
    return make_built_frame(clause, role, right[of + 1 :], value)
