"""Documents as sources and passages whose text stands verbatim at their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.documents.passages import Span, markdown_spans, paragraph_spans
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import UTF8_BOM, Line, decode, foreign_encoding, read_whole_file
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked, refused
from proofstone.records.knowledge import Passage, Source, Stratum, passage_id, source_id
from proofstone.records.tables import Row
from proofstone.texts.languages import guess_language, passage_language

# What people state of documents that the documents do not say: licence, taxonomy, authors.


class Stated(Struct, frozen=True, kw_only=True):
    """Facts about a source; what is empty was not stated."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    licence: str = ""
    language: str = ""
    stratum: Stratum = Stratum()


def read_stated(path: Path | str) -> dict[str, Stated]:
    """The rows of a table (CSV, JSONL, ...) by their ``file``.

    Columns: file, title, authors (with ; between them), year, licence, language, discipline,
    field, subfield, book. Raises BadInput with every problem, a file named twice among them.
    """
    return read_checked(Path(path), _rows)


def _rows(rows: Iterable[Row]) -> dict[str, Stated]:
    problems: list[Problem] = []
    found: dict[str, Stated] = {}
    for row in rows:
        fields = Fields(row, problems)
        name = PurePosixPath(fields.required_text("file", "path").replace("\\", "/")).as_posix()
        authors = fields.text("authors", "author")
        stated = Stated(
            title=fields.text("title").strip(),
            authors=tuple(part for each in authors.split(";") if (part := each.strip())),
            year=fields.number("year"),
            licence=fields.text("licence", "license").strip(),
            language=fields.language() or "",
            stratum=Stratum(
                fields.text("discipline").strip(),
                fields.text("field").strip(),
                fields.text("subfield").strip(),
                fields.text("book").strip(),
            ),
        )
        if name in found:
            fields.wrong("file", f"{name} stands in an earlier row too")
        found[name] = stated
    if problems:
        raise BadInput("What is stated of the sources cannot be read.", problems)
    return found


def merged(own: Stated, of_all: Stated) -> Stated:
    """What is stated of one file, and where nothing is, what is stated of all."""
    levels = (
        mine or theirs
        for mine, theirs in zip(_levels(own.stratum), _levels(of_all.stratum), strict=True)
    )
    return Stated(
        title=own.title or of_all.title,
        authors=own.authors or of_all.authors,
        year=of_all.year if own.year is None else own.year,
        licence=own.licence or of_all.licence,
        language=own.language or of_all.language,
        stratum=Stratum(*levels),
    )


def _levels(stratum: Stratum) -> Sequence[str]:
    return (stratum.discipline, stratum.field, stratum.subfield, stratum.book)


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_FOREIGN_BYTE = re.compile("[\udc80-\udcff]")


DOCUMENT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".jsonl", ".ndjson")


_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Document:
    """A source with its text and its passages in order.

    ``text`` holds what has no page number, ``pages`` the text of each numbered page. A passage's
    [start, end) counts code points of the one that its ``page`` names.
    """

    source: Source
    text: str
    passages: tuple[Passage, ...]
    pages: Mapping[int, str] = field(default_factory=dict)

    def text_of(self, page: int | None) -> str:
        """The text in which the passages of ``page`` stand."""
        return self.text if page is None else self.pages[page]


def read_documents(
    path: Path | str, *, title: str = "", language: str = "", licence: str = ""
) -> tuple[Document, ...]:
    """The documents of one file: one for text and Markdown, one or more for JSONL.

    A packed file (.gz) is read as what is in it. Text is cut at empty lines. Markdown's headings
    become the passages' ``heading``; fenced code and lists stay whole. JSONL has one object a line
    with ``text`` and, where known, ``title``, ``page`` (a whole number), ``language``, ``licence``;
    lines of the same title, language and licence are one document, and lines of one page follow
    each other with an empty line between.

    What is not given is taken from the file: the title (first heading, or the file's name), the
    language (``guess_language``). ``Source.content`` is the SHA-256 of the file's bytes, its
    origin the file's name without folders. Raises NotFound, BadUsage for another suffix, and
    BadInput naming every line that is no UTF-8 text.
    """
    path = Path(path)
    given = _Given(title, language, licence)
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix not in DOCUMENT_SUFFIXES:
        raise BadUsage(
            f'{path.name}: documents with the suffix "{suffix}" are not read.',
            hint=f"Use one of {', '.join(DOCUMENT_SUFFIXES)}.",
        )
    if suffix in {".jsonl", ".ndjson"}:
        return _from_lines(path, given)
    return (_from_text(path, given, is_markdown=suffix in {".md", ".markdown"}),)


def plain_name(path: Path) -> str:
    """The name of a file, or of what is packed in it (.gz)."""
    return path.stem if path.suffix.lower() == ".gz" else path.name


def bare_name(path: Path) -> str:
    """The name of a file without the suffix of its format, as a readable text, whatever else has a
    point in it: ``Dr. No.txt.gz`` is "Dr. No"."""
    return readable_name(Path(plain_name(path)).stem)


def readable_name(name: str) -> str:
    """Return a name of the file system as text that can be stored and printed in one line.

    A name that is no UTF-8 is read as GB 2312 where it is that (names out of Chinese archives);
    else its foreign bytes are written as ``\\xE9``. A control character becomes a space.
    """
    raw = name.encode("utf-8", "surrogateescape")  # as os.fsdecode keeps foreign bytes
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = raw.decode("gb2312")
        except UnicodeDecodeError:
            text = _FOREIGN_BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02X}", name)
    return _CONTROLS.sub(" ", text)


@dataclass(frozen=True)
class _Given:
    title: str
    language: str
    licence: str


def _from_text(path: Path, given: _Given, *, is_markdown: bool) -> Document:
    data = read_whole_file(path)
    text = _text(path, data)
    spans, heading = markdown_spans(text) if is_markdown else (paragraph_spans(text), "")
    if not spans:
        raise BadInput(f"{path} holds no text that could be a passage.")
    source = _source(path, data, given, title=heading, texts=[text])
    return Document(source, text, _passages(source, None, text, spans))


def _text(path: Path, data: bytes) -> str:
    """The file's text as it stands, every line that is none being a problem."""
    if encoding := foreign_encoding(data):
        raise refused(path, [Problem("line 1", f"is {encoding} text; save it as UTF-8")])
    # Offsets in messages are the file's, so the mark stays on until the bytes are checked.
    problems, start = [], 0
    for number, part in enumerate(data.splitlines(keepends=True), start=1):
        text = decode(Line(number, start, part))
        if isinstance(text, Problem):
            problems.append(text)
        start += len(part)
    if problems:
        raise refused(path, problems)
    return data.removeprefix(UTF8_BOM).decode("utf-8")


def _source(path: Path, data: bytes, given: _Given, *, title: str, texts: Iterable[str]) -> Source:
    source = Source(
        kind="document",
        title=given.title or title or bare_name(path),
        content=sha256(data).digest(),
        language=given.language or guess_language(texts),
        licence=given.licence,
        origin=readable_name(path.name),
    )
    return msgspec.structs.replace(source, id=source_id(source))


def _passages(
    source: Source, page: int | None, text: str, spans: Iterable[Span], *, is_stated: bool = False
) -> tuple[Passage, ...]:
    """The passages of a page, each in its own language unless a row states one."""
    made = (
        Passage(
            source=source.id,
            page=page,
            start=span.start,
            end=span.end,
            text=text[span.start : span.end],
            language=(
                source.language
                if is_stated
                else passage_language(text[span.start : span.end], source.language)
            ),
            heading=span.heading,
        )
        for span in spans
    )
    return tuple(msgspec.structs.replace(passage, id=passage_id(passage)) for passage in made)


@dataclass(frozen=True)
class _Part:
    """One line of a JSONL file of documents."""

    text: str
    page: int | None
    given: _Given


def _from_lines(path: Path, given: _Given) -> tuple[Document, ...]:
    parts = read_checked(path, lambda rows: _parts(rows, given))
    data = read_whole_file(path)
    groups: dict[_Given, list[_Part]] = {}
    for part in parts:
        groups.setdefault(part.given, []).append(part)
    return tuple(_document(path, data, key, group) for key, group in groups.items())


def _parts(rows: Iterable[Row], given: _Given) -> list[_Part]:
    problems: list[Problem] = []
    parts = []
    for row in rows:
        fields = Fields(row, problems)
        text = fields.required_text("text")
        found = _Given(
            fields.text("title") or given.title,
            fields.language() or given.language,
            fields.text("licence", "license") or given.licence,
        )
        parts.append(_Part(text, fields.number("page"), found))
    if problems:
        raise BadInput("The documents cannot be read.", problems)
    return parts


def _document(path: Path, data: bytes, given: _Given, parts: Sequence[_Part]) -> Document:
    """One document of a JSONL file: its parts joined page by page, a passage a paragraph."""
    texts: dict[int | None, str] = {}
    for part in parts:
        before = texts.get(part.page)
        texts[part.page] = part.text if before is None else before + _BETWEEN + part.text
    source = _source(path, data, given, title="", texts=texts.values())
    passages = tuple(
        passage
        for page, text in texts.items()
        for passage in _passages(
            source, page, text, paragraph_spans(text), is_stated=bool(given.language)
        )
    )
    pages = {page: text for page, text in texts.items() if page is not None}
    return Document(source, texts.get(None, ""), passages, pages)


# Which reader a file is for, by its name; a packed one (.gz) by the name within.

FileKind = Literal[
    "pdf", "html", "epub", "docx", "latex", "wikidump", "wikipage", "zim", "image", "text"
]


_LATEX = (".tex", ".ltx", ".zip", ".tar", ".tgz")  # .tar.gz as .tar


_PACKED_DUMP = ".xml.bz2"


_HTML = (".html", ".htm", ".xhtml")


IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")


_KINDS: dict[str, FileKind] = {
    ".pdf": "pdf", ".epub": "epub", ".docx": "docx", ".xml": "wikidump", ".zim": "zim",
    ".wikipage": "wikipage", **dict.fromkeys(_HTML, "html"), **dict.fromkeys(_LATEX, "latex"),
    **dict.fromkeys(IMAGE_SUFFIXES, "image"), **dict.fromkeys(DOCUMENT_SUFFIXES, "text"),
}  # fmt: skip


def kind_of(path: Path) -> FileKind | None:
    """The kind of a file; None where its name says nothing that is read here."""
    if path.name.lower().endswith(_PACKED_DUMP):
        return "wikidump"
    return _KINDS.get(Path(plain_name(path)).suffix.lower())


def has_pictures(path: Path) -> bool:
    """Whether the pages of a file can be seen, and so be read from their pictures."""
    return kind_of(path) in {"pdf", "image"}
