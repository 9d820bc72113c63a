"""From tables of results to score tables: what is missing, wrong, repeated or contradictory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import cells, table_of, written

from proofstone.errors import BadInput
from proofstone.files.columns import read_columns
from proofstone.records.scores import FileColumns, coded_texts
from proofstone.results.audit.assembly import assemble
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.columns import guess_layout
from proofstone.results.audit.scores import scores_in

WIDE = "item,discipline,book,a,b\n1,law,x;y,1,0\n2,law,y,,1\n3,art,z,0.5,NA\n"
LONG = (
    "item,model,score,discipline,book\n1,a,1,law,x;y\n1,b,0,law,x;y\n2,b,1,law,y\n3,a,0.5,art,z\n"
)


def test_wide_and_long_are_the_same_scores(tmp_path: Path) -> None:
    """A missing cell is no row: never a wrong answer."""
    wide = table_of(written(tmp_path, WIDE))
    long = table_of(written(tmp_path, LONG, "long.csv"))
    expected = {("1", "a", 0): 1.0, ("1", "b", 0): 0.0, ("2", "b", 0): 1.0, ("3", "a", 0): 0.5}
    assert cells(wide) == cells(long) == expected
    assert wide.stratum_names == {"discipline": ("law", "art")}
    assert wide.strata["discipline"].tolist() == [0, 0, 1]


def test_a_cell_of_several_keys_makes_several_edges(tmp_path: Path) -> None:
    """Item 1 holds x and y, item 2 holds y."""
    table = table_of(written(tmp_path, WIDE))
    edges = set(zip(table.cluster_unit.tolist(), table.cluster_key.tolist(), strict=True))
    assert edges == {(0, 0), (0, 1), (1, 1), (2, 2)}


def test_all_cells_that_are_no_score_are_named_at_once(tmp_path: Path) -> None:
    """By line and column; percent beside shares are out of range."""
    path = written(tmp_path, "item,a,b\n1,1,maybe\n2,0.5,0.5\n3,1.7,0\n4,-1,0\n")
    with pytest.raises(BadInput) as caught:
        table_of(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column b: expected a number from 0 to 1, came 'maybe'",
        "line 4, column a: expected a score from 0 to 1, came 1.7",
        "line 5, column a: expected a score from 0 to 1, came -1",
    ]


def test_a_score_that_comes_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    """Without a sample column the message names the option."""
    path = written(tmp_path, "item,model,score\n1,a,1\n2,a,0\n1,a,0\n")
    with pytest.raises(BadInput, match="--sample-col COLUMN") as caught:
        table_of(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 4: item 1, model a, as at line 2"
    ]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """Bad scores, doubled rows (also of a bad score), facts that disagree, outcomes that are none,
    in one error by line, with what to do about each kind."""
    path = written(
        tmp_path,
        "item,model,score,field,outcome\n1,a,1,law,answered\n2,a,maybe,law,answered\n"
        "2,a,1,law,answered\n,a,1,law,answered\n1,b,0,art,answered\n1,a,0,law,lost\n",
    )
    with pytest.raises(BadInput) as caught:
        table_of(path)
    outcomes = "answered, refused, unparsed, truncated, failed"
    assert [str(problem) for problem in caught.value.problems] == [
        "line 3, column score: expected a number from 0 to 1, came 'maybe'",
        "line 4: item 2, model a, as at line 3",
        "line 5, column item: is empty",
        "line 6, column field: is 'art', and another record of the same item (1) has 'law'",
        "line 7: item 1, model a, as at line 2",
        f"line 7, column outcome: expected one of {outcomes}",
    ]
    assert caught.value.message == "results.csv has 6 problems; nothing was taken."
    assert "--sample-col COLUMN" in caught.value.hint
    assert "--percent" in caught.value.hint


def test_problems_of_several_files_are_told_at_once(tmp_path: Path) -> None:
    """Each with its file."""
    first = written(tmp_path, "item,a\n1,x\n2,0\n3,1\n", "first.csv")
    second = written(tmp_path, "item,b\n1,y\n2,0\n3,1\n", "second.csv")
    with pytest.raises(BadInput) as caught:
        table_of(first, second)
    assert [str(problem).partition(":")[0] for problem in caught.value.problems] == [
        "first.csv line 2, column a",
        "second.csv line 2, column b",
    ]


def test_two_files_may_not_hold_the_same_score(tmp_path: Path) -> None:
    """The problem names both files."""
    first = written(tmp_path, "item,a\n1,1\n2,0\n", "first.csv")
    second = written(tmp_path, "item,a,b\n2,0,1\n3,0,1\n", "second.csv")
    with pytest.raises(BadInput) as caught:
        table_of(first, second)
    assert str(caught.value.problems[0]) == (
        "second.csv line 2: item 2, model a, as at first.csv line 3"
    )


def test_files_are_joined_by_items(tmp_path: Path) -> None:
    """What one says of an item holds in the other."""
    first = written(tmp_path, "item,field,a\n1,law,1\n2,art,0\n", "first.csv")
    second = written(tmp_path, "item,b\n2,1\n1,0\n", "second.csv")
    table = table_of(first, second)
    expected = {("1", "a", 0): 1.0, ("2", "a", 0): 0.0, ("2", "b", 0): 1.0, ("1", "b", 0): 0.0}
    assert cells(table) == expected
    assert table.strata["field"].tolist() == [0, 1]


def test_records_of_one_item_must_agree_on_it(tmp_path: Path) -> None:
    """Else it is two items under one name."""
    path = written(tmp_path, "item,model,score,field\n1,a,1,law\n1,b,1,art\n")
    with pytest.raises(BadInput) as caught:
        table_of(path)
    assert str(caught.value.problems[0]) == (
        "line 3, column field: is 'art', and another record of the same item (1) has 'law'"
    )


def test_a_record_without_an_item_is_a_problem(tmp_path: Path) -> None:
    """So is one without a model."""
    path = written(tmp_path, "item,model,score\n,a,1\n2,,0\n3,a,1\n")
    with pytest.raises(BadInput) as caught:
        table_of(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column item: is empty",
        "line 3, column model: is empty",
    ]


def test_a_model_with_most_of_its_scores_is_ranked(tmp_path: Path) -> None:
    """One with fewer than 95% is short of what it should have."""
    lines = [f"{item},1,{1 if item else ''},{1 if item > 1 else ''}" for item in range(21)]
    table = table_of(written(tmp_path, "\n".join(["item,a,b,c", *lines]) + "\n"))
    # 20 of 21 is 95.2%; 19 of 21 is 90.5%.
    assert table.expected.tolist() == [21, 20, 21]


def test_outcomes_are_ours_or_refused(tmp_path: Path) -> None:
    """A refused reply has no value and is a row; other words are problems."""
    path = written(tmp_path, "item,model,score,outcome\n1,a,1,answered\n2,a,,refused\n")
    table = table_of(path)
    assert table.tells_outcomes
    assert table.outcome.tolist() == [0, 1]
    assert np.isnan(table.value).tolist() == [False, True]
    path = written(tmp_path, "item,model,score,outcome\n1,a,1,fine\n")
    with pytest.raises(BadInput) as caught:
        table_of(path)
    assert str(caught.value.problems[0]) == (
        "line 2, column outcome: expected one of answered, refused, unparsed, truncated, failed"
    )


def test_samples_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Run 10 comes after run 9."""
    lines = [f"1,a,run {run},{run % 2}" for run in (10, 9, 1)]
    table = table_of(written(tmp_path, "\n".join(["item,model,sample,score", *lines]) + "\n"))
    assert table.sample.tolist() == [2, 1, 0]


def test_ways_and_simulated_respondents_stand_apart(tmp_path: Path) -> None:
    """As our own export writes them."""
    text = (
        "item,model,way,simulated,score\n1,a,direct,false,1\n1,a,cot,false,0\n1,b,direct,true,1\n"
    )
    table = table_of(written(tmp_path, text))
    assert [(who.name, who.prompt_method, who.simulated) for who in table.respondents] == [
        ("a", "direct", False),
        ("a", "cot", False),
        ("b", "direct", True),
    ]


@pytest.mark.parametrize("kind", ["csv", "semicolons", "tabs", "utf-16", "gz", "jsonl", "parquet"])
def test_every_format_holds_the_same(tmp_path: Path, kind: str) -> None:
    """By whatever separates, encodes or packs the cells."""
    rows = [("item", "model", "score"), ("1", "a", "0.5"), ("ä", "b", "1")]
    path = tmp_path / "results.csv"
    text = "".join(",".join(row) + "\r\n" for row in rows)
    if kind == "csv":
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif kind == "semicolons":
        path.write_text(text.replace(",", ";"), encoding="utf-8", newline="")
    elif kind == "tabs":
        path.write_text(text.replace(",", "\t"), encoding="utf-8", newline="")
    elif kind == "utf-16":
        path.write_bytes(text.encode("utf-16"))
    elif kind == "gz":
        path = tmp_path / "results.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "jsonl":
        path = tmp_path / "results.jsonl"
        path.write_text(
            '{"item": 1, "model": "a", "score": 0.5}\n{"item": "ä", "model": "b", "score": true}\n',
            encoding="utf-8",
        )
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "results.parquet"
        columns = {"item": ["1", "ä"], "model": ["a", "b"], "score": [0.5, 1.0]}
        parquet.write_table(arrow.table(columns), path)
    assert cells(table_of(path)) == {("1", "a", 0): 0.5, ("ä", "b", 0): 1.0}


def test_a_broken_file_is_explained_by_line(tmp_path: Path) -> None:
    """The fast way hands over to the one that names every problem."""
    path = written(tmp_path, "item,a\n1,1\n2\n3,0,0\n")
    with pytest.raises(BadInput) as caught:
        read_columns(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 3: expected 2 cells as in the header, got 1",
        "line 4: expected 2 cells as in the header, got 3",
    ]


def test_records_keep_their_lines_behind_line_breaks_in_cells(tmp_path: Path) -> None:
    """Each is placed where it begins; empty lines are passed over."""
    table = read_columns(written(tmp_path, 'item,a\n"1\nb",1\n\n2,0\n'))
    assert table.lines.tolist() == [2, 5]


def test_fields_that_begin_late_or_end_early_are_missing_elsewhere(tmp_path: Path) -> None:
    """Objects need not have the same fields."""
    text = '{"item": 1, "a": 1}\n{"item": 2, "b": 0}\n{"item": 3, "a": 0, "b": 1}\n'
    table = table_of(written(tmp_path, text, "results.jsonl"))
    expected = {("1", "a", 0): 1.0, ("2", "b", 0): 0.0, ("3", "a", 0): 0.0, ("3", "b", 0): 1.0}
    assert cells(table) == expected


@given(
    st.lists(
        st.lists(st.sampled_from(["", "0", "1", "0.25"]), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ).filter(lambda rows: any(any(row) for row in rows))
)
def test_a_wide_table_holds_just_its_filled_cells(rows: list[list[str]]) -> None:
    """Whatever is missing."""
    columns = {"item": coded_texts([str(place) for place in range(len(rows))])}
    columns |= {f"m{i}": coded_texts([row[i] for row in rows]) for i in range(3)}
    table = FileColumns("made.csv", columns, np.arange(2, len(rows) + 2))
    layout = guess_layout(table, Layout(models=("m0", "m1", "m2")))
    found = cells(assemble([scores_in(table, layout)]))
    assert found == {
        (str(place), f"m{i}", 0): float(cell)
        for place, row in enumerate(rows)
        for i, cell in enumerate(row)
        if cell
    }


def test_an_index_without_a_name_is_a_column(tmp_path: Path) -> None:
    """Data frames are often written with it."""
    assert cells(table_of(written(tmp_path, ",m\n0,1\n1,0\n"))) == {
        ("0", "m", 0): 1.0,
        ("1", "m", 0): 0.0,
    }


def test_marks_up_to_ten_are_not_taken_for_percent(tmp_path: Path) -> None:
    """A judge's 7 of 10 is no 7%: only a user can say what it is."""
    path = written(tmp_path, "item,m\n1,7\n2,9\n3,10\n")
    with pytest.raises(BadInput, match="--percent"):
        table_of(path)
    assert cells(table_of(path, named=Layout(percent=True)))["1", "m", 0] == pytest.approx(0.07)


def test_confidence_and_tokens_are_read_beside_scores(tmp_path: Path) -> None:
    """Percent are seen by a value above 1; what is no number, or out of range, is not known."""
    text = "item,model,score,confidence,tokens\n1,a,1,90,12\n2,a,0,150,many\n3,a,1,,30\n"
    table = table_of(written(tmp_path, text))
    assert table.confidence is not None
    assert table.tokens is not None
    assert table.confidence.tolist() == pytest.approx([0.9, np.nan, np.nan], nan_ok=True)
    assert table.tokens.tolist() == pytest.approx([12, np.nan, 30], nan_ok=True)
    plain = table_of(written(tmp_path, "item,model,score\n1,a,1\n"))
    assert (plain.confidence, plain.tokens) == (None, None)


def _item_tables(folder: Path, *, first_of_second: int) -> list[Path]:
    """Twenty items of four models a file; those of the second are numbered from a place on."""
    paths = []
    for name, start in (("law", 0), ("math", first_of_second)):
        rows = [
            f"q{start + n}," + ",".join(str(int((n * 7 + m * 3) % 10 < 4 + m)) for m in range(4))
            for n in range(20)
        ]
        paths.append(written(folder, "item,m0,m1,m2,m3\n" + "\n".join(rows) + "\n", f"{name}.csv"))
    return paths


def test_tables_of_the_same_models_on_other_items_are_benchmarks(tmp_path: Path) -> None:
    """Each file is a stratum, and the section on benchmarks compares their order."""
    audit = audit_files(_item_tables(tmp_path, first_of_second=20), Asked())
    assert [part.by for part in audit.board.standings[0].breakdowns] == ["benchmark"]
    assert "benchmarks" in [section.name for section in audit.sections]
    assert audit.board.n_items == 40


def test_items_of_one_name_are_of_two_benchmarks_only_where_that_is_said(tmp_path: Path) -> None:
    """Else the file may have been given twice, and the error names the option."""
    paths = _item_tables(tmp_path, first_of_second=0)
    with pytest.raises(BadInput) as caught:
        audit_files(paths, Asked())
    assert "audit --benchmarks" in str(caught.value.hint)
    audit = audit_files(paths, Asked(benchmarks=True))
    assert audit.board.n_items == 40
    assert "benchmarks" in [section.name for section in audit.sections]
