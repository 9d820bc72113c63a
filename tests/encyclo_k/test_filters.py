"""Filters and cleaner: the labelled statements, and what only shows among all rows of a file."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.encyclo_k import method as encyclo_k
from proofstone.methods.encyclo_k.filters import FILTERS, REASONS, clean, sift, sift_row
from proofstone.records.tables import FunnelStep, Row, SiftedRow

README = Path(encyclo_k.__file__).parent / "README.md"


class Labelled(msgspec.Struct, frozen=True):
    """A statement of ours with what should become of it; ``cleaned`` where its text changes."""

    set: str
    label: str
    correct: bool
    text: str
    cleaned: str = ""

    @property
    def language(self) -> str:
        return "Chinese" if re.search("[一-鿿]", self.text) else "English"


LABELLED = [
    msgspec.json.decode(line, type=Labelled)
    for line in Path(__file__).with_name("filter_statements.jsonl").read_bytes().splitlines()
]


def became(one: Labelled) -> tuple[str, str]:
    """The label that the filters give, and the text that is left."""
    row = sift_row(Row("line 1", {"text": one.text, "correct": one.correct}))
    if isinstance(row, SiftedRow):
        return row.reason or "kept", row.row.values["text"]
    return "kept", row.values["text"]


def test_the_labelled_statements_are_enough_and_of_every_kind() -> None:
    assert len(LABELLED) >= 120
    texts = [one.text for one in LABELLED]
    assert len(texts) == len(set(texts))
    for language in ("English", "Chinese"):
        labels = {one.label for one in LABELLED if one.language == language}
        assert labels == {"kept", *(one.reason for one in FILTERS)}


def test_precision_and_recall_are_those_of_the_readme() -> None:
    """Of what is dropped, the share that should be; of what should be, the share that is."""
    section = README.read_text(encoding="utf-8").partition("\n## Filters against labels\n")[2]
    table = section.partition("\n## ")[0].splitlines()
    printed = [line for line in table if line.startswith("| ")][2:]
    assert printed == [_row(part, language) for part, language in _parts()]


def _parts() -> list[tuple[str, str]]:
    parts = list(dict.fromkeys(one.set for one in LABELLED))
    return [(part, language) for part in parts for language in ("English", "Chinese")]


def _row(part: str, language: str) -> str:
    rows = [one for one in LABELLED if (one.set, one.language) == (part, language)]
    got = [(one, *became(one)) for one in rows]
    dropped = [one for one, label, _text in got if label != "kept"]
    wrong = [one for one in dropped if one.label == "kept"]
    due = [one for one in rows if one.label != "kept"]
    hit = len(dropped) - len(wrong)
    reason = sum(label == one.label != "kept" for one, label, _text in got)
    cleaned = sum(text == (one.cleaned or one.text) for one, label, text in got if label == "kept")
    left = sum(label == "kept" for _one, label, _text in got)
    return (
        f"| {part}, {language} | {len(rows)} | {hit}/{len(dropped)} = {hit / len(dropped):.2f} "
        f"| {hit}/{len(due)} = {hit / len(due):.2f} | {reason}/{hit} | {cleaned}/{left} |"
    )


@pytest.mark.parametrize("one", [one for one in LABELLED if one.set == "first"])
def test_the_statements_that_rules_were_written_for(one: Labelled) -> None:
    label, text = became(one)
    assert label == one.label
    if label == "kept":
        assert text == (one.cleaned or one.text)


def test_the_first_reason_counts() -> None:
    """Figure before reference before ambiguity before brevity: the paper's order."""
    text = "我国的情况见图3和第三章"
    for reason in ("figure", "reference", "ambiguous"):
        row = sift_row(Row("line 1", {"text": text, "correct": False}))
        assert isinstance(row, SiftedRow)
        assert row.reason == reason
        text = text.replace({"figure": "图3和", "reference": "见第三章"}.get(reason, ""), "")


def test_cleaning_twice_is_cleaning_once() -> None:
    for one in LABELLED:
        once = clean(one.text).text
        assert clean(once).text == once


@given(st.text())
def test_any_text_is_taken_and_what_is_not_cleaned_stays_itself(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.removed or cleaned.text == text
    sift_row(Row("line 1", {"text": text, "correct": True}))


def test_formulas_and_code_are_not_words() -> None:
    """What looks like a reference inside them is left."""
    for text in (
        "The code `see(Section 3.2)` calls a function of two arguments.",
        "Let $S_{[12]}$ and $$x [3, 4] (see Section 3)$$ be given by their generators.",
    ):
        assert clean(text).text == text
        assert not isinstance(sift_row(Row("line 1", {"text": text, "correct": True})), SiftedRow)


def rows(*values: dict[str, object]) -> list[Row]:
    return [Row(f"line {n}", {"correct": True, **value}) for n, value in enumerate(values, 1)]


GOOD = "Water boils at a lower temperature on high mountains."


def test_the_funnel_counts_each_row_once() -> None:
    """Entered = left + all reasons, by correct and falsified."""
    sifted = sift(
        rows(
            {"id": "a", "text": GOOD},
            {"id": "b", "text": "Figure 2 in Chapter 3 shows our country."},
            {"id": "c", "content": "Heat flows from hot to cold (see Section 3)."},
            {"text": "Figures aside, heat flows from cold to hot.", "correct": False},
            {"statement": "Heat rests.", "correct": "incorrect"},
            {"text": "A ruler without marks draws lines only.", "correct": False, "origin": "b"},
        )
    )
    funnel = sifted.funnel
    assert (funnel.entered, funnel.left, funnel.changed) == ((3, 3), (2, 1), (1, 0))
    assert funnel.steps == (
        FunnelStep("figure", (1, 0)),
        FunnelStep("reference", (0, 0)),
        FunnelStep("ambiguous", (0, 0)),
        FunnelStep("too short", (0, 1)),
        FunnelStep("same once cleaned", (0, 0)),
        FunnelStep("origin dropped", (0, 1)),
    )
    assert tuple(step.reason for step in funnel.steps) == REASONS
    assert [row.place for row in sifted.kept] == ["line 1", "line 3", "line 4"]
    assert sifted.kept[1].values["content"] == "Heat flows from hot to cold."
    assert [(one.row.place, one.reason) for one in sifted.touched] == [
        ("line 2", "figure"),
        ("line 3", ""),
        ("line 5", "too short"),
        ("line 6", "origin dropped"),
    ]


def test_what_cleaning_makes_the_same_is_one_statement() -> None:
    """The one that came so stays; a falsified text that is now the true one goes, and of two
    cleaned ones the first stays. Another book may say the same."""
    sifted = sift(
        rows(
            {"text": GOOD.replace(".", " (see Section 3).")},
            {"text": GOOD},
            {"text": GOOD.replace(".", " (see Section 4)."), "correct": False},
            {"text": "Ice floats on water [3]."},
            {"text": "Ice floats on water [4]."},
            {"text": "Ice floats on water [5].", "book": "Another"},
        )
    )
    assert [row.place for row in sifted.kept] == ["line 2", "line 4", "line 6"]
    assert sifted.funnel.steps[4] == FunnelStep("same once cleaned", (2, 1))


def test_repeats_that_came_so_are_left_to_be_named() -> None:
    assert len(sift(rows({"text": GOOD}, {"text": GOOD})).kept) == 2


def test_a_correction_of_what_was_dropped_stands_by_itself() -> None:
    cleaned = {"text": GOOD.replace(".", " (see Section 3)."), "corrects": "b"}
    for new in ({"text": GOOD, "corrects": "b"}, cleaned):
        sifted = sift(rows({"id": "b", "text": "Figure 2 shows how water boils."}, new))
        assert [row.values for row in sifted.kept] == [{"correct": True, "text": GOOD}]


def test_rows_that_cannot_be_read_are_left_to_be_named() -> None:
    """Their problems are said by the reader, by line and field."""
    odd = rows({"text": 5}, {"text": " "}, {}, {"text": GOOD, "correct": "maybe"})
    assert list(sift(odd).kept) == odd


def test_no_rows_give_an_empty_funnel() -> None:
    assert sift([]).funnel.left == (0, 0)


def _reason_of(text: str) -> str:
    sifted = sift_row(Row("line 1", {"text": text, "correct": True}))
    return sifted.reason if isinstance(sifted, SiftedRow) else ""


@pytest.mark.parametrize(
    ("reason", "drops", "keeps"),
    [
        ("figure", "The arrows in the diagram point to the sink.",
         "In the figure of eight the rope crosses itself once."),
        ("figure", "从图可知，二者成正比。", "若图中存在回路，则该图不是树。"),
        ("figure", "表中数据表明产量逐年上升。", "元素周期表中的数据由实验测得。"),
        ("reference", "The bound is improved later in the book.",
         "The bound was improved later in the century."),
        ("reference", "This book uses the first convention.",
         "Genesis is the first book of the Bible; this book opens with the creation."),
        ("reference", "As we shall see, the limit exists.",
         "As is seen from orbit, the coast runs north."),
        ("reference", "The preceding example shows that the limit need not exist.",
         "For example, 1/n tends to 0; the preceding example has a limit that is not reached."),
        ("reference", "The mechanism of reaction (c) is not known.",
         "Of the cases (a) x = 0 and (b) x > 0, case (b) alone has a solution."),
        ("reference", "前面已经介绍了浮力的概念。", "房屋前面已经种满了树木。"),
        ("reference", "由反应②可得产物的质量。", "已知①碳燃烧，②一氧化碳燃烧，其中反应②放热较少。"),
        ("reference", "本书将介绍线性空间。", "牛顿在哪本书中提出了运动定律，史家没有争议。"),
        ("ambiguous", "This treaty ended the war.",
         "The Treaty of Nanking was signed in 1842; this treaty ended the war."),
        ("ambiguous", "It was she who discovered polonium.",
         "It was Marie Curie who discovered polonium, and she named it."),
        ("ambiguous", "该战役改变了双方的力量对比。",
         "赤壁之战发生于208年，该战役改变了双方的力量对比。"),
        ("ambiguous", "这场改革触动了贵族的利益。", "王安石推行变法，这场改革触动了贵族的利益。"),
    ],
)  # fmt: skip
def test_what_points_away_is_dropped_and_what_looks_like_it_stays(
    reason: str, drops: str, keeps: str
) -> None:
    assert _reason_of(drops) == reason
    assert _reason_of(keeps) == ""
