"""CSV and TSV: cells are texts, and a record that does not fit its header is named by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.files.tables import RowReader


def read(path: Path, data: bytes, **options: int) -> tuple[list[tuple[str, dict]], list[str]]:
    path.write_bytes(data)
    reader = RowReader(path, **options)
    rows = [(row.place, row.values) for row in reader]
    return rows, [str(problem) for problem in reader.problems]


def test_cells_are_read_as_they_stand_and_empty_ones_are_missing(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbfa,b\r\n1,"x ""y"", z\r\nw"\r\n\r\n , 2\r\n3,\r\n"",""\r\n'
    rows, problems = read(tmp_path / "x.csv", data)
    assert problems == []
    assert rows == [
        ("line 2", {"a": "1", "b": 'x "y", z\r\nw'}),
        ("line 5", {"a": " ", "b": " 2"}),
        ("line 6", {"a": "3"}),
        ("line 7", {}),
    ]


def test_tabs_separate_tsv_and_semicolons_a_header_that_has_them(tmp_path: Path) -> None:
    assert read(tmp_path / "x.tsv", b"a\tb\n1,2\t3;4\n")[0] == [
        ("line 2", {"a": "1,2", "b": "3;4"})
    ]
    assert read(tmp_path / "x.csv", b"a;b\n1,2;3\n")[0] == [("line 2", {"a": "1,2", "b": "3"})]
    assert read(tmp_path / "x.csv", b'"a;b"\n1\n')[0] == [("line 2", {"a;b": "1"})]


def test_every_bad_record_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    data = b"".join(
        [
            b"a,b\n",
            b"1\n",
            b"1,2,3\n",
            b'"x"y,2\n',
            b"caf\xe9,2\n",
            b"n\x00,2\n",
            b"one\rtwo,2\n",
            b'"first\ncaf\xe9\n",2\n',
            b'5" pipe,2\n',
            b'ok,"never closed\nand so on\n',
        ]
    )
    rows, problems = read(tmp_path / "x.csv", data)
    assert rows == [("line 11", {"a": '5" pipe', "b": "2"})]
    bad_byte = data.index(b"\xe9")
    second = data.index(b"\xe9", bad_byte + 1)
    assert problems == [
        "line 2: expected 2 cells as in the header, got 1",
        "line 3: expected 2 cells as in the header, got 3",
        "line 4: is not valid CSV: ',' expected after '\"'",
        f"line 5: is not UTF-8: byte 0xE9 at offset 3 of the line ({bad_byte} of the file)",
        "line 6: contains a NUL at offset 1 of the line",
        "line 7: a carriage return inside a cell; end lines with LF or CRLF, or quote it",
        f"line 9: is not UTF-8: byte 0xE9 at offset 3 of the line ({second} of the file)",
        "line 12: a quote opens in this record and never closes, so the rest cannot be read",
    ]


def test_a_header_that_names_nothing_or_twice_stops_the_reading(tmp_path: Path) -> None:
    rows, problems = read(tmp_path / "x.csv", b",a,b,a, \n1,2,3,4,5\n")
    assert rows == []
    assert problems == [
        "line 1: column 1 has no name",
        "line 1: column 5 has no name",
        'line 1: has two columns named "a"',
    ]


def test_a_first_column_without_a_name_is_passed_over(tmp_path: Path) -> None:
    """Data frames write the numbers of their rows so."""
    rows, problems = read(tmp_path / "x.csv", b",a,b\n0,1,2\n1,3,\n")
    assert rows == [("line 2", {"a": "1", "b": "2"}), ("line 3", {"a": "3"})]
    assert problems == []


@pytest.mark.parametrize(
    "header", [b"a,caf\xe9\n", b"a," + b"b" * 200 + b"\n", b'a,"b"c\n', b'a,"b\n']
)
def test_without_a_readable_header_no_later_line_takes_its_place(
    tmp_path: Path, header: bytes
) -> None:
    rows, problems = read(tmp_path / "x.csv", header + b"1,2\n3,4\n", line_limit=100)
    assert rows == []
    assert [text.partition(":")[0] for text in problems] == ["line 1"]


def test_a_cell_beyond_the_csv_modules_default_limit_is_read(tmp_path: Path) -> None:
    long = b"x" * 300_000
    rows, problems = read(tmp_path / "x.csv", b"a,b\n1," + long + b"\n")
    assert (rows, problems) == ([("line 2", {"a": "1", "b": long.decode()})], [])


def test_a_record_that_grows_beyond_the_limit_ends_the_reading(tmp_path: Path) -> None:
    data = b'a,b\n1,"open\n' + b"word, word\n" * 100
    rows, problems = read(tmp_path / "x.csv", data, line_limit=200)
    assert rows == []
    assert problems == [
        "line 2: the record that begins here is longer than 200 bytes; is a quote left open?"
    ]


def test_a_line_beyond_the_limit_is_left_out_alone(tmp_path: Path) -> None:
    data = b"a,b\n1,2\n" + b"x" * 300 + b",2\n3,4\n"
    rows, problems = read(tmp_path / "x.csv", data, line_limit=200)
    assert [values for _, values in rows] == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert problems == ["line 3: expected at most 200 bytes, got 303"]
