"""What somebody only does rules out the rest: "only speaks English" against "speaks Spanish"."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation

_ONLY = frozenset(("only", "solely", "exclusively"))
_CLOSED = (
    {"talk", "fluent"},
    {"drink"},
    {"eat"},
)  # What is listed behind these is of one kind, so that one thing can rule out another.
_KIND_WORDS = frozenset("language fluently fluent native".split())


def find_exclusive_claim(pair: Pair) -> Iterator[Finding]:
    """CONTRADICTION where the incoming text says that nothing else holds, and the stored one names something else."""
    if (
        not pair.new.owner
        or not pair.same_owner
        or not pair.new.words & _ONLY
        or pair.old.words & _ONLY
    ):
        return
    if (
        pair.new.negated
        or pair.new.modal
        or pair.old.negated
        or pair.old.modal
        or len(pair.old.clauses) > 1
    ):
        return
    if any(pair.new.words & verbs and pair.old.words & verbs for verbs in _CLOSED):
        mine, other = _list_claimed_items(pair.new), _list_claimed_items(pair.old)
        if mine and other - mine and not _is_restricted(pair.new) and not _is_restricted(pair.old):
            yield make_finding(
                "exclusive_claim",
                Relation.CONTRADICTION,
                f"only {' '.join(sorted(mine))}, not {' '.join(sorted(other - mine))}",
            )


def _list_claimed_items(reading: Reading) -> frozenset[str]:
    """The names or things in the list."""
    verbs = frozenset().union(*_CLOSED)
    return (
        reading.items
        - verbs
        - _KIND_WORDS
        - frozenset(reading.owner)
        - _ONLY
        - lexicon.QUANTIFIERS
        - lexicon.SUPPORT
    )


def _is_restricted(reading: Reading) -> bool:
    """Whether it says when, where or with whom: then something else may hold elsewhere."""
    tokens = reading.tokens
    verbs = frozenset().union(*_CLOSED)
    place = next((i for i, t in enumerate(tokens) if t.norm in verbs), len(tokens))
    return any(
        t.kind == "word" and t.norm in lexicon.PREPOSITIONS - {"in"} for t in tokens[place:]
    ) or any(
        t.norm == "in" and tokens[i - 1].norm not in ("fluent", "fluently")
        for i, t in enumerate(tokens)
        if i > place
    )
