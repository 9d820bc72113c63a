"""``proofstone audit --ui-language zh``: the summary and the page in Chinese, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from told import Proofstone
from told_words import english_in

WIDE = "qid,discipline,book,gpt,qwen,llama\n" + "".join(
    f"q{place},{'law' if place % 2 else 'art'},b{place // 2},{int(place % 5 != 0)},"
    f"{int(place % 3 != 0)},{int(place % 2 == 0)}\n"
    for place in range(60)
)
LONG = "item,model,sample,score,answer,gold,confidence,tokens\n" + "".join(
    f"q{item},{model},{sample},{int(right)},{'ABCD'[(item + (not right)) % 4]},{'ABCD'[item % 4]},"
    f"{0.5 + 0.1 * ((item + sample) % 5):.1f},{100 + 7 * ((item * 3 + sample * 5 + skill) % 40)}\n"
    for item in range(40)
    for skill, model in enumerate(("gpt", "qwen", "llama"))
    for sample in range(2)
    for right in [(item * 7 + sample * 3 + skill) % (skill + 3) != 0]
)
# Names out of the file, statistics that are called by their inventors, and what is typed.
NAMES = {
    "results.csv", "proofstone", "qid", "discipline", "book", "gpt", "qwen", "llama", "law", "art",
    "Holm", "McNemar", "Benjamini", "Hochberg", "Kendall", "Wilson",
    "Clopper", "Pearson", "Bonferroni", "tau", "p 值", "pass",
}  # fmt: skip


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_the_summary_is_chinese_and_as_wide_as_the_terminal(
    proofstone: Proofstone, wide: Path
) -> None:
    told = proofstone("audit", wide, "--ui-language", "zh")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(
        "读取           results.csv：宽表；60 道题、3 个模型、180 个得分\n"
        "               题目：qid；模型：gpt、qwen、llama；分层：discipline；聚类：book\n"
    )
    assert english_in(told.out, NAMES | {"report.html"}) == set()


def test_the_page_is_chinese_but_for_names_and_code(
    proofstone: Proofstone, wide: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert proofstone("audit", wide, "-o", page, "--ui-language", "zh").code == 0
    text = page.read_text(encoding="utf-8")
    assert '<html lang="zh-Hans">' in text
    assert english_in(text, NAMES | {"Proofstone", "JavaScript"}) == set()


def test_replies_with_confidence_length_and_positions_are_told_in_chinese(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """A long table with answers, stated confidence and tokens, asked twice: all those sections."""
    table, page = tmp_path / "results.csv", tmp_path / "page.html"
    table.write_text(LONG, encoding="utf-8")
    assert proofstone("audit", table, "-o", page, "--ui-language", "zh").code == 0
    roles = {"item", "model", "sample", "score", "answer", "gold", "confidence", "tokens"}
    text = page.read_text(encoding="utf-8")
    assert (
        english_in(
            text,
            NAMES | roles | {"Proofstone", "JavaScript", "Brier", "Chen", "Rao", "Scott", "pass"},
        )
        == set()
    )
    assert "置信度" in text


def test_keys_of_json_and_numbers_are_the_same_in_both_languages(
    proofstone: Proofstone, wide: Path
) -> None:
    english, chinese = (
        json.loads(proofstone("audit", wide, "--json", "--ui-language", language).out)
        for language in ("en", "zh")
    )
    assert english.keys() == chinese.keys()
    assert english["board"]["standings"][0]["ranked"] == chinese["board"]["standings"][0]["ranked"]
    assert [part["name"] for part in english["sections"]] == [
        part["name"] for part in chinese["sections"]
    ]


def test_the_language_ends_with_its_command(proofstone: Proofstone, wide: Path) -> None:
    proofstone("audit", wide, "--ui-language", "zh")
    assert proofstone("audit", wide).out.startswith("read ")
    told = proofstone("audit", wide, "--ui-language", "fr")
    assert (told.code, "choose from: en, zh" in told.err) == (2, True)
