"""Read text files into sources and passages, each an exact span of its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct, structs

from proofstone.documents.passages import Said, Span, markdown_spans, paragraph_spans
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import UTF8_BOM, Line, decode, foreign_encoding, read_whole_file
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked, refused
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row
from proofstone.texts.languages import guess_language, passage_language

_Any = TypeVar("_Any", bound=Struct)


# User-stated facts that documents do not contain: license, taxonomy, authors.


class Stated(Said, frozen=True, kw_only=True):
    """Facts about a source; empty fields were not stated."""

    stratum: Stratum = Stratum()


def read_stated(path: Path | str) -> dict[str, Stated]:
    """Return the rows of a table (CSV, JSONL, ...) by their ``file``.

    Columns: file, title, authors (separated by ;), year, license, language, discipline, field,
    subfield, book. Raises BadInput with every problem, including a file listed twice.
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
            license=fields.text("license", "licence").strip(),
            language=fields.language() or "",
            stratum=Stratum(
                fields.text("discipline").strip(),
                fields.text("field").strip(),
                fields.text("subfield").strip(),
                fields.text("book").strip(),
            ),
        )
        if name in found:
            fields.wrong("file", f"duplicate file {name}")
        found[name] = stated
    if problems:
        raise BadInput("the table of source metadata cannot be read", problems)
    return found


def merged(own: Stated, of_all: Stated) -> Stated:
    """Return the facts of one file, completed by those stated for all files."""
    return structs.replace(_over(own, of_all), stratum=_over(own.stratum, of_all.stratum))


def _over(own: _Any, of_all: _Any) -> _Any:
    said = {
        name: value for name, value in structs.asdict(own).items() if value not in ("", (), None)
    }
    return structs.replace(of_all, **said)


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_FOREIGN_BYTE = re.compile("[\udc80-\udcff]")


DOCUMENT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".jsonl", ".ndjson")


_BETWEEN = "\n\n"


class TextPassage(NamedTuple):
    """Code points [start, end) of the text of a page."""

    page: int | None
    start: int
    end: int
    text: str
    heading: str
    language: str


class Document(Said, frozen=True, kw_only=True):
    """A text with its passages in order; ``pages`` are its texts by number (None: no number)."""

    pages: Mapping[int | None, str]
    passages: tuple[TextPassage, ...]


def read_documents(
    path: Path | str, *, title: str = "", language: str = "", license: str = ""
) -> tuple[Document, ...]:
    """Return the documents of one file: one for text and Markdown, one or more for JSONL.

    A packed file (.gz) is unpacked. Text is split at empty lines. Markdown's headings become the
    passages' ``heading``; fenced code and lists stay whole. JSONL has one object per line with
    ``text`` and optionally ``title``, ``page`` (a whole number), ``language``, ``license``. Lines
    of the same title, language and license are one document. Lines of one page are joined with an
    empty line.

    Missing values are taken from the file: the title (first heading, or the file's name) and the
    language (``guess_language``). Raises NotFound, BadUsage for another suffix, and BadInput naming
    every line that is not UTF-8 text.
    """
    path = Path(path)
    given = Said(title=title, language=language, license=license)
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix not in DOCUMENT_SUFFIXES:
        raise BadUsage(
            f'{path.name}: unsupported suffix "{suffix}"',
            hint=f"expected one of {', '.join(DOCUMENT_SUFFIXES)}",
        )
    if suffix in {".jsonl", ".ndjson"}:
        return _from_lines(path, given)
    return (_from_text(path, given, is_markdown=suffix in {".md", ".markdown"}),)


def plain_name(path: Path) -> str:
    """Return the name of a file, or of the file packed in it (.gz)."""
    return path.stem if path.suffix.lower() == ".gz" else path.name


def content_of(path: Path) -> bytes:
    """Return the SHA-256 of a file's bytes, which identifies its source."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def bare_name(path: Path) -> str:
    """Return a file's readable name without its format suffix.

    Other points stay: ``Dr. No.txt.gz`` is "Dr. No".
    """
    return readable_name(Path(plain_name(path)).stem)


def readable_name(name: str) -> str:
    """Return a name of the file system as text that can be stored and printed on one line.

    A name that is not UTF-8 is read as GB 2312 if that is valid (names from Chinese archives).
    Otherwise its invalid bytes are written as ``\\xE9``. A control character becomes a space.
    """
    raw = name.encode("utf-8", "surrogateescape")  # os.fsdecode's encoding of invalid bytes
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = raw.decode("gb2312")
        except UnicodeDecodeError:
            text = _FOREIGN_BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02X}", name)
    return _CONTROLS.sub(" ", text)


def _from_text(path: Path, given: Said, *, is_markdown: bool) -> Document:
    text = _text(path, read_whole_file(path))
    spans, heading = markdown_spans(text) if is_markdown else (paragraph_spans(text), "")
    if not spans:
        raise BadInput(f"{path} holds no text for a passage")
    given = structs.replace(given, title=given.title or heading or bare_name(path))
    return _document(given, {None: (text, spans)})


def _text(path: Path, data: bytes) -> str:
    """Return the file's text unchanged; every line that is not text is a problem."""
    if encoding := foreign_encoding(data):
        raise refused(path, [Problem("line 1", f"is {encoding} text; save it as UTF-8")])
    # Offsets in messages are the file's, so the byte-order mark stays until the bytes are checked.
    problems, start = [], 0
    for number, part in enumerate(data.splitlines(keepends=True), start=1):
        text = decode(Line(number, start, part))
        if isinstance(text, Problem):
            problems.append(text)
        start += len(part)
    if problems:
        raise refused(path, problems)
    return data.removeprefix(UTF8_BOM).decode("utf-8")


def _from_lines(path: Path, given: Said) -> tuple[Document, ...]:
    """Return the documents of JSONL: lines joined page by page, one passage per paragraph."""
    documents = read_checked(path, lambda rows: _lines(rows, given))
    made = []
    for said, lines in documents.items():
        texts = ((page, _BETWEEN.join(parts)) for page, parts in lines.items())
        pages = {page: (text, paragraph_spans(text)) for page, text in texts}
        own = structs.replace(said, title=said.title or bare_name(path))
        made.append(_document(own, pages, is_stated=bool(said.language)))
    return tuple(made)


def _lines(rows: Iterable[Row], given: Said) -> dict[Said, dict[int | None, list[str]]]:
    problems: list[Problem] = []
    found: dict[Said, dict[int | None, list[str]]] = {}
    for row in rows:
        fields = Fields(row, problems)
        text = fields.required_text("text")
        said = Said(
            title=fields.text("title") or given.title,
            language=fields.language() or given.language,
            license=fields.text("license", "licence") or given.license,
        )
        found.setdefault(said, {}).setdefault(fields.number("page"), []).append(text)
    if problems:
        raise BadInput("the documents cannot be read", problems)
    return found


def _document(
    said: Said, pages: Mapping[int | None, tuple[str, list[Span]]], *, is_stated: bool = False
) -> Document:
    """Return a document of these texts and spans.

    Each passage has its detected language, unless a row states one.
    """
    language = said.language or guess_language(text for text, _spans in pages.values())
    passages = tuple(
        TextPassage(
            page, span.start, span.end, text[span.start : span.end], span.heading,
            language if is_stated else passage_language(text[span.start : span.end], language),
        )
        for page, (text, spans) in pages.items()
        for span in spans
    )  # fmt: skip
    return Document(
        title=said.title, language=language, license=said.license,
        pages={page: text for page, (text, _spans) in pages.items()}, passages=passages,
    )  # fmt: skip


# The reader for a file, by its name; for a packed one (.gz) by the name inside.

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
    """Return the kind of a file; None for an unsupported name."""
    if path.name.lower().endswith(_PACKED_DUMP):
        return "wikidump"
    return _KINDS.get(Path(plain_name(path)).suffix.lower())


def has_pictures(path: Path) -> bool:
    """Return True if the pages of a file have images that OCR can read."""
    return kind_of(path) in {"pdf", "image"}
