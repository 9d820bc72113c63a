"""``report --ui-language zh``: what the method declares of its measures is said in Chinese too."""

from __future__ import annotations

from pathlib import Path

from proofstone.api import create_workspace
from small_bank import write_bank
from told import Proofstone


def test_a_report_says_its_method_s_measures_in_chinese(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    with create_workspace(tmp_path / "work") as workspace:
        forms = workspace.build_form(workspace.import_bank(write_bank(tmp_path)), questions=4)
        workspace.run(
            forms, models=["sim/ann?ability=0.8", "sim/bob"], prompt_method=["direct", "verdicts"]
        )
    page = tmp_path / "page.html"
    told = proofstone(
        "report", "old-books", "-o", page, "--ui-language", "zh", "-w", tmp_path / "work"
    )
    assert told.code == 0
    text = page.read_text(encoding="utf-8")
    assert '<html lang="zh-Hans">' in text
    for english, chinese in (
        ("all scored responses", "全部已评分的回复"),
        ("True/false per statement", "逐条判断陈述真伪"),
    ):
        assert english not in text
        assert chinese in text
