"""Read wiki pages, from wikitext or HTML, as blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct, structs, toml

from proofstone.documents.html import as_blocks, blocks_in
from proofstone.documents.passages import (
    Block,
    Cutter,
    bounded,
    grouped,
    lay_out,
    rows_text,
    set_off,
)
from proofstone.documents.reader import Job, Opened, PageRead, page_read
from proofstone.documents.sources import bare_name
from proofstone.documents.wiki_files import (
    INSTALL,
    DumpPage,
    DumpSite,
    Entry,
    ZimArchive,
    articles,
    read_dump,
    said_in,
)
from proofstone.errors import BadInput, needed
from proofstone.records.pages import MarkKind
from proofstone.texts.languages import said_language


class _Tables(Struct, frozen=True):
    """``wiki.toml``: parts of wiki pages that are not text, and replacements for templates.

    The replacements are used when no wiki expands the templates.
    """

    apparatus: frozenset[str]
    gone: frozenset[str]
    tags_gone: frozenset[str]
    boxes: tuple[str, ...]
    dashes: dict[str, str]
    text_in: dict[str, list[str]]


_WIKI = toml.decode((files("proofstone.documents") / "wiki.toml").read_bytes(), type=_Tables)


_TEXT_IN = {name: argument for argument, names in _WIKI.text_in.items() for name in names}


def without_apparatus(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks without such sections and without headings that have become empty."""
    left_out = 0
    waiting: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            if left_out and block.level > left_out:
                continue
            left_out = block.level if block.text.strip().casefold() in _WIKI.apparatus else 0
            waiting = [above for above in waiting if above.level < block.level]
            waiting += [] if left_out else [block]
        elif not left_out:
            yield from waiting
            waiting = []
            yield block


_CONTROLS = bytes({*range(32)} - {9, 10, 13})


_ROOTS = ("mw-parser-output", "mw-content-text", "bodyContent", "content")


def article_blocks(data: bytes, name: str) -> list[Block]:
    """Return the blocks of a page, without references and navigation; empty if nothing is left.

    Raises ExtraMissing without lxml, BadInput if it is not HTML or has too many blocks.
    """
    with needed(f"{name} holds HTML, and its reader is not installed", INSTALL):
        from lxml import etree, html  # noqa: PLC0415 - in an extra
    data = data.translate(None, _CONTROLS)  # not allowed in an XML tree
    if not data.strip():
        return []
    try:
        parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True)
        root = html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, ValueError) as cause:
        raise BadInput(f"{name} is not valid HTML ({cause})") from cause
    root = _content(root)
    for element in list(root.iter(etree.Element)):
        is_gone = not _WIKI.gone.isdisjoint((element.get("class") or "").split())
        if is_gone and element is not root and element.getparent() is not None:
            element.drop_tree()  # the text after it stays
    blocks = as_blocks(bounded(blocks_in(root), name))
    return list(without_apparatus(block for block in blocks if block.text.strip()))


def _content(root: Any) -> Any:
    """Return the element with the page's text, if the wiki marks it."""
    for name in _ROOTS:
        found = root.find_class(name) or [node for node in root.iter() if node.get("id") == name]
        if found:
            return found[0]
    return root


_SPACE = re.compile(r"[ \t\u00a0\n]+")


_MAGIC = re.compile(r"__[A-Z]{3,30}__|-\{(?:[a-zA-Z-]*\|)?([^{}|;]{0,200})\}-")


_FILES = re.compile(r"\s*(file|image|文件|檔案|图像|datei|fichier|media)\s*:", re.IGNORECASE)


_NO_TEXT = re.compile(
    r"\s*(category|分类|分類|kategorie|catégorie|[a-z]{2,3}(-[a-z]+)?)\s*:\S", re.IGNORECASE
)


_IMAGE_WORD = re.compile(
    r"(thumb(nail)?|frame(d|less)?|border|left|right|center|none|upright(=.*)?|\d*x?\d+px|"
    r"(alt|link|page|class|lang)=.*|缩略图|縮圖|右|左)$", re.IGNORECASE
)  # fmt: skip


_CODE = {"syntaxhighlight", "source", "pre"}


_RAW = {"math", "chem", "ce", "nowiki", "code", "tt", "kbd"} | _CODE


_BLOCKS = {"div", "blockquote", "p", "center", "poem", "li", "ul", "ol", "dl", "section"}


_DEEPEST = 40


_FEWEST = 2  # facts that make a box a table


def wikitext_blocks(text: str) -> list[Block]:
    """Return the blocks of a page from its wikitext.

    References, categories and what only a wiki can expand are left out. An infobox becomes a table,
    formulas become TeX. Raises ExtraMissing without mwparserfromhell, BadInput for endless nesting.
    """
    with needed("this is wikitext, and its reader is not installed", INSTALL):
        import mwparserfromhell  # noqa: PLC0415 - in an extra
    plain = _MAGIC.sub(lambda found: found[1] or "", text)
    page = _Page()
    try:
        page.inside(mwparserfromhell.parse(plain, skip_style_tags=False))
    except (RecursionError, mwparserfromhell.parser.ParserError) as cause:
        raise BadInput("the page is nested without end") from cause
    page.end()
    return list(without_apparatus(grouped(page.blocks)))


class _Page:
    def __init__(self, depth: int = 0) -> None:
        self.blocks: list[Block] = []
        self._pieces: list[str] = []
        self._mark = ""
        self._depth = depth

    def inside(self, code: Any) -> None:
        """Add the nodes of a piece of wikitext."""
        for node in code.nodes:
            _NODES.get(type(node).__name__, _Page.nothing)(self, node)

    def words(self, code: Any) -> str:
        """Return the text of a piece, on one line."""
        if code is None or self._depth >= _DEEPEST:
            return ""
        inner = _Page(self._depth + 1)
        inner.inside(code)
        inner.end()
        texts = (f"${b.text}$" if b.kind == "equation" else b.text for b in inner.blocks)
        return _SPACE.sub(" ", " ".join(texts)).strip()

    def end(self, kind: MarkKind = "text") -> None:
        """End the open paragraph or item."""
        text = _SPACE.sub(" ", "".join(self._pieces)).strip()
        mark, self._mark, self._pieces = self._mark, "", []
        if not text:
            return
        if len(text) > 2 and text.startswith("$") and text.find("$", 1) == len(text) - 1:
            self.blocks.append(Block("equation", text[1:-1]))
        else:
            self.blocks.append(Block("list" if mark else kind, f"{mark}{text}"))

    def _add(self, block: Block) -> None:
        self.end()
        self.blocks.append(block)

    def nothing(self, _node: Any) -> None:
        """Skip a node."""
        return

    def text(self, node: Any) -> None:
        """Add text; a list item ends with its line."""
        lines = str(node).split("\n")
        for place, line in enumerate(lines):
            is_empty = not line.strip() and place < len(lines) - 1
            if place and (self._mark or is_empty):
                self.end()
            self._pieces.append(f"{' ' if place else ''}{line}")

    def entity(self, node: Any) -> None:
        """Add a character given by its name or number."""
        try:
            self._pieces.append(node.normalize())
        except (ValueError, OverflowError):
            return

    def heading(self, node: Any) -> None:
        """Begin a section."""
        self.end()
        title = self.words(node.title)
        if title:
            self.blocks.append(Block("heading", title, level=node.level))

    def link(self, node: Any) -> None:
        """Add the visible text of a link."""
        title = str(node.title)
        if _FILES.match(title):
            self._image(node)
        elif not _NO_TEXT.match(title):
            shown = node.title if node.text is None else node.text
            self._pieces.append(self.words(shown).lstrip(":"))

    def _image(self, node: Any) -> None:
        """Add a figure with its caption; one within a sentence does not end it."""
        parts = "" if node.text is None else str(node.text)
        waiting, mark = self._pieces, self._mark
        self._pieces, self._mark = [], ""
        self.blocks.append(Block("figure", ""))
        last = parts.rpartition("|")[2] if "[[" not in parts and "{{" not in parts else ""
        caption = last if last and not _IMAGE_WORD.match(last.strip()) else ""
        if not caption and node.text is not None:
            shown = self.words(node.text)
            kept = [part for part in shown.split("|") if not _IMAGE_WORD.match(part.strip())]
            caption = kept[-1] if kept else ""
        if caption := _SPACE.sub(" ", re.sub(r"'{2,}", "", caption)).strip():
            self.blocks.append(Block("caption", caption))
        self._pieces, self._mark = waiting, mark

    def address(self, node: Any) -> None:
        """Add the visible text of an external link."""
        if node.title is not None:
            self._pieces.append(self.words(node.title))
        elif not node.brackets:
            self._pieces.append(str(node.url))

    def template(self, node: Any) -> None:
        """Add the replacement of a template."""
        name = " ".join(str(node.name).split()).casefold()
        if name.startswith(_WIKI.boxes) or name.endswith(" infobox") or "信息框" in name:
            self._box(node)
        elif name in _WIKI.dashes:
            self._pieces.append(_WIKI.dashes[name])
        elif name in _TEXT_IN:
            self._pieces.append(self._argument(node, _TEXT_IN[name]))
        elif name in {"convert", "cvt"}:
            self._pieces.append(f"{self._argument(node, '1')} {self._argument(node, '2')}")
        elif name in {"frac", "sfrac", "fraction"}:
            parts = [part for key in "123" if (part := self._argument(node, key))]
            self._pieces.append(
                "/".join(parts[-2:]) if len(parts) < 3 else f"{parts[0]} {parts[1]}/{parts[2]}"
            )

    def _argument(self, node: Any, name: str) -> str:
        return self.words(node.get(name).value) if node.has(name) else ""

    def _box(self, node: Any) -> None:
        rows = []
        for param in node.params:
            key, value = str(param.name).strip().replace("_", " "), self.words(param.value)
            if value and not key.isdigit() and not key.startswith(("image", "alt", "caption")):
                rows.append(f"{key} | {value}")
        if len(rows) >= _FEWEST:
            self._add(Block("table", "\n".join(rows)))

    def tag(self, node: Any) -> None:
        """Add an element, or markup for one."""
        name = str(node.tag).strip().casefold()
        if node.wiki_markup and name in {"li", "dt", "dd"}:
            self._item(str(node.wiki_markup))
        elif name in _WIKI.tags_gone:
            return
        elif name == "table":
            self._table(node)
        elif name in _RAW:
            self._raw(name, str(node.contents))
        elif name == "br":
            self._pieces.append(" ")
        elif name in {"sup", "sub"}:
            self._pieces.append(set_off(name, self.words(node.contents)))
        elif node.contents is not None:
            self._around(name, node.contents)

    def _around(self, name: str, contents: Any) -> None:
        if name in _BLOCKS:
            self.end()
        self.inside(contents)
        if name in _BLOCKS:
            self.end()

    def _raw(self, name: str, text: str) -> None:
        if name in {"math", "chem", "ce"}:
            tex = _SPACE.sub(" ", text).strip()
            self._pieces.append(f"${tex}$" if tex else "")
        elif name in _CODE and "\n" in text:
            self._add(Block("code", text.strip("\n").rstrip()))
        else:
            self._pieces.append(text)

    def _item(self, sign: str) -> None:
        if not self._mark or "".join(self._pieces).strip():
            self.end()
            self._mark = "- "
        else:  # a list mark after another: nested deeper
            self._mark = "  " + self._mark

    def _table(self, node: Any) -> None:
        rows, caption = [], ""
        for part in node.contents.nodes:
            name = str(getattr(part, "tag", "")).strip()
            if name == "caption":
                caption = self.words(part.contents)
            cells = _cells(part) if name == "tr" else []
            if texts := [self.words(cell.contents) for cell in cells]:
                rows.append(texts)
        loose = [self.words(cell.contents) for cell in _cells(node)]
        if loose and loose[0].startswith("+"):  # the parser takes a caption for a cell
            caption, loose = loose[0][1:].strip(), loose[1:]
        rows = [loose, *rows] if loose else rows
        if caption:
            self._add(Block("caption", caption))
        text = rows_text(rows)
        if text and max(map(len, rows)) > 1:
            self._add(Block("table", text))
        elif text:
            for line in text.split("\n"):
                self._add(Block("text", line))


def _cells(row: Any) -> list[Any]:
    return [
        node for node in row.contents.nodes if str(getattr(node, "tag", "")).strip() in {"td", "th"}
    ]


_NODES: dict[str, Callable[[_Page, Any], None]] = {
    "Text": _Page.text,
    "HTMLEntity": _Page.entity,
    "Heading": _Page.heading,
    "Wikilink": _Page.link,
    "ExternalLink": _Page.address,
    "Template": _Page.template,
    "Tag": _Page.tag,
}


# The requested pages of a wiki: from a dump or a ZIM file, one by one.

DUMP_READER, ZIM_READER = (
    "mediawiki dump 1",
    "zim 1",
)  # change these with every change that can alter a text


_MAX_TEXT = 8 * 2**20  # characters of one page


_BEAT = 500  # pages skipped between two progress messages


_WIKITEXT = {"wikitext", ""}


@dataclass(frozen=True)
class _Article:
    """A requested page, and how its blocks are read. ``detail`` names the revision."""

    title: str
    blocks: Callable[[], list[Block]]
    detail: str = ""


def read_dump_pages(job: Job, tell: Callable[[int], None]) -> Iterator[Opened | PageRead]:
    """Read a dump as one document: its pages in order, each labeled with its title.

    The job selects namespaces (default: 0, the articles), titles, and a ``limit`` of pages. A
    redirect is a page without text that names its target. A page that cannot be read is reported as
    unread. Raises BadInput if nothing was found, and as ``read_dump``.
    """
    parts = read_dump(Path(job.path))
    site = next((part for part in parts if isinstance(part, DumpSite)), None)
    if site is None:
        raise BadInput(f"{Path(job.path).name} is XML, but not a wiki dump")
    code = said_language(site.language)
    pages = (part for part in parts if isinstance(part, DumpPage))
    opened = Opened(
        title=job.title or site.name or _stem(job), language=job.language or code or "en",
        license=job.license, kind="dump",
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
    """Read a ZIM file as one document, like a dump. Raises as ``ZimArchive``."""
    with ZimArchive(Path(job.path)) as archive:
        said = said_in(archive)
        opened = Opened(
            title=job.title or said.title or _stem(job),
            language=job.language or said.language or "en",
            license=said.license or job.license, authors=said.authors, year=said.year, kind="dump",
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
            f"{Path(job.path).name} holds none of the requested pages",
            hint="check --titles and --namespace",
        )
    absent = sorted(wanted) if number != job.limit else []
    for place, title in enumerate(absent, start=number + 1):
        yield PageRead(
            number=place, text="", reader=reader, label=title, reason="broken",
            detail="there is no such page",
        )  # fmt: skip


def _page(number: int, article: _Article, reader: str, language: str, *, skipped: bool) -> PageRead:
    unread = PageRead(number=number, text="", reader=reader, label=article.title)
    try:
        blocks = [] if skipped else article.blocks()
    except BadInput as error:
        return structs.replace(unread, reason="broken", detail=error.message)
    if blocks and blocks[0].text != article.title:
        blocks = [Block("heading", article.title, level=1), *blocks]
    laid_out = lay_out(blocks)
    if len(laid_out.text) > _MAX_TEXT:
        detail = f"{len(laid_out.text):,} characters"
        return structs.replace(unread, reason="too large", detail=detail)
    page = page_read(
        laid_out, Cutter(), language, number=number, reader=reader, label=article.title,
        detail=article.detail,
    )  # fmt: skip
    return structs.replace(page, path=())  # headings do not continue on the next page


def _title(text: str) -> str:
    """Return a title for comparison: underscores as spaces, first letter in upper case."""
    plain = " ".join(text.replace("_", " ").split())
    return plain[:1].upper() + plain[1:]


def _stem(job: Job) -> str:
    return bare_name(Path(job.path))


# Find single articles of an offline wiki by name, in a dump or a ZIM file.

PlainName = Callable[[str], str]  # how names are compared


# A template, a magic word or a class by which wikis mark disambiguation pages.
_MEANINGS = re.compile(
    r"\{\{\s*(?:disambig|disambiguation|dab|hndis|geodis|begriffsklärung|homonymie|"
    r"desambiguación|desambiguação|disambigua|disambigpage|aimai|消歧义|消歧義|多义)\b"
    r"|__DISAMBIG__",
    re.IGNORECASE,
)


_MEANINGS_IN_HTML = re.compile(rb"class=[\"'][^\"']*\b(?:disambig|dmbox)")


class WikiArticle(Struct, frozen=True, kw_only=True):
    """An article: its main text, or the ``trouble`` if there is none.

    ``page_id`` is its number in a dump, ``date`` the day of its revision (for a ZIM, of the file),
    ``content`` the hex SHA-256 of its text. ``is_meanings``: it is a disambiguation page.
    """

    key: str
    title: str
    text: str = ""
    page_id: str = ""
    language: str = ""
    date: str = ""
    url: str = ""
    is_meanings: bool = False
    trouble: str = ""

    @property
    def content(self) -> str:
        """Return the hex SHA-256 of the text."""
        return sha256(self.text.encode()).hexdigest()


def find_articles(path: Path, names: Sequence[Sequence[str]], plain: PlainName) -> list[str | None]:
    """Return for each list of names the key of the first article found; None if there is none.

    Names lead to articles by title or redirect. A dump is read once. Raises as ``read_dump`` and
    ``ZimArchive``.
    """
    if _is_zim(path):
        with ZimArchive(path) as archive:
            return _found_in_zim(archive, names, plain)
    titles = _titles_of_dump(path, {plain(name) for each in names for name in each}, plain)
    return [_first(titles.get(plain(name)) for name in each) for each in names]


def read_articles(path: Path, keys: Collection[str] | None = None) -> Iterator[WikiArticle]:
    """Yield the articles of these keys, in the order of the file.

    Without keys, yields all articles except redirects. Raises as ``find_articles``.
    """
    if _is_zim(path):
        with ZimArchive(path) as archive:
            said, space = said_in(archive), archive.article_namespace
            entries: Iterable[Entry | None] = (
                articles(archive)
                if keys is None
                else (archive.find(space, key) for key in sorted(keys))
            )
            for entry in entries:
                if entry is not None:
                    yield _zim_article(archive, entry, said.language, said.date)
        return
    site = DumpSite("", "", "")
    for part in read_dump(path):
        if isinstance(part, DumpSite):
            site = part
        elif not part.namespace and (not part.redirect if keys is None else part.title in keys):
            yield _dump_article(part, site)


def article_keys(path: Path) -> Iterator[str]:
    """Yield the keys of all articles, in the order of the file, without reading texts.

    Raises as ``find_articles``.
    """
    if _is_zim(path):
        with ZimArchive(path) as archive:
            yield from (entry.path for entry in articles(archive))
        return
    for part in read_dump(path):
        if isinstance(part, DumpPage) and not part.namespace and not part.redirect:
            yield part.title


def _is_zim(path: Path) -> bool:
    return path.suffix.lower() == ".zim"


def _first(found: Iterator[str | None]) -> str | None:
    return next((each for each in found if each is not None), None)


def _titles_of_dump(path: Path, wanted: Collection[str], plain: PlainName) -> dict[str, str]:
    """Return the titles that wanted names lead to.

    Of several matching titles the first counts, an article before a redirect.
    """
    titles: dict[str, str] = {}
    led: dict[str, str] = {}
    for part in read_dump(path):
        if not isinstance(part, DumpPage) or part.namespace:
            continue
        name = plain(part.title)
        if name in wanted:
            (led if part.redirect else titles).setdefault(name, part.redirect or part.title)
    return {**{name: title.partition("#")[0] for name, title in led.items()}, **titles}


def _dump_article(page: DumpPage, site: DumpSite) -> WikiArticle:
    """Return an article; a remaining redirect leads to another one and has no text."""
    base = site.base.rpartition("/")[0]
    return _article(
        WikiArticle(
            key=page.title,
            title=page.title,
            page_id=page.id,
            language=said_language(site.language),
            date=page.timestamp[:10],
            url=f"{base}/{quote(page.title.replace(' ', '_'))}" if base else "",
            is_meanings=bool(_MEANINGS.search(page.text)),
            trouble="it redirects to another redirect" if page.redirect else "",
        ),
        lambda: wikitext_blocks(page.text),
    )


def _zim_article(archive: ZimArchive, entry: Entry, language: str, date: str) -> WikiArticle:
    blank = WikiArticle(key=entry.path, title=entry.title, language=language, date=date)
    return html_article(blank, archive.content(entry), entry.path)


def html_article(blank: WikiArticle, html: bytes, name: str) -> WikiArticle:
    """Return an article with the text of its page; ``name`` is used in messages."""
    is_meanings = bool(_MEANINGS_IN_HTML.search(html))
    return _article(
        structs.replace(blank, is_meanings=is_meanings), lambda: article_blocks(html, name)
    )


def _article(blank: WikiArticle, blocks: Callable[[], list[Block]]) -> WikiArticle:
    if blank.trouble:
        return blank
    try:
        return structs.replace(blank, text=lay_out(blocks()).text)
    except BadInput as error:
        return structs.replace(blank, trouble=error.message)


def _found_in_zim(
    archive: ZimArchive, names: Sequence[Sequence[str]], plain: PlainName
) -> list[str | None]:
    found = [_first(_path_of(archive, name) for name in each) for each in names]
    missing = {
        plain(name)
        for each, path in zip(names, found, strict=True)
        if path is None
        for name in each
    }
    if not missing:
        return found
    by_name = _paths_by_name(archive, missing, plain)
    return [
        path if path is not None else _first(by_name.get(plain(name)) for name in each)
        for each, path in zip(names, found, strict=True)
    ]


def _path_of(archive: ZimArchive, name: str) -> str | None:
    """Return the path of the article that a name leads to, if it has the usual form."""
    for spelled in dict.fromkeys((name, name[:1].upper() + name[1:])):
        for path in dict.fromkeys((spelled.replace(" ", "_"), spelled)):
            entry = archive.find(archive.article_namespace, path)
            article = None if entry is None else archive.followed(entry)
            if article is not None and article.mime.startswith("text/html"):
                return article.path
    return None


def _paths_by_name(
    archive: ZimArchive, wanted: Collection[str], plain: PlainName
) -> dict[str, str]:
    """Return the paths that wanted names lead to, comparing titles and paths of all entries."""
    found: dict[str, str] = {}
    for _place, entry in archive.entries():
        if entry.namespace != archive.article_namespace:
            continue
        for name in {plain(entry.title), plain(entry.path)} & set(wanted):
            article = archive.followed(entry)
            if article is not None and article.mime.startswith("text/html"):
                found.setdefault(name, article.path)
    return found
