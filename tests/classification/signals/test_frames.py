import pytest

from app.classification.signals import derive_slot
from app.classification.signals.frames import find_frames
from app.classification.signals.reading import parse_text
from app.domain.fact import DerivedSlot


@pytest.mark.parametrize(
    ("text", "attribute", "subject", "value"),
    [
        ("Alice lives in Berlin.", "residence", {"alice"}, {"berlin"}),
        ("I have moved to Lisbon.", "residence", {"i"}, {"lisbon"}),
        ("My sister is based in Porto.", "residence", {"i", "sister"}, {"porto"}),
        ("I just started working at Siemens.", "employer", {"i"}, {"siemens"}),
        ("Omar works as a paramedic.", "job_title", {"omar"}, {"paramedic"}),
        ("I turned 35 yesterday.", "age", {"i"}, {"35"}),
        ("Call Tom Cotton on 202-224-2353.", "phone", {"tom", "cotton"}, {"2022242353"}),
        (
            "Security support for Next.js 15 ends on 2026-10-21.",
            "end_of_life",
            {"next.js", "15"},
            {"2026-10-21"},
        ),
        ("Keycloak 25.0 is still maintained.", "end_of_life", {"keycloak", "25.0"}, {"open"}),
        ("The demo has been moved to Friday at 3 pm.", "schedule", {"demo"}, {"friday", "15:00"}),
        ("The CEO of Acme is Bob Lee.", "noun:ceo", {"acme"}, {"bob", "lee"}),
        ("Ann Smith is the new CEO of Acme.", "noun:ceo", {"acme"}, {"ann", "smith"}),
        ("My doctor raised my dose from 20 mg to 40 mg.", "noun:dose", {"i"}, {"40", "mg"}),
        ("We've moved to Bun as our package manager.", "noun:manager package", {"we"}, {"bun"}),
    ],
)
def test_a_frame_is_subject_attribute_and_value(
    text: str, attribute: str, subject: set[str], value: set[str]
) -> None:
    (frame,) = find_frames(parse_text(text))
    assert (frame.attribute, set(frame.subject), set(frame.value)) == (attribute, subject, value)


@pytest.mark.parametrize(
    "text", ["I used to live in Geneva.", "Tom lived in Kyoto for three years."]
)
def test_a_state_in_the_past_is_no_residence(text: str) -> None:
    assert not [
        f
        for f in find_frames(parse_text(text))
        if f.attribute == "residence" and f.subject in ({"i"}, {"tom"})
    ]


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Alice lives in Berlin", DerivedSlot("alice", "residence", "Berlin")),
        ("My favorite color is teal.", DerivedSlot("user", "colour_favourite", "teal")),
        (
            "The deadline for the grant proposal is 30 September.",
            DerivedSlot("grant proposal", "deadline", "30 September"),
        ),
        ("The CEO of Acme is Bob Lee.", DerivedSlot("acme", "ceo", "Bob Lee")),
    ],
)
def test_a_slot_is_derived_where_one_attribute_is_plainly_stated(
    text: str, slot: DerivedSlot
) -> None:
    assert derive_slot(text) == slot


@pytest.mark.parametrize(
    "text",
    [
        "Does Alice live in Berlin?",
        "Alice does not live in Berlin.",
        "I want to live in Rome.",
        "My friend is Luca.",
        "I like sushi.",
        "Hello.",
    ],
)
def test_no_slot_is_derived_where_it_is_not_safe(text: str) -> None:
    assert derive_slot(text) is None
