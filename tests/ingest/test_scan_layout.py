"""Lines found in an image become a page as print does, wherever and however it lies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.documents.ocr import OcrLine, printed_from
from proofstone.documents.pdf import blocks_on
from proofstone.documents.pdf_blocks import Mender
from proofstone.documents.pdf_lines import Style
from proofstone.records.pages import Box, Mark, PageLayout, PlacedLine, pack_layout, unpack_layout

WIDTH, HEIGHT = 600.0, 800.0
PIXELS = (1600, 1200)  # two a point
STYLE = Style(10.0)


def found(
    text: str, left: float, top: float, *, height: float = 28.0, sure: float = 1.0
) -> OcrLine:
    """A line of ten pixels a character."""
    right, bottom = left + 10.0 * len(text), top + height
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    return OcrLine(text, sure, corners)


PARAGRAPH = [
    found(
        "Copper melts at a temperature of 1085 degrees when it is heated in a kiln and tem-",
        100,
        200,
    ),
    found(
        "pered iron at 1538. Tin, which is the third metal of the table, melts at a mere 232",
        100,
        234,
    ),
    found("degrees.", 100, 268),
]


def blocks(lines: list[OcrLine], turns: int = 0) -> list[tuple[str, str]]:
    page = printed_from(lines, turns, PIXELS, WIDTH, HEIGHT)
    usual = max(page.segments, key=lambda segment: len(segment.text)).size
    found = blocks_on(page, set(), Style(usual), {}, Mender())
    return [(block.kind, block.text) for block in found]


def test_lines_are_joined_to_paragraphs_and_cut_words_mended() -> None:
    assert blocks([found("Melting points", 100, 100, height=44), *PARAGRAPH]) == [
        ("heading", "Melting points"),
        (
            "text",
            "Copper melts at a temperature of 1085 degrees when it is heated in a kiln and "
            "tempered iron at 1538. Tin, which is the third metal of the table, melts at a mere "
            "232 degrees.",
        ),
    ]


def test_heights_that_tremble_are_one_size_and_a_formula_is_no_heading() -> None:
    trembling = [
        line._replace(corners=line.corners + np.array([[0, 0], [0, 0], [0, shake], [0, shake]]))
        for line, shake in zip(PARAGRAPH, (0, 4, -4), strict=True)
    ]
    lines = [*trembling, found("x = y + 2z", 400, 330, height=50)]
    assert [kind for kind, _text in blocks(lines)] == ["text", "equation"]


@pytest.mark.parametrize("degrees", [-3.0, -1.0, 0.5, 2.0])
def test_a_page_that_lies_askew_reads_the_same(degrees: float) -> None:
    turn = np.radians(degrees)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    centre = np.array([600.0, 800.0])
    askew = [line._replace(corners=(line.corners - centre) @ matrix + centre) for line in PARAGRAPH]
    assert blocks(askew) == blocks(PARAGRAPH)
    page = printed_from(askew, 0, PIXELS, WIDTH, HEIGHT)
    (block,) = blocks_on(page, set(), STYLE, {}, Mender())
    for line, own in zip(block.lines, askew, strict=True):  # the boxes are those of the askew page
        (left, top), (right, bottom) = own.corners.min(axis=0) / 2, own.corners.max(axis=0) / 2
        assert line.box.left <= left + 1
        assert line.box.top <= top + 1
        assert line.box.right >= right - 1
        assert line.box.bottom >= bottom - 1


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_page_that_was_turned_to_be_read_has_its_boxes_as_displayed(turns: int) -> None:
    """Lines found in the turned image stand where the print is on the page as it lies."""
    shown = np.zeros((1200, 1600) if turns % 2 else PIXELS, dtype=int)
    shown[40:60, 100:900] = 1  # a line in the image after the turn
    before = np.rot90(shown, -turns)
    rows, columns = np.nonzero(before)
    line = found("a" * 80, 100, 40, height=20)
    width, height = before.shape[1] / 2, before.shape[0] / 2
    page = printed_from([line], turns, before.shape, width, height)
    (block,) = blocks_on(page, set(), STYLE, {}, Mender())
    expected = (columns.min() / 2, rows.min() / 2, (columns.max() + 1) / 2, (rows.max() + 1) / 2)
    assert tuple(block.lines[0].box) == pytest.approx(expected)


def test_columns_are_read_one_after_the_other() -> None:
    left = [found("the left column has lines of text", 100, 200 + 34 * k) for k in range(8)]
    right = [found("and so has the one on its right side", 640, 200 + 34 * k) for k in range(8)]
    together = [line for pair in zip(left, right, strict=True) for line in pair]
    (_kind, text), *_others = blocks(together)
    assert text.index("and so") > text.rindex("the left")


sides = st.tuples(st.floats(0, 600), st.floats(0, 800), st.floats(0, 600), st.floats(0, 800))


@given(
    rows=st.lists(st.tuples(st.integers(1, 40), sides, st.floats(0, 1)), max_size=6),
    marks=st.lists(sides, max_size=3),
)
def test_a_layout_is_packed_with_its_confidences_and_without_where_all_are_sure(
    rows: list[tuple[int, tuple[float, float, float, float], float]],
    marks: list[tuple[float, float, float, float]],
) -> None:
    lines, at = [], 0
    for n, box, sure in rows:
        lines.append(PlacedLine(at, at + n, Box(*box), sure))
        at += n
    layout = PageLayout(tuple(lines), tuple(Mark("table", 0, at, Box(*box)) for box in marks))
    packed = pack_layout(layout, WIDTH, HEIGHT)
    again = unpack_layout(packed, WIDTH, HEIGHT)
    assert [line[:2] for line in again.lines] == [line[:2] for line in lines]
    for line, before in zip(again.lines, lines, strict=True):
        assert line.confidence == pytest.approx(before.confidence, abs=0.5 / 255)
        assert line.box == pytest.approx(before.box, abs=0.02)
    assert len(again.marks) == len(marks)
    n_bytes = 4 + 16 * len(lines) + 17 * len(marks)
    is_unsure = any(line.confidence < 1 for line in lines)
    assert len(packed) == (n_bytes + len(lines) * is_unsure if lines or marks else 0)
    total = sum(n * sure for n, _box, sure in rows) / at if at else 1.0
    assert again.confidence(0, at) == pytest.approx(total, abs=0.5 / 255)


def test_confidence_counts_the_characters_of_a_stretch() -> None:
    box = Box(0, 0, 1, 1)
    layout = PageLayout((PlacedLine(0, 10, box, 0.9), PlacedLine(11, 41, box, 0.5)))
    assert layout.confidence(0, 41) == pytest.approx((10 * 0.9 + 30 * 0.5) / 40)
    assert layout.confidence(6, 13) == pytest.approx((4 * 0.9 + 2 * 0.5) / 6)
    assert layout.confidence(41, 50) == 1.0
