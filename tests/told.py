"""What a command came to: exit code, stdout, stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Proofstone", "Told", "page_with_files"]


class Told(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its result, where ``--json`` was given."""
        return json.loads(self.out)


Proofstone = Callable[..., Told]


def page_with_files(page: Path) -> str:
    """The text of a page and of the files that lie beside it."""
    beside = sorted(page.with_name(f"{page.stem}_files").rglob("*.*"))
    return "".join(file.read_text(encoding="utf-8") for file in (page, *beside))
