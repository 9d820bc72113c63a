"""Pages that are images are read with their boxes; what cannot be read keeps nothing else away."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from printed import A4, pdf, set_lines
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from proofstone.documents.folders import find_files
from proofstone.documents.reader import (
    OCR_LIMITS,
    OCR_READER,
    Draw,
    Drawn,
    GuardedReader,
    Job,
    Opened,
    PageRead,
    ReadEvent,
    ReadLimits,
    Refused,
    is_ocr_installed,
)
from proofstone.records.pages import Box, unpack_layout

Image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
pypdfium2 = pytest.importorskip("pypdfium2", reason="needs the extra [ocr]")
pytestmark = pytest.mark.skipif(not is_ocr_installed(), reason="needs the extra [ocr]")

TEXT = [
    "Copper melts at 1085 degrees and tin at 232.",
    "Their alloy, bronze, melts at about 950 degrees,",
    "which made it the first metal to be cast in moulds.",
]
WIDE = stringWidth(TEXT[0], "Times-Roman", 12)


def read(*jobs: Job, limits: ReadLimits = OCR_LIMITS) -> list[list[ReadEvent]]:
    found: list[list[ReadEvent]] = [[] for _ in jobs]
    with GuardedReader(limits, 1) as reader:
        for place, event in reader.read(jobs):
            found[place].append(event)
    return found


def printed(folder: Path) -> Any:
    """A page of three lines as an image of 150 dots an inch."""

    def draw(canvas: Canvas) -> None:
        set_lines(canvas, TEXT, height=200, top=60, left=20, size=12, leading=16)

    source = pdf(folder / "print.pdf", [draw], pagesize=(400, 200))
    with pypdfium2.PdfDocument(source) as document:
        return document[0].render(scale=150 / 72).to_pil()


def read_whole(page: ReadEvent, width: float, height: float) -> Box:
    """Checks a page that was read from a picture of the three lines; the box of the first."""
    assert isinstance(page, PageRead)
    assert page.text == " ".join(TEXT)
    assert (page.reader, page.reason, page.number) == (OCR_READER, "", 1)
    assert (page.width, page.height) == pytest.approx((width, height), abs=0.5)
    layout = unpack_layout(page.layout, page.width, page.height)
    assert len(layout.lines) == 3
    assert 0.9 < layout.confidence(0, len(page.text)) < 1
    return layout.lines[0].box


def test_an_image_is_read_verbatim_with_its_boxes(tmp_path: Path) -> None:
    printed(tmp_path).save(tmp_path / "shot.png", dpi=(150, 150))
    ((page,),) = read(Job(path=str(tmp_path / "shot.png"), scan=(1,)))
    box = read_whole(page, 400, 200)
    assert list(box) == pytest.approx([20, 50, 20 + WIDE, 64], abs=6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "box"),
    [
        (90, [50, 400 - 20 - WIDE, 64, 380]),
        (180, [380 - WIDE, 136, 380, 150]),
        (270, [136, 20, 150, 20 + WIDE]),
    ],
)
def test_an_image_that_lies_on_its_side_reads_the_same(
    tmp_path: Path, turn: int, box: list[float]
) -> None:
    """Its boxes are those of the image as it lies."""
    printed(tmp_path).rotate(turn, expand=True).save(
        tmp_path / "side.jpg", dpi=(150, 150), quality=90
    )
    ((page,),) = read(Job(path=str(tmp_path / "side.jpg"), scan=(1,)))
    sides = (200, 400) if turn % 180 else (400, 200)
    assert list(read_whole(page, *sides)) == pytest.approx(box, abs=6)


def test_an_image_file_says_its_pages_and_reads_none_before_it_is_scanned(tmp_path: Path) -> None:
    pages = [Image.new("1", (850, 1100), 1), Image.new("RGBA", (425, 550))]
    pages[0].save(tmp_path / "two.tiff", save_all=True, append_images=pages[1:], dpi=(100, 100))
    (tmp_path / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    two, bad = read(
        Job(path=str(tmp_path / "two.tiff")), Job(path=str(tmp_path / "bad.png"), scan=(1,))
    )
    assert two[0] == Opened(title="two", language="", n_pages=2)
    assert [(page.number, page.reason, page.text) for page in two[1:]] == [
        (1, "image only", ""),
        (2, "image only", ""),
    ]
    assert two[1].width == pytest.approx(72 * 850 / 100)
    assert [event.message for event in bad if isinstance(event, Refused)] == [
        "bad.png is damaged, or not a PNG, JPEG, TIFF or WebP image"
    ]


@pytest.mark.slow
def test_a_page_that_takes_too_long_to_scan_is_unread_and_the_next_is_read(tmp_path: Path) -> None:
    path = pdf(tmp_path / "blank.pdf", [lambda _canvas: None] * 2)
    (events,) = read(
        Job(path=str(path), scan=(1, 2)),
        limits=ReadLimits(memory_bytes=OCR_LIMITS.memory_bytes, page_s=1e-6),
    )
    assert [(e.number, e.reason) for e in events if isinstance(e, PageRead)] == [
        (1, "too slow"),
        (2, "too slow"),
    ]


def test_a_page_is_drawn_with_marks_masks_and_as_a_part(tmp_path: Path) -> None:
    """Of a black page: what is kept is black, the rest paper; marks tint; a crop has its size."""

    def black(canvas: Canvas) -> None:
        canvas.rect(0, 0, *A4, fill=1)

    path = str(pdf(tmp_path / "black.pdf", [black]))
    box = Box(100, 200, 200, 300)
    draws = (
        Draw(page=1, dpi=72, keep=(box,)),
        Draw(page=1, dpi=72, marks=(box,)),
        Draw(page=1, dpi=144, crop=box),
        Draw(page=2, dpi=72),
    )
    answers = read(*(Job(path=path, draw=draw) for draw in draws))
    kept, marked, crop = (
        np.asarray(Image.open(io.BytesIO(events[0].png)))
        for events in answers[:3]
        if isinstance(events[0], Drawn)
    )
    assert kept.shape == (842, 596, 3)
    assert not kept[210:290, 110:190].any()
    assert (kept[:190] == 255).all()
    assert marked[198:202, 150].any()  # its edge
    assert not marked[400, 300].any()
    assert crop.shape == (2 * 103, 2 * 103, 3)  # 1.5 points around it
    assert [event.message for event in answers[3] if isinstance(event, Refused)] == [
        "page 2 does not exist: the document has 1"
    ]


def test_images_beside_texts_are_their_figures_and_no_documents(tmp_path: Path) -> None:
    for name in ("book/a.html", "book/images/fig.png", "scans/p1.png", "scans/p2.tif", "x.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = find_files([tmp_path])
    assert [file.inside for file in found.files] == [
        "x.pdf", "book/a.html", "scans/p1.png", "scans/p2.tif",
    ]  # fmt: skip
    assert found.others == {".png": 1}
    assert len(find_files([tmp_path], figures=True).files) == 5
    named = find_files([tmp_path / "book" / "images" / "fig.png"])
    assert [file.inside for file in named.files] == ["fig.png"]
