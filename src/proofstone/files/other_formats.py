"""Formats that no reader here takes, and the command that turns a file of one into a readable one.

Each command is one that Debian and Ubuntu package; the package is named beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

_TABLES = (".csv", ".tsv", ".xlsx", ".parquet", ".json")


_SHEETS = (".xls", ".ods")


_READS_TABLES = "tables are read by: proofstone build statements FILE"


_TEXTS = "PDF, HTML, EPUB, DOCX, LaTeX, MediaWiki, ZIM, images, text, Markdown and JSONL are read"


def _office(target: str, part: str) -> str:
    return f"soffice --headless --convert-to {target} FILE (apt-get install libreoffice-{part})"


def _each(suffixes: str, command: str) -> dict[str, str]:
    return dict.fromkeys(suffixes.split(), command)


_CONVERSIONS: Mapping[str, str] = MappingProxyType({
    **_each(".doc .odt .rtf .wpd .wps", _office("docx", "writer")),
    **_each(".ppt .pptx .odp", _office("pdf", "impress")),
    **_each(".xls .ods", _office("xlsx", "calc")),
    **_each(".mobi .azw .azw3 .fb2 .lit",
            "ebook-convert FILE FILE.epub (apt-get install calibre)"),
    **_each(".djvu .djv", "ddjvu -format=pdf FILE FILE.pdf (apt-get install djvulibre-bin)"),
    **_each(".ps .eps", "ps2pdf FILE FILE.pdf (apt-get install ghostscript)"),
    **_each(".rst .org .adoc .textile", "pandoc FILE -o FILE.html (apt-get install pandoc)"),
    **_each(".gif .bmp .jp2", "convert FILE FILE.png (apt-get install imagemagick)"),
    **_each(".heic .heif", "heif-convert FILE FILE.png (apt-get install libheif-examples)"),
    **_each(".rar .7z", "unar FILE (apt-get install unar), then name the folder"),
    **_each(".bz2 .xz .zst", "unpack it with tar -xf, bunzip2, unxz or unzstd"),
    **_each(".eml .mbox", "save its texts as .txt or .html"),
})  # fmt: skip


def document_advice(suffixes: Iterable[str]) -> list[str]:
    """Return what to do with files of these suffixes so that they can be read as documents, a line
    for each way; nothing for what no way is known of."""
    ways: dict[str, list[str]] = {}
    for suffix in suffixes:
        way = _CONVERSIONS.get(suffix, "")
        if suffix in (*_TABLES, *_SHEETS):
            way = f"{_READS_TABLES}, after {way}" if way else _READS_TABLES
        if way:
            ways.setdefault(way, []).append(suffix)
    return [f"{', '.join(named)}: {way}" for way, named in ways.items()]


def formats_hint(suffixes: Iterable[str]) -> str:
    """Return the advice for these suffixes, and after it which formats are read."""
    return "; ".join([*document_advice(suffixes), _TEXTS])


def table_advice(suffix: str) -> str:
    """Return how a table of another format becomes a workbook; empty where no way is known."""
    return _CONVERSIONS[suffix] if suffix in _SHEETS else ""
