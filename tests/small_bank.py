"""A bank small enough to read: two books, each with true statements and a false one of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["BOOKS", "PER_BOOK", "rows", "write_bank", "write_lines"]

BOOKS = ("Herbal", "Almanac")
PER_BOOK = 12


def rows() -> list[dict[str, Any]]:
    """One row a statement: ``PER_BOOK`` true and as many falsified ones in each book."""
    made: list[dict[str, Any]] = []
    for book in BOOKS:
        place = {"discipline": "Lore", "field": "Old books", "subfield": book, "book": book}
        for n in range(PER_BOOK):
            text = f"Leaf {n} of the {book} shows {{}} drawings."
            made += [
                {"id": f"{book}-{n}", "text": text.format(n + 2), "correct": True, **place},
                {
                    "id": f"{book}-{n}-false", "text": text.format(n + 3), "correct": False,
                    "origin": f"{book}-{n}", "error_type": "detail falsification",
                    "reason": f"it shows {n + 2}", **place,
                },
            ]  # fmt: skip
    return made


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """A JSONL file of these objects."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def write_bank(folder: Path) -> Path:
    """The bank as ``folder/old-books.jsonl``."""
    return write_lines(folder / "old-books.jsonl", rows())
