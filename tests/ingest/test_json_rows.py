"""JSONL and JSON arrays: good rows are kept, and every other line is named with its reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage, NotFound, Problem
from proofstone.files.csv import read_whole_file
from proofstone.files.json import parse_object
from proofstone.files.tables import RowReader, read_checked, read_rows


def read(path: Path, data: bytes, **options: int) -> tuple[list[tuple[str, dict]], list[str]]:
    path.write_bytes(data)
    reader = RowReader(path, **options)
    rows = [(row.place, row.values) for row in reader]
    return rows, [str(problem) for problem in reader.problems]


def test_good_lines_are_kept_around_bad_ones_and_every_bad_one_is_named(tmp_path: Path) -> None:
    lines = [
        b'{"a": 1}',
        b"",
        b'{"a": "caf\xe9"}',
        b'{"a": 1, "b": 2, "a": 3}',
        b"[1, 2]",
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b'{"a": "x\x00"}',
        b'{"a": "\\u0000"}',
        b'{"a" 1}',
        b'{"a": 1e999}',
        b'"text"',
        b"true",
        b"null",
        b"7",
        b'{"a": "z"}',
    ]
    rows, problems = read(tmp_path / "x.jsonl", b"\xef\xbb\xbf" + b"\r\n".join(lines))
    assert rows == [("line 1", {"a": 1}), ("line 16", {"a": "z"})]
    byte = 3 + len(b'{"a": 1}\r\n\r\n') + len(b'{"a": "caf')
    assert problems == [
        f"line 3: is not UTF-8: byte 0xE9 at offset 10 of the line ({byte} of the file)",
        'line 4: names "a" twice',
        "line 5: expected a JSON object, got a list; an array of objects belongs in a .json file",
        "line 6: contains NaN, which is not a JSON number",
        "line 7: contains half of a surrogate pair (\\ud800 to \\udfff), which is not a character",
        "line 8: contains a NUL at offset 8 of the line",
        "line 9: contains a NUL (written \\u0000)",
        "line 10: is not valid JSON: unexpected character, expected ':' after key at column 6",
        "line 11: is not valid JSON: number is infinity when parsed as double at column 7",
        "line 12: expected a JSON object, got a text",
        "line 13: expected a JSON object, got true or false",
        "line 14: expected a JSON object, got null",
        "line 15: expected a JSON object, got a number",
    ]


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    long = b'{"a": "' + b"x" * 3_000_000 + b'"}'
    rows, problems = read(
        tmp_path / "x.jsonl", b'{"a": 1}\n' + long + b'\n{"a": 3}\n' + long, line_limit=1000
    )
    assert rows == [("line 1", {"a": 1}), ("line 3", {"a": 3})]
    assert problems == [
        f"line 2: expected at most 1,000 bytes, got {len(long) + 1:,}",
        f"line 4: expected at most 1,000 bytes, got {len(long):,}",
    ]


def test_a_line_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    line = b'{"a": 12}'
    for end in (b"\n", b""):
        rows, problems = read(tmp_path / "x.jsonl", line + end, line_limit=len(line))
        assert (len(rows), problems) == (1, [])
    assert read(tmp_path / "x.jsonl", line + b"\n", line_limit=len(line) - 1)[0] == []


@pytest.mark.slow
def test_a_50_mb_line_costs_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    import tracemalloc  # noqa: PLC0415

    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": "' + b"x" * 50_000_000 + b'"}\n{"a": 2}\n')
    reader = RowReader(path, line_limit=2**20)
    tracemalloc.start()
    assert [row.values for row in reader] == [{"a": 2}]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20 + 2**20
    assert len(reader.problems) == 1


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-16", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32")]
)
def test_another_encoding_is_refused_by_name(tmp_path: Path, encoding: str, name: str) -> None:
    bom = "\ufeff" if encoding.endswith("be") else ""
    data = (bom + '{"a": 1}\n{"a": 2}\n').encode(encoding)
    for suffix in ("x.jsonl", "x.csv"):
        rows, problems = read(tmp_path / suffix, data)
        assert (rows, problems) == ([], [f"line 1: is {name} text; save it as UTF-8"])


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.csv", "x.tsv"])
@pytest.mark.parametrize("data", [b"", b"\n\r\n", b"\xef\xbb\xbf"])
def test_a_file_without_rows_says_so(tmp_path: Path, name: str, data: bytes) -> None:
    assert read(tmp_path / name, data) == ([], ["line 1: the file has no rows"])


def test_gzip_is_unpacked_and_a_truncated_one_is_named_with_what_was_read(tmp_path: Path) -> None:
    lines = b"".join(b'{"a": %d}\n' % number for number in range(20_000))
    packed = gzip.compress(lines)
    rows, problems = read(tmp_path / "x.jsonl.gz", packed)
    assert (len(rows), problems) == (20_000, [])
    rows, problems = read(tmp_path / "x.jsonl.gz", packed[: len(packed) // 2])
    assert 0 < len(rows) < 20_000
    assert problems[-1].startswith(f"line {len(rows) + 1}: the compressed file is damaged")
    rows, problems = read(tmp_path / "x.jsonl.gz", b"no gzip")
    assert rows == []
    assert problems[0].startswith("line 1: the compressed file is damaged")


def test_an_array_is_read_with_the_line_of_each_object(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf \n[\n  {"a": 1},\r\n  {\n "a": 2}, 3, {"a": NaN},\n {"b": 1, "b": 2}]\n'
    rows, problems = read(tmp_path / "x.json", data)
    assert rows == [("line 3", {"a": 1}), ("line 4", {"a": 2})]
    assert problems == [
        "line 5: expected a JSON object, got a number",
        "line 5: contains NaN, which is not a JSON number",
        'line 6: names "b" twice',
    ]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'[{"a": 1}\n{"a": 2}]', "line 2: expected a comma or the end of the array here"),
        (b'[{"a": 1},\n', "line 2: is not valid JSON: Expecting value at column 1"),
        (b'[{"a": 1}]\n\n x', "line 3: unexpected data after the array"),
        (b"[] x", "line 1: unexpected data after the array"),
        (b"[" * 100_000, "line 1: is nested too deeply"),
        (b'[{"a": 1}]\n\xff', "line 2: is not UTF-8: byte 0xFF at offset 0 of the line (11 of"),
    ],
)
def test_a_broken_array_is_named_at_its_line(tmp_path: Path, data: bytes, problem: str) -> None:
    _, problems = read(tmp_path / "x.json", data)
    assert [text[: len(problem)] for text in problems] == [problem]


def test_lines_of_objects_under_the_suffix_json_are_read(tmp_path: Path) -> None:
    rows, problems = read(tmp_path / "x.json", b'{"a": 1}\n{"a": 2}\n')
    assert (len(rows), problems) == (2, [])


@pytest.mark.parametrize("depth", [900, 1010, 2000])
@pytest.mark.parametrize("name", [b'"a"', b'"a" '])
def test_deep_nesting_is_read_or_refused_and_never_a_crash(depth: int, name: bytes) -> None:
    values = parse_object(b"{" + name + b": " + b"[" * depth + b"]" * depth + b"}")
    assert isinstance(values, dict) or "nested" in values or "depth" in values


@pytest.mark.parametrize(
    ("data", "repeated"),
    [
        (b'{"a" :1,"a":2}', "a"),
        (b'{"a":"\\\\","b":"\\\\","a":2}', "a"),
        (b'{"a":{"b":1,"b":2}}', "b"),
        (b'{"a":[{"c":"\\"","c":2}]}', "c"),
        (b'{"a":1,"\\u0061":2}', "a"),
    ],
)
def test_a_repeated_name_is_found_wherever_it_stands(data: bytes, repeated: str) -> None:
    assert parse_object(data) == f'names "{repeated}" twice'


TEXT = st.text(st.sampled_from('ab":\\,{}[] \0\n水😀') | st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(TEXT, JSON, max_size=3), st.booleans())
def test_every_object_without_nul_is_read_as_it_is(values: dict, is_ascii: bool) -> None:
    text = json.dumps(values, ensure_ascii=is_ascii, indent=1)
    came = parse_object(text.encode())
    expected = "contains a NUL (written \\u0000)" if _has_nul(values) else values
    assert came == expected


def _has_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any("\0" in key or _has_nul(part) for key, part in value.items())
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value


def test_read_rows_raises_at_the_end_with_all_problems(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n7\n{"a": 2}\n8\n')
    seen = []
    with pytest.raises(BadInput) as caught:
        seen.extend(row.values["a"] for row in read_rows(path))
    assert seen == [1, 2]
    assert [problem.where for problem in caught.value.problems] == ["line 2", "line 4"]
    path.write_bytes(b'{"a": 1}\n')
    assert [row.values for row in read_rows(path)] == [{"a": 1}]


def test_problems_of_file_and_rows_come_as_one_refusal_in_the_order_of_lines(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": "bad"}\n7\n{"a": "good"}\n{"a": "bad"}\n')

    def check(rows: object) -> int:
        held = list(rows)  # type: ignore[call-overload]
        bad = [row.place for row in held if row.values["a"] == "bad"]
        if bad:
            raise BadInput("bad", [Problem(f"{place}, field a", "is bad") for place in bad])
        return len(held)

    with pytest.raises(BadInput) as caught:
        read_checked(path, check)
    assert str(caught.value) == "\n".join(
        [
            f"{path} has 3 problems; nothing was imported",
            "  line 1, field a: is bad",
            "  line 2: expected a JSON object, got a number",
            "  line 4, field a: is bad",
            "  fix the lines above and run the same command again",
        ]
    )
    path.write_bytes(b'{"a": "good"}\n7\n')
    with pytest.raises(BadInput, match=r"has 1 problem;"):
        read_checked(path, check)
    path.write_bytes(b'{"a": "good"}\n')
    assert read_checked(path, check) == 1


def test_a_refusal_without_problems_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n')

    def refuse(_: object) -> None:
        raise BadInput("not now")

    with pytest.raises(BadInput, match=r"^not now$"):
        read_checked(path, refuse)


def test_what_is_no_readable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="file not found"):
        list(RowReader(tmp_path / "none.jsonl"))
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(BadInput, match="cannot read"):
        list(RowReader(tmp_path / "folder.jsonl"))
    for name in ("x.ods", "x", "x.gz", "x.parquet.gz", "x.xlsx.gz"):
        with pytest.raises(BadUsage, match=r"use one of .jsonl"):
            RowReader(tmp_path / name)


def test_what_must_be_held_whole_is_bounded_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"[1]")
    assert read_whole_file(path, limit=3) == b"[1]"
    with pytest.raises(BadInput, match="more than 2 bytes"):
        read_whole_file(path, limit=2)
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(gzip.compress(b"[" + b'{"a": 1},' * 9999 + b'{"a": 1}]')[:-20])
    with pytest.raises(BadInput, match="damaged or truncated"):
        list(RowReader(packed))
