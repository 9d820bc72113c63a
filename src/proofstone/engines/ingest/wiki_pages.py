"""The pages of a wiki that a job asks for: those of a dump or of a ZIM file, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from proofstone.engines.ingest.cutting import Cutter
from proofstone.engines.ingest.documents import bare_name
from proofstone.engines.ingest.languages import (
    passage_language,
    said_language,
)
from proofstone.engines.ingest.layout import Block, lay_out
from proofstone.engines.ingest.messages import Job, Opened, PageRead
from proofstone.engines.ingest.wiki.cleaning import article_blocks
from proofstone.engines.ingest.wiki.dump import DumpPage, DumpSite, read_dump
from proofstone.engines.ingest.wiki.wikitext import wikitext_blocks
from proofstone.engines.ingest.zim.archive import Entry, ZimArchive
from proofstone.engines.ingest.zim.reader import articles, said_in
from proofstone.errors import BadInput
from proofstone.records import pack_layout

__all__ = ["DUMP_READER", "ZIM_READER", "read_dump_pages", "read_zim_pages"]

DUMP_READER, ZIM_READER = "mediawiki dump 1", "zim 1"  # new numbers where a text can move
_MAX_TEXT = 8 * 2**20  # characters of one page
_BEAT = 500  # pages passed over between two signs of life
_WIKITEXT = {"wikitext", ""}


@dataclass(frozen=True)
class _Article:
    """A page that was asked for, and how its blocks are read. ``detail`` says which revision."""

    title: str
    blocks: Callable[[], list[Block]]
    detail: str = ""


def read_dump_pages(job: Job, tell: Callable[[int], None]) -> Iterator[Opened | PageRead]:
    """A dump as one document: its pages in their order, each with its title for a label.

    Of namespaces those that the job names (0, the articles, where none), of titles those that it
    names, of pages its ``limit``. A redirect is a page without text that says where it leads. A
    page that cannot be read is unread; raises BadInput where nothing was found at all, and as
    ``read_dump``.
    """
    parts = read_dump(Path(job.path))
    site = next((part for part in parts if isinstance(part, DumpSite)), None)
    if site is None:
        raise BadInput(f"{Path(job.path).name} is XML, but no dump of a wiki.")
    code = said_language(site.language)
    pages = (part for part in parts if isinstance(part, DumpPage))
    opened = Opened(
        title=job.title or site.name or _stem(job), language=job.language or code or "en",
        licence=job.licence, kind="dump",
    )  # fmt: skip
    return _read(job, tell, opened, (_of_dump(job, page) for page in pages), DUMP_READER)


def _of_dump(job: Job, page: DumpPage) -> _Article | None:
    if page.namespace not in (job.namespaces or (0,)) or page.model not in _WIKITEXT:
        return None
    detail = f"page {page.id}, revision {page.revision} of {page.timestamp}"
    if page.redirect:
        return _Article(page.title, list, f"redirect to {page.redirect}; {detail}")
    return _Article(page.title, lambda: wikitext_blocks(page.text), detail)


def read_zim_pages(job: Job, tell: Callable[[int], None]) -> Iterator[Opened | PageRead]:
    """A ZIM file as one document, as a dump is. Raises as ``ZimArchive``."""
    with ZimArchive(Path(job.path)) as archive:
        said = said_in(archive)
        opened = Opened(
            title=job.title or said.title or _stem(job),
            language=job.language or said.language or "en",
            licence=said.licence or job.licence, authors=said.authors, year=said.year, kind="dump",
        )  # fmt: skip
        found = (_of_zim(archive, entry) for entry in articles(archive))
        yield from _read(job, tell, opened, found, ZIM_READER)


def _of_zim(archive: ZimArchive, entry: Entry) -> _Article:
    def blocks() -> list[Block]:
        return article_blocks(archive.content(entry), entry.path)

    return _Article(entry.title, blocks, f"path {entry.path}")


def _read(
    job: Job,
    tell: Callable[[int], None],
    opened: Opened,
    found: Iterable[_Article | None],
    reader: str,
) -> Iterator[Opened | PageRead]:
    yield opened
    wanted = {_title(text) for text in job.titles}
    number = passed = 0
    for article in found:
        if article is None or (wanted and _title(article.title) not in wanted):
            passed += 1
            if passed % _BEAT == 0:
                tell(number + 1)
            continue
        wanted.discard(_title(article.title))
        number += 1
        if number >= job.first:
            tell(number)
            skipped = number in job.skip
            yield _page(number, article, reader, opened.language, skipped=skipped)
        if number == job.limit or (job.titles and not wanted):
            break
    if not number:
        raise BadInput(
            f"{Path(job.path).name} holds no page that was asked for.",
            hint="Check --titles and --namespace.",
        )
    for title in sorted(wanted) if number != job.limit else ():
        number += 1
        yield PageRead(
            number=number, text="", reader=reader, label=title, reason="broken",
            detail="there is no such page",
        )  # fmt: skip


def _page(number: int, article: _Article, reader: str, language: str, *, skipped: bool) -> PageRead:
    try:
        blocks = [] if skipped else article.blocks()
    except BadInput as error:
        return PageRead(
            number=number, text="", reader=reader, label=article.title, reason="broken",
            detail=error.message,
        )  # fmt: skip
    if blocks and blocks[0].text != article.title:
        blocks = [Block("heading", article.title, level=1), *blocks]
    laid_out = lay_out(blocks)
    if len(laid_out.text) > _MAX_TEXT:
        return PageRead(
            number=number, text="", reader=reader, label=article.title, reason="too large",
            detail=f"{len(laid_out.text):,} characters",
        )  # fmt: skip
    cutter = Cutter()
    cuts = tuple(
        (start, end, path, passage_language(laid_out.text[start:end], language))
        for start, end, path in cutter.cut(blocks, laid_out.starts)
    )
    return PageRead(
        number=number, text=laid_out.text, reader=reader, label=article.title,
        detail=article.detail, layout=pack_layout(laid_out.layout, 0.0, 0.0), cuts=cuts,
    )  # fmt: skip


def _title(text: str) -> str:
    """A title as wikis compare them: underscores are spaces, the first letter counts as large."""
    plain = " ".join(text.replace("_", " ").split())
    return plain[:1].upper() + plain[1:]


def _stem(job: Job) -> str:
    return bare_name(Path(job.path))
