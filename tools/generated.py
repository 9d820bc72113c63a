"""Write a generated file, or compare it with ``--check``."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

__all__ = ["settle"]


def settle(path: Path, text: str, arguments: Sequence[str], remedy: str) -> str | None:
    """Write ``text`` to ``path``, or with ``--check`` return where they differ (None if equal).

    ``remedy`` is the command that regenerates the file. The result is for ``sys.exit``.
    """
    if list(arguments) not in ([], ["--check"]):
        return f"expected no argument or --check, got {' '.join(arguments)}"
    if not arguments:
        path.write_text(text, encoding="utf-8", newline="\n")
        return None
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    if found == text:
        return None
    lines = unified_diff(found.splitlines(), text.splitlines(), path.name, "generated", "", "", 1)
    return "\n".join([f"{path.name} is out of date; run: {remedy}", *list(lines)[:40]])
