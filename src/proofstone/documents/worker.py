"""Read documents as a child process, one job after the other, until its input ends.

Started by ``documents.reader`` with a memory limit. A bad file can end only this process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from proofstone.documents.docx import READER as DOCX_READER
from proofstone.documents.docx import read_docx
from proofstone.documents.epub import READER as EPUB_READER
from proofstone.documents.epub import read_epub
from proofstone.documents.html import READER as HTML_READER
from proofstone.documents.html import read_web_page
from proofstone.documents.latex import READER as LATEX_READER
from proofstone.documents.latex import read_latex
from proofstone.documents.ocr import (
    OcrEngine,
    Pictures,
    draw_page,
    open_pictures,
    page_pixels,
    scanned_pages,
)
from proofstone.documents.passages import Cutter, Written, garbled, lay_out
from proofstone.documents.pdf import READER as PDF_READER
from proofstone.documents.pdf import PdfFile, PdfPage, front_matter
from proofstone.documents.reader import (
    OCR_READER,
    Answer,
    Draw,
    Drawn,
    Finished,
    Job,
    Opened,
    PageRead,
    Reading,
    Refused,
    confine,
    decode_job,
    page_read,
    receive,
    send,
)
from proofstone.documents.sources import (
    FileKind,
    bare_name,
    kind_of,
    plain_name,
    read_documents,
    readable_name,
)
from proofstone.documents.wiki import read_dump_pages, read_zim_pages
from proofstone.documents.wiki_api import PAGE_READER, read_wiki_file
from proofstone.errors import BadInput, BadUsage, ProofstoneError
from proofstone.files.csv import read_whole_file
from proofstone.files.tables import formats_hint
from proofstone.texts.languages import guess_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Run one job: a document's pages and passages, by the kind of its file.

MAX_TEXT = 48 * 2**20


TEXT_READER = "text 1"


IMAGE_READER = "image 1"


_PAGES_OF_WIKIS = {"wikidump": read_dump_pages, "zim": read_zim_pages}


_WRITTEN: dict[str, tuple[Callable[[Path], Written], str]] = {
    "html": (read_web_page, HTML_READER), "epub": (read_epub, EPUB_READER),
    "docx": (read_docx, DOCX_READER), "wikipage": (read_wiki_file, PAGE_READER),
}  # fmt: skip


class OpenFiles:
    """Keep the last PDF open, since the parts of a long one follow each other.

    Also keeps the last document with page images, the last drawn page, and the OCR engine.
    """

    def __init__(self) -> None:
        self._path = ""
        self._pdf: PdfFile | None = None
        self._pictures: Pictures | None = None
        self._drawn: tuple[int, float, NDArray[np.uint8]] | None = None

    def __enter__(self) -> OpenFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        if self._pdf is not None:
            self._pdf.close()
        if self._pictures is not None:
            self._pictures.close()
        self._pdf, self._pictures, self._drawn, self._path = None, None, None, ""

    def pdf(self, job: Job, tell: Callable[[int], None]) -> PdfFile:
        """Return the open PDF of a job. Raises as ``PdfFile``."""
        path = Path(job.path)
        if self._pdf is None or self._path != job.path or self._pdf.skip != set(job.skip):
            self.close()
            content = read_whole_file(path) if path.suffix.lower() == ".gz" else path
            self._pdf = PdfFile(content, path.name, tell=tell, skip=job.skip)
            self._path = job.path
        return self._pdf

    def pictures(self, job: Job) -> Pictures:
        """Return the page images of a job's document. Raises as ``open_pictures``."""
        if self._pictures is None or self._path != job.path:
            self.close()
            self._pictures, self._path = open_pictures(Path(job.path)), job.path
        return self._pictures

    def pixels(self, job: Job, draw: Draw) -> NDArray[np.uint8]:
        """Return the page to draw, rendered once for consecutive parts of it."""
        pictures = self.pictures(job)
        if self._drawn is None or self._drawn[:2] != (draw.page, draw.dpi):
            pixels = page_pixels(pictures, draw.page, draw.dpi)
            self._drawn = (draw.page, draw.dpi, pixels)
        return self._drawn[2]

    @cached_property
    def engine(self) -> OcrEngine:
        """Return the OCR engine, loaded once. Raises ExtraMissing."""
        return OcrEngine()


def read_job(
    job: Job, files: OpenFiles, tell: Callable[[int], None]
) -> Iterator[Opened | PageRead | Drawn]:
    """Yield the documents of a job's file, each followed by its pages.

    ``tell`` receives each page before it is read. With pages to scan or draw, yields only those.
    Raises NotFound, BadUsage, BadInput and ExtraMissing, naming what the file lacks.
    """
    kind = kind_of(Path(job.path))
    if job.draw is not None:
        pixels = files.pixels(job, job.draw)
        yield Drawn(draw_page(files.pictures(job), job.draw, pixels))
    elif job.scan:
        yield from _scan(job, files, tell)
    elif kind == "pdf":
        yield from _read_pdf(job, files.pdf(job, tell))
    elif kind == "image":
        yield from _read_image(job, files.pictures(job))
    elif kind in _PAGES_OF_WIKIS:
        yield from _PAGES_OF_WIKIS[kind](job, tell)
    elif kind == "text" or kind is None:
        yield from _read_text(job)
    else:
        for written, reader in _written(Path(job.path), kind, job.root):
            yield from _read_written(job, written, reader)


def _read_pdf(job: Job, pdf: PdfFile) -> Iterator[Opened | PageRead]:
    language = job.language or guess_language([pdf.sample])
    if job.first == 1:
        has_letters = any(character.isalpha() for character in pdf.sample)
        front = front_matter(pdf)
        stem = bare_name(Path(job.path))
        yield Opened(
            title=job.title or front.title or stem,
            language=language if job.language or has_letters else "",
            n_pages=pdf.n_pages, authors=front.authors, year=pdf.year,
        )  # fmt: skip
    cutter = Cutter()
    for page in pdf.pages(job.first, job.last or pdf.n_pages):
        yield _cut(page, cutter, language, PDF_READER)


def _scan(job: Job, files: OpenFiles, tell: Callable[[int], None]) -> Iterator[PageRead]:
    """Yield the pages of a job that OCR reads, in order.

    Without a given language, each page has its detected one.
    """
    pictures, engine, cutter = files.pictures(job), files.engine, Cutter()
    wanted = [number for number in job.scan if number >= job.first and number not in job.skip]
    left_out = [number for number in job.scan if number >= job.first and number in job.skip]
    for page in scanned_pages(pictures, wanted, engine, tell):
        while left_out and left_out[0] < page.number:
            yield _skipped(left_out.pop(0))
        language = job.language or guess_language(block.text for block in page.blocks)
        if why := garbled("\n".join(block.text for block in page.blocks)):
            page = replace(page, blocks=[], reason="garbled", detail=why)  # noqa: PLW2901
        yield _cut(page, cutter, language, OCR_READER)
    yield from map(_skipped, left_out)


def _skipped(number: int) -> PageRead:
    return PageRead(number=number, text="", reader="", reason="broken", detail="skipped")


def _read_image(job: Job, pictures: Pictures) -> Iterator[Opened | PageRead]:
    """Yield the pages of an image file, which are not read yet."""
    stem = bare_name(Path(job.path))
    yield Opened(title=job.title or stem, language=job.language, n_pages=pictures.n_pages)
    for index in range(pictures.n_pages):
        width, height = pictures.size(index)
        yield PageRead(
            number=index + 1, text="", reader=IMAGE_READER, width=width, height=height,
            reason="image only",
        )  # fmt: skip


def _cut(page: PdfPage, cutter: Cutter, language: str, reader: str) -> PageRead:
    return page_read(
        lay_out(page.blocks), cutter, language, number=page.number, reader=reader,
        size=(page.width, page.height), label=page.label, reason=page.reason, detail=page.detail,
    )  # fmt: skip


def _written(path: Path, kind: FileKind, root: str) -> Iterator[tuple[Written, str]]:
    if kind in _WRITTEN:
        read, reader = _WRITTEN[kind]
        yield read(path), reader
    else:
        for written in read_latex(path, Path(root) if root else None):
            yield written, LATEX_READER


def _read_written(job: Job, written: Written, reader: str) -> Iterator[Opened | PageRead]:
    """Yield a document's pages; a single page has no number."""
    path, n = Path(job.path), len(written.pages)
    language = job.language or written.language
    yield Opened(
        title=job.title or written.title or bare_name(path), language=language,
        n_pages=n if n > 1 else 0, license=written.license, authors=written.authors,
        year=written.year, content=written.content, origin=written.origin,
    )  # fmt: skip
    cutter = Cutter()
    for number, blocks in enumerate(written.pages, start=1):
        laid_out = lay_out(blocks)
        _check_length(path.name, len(laid_out.text))
        yield page_read(
            laid_out, cutter, language, number=number if n > 1 else None, reader=reader,
            detail=written.detail,
        )  # fmt: skip


def _read_text(job: Job) -> Iterator[Opened | PageRead]:
    path = Path(job.path)
    if kind_of(path) is None:
        suffix = Path(plain_name(path)).suffix.lower()
        raise BadUsage(
            f'{path.name}: unsupported suffix "{suffix}"',
            hint=formats_hint([suffix]),
        )
    given = {"title": job.title, "language": job.language, "license": job.license}
    for document in read_documents(path, **given):
        pages = document.pages
        yield Opened(title=document.title, language=document.language, license=document.license,
                     n_pages=len(pages) - (None in pages))  # fmt: skip
        _check_length(readable_name(path.name), max(map(len, pages.values())))
        for number, text in sorted(pages.items(), key=lambda page: page[0] is None):
            cuts = tuple(
                (p.start, p.end, ((1, p.heading),) if p.heading else (), p.language)
                for p in document.passages
                if p.page == number
            )
            yield PageRead(number=number, text=text, reader=TEXT_READER, cuts=cuts)


def _check_length(name: str, longest: int) -> None:
    if longest > MAX_TEXT:
        raise BadInput(
            f"{name} holds {longest:,} characters; the limit for a text is {MAX_TEXT:,}",
            hint="split it",
        )


def main() -> int:
    """Serve jobs from stdin; answers go to the original stdout."""
    confine(int(sys.argv[1]) if len(sys.argv) > 1 else 2**31)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library is not an answer
    with OpenFiles() as files:
        while (body := receive(sys.stdin.buffer)) is not None:
            for answer in _answers(decode_job(body), files, answers):
                send(answers, answer)
    return 0


def _answers(job: Job, files: OpenFiles, stream: BinaryIO) -> Iterator[Answer]:
    name = os.path.basename(job.path)  # noqa: PTH119

    def shown(text: str) -> str:
        """Return a readable form of the file's name, whatever its bytes."""
        return "\n".join(map(readable_name, text.replace(name, readable_name(name)).split("\n")))

    try:
        yield from read_job(job, files, lambda number: send(stream, Reading(number)))
    except BadInput as error:
        places = tuple((shown(problem.where), shown(problem.what)) for problem in error.problems)
        yield Refused(message=shown(error.message), hint=shown(error.hint), problems=places)
    except ProofstoneError as error:
        yield Refused(message=shown(error.message), hint=shown(error.hint), code=error.code)
    except MemoryError:
        files.close()
        yield Refused(message=f"{readable_name(name)} needs more memory than is allowed")
    else:
        yield Finished()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
