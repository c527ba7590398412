"""The drawing of a chain on both axes of time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from typing import Any

import pytest

from app.console.drawing import LEFT, NARROW, TOP, Box, Drawing, draw_chain
from app.console.rendering import name_day

LETTER = 6.4  # pixels of a letter of a mark
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)

# What is believed of a version: since when, until when, from and until which known time.
Belief = tuple[str | None, ...]


def build_belief(belief: Belief, **others: Any) -> dict[str, Any]:
    valid_from, valid_until, known_from, known_until = belief
    return {
        "known_from": known_from,
        "known_until": known_until,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "covered": [],
        "withdrawn": False,
        **others,
    }


def build_answer(*versions: tuple[str | None, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    return {
        "versions": [
            {"id": f"id-{number}", "content": content, "beliefs": beliefs}
            for number, (content, beliefs) in enumerate(versions)
        ],
        "truncated": False,
    }


def build_late_arrival() -> dict[str, Any]:
    """Porto, then Lisbon; Braga between them becomes known last."""
    return build_answer(
        (
            "Porto",
            [
                build_belief(("2024-01-01", None, "2024-01-05", "2026-02-01")),
                build_belief(("2024-01-01", "2026-01-01", "2026-02-01", "2026-09-01")),
                build_belief(("2024-01-01", "2025-06-01", "2026-09-01", None)),
            ],
        ),
        ("Lisbon", [build_belief(("2026-01-01", None, "2026-02-01", None))]),
        ("Braga", [build_belief(("2025-06-01", "2026-01-01", "2026-09-01", None))]),
    )


def build_long_chain(length: int) -> dict[str, Any]:
    """One version after the other, each known when it begins."""
    starts = [NOW - timedelta(days=40 * (length - number)) for number in range(length + 1)]
    texts = [start.isoformat() for start in starts]
    versions = []
    for number in range(length):
        beliefs = [build_belief((texts[number], None, texts[number], None))]
        if number < length - 1:
            beliefs[0]["known_until"] = texts[number + 1]
            ended = (texts[number], texts[number + 1], texts[number + 1], None)
            beliefs.append(build_belief(ended))
        versions.append((f"I live at number {number} of the long street", beliefs))
    return build_answer(*versions)


def draw(answer: Mapping[str, Any], as_of: datetime = NOW, known_at: datetime = NOW) -> Drawing:
    return draw_chain(answer, as_of, known_at)


def list_texts(boxes: Sequence[Box]) -> list[str]:
    return [" ".join(box.lines) for box in boxes]


def overlap(one: Box, other: Box) -> bool:
    apart = (
        one.x + one.width <= other.x + 0.01
        or other.x + other.width <= one.x + 0.01
        or one.y + one.height <= other.y + 0.01
        or other.y + other.height <= one.y + 0.01
    )
    return not apart


def test_a_late_arrival_is_a_step() -> None:
    drawing = draw(build_late_arrival())
    assert list_texts(drawing.boxes) == ["Porto", "Porto", "Lisbon", "Porto", "Braga"]
    first, second, lisbon, last, braga = drawing.boxes
    assert first.width > second.width > last.width
    assert first.y < second.y < last.y
    assert second.x + second.width == lisbon.x
    assert last.x + last.width == braga.x
    assert braga.x + braga.width == lisbon.x
    assert lisbon.height == second.height + last.height


def test_the_box_of_a_version_ends_when_it_leaves_the_chain() -> None:
    home = [build_belief(("2024-01-01", None, "2024-01-01", None))]
    left = [build_belief(("2026-01-01", "2026-01-05", "2025-01-01", "2025-02-01"))]
    drawing = draw(build_answer(("Porto", home), ("Ibis", left)))
    porto, ibis = drawing.boxes
    assert ibis.y > porto.y
    assert ibis.y + ibis.height < porto.y + porto.height
    assert len(drawing.known_ticks) == 3
    assert "Ibis" in drawing.sentences[1]
    assert "Ibis" not in drawing.sentences[2]


def test_what_is_believed_of_a_version_for_long_is_one_box() -> None:
    beliefs = [
        build_belief(("2024-01-01", None, "2024-01-01", "2025-01-01")),
        build_belief(("2024-01-01", None, "2025-01-01", None)),
    ]
    [box] = draw(build_answer(("Porto", beliefs))).boxes
    assert box.opens_right


@pytest.mark.parametrize(
    ("as_of", "known_at", "text"),
    [
        ("2026-10-01", "2026-10-01", "Lisbon"),
        ("2025-07-01", "2026-10-01", "Braga"),
        ("2025-07-01", "2026-03-01", "Porto"),
        ("2026-10-01", "2024-06-01", "Porto"),
        ("2023-01-01", "2026-10-01", None),
        ("2025-01-01", "2023-01-01", None),
    ],
)
def test_the_lines_cross_in_what_was_believed_to_be_true(
    as_of: str, known_at: str, text: str | None
) -> None:
    moments = [datetime.fromisoformat(time).replace(tzinfo=UTC) for time in (as_of, known_at)]
    drawing = draw(build_late_arrival(), *moments)
    chosen = [box for box in drawing.boxes if box.is_chosen]
    assert list_texts(chosen) == ([text] if text else [])
    for box in chosen:
        assert box.x <= drawing.cross_x <= box.x + box.width
        assert box.y <= drawing.cross_y <= box.y + box.height


@pytest.mark.parametrize("length", [1, 3, 60, 200])
def test_boxes_neither_overlap_nor_leave_the_frame(length: int) -> None:
    drawing = draw(build_long_chain(length))
    assert not any(overlap(one, other) for one, other in combinations(drawing.boxes, 2))
    for box in drawing.boxes:
        assert box.x >= 0
        assert box.x + box.width <= drawing.width
        assert box.y >= TOP
        assert box.y + box.height <= drawing.bottom + 0.01


@pytest.mark.parametrize("length", [3, 60, 200])
def test_every_box_is_large_enough_to_be_hit(length: int) -> None:
    for box in draw(build_long_chain(length)).boxes:
        assert box.width >= 23 - 0.01
        assert box.height >= 17 - 0.01
        assert box.lines or box.version >= 99  # a number of two digits fits


@pytest.mark.parametrize("length", [3, 60, 200])
def test_labels_of_times_do_not_touch(length: int) -> None:
    shown = [tick for tick in draw(build_long_chain(length)).valid_ticks if tick.label]
    assert len(shown) >= 3
    for tick, following in pairwise(shown):
        assert tick.at + 6 * len(tick.label) < following.at


def test_moments_of_one_day_have_room_before_the_boxes() -> None:
    first, second = "2026-09-01T10:20:00Z", "2026-09-01T18:40:00Z"
    lisbon = build_belief(("2026-01-01", None, first, None))
    drawing = draw(build_answer(("Lisbon", [lisbon]), ("Braga", [lisbon | {"known_from": second}])))
    labels = [tick.label for tick in drawing.known_ticks]
    assert labels == ["1 Sep, 10:20", "1 Sep, 18:40"]
    assert max(map(len, labels)) * LETTER < LEFT - 4


def test_a_cover_leaves_a_gap() -> None:
    cover = [{"since": "2026-01-01", "until": "2026-01-05"}]
    home = build_belief(("2024-01-01", None, "2026-01-01", None), covered=cover)
    stay = build_belief(("2026-01-01", "2026-01-05", "2026-01-01", None))
    drawing = draw(build_answer(("Porto", [home]), ("Ibis", [stay])))
    assert list_texts(drawing.boxes) == ["Porto", "Ibis", "Porto"]
    before, ibis, after = drawing.boxes
    assert before.x + before.width == ibis.x
    assert ibis.x + ibis.width == after.x


def test_what_was_never_true_is_no_box() -> None:
    beliefs = [
        build_belief(("2024-01-01", None, "2024-01-01", "2025-01-01")),
        build_belief(("2024-01-01", None, "2025-01-01", None), withdrawn=True),
    ]
    drawing = draw(build_answer(("Porto", beliefs)))
    assert len(drawing.boxes) == 1
    assert drawing.sentences[-1] == "Since 1 Jan 2025 believed: nothing."


def test_a_stretch_of_a_microsecond_is_no_box() -> None:
    tiny = ("2025-12-31T23:59:59.999999Z", "2026-01-01", "2026-01-01", None)
    lisbon = ("2026-01-01", None, "2026-01-01", None)
    answer = build_answer(("Porto", [build_belief(tiny)]), ("Lisbon", [build_belief(lisbon)]))
    assert list_texts(draw(answer).boxes) == ["Lisbon"]


def test_the_same_is_told_in_words() -> None:
    assert draw(build_late_arrival()).sentences == [
        "Since 5 Jan 2024 believed: “Porto” from 1 Jan 2024.",
        "Since 1 Feb 2026 believed: “Porto” from 1 Jan 2024 until 1 Jan 2026; "
        "“Lisbon” from 1 Jan 2026.",
        "Since 1 Sep 2026 believed: “Porto” from 1 Jan 2024 until 1 Jun 2025; "
        "“Braga” from 1 Jun 2025 until 1 Jan 2026; “Lisbon” from 1 Jan 2026.",
    ]


@pytest.mark.parametrize("build", [build_late_arrival, lambda: build_long_chain(2)])
def test_a_drawing_of_few_versions_fits_on_a_phone(build: Callable[[], dict[str, Any]]) -> None:
    drawing = draw_chain(build(), NOW, NOW, NARROW)
    assert drawing.width <= 328
    assert drawing.boxes[-1].x + drawing.boxes[-1].width <= drawing.width
    assert [tick.ends_there for tick in drawing.valid_ticks if tick.at > drawing.width - 60] in (
        [],
        [True],
    )


def test_what_always_held_opens_to_the_left() -> None:
    always = build_belief(("0001-01-01T00:00:00Z", "2026-01-01", "2026-01-01", None))
    drawing = draw(build_answer(("Porto", [always])))
    [box] = drawing.boxes
    assert box.opens_left
    assert "always until 1 Jan 2026" in box.words
    assert name_day(datetime(1, 1, 1, tzinfo=UTC)) == "always"


@pytest.mark.parametrize("text", ["x" * 16_000, "\u202egnp.exe", "e\u0301" * 5000, "", "  ", None])
def test_hostile_texts_stay_in_their_boxes(text: str | None) -> None:
    for box in draw(build_answer((text, build_late_arrival()["versions"][0]["beliefs"]))).boxes:
        assert sum(map(len, box.lines)) <= 1000
        assert "\u202e" not in "".join(box.lines) + box.words
        assert len(box.lines) * 16 <= box.height + 16


def test_nothing_believed_is_an_empty_drawing() -> None:
    assert draw(build_answer()).boxes == []
