"""Writing is whole or not at all, and what was written reads back."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage, NotFound, StoreFailed
from proofstone.files.tables import read_rows
from proofstone.files.write import write_rows
from proofstone.files.xlsx import write_xlsx

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
SCALAR = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
ROWS = st.lists(
    st.dictionaries(TEXT.filter(str.strip), SCALAR | st.lists(TEXT, max_size=3), max_size=4),
    min_size=1,
    max_size=5,
)


def back(path: Path) -> list[dict]:
    return [row.values for row in read_rows(path)]


@given(ROWS, st.sampled_from(["x.jsonl", "x.ndjson.gz"]))
def test_jsonl_reads_back_as_it_was(rows: list[dict], name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_rows(path, iter(rows)) == len(rows)
        assert back(path) == rows


@given(
    st.lists(TEXT.filter(str.strip), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.lists(
            st.fixed_dictionaries({name: TEXT.filter(bool) for name in names}),
            min_size=1,
            max_size=4,
        )
    ),
    st.sampled_from(["x.csv", "x.tsv", "x.csv.gz"]),
)
def test_texts_in_csv_read_back_as_they_were(rows: list[dict], name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_rows(path, rows) == len(rows)
        assert back(path) == rows


def test_csv_writes_lists_as_json_and_missing_null_and_empty_as_an_empty_cell(
    tmp_path: Path,
) -> None:
    rows = [
        {"a": 'q"', "b": [1, "x"], "c": True},
        {"b": None, "c": "", "d": 1.5},
        {"a": "line\r", "d": {"k": "v"}},
    ]
    write_rows(tmp_path / "x.csv", rows)
    assert (tmp_path / "x.csv").read_bytes() == (
        b'a,b,c,d\n"q""","[1,""x""]",true,\n,,,1.5\n"line\r",,,"{""k"":""v""}"\n'
    )


@pytest.mark.parametrize("name", ["a;", "0\t"])
def test_a_lone_column_keeps_the_sign_that_elsewhere_separates_cells(
    tmp_path: Path, name: str
) -> None:
    write_rows(tmp_path / "x.csv", [{name: "1"}])
    assert back(tmp_path / "x.csv") == [{name: "1"}]


def test_a_single_empty_cell_is_still_a_row(tmp_path: Path) -> None:
    write_rows(tmp_path / "x.csv", [{"a": "1"}, {"a": ""}, {"a": "3"}])
    assert back(tmp_path / "x.csv") == [{"a": "1"}, {}, {"a": "3"}]


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_no_rows_make_an_empty_file(tmp_path: Path, name: str) -> None:
    assert write_rows(tmp_path / name, []) == 0
    assert (tmp_path / name).read_bytes() == b""


def test_equal_rows_give_equal_bytes_also_packed(tmp_path: Path) -> None:
    for name in ("x.jsonl.gz", "y.jsonl.gz"):
        write_rows(tmp_path / name, [{"a": "ä"}])
    assert (tmp_path / "x.jsonl.gz").read_bytes() == (tmp_path / "y.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()) == '{"a":"ä"}\n'.encode()


def test_a_write_that_fails_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    write_rows(path, [{"a": 1}])

    def broken() -> object:
        yield {"a": 2}
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreFailed, match=r"cannot write .*x.jsonl: No space left"):
        write_rows(path, broken())  # type: ignore[arg-type]
    assert back(path) == [{"a": 1}]
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl.gz", "parquet", "xlsx"])
def test_a_missing_folder_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "missing" / f"x.{suffix}"
    with pytest.raises(BadUsage) as caught:
        write_rows(path, [{"a": 1}])
    assert str(caught.value) == (
        f"{path}: folder {path.parent} does not exist\n  create it, or use another"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_an_error_of_the_system_for_excel_files_too() -> None:
    """XlsxWriter would wrap it in one of its own, which nobody above waits for."""
    pytest.importorskip("xlsxwriter")
    with pytest.raises(OSError, match="No space left"):
        write_xlsx(Path("/dev/full"), ["a"], [{"a": "x" * 30_000}])


def test_a_suffix_that_is_none_names_all_that_are_written(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as caught:
        write_rows(tmp_path / "x.doc", [])
    assert str(caught.value) == (
        'x.doc: unsupported table format ".doc"\n'
        "  use one of .jsonl, .ndjson, .json, .csv, .tsv, .parquet, .xlsx; "
        ".gz may follow any except .parquet and .xlsx"
    )


def test_a_json_array_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match=r"write rows as \.jsonl"):
        write_rows(tmp_path / "x.json", [])


# ---------------------------------------------------------------- Parquet


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "text": TEXT,
                "n": st.integers(-(2**60), 2**60),
                "yes": st.booleans(),
                "list": st.lists(TEXT, max_size=3),
            },
        ),
        min_size=1,
        max_size=4,
    )
)
def test_parquet_reads_back_as_it_was(rows: list[dict]) -> None:
    pytest.importorskip("pyarrow")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        assert write_rows(path, rows) == len(rows)
        if any(rows):
            assert back(path) == rows


def test_parquet_problems_are_named_by_row_and_field(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pa.table(
        {
            "a": ["x", "y\0", "z"],
            "b": [1.0, float("nan"), 2.0],
            "c": [b"1", None, None],
            "d": [["q"], ["\0"], None],
            "e": [{"k": "v"}, {"k": "\0"}, {"k": None}],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(BadInput) as caught:
        back(tmp_path / "x.parquet")
    assert [str(problem) for problem in caught.value.problems] == [
        "row 1, field c: expected text, a number, true or false, or a list, got bytes",
        "row 2, field a: contains a NUL",
        "row 2, field b: contains nan, which is not a JSON number",
        "row 2, field d: contains a NUL",
        "row 2, field e: contains a NUL",
    ]


def test_parquet_that_is_none_or_missing_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(NotFound):
        back(tmp_path / "none.parquet")
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    with pytest.raises(BadInput, match="as a Parquet file"):
        back(tmp_path / "x.parquet")


def test_parquet_refuses_a_column_of_mixed_kinds_and_writes_objects_as_json(
    tmp_path: Path,
) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(BadInput, match='column "a" has values of different types'):
        write_rows(tmp_path / "x.parquet", [{"a": "x"}, {"a": 1}])
    assert list(tmp_path.iterdir()) == []
    write_rows(tmp_path / "x.parquet", [{"a": {"k": [1]}}])
    assert back(tmp_path / "x.parquet") == [{"a": '{"k":[1]}'}]


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    """A child process in which pyarrow cannot be found."""
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    code = (
        "from proofstone.files.write import write_rows\n"
        "from proofstone.errors import BadUsage\n"
        "try:\n"
        f"    write_rows({str(tmp_path / 'x.parquet')!r}, [])\n"
        "except BadUsage as refused:\n"
        "    print(refused)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install 'proofstone[parquet]'" in done.stdout


def test_reading_tables_does_not_import_pyarrow() -> None:
    code = "import sys, proofstone.files.write; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
