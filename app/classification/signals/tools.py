"""A tool gives way to another of its class: "I switched to Emacs" where the stored fact says "I use
Vim as my editor".
"""

from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation

_TURNS = frozenset(("switch", "move", "migrate", "change", "convert", "go"))
_ALIKE = frozenset(("use", "have", "run", "bank", "drive", "be"))


def find_tool_change(pair: Pair) -> Iterator[Finding]:
    """Yield an update if the stored fact names the role that the new tool takes; else, where both
    are of one class, only a flag.
    """
    if (
        not pair.new.owner
        or not pair.same_owner
        or pair.new.modal
        or pair.new.negated
        or pair.old.negated
        or pair.old.modal
    ):
        return
    for tool in _switched_to(pair.new):
        if tool in pair.old.items:
            continue
        for name in lexicon.TOOLS.get(tool, ()):
            if _holds_role(pair, lexicon.ROLES[name]):
                yield make_finding(
                    "tool_role",
                    Relation.UPDATE,
                    f"{tool} takes the place of another {name.replace('_', ' ')}",
                )
            elif _uses_another(pair.old, name):
                yield make_finding(
                    "tool_of_class",
                    Relation.UPDATE,
                    f"{tool} may take the place of another {name.replace('_', ' ')}",
                )


def _switched_to(reading: Reading) -> Iterator[str]:
    """The tool behind "switched to", the article left out."""
    tokens = [
        t
        for t in reading.clauses[0].tokens
        if t.norm not in lexicon.ARTICLES and t.norm not in lexicon.SUPPORT
    ]
    for i, (verb, to) in enumerate(pairwise(tokens)):
        if verb.norm in _TURNS and to.norm in ("to", "over") and i + 2 < len(tokens):
            following = tokens[i + 2] if to.norm == "to" or i + 3 >= len(tokens) else tokens[i + 3]
            if "for" not in {t.norm for t in tokens[i + 2 :]}:
                yield following.text.lower()


def _holds_role(pair: Pair, roles: frozenset[str]) -> bool:
    """Return True if the stored fact says what the owner's one tool for the role is: "as my
    editor", "my editor is".
    """
    owner = frozenset(pair.new.owner)
    return any(
        f.is_built
        and f.is_assertion
        and f.subject == owner
        and frozenset(f.attribute[5:].split()) & roles
        for f in find_frames(pair.old)
    )


def _uses_another(old: Reading, name: str) -> bool:
    members = {tool for tool, classes in lexicon.TOOLS.items() if name in classes}
    return (
        bool(members & {t.text.lower() for t in old.tokens})
        and bool(_ALIKE & old.words)
        and len(old.items) <= 4
    )
