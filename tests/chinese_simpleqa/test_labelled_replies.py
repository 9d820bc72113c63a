"""Two hundred replies labelled by hand, in two languages: what a rule settles is right.

``labelled_responses.jsonl`` holds a question with its answer, a reply, the grade that it deserves
by the three definitions, and what kind of reply it is. ``bare``: the answer or an alias and nothing
else; a rule settles these, and those within a tolerance that the question states.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proofstone.methods.chinese_simpleqa.graded_files import graded_row, read_responses
from proofstone.methods.chinese_simpleqa.method import METHOD
from proofstone.methods.chinese_simpleqa.sameness import GRADES
from proofstone.records.tables import Row
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict

FILE = Path(__file__).parent / "labelled_responses.jsonl"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()
]
SETTLED = {"bare", "within the tolerance"}
EMPTY = 2  # replies without a text


class Labels:
    """A judge that knows the label of every reply in the file, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self._known = {(row["question"], row["response"]): row["grade"] for row in ROWS}

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        self.asked += 1
        label = self._known[question.exhibits[0].text, question.exhibits[-1].text]
        judge_vote = JudgeVote(judge="labels", state="voted", label=label, reason="by hand")
        return PanelVerdict(state="decided", label=label, judge_votes=(judge_vote,))


async def graded(judge: Labels | None) -> list[dict[str, Any]]:
    units = read_responses(Row(f"line {n}", row) for n, row in enumerate(ROWS, start=1))
    scores = await METHOD.score(units, judge)
    by_unit = {
        place: [score for score in scores if score.unit == place] for place in range(len(units))
    }
    return [graded_row({"label": row["grade"]}, by_unit[n]) for n, row in enumerate(ROWS)]


def test_the_labels_are_of_both_languages_and_all_three_grades() -> None:
    counts = Counter((row["language"], row["grade"]) for row in ROWS)
    assert sum(counts.values()) == 200
    assert {language for language, _grade in counts} == {"en", "zh"}
    assert all(counts[language, grade] >= 15 for language in ("en", "zh") for grade in GRADES)
    kinds = Counter(row["kind"] for row in ROWS)
    assert all(kinds[kind] for kind in ("hedged", "partial", "corrected midway", "several"))


async def test_rules_err_on_none_and_settle_what_they_are_for() -> None:
    """Whatever a rule settles is labelled correct; all bare answers are settled, nothing else is;
    and a reply without a text is not attempted."""
    found = await graded(None)
    for row, made in zip(ROWS, found, strict=True):
        by_rule = made["basis"].startswith("rule")
        assert by_rule == (row["kind"] in SETTLED), row
        if made["basis"] != "waiting":
            assert made["grade"] == row["grade"], row
    n_settled = sum(row["kind"] in SETTLED for row in ROWS)
    assert sum(made["basis"] == "waiting" for made in found) == 200 - n_settled - EMPTY


async def test_a_judge_that_is_right_brings_every_label_back() -> None:
    """It is asked only about what no rule settled; its labels come out as they went in."""
    judge = Labels()
    found = await graded(judge)
    assert [made["grade"] for made in found] == [row["grade"] for row in ROWS]
    assert judge.asked == sum(row["kind"] not in SETTLED for row in ROWS) - EMPTY


@pytest.mark.parametrize("prefix", ["Not ", "不是"])
async def test_no_reply_is_settled_once_something_stands_before_it(prefix: str) -> None:
    """A negation is no dress."""
    rows = [{**row, "response": prefix + row["response"]} for row in ROWS if row["response"]]
    units = read_responses(Row(f"line {n}", row) for n, row in enumerate(rows, start=1))
    assert await METHOD.score(units, None) == []


async def test_a_reply_cut_off_is_looked_at_and_an_empty_one_is_not() -> None:
    """What was said before the cut may be the answer; nothing is no answer."""
    (unit,) = read_responses([Row("line 1", {"question": "Q?", "answer": "a", "response": "a"})])
    cut = replace(
        unit, responses={s: replace(r, finish="length") for s, r in unit.responses.items()}
    )
    (score, *_rest) = await METHOD.score([cut], None)
    assert (score.outcome, score.value, score.flags) == ("answered", 1.0, ("truncated",))
    none = {s: replace(r, text=" ", finish="length") for s, r in unit.responses.items()}
    (score, *_rest) = await METHOD.score([replace(unit, responses=none)], None)
    assert (score.outcome, score.value) == ("truncated", None)
    refused = {s: replace(r, text="", refusal="I must not") for s, r in unit.responses.items()}
    (score, *_rest) = await METHOD.score([replace(unit, responses=refused)], None)
    assert (score.outcome, score.value) == ("refused", None)
