"""``ingest``: folders, what is stated of files, what could not be read, and ``show`` of it."""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path

import pytest

from scripted_server import Act, Seen, answer
from serving import configure, serving
from told import Proofstone

sys.path.insert(0, str(Path(__file__).parents[1] / "ingest"))

from printed import columns, one_page, pdf, words

from proofstone.api import open_workspace

GARBLED = b"BT /F1 12 Tf 72 700 Td (" + b"bcdfg hjklm npqrs tvwxz " * 12 + b") Tj ET"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents of several kinds, one of them in a folder within, and two that cannot be read."""
    inner = tmp_path / "docs" / "inner"
    inner.mkdir(parents=True)
    pdf(inner / "two.pdf", [lambda canvas: columns(canvas, words(200))])
    (tmp_path / "docs" / "note.md").write_text("# Tin\n\nTin melts at 232.\n", encoding="utf-8")
    (tmp_path / "docs" / "page.html").write_text("<p>铜在一千多度熔化。</p>", encoding="utf-8")
    (tmp_path / "docs" / "odd.pdf").write_bytes(b"no PDF")
    (tmp_path / "docs" / "cells.pdf").write_bytes(one_page(GARBLED))
    (tmp_path / "docs" / "picture.png").write_bytes(b"x")
    (tmp_path / "docs" / ".hidden.txt").write_text("never read", encoding="utf-8")
    (tmp_path / "sources.csv").write_text(
        "file,title,authors,year,licence,discipline,book\n"
        "inner/two.pdf,Two Columns,A. Founder; B. Smith,2019,CC-BY-4.0,Engineering,Columns\n"
        "absent.pdf,,,,,,\n",
        encoding="utf-8",
    )
    return tmp_path


def test_a_folder_is_read_whole_and_what_is_not_read_is_said(
    folder: Path, empty: Path, proofstone: Proofstone
) -> None:
    """Exit code 3: all but the damaged one. Again, nothing is new."""
    meta = ("--meta", folder / "sources.csv", "--field", "Metals", "-w", empty)
    said = proofstone("ingest", folder / "docs", *meta, "--ocr", "never")
    assert said.code == 3
    lines = [line.split("  ", 1)[1] for line in said.out.splitlines()]
    assert lines == [
        "cells  1 page, 0 passages, 1 unread (garbled)",
        "Tin  1 passage",
        "page  1 passage",
        "Two Columns  1 page, 1 passage",
    ]
    assert "cells.pdf: 1 page without text that can be read, kept as unread: 1\n" in said.err
    assert "no documents, left out: 1 .png\n" in said.err
    assert "rows of --meta that name no file: absent.pdf\n" in said.err
    assert (
        "public: 1 document (license 'CC-BY-4.0' 1); --license private changes that\n"
        "private: 3 documents (no license 3): a license that permits publication is not known of "
        "them; --license NAME (such as CC-BY-4.0, or public) or --meta changes that\n"
    ) in said.err
    assert (
        "not read [PS-202]: odd.pdf: odd.pdf is damaged, has no pages, or is not a PDF\n"
        in said.err
    )
    again = proofstone("ingest", folder / "docs", *meta, "--ocr", "never")
    assert [line.endswith("   was here") for line in again.out.splitlines()] == [True] * 4
    assert len(proofstone("list", "source", "-w", empty, "--json").json) == 4


def test_a_source_shows_its_pages_and_a_passage_its_place(
    folder: Path, empty: Path, proofstone: Proofstone
) -> None:
    """Every passage stands verbatim at its offsets in the text of its page."""
    meta = ("--meta", folder / "sources.csv", "-w", empty)
    report = proofstone("ingest", folder / "docs", *meta, "--ocr", "never", "--json").json
    taken = {entry["file"]: entry for entry in report["taken"]}
    assert [entry["file"] for entry in report["not_read"]] == ["odd.pdf"]
    assert taken["page.html"]["language"] == "zh"
    assert taken["cells.pdf"]["unread"] == {"garbled": [1]}
    shown = proofstone("show", f"source:{taken['inner/two.pdf']['id'][:8]}", "-w", empty).out
    for line in (
        "authors   A. Founder, B. Smith", "stratum   Engineering / Columns", "pages     1",
        "passages  1", "license   CC-BY-4.0",
    ):  # fmt: skip
        assert line in shown.splitlines()
    cells = proofstone("show", f"source:{taken['cells.pdf']['id'][:8]}", "-w", empty).out
    assert "unread    1 (garbled): page 1" in cells.splitlines()
    assert "license   not stated" in cells.splitlines()
    assert (
        "audience  private: no license that is known to permit publication is stated"
        in cells.splitlines()
    )
    with open_workspace(empty) as workspace:
        store = workspace.store
        for entry in taken.values():
            for passage in store.knowledge.passages_of(bytes.fromhex(entry["id"])):
                page = store.pages.placed([passage.id])[passage.id].page
                assert page.text[passage.start : passage.end] == passage.text
        identity = bytes.fromhex(taken["inner/two.pdf"]["id"])
        first = next(iter(store.knowledge.passages_of(identity)))
    place = proofstone("show", f"passage:{first.id.hex()}", "-w", empty).out
    assert "page 1, characters 0 to " in place
    assert " of 595 x 842 points" in place


def test_a_page_is_shown_and_drawn(folder: Path, empty: Path, proofstone: Proofstone) -> None:
    """By the note of where its document lies; another suffix and lone options are refused."""
    taken = proofstone("ingest", folder / "docs" / "inner", "-w", empty, "--json").json["taken"]
    page = f"page:{taken[0]['id'][:8]}/1"
    shown = proofstone("show", page, "-w", empty).out.splitlines()
    assert shown[0] == page
    assert "size    595 x 842 points" in shown
    assert "reader  pdf 1" in shown
    drawn = proofstone("show", page, "-w", empty, "-o", folder / "page.png", "--dpi", "72")
    data = (folder / "page.png").read_bytes()
    assert drawn.out == f"{folder / 'page.png'}   {len(data):,} bytes\n"
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(data[16:20], "big") == 596
    other = proofstone("show", page, "-w", empty, "-o", folder / "page.jpg")
    assert (other.code, "pages are rendered as PNG" in other.err) == (2, True)
    lone = proofstone("show", page, "-w", empty, "--crop")
    assert (lone.code, "go with -o FILE.png" in lone.err) == (2, True)
    absent = proofstone("show", page[:-1] + "9", "-w", empty)
    assert (absent.code, "has no page 9; it has 1" in absent.err) == (2, True)


def test_nothing_read_is_exit_code_2(tmp_path: Path, empty: Path, proofstone: Proofstone) -> None:
    """A lone bad file, and a folder without documents."""
    (tmp_path / "odd.pdf").write_bytes(b"no PDF")
    assert proofstone("ingest", tmp_path / "odd.pdf", "-w", empty).code == 2
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "x.gif").write_bytes(b"x")
    none = proofstone("ingest", tmp_path / "pictures", "-w", empty)
    assert none.code == 2
    assert "there is no document to read (found: 1 .gif)" in none.err


def test_a_new_edition_is_another_source(
    tmp_path: Path, empty: Path, proofstone: Proofstone
) -> None:
    """Both stay, each with its own text."""
    note = tmp_path / "note.md"
    for text in ("Tin melts at 231.", "Tin melts at 232."):
        note.write_text(f"# Tin\n\n{text}\n", encoding="utf-8")
        assert proofstone("ingest", note, "-w", empty).code == 0
    assert len(proofstone("list", "source", "-w", empty, "--json").json) == 2


def test_pages_are_read_by_a_model_and_what_it_took_is_said(
    tmp_path: Path, empty: Path, proofstone: Proofstone
) -> None:
    """Exit code 3 where it refused one; page and source name the model."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
    for name, width in (("one", 200), ("two", 300)):
        image.new("RGB", (width, 100)).save(tmp_path / f"{name}.png")
    text = "Tin melts at 232 degrees, and it is among the softest of metals."

    def script(seen: Seen) -> Act:
        picture = seen.json["messages"][-1]["content"][0]["image_url"]["url"].partition(",")[2]
        is_two = int.from_bytes(b64decode(picture)[16:20], "big") == 300
        return answer("", refusal="No.") if is_two else answer(f"<page>{text}</page>")

    files = (tmp_path / "one.png", tmp_path / "two.png")
    reading = ("ingest", *files, "--ocr-model", "scripted/seer", "-w", empty)
    with serving(script) as server:
        configure(empty, server.url, "card = { images = true }")
        said = proofstone(*reading, "--budget", "1Mtok")
        again = proofstone(*reading, "--json")
    assert said.code == again.code == 3
    names = [line.split("  ", 1)[1] for line in said.out.splitlines()]
    assert names == [
        "one  1 page (1 from images), 1 passage",
        "two  1 page, 0 passages, 1 unread (image only)",
    ]
    assert "two.png, page 1: not read by the model: the model refused\n" in said.err
    assert "scripted/seer: 2 pages, 210 tokens\n" in said.err
    model = again.json["model"]
    assert (model["pages"], model["cached"], model["spent"]["calls"]) == (1, 1, 0)
    shown = proofstone("show", "one", "-w", empty).out
    assert "from images  1 by scripted/seer: page 1" in shown.splitlines()
    page = proofstone("show", f"page:{again.json['taken'][0]['id'][:8]}/1", "-w", empty).out
    lines = page.splitlines()
    assert "reader  vision 1 scripted/seer" in lines
    (first, *_more) = [line.split()[0] for line in lines if line.startswith("passage:")]
    place = proofstone("show", first, "-w", empty).out.splitlines()
    assert "read by   scripted/seer" in place
    (call,) = [line.split()[-1] for line in lines if line.startswith("asked")]
    assert text in proofstone("show", call, "-w", empty).out
    never = proofstone(*reading, "--ocr", "never")
    assert (never.code, "leave --ocr-model out" in never.err) == (2, True)
