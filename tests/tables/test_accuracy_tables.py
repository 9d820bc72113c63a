"""Accuracies alone: what is read, what is recomputed, what cannot be said."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reading import written

from proofstone.errors import BadInput, BadUsage
from proofstone.files.columns import read_columns
from proofstone.records.scores import Accuracies
from proofstone.results.audit.accuracies import read_accuracies
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.columns import guess_layout

WIDE = "model,all,law,art\na,60,50,75\nb,44,40,50\nn,,60,40\n"


def read(path: Path, counts: dict[str, int] | None = None) -> Accuracies:
    table = read_columns(path)
    return read_accuracies(table, guess_layout(table, Layout()), counts)


def test_a_row_of_item_counts_is_no_model(tmp_path: Path) -> None:
    """Percentages are divided; the overall column is apart."""
    found = read(written(tmp_path, WIDE))
    assert found.models == ("a", "b")
    assert found.strata == ("law", "art")
    assert found.value.tolist() == [[0.5, 0.75], [0.4, 0.5]]
    assert (found.overall.tolist(), found.counts.tolist(), found.n_items) == (
        [0.6, 0.44],
        [60, 40],
        100,
    )


def test_one_row_a_model_and_stratum_is_the_same(tmp_path: Path) -> None:
    """A stratum called overall is the overall column."""
    text = (
        "model,subject,accuracy,n\na,law,50,60\na,art,75,40\na,overall,60,100\n"
        "b,law,40,60\nb,art,50,40\nb,overall,44,100\n"
    )
    found = read(written(tmp_path, text))
    assert found.strata == ("law", "art")
    assert found.value.tolist() == [[0.5, 0.75], [0.4, 0.5]]
    assert (found.counts.tolist(), found.overall.tolist(), found.by) == (
        [60, 40],
        [0.6, 0.44],
        "subject",
    )


def test_counts_may_be_given_beside_the_table(tmp_path: Path) -> None:
    """Those of strata that there are not are refused."""
    path = written(tmp_path, WIDE.replace("n,,60,40\n", ""))
    assert read(path, {"law": 3, "art": 4}).counts.tolist() == [3, 4]
    with pytest.raises(BadUsage, match="no stratum music"):
        read(path, {"music": 3})


def test_a_model_that_comes_twice_is_a_problem(tmp_path: Path) -> None:
    """Both lines are named, with cells that are no accuracy."""
    path = written(tmp_path, "model,all,law\na,60,x\nb,50,50\na,61,61\n")
    with pytest.raises(BadInput) as caught:
        read(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column law: expected a number from 0 to 100, came 'x'",
        "line 4, column model: model a came before, at line 2",
    ]


def test_overall_accuracies_are_recomputed_from_their_strata(tmp_path: Path) -> None:
    """a: (60 * 50 + 40 * 75) / 100 = 60; b: (60 * 40 + 40 * 50) / 100 = 44, printed as 45; c and d
    agree."""
    rows = "a,60.0,50.0,75.0\nb,45.0,40.0,50.0\nc,56.0,60.0,50.0\nd,34.0,40.0,25.0\nn,,60,40\n"
    audit = audit_files([written(tmp_path, f"model,all,law,art\n{rows}")], Asked())
    (found,) = [section for section in audit.sections if section.name == "consistency"]
    assert found.finding == (
        "all: mean of the groups weighted by their items: 3 of 4 rows agree within rounding. "
        "1 printed number disagrees with the others: b, all (45.0 printed, 44.0 recomputed, "
        "\u00b10.05 allowed)."
    )


def test_without_counts_nothing_has_an_interval(tmp_path: Path) -> None:
    """Nor a rank, and the notes say so."""
    audit = audit_files([written(tmp_path, WIDE.replace("n,,60,40\n", ""))], Asked())
    (group,) = audit.board.standings
    assert [row.rank for row in group.ranked] == [None, None]
    assert all(math.isnan(row.estimate.low) for row in group.ranked)
    assert any("numbers of items are not known" in note for note in audit.notes)
    assert [section.name for section in audit.sections] == ["strata", "consistency"]


def boards(folder: Path, *heads: str, spread: float = 8.0) -> list[Path]:
    """A table of accuracies of the same five models for each name."""
    return [
        written(
            folder,
            "model,accuracy\n"
            + "".join(f"lab-{k},{40 + spread * k + (k + place) % 2}\n" for k in range(5)),
            f"{head}.csv",
        )
        for place, head in enumerate(heads)
    ]


def test_two_files_of_the_same_models_are_two_benchmarks(tmp_path: Path) -> None:
    """Each is a stratum with the file's name; the overall is the mean of both, and whether they
    order models alike is said."""
    audit = audit_files(boards(tmp_path, "law", "math"), Asked())
    (group,) = audit.board.standings
    (part,) = group.breakdowns
    assert (part.by, [each.name for each in part.groups]) == ("benchmark", ["law", "math"])
    assert group.ranked[0].estimate.value == pytest.approx((72 + 73) / 200)
    benchmarks = next(section for section in audit.sections if section.name == "benchmarks")
    assert benchmarks.finding.startswith("law and math order 5 models at Kendall's tau-b 1.00")


def test_files_of_other_models_are_parts_of_one_table(tmp_path: Path) -> None:
    """Where they have the same strata."""
    first = written(tmp_path, "model,all,law,math\na,55,50,60\nb,65,60,70\n", "a.csv")
    second = written(tmp_path, "model,all,law,math\nc,70,80,60\n", "b.csv")
    (group,) = audit_files([first, second], Asked()).board.standings
    assert [row.name for row in group.ranked] == ["c", "b", "a"]
    assert [part.by for part in group.breakdowns] == ["stratum"]


SCORED = Asked(named=Layout(score="accuracy"))


def test_joined_files_keep_metrics_and_standard_errors(tmp_path: Path) -> None:
    """Of benchmarks: b has (60 + 61) / 2 with sqrt(1 + 4) / 2 points of error; each benchmark has
    its own interval, and metrics carry the file's name."""
    head = "model,accuracy,stderr,bleu\n"
    files = [
        written(tmp_path, f"{head}a,50,1,20\nb,60,1,30\n", "one.csv"),
        written(tmp_path, f"{head}a,55,2,22\nb,61,2,33\n", "two.csv"),
    ]
    audit = audit_files(files, SCORED)
    (group,) = audit.board.standings
    best = group.ranked[0].estimate
    assert best.value == pytest.approx(0.605)
    assert best.low == pytest.approx(0.605 - 1.959964 * math.sqrt(5) / 200)
    (part,) = group.breakdowns
    assert part.groups[1].estimates[0].low == pytest.approx(0.61 - 1.959964 * 0.02)
    (metrics,) = (each for each in audit.sections if each.name == "metrics")
    assert {"one: bleu", "two: bleu"} <= {column.name for column in metrics.tables[0].columns}


def test_joined_files_of_other_models_are_one_leaderboard(tmp_path: Path) -> None:
    """With the errors and metrics of each; a file without errors leaves its models without."""
    files = [
        written(tmp_path, "model,accuracy,stderr,bleu\na,50,1,20\nb,60,1,30\n", "one.csv"),
        written(tmp_path, "model,accuracy,bleu\nc,70,22\n", "two.csv"),
    ]
    audit = audit_files(files, SCORED)
    ranked = audit.board.standings[0].ranked
    assert [(row.name, math.isnan(row.estimate.low)) for row in ranked] == [
        ("c", True),
        ("b", False),
        ("a", False),
    ]
    (metrics,) = (each for each in audit.sections if each.name == "metrics")
    assert [row[-1] for row in metrics.tables[0].rows] == ["20", "30", "22"]


def test_a_table_of_models_describes_those_of_an_item_table(tmp_path: Path) -> None:
    """Joined by name: sizes and families reach the scaling section; models without scores are
    named; alone it is refused."""
    sizes = "model,params,family\nx1,1B,ant\nx2,10B,ant\nx3,100B,ant\nzed,7B,bee\n"
    models = written(tmp_path, sizes, "models.csv")
    rows = "".join(f"q{n},{n % 2},{int(n % 4 > 0)},1\n" for n in range(40))
    items = written(tmp_path, f"item,x1,x2,x3\n{rows}", "items.csv")
    audit = audit_files([items, models], Asked())
    scaling = next(section for section in audit.sections if section.name == "scaling")
    assert [row[0] for row in scaling.tables[0].rows] == ["ant"]
    assert "models.csv describes 1 model without scores here: zed." in audit.notes
    assert [file.holds for file in audit.files] == ["40 items, 3 models, 120 scores", "4 models"]
    scores = written(tmp_path, "model,accuracy\nx1,50\nx2,60\nx3,70\n", "scores.csv")
    again = audit_files([scores, models], Asked())
    assert again.board.standings[0].ranked[0].card.family == "ant"
    with pytest.raises(BadUsage, match="says what models are, and holds no score"):
        audit_files([models], Asked())


def test_accuracies_and_items_are_audited_apart(tmp_path: Path) -> None:
    """They cannot be joined."""
    accuracies = written(tmp_path, WIDE, "a.csv")
    items = written(tmp_path, "item,model,score\n1,a,1\n2,a,0\n", "b.csv")
    with pytest.raises(BadUsage, match="files with items cannot be combined"):
        audit_files([accuracies, items], Asked())


def test_columns_of_parameters_and_families_reach_the_scaling_section(tmp_path: Path) -> None:
    """Scores rise by 10 points a tenfold in one family and by 20 in the other; names tell nothing.
    A bare number is billions, one of a million or more counts parameters."""
    sizes = [("1B", "1"), ("10", "10B"), ("100b", "1e11"), ("1T", "1000000000000")]
    rows = [
        f"{family}{k},{family},{size[place]},{40 + (10 + 10 * place) * k}"
        for place, family in enumerate(("ant", "bee"))
        for k, size in enumerate(sizes)
    ]
    path = written(tmp_path, "model,family,params,accuracy\n" + "\n".join(rows) + "\n")
    audit = audit_files([path], Asked())
    scaling = next(section for section in audit.sections if section.name == "scaling")
    slopes = {row[0]: row[4].value for row in scaling.tables[0].rows}
    assert slopes == {"ant": pytest.approx(0.10), "bee": pytest.approx(0.20)}
    assert audit.board.standings[0].ranked[0].card.family == "bee"


def test_parameters_that_are_no_number_are_named(tmp_path: Path) -> None:
    """With line and column, as are two sizes of one model."""
    path = written(
        tmp_path, "model,task,params,accuracy\na,x,big,50\nb,x,7B,60\nb,y,8B,60\na,y,big,50\n"
    )
    with pytest.raises(BadInput) as caught:
        audit_files([path], Asked())
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column params: 'big' is no number of parameters (7B, 350M)",
        "line 4, column params: is '8B', and another record of b has '7B'",
    ]


def test_a_cell_that_is_no_accuracy_is_named(tmp_path: Path) -> None:
    """By line and column."""
    with pytest.raises(BadInput) as caught:
        read(
            written(
                tmp_path,
                "model,all,law,art\na,60,50,good\nb,44,40,50\nc,44,40,101\nd,44,40,7\ne,44,40,8\n",
            )
        )
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column art: expected a number from 0 to 100, came 'good'",
        "line 4, column art: expected a score from 0 to 100, came 101",
    ]


def test_a_standard_error_of_zero_gives_no_interval_and_no_test(tmp_path: Path) -> None:
    """It is what the formula gives where all items came out alike, not certainty."""
    path = written(tmp_path, "model,accuracy,stderr\na,1.0,0\nb,0.7,0.02\nc,0.6,0.02\n")
    audit = audit_files([path], Asked())
    (group,) = audit.board.standings
    assert [math.isnan(row.estimate.low) for row in group.ranked] == [True, False, False]
    assert [(pair.first, pair.second) for pair in group.compared] == [(1, 2)]
    assert any(
        "a: no interval, because the standard error is missing or 0" in n for n in audit.notes
    )
    (pairs,) = (each for each in audit.sections if each.name == "pairs")
    assert "between the two" not in pairs.finding
    assert pairs.finding.startswith("1 of 1 pair")


def test_a_negative_standard_error_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path, "model,accuracy,stderr\na,0.9,0.01\nb,0.7,-0.02\nc,0.6,0.02\n")
    with pytest.raises(BadInput) as caught:
        audit_files([path], Asked())
    (problem,) = caught.value.problems
    assert (problem.where, problem.what) == (
        "line 3, column stderr",
        "expected a standard error, came -0.02",
    )


def test_a_wrong_number_of_items_is_told_and_not_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "model,accuracy,n\na,0.9,100\nb,0.7,-5\n")
    with pytest.raises(BadInput) as caught:
        audit_files([path], Asked())
    assert [each.where for each in caught.value.problems] == ["line 3, column n"]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("model,score,n\na,0.8,500\nb,0.7,500\n", "2 models, 0 groups, 500 items"),
        (
            "model,score,n\na,0.8,500\nb,0.7,200\n",
            "2 models, 0 groups, 200 to 500 items for each model",
        ),
        ("model,score\na,0.8\nb,0.7\n", "2 models, 0 groups, numbers of items not known"),
    ],
)
def test_the_items_of_models_are_told(tmp_path: Path, text: str, holds: str) -> None:
    audit = audit_files([written(tmp_path, text)], Asked())
    assert audit.files[0].holds == holds


def test_models_without_a_number_of_items_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "model,score,n\na,0.8,500\nb,0.7,\n")
    notes = audit_files([path], Asked()).notes
    assert any("The number of items is not known for b. " in note for note in notes)
    assert not any("nothing here has an interval" in note for note in notes)


def test_numbers_of_items_are_refused_where_the_file_has_its_items(tmp_path: Path) -> None:
    path = written(tmp_path, "item,a,b\nq1,1,0\nq2,0,1\nq3,1,1\n")
    with pytest.raises(BadUsage, match="--items and --runs: only for accuracies alone"):
        audit_files([path], Asked(items={"": 5}, runs=2))


@pytest.mark.parametrize("n", ["0", "1e400", "2.5"])
def test_a_number_of_items_that_is_none_is_a_problem(tmp_path: Path, n: str) -> None:
    """Taken as not known, it would be told that the file states none."""
    path = written(tmp_path, f"model,accuracy,n\na,0.9,{n}\nb,0.7,{n}\n")
    with pytest.raises(BadInput) as caught:
        audit_files([path], Asked())
    assert caught.value.problems[0].what == f"expected a number of items of at least 1, came {n}"
    assert len(caught.value.problems) == 2


def test_standard_errors_of_0_alone_are_told_as_such(tmp_path: Path) -> None:
    path = written(tmp_path, "model,accuracy,stderr\na,0.9,0\nb,0.7,0\n")
    notes = audit_files([path], Asked()).notes
    assert any(note.startswith("All standard errors in the file are 0") for note in notes)
    assert not any(note.startswith("The numbers of items") for note in notes)


@pytest.mark.parametrize("named", [Layout(), Layout(score="elo")])
def test_a_rating_alone_is_refused_with_the_reason(tmp_path: Path, named: Layout) -> None:
    """A hint to name it as the score would fail: it lies outside 0 to 1."""
    path = written(tmp_path, "model,elo\na,1200\nb,1150\nc,1100\n")
    with pytest.raises(BadUsage, match="not ranked by, because no interval follows") as caught:
        audit_files([path], Asked(named=named))
    assert "--score-col" not in (caught.value.hint or "")
