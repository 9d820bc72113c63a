"""Consistency checks: sound tables raise no alarm, and a changed number is found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from reading import written

from proofstone.files.columns import read_columns
from proofstone.records.scores import Accuracies
from proofstone.results.audit.accuracies import read_accuracies
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.columns import guess_layout

SIZES = (80, 41, 137)


def read(path: Path, named: Layout | None = None, *, runs: int = 1, n: int = 0) -> Accuracies:
    table = read_columns(path)
    layout = guess_layout(table, named or Layout())
    return read_accuracies(table, layout, {"": n} if n else None, runs=runs)


def found(accuracies: Accuracies) -> list[tuple[str, str, str, str]]:
    return [(m.row, m.cell, m.printed, m.recomputed) for m in accuracies.misprints]


def held(accuracies: Accuracies) -> dict[str, bool]:
    return {each.what: each.holds for each in accuracies.checks}


def board(
    draw: np.random.Generator, *, runs: int = 1, digits: int = 2, plain: bool = False, m: int = 12
) -> list[list[str]]:
    """A sound leaderboard: means of 0/1 scores of three groups, the overall by items or plain."""
    rows = []
    for model in range(m):
        right = [draw.binomial(n * runs, 0.2 + 0.05 * model) / (n * runs) for n in SIZES]
        weights = np.ones(3) / 3 if plain else np.array(SIZES) / sum(SIZES)
        overall = float(np.dot(weights, right))
        rows.append([f"m{model}", *(f"{100 * each:.{digits}f}" for each in (overall, *right))])
    return rows


def table_text(rows: Sequence[Sequence[str]], *, counted: bool = True) -> str:
    lines = ["model,all,law,art,physics", *map(",".join, rows)]
    if counted:
        lines.append(f"n,{sum(SIZES)},{','.join(map(str, SIZES))}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("runs", "said", "digits", "plain", "counted"),
    [
        (1, 1, 2, False, True),
        (1, 1, 1, False, True),
        (1, 1, 0, False, True),
        (1, 1, 2, True, True),
        (4, 4, 2, False, True),
        (4, 1, 2, False, True),
        (3, 1, 2, True, True),
        (1, 1, 2, True, False),
        (1, 1, 2, False, False),
    ],
)
def test_sound_tables_raise_no_alarm(
    tmp_path: Path, runs: int, said: int, digits: int, plain: bool, counted: bool
) -> None:
    """40 tables each: of one run or several, stated or not; rounded to a percent or its hundredth;
    the overall by items or plain; with numbers of items and without."""
    for seed in range(40):
        rows = board(np.random.default_rng(seed), runs=runs, digits=digits, plain=plain)
        path = written(tmp_path, table_text(rows, counted=counted))
        assert found(read(path, runs=said)) == []


def test_partial_credit_and_truncated_tables_raise_no_alarm(tmp_path: Path) -> None:
    """Scores that are no shares of whole items, and digits that are cut off, not rounded."""
    for seed in range(40):
        draw = np.random.default_rng(seed)
        rows = []
        for model in range(12):
            right = draw.uniform(0.2, 0.8, 3)
            overall = float(np.dot(np.array(SIZES) / sum(SIZES), right))
            cut = [np.floor(1e4 * each) / 100 for each in (overall, *right)]
            rows.append([f"m{model}", *(f"{each:.2f}" for each in cut)])
        assert found(read(written(tmp_path, table_text(rows)))) == []


def test_a_changed_cell_is_found(tmp_path: Path) -> None:
    """50 tables in each of which one cell of a group is changed by 0.37 points, which is no whole
    number of items: row, cell and the right number are named."""
    for seed in range(50):
        draw = np.random.default_rng(seed)
        rows = board(draw)
        row, column = int(draw.integers(12)), int(draw.integers(2, 5))
        was = rows[row][column]
        rows[row][column] = f"{float(was) + 0.37:.2f}"
        name = ("law", "art", "physics")[column - 2]
        assert found(read(written(tmp_path, table_text(rows)))) == [
            (f"m{row}", name, rows[row][column], was)
        ]


def test_the_number_of_runs_that_would_fit_is_suggested(tmp_path: Path) -> None:
    """Means of four runs said to be of one are no misprints."""
    rows = board(np.random.default_rng(3), runs=4)
    what = [each.what for each in read(written(tmp_path, table_text(rows))).checks]
    assert "k / 41 (means of 4 runs: --runs 4)" in what


def test_a_misprinted_number_of_items_is_found(tmp_path: Path) -> None:
    """A count of 140 where all shares are of 137; the group without it is told apart from them."""
    rows = board(np.random.default_rng(5))
    text = table_text(rows).replace(",137\n", ",140\n")
    assert found(read(written(tmp_path, text))) == [("n", "physics", "140", "137")]


def test_co_na_and_in_add_up_and_give_cga_and_f(tmp_path: Path) -> None:
    """40 + 10 + 50 = 100; CGA = 40 / 90 = 44.4; F = 2 * 40 / (100 + 40 + 50) = 42.1. In the second
    row NA, in the third CGA, in the fourth F is wrong."""
    good = "40.0,10.0,50.0,44.4,42.1"
    rows = [
        f"a,{good}", "b,40.0,13.0,50.0,44.4,42.1", "c,40.0,10.0,50.0,45.4,42.1",
        "d,40.0,10.0,50.0,44.4,43.1", f"e,{good}", f"f,{good}", f"g,{good}",
    ]  # fmt: skip
    path = written(tmp_path, "\n".join(["model,CO,NA,IN,CGA,F", *rows]) + "\n")
    assert found(read(path)) == [
        ("b", "NA", "13.0", "10.0"), ("c", "CGA", "45.4", "44.4"), ("d", "F", "43.1", "42.1"),
    ]  # fmt: skip


def test_macro_f1_is_no_misprint(tmp_path: Path) -> None:
    """It is no harmonic mean of macro precision and recall, which no row fits then."""
    rows = ["a,.70,.60,.55", "b,.80,.65,.60", "c,.60,.60,.50", "d,.90,.50,.58"]
    read_back = read(written(tmp_path, "\n".join(["model,precision,recall,F1", *rows]) + "\n"))
    assert found(read_back) == []
    assert held(read_back)["F1 = 2PR / (P + R)"] is False


def test_ranks_differences_bounds_and_errors(tmp_path: Path) -> None:
    """One wrong number of each, of five rows: a rank of 9 for the fourth; 70 - 65 = 5, printed 6;
    a score outside its interval; a standard error of 5 points where the root of .7 * .3 / 500 is
    2.05."""
    ranks = "rank,model,accuracy\n1,a,90\n2,b,80\n3,c,70\n9,d,60\n5,e,50\n"
    assert found(read(written(tmp_path, ranks))) == [("d", "rank", "9", "4")]
    gains = "model,old,new,gain\n" + "".join(
        f"m{k},{60 + k}.0,{63 + 2 * k}.0,{(6 if k == 2 else 3 + k)}.0\n" for k in range(5)
    )
    assert found(read(written(tmp_path, gains), Layout(overall="new"))) == [
        ("m2", "gain", "6.0", "5.0")
    ]
    bounds = "model,accuracy,ci_low,ci_high\n" + "".join(
        f"m{k},{80 if k == 1 else 60}.0,55.0,65.0\n" for k in range(5)
    )
    assert found(read(written(tmp_path, bounds))) == [("m1", "accuracy", "80.0", "55.0 to 65.0")]
    errors = "model,accuracy,stderr\n" + "".join(
        f"m{k},70.0,{5.0 if k == 3 else 2.05}\n" for k in range(5)
    )
    assert found(read(written(tmp_path, errors), n=500)) == [("m3", "stderr", "5.0", "2.0")]


def test_ranks_may_share_or_skip_places(tmp_path: Path) -> None:
    """1, 1, 3 and 1, 1, 2 are both ranks of two equal scores and a lower one."""
    for ranks in ("1123", "1134"):
        rows = [
            f"{rank},m{k},{score}"
            for k, (rank, score) in enumerate(zip(ranks, (90, 90, 80, 70), strict=True))
        ]
        text = "\n".join(["rank,model,accuracy", *rows]) + "\n"
        assert found(read(written(tmp_path, text))) == []


def test_equal_cells_are_no_evidence_of_another_number_of_items(tmp_path: Path) -> None:
    """Five cells of 70.0 fit 10 items as they fit 500, and say so once."""
    rows = [f"m{k},70.0" for k in range(5)]
    path = written(tmp_path, "\n".join(["model,accuracy", *rows]) + "\n")
    assert found(read(path, n=500)) == []


def test_the_recomputed_number_is_shown_to_lie_outside_its_rounding() -> None:
    """The published 49.92 is 0.014 off where 0.01 is allowed; as 49.93 it would look allowed."""
    table = Path(__file__).parents[2] / "docs" / "data" / "kina-table-3.csv"
    assert found(read(table)) == [("Claude-Opus-4.6", "ALL", "49.92", "49.934")]
