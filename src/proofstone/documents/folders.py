"""Find the files of documents: in folders, and those that a LaTeX source reads."""

from __future__ import annotations

import gzip
import os
import posixpath
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from proofstone.documents.epub import MAX_PART, Archive
from proofstone.documents.sources import kind_of, plain_name, readable_name
from proofstone.documents.wiki_files import is_dump
from proofstone.errors import BadInput
from proofstone.files.csv import UTF8_BOM, missing_file, open_bytes, read_whole_file

_TEXTS = (".tex", ".ltx", ".bbl", ".sty", ".cls", ".def")


_MOST_FILES = 5_000


_MAX_ALL = 64 * 2**20  # bytes of texts that one document may read


_MAX_TEXTS = 256 * 2**20  # bytes of texts of an archive


_MAX_UNPACKED = 2**30  # bytes of an archive that are searched


_MAIN = re.compile(rb"^[^%\n]*\\document(?:class|style)\b", re.MULTILINE)


_HEAD = 2**18


_INPUT = re.compile(rb"^[^%\n]*\\(?:input|include|subfile)\s*\{\s*([^}\n]{1,200})", re.MULTILINE)


class Sources:
    """The texts that a document reads, by path from the root; those read determine ``content``."""

    def __init__(self, stored: Callable[[str], bytes | None], main: str, name: str) -> None:
        self.main = main
        self.name = name
        self._stored = stored
        self._left = _MAX_ALL
        self._state = sha256()
        self._n = 0

    @property
    def content(self) -> bytes:
        """Return the digest of all texts read, in reading order; empty for one file."""
        return self._state.digest() if self._n > 1 else b""

    def read(self, name: str) -> str | None:
        """Return the text of a file; None if it is missing.

        Raises BadInput for a file outside the root, a file that is too large, and too many files.
        """
        where = posixpath.normpath(posixpath.join(posixpath.dirname(self.main), name))
        if where.startswith(("../", "/")) or where == ".." or "\\" in where or ":" in where[:3]:
            raise BadInput(
                f"{self.name} inputs {name[:200]}, which is outside its folder",
                hint="name the folder that holds all of its files",
            )
        data = self._stored(where)
        if data is None:
            return None
        self._n += 1
        self._left -= len(data)
        if self._left < 0 or self._n > _MOST_FILES:
            raise BadInput(
                f"{self.name} inputs more than {_MAX_ALL:,} bytes or {_MOST_FILES:,} files",
                hint="split it",
            )
        self._state.update(
            b"%d %d " % (len(where), len(data)) + where.encode("utf-8", "surrogateescape") + data
        )
        return _decoded(data)


def _decoded(data: bytes) -> str:
    """Decode UTF-8 if valid, and Latin-1 otherwise, the encoding of older sources."""
    data = data.removeprefix(UTF8_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def open_sources(path: Path, root: Path | None) -> Iterator[Sources]:
    """Yield each document of a file or archive.

    A .tex file is one document; its inputs are in ``root`` or its own folder. In an archive, each
    text that begins a document is one. Raises NotFound, and BadInput for a file that is damaged,
    too large or without LaTeX.
    """
    suffix = "".join(path.suffixes[-2:]).lower()
    is_tar = suffix.endswith((".tar", ".tgz", ".tar.gz"))
    if not is_tar and not suffix.endswith(".zip"):
        yield from _in_folder(path, root)
        return
    texts = _tarred(path) if is_tar else _zipped(path)
    name = readable_name(path.name)
    mains = mains_of(texts)
    if not mains:
        raise BadInput(
            f"{path.name} holds no LaTeX source that begins a document (\\documentclass)",
            hint="unpack it, and name the folder",
        )
    for main in mains:
        yield Sources(texts.get, main, f"{name}: {main}" if len(mains) > 1 else name)


def _in_folder(path: Path, root: Path | None) -> Iterator[Sources]:
    if path.suffix.lower() == ".gz":
        text = read_whole_file(path, limit=MAX_PART)
        yield Sources({path.stem: text}.get, path.stem, readable_name(path.name))
        return
    with open_bytes(path):  # it is there and may be read
        folder = (root or path.parent).resolve()
    own = path.resolve()
    inside = own if own.is_relative_to(folder) else path.parent.resolve() / path.name
    base = folder if own.is_relative_to(folder) else path.parent.resolve()
    main = inside.relative_to(base).as_posix()
    yield Sources(partial(_read_within, base), main, readable_name(path.name))


def _is_main(head: bytes) -> bool:
    return _MAIN.search(head[:_HEAD]) is not None


def parts_of_documents(files: Iterable[Path]) -> set[Path]:
    """Return the LaTeX texts that are parts of a document in their folder or a parent."""
    texts = [file for file in files if file.suffix.lower() in {".tex", ".ltx"}]
    mains = {file for file in texts if _is_main(_head(file))} if len(texts) > 1 else set(texts)
    folders = {file.parent for file in mains}
    return {file for file in texts if file not in mains and not folders.isdisjoint(file.parents)}


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError:
        return b""  # its reader reports why it cannot be read


def mains_of(texts: dict[str, bytes]) -> list[str]:
    """Return the texts that begin a document and are not part of another one, sorted by name."""
    found = [
        name
        for name in sorted(texts)
        if name.lower().endswith((".tex", ".ltx")) and _is_main(texts[name])
    ]
    parts = set()
    for name in found:
        for text in _INPUT.findall(texts[name]):
            where = posixpath.join(posixpath.dirname(name), text.decode("latin-1").strip())
            parts |= {posixpath.normpath(where), posixpath.normpath(where) + ".tex"} - {name}
    return [name for name in found if name not in parts] or found


def _read_within(root: Path, name: str) -> bytes | None:
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise BadInput(f"{name} is a link that leads out of its folder")
    return read_whole_file(path, limit=MAX_PART) if path.is_file() else None


def _zipped(path: Path) -> dict[str, bytes]:
    archive = Archive(path, "a ZIP")
    return {
        posixpath.normpath(name): archive.read(name)
        for name in archive.names
        if name.lower().endswith(_TEXTS) and _is_inside(name)
    }


def _tarred(path: Path) -> dict[str, bytes]:
    """Return the texts of a TAR, packed or not, read as a stream of limited length."""
    found: dict[str, bytes] = {}
    unpacked = n_bytes = 0
    try:
        with (
            path.open("rb") as file,
            tarfile.open(fileobj=_tar_stream(path, file), mode="r|") as archive,
        ):
            for member in archive:
                is_text = member.isfile() and member.name.lower().endswith(_TEXTS)
                unpacked += member.size + 512
                n_bytes += member.size if is_text else 0
                if unpacked > _MAX_UNPACKED or n_bytes > _MAX_TEXTS:
                    raise BadInput(
                        f"{path.name} unpacks to more than is read: {_MAX_TEXTS:,} bytes of "
                        f"texts, {_MAX_UNPACKED:,} of all",
                        hint="unpack it, and name the folder",
                    )
                stream = archive.extractfile(member) if is_text else None
                if stream is not None and _is_inside(member.name):
                    found[posixpath.normpath(member.name)] = stream.read()
    except FileNotFoundError:
        raise missing_file(path) from None
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as cause:
        raise BadInput(f"{path.name} is damaged, or not a TAR archive ({cause})") from cause
    return found


def _tar_stream(path: Path, file: BinaryIO) -> BinaryIO:
    is_packed = path.suffix.lower() in {".gz", ".tgz"}
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_packed else file


def _is_inside(name: str) -> bool:
    where = posixpath.normpath(name)
    return not where.startswith(("/", "../")) and where != ".."


# Find the documents in folders, in the same order on every system.

_ILLUSTRATED = {"html", "text"}  # kinds with figures as separate files


class FoundFile(NamedTuple):
    """A document and its path within the named folder, with / between the parts."""

    path: Path
    inside: str

    @property
    def root(self) -> Path:
        """Return the named folder, or the file's own."""
        return self.path.parents[self.inside.count("/")]


class FoundFiles(NamedTuple):
    """The documents, and the number of other files by suffix."""

    files: list[FoundFile]
    others: dict[str, int]


def find_files(paths: Iterable[Path], *, figures: bool = False) -> FoundFiles:
    """Return the documents of ``paths``: files, and all files within folders.

    A file that is named itself is a document whatever its suffix. Hidden files and folders, pipes
    and sockets are left out. Links to folders, and to files outside the folder, are not followed.
    No file appears twice. Images in or below a folder with web pages or other texts are figures,
    not documents, unless ``figures`` is set. A LaTeX text without a document start is a part if its
    folder or a parent folder holds a document.
    """
    found: dict[Path, FoundFile] = {}
    others: Counter[str] = Counter()
    for path in paths:
        if not path.is_dir():
            found.setdefault(path.resolve(), FoundFile(path, readable_name(path.name)))
            continue
        files, n_outside = _within(path)
        others.update({"(links out of the folder)": n_outside} if n_outside else {})
        illustrated = {file.parent for file in files if kind_of(file) in _ILLUSTRATED}
        parts = parts_of_documents(files)

        def is_figure(file: Path, illustrated: set[Path] = illustrated) -> bool:
            return kind_of(file) == "image" and not illustrated.isdisjoint(file.parents)

        for file in files:
            if file in parts:
                others[".tex (parts of others)"] += 1
            elif not _is_document(file) or (is_figure(file) and not figures):
                others[Path(plain_name(file)).suffix.lower() or "(no suffix)"] += 1
            else:
                inside = readable_name(file.relative_to(path).as_posix())
                found.setdefault(file.resolve(), FoundFile(file, inside))
    return FoundFiles(list(found.values()), dict(sorted(others.items())))


def _is_document(file: Path) -> bool:
    """Return True if a file's name is that of a document; XML must begin like a wiki dump."""
    kind = kind_of(file)
    return kind is not None and (kind != "wikidump" or is_dump(file))


def _within(folder: Path) -> tuple[list[Path], int]:
    """Return the files of a folder, and how many links to files outside it are left out.

    A broken link counts as a file, so that it is reported. Pipes are left out, since opening one
    waits for a writer.
    """
    files, n_outside = [], 0
    inside = folder.resolve()
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(root, name)
            if name.startswith(".") or not (file.is_file() or not file.exists()):
                continue
            if file.is_symlink() and not file.resolve().is_relative_to(inside):
                n_outside += 1
            else:
                files.append(file)
    return files, n_outside
