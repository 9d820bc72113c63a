"""The README keeps its size, and the Chinese one shows the same commands and sections."""

from __future__ import annotations

import re

from tools.doc_pages import blocks
from tools.resolved import ROOT

ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def code_of(page: str) -> list[list[str]]:
    """The lines of each block, without comments, which are translated."""
    return [
        [line.partition("  #")[0].rstrip() for line in block.text.splitlines()]
        for block in blocks(page)
    ]


def test_the_readme_has_at_most_120_lines_and_700_words() -> None:
    assert len(ENGLISH.splitlines()) <= 120
    assert len(ENGLISH.split()) <= 700


def test_no_sentence_of_the_readme_is_longer_than_25_words() -> None:
    prose = re.sub(
        r"```.*?```|^\|.*$|^#.*$|!\[[^\n]*", "\n\n", ENGLISH, flags=re.DOTALL | re.MULTILINE
    )
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    sentences = re.split(r"(?<=[.:?])\s+|\n\s*\n|^- ", prose, flags=re.MULTILINE)
    assert [each for each in sentences if len(each.split()) > 25] == []


def test_the_chinese_readme_has_the_same_sections_and_code() -> None:
    assert CHINESE.count("\n## ") == ENGLISH.count("\n## ")
    assert code_of(CHINESE) == code_of(ENGLISH)


def test_the_chinese_readme_has_the_same_figures_and_links() -> None:
    """Numbers, dates and versions of the prose, and the targets of links."""

    def prose(page: str) -> str:
        return re.sub(r"```.*?```", "", page, flags=re.DOTALL)

    def figures(page: str) -> list[str]:
        # "four models" is a word in English, and a character in Chinese.
        without_links = re.sub(r"\]\([^)]*\)|https?://\S+", "", prose(page))
        return sorted(re.findall(r"\d+(?:[.-]\d+)*", without_links))

    def links(page: str) -> set[str]:
        return set(re.findall(r"\]\(([^)]*)\)", page)) - {"README.md", "README.zh-CN.md"}

    assert figures(CHINESE) == figures(ENGLISH)
    assert links(CHINESE) == links(ENGLISH)
