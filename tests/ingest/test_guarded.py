"""Whatever a file does to its reader, there is an answer, and the next file is read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from printed import columns, one_page, pdf, raw_pdf, set_lines, words

from proofstone.documents.reader import (
    PART,
    GuardedReader,
    Job,
    Opened,
    PageRead,
    ReadEvent,
    ReadLimits,
    Refused,
)

LIMITS = ReadLimits(memory_bytes=800 * 2**20, open_s=60, page_s=30)
GOOD = b"BT /F1 12 Tf 72 700 Td (Copper melts at 1085 degrees, and tin at 232.) Tj ET"


def read(*paths: Path, limits: ReadLimits = LIMITS, n: int = 1) -> list[list[ReadEvent]]:
    """The answers to each file."""
    found: list[list[ReadEvent]] = [[] for _ in paths]
    with GuardedReader(limits, n) as reader:
        for place, event in reader.read([Job(path=str(path)) for path in paths]):
            found[place].append(event)
    return found


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_each_bad_file_has_its_answer_and_the_last_one_is_read(tmp_path: Path) -> None:
    """Encrypted, damaged, without pages, no file, unknown, not text, packed without end."""
    secret = pdf(
        tmp_path / "secret.pdf", [lambda canvas: columns(canvas, words(9), n=1)], encrypt="secret"
    )
    no_pages = raw_pdf(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"]
    )
    written(tmp_path, "bomb.txt.gz", 9 * gzip.compress(bytes(2**26), 1))
    with (tmp_path / "huge.html").open("wb") as file:
        file.truncate(200 * 2**20)
    answers = read(
        secret,
        written(tmp_path, "damaged.pdf", b"%PDF-1.7\n" + bytes(500)),
        written(tmp_path, "none.pdf", no_pages),
        written(tmp_path, "latin.txt", "caf\xe9\n".encode("latin-1")),
        tmp_path / "bomb.txt.gz",
        tmp_path / "huge.html",
        written(tmp_path, "odd.xyz", b"x"),
        tmp_path / "absent.md",
        written(tmp_path, "good.pdf", one_page(GOOD)),
        n=2,
    )
    refused = [events[-1] for events in answers[:-1]]
    assert [event.message for event in refused if isinstance(event, Refused)] == [
        "secret.pdf is encrypted and opens only with a password",
        "damaged.pdf is damaged, has no pages, or is not a PDF",
        "none.pdf is damaged, has no pages, or is not a PDF",
        f"{tmp_path / 'latin.txt'} has 1 problem; nothing was imported",
        "bomb.txt.gz needs more memory than is allowed",
        "huge.html has 209,715,200 bytes; the limit for HTML is 33,554,432",
        'odd.xyz: unsupported suffix ".xyz"',
        f"file not found: {tmp_path / 'absent.md'}",
    ]
    opened, page = answers[-1]
    assert isinstance(opened, Opened)
    assert isinstance(page, PageRead)
    assert page.text == "Copper melts at 1085 degrees, and tin at 232."


def test_a_page_that_takes_too_much_memory_is_unread_and_the_next_file_is_read(
    tmp_path: Path,
) -> None:
    """A content stream of two megabytes that unpacks to more than is allowed."""
    packer = zlib.compressobj(1)
    part = packer.compress(b" " * 2**22) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * 2**22) + packer.flush(zlib.Z_FULL_FLUSH)  # stands for itself
    bomb = written(tmp_path, "bomb.pdf", one_page(part + 250 * again, packed=True))
    good = written(tmp_path, "good.pdf", one_page(GOOD))
    first, second = read(bomb, good)
    page = first[-1]
    assert isinstance(page, PageRead | Refused)
    if isinstance(page, PageRead):
        assert page.text == ""
    assert isinstance(second[-1], PageRead)
    assert second[-1].text.startswith("Copper")


def test_a_page_that_takes_too_long_is_unread_and_those_behind_it_are_read(
    tmp_path: Path,
) -> None:
    """The reader is ended, the page says why, and the others have their text."""
    slow = b"q 1 0 0 1 0 0 cm BT /F1 1 Tf (x) Tj ET Q\n" * 2_000_000
    packed = zlib.compress(slow, 1)
    font = b"<< /Font << /F1 4 0 R >> >>"
    kids = b" ".join(b"%d 0 R" % (5 + 2 * k) for k in range(3))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 3 >>" % kids,
        b"<< >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for k in range(3):
        content = packed if k == 1 else zlib.compress(GOOD.replace(b"tin", b"tin" + b"ned " * k))
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources %s >>" % (6 + 2 * k, font),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
            % (len(content), content),
        ]
    path = written(tmp_path, "slow.pdf", raw_pdf(objects))
    limits = ReadLimits(memory_bytes=3 * 2**30, open_s=60, page_s=1)  # of about 3 seconds
    (answers,) = read(path, limits=limits)
    pages = [event for event in answers if isinstance(event, PageRead)]
    assert [page.number for page in pages] == [1, 2, 3]
    assert pages[0].text.startswith("Copper")
    assert pages[2].text.startswith("Copper")
    assert pages[1].text == ""
    assert pages[1].reason in {"too slow", "too large", "broken"}


def test_a_page_of_any_size_has_its_boxes(tmp_path: Path) -> None:
    """An enormous page is read like another: nothing is drawn."""
    box = b"0 0 99999999 99999999"
    (answers,) = read(written(tmp_path, "wide.pdf", one_page(GOOD, box=box)))
    page = answers[-1]
    assert isinstance(page, PageRead)
    assert page.text.startswith("Copper")


def test_a_long_pdf_is_read_in_parts_as_if_it_were_one(tmp_path: Path) -> None:
    """Headings go over the seams between parts; the number of processes changes nothing."""

    def draw(number: int) -> object:
        def page(canvas: object) -> None:
            top = 100.0
            if number % 40 == 1:
                top = set_lines(canvas, [f"{number // 40 + 1} Part"], size=18, top=90) + 20  # type: ignore[arg-type]
            set_lines(canvas, [" ".join(words(12, number * 7 + number // 5)) + "."], top=top)  # type: ignore[arg-type]

        return page

    n_pages = 2 * PART + 10
    path = pdf(tmp_path / "long.pdf", [draw(k) for k in range(1, n_pages + 1)])  # type: ignore[misc]
    (one,) = read(path, n=1)
    (two,) = read(path, n=2)
    assert one == two
    pages = [event for event in one if isinstance(event, PageRead)]
    assert [page.number for page in pages] == list(range(1, n_pages + 1))
    for page in pages:
        number = page.number or 0
        (cut,) = page.cuts
        assert cut[2] == ((1, f"{(number - 1) // 40 + 1} Part"),)
        assert page.text[cut[0] : cut[1]] == " ".join(words(12, number * 7 + number // 5)) + "."


@pytest.mark.slow
def test_five_thousand_pages_are_read(tmp_path: Path) -> None:
    """One after the other, none missing."""

    def draw(canvas: object) -> None:
        canvas.drawString(72, 700, "A page of many, with a few words on it.")  # type: ignore[attr-defined]

    path = pdf(tmp_path / "many.pdf", [draw] * 5_000)
    (answers,) = read(path, n=2)
    pages = [event for event in answers if isinstance(event, PageRead)]
    assert [page.number for page in pages] == list(range(1, 5_001))
    assert not any(page.reason for page in pages)
