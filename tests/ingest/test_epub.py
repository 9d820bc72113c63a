"""EPUB: chapters in reading order as blocks; encrypted, damaged and endless ones are refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from proofstone.documents.epub import MAX_PART, read_epub
from proofstone.documents.reader import GuardedReader, Job, Opened, PageRead, Refused
from proofstone.records.pages import unpack_layout

SAID = " ".join(["Copper melts at 1085 degrees and carries current better than tin."] * 4)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
<dc:title>On
 Metals</dc:title><dc:creator opf:role="aut">A. Founder</dc:creator>
<dc:creator>B. Smith</dc:creator>
<dc:creator opf:role="trl">C. Scribe</dc:creator><dc:date>2019-04-01</dc:date>
<dc:language>en-GB</dc:language></metadata>
<manifest><item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/chapter%20one.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="style.css" media-type="text/css"/></manifest>
<spine><itemref idref="one"/><itemref idref="two"/><itemref idref="css"/></spine></package>"""
ONE = f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html [<!ENTITY own "never">]>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>
<p><a href="two.xhtml">Tin, and how it is won</a></p>
<h1><a id="c1"/>Copper</h1><p>4&nbsp;m<sup>2</sup> &amp; more&own;. {SAID}</p>
<table><tr><th>Metal</th><th>Melts at</th></tr><tr><td>Tin</td><td>232</td></tr></table>
<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="E = mc^2"><mi>E</mi></math>
</body></html>"""
TWO = f"<html><body><h2>Tin<p>Not closed<br>at all. {SAID}<ul><li>white<li>grey</ul>"
PARTS = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": PACKAGE,
    "OEBPS/text/chapter one.xhtml": ONE,
    "OEBPS/text/two.xhtml": TWO,
}


def book(folder: Path, name: str = "book.epub", **changed: str | None) -> Path:
    """A book with some parts changed (by the end of their names), or left out where None."""
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for part, text in PARTS.items():
            new = next((changed[end] for end in changed if end in part), text)
            if new is not None:
                file.writestr(part, new)
        if "encryption" in changed:
            file.writestr("META-INF/encryption.xml", changed["encryption"] or "")
    return path


def test_chapters_become_blocks_in_reading_order(tmp_path: Path) -> None:
    """XHTML by its elements, and what is none as HTML; a contents of links is left out."""
    read = read_epub(book(tmp_path))
    assert [(block.kind, block.level, block.text) for block in read.blocks] == [
        ("heading", 1, "Copper"),
        ("text", 0, f"4 m² & more. {SAID}"),
        ("table", 0, "Metal | Melts at\nTin | 232"),
        ("text", 0, "E = mc^2"),
        ("heading", 2, "Tin"),
        ("text", 0, f"Not closed at all. {SAID}"),
        ("list", 0, "- white\n- grey"),
    ]
    assert (read.title, read.authors, read.year, read.language) == (
        "On Metals", ("A. Founder", "B. Smith"), 2019, "en",
    )  # fmt: skip


def test_a_book_is_read_in_a_process_of_its_own_and_its_passages_are_verbatim(
    tmp_path: Path,
) -> None:
    with GuardedReader(n_processes=1) as reader:
        (_, opened), (_, page) = reader.read([Job(path=str(book(tmp_path)))])
    assert opened == Opened(
        title="On Metals", language="en", authors=("A. Founder", "B. Smith"), year=2019
    )
    assert isinstance(page, PageRead)
    cuts = [(page.text[start:end], path) for start, end, path, _language in page.cuts]
    assert [path for _text, path in cuts] == [
        ((1, "Copper"),), ((1, "Copper"),), ((1, "Copper"), (2, "Tin")),
    ]  # fmt: skip
    assert cuts[1][0].startswith("Metal | Melts at\nTin | 232\n\n")
    marked = {mark.kind for mark in unpack_layout(page.layout, 0.0, 0.0).marks}
    assert marked == {"heading", "table", "list"}


def test_a_book_that_cannot_be_read_whole_is_refused_with_the_reason(tmp_path: Path) -> None:
    coded = '<e><CipherReference URI="OEBPS/text/two.xhtml"/></e>'
    bomb = "<html><p>" + "a " * (MAX_PART // 2) + "</p></html>"
    junk = tmp_path / "junk.epub"
    junk.write_bytes(b"PK\x03\x04" + bytes(500))
    whole = book(tmp_path, "cut.epub").read_bytes()
    (tmp_path / "cut.epub").write_bytes(whole[: len(whole) // 2])
    files = [
        junk,
        tmp_path / "cut.epub",
        book(tmp_path, "none.epub", container=None),
        book(tmp_path, "lost.epub", two=None),
        book(tmp_path, "secret.epub", encryption=coded),
        book(tmp_path, "bomb.epub", two=bomb),
        book(tmp_path, "odd.epub", opf="<package"),
        book(tmp_path, "empty.epub", one="<p/>", two="<h1>Tin</h1>"),
        tmp_path / "absent.epub",
    ]
    with GuardedReader(n_processes=1) as reader:
        answers = [event for _, event in reader.read([Job(path=str(file)) for file in files])]
    refused = [event for event in answers if isinstance(event, Refused)]
    assert [event.message.partition(" (")[0] for event in refused] == [
        "junk.epub is damaged, or not an EPUB",
        "cut.epub is damaged, or not an EPUB",
        "none.epub is not an EPUB: it lacks META-INF/container.xml",
        "lost.epub has files that cannot be read; nothing was imported",
        "secret.epub has files that cannot be read; nothing was imported",
        "bomb.epub unpacks to more than is read: 33,554,432 bytes of one file inside",
        "odd.epub: OEBPS/book.opf is not valid XML",
        "empty.epub holds no text for a passage",
        f"file not found: {tmp_path / 'absent.epub'}",
    ]
    assert [event.problems for event in refused[3:5]] == [
        (("OEBPS/text/two.xhtml", "is not in the file"),),
        (("OEBPS/text/two.xhtml", "is encrypted"),),
    ]


def test_fonts_may_be_encrypted(tmp_path: Path) -> None:
    fonts = '<e><CipherReference URI="OEBPS/fonts/a.otf"/></e>'
    assert read_epub(book(tmp_path, encryption=fonts)).title == "On Metals"


@pytest.mark.parametrize("size", [10, 60_000])
def test_entities_that_laugh_and_depth_take_only_a_moment(tmp_path: Path, size: int) -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    text = f"{laughs}<html>{'<div>' * size}<p>&b; laughs</p>{'</div>' * size}</html>"
    read = read_epub(book(tmp_path, one=text))
    texts = [block.text for block in read.blocks]
    assert "Tin" in texts, "the chapters beside it are read"
    assert ("laughs" in texts) == (size == 10), "too deep for a parser"
    assert sum(map(len, texts)) < 200 + len(SAID)
