"""PDF: reading order, running heads, hyphens, headings; every passage verbatim, with its boxes."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from printed import MARGIN, columns, pdf, set_lines, words
from reportlab.pdfgen.canvas import Canvas

from proofstone.documents.passages import Cutter, lay_out
from proofstone.documents.pdf import PdfFile, PdfPage
from proofstone.errors import BadInput


def pages_of(path: Path) -> list[PdfPage]:
    with PdfFile(path, path.name) as file:
        return list(file.pages())


def text_of(page: PdfPage) -> str:
    return lay_out(page.blocks).text


def check_verbatim(pages: list[PdfPage]) -> int:
    """Every passage stands at its offsets and on its lines; returns how many there are."""
    cutter, n = Cutter(), 0
    for page in pages:
        made = lay_out(page.blocks)
        for cut in cutter.cut(page.blocks, made.starts):
            text = made.text[cut.start : cut.end]
            assert text
            assert text == text.strip()
            boxes = made.layout.boxes(cut.start, cut.end)
            assert boxes
            for box in boxes:
                assert -2 <= box.left < box.right <= page.width + 2
                assert -2 <= box.top < box.bottom <= page.height + 2
            n += 1
    return n


@pytest.mark.parametrize("n", [2, 3])
def test_columns_are_read_one_after_the_other(tmp_path: Path, n: int) -> None:
    """Set row by row across the columns, and read down each: every word is in its place."""
    text = words(300)
    (page,) = pages_of(pdf(tmp_path / "x.pdf", [lambda canvas: columns(canvas, text, n=n)]))
    assert text_of(page).split() == text
    assert check_verbatim([page]) >= 1


def test_a_line_across_both_columns_divides_them(tmp_path: Path) -> None:
    """What stands above it is read first, both columns, then the line, then what is below."""
    above, below = words(120), words(120, seed=500)
    title = "A title that goes across the whole width of the page and over both of its columns, yes"

    def draw(canvas: Canvas) -> None:
        columns(canvas, above, top=100)
        set_lines(canvas, [title], top=330, size=12)
        columns(canvas, below, top=370)

    (page,) = pages_of(pdf(tmp_path / "x.pdf", [draw]))
    assert text_of(page).split() == [*above, *title.split(), *below]


def test_running_heads_and_page_numbers_go_and_nothing_else(tmp_path: Path) -> None:
    """Heads that alternate, numbers at the foot, and text that begins with a number stays."""

    def draw(number: int) -> object:
        def page(canvas: Canvas) -> None:
            head = "The Theory of Glass" if number % 2 else f"Chapter {number // 10}"
            set_lines(canvas, [head], top=50, size=9)
            set_lines(canvas, [f"{number * 7} grams were {word}" for word in words(5, number * 9)])
            set_lines(canvas, [str(number + 4)], left=290, top=800)

        return page

    pages = pages_of(pdf(tmp_path / "x.pdf", [draw(n) for n in range(1, 31)]))  # type: ignore[misc]
    for number, page in enumerate(pages, start=1):
        expected = [f"{number * 7} grams were {word}" for word in words(5, number * 9)]
        assert text_of(page).split() == " ".join(expected).split()


def test_text_that_ends_in_numbers_at_the_top_of_pages_stays(tmp_path: Path) -> None:
    """Numbers that count along by chance, at other heights, make no running head."""

    def draw(number: int) -> object:
        def page(canvas: Canvas) -> None:
            set_lines(canvas, ["A Book", "of Metals"], top=40, size=9)
            top = 90.0 + 5 * (number * 7 % 11)
            set_lines(
                canvas, [f"{word} in step {number}" for word in words(4, number * 3)], top=top
            )

        return page

    pages = pages_of(pdf(tmp_path / "x.pdf", [draw(n) for n in range(1, 20)]))  # type: ignore[misc]
    for number, page in enumerate(pages, start=1):
        expected = " ".join(f"{word} in step {number}" for word in words(4, number * 3))
        assert text_of(page).split() == expected.split()


def test_a_hyphen_at_a_lines_end_goes_where_the_word_is_known_without_it(tmp_path: Path) -> None:
    """A word that stands whole elsewhere, a compound that stands hyphened elsewhere, and one never
    seen, which is taken to be cut."""
    lines = [
        "The temperature of a well-known alloy is a matter of tempera-",
        "ture and of pressure, and it is a matter that is well-",
        "known to all who work with cry-",
        "ogenic vessels and who like the work.",
    ]
    (page,) = pages_of(pdf(tmp_path / "x.pdf", [lambda canvas: set_lines(canvas, lines)]))
    assert text_of(page) == (
        "The temperature of a well-known alloy is a matter of temperature and of pressure, and it "
        "is a matter that is well-known to all who work with cryogenic vessels and who like the "
        "work."
    )


def test_headings_by_type_make_the_path_of_what_follows(tmp_path: Path) -> None:
    """Larger type and numbers give the levels."""
    body = " ".join(words(60)).split(" ")

    def draw(canvas: Canvas) -> None:
        top = set_lines(canvas, ["2 Glass and its makers"], size=18, font="Times-Bold") + 10
        top = set_lines(canvas, [" ".join(body[:12]), " ".join(body[12:24])], top=top) + 14
        top = set_lines(canvas, ["2.1 Soda"], top=top, size=13, font="Times-Bold") + 8
        set_lines(canvas, [" ".join(body[24:36]), " ".join(body[36:48])], top=top)

    (page,) = pages_of(pdf(tmp_path / "x.pdf", [draw]))
    made = lay_out(page.blocks)
    cuts = list(Cutter().cut(page.blocks, made.starts))
    assert [cut.path for cut in cuts] == [
        ((1, "2 Glass and its makers"),),
        ((1, "2 Glass and its makers"), (2, "2.1 Soda")),
    ]
    assert made.text[cuts[0].start : cuts[0].end].split() == body[:24]


def test_paragraphs_by_their_indent_are_apart_and_a_table_keeps_its_rows(tmp_path: Path) -> None:
    """An indented first line begins a paragraph; rows of cells stay rows."""

    def draw(canvas: Canvas) -> None:
        line = "word " * 17 + "and more text to the edge."
        top = set_lines(canvas, [line, line])
        top = set_lines(canvas, [line[8:]], top=top, left=MARGIN + 20)
        top = set_lines(canvas, [line], top=top) + 20
        for row in (
            ("Metal", "Melts at", "Weighs"),
            ("Tin", "232", "7.3"),
            ("Lead", "327", "11.3"),
        ):
            for place, cell in enumerate(row):
                set_lines(canvas, [cell], left=MARGIN + 120 * place, top=top)
            top += 12

    (page,) = pages_of(pdf(tmp_path / "x.pdf", [draw]))
    assert [block.kind for block in page.blocks] == ["text", "text", "table"]
    assert page.blocks[-1].text == "Metal | Melts at | Weighs\nTin | 232 | 7.3\nLead | 327 | 11.3"


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_reads_the_same_and_its_boxes_stand_as_displayed(
    tmp_path: Path, turn: int
) -> None:
    """Rotation of the page changes where the boxes are, and no word."""
    text = words(60)
    path = pdf(tmp_path / "x.pdf", [lambda canvas: columns(canvas, text, n=1)])
    document = pypdfium2.PdfDocument(path)
    document[0].set_rotation(turn)
    document.save(tmp_path / "turned.pdf")
    document.close()
    (page,) = pages_of(tmp_path / "turned.pdf")
    assert text_of(page).split() == text
    assert check_verbatim([page]) == 1
    assert (page.width > page.height) == (turn in {90, 270})


def test_what_is_no_pdf_is_said_to_be_none(tmp_path: Path) -> None:
    """Damaged, empty and cut off."""
    good = pdf(tmp_path / "good.pdf", [lambda canvas: columns(canvas, words(20), n=1)])
    for name, data in {
        "empty.pdf": b"",
        "text.pdf": b"This is no PDF at all.",
        "cut.pdf": good.read_bytes()[:300],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=f"{name} is damaged, has no pages, or is not a PDF"):
            PdfFile(tmp_path / name, name)
