"""PDFs made for tests, with known text at known places."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

__all__ = ["A4", "MARGIN", "WORDS", "columns", "one_page", "pdf", "raw_pdf", "set_lines", "words"]

MARGIN = 72.0
_TEXT = (
    "water carries heat from the oven to the glass while copper bends under load and light "
    "passes through thin plates of mica without any loss that could be measured by hand"
)
WORDS = tuple(_TEXT.split())


def words(n: int, seed: int = 0) -> list[str]:
    """``n`` words, each ending in its number, so that their order can be told."""
    return [f"{WORDS[(seed + k) % len(WORDS)]}{seed + k}" for k in range(n)]


def pdf(path: Path, pages: Iterable[Callable[[Canvas], None]], **options: object) -> Path:
    """A PDF whose pages are drawn one after the other."""
    canvas = Canvas(str(path), pagesize=options.pop("pagesize", A4), **options)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def set_lines(
    canvas: Canvas,
    lines: Sequence[str],
    *,
    left: float = MARGIN,
    top: float = 100.0,
    size: float = 10.0,
    leading: float = 12.0,
    font: str = "Times-Roman",
    height: float = A4[1],
) -> float:
    """Sets lines one below the other, ``top`` points from the top; where the next would stand."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(left, height - top, line)
        top += leading
    return top


def columns(
    canvas: Canvas, text: Sequence[str], *, n: int = 2, top: float = 100.0, bottom: float = 700.0
) -> None:
    """Sets words into ``n`` columns, row by row across all columns, so that the order of the file
    is not that of reading."""
    gap, size = 18.0, 10.0
    width = (A4[0] - 2 * MARGIN - (n - 1) * gap) / n
    rows = broken(canvas, text, width, size)
    deep = -(-len(rows) // n)
    assert top + deep * 12 <= bottom + 12
    canvas.setFont("Times-Roman", size)
    for row in range(deep):
        for column in range(n):
            place = column * deep + row
            if place < len(rows):
                left = MARGIN + column * (width + gap)
                canvas.drawString(left, A4[1] - top - 12 * row, rows[place])


def broken(canvas: Canvas, text: Sequence[str], width: float, size: float) -> list[str]:
    """Words in lines of a width."""
    rows, line = [], ""
    for word in text:
        longer = f"{line} {word}".strip()
        if canvas.stringWidth(longer, "Times-Roman", size) > width:
            rows.append(line)
            longer = word
        line = longer
    return [*rows, line]


def as_bytes(draw: Callable[[Canvas], None]) -> bytes:
    """A PDF of one page in memory."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def raw_pdf(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, the first of which is the catalogue."""
    out, places = b"%PDF-1.5\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    n = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (n, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % n + table + trailer


def one_page(content: bytes, *, box: bytes = b"0 0 595 842", packed: bool = False) -> bytes:
    """A PDF of one page with this content stream."""
    how = b" /Filter /FlateDecode" if packed else b""
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>" % box,
            b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), how, content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )
