"""Which files of folders are documents, in an order that is the same everywhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from proofstone.engines.ingest.documents import plain_name
from proofstone.engines.ingest.kinds_of_file import kind_of

__all__ = ["FoundFile", "FoundFiles", "find_files"]

_ILLUSTRATED = {"html", "text"}  # kinds whose figures stand beside them as files


class FoundFile(NamedTuple):
    """A document and its path within the folder that was named, with / between the parts."""

    path: Path
    inside: str


class FoundFiles(NamedTuple):
    """The documents, and how many other files there are by their suffix."""

    files: list[FoundFile]
    others: dict[str, int]


def find_files(paths: Iterable[Path], *, figures: bool = False) -> FoundFiles:
    """The documents that ``paths`` name: files themselves, of folders all within.

    A file that is named by itself is one whatever its suffix. Hidden files and folders are left
    out, links to folders are not followed, and no file comes twice. Images in or below a folder
    that holds web pages or other texts are figures of those: no documents, unless ``figures``.
    """
    found: dict[Path, FoundFile] = {}
    others: Counter[str] = Counter()
    for path in paths:
        if not path.is_dir():
            found.setdefault(path.resolve(), FoundFile(path, path.name))
            continue
        files = list(_within(path))
        illustrated = {file.parent for file in files if kind_of(file) in _ILLUSTRATED}

        def is_figure(file: Path, illustrated: set[Path] = illustrated) -> bool:
            return kind_of(file) == "image" and not illustrated.isdisjoint(file.parents)

        for file in files:
            if kind_of(file) is None or (is_figure(file) and not figures):
                others[Path(plain_name(file)).suffix.lower() or "(no suffix)"] += 1
            else:
                inside = file.relative_to(path).as_posix()
                found.setdefault(file.resolve(), FoundFile(file, inside))
    return FoundFiles(list(found.values()), dict(sorted(others.items())))


def _within(folder: Path) -> Iterable[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(root, name)
