"""Rows that stand in groups of one JSON object, beside rows as an object a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.files.tables import RowReader


def read(folder: Path, text: str) -> tuple[list[tuple[str, dict[str, object]]], list[str]]:
    path = folder / "rows.json"
    path.write_text(text, encoding="utf-8")
    reader = RowReader(path)
    rows = [(row.place, row.values) for row in reader]
    return rows, [f"{problem.where}: {problem.what}" for problem in reader.problems]


def test_each_row_has_its_place_and_the_name_of_its_group(tmp_path: Path) -> None:
    text = (
        '{\n  "a": [\n    {"n": 1},\n    {"n": [2, {"m": "]"}]}\n  ],\n  "none": [],\n'
        '  "b \\"c\\"": [{"n": 3, "group": "own"}]\n}\n'
    )
    rows, problems = read(tmp_path, text)
    assert rows == [
        ("line 3", {"group": "a", "n": 1}),
        ("line 4", {"group": "a", "n": [2, {"m": "]"}]}),
        ("line 7", {"group": "own", "n": 3}),
    ]
    assert problems == []


def test_groups_on_one_line_are_groups(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, '{"a":[{"n":1}],"b":[{"n":2}]}')
    assert rows == [("line 1", {"group": "a", "n": 1}), ("line 1", {"group": "b", "n": 2})]
    assert problems == []


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [{"n": 1}], "b": 2}\n',
        '{"a": [{"n": 1}]}\n{"a": [{"n": 2}]}\n',
        '{"a": [1, 2]}\n',
    ],
)
def test_lists_in_a_row_a_line_stay_values(tmp_path: Path, text: str) -> None:
    rows, problems = read(tmp_path, text)
    assert [place for place, _values in rows] == [f"line {n + 1}" for n in range(text.count("\n"))]
    assert all("group" not in values for _place, values in rows)
    assert problems == []


def test_a_group_that_comes_twice_and_a_row_that_is_no_json_of_ours_are_problems(
    tmp_path: Path,
) -> None:
    rows, problems = read(tmp_path, '{"a": [{"n": 1}],\n"a": [{"n": 2, "n": 3}]}')
    assert rows == [("line 1", {"group": "a", "n": 1})]
    assert problems == ['line 2: names "a" twice', 'line 2: names "n" twice']


def test_a_file_of_empty_groups_holds_no_rows(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, '{"a": [], "b": []}')
    assert rows == []
    assert problems == ["line 1: the file has no rows"]
