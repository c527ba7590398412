"""What the rules are certain of: equal texts, and values in the same slot."""

import pytest

from app.classification import rules
from app.domain.fact import Fact, Kind
from app.domain.relation import Judge, Relation
from support.planned_memory import DAY, NOW, PlannedMemory, editor_fact

REX = "Has a dog called Rex"


def judge(fact: Fact, *stored: Fact, classify: bool = True, fuzzy: bool = True) -> list[Relation]:
    """Judge a fact against stored ones. Return the relations found, all of them certain."""
    memory = PlannedMemory()
    for other in stored:
        memory.keep(other)
    judgments = rules.judge_fact(fact, memory.chains, memory.now, classify=classify, fuzzy=fuzzy)
    assert all((j.decided_by, j.confidence) == (Judge.RULE, 1.0) for j in judgments)
    return [judgment.relation for judgment in judgments]


@pytest.mark.parametrize(
    "text",
    [
        "has a DOG called rex",
        "Has a dog  called Rex!",
        "“Has a dog called Rex.”",
        "Ｈas a dog called Rex",
    ],
)
def test_case_spacing_width_and_punctuation_make_no_new_fact(text: str) -> None:
    assert judge(Fact(text), Fact(REX)) == [Relation.DUPLICATE]
    assert judge(Fact(text), Fact(REX), fuzzy=False) == []
    assert judge(Fact(text), Fact(REX), classify=False) == []


@pytest.mark.parametrize(("classify", "fuzzy"), [(True, True), (True, False), (False, False)])
def test_the_very_same_text_is_known_in_every_case(classify: bool, fuzzy: bool) -> None:
    assert judge(Fact(REX), Fact(REX), classify=classify, fuzzy=fuzzy) == [Relation.DUPLICATE]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Writes C", "Writes C++"),
        ("Offset is 5", "Offset is -5"),
        ("Owes 3.5 euros", "Owes 35 euros"),
    ],
)
def test_marks_that_carry_meaning_make_another_fact(one: str, other: str) -> None:
    assert judge(Fact(other), Fact(one)) == []


@pytest.mark.parametrize(
    ("stored", "fact", "is_known"),
    [
        (Fact(REX, entity="Ana"), Fact(REX, entity="Rui"), False),
        (Fact(REX, entity="Ana"), Fact(REX), False),
        (Fact(REX, entity="Ana"), Fact(REX, entity="ana "), True),
        (Fact(REX), Fact(REX, kind=Kind.CONSTRAINT), False),
        (Fact(REX, kind=Kind.CONSTRAINT), Fact(REX), True),
        (Fact(REX, kind=Kind.CONSTRAINT), Fact(REX, kind=Kind.FACT), True),
        (Fact(REX), Fact(REX, category="pets"), False),
        (Fact(REX, category="Pets"), Fact(REX, category="pets"), True),
        (Fact(REX), Fact(REX, key="dog"), False),
        (Fact(REX, key="dog"), Fact(REX), True),
        (Fact(REX, value="Rex"), Fact(REX, value="Max"), False),
        (Fact(REX, value="Rex"), Fact(REX), True),
    ],
)
def test_equal_text_is_known_if_the_stored_one_has_all_else_that_was_said(
    stored: Fact, fact: Fact, is_known: bool
) -> None:
    assert judge(fact, stored) == ([Relation.DUPLICATE] if is_known else [])


@pytest.mark.parametrize(
    ("stored", "fact", "found"),
    [
        (editor_fact("Vim"), editor_fact("Emacs"), [Relation.UPDATE]),
        (editor_fact("Vim"), editor_fact("vim ", content="It is Vim"), [Relation.DUPLICATE]),
        (editor_fact("Vim"), editor_fact("Emacs", key="shell"), []),
        (editor_fact("Vim"), editor_fact("Emacs", entity="Ana"), []),
        (
            editor_fact("Vim", valid_until=NOW - DAY, valid_from=NOW - 2 * DAY),
            editor_fact("Emacs"),
            [],
        ),
        (editor_fact("Vim", kind=Kind.CONSTRAINT), editor_fact("Emacs"), [Relation.CONTRADICTION]),
        (editor_fact("Vim"), editor_fact("Emacs", kind=Kind.CONSTRAINT), [Relation.CONTRADICTION]),
        (editor_fact("Vim", single_valued=False), editor_fact("Emacs"), []),
        (editor_fact("Vim"), editor_fact("Emacs", single_valued=False), []),
    ],
)
def test_what_two_values_of_a_slot_are_to_each_other(
    stored: Fact, fact: Fact, found: list[Relation]
) -> None:
    assert judge(fact, stored) == found
    assert judge(fact, stored, classify=False) == []
