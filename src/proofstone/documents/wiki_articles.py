"""Single articles of an offline wiki, found by their names: in a dump or in a ZIM file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct, structs

from proofstone.documents.layout import Block, lay_out
from proofstone.documents.wiki import article_blocks, wikitext_blocks
from proofstone.documents.wiki_api import read_fetched
from proofstone.documents.wiki_dump import DumpPage, DumpSite, read_dump
from proofstone.documents.zim import Entry, ZimArchive, articles, said_in
from proofstone.errors import BadInput
from proofstone.texts.languages import said_language

PlainName = Callable[[str], str]  # how names are compared


# A template, a magic word or a class by which wikis mark a page that lists what a name may mean.
_MEANINGS = re.compile(
    r"\{\{\s*(?:disambig|disambiguation|dab|hndis|geodis|begriffsklärung|homonymie|"
    r"desambiguación|desambiguação|disambigua|disambigpage|aimai|消歧义|消歧義|多义)\b"
    r"|__DISAMBIG__",
    re.IGNORECASE,
)


_MEANINGS_IN_HTML = re.compile(rb"class=[\"'][^\"']*\b(?:disambig|dmbox)")


class WikiArticle(Struct, frozen=True, kw_only=True):
    """An article: its text without what the wiki puts around it, or the ``trouble`` for which there
    is none. ``page_id`` is its number in a dump, ``date`` the day of its revision (of a ZIM, of the
    file), ``content`` the hex SHA-256 of its text. ``is_meanings``: it only lists what its name may
    mean."""

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
        """The hex SHA-256 of the text."""
        return sha256(self.text.encode()).hexdigest()


def find_articles(path: Path, names: Sequence[Sequence[str]], plain: PlainName) -> list[str | None]:
    """For each list of names the key of the article that the first of them leads to, by title or
    by redirect; None where none does. A dump is read through once. Raises as ``read_dump`` and
    ``ZimArchive``."""
    if _is_zim(path):
        with ZimArchive(path) as archive:
            return _found_in_zim(archive, names, plain)
    titles = _titles_of_dump(path, {plain(name) for each in names for name in each}, plain)
    return [_first(titles.get(plain(name)) for name in each) for each in names]


def read_articles(path: Path, keys: Collection[str] | None = None) -> Iterator[WikiArticle]:
    """The articles of these keys, one at a time, in the order of the file; without keys all of
    them, of which no redirect is one. Raises as ``find_articles``."""
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
                    yield _of_zim(archive, entry, said.language, said.date)
        return
    site = DumpSite("", "", "")
    for part in read_dump(path):
        if isinstance(part, DumpSite):
            site = part
        elif not part.namespace and (not part.redirect if keys is None else part.title in keys):
            yield _of_dump(part, site)


def article_keys(path: Path) -> Iterator[str]:
    """The keys of all articles, in the order of the file, no text being read. Raises as
    ``find_articles``."""
    if _is_zim(path):
        with ZimArchive(path) as archive:
            yield from (entry.path for entry in articles(archive))
        return
    for part in read_dump(path):
        if isinstance(part, DumpPage) and not part.namespace and not part.redirect:
            yield part.title


def fetched_article(path: Path) -> WikiArticle:
    """The article of a page that was fetched from a live wiki and kept as a file. Raises BadInput
    for what is none."""
    page = read_fetched(path)
    html = page.html.encode()
    return _article(
        WikiArticle(
            key=str(page.revision),
            title=page.title,
            language=page.language,
            date=page.timestamp[:10],
            url=page.address,
            is_meanings=bool(_MEANINGS_IN_HTML.search(html)),
        ),
        lambda: article_blocks(html, page.title),
    )


def _is_zim(path: Path) -> bool:
    return path.suffix.lower() == ".zim"


def _first(found: Iterator[str | None]) -> str | None:
    return next((each for each in found if each is not None), None)


def _titles_of_dump(path: Path, wanted: Collection[str], plain: PlainName) -> dict[str, str]:
    """The titles that wanted names lead to. Of several titles that compare alike the first counts,
    an article before a redirect."""
    titles: dict[str, str] = {}
    led: dict[str, str] = {}
    for part in read_dump(path):
        if not isinstance(part, DumpPage) or part.namespace:
            continue
        name = plain(part.title)
        if name in wanted:
            (led if part.redirect else titles).setdefault(name, part.redirect or part.title)
    return {**{name: title.partition("#")[0] for name, title in led.items()}, **titles}


def _of_dump(page: DumpPage, site: DumpSite) -> WikiArticle:
    """A redirect that is left here leads to another: of such there is no text."""
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
            trouble="it only leads to another redirect" if page.redirect else "",
        ),
        lambda: wikitext_blocks(page.text),
    )


def _of_zim(archive: ZimArchive, entry: Entry, language: str, date: str) -> WikiArticle:
    data = archive.content(entry)
    return _article(
        WikiArticle(
            key=entry.path,
            title=entry.title,
            language=language,
            date=date,
            is_meanings=bool(_MEANINGS_IN_HTML.search(data)),
        ),
        lambda: article_blocks(data, entry.path),
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
    """The path of the article that a name leads to, where its own path is as wikis make it."""
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
    """The paths that wanted names lead to, by titles and paths as they are compared: all entries
    are looked at."""
    found: dict[str, str] = {}
    for _place, entry in archive.entries():
        if entry.namespace != archive.article_namespace:
            continue
        for name in {plain(entry.title), plain(entry.path)} & set(wanted):
            article = archive.followed(entry)
            if article is not None and article.mime.startswith("text/html"):
                found.setdefault(name, article.path)
    return found
