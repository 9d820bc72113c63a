"""Whether a run may pass: by intervals, never by a difference that was merely not seen."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from made_up import right_of, table_of
from test_between import SCALE, one, renamed, side

from proofstone.errors import BadUsage
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.gate import (
    Gated,
    GateRule,
    Look,
    earlier_looks,
    gate_sides,
    look_at,
    render_gate,
    to_junit,
    to_markdown,
)
from proofstone.results.request import Ask
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair

TWO_POINTS = GateRule(max_drop=0.02)


def table(values: list[float], expected: int | None = None) -> ScoreTable:
    rows = [(i, 0, 0, "answered", value) for i, value in enumerate(values) if value >= 0]
    return table_of(
        [Respondent("lab/a", "direct")], rows, n_units=len(values),  # type: ignore[arg-type]
        expected=[expected or len(values)],
    )  # fmt: skip


def gate(
    baseline: list[float], run: list[float], rule: GateRule = TWO_POINTS, **more: Any
) -> Gated:
    """The answer for two columns of scores; -1 is a reply that is missing."""
    sides = side("base", table(baseline)), side("new", table(run), [{"model": "lab/b"}])
    return gate_sides(*sides, rule, Ask(population="bank"), **more)


def check(gated: Gated, name: str):
    return next(check for check in gated.checks if check.name == name)


def test_nothing_unlike_passes_once_there_are_enough_items() -> None:
    """194 ties exclude a drop of 2 points, 193 do not: ties are no proof by themselves. As the only
    look planned it takes 183."""
    assert gate([1.0] * 194, [1.0] * 194).verdict == "pass"
    assert gate([1.0] * 183, [1.0] * 183, single=True).verdict == "pass"
    assert gate([1.0] * 182, [1.0] * 182, single=True).verdict == "inconclusive"
    found = gate([1.0] * 193, [1.0] * 193)
    assert (found.verdict, found.exit_code) == ("inconclusive", 3)
    assert check(found, "drop").more >= 1


def test_a_second_look_asks_for_more_than_the_first() -> None:
    """With 300 ties it passes at the first look and not at the second; the text says which look it
    is. Looked at once as planned, a pair cannot be looked at so again."""
    values = [1.0] * 300
    assert gate(values, values).verdict == "pass"
    before = (Look(at=1.0, n=150, marks=b""),)
    found = gate(values, values, earlier=before)
    assert found.verdict == "inconclusive"
    assert found.look.number == 2
    assert "Look 2 at this pair (before: 150 items)" in render_gate(found)
    with pytest.raises(BadUsage, match="not its only look"):
        gate(values, values, earlier=before, single=True)


def test_a_look_is_the_same_pair_with_more_items() -> None:
    """One with another score on an item that both have is another candidate; the same again is no
    further look."""
    right = [1.0] * 40

    def look(run: list[float]) -> Look:
        n = len(run)
        return look_at(side("base", table(right[:n])), side("new", table(run)), at=float(n))

    first, more = look([1.0] * 19 + [0.0]), look([1.0] * 19 + [0.0] + [1.0] * 20)
    other = look([1.0] * 40)
    assert earlier_looks(more, [first, other]) == (first,)
    assert earlier_looks(other, [first, more]) == ()
    assert earlier_looks(first, [first]) == ()


def test_a_clear_drop_fails() -> None:
    """60 of 200 lost: the whole interval is below -2 points."""
    found = gate([1.0] * 200, [0.0] * 60 + [1.0] * 140)
    assert (found.verdict, found.exit_code) == ("fail", 1)
    assert found.pair.difference is not None
    assert found.pair.difference.estimate.high < -0.02


def test_a_drop_that_may_be_or_not_says_how_many_more_questions() -> None:
    """Four of 200 lost, six won: more questions are needed, and finitely many."""
    found = gate([1.0] * 4 + [0.0] * 6 + [1.0] * 190, [0.0] * 4 + [1.0] * 196)
    drop = check(found, "drop")
    assert found.verdict == "inconclusive"
    assert drop.more is not None
    assert 1 <= drop.more < 2000
    assert "more questions like these would decide with 80% power" in drop.said


def test_a_drop_at_the_limit_is_never_decided() -> None:
    """One of 50 lost against a limit of two points: infinite, in words."""
    found = gate([1.0] * 50, [0.0] + [1.0] * 49)
    assert math.isinf(check(found, "drop").more or 0)
    assert "no number of questions would decide" in check(found, "drop").said


def test_one_item_tells_nothing() -> None:
    """It has no interval but all of the scale."""
    found = gate([1.0], [0.0])
    assert found.verdict == "inconclusive"
    assert "from so few" in check(found, "drop").said


def test_an_incomplete_run_cannot_pass() -> None:
    """Half of 400 ties: where complete it would pass. Nor against an incomplete baseline."""
    half = [1.0] * 200 + [-1.0] * 200
    for columns in (([1.0] * 400, half), (half, [1.0] * 400)):
        found = gate(*columns)
        assert found.verdict == "inconclusive"
        assert "an incomplete run cannot pass" in check(found, "complete").said
    assert gate([1.0] * 400, [1.0] * 400).verdict == "pass"


def test_an_incomplete_run_fails_where_nothing_could_save_it() -> None:
    """100 of 200 lost, ten missing; were these ten right it would still be far below."""
    found = gate([1.0] * 200, [0.0] * 100 + [1.0] * 90 + [-1.0] * 10)
    assert found.verdict == "fail"
    assert "at best, with all missing responses correct, -50.0" in check(found, "drop").said


@pytest.mark.parametrize(
    ("right", "minimum", "verdict"),
    [(95, 0.8, "pass"), (60, 0.8, "fail"), (82, 0.8, "inconclusive"), (100, 0.97, "inconclusive")],
)
def test_the_minimum_goes_by_the_interval_too(right: int, minimum: float, verdict: str) -> None:
    """Of 100: 95 is above 80 (Wilson from 88.8), 60 below, 82 open, and all right of 100 may be
    96.3%."""
    values = [1.0] * right + [0.0] * (100 - right)
    found = gate(values, values, GateRule(max_drop=1.0, minimum=minimum))
    assert check(found, "minimum").verdict == verdict
    assert found.verdict == verdict


def test_failing_goes_before_not_knowing() -> None:
    """The minimum fails; the drop is open: fail."""
    values = [1.0] * 10 + [0.0] * 40
    found = gate(values, values, GateRule(max_drop=0.02, minimum=0.8))
    assert [c.verdict for c in found.checks] == ["pass", "pass", "inconclusive", "fail"]
    assert found.verdict == "fail"


@pytest.mark.parametrize(
    ("factor", "first", "said"),
    [
        ("scorer", "1", "the scorer differs between run and baseline"),
        ("judge", "1", "Different judges graded them (A: 1; B: 2)"),
        ("judge", "", "the judge is known of one side alone, so it may differ"),
    ],
)
def test_scores_made_otherwise_are_no_comparison(factor: str, first: str, said: str) -> None:
    """The same replies would have other scores."""
    values = table([1.0] * 400)
    sides = side("base", values, [{factor: first}]), side("new", values, [{factor: "2"}])
    found = gate_sides(*sides, TWO_POINTS, Ask())
    assert found.verdict == "inconclusive"
    assert check(found, "paired").said.startswith(said)


def test_nothing_in_common_and_other_scales_cannot_be_told() -> None:
    """Each with its reason."""
    apart = side("new", renamed(one(9, 10), "abcdefghij"))
    found = gate_sides(side("base", renamed(one(9, 10), "klmnopqrst")), apart, TWO_POINTS, Ask())
    assert found.verdict == "inconclusive"
    assert "no item in common" in check(found, "paired").said
    scaled = side("new", one(9, who=Respondent("lab/a", "verdicts", scale=SCALE)))
    found = gate_sides(side("base", one(9)), scaled, TWO_POINTS, Ask())
    assert "different scales" in check(found, "paired").said


def test_several_respondents_are_refused() -> None:
    """A gate is for one; the message names them."""
    both = table_of(
        [Respondent("lab/a", "direct"), Respondent("lab/b", "direct")],
        [*right_of(4, 2, 0), *right_of(4, 2, 1)],
        n_units=4,
    )
    with pytest.raises(BadUsage, match="has 2") as refused:
        gate_sides(side("base", one(2, 4)), side("new", both), TWO_POINTS, Ask())
    assert "lab/a direct, lab/b direct" in refused.value.hint


@pytest.mark.parametrize("rule", [GateRule(max_drop=1.1), GateRule(max_drop=0.1, minimum=-0.1)])
def test_limits_out_of_range_are_refused(rule: GateRule) -> None:
    with pytest.raises(BadUsage, match="from 0 to 100"):
        gate([1.0], [1.0], rule)


def test_samples_that_are_missing_may_still_change_a_unit() -> None:
    """Of several samples some are there: the unit's mean is open, so nothing fails yet."""
    run = table([0.0] * 100, expected=200)
    made = [{"model": "lab/a", "samples": "2"}]
    sides = side("base", table([1.0] * 100), made), side("new", run, made)
    found = gate_sides(*sides, TWO_POINTS, Ask())
    assert found.verdict == "inconclusive"


def test_no_drop_at_all_allowed() -> None:
    """A limit of 0 needs a run that is better: ties leave it open."""
    rule = GateRule(max_drop=0.0)
    assert gate([1.0] * 500, [1.0] * 500, rule).verdict == "inconclusive"
    assert gate([0.0] * 50 + [1.0] * 50, [1.0] * 100, rule).verdict == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_a_run_at_the_limit_seldom_passes_by_luck(n: int) -> None:
    """4,000 runs whose true drop is the limit (7% lost, 5% won): at most 3.5% have an interval
    above it, as many one below."""
    rng, passed, failed = np.random.default_rng(5), 0, 0
    for lost, won, level in rng.multinomial(n, [0.07, 0.05, 0.88], 4000):
        first = np.repeat([1.0, 0.0, 1.0], [lost, won, level])
        second = np.repeat([0.0, 1.0, 1.0], [lost, won, level])
        found = compare_pair(first, second, SharedKeys.none(n), population="bank").estimate
        passed += found.low > -0.02
        failed += found.high < -0.02
    assert passed / 4000 < 0.035
    assert failed / 4000 < 0.035


def test_the_answer_as_text() -> None:
    """Whole, as a person reads it."""
    assert render_gate(gate([1.0] * 20, [1.0] * 19 + [0.0])) == TEXT


def test_the_answer_as_junit() -> None:
    """One case a check, failures and errors counted, and any character taken."""
    found = gate([1.0] * 200, [0.0] * 60 + [1.0] * 140, GateRule(max_drop=0.02, minimum=0.65))
    root = ET.fromstring(to_junit(found))  # noqa: S314 - our own
    (suite,) = root
    assert {k: suite.get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "4", "failures": "1", "errors": "1",
    }  # fmt: skip
    told = {case.get("name"): [each.tag for each in case] for case in suite.iter("testcase")}
    assert told == {
        "paired: lab/a direct": [],
        "complete: lab/a direct": [],
        "drop: lab/a direct": ["failure"],
        "minimum: lab/a direct": ["error"],
    }


def test_names_cannot_break_junit_or_markdown() -> None:
    """Control characters, angle brackets and bars in a model's name."""
    who = Respondent("lab/<b>|\x07\u202e`x`", "direct")
    sides = side("base", one(20, who=who)), side("new", one(20, who=who))
    found = gate_sides(*sides, TWO_POINTS, Ask())
    root = ET.fromstring(to_junit(found))  # noqa: S314 - our own
    assert "lab/<b>|" in str(root[0][0].get("name"))
    text = to_markdown(found)
    assert r"lab/\<b\>\|" in text
    assert "\x07" not in text


def test_the_answer_as_markdown() -> None:
    """Whole; items by id alone."""
    assert to_markdown(gate([1.0] * 20, [1.0] * 19 + [0.0])) == MARKDOWN


TEXT = """\
gate      INCONCLUSIVE
run       lab/a direct; new on new, 20 items
baseline  lab/a direct; base on base, 20 items
measure   accuracy (all replies)
paired    pass: on 20 common items
complete  pass: 20 responses of the run, none missing
drop      inconclusive: run - baseline -5.0 [-20.6, 11.5] points; at most 2.0 points of drop are
          allowed; 1,300 more questions like these would decide with 80% power, if this is the true
          value
differs   model: lab/a -> lab/b; the difference is between two models
so        A and B differ only in the model.
items     won 0, lost 1, equal 19
lost      1300
rule      pass where the interval of run - baseline lies above -2.0 points, fail where it lies
          below, otherwise inconclusive. First look at this pair: 96% interval. False-pass rate for
          a run exactly at the limit, over all looks: at most about 2.5%
"""

MARKDOWN = r"""
## Gate: INCONCLUSIVE

| | |
|---|---|
| run | lab/a direct; new on new, 20 items |
| baseline | lab/a direct; base on base, 20 items |

| check | answer | |
|---|---|---|
| paired | **pass** | on 20 common items |
| complete | **pass** | 20 responses of the run, none missing |
| drop | **inconclusive** | run - baseline -5.0 \[-20.6, 11.5\] points; at most 2.0 points of drop are allowed; 1,300 more questions like these would decide with 80% power, if this is the true value |

What differs:

- model: lab/a -\> lab/b; the difference is between two models

A and B differ only in the model.

0 items won, 1 lost.
Lost: 1300.

Rule: pass where the interval of run - baseline lies above -2.0 points, fail where it lies below, otherwise inconclusive. First look at this pair: 96% interval. False-pass rate for a run exactly at the limit, over all looks: at most about 2.5%.
""".removeprefix("\n")  # noqa: E501 - rows of a table


def test_a_run_is_no_baseline_of_its_own() -> None:
    """It would say that more questions would decide between a run and itself."""
    who = Respondent("lab/a", "direct", runs=(b"\x01" * 32,))
    same = side("base", one(20, who=who))
    with pytest.raises(BadUsage, match="the run and the baseline are the same"):
        gate_sides(same, same, TWO_POINTS, Ask(population="bank"))
