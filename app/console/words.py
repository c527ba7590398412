"""Words of people for the words of the API."""

from app.domain.relation import Judge, Operation, Relation

# What an operation did to its memory, and how others come into it.
OPERATIONS = {
    Operation.ADD: ("stored", ""),
    Operation.UPDATE: ("changed", "instead of"),
    Operation.DELETE: ("ended", ""),
    Operation.MERGE: ("merged", "with"),
    Operation.SUPERSEDE: ("replaced", "instead of"),
    Operation.NOOP: ("known already", ""),
    Operation.AMEND: ("corrected", ""),
    Operation.REVERT: ("undone", ""),
    Operation.ERASE: ("erased", ""),
}
# Who decided.
JUDGES = {
    Judge.CALLER: "the caller",
    Judge.RULE: "a rule",
    Judge.SIGNALS: "the words themselves",
    Judge.LOCAL: "the local judge",
    Judge.MODEL: "a language model",
    Judge.FALLBACK: "left to a person",
    Judge.SWEEP: "a sweep",
    Judge.REVIEWER: "a reviewer",
    Judge.AGENT: "the agent",
}
# What a judge saw between two facts.
RELATIONS = {
    Relation.DUPLICATE: "a repetition",
    Relation.UPDATE: "a change",
    Relation.CONTRADICTION: "a contradiction",
    Relation.RETRACTION: "an end",
    Relation.COMPLEMENT: "two parts of one fact",
    Relation.OVERLAP: "facts that both hold",
    Relation.NONE: "nothing in common",
}
# The relations in which one of two facts does not stay as it is.
CHANGES = (
    Relation.DUPLICATE,
    Relation.UPDATE,
    Relation.CONTRADICTION,
    Relation.RETRACTION,
    Relation.COMPLEMENT,
)
