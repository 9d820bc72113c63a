"""Read the pages of MediaWiki XML dumps and ZIM files, in constant memory."""

from __future__ import annotations

import bz2
import lzma
import struct
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from proofstone.documents.passages import Said, stated_year
from proofstone.errors import BadInput, needed
from proofstone.files.csv import missing_file, open_bytes
from proofstone.texts.languages import said_language

_HEAD = 4096


INSTALL = "pip install 'proofstone[wiki]'"


@dataclass(frozen=True, slots=True)
class DumpSite:
    """The wiki of a dump."""

    name: str
    language: str
    base: str


@dataclass(frozen=True, slots=True)
class DumpPage:
    """A page in its newest revision in the dump.

    ``redirect`` is its target's title, ``model`` the format of its text.
    """

    title: str
    namespace: int
    id: str
    revision: str
    timestamp: str
    redirect: str
    model: str
    text: str


def is_dump(path: Path) -> bool:
    """Return True if a file begins like a dump."""
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
    """Yield the site, then each page; plain, or packed with bzip2 or gzip.

    No entity is expanded and nothing else is fetched. Raises NotFound, ExtraMissing without lxml,
    and BadInput for a file that is not a dump, damaged, or holds a text of more than 10 million
    bytes.
    """
    with needed(f"{path.name} is a wiki dump, and its reader is not installed", INSTALL):
        from lxml import etree  # noqa: PLC0415 - in an extra
    with _opened(path) as stream:
        try:
            events = etree.iterparse(
                stream, events=("start", "end"), resolve_entities=False, no_network=True,
                load_dtd=False, remove_comments=True,
            )  # fmt: skip
            yield from _parts(events, path.name)
        except (etree.LxmlError, OSError, EOFError, ValueError) as cause:
            raise BadInput(f"{path.name} is damaged, or not a wiki dump ({cause})") from cause


def _parts(events: Any, file: str) -> Iterator[DumpSite | DumpPage]:
    language = ""
    above: list[str] = []
    page: dict[str, str] = {}
    for event, element in events:
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        if event == "start":
            if not above:
                if name != "mediawiki":
                    raise BadInput(f"{file} is XML, but not a wiki dump")
                language = element.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
            above.append(name)
            continue
        above.pop()
        if name == "siteinfo":
            said = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
            yield DumpSite(said.get("sitename", ""), language, said.get("base", ""))
        elif above[-1:] == ["page"]:
            page |= dict(_said_of(name, element))
        elif name == "page" and len(above) == 1:
            yield _page(page)
            page = {}
        else:
            continue
        # Free the memory of what was read, including earlier siblings.
        element.clear()
        parent = element.getparent()
        while parent is not None and element.getprevious() is not None:
            del parent[0]


def _said_of(name: str, element: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts in a part of a page."""
    if name == "redirect":
        yield name, element.get("title") or ""
    elif name == "revision":
        for part in element:
            key = part.tag.rpartition("}")[2] if isinstance(part.tag, str) else ""
            if key in {"id", "timestamp", "model", "text"}:
                yield f"revision {key}", part.text or ""
    elif name in {"title", "ns", "id"}:
        yield name, element.text or ""


def _page(page: dict[str, str]) -> DumpPage:
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


# The entries of a ZIM file, by the format that openZIM publishes.

MAX_CLUSTER = 64 * 2**20  # bytes of a cluster, unpacked


_HEADER = struct.Struct("<IHH16sIIQQQQIIQ")


_MAGIC = 72173914


_DIRENT = struct.Struct("<HBcI")


_DELETED = 0xFFFD  # entries from this value on have no content: deleted ones, links, redirects


_REDIRECT = 0xFFFF


_MOST_STEPS = 8  # from a redirect to the next


_MOST_HELD = 4  # clusters


_LONGEST_ENTRY = 4096


class Entry(NamedTuple):
    """An entry: its namespace and path, title, content type, and position.

    A redirect has no type; ``leads_to`` is the index of its target.
    """

    namespace: str
    path: str
    title: str
    mime: str
    cluster: int
    blob: int
    leads_to: int | None = None


class ZimArchive:
    """An open ZIM file. Raises NotFound, and BadInput for a file that is invalid or too large."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            self._file = path.open("rb")
        except FileNotFoundError:
            raise missing_file(path) from None
        self._size = path.stat().st_size
        try:
            self._read_header()
        except BadInput:
            self._file.close()
            raise

    def _read_header(self) -> None:
        head = self._file.read(_HEADER.size)
        if len(head) < _HEADER.size or _HEADER.unpack(head)[0] != _MAGIC:
            raise BadInput(
                f"{self.name} is not a ZIM file, or it is the later part of one",
                hint="join the parts (.zimaa, .zimab, ...) into one file",
            )
        said = _HEADER.unpack(head)
        self._minor = said[2]
        self.n_entries, self._n_clusters = said[4], said[5]
        self._entries_at, _titles_at, self._clusters_at, mimes_at = said[6:10]
        self._held: OrderedDict[int, bytes] = OrderedDict()
        for at, n in ((self._entries_at, self.n_entries), (self._clusters_at, self._n_clusters)):
            if at + 8 * n > self._size:
                raise self._damaged("its lists end after the end of the file")
        mimes = self._at(mimes_at, 2**16, short=True).partition(b"\0\0")[0].split(b"\0")
        self._mimes = [mime.decode("utf-8", "replace") for mime in mimes]

    def __enter__(self) -> ZimArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def article_namespace(self) -> str:
        """Return the namespace of articles: C since version 6.1 of the format, A before."""
        return "C" if self._minor >= 1 else "A"

    def entry(self, place: int) -> Entry:
        """Return the entry at an index of the list."""
        if not 0 <= place < self.n_entries:
            raise self._damaged(f"it names entry {place:,} of {self.n_entries:,}")
        (at,) = struct.unpack("<Q", self._at(self._entries_at + 8 * place, 8))
        data = self._at(at, _LONGEST_ENTRY, short=True)
        if len(data) < 16:
            raise self._damaged(f"entry {place:,} is truncated")
        kind, _extra, namespace, _revision = _DIRENT.unpack_from(data)
        is_content = kind < _DELETED
        texts = data[16 if is_content else 12 :].split(b"\0", 2)
        if len(texts) < 3:
            raise self._damaged(f"entry {place:,} has no end")
        path, title = (text.decode("utf-8", "replace") for text in texts[:2])
        cluster, blob = struct.unpack_from("<II", data, 8) if is_content else (0, 0)
        mime = self._mimes[kind] if is_content and kind < len(self._mimes) else ""
        leads_to = struct.unpack_from("<I", data, 8)[0] if kind == _REDIRECT else None
        return Entry(
            namespace.decode("latin-1"), path, title or path, mime, cluster, blob, leads_to
        )

    def followed(self, entry: Entry) -> Entry | None:
        """Return the final target of an entry, or itself; None for circular redirects."""
        for _step in range(_MOST_STEPS):
            if entry.leads_to is None:
                return entry
            entry = self.entry(entry.leads_to)
        return None

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """Yield all entries in order, with their indexes."""
        for place in range(self.n_entries):
            yield place, self.entry(place)

    def find(self, namespace: str, path: str) -> Entry | None:
        """Return the entry of a path; None if there is none."""
        low, high = 0, self.n_entries
        wanted = (namespace.encode(), path.encode())
        while low < high:
            middle = (low + high) // 2
            entry = self.entry(middle)
            key = (entry.namespace.encode("latin-1"), entry.path.encode())
            if key == wanted:
                return entry
            low, high = (middle + 1, high) if key < wanted else (low, middle)
        return None

    def content(self, entry: Entry) -> bytes:
        """Return the content of an entry."""
        data, wide = self._cluster(entry.cluster)
        size = 8 if wide else 4
        form = "<Q" if wide else "<I"
        try:
            (first,) = struct.unpack_from(form, data, 0)
            if entry.blob + 1 >= first // size:
                raise self._damaged(f"{entry.path[:80]} is not in its cluster")
            start, end = (
                struct.unpack_from(form, data, size * (entry.blob + k))[0] for k in (0, 1)
            )
        except struct.error as cause:
            raise self._damaged(f"cluster {entry.cluster:,} is truncated") from cause
        if not start <= end <= len(data):
            raise self._damaged(f"{entry.path[:80]} ends after its cluster")
        return data[start:end]

    def _cluster(self, number: int) -> tuple[bytes, bool]:
        """Return a cluster's contents, unpacked, and whether its offsets are wide."""
        if number >= self._n_clusters:
            raise self._damaged(f"it names cluster {number:,} of {self._n_clusters:,}")
        (at,) = struct.unpack("<Q", self._at(self._clusters_at + 8 * number, 8))
        (info,) = self._at(at, 1)
        if number not in self._held:
            self._held[number] = self._unpacked(at + 1, info & 15, number)
            if len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)
        return self._held[number], bool(info & 16)

    def _unpacked(self, at: int, packing: int, number: int) -> bytes:
        import zstandard  # noqa: PLC0415 - only here

        self._file.seek(at)
        data = b""
        try:
            if packing == 5:
                with zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(
                    self._file, closefd=False
                ) as stream:
                    data = stream.read(MAX_CLUSTER + 1)
            elif packing == 4:
                data = self._unpacked_xz()
            elif packing in {0, 1}:
                data = self._file.read(MAX_CLUSTER + 1)[:MAX_CLUSTER]
            else:
                raise BadInput(f"{self.name} uses an obsolete compression")
        except (zstandard.ZstdError, lzma.LZMAError, EOFError, OSError) as cause:
            raise self._damaged(f"cluster {number:,}: {cause}") from cause
        if len(data) > MAX_CLUSTER:
            raise BadInput(
                f"{self.name}: cluster {number:,} unpacks to more than {MAX_CLUSTER:,} bytes"
            )
        return data

    def _unpacked_xz(self) -> bytes:
        """Return one unpacked stream from here on; another cluster follows it."""
        stream = lzma.LZMADecompressor(memlimit=2**28)
        parts: list[bytes] = []
        n_bytes = 0
        while not stream.eof and n_bytes <= MAX_CLUSTER:
            fed = self._file.read(2**16) if stream.needs_input else b""
            if stream.needs_input and not fed:
                raise EOFError("it ends too early")
            parts.append(stream.decompress(fed, MAX_CLUSTER + 1 - n_bytes))
            n_bytes += len(parts[-1])
        return b"".join(parts)

    def _at(self, at: int, size: int, *, short: bool = False) -> bytes:
        if at >= self._size:
            raise self._damaged("a pointer leads past its end")
        self._file.seek(at)
        data = self._file.read(size)
        if len(data) < size and not short:
            raise self._damaged("it ends too early")
        return data

    def _damaged(self, how: str) -> BadInput:
        return BadInput(f"{self.name} is damaged: {how}")


# The articles of a ZIM file, and its metadata.

_LISTING = "listing/titleOrdered/v1"


_LONGEST = 200


class ZimSaid(Said, frozen=True, kw_only=True):
    """A file's metadata, and its day."""

    date: str = ""


def said_in(archive: ZimArchive) -> ZimSaid:
    """Return the file's metadata."""

    def said(name: str) -> str:
        entry = archive.find("M", name)
        text = "" if entry is None else archive.content(entry)[:1000].decode("utf-8", "replace")
        return " ".join(text.split())[:_LONGEST]

    language = said("Language").partition(",")[0].strip()
    date = said("Date")
    creator = said("Creator")
    return ZimSaid(
        title=said("Title"),
        authors=(creator,) if creator else (),
        year=stated_year([date[:4]]),
        language=said_language(language),
        license=said("License"),
        date=date[:10],
    )


def articles(archive: ZimArchive) -> Iterator[Entry]:
    """Yield the articles: those listed as such, or all pages in the article namespace."""
    listing = archive.find("X", _LISTING)
    if listing is not None:
        data = archive.content(listing)
        places = (place for (place,) in struct.iter_unpack("<I", data[: len(data) // 4 * 4]))
        found = (archive.entry(place) for place in places)
    else:
        namespace = archive.article_namespace
        found = (entry for _place, entry in archive.entries() if entry.namespace == namespace)
    return (entry for entry in found if entry.mime.startswith("text/html"))
