"""Write generated files, or compare them with ``--check``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

__all__ = ["settle", "settle_folder"]


def settle(path: Path, text: str, arguments: Sequence[str], remedy: str) -> str | None:
    """Write ``text`` to ``path``, or with ``--check`` return where they differ (None if equal).

    ``remedy`` is the command that regenerates the file. The result is for ``sys.exit``.
    """
    if wrong := _refused(arguments):
        return wrong
    if not arguments:
        path.write_text(text, encoding="utf-8", newline="\n")
        return None
    if not path.exists():
        return f"{path.name} is missing; run: {remedy}"
    found = path.read_text(encoding="utf-8")
    if found == text:
        return None
    lines = unified_diff(found.splitlines(), text.splitlines(), path.name, "generated", "", "", 1)
    return "\n".join([f"{path.name} is out of date; run: {remedy}", *list(lines)[:40]])


def settle_folder(
    folder: Path, texts: Mapping[str, str], arguments: Sequence[str], remedy: str
) -> str | None:
    """Make ``texts`` (by file name) the only Markdown files of ``folder``.

    With ``--check``, return every missing, extra and differing file instead (None if there is
    none). The result is for ``sys.exit``.
    """
    if wrong := _refused(arguments):
        return wrong
    folder.mkdir(parents=True, exist_ok=True)
    extra = sorted(path for path in folder.glob("*.md") if path.name not in texts)
    told = [settle(folder / name, text, arguments, remedy) for name, text in texts.items()]
    if arguments:
        told += [f"{path.name} is not generated; run: {remedy}" for path in extra]
    else:
        for path in extra:
            path.unlink()
    return "\n".join(filter(None, told)) or None


def _refused(arguments: Sequence[str]) -> str:
    if list(arguments) in ([], ["--check"]):
        return ""
    return f"expected no argument or --check, got {' '.join(arguments)}"
