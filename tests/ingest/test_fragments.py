"""No false columns, no accents out of quotes, and no passages out of contents, heads or crumbs."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingest.printed import A4, pdf, set_lines, words
from proofstone.documents.passages import Block, Cutter
from proofstone.records.pages import MarkKind

pytest.importorskip("pypdfium2", reason="needs the extra [pdf]")

from ingest.test_pdf import pages_of, text_of

LONG = "Bronze is an alloy of copper and tin that was known early." * 3


def passages(*blocks: tuple[MarkKind, str]) -> list[str]:
    """The passages of a page of these blocks, which stand where they say."""
    made = [Block(kind, text, level=1 if kind == "heading" else 0) for kind, text in blocks]
    text = "\n\n".join(block.text for block in made)
    starts = [0, *accumulate(len(block.text) + 2 for block in made)][: len(made)]
    cuts = list(Cutter().cut(made, starts))
    assert all(a.end <= b.start for a, b in pairwise(cuts))
    return [text[cut.start : cut.end] for cut in cuts]


def test_a_table_below_prose_in_two_fonts_is_no_pair_of_columns(tmp_path: Path) -> None:
    """Each line of prose changes its font: every second one where the table has its gap, so that no
    piece of that line goes across; the others on both sides of it."""
    said = [words(16, 20 * n) for n in range(9)]

    def draw(canvas: Canvas) -> None:
        for n, line in enumerate(said):
            left, breaks = 60.0, (8, 16, 16) if n % 2 else (6, 10, 16)
            for first, last, font in zip(
                (0, *breaks), breaks, ("Times-Roman", "Helvetica", "Times-Roman"), strict=False
            ):
                text = " ".join(line[first:last])
                canvas.setFont(font, 8)
                canvas.drawString(left, A4[1] - 90 - 12 * n, text)
                left += canvas.stringWidth(text, font, 8) + 2.5
        for n in range(12):
            top = 230 + 12 * n
            set_lines(canvas, [f"System calls of kind {n}, which all programs make"], top=top,
                      left=60, size=9)  # fmt: skip
            set_lines(canvas, [f"Functions that the kernel gives to others {n}"], top=top,
                      left=305, size=9)  # fmt: skip

    (page,) = pages_of(pdf(tmp_path / "x.pdf", [draw]))
    text = " ".join(text_of(page).split())
    for line in said:
        assert " ".join(line) in text


def test_an_opening_quote_beside_a_letter_is_no_accent(tmp_path: Path) -> None:
    """Two graves side by side, and one before a letter, with type that is set close; an accent over
    its letter stays one."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Courier", 10)
        left = 72.0
        for character in "say ``hello'' to `them' aloud":
            canvas.drawString(left, 700, character)
            left += 5.9
        canvas.drawString(72, 650, "e")
        canvas.drawString(72.2, 650, "`")
        canvas.drawString(78, 650, "t")

    (page,) = pages_of(pdf(tmp_path / "x.pdf", [draw]))
    text = text_of(page)
    assert "``hello'' to `them' aloud" in " ".join(text.split())
    assert "\u0300" not in text
    assert "\u00e8t" in text


def test_heads_that_name_a_chapter_and_each_section_are_no_text(tmp_path: Path) -> None:
    def draw(number: int) -> object:
        def page(canvas: Canvas) -> None:
            head = f"CHAPTER {number // 9 + 1}. METALS {number}. {words(1, number * 5)[0].upper()}"
            set_lines(canvas, [head], top=50, size=9)
            set_lines(canvas, [" ".join(words(9, number * 90 + 9 * k)) for k in range(9)], top=85)

        return page

    pages = pages_of(pdf(tmp_path / "x.pdf", [draw(n) for n in range(20)]))  # type: ignore[misc]
    assert not [page for page in pages if "CHAPTER" in text_of(page)]


def test_short_pieces_go_to_a_neighbour_under_their_heading() -> None:
    found = passages(
        ("heading", "Bronze"), ("text", LONG), ("table", "a | b\nc | d"), ("heading", "Tin"),
        ("text", "x = y"), ("heading", "Lead"), ("text", "Lead is soft and heavy."),
        ("heading", "Zinc"), ("text", LONG), ("note", "¹⁴[120, chapter 2]"),
    )  # fmt: skip
    assert found == [f"{LONG}\n\na | b\nc | d", "Lead is soft and heavy.", LONG]
    assert passages(("text", "x = y")) == ["x = y"]


def test_a_page_of_contents_has_no_passage() -> None:
    """With leaders, whatever stands between; without them, under a heading that says so."""
    leaders = "1 Bronze . . . . . . . . 3\n2 Tin . . . . . . . . . . 9\n3 Lead . . . . . . . 12"
    assert passages(("heading", "Contents"), ("contents", leaders), ("text", "CONTENTS v")) == []
    assert passages(("heading", "目录"), ("text", "第一章 青铜 3\n第二章 锡 9")) == []
    assert passages(("heading", "Contents"), ("text", LONG)) == [LONG]
