"""MediaWiki's dumps: pages of the article namespace in their newest revision, as text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dump_files import SITE, dump, page
from hypothesis import given
from hypothesis import strategies as st
from reading_files import blocks_of, read_all, read_here, read_one

from proofstone.documents.folders import find_files
from proofstone.documents.reader import Job, Refused
from proofstone.documents.wiki import wikitext_blocks

COPPER = """{{Short description|no text}}{{Infobox element
| name = Copper | melts_at = {{convert|1085|K}} | density = 8.96<ref>Book</ref>
}}
'''Copper''' is a [[metal|soft ''metal'']]<ref name="a" /> of 8.96&nbsp;g, H<sub>2</sub>O.
It melts at {{val|1085}} degrees, as [https://x.example they] say.{{citation needed}}

Its formula is <math>x^2</math>.
:<math>E = mc^2</math>
__TOC__
== Ores ==
[[File:ore.jpg|thumb|upright=1.2|A piece of [[ore]]]]
* [[Bornite]]
** its kinds
* Chalcopyrite
{| class="wikitable"
|+ Points
! Metal !! Melts at
|-
| Tin || 232
|}
<!-- hidden --> More text.
== See also ==
* [[Tin]]
=== Books ===
One.
== History ==
Old.
[[Category:Metals]] [[de:Kupfer]]"""


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.xml.bz2"])
def test_articles_are_pages_with_titles_and_revisions(tmp_path: Path, name: str) -> None:
    """A redirect says where it leads, a talk page is none of them, the newest revision counts."""
    path = dump(
        tmp_path / name,
        page("Copper", COPPER),
        page("Cu", "#REDIRECT [[Copper]]", redirect="Copper", number=2),
        page("Talk:Copper", "Talk.", ns=1, number=3),
        page("Tin", "Old.", "Tin melts at 232.", number=4),
    )
    opened, (copper, cu, tin) = read_one(path)
    assert (opened.title, opened.language, opened.kind, opened.n_pages) == (
        "Metal Wiki", "en", "dump", 0,
    )  # fmt: skip
    assert blocks_of(copper) == [
        ("heading", "Copper"),
        ("table", "name | Copper\nmelts at | 1085 K\ndensity | 8.96"),
        ("text", "Copper is a soft metal of 8.96 g, H₂O. It melts at 1085 degrees, as they say."),
        ("text", "Its formula is $x^2$."),
        ("equation", "E = mc^2"),
        ("heading", "Ores"),
        ("caption", "A piece of ore"),
        ("list", "- Bornite\n  - its kinds\n- Chalcopyrite"),
        ("caption", "Points"),
        ("table", "Metal | Melts at\nTin | 232"),
        ("text", "More text."),
        ("heading", "History"),
        ("text", "Old."),
    ]
    assert copper.cuts[-1][2] == ((1, "Copper"), (2, "Ores"))
    assert (copper.number, copper.label) == (1, "Copper")
    assert copper.detail == "page 1, revision 10 of 2020-01-01T00:00:00Z"
    assert (cu.text, cu.reason, cu.cuts) == ("", "", ())
    assert cu.detail.startswith("redirect to Copper; page 2")
    assert (tin.number, tin.text) == (3, "Tin\n\nTin melts at 232.")
    assert tin.detail == "page 4, revision 41 of 2021-01-01T00:00:00Z"


def test_pages_are_chosen_by_namespace_title_and_number(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "a.xml",
        *(page(f"Metal {k}", f"Text {k}.", number=k + 1) for k in range(5)),
        page("Help:Casting", "Help.", ns=12, number=9),
    )
    assert [p.label for p in read_here(path, namespaces=(12,))] == ["Help:Casting"]
    assert [p.label for p in read_here(path, titles=("metal_3", "Metal 1"))] == [
        "Metal 1", "Metal 3",
    ]  # fmt: skip
    assert [p.label for p in read_here(path, limit=2)] == ["Metal 0", "Metal 1"]
    assert [p.number for p in read_here(path, first=4)] == [4, 5]


def test_of_a_folder_only_xml_that_is_a_dump_is_read(tmp_path: Path) -> None:
    dump(tmp_path / "a.xml", page("Tin", "Tin."))
    (tmp_path / "b.xml").write_text("<settings/>", encoding="utf-8")
    found = find_files([tmp_path])
    assert [file.inside for file in found.files] == ["a.xml"]
    assert found.others == {".xml": 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_of_a_folder_pipes_are_no_documents(tmp_path: Path) -> None:
    """Whoever opens one to see what it holds waits for ever. A link to what is gone is reported."""
    os.mkfifo(tmp_path / "a.md")
    (tmp_path / "b.md").write_text("Tin.", encoding="utf-8")
    (tmp_path / "c.md").symlink_to(tmp_path / "gone.md")
    found = find_files([tmp_path])
    assert [file.inside for file in found.files] == ["b.md", "c.md"]


def test_a_dump_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Cut, other XML, entities, a text of 11 MB, nothing that was asked for."""
    whole = dump(tmp_path / "a.xml.bz2", page("Tin", "Tin melts.")).read_bytes()
    laughs = (
        '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "/etc/passwd">]>'
        f"<mediawiki>{SITE}<page><title>T&b;&f;</title><ns>0</ns></page></mediawiki>"
    )
    (tmp_path / "cut.xml.bz2").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "other.xml").write_text("<settings/>", encoding="utf-8")
    (tmp_path / "laughs.xml").write_text(laughs, encoding="utf-8")
    dump(tmp_path / "wide.xml", page("x" * (11 * 2**20), "Tin."))
    dump(tmp_path / "talk.xml", page("Talk:Tin", "Tin.", ns=1))
    (tmp_path / "none.xml").write_text("no xml", encoding="utf-8")
    names = ["cut.xml.bz2", "other.xml", "wide.xml", "talk.xml", "none.xml", "absent.xml"]
    answers = read_all([Job(path=str(tmp_path / name)) for name in names])
    refused = [events[-1] for events in answers if isinstance(events[-1], Refused)]
    assert [event.message.partition(" (")[0] for event in refused] == [
        "cut.xml.bz2 is damaged, or not a wiki dump",
        "other.xml is XML, but not a wiki dump",
        "wide.xml is damaged, or not a wiki dump",
        "talk.xml holds none of the requested pages",
        "none.xml is damaged, or not a wiki dump",
        f"file not found: {tmp_path / 'absent.xml'}",
    ]
    (laughing,) = read_here(tmp_path / "laughs.xml")
    assert "root:" not in laughing.label
    assert len(laughing.label) < 20


@given(st.text(st.sampled_from("[]{}|='*#:;<>/!-\n aref"), max_size=100))
def test_any_wikitext_is_read(text: str) -> None:
    """Every block has text (a figure may have none), and none holds a line that ends nothing."""
    for block in wikitext_blocks(text):
        assert block.text.strip() or block.kind == "figure"
