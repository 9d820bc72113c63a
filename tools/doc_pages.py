"""Code blocks, links and headings of the repository's Markdown pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tools.resolved import ROOT

__all__ = ["Block", "anchors", "blocks", "links", "pages", "relinked"]

_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>```+|~~~+) *(?P<info>[^`]*)$")
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
_CODE_OR_LINK = re.compile(
    r"`[^`]*`|(?P<mark>!?)\[(?P<label>(?:[^\]\[`]|`[^`]*`|\[[^\]]*\])*)\]\(<?(?P<target>[^)\s>]+)>?"
    r"(?P<title> \"[^\"]*\")?\)"
)
_HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$")
_UNSAID_IN_ANCHORS = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    """A fenced block: language, tags after it, text, and number of its first line from 1."""

    language: str
    tags: tuple[str, ...]
    text: str
    line: int


def pages() -> list[Path]:
    """Return README, CHANGELOG, everything under docs/ and the methods' READMEs, in order of
    paths."""
    found = [
        ROOT / "README.md",
        ROOT / "README.zh-CN.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    found += (ROOT / "src" / "proofstone" / "methods").glob("*/README.md")
    return sorted(path for path in found if path.is_file())


def blocks(page: str) -> Iterator[Block]:
    """Yield every fenced block of ``page`` in order. An unclosed one extends to the end."""
    opened: re.Match[str] | None = None
    inside: list[str] = []
    for number, line in enumerate([*page.splitlines(), "\0"], 1):
        fence = _FENCE.match(line)
        if opened is None:
            opened, inside = fence, []
        elif line == "\0" or (fence and _closes(fence, opened)):
            yield _block(opened, inside, number)
            opened = None
        else:
            inside.append(line.removeprefix(opened["indent"]))


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return not fence["info"].strip() and fence["marks"].startswith(opened["marks"])


def _block(opened: re.Match[str], inside: list[str], end: int) -> Block:
    language, *tags = opened["info"].split() or [""]
    return Block(language, tuple(tags), "\n".join(inside) + "\n", end - len(inside))


def _fenced(page: str) -> set[int]:
    """Return the numbers of the lines of fenced blocks, fences included."""
    return {
        number
        for block in blocks(page)
        for number in range(block.line - 1, block.line + block.text.count("\n") + 1)
    }


def _prose(page: str) -> list[str]:
    """Return the lines outside fenced blocks, without inline code."""
    fenced, lines = _fenced(page), enumerate(page.splitlines(), 1)
    return [re.sub(r"`[^`]*`", "", line) for number, line in lines if number not in fenced]


def relinked(page: str, change: Callable[[str], str | None]) -> str:
    """Return ``page`` with the target of each link and image outside code as ``change`` returns it.

    Where that is None, a link becomes its label.
    """

    def changed(found: re.Match[str]) -> str:
        if found["target"] is None:
            return found[0]
        target = change(found["target"])
        if target is None:
            return found["label"]
        return f"{found['mark']}[{found['label']}]({target}{found['title'] or ''})"

    fenced, lines = _fenced(page), enumerate(page.splitlines(), 1)
    # A label may go on in the next line of its paragraph.
    parts = groupby(lines, key=lambda each: (each[0] in fenced, each[1].strip() == ""))
    told = [(is_fenced, "\n".join(line for _, line in part)) for (is_fenced, _), part in parts]
    return "".join(
        f"{text if is_fenced else _CODE_OR_LINK.sub(changed, text)}\n" for is_fenced, text in told
    )


def links(page: str) -> list[str]:
    """Return the targets of all links and images of ``page`` outside code."""
    return _LINK.findall("\n".join(_prose(page)))


def anchors(page: str) -> set[str]:
    """Return the fragment of every heading, as common renderers form it."""
    fenced = {block.text for block in blocks(page)}
    found: set[str] = set()
    for line in page.splitlines():
        heading = _HEADING.match(line)
        if heading and not any(line in text.splitlines() for text in fenced):
            plain = _UNSAID_IN_ANCHORS.sub("", heading[1].lower()).strip()
            found.add(plain.replace(" ", "-"))
    return found
