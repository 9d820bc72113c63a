"""The study of what a search is worth, on made-up replies whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made_up import Row, table_of

from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Analysis, HowAsked, Part, figure_rows
from table_texts import rows

N = 100
MEMORY: dict[str, object] = {"temperature": 0.0}
LOCAL = {**MEMORY, "context": "retrieved", "context_search": "bm25", "context_index": "ab"}
WEB = {**LOCAL, "context_source": "searxng:bing", "context_index": "cd"}

Responses = tuple[str, dict[str, object], int, int]  # model, settings, right, refused


def table(responses: Sequence[Responses], expected: Sequence[int] = ()) -> ScoreTable:
    """``N`` questions each: the first ones right, the last ones refused, the rest wrong."""
    made: list[Row] = []
    for place, (_model, _settings, right, refused) in enumerate(responses):
        for unit in range(N):
            if unit >= N - refused:
                made.append((unit, place, 0, "refused", None))
            else:
                made.append((unit, place, 0, "answered", float(unit < right)))
    who = [
        Respondent(model, "direct", settings=str(number))
        for number, (model, *_rest) in enumerate(responses)
    ]
    return table_of(who, made, n_units=N, expected=expected or None)


def analysis(responses: Sequence[Responses], expected: Sequence[int] = ()) -> Analysis:
    method = find_method("chinese_simpleqa")
    measures = tuple(each for each in method.measures if each.of == "correct")
    headline = next(each for each in measures if each.name == method.headline)
    part = Part(
        name="questions", kind="imported", seed=None, recipe={}, table=table(responses, expected),
        measure=headline, others=tuple(each for each in measures if each.label),
        asked=tuple(HowAsked(model, "direct", settings) for model, settings, *_ in responses),
    )  # fmt: skip
    return perform_analysis("retrieval", [part])


TWO: list[Responses] = [
    ("lab/large", MEMORY, 60, 0),
    ("lab/small", MEMORY, 20, 20),
    ("lab/large", LOCAL, 80, 0),
    ("lab/small", LOCAL, 70, 10),
]


def cells(found: Analysis, model: str, measure: str) -> tuple[str, ...]:
    (row,) = [row for row in rows(found) if row[0] == model and row[2] == measure]
    return row[3:]


def test_every_measure_without_and_with_on_the_same_questions() -> None:
    """The small model: 20 right, 60 wrong, 20 refused, then 70, 20 and 10."""
    found = analysis(TWO)
    for label, before, after in (
        ("correct", 20 / 100, 70 / 100),
        ("NA", 20 / 100, 10 / 100),
        ("IN", 60 / 100, 20 / 100),
        ("CGA", 20 / (20 + 60), 70 / (70 + 20)),
        ("F", 2 * 20 / (2 * 80 + 20), 2 * 70 / (2 * 90 + 10)),
    ):
        n, without, with_, change = cells(found, "lab/small direct", label)
        assert n == "100"
        assert without.split()[0] == f"{100 * before:.1f}"
        assert with_.split()[0] == f"{100 * after:.1f}"
        assert change.split()[0] == f"{100 * (after - before):+.1f}"


def test_how_far_models_lie_apart_without_and_with() -> None:
    found = analysis(TWO)
    n, without, with_, change = cells(found, "between models (2)", "correct, highest less lowest")
    assert (n, without.split()[0], with_.split()[0]) == ("100", "40.0", "10.0")
    assert change.split()[0] == f"{10 - 40:+.1f}"
    assert found.finding == (
        "With local, correct changes by +35.0 points in the median of 2 models; the "
        "interval excludes 0 for 2 that rise and 0 that fall; the range changes from 40.0 to 10.0 "
        "points (closer together)."
    )
    apart = cells(found, "between models (2)", "correct, standard deviation")
    assert apart[1].split()[0] == f"{100 * 0.4 / 2**0.5:.1f}"


def test_each_search_is_told_by_itself() -> None:
    found = analysis([*TWO, ("lab/large", WEB, 82, 0), ("lab/small", WEB, 60, 10)])
    assert [row[1] for row in rows(found) if row[2] == "correct"] == [
        "local", "local", "searxng:bing", "searxng:bing",
    ]  # fmt: skip
    assert found.finding.count("With ") == 2
    marks = figure_rows(found.data)
    assert len(marks) == 2 * 2 * 2
    assert marks[-1]["model"] == "lab/small direct, searxng:bing"
    assert (marks[-1]["series"], marks[-1]["correct"]) == ("with", 0.6)


def test_one_model_has_no_spread() -> None:
    found = analysis([TWO[0], TWO[2]])
    assert not any(row[0].startswith("between") for row in rows(found))
    assert found.finding.endswith(
        "of 1 model; the interval excludes 0 for 1 that rise and 0 that fall."
    )


def test_what_is_not_whole_is_left_out_and_named() -> None:
    """A search that failed for a question leaves its run without a reply there."""
    found = analysis(TWO, expected=[N, N, N, N + 1])
    assert {row[0] for row in rows(found)} == {"lab/large direct"}
    assert "Left out" in found.notes[1]


@pytest.mark.parametrize(
    "responses",
    [
        [TWO[0], TWO[1]],
        [TWO[0], TWO[3]],
        [TWO[0], ("lab/large", {**LOCAL, "temperature": 1.0}, 80, 0)],
    ],
)
def test_without_a_pair_there_is_no_study(responses: list[Responses]) -> None:
    with pytest.raises(BadUsage, match="no model here was asked both without a search"):
        analysis(responses)


def test_a_ratio_of_nothing_is_told_as_missing() -> None:
    """Who attempts nothing has no CGA, without or with."""
    silent = [(model, settings, 0, N) for model, settings, *_rest in TWO]
    found = analysis(silent)
    n, without, _with, change = cells(found, "lab/small direct", "CGA")
    assert (n, without, change) == ("100", "—", "—")
    assert not any(row[2].startswith("CGA,") for row in rows(found))
