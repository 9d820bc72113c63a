"""Pages as files."""

from __future__ import annotations

from pathlib import Path

from proofstone.errors import StoreFailed

__all__ = ["write_text"]


def write_text(path: Path, text: str) -> None:
    """Writes a page; StoreFailed, naming the cause, where it cannot be."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with -o"
        ) from error
