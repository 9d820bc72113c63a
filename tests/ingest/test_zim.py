"""ZIM: articles with their titles; what a file says wrongly of itself is told, not believed."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_files import blocks_of, read_all, read_here, read_one
from zim_files import zim

from proofstone.documents.reader import Job, PageRead, Refused
from proofstone.documents.wiki_files import MAX_CLUSTER
from proofstone.errors import BadInput

HTML = "text/html"
COPPER = b"""<html><body><div class="mw-parser-output"><h1>Copper</h1>
<table class="infobox"><tr><th>Melts</th><td>1085</td></tr></table>
<p>Copper<sup class="reference">[1]</sup> melts at 1085 degrees.</p>
<div class="navbox">Metals</div>
<h2>Ores</h2><p>Bornite.</p><h2>References</h2><ol class="references"><li>x</li></ol>
</div></body>"""
ROWS = [
    ("C", "Copper", "Copper", HTML, COPPER),
    ("C", "Tin", "", HTML, b"<p>Tin melts at 232.</p>"),
    ("C", "Stannum", "Stannum", "redirect", b""),
    ("C", "a.css", "", "text/css", b"p {}"),
    ("M", "Title", "", "text/plain", "Metals \u94dc".encode()),
    ("M", "Language", "", "text/plain", b"eng"),
    ("M", "Creator", "", "text/plain", b"A. Founder"),
    ("M", "Date", "", "text/plain", b"2021-05-01"),
    ("M", "License", "", "text/plain", b"CC-BY-SA-4.0"),
]


@pytest.mark.parametrize("packing", [1, 4, 5])
def test_articles_are_pages_with_their_titles(tmp_path: Path, packing: int) -> None:
    opened, (copper, tin) = read_one(zim(tmp_path / "a.zim", ROWS, packing=packing))
    assert (opened.title, opened.authors, opened.year, opened.language, opened.license) == (
        "Metals 铜", ("A. Founder",), 2021, "en", "CC-BY-SA-4.0",
    )  # fmt: skip
    assert opened.kind == "dump"
    assert (copper.number, copper.label, copper.detail) == (1, "Copper", "path Copper")
    assert blocks_of(copper) == [
        ("heading", "Copper"),
        ("table", "Melts | 1085"),
        ("text", "Copper melts at 1085 degrees."),
        ("heading", "Ores"),
        ("text", "Bornite."),
    ]
    assert copper.cuts[-1][2] == ((1, "Copper"),)
    assert tin.text == "Tin\n\nTin melts at 232."


def test_articles_are_those_that_the_file_lists_where_it_does(tmp_path: Path) -> None:
    listing = ("X", "listing/titleOrdered/v1", "", "application/octet-stream", struct.pack("<I", 2))
    (page,) = read_here(zim(tmp_path / "a.zim", [*ROWS, listing]))
    assert page.label == "Tin"
    old = [("A" if row[0] == "C" else row[0], *row[1:]) for row in ROWS]
    assert len(read_here(zim(tmp_path / "old.zim", old, minor=0))) == 2  # type: ignore[arg-type]


def test_pages_are_chosen_by_title_and_number_and_absent_ones_are_told(tmp_path: Path) -> None:
    path = zim(tmp_path / "a.zim", ROWS)
    tin, lead = read_here(path, titles=("tin", "Lead"))
    assert (tin.label, lead.label, lead.reason, lead.detail) == (
        "Tin", "Lead", "broken", "there is no such page",
    )  # fmt: skip
    assert [page.label for page in read_here(path, limit=1)] == ["Copper"]
    with pytest.raises(BadInput, match="holds none of the requested pages"):
        read_here(path, titles=("Lead",))


def test_a_file_that_cannot_be_read_is_refused_or_its_page_is_unread(tmp_path: Path) -> None:
    """Cut, no ZIM, pointers that lead out, clusters without end."""
    whole = zim(tmp_path / "a.zim", ROWS).read_bytes()
    far = bytearray(whole)
    far[32:40] = struct.pack("<Q", 2**60)
    many = bytearray(whole)
    many[24:28] = struct.pack("<I", 2**31)
    files = {
        "cut.zim": whole[: len(whole) // 2],
        "far.zim": bytes(far),
        "many.zim": bytes(many),
        "none.zim": b"x" * 200,
        "empty.zim": b"",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    bomb = zim(tmp_path / "bomb.zim", [("C", "A", "", HTML, bytes(MAX_CLUSTER + 9))])
    answers = read_all([Job(path=str(tmp_path / name)) for name in files] + [Job(path=str(bomb))])
    refused = [events[-1] for events in answers[:-1]]
    messages = [event.message.partition(":")[0] for event in refused if isinstance(event, Refused)]
    assert messages == [
        "cut.zim is damaged",
        "far.zim is damaged",
        "many.zim is damaged",
        "none.zim is not a ZIM file, or it is the later part of one",
        "empty.zim is not a ZIM file, or it is the later part of one",
    ]
    page = answers[-1][-1]
    assert isinstance(page, PageRead)
    assert page.reason == "broken"
    assert page.detail == f"bomb.zim: cluster 0 unpacks to more than {MAX_CLUSTER:,} bytes"


@given(at=st.integers(0, 700), value=st.integers(0, 255))
def test_a_wrong_byte_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "byte.zim"
    data = bytearray(zim(path, ROWS).read_bytes())
    data[at % len(data)] = value
    path.write_bytes(data)
    whole = read_here(zim(tmp_path_factory.getbasetemp() / "whole.zim", ROWS))
    try:
        pages = read_here(path)
    except BadInput:
        assert data != path.with_name("whole.zim").read_bytes()
        return
    assert len(pages) <= len(ROWS)
    assert pages == whole or data != path.with_name("whole.zim").read_bytes()


def test_most_wrong_bytes_are_no_reason_to_refuse_a_file(tmp_path: Path) -> None:
    """Of one wrong byte in each place in turn some are refused and some leave the file readable: it
    is not that all are refused."""
    path = tmp_path / "byte.zim"
    data = zim(path, ROWS).read_bytes()
    n_read = n_refused = 0
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            read_here(path)
        except BadInput:
            n_refused += 1
        else:
            n_read += 1
    assert n_read > 20
    assert n_refused > 5
