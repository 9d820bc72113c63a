"""The pages of a MediaWiki XML dump, one after the other, in flat memory."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from proofstone.errors import BadInput, needed
from proofstone.files.csv import open_bytes

_HEAD = 4096


INSTALL = "pip install 'proofstone[wiki]'"


@dataclass(frozen=True, slots=True)
class DumpSite:
    """The wiki that a dump is of."""

    name: str
    language: str
    base: str


@dataclass(frozen=True, slots=True)
class DumpPage:
    """A page in its newest revision of the dump; ``redirect`` is the title that it leads to, and
    ``model`` what its text is written in."""

    title: str
    namespace: int
    id: str
    revision: str
    timestamp: str
    redirect: str
    model: str
    text: str


def is_dump(path: Path) -> bool:
    """Whether a file begins as a dump does."""
    try:
        with _opened(path) as stream:
            return b"<mediawiki" in stream.read(_HEAD)
    except (OSError, EOFError, ValueError, BadInput):
        return False


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open_bytes(path) as stream:
        if path.suffix.lower() != ".bz2":
            yield stream
            return
        with bz2.BZ2File(stream) as packed:
            yield cast("BinaryIO", packed)


def read_dump(path: Path) -> Iterator[DumpSite | DumpPage]:
    """The site, then each page. Packed with bzip2 or gzip or not.

    No entity is expanded and nothing else is fetched. Raises NotFound, ExtraMissing without lxml,
    and BadInput for what is no dump, damaged, or holds a text of more than 10 million bytes.
    """
    with needed(f"{path.name} is a dump of a wiki, and what reads that is not installed.", INSTALL):
        from lxml import etree  # noqa: PLC0415 - in an extra
    with _opened(path) as stream:
        try:
            events = etree.iterparse(
                stream, events=("start", "end"), resolve_entities=False, no_network=True,
                load_dtd=False, remove_comments=True,
            )  # fmt: skip
            yield from _Pages(path.name).read(events)
        except (etree.LxmlError, OSError, EOFError, ValueError) as cause:
            raise BadInput(f"{path.name} is damaged, or is no dump of a wiki ({cause}).") from cause


class _Pages:
    def __init__(self, name: str) -> None:
        self._name = name
        self._page: dict[str, str] = {}

    def read(self, events: Any) -> Iterator[DumpSite | DumpPage]:
        language = ""
        above: list[str] = []
        for event, element in events:
            name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
            if event == "start":
                if not above:
                    if name != "mediawiki":
                        raise BadInput(f"{self._name} is XML, but no dump of a wiki.")
                    language = element.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
                above.append(name)
                continue
            above.pop()
            if name == "siteinfo":
                said = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
                yield DumpSite(said.get("sitename", ""), language, said.get("base", ""))
                self._forget(element)
            elif above[-1:] == ["page"]:
                self._part(name, element)
                self._forget(element)
            elif name == "page" and len(above) == 1:
                yield self._made()
                self._forget(element)

    def _part(self, name: str, element: Any) -> None:
        if name == "redirect":
            self._page[name] = element.get("title") or ""
        elif name == "revision":
            for part in element:
                key = part.tag.rpartition("}")[2] if isinstance(part.tag, str) else ""
                if key in {"id", "timestamp", "model", "text"}:
                    self._page[f"revision {key}"] = part.text or ""
        elif name in {"title", "ns", "id"}:
            self._page[name] = element.text or ""

    def _made(self) -> DumpPage:
        page, self._page = self._page, {}
        number = page.get("ns", "0")
        return DumpPage(
            title=page.get("title", ""),
            namespace=int(number) if number.lstrip("-").isdigit() and len(number) < 9 else 0,
            id=page.get("id", ""),
            revision=page.get("revision id", ""),
            timestamp=page.get("revision timestamp", ""),
            redirect=page.get("redirect", ""),
            model=page.get("revision model", "wikitext"),
            text=page.get("revision text", ""),
        )

    def _forget(self, element: Any) -> None:
        """What was read takes no room any more, nor do its elder siblings."""
        element.clear()
        parent = element.getparent()
        while parent is not None and element.getprevious() is not None:
            del parent[0]
