"""DOCX: paragraphs by their styles, tables, notes, formulas; what was deleted is no text."""

from __future__ import annotations

import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_files import blocks_of, read_all, read_here, read_one

from proofstone.documents.docx import read_docx
from proofstone.documents.epub import MAX_PART
from proofstone.documents.reader import Job, PageRead, Refused

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
SPACES = (
    f'xmlns:w="{W}" xmlns:m="{OFFICE}/math" xmlns:r="{OFFICE}/relationships" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
STYLES = """
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:basedOn w:val="H1"/>
  <w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Round"><w:basedOn w:val="Round"/></w:style>
<w:style w:type="paragraph" w:styleId="Cap"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Toc"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>"""
NUMBERING = """
<w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/>
  <w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>
  <w:lvlText w:val="&#x2022;"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="7"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>"""
NOTES = """<w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/><w:t xml:space="preserve"> By weight.</w:t></w:r>
</w:p></w:footnote>"""
CORE = """<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>Report</dc:title><dc:creator>A. Founder; B. Smith</dc:creator>
<dcterms:created>2019-04-01T00:00:00Z</dcterms:created></cp:coreProperties>"""
LISTED = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr>'


def run(text: str, looks: str = "") -> str:
    return f'<w:r><w:rPr>{looks}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def par(*runs: str, style: str = "", looks: str = "") -> str:
    """A paragraph; what is no XML is a run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    inner = "".join(part if part.startswith("<") else run(part) for part in runs)
    return f"<w:p><w:pPr>{named}{looks}</w:pPr>{inner}</w:p>"


def item(text: str, number: int, depth: int = 0) -> str:
    return par(text, looks=LISTED.format(depth, number))


def docx(folder: Path, body: str, name: str = "a.docx", *, space: str = W, **parts: str) -> Path:
    """A file with a body, and with its other parts where they are not given."""
    given = {"styles": STYLES, "numbering": NUMBERING, "footnotes": NOTES, **parts}
    relation = '<Relationship Type="{}/relationships/{}" Target="{}"/>'
    core = relation.format(OFFICE, "metadata/core-properties", "docProps/core.xml")
    main = relation.format(OFFICE, "officeDocument", "word/document.xml")
    of_main = "".join(relation.format(OFFICE, part, f"{part}.xml") for part in given)
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_rels/.rels", f"<Relationships>{main}{core}</Relationships>")
        file.writestr("word/_rels/document.xml.rels", f"<Relationships>{of_main}</Relationships>")
        file.writestr("docProps/core.xml", CORE)
        spaces = SPACES.replace(W, space)
        text = f"<w:document {spaces}><w:body>{body}</w:body></w:document>"
        file.writestr("word/document.xml", text if "<!DOCTYPE" not in body else body)
        for part, inner in given.items():
            file.writestr(f"word/{part}.xml", f"<w:{part} {spaces}>{inner}</w:{part}>")
    return path


BODY = [
    par("On Metals", style="T"),
    par("Copper 1", style="Toc"),
    par("Copper", style="H1"),
    par(
        "Copper",
        '<w:r><w:footnoteReference w:id="2"/></w:r>',
        " melts at 10",
        run("3", '<w:vertAlign w:val="superscript"/>'),
        "<w:del>" + run("not") + "</w:del>",
        "<w:ins>" + run(" degrees") + "</w:ins>",
        run("hidden", "<w:vanish/>"),
        ".",
    ),
    item("first", 1),
    item("inner", 1, 1),
    item("second", 1),
    item("point", 2),
    item("anew", 3),
    par("Ores", style="Own"),
    "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>" + par("Melts at") + "</w:tc></w:tr>"
    "<w:tr><w:tc>" + par("Tin") + "</w:tc><w:tc>" + par("232") + "</w:tc></w:tr></w:tbl>",
    par("Table 1. Melting points.", style="Cap"),
    par("x = 1", style="Code"),
    par("  y = 2", style="Code"),
    "<w:tbl><w:tr><w:tc>" + par("In a frame.") + "</w:tc></w:tr></w:tbl>",
    par('<w:r><w:drawing><a:docPr descr="a furnace"/><a:blip/></w:drawing></w:r>'),
]
FORMULA = (
    "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:rad><m:radPr><m:degHide/>"
    "</m:radPr><m:deg/><m:e><m:r><m:t>b</m:t></m:r></m:e></m:rad></m:den></m:f></m:oMath>"
)
BLOCKS = [
    ("heading", "On Metals"),
    ("contents", "Copper 1"),
    ("heading", "Copper"),
    ("text", "Copper¹ melts at 10³ degrees."),
    ("list", "1. first\n  1.i) inner\n2. second\n- point\n5. anew"),
    ("note", "¹ By weight."),
    ("heading", "Ores"),
    ("table", "| Melts at\nTin | 232"),
    ("caption", "Table 1. Melting points."),
    ("code", "x = 1\n  y = 2"),
    ("text", "In a frame."),
    ("figure", "a furnace"),
]


@pytest.mark.parametrize("space", [W, STRICT])
def test_a_document_is_read_by_its_styles(tmp_path: Path, space: str) -> None:
    """Headings, lists with the numbers that are shown, tables, notes; in both dialects."""
    opened, (page,) = read_one(docx(tmp_path, "".join(BODY), space=space))
    assert blocks_of(page) == BLOCKS
    assert (opened.title, opened.authors, opened.year, opened.language, opened.n_pages) == (
        "On Metals", ("A. Founder", "B. Smith"), 2019, "en", 0,
    )  # fmt: skip
    paths = [[title for _level, title in path] for _start, _end, path, _language in page.cuts]
    assert paths[0] == ["Copper"]
    assert paths[-1] == ["Copper", "Ores"]
    assert not any("furnace" in page.text[start:end] for start, end, *_ in page.cuts)


def test_pages_end_where_the_author_ended_them(tmp_path: Path) -> None:
    """At page breaks and sections on a new page; not where lines happened to end."""
    body = [
        par("one", "<w:r><w:lastRenderedPageBreak/></w:r>", " and on"),
        par("two", '<w:r><w:br w:type="page"/></w:r>', "three"),
        par("four", looks="<w:sectPr/>"),
        par("five", looks='<w:sectPr><w:type w:val="nextPage"/></w:sectPr>'),
        par("six"),
        par("seven", looks="<w:pageBreakBefore/>"),
        '<w:sectPr><w:type w:val="continuous"/></w:sectPr>',
    ]
    opened, pages = read_one(docx(tmp_path, "".join(body)))
    assert [(page.number, page.text) for page in pages] == [
        (1, "one and on\n\ntwo"), (2, "three\n\nfour"), (3, "five\n\nsix"), (4, "seven"),
    ]  # fmt: skip
    assert opened.n_pages == 4


def test_formulas_are_tex_within_a_sentence_and_marked_where_they_stand_alone(
    tmp_path: Path,
) -> None:
    body = par("So ", FORMULA, " holds.") + par(f"<m:oMathPara>{FORMULA}</m:oMathPara>")
    _opened, (page,) = read_one(docx(tmp_path, body))
    assert blocks_of(page) == [
        ("text", r"So $\frac{a}{\sqrt{b}}$ holds."),
        ("equation", r"\frac{a}{\sqrt{b}}"),
    ]


def test_of_a_field_only_its_result_is_text_and_a_box_is_read_once(tmp_path: Path) -> None:
    edge = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    field = [edge.format("begin"), "<w:r><w:instrText>REF x</w:instrText></w:r>",
             edge.format("separate"), "4.2", edge.format("end")]  # fmt: skip
    box = (
        "<w:r><mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent>{0}</w:txbxContent>"
        "</w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>{0}</w:txbxContent></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r>"
    ).format(par("In the box."))
    _opened, (page,) = read_one(docx(tmp_path, par("See ", *field, ".", box)))
    assert page.text == "See 4.2.\n\nIn the box."


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=80)))
def test_every_paragraph_stands_verbatim_in_the_text(texts: list[str]) -> None:
    """White space apart; and passages cover all of them."""
    words = [" ".join(text.replace("\N{NO-BREAK SPACE}", " ").split(" ")) for text in texts]
    with TemporaryDirectory() as folder:
        path = docx(Path(folder), "".join(map(par, ["Tin melts.", *words])))
        read = read_docx(path)
        (page,) = read_here(path)
    plain = [text for word in ["Tin melts.", *words] if (text := squeezed(word))]
    assert [block.text for block in read.pages[0]] == plain  # type: ignore[index]
    covered = "".join(page.text[start:end] for start, end, *_ in page.cuts)
    assert "".join(covered.split()) == "".join("".join(plain).split())


def squeezed(text: str) -> str:
    """As a paragraph's text is: spaces one by one, none at the ends."""
    return " ".join(part for part in text.split(" ") if part).strip()


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Encrypted, old, damaged, too large, endless; the file behind them is read."""
    ole = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600)
    (tmp_path / "secret.docx").write_bytes(ole + "EncryptedPackage".encode("utf-16-le"))
    (tmp_path / "old.docx").write_bytes(ole)
    (tmp_path / "junk.docx").write_bytes(b"PK\x03\x04" + bytes(500))
    whole = docx(tmp_path, par("x"), "cut.docx").read_bytes()
    (tmp_path / "cut.docx").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(tmp_path / "zip.docx", "w") as file:
        file.writestr("a.txt", "x")
    laughs = (
        '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY f SYSTEM "/etc/passwd">'
        f"]><w:document {SPACES}><w:body><w:p><w:r><w:t>&b;&f;</w:t></w:r></w:p></w:body>"
        "</w:document>"
    )
    files = [
        tmp_path / "secret.docx",
        tmp_path / "old.docx",
        tmp_path / "junk.docx",
        tmp_path / "cut.docx",
        tmp_path / "zip.docx",
        docx(tmp_path, par("a " * (MAX_PART // 2)), "bomb.docx"),
        docx(tmp_path, f'<w:p w:x="{"a" * (11 * 2**20)}"/>', "wide.docx"),
        docx(tmp_path, "<w:sdt>" * 5_000 + "</w:sdt>" * 5_000, "deep.docx"),
        docx(tmp_path, laughs, "laughs.docx"),
        docx(tmp_path, par("Only a title", style="H1"), "bare.docx"),
        docx(tmp_path, par("Tin melts."), "good.docx"),
    ]
    answers = read_all([Job(path=str(file)) for file in files])
    refused = [events[0] for events in answers[:-1]]
    assert [
        event.message.partition(" (")[0] for event in refused if isinstance(event, Refused)
    ] == [
        "secret.docx is encrypted and opens only with a password",
        "old.docx is in the older format",
        "junk.docx is damaged, or not a DOCX",
        "cut.docx is damaged, or not a DOCX",
        "zip.docx is not a DOCX: it lacks word/document.xml",
        "bomb.docx unpacks to more than is read: 33,554,432 bytes of one file inside",
        "wide.docx: word/document.xml is not valid XML",
        "deep.docx: word/document.xml is not valid XML",
        "laughs.docx holds no text for a passage",
        "bare.docx holds no text for a passage",
    ]
    assert isinstance(answers[-1][-1], PageRead)
    assert answers[-1][-1].text == "Tin melts."
