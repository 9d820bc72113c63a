"""HTML: headings, lists, tables and code as blocks; the frame of a site left out; nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.documents.html import MAX_BYTES, read_web_page
from proofstone.documents.passages import Cutter, Written, lay_out
from proofstone.errors import BadInput

TEXT = "Copper melts at 1085 degrees and carries current better than any metal but silver. " * 3
PAGE = f"""<!DOCTYPE html>
<html lang="en-GB"><head><title>Metals | A Site</title>
<meta name="author" content="A. Founder; B. Smith"><meta name="date" content="2019-04-01">
<style>p {{ color: red }}</style><script>alert("no text")</script></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/b">Books</a></li></ul></nav>
<div id="menu"><a href="/1">One</a> <a href="/2">Two</a> <a href="/3">Three</a></div>
<main><h1>Metals</h1>
<p>{TEXT}</p>
<h2>Of <em>copper</em></h2>
<p>Its area is 4&nbsp;m<sup>2</sup>, and H<sub>2</sub>O does not dissolve it. {TEXT}</p>
<ul><li>tin<ul><li>white</li><li>grey</li></ul></li><li><p>lead</p></li></ul>
<pre>
  melt  copper
    pour
</pre>
<table><tr><th>Metal</th><th>Melts at</th></tr><tr><td>Tin</td><td>232</td></tr></table>
Right in the container. <!-- no text --> {TEXT}
<math alttext="E = mc^2"><mi>E</mi></math>
</main>
<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer></body></html>
"""


def read(folder: Path, text: str | bytes, name: str = "page.html") -> Written:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_web_page(path)


def test_a_page_becomes_blocks_without_the_frame_of_its_site(tmp_path: Path) -> None:
    """Headings with levels, lists with their items, code as it stands, tables by rows."""
    page = read(tmp_path, PAGE)
    body = " ".join(TEXT.split())
    assert [(block.kind, block.level, block.text) for block in page.blocks] == [
        ("heading", 1, "Metals"),
        ("text", 0, body),
        ("heading", 2, "Of copper"),
        ("text", 0, f"Its area is 4 m², and H₂O does not dissolve it. {body}"),
        ("list", 0, "- tin\n  - white\n  - grey\n- lead"),
        ("code", 0, "  melt  copper\n    pour"),
        ("table", 0, "Metal | Melts at\nTin | 232"),
        ("text", 0, f"Right in the container. {body} E = mc^2"),
    ]
    assert (page.title, page.authors, page.year, page.language) == (
        "Metals | A Site", ("A. Founder", "B. Smith"), 2019, "en",
    )  # fmt: skip


def test_every_passage_of_a_page_is_verbatim_under_its_headings(tmp_path: Path) -> None:
    page = read(tmp_path, PAGE)
    made = lay_out(page.blocks)
    cuts = list(Cutter().cut(page.blocks, made.starts))
    assert [" > ".join(title for _level, title in cut.path) for cut in cuts] == [
        "Metals", "Metals > Of copper", "Metals > Of copper", "Metals > Of copper",
    ]  # fmt: skip
    assert made.text[cuts[2].start : cuts[2].end] == "Metal | Melts at\nTin | 232"


@pytest.mark.parametrize(
    ("encoding", "declared"), [("utf-8", ""), ("gb18030", "gb18030"), ("latin-1", "iso-8859-1")]
)
def test_the_encoding_is_the_declared_one_unless_it_is_utf_8(
    tmp_path: Path, encoding: str, declared: str
) -> None:
    said = "Die Öfen glühen über dem Fluß." if encoding == "latin-1" else "铜在一千多度熔化。"
    head = f'<meta charset="{declared}">' if declared else ""
    page = read(tmp_path, f"<html><head>{head}</head><p>{said}</p></html>".encode(encoding))
    assert [block.text for block in page.blocks] == [said]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("<div>" * 100_000 + "deep" + "</div>" * 100_000, None),
        ("<b>" * 50_000 + "bold", None),
        (
            '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
            '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><html><p>&c; laughs</p></html>',
            "&c; laughs",
        ),
        ("<table>" * 5_000 + "<tr><td>cell", None),
        ("<p>" * 30_000 + "last", "last"),
    ],
    ids=["deep", "inline", "entities", "tables", "unclosed"],
)
def test_what_is_nested_without_end_takes_only_a_moment(
    tmp_path: Path, text: str, last: str | None
) -> None:
    """What stands too deep for a parser is no text (None: nothing is left); entities stay as they
    are written, and what is merely not closed is read."""
    if last is None:
        with pytest.raises(BadInput, match="holds no text"):
            read(tmp_path, text)
        return
    page = read(tmp_path, text)
    assert page.blocks[-1].text == last
    assert sum(len(block.text) for block in page.blocks) < 200


def test_a_huge_file_is_refused_unread_and_an_empty_one_said_to_be(tmp_path: Path) -> None:
    with (tmp_path / "huge.html").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(BadInput, match="the limit for HTML is 33,554,432"):
        read_web_page(tmp_path / "huge.html")
    with pytest.raises(BadInput, match="holds no text"):
        read(tmp_path, "<html><body><script>1</script></body></html>")
    with pytest.raises(BadInput):
        read(tmp_path, "")
