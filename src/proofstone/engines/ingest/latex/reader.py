"""LaTeX documents as blocks, and what they say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from proofstone.engines.ingest.languages import guess_language
from proofstone.engines.ingest.latex.files import Sources, open_sources
from proofstone.engines.ingest.latex.reading import TexReader
from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.written import Written
from proofstone.errors import BadInput

__all__ = ["READER", "read_latex"]

READER = "latex 1"  # a number of its own for every change that can move a text
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_AND = re.compile(r"\s*;\s*|,\s*and\s+|\s+and\s+")
_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹*†‡]+.*$")
_LONGEST, _LONGEST_NAME = 300, 60


def read_latex(path: Path, root: Path | None = None) -> Iterator[Written]:
    """Each document of a .tex file or of an archive (.zip, .tar, .tar.gz, .tgz).

    Files that a text inputs are read where they stand within ``root`` (else within the text's own
    folder). Comments and the preamble are left out. Raises NotFound, and BadInput for what is
    damaged, too large or has no text, as ``TexReader`` and ``open_sources`` do.
    """
    for sources in open_sources(path, root):
        yield _written(sources)


def _written(sources: Sources) -> Written:
    reader = TexReader(sources)
    blocks = _levelled(reader.document())
    if not any(block.kind not in {"heading", "figure", "contents"} for block in blocks):
        raise BadInput(f"{sources.name} holds no text that could be a passage.")
    said = reader.said
    year = _YEAR.search(said.get("date", ""))
    names = [_NOTE.sub("", name).strip(" ,") for name in _AND.split(said.get("author", ""))]
    return Written(
        pages=[blocks],
        title=said.get("title", "")[:_LONGEST],
        authors=tuple(dict.fromkeys(name for name in names if 0 < len(name) <= _LONGEST_NAME)),
        year=int(year[1]) if year else None,
        language=guess_language(block.text for block in blocks if block.kind != "equation"),
        content=sources.content,
    )


def _levelled(blocks: list[Block]) -> list[Block]:
    """The same with the outermost headings on level 1."""
    highest = min((block.level for block in blocks if block.kind == "heading"), default=1)
    return [
        replace(block, level=block.level - highest + 1) if block.kind == "heading" else block
        for block in blocks
    ]
