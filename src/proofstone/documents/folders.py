"""Which files of folders are documents, in an order that is the same everywhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from proofstone.documents.latex.files import parts_of_documents
from proofstone.documents.sources import kind_of, plain_name, readable_name
from proofstone.documents.wiki_dump import is_dump

_ILLUSTRATED = {"html", "text"}  # kinds whose figures stand beside them as files


class FoundFile(NamedTuple):
    """A document and its path within the folder that was named, with / between the parts."""

    path: Path
    inside: str

    @property
    def root(self) -> Path:
        """The folder that was named, or the file's own."""
        return self.path.parents[self.inside.count("/")]


class FoundFiles(NamedTuple):
    """The documents, and how many other files there are by their suffix."""

    files: list[FoundFile]
    others: dict[str, int]


def find_files(paths: Iterable[Path], *, figures: bool = False) -> FoundFiles:
    """The documents that ``paths`` name: files themselves, of folders all within.

    A file that is named by itself is one whatever its suffix. Hidden files and folders are left
    out, as are pipes and sockets; links to folders, and to files outside the folder, are not
    followed, and no file comes twice.
    Images in or below a folder that holds web pages or other texts are figures of those: no
    documents, unless ``figures``. A LaTeX text that begins no document is a part of one where there
    is one in its folder or above.
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
    """Whether a file is one by its name; XML only where it begins as a dump of a wiki does."""
    kind = kind_of(file)
    return kind is not None and (kind != "wikidump" or is_dump(file))


def _within(folder: Path) -> tuple[list[Path], int]:
    """Return the files of a folder, and how many links to files outside it are left out.

    A link to what is gone counts as a file, so that it is reported. A pipe is none: whoever opens
    one waits until somebody writes to it.
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
