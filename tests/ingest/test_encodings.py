"""Text that is not UTF-8: read as the encoding that is named, and shown as it would read in others
where none is."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage
from proofstone.files.columns import read_columns
from proofstone.files.tables import read_rows

TEXT = "qid,\u9886\u57df,m\nq1,\u6cd5\u5f8b,1\nq2,\u533b\u5b66,0\n"
ROWS = [
    {"qid": "q1", "\u9886\u57df": "\u6cd5\u5f8b", "m": "1"},
    {"qid": "q2", "\u9886\u57df": "\u533b\u5b66", "m": "0"},
]


@pytest.mark.parametrize("encoding", ["gb18030", "GBK", "utf-16", "utf-8-sig"])
def test_a_named_encoding_is_read_by_rows_and_by_columns(tmp_path: Path, encoding: str) -> None:
    """Packed, too."""
    (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode(encoding)))
    for name in ("t.csv", "t.csv.gz"):
        assert [row.values for row in read_rows(tmp_path / name, encoding=encoding)] == ROWS
        columns = read_columns(tmp_path / name, encoding=encoding).columns
        assert {key: column.names for key, column in columns.items()} == {
            key: tuple(row[key] for row in ROWS) for key in ROWS[0]
        }


def test_without_one_the_error_shows_how_it_would_read(tmp_path: Path) -> None:
    """A reader sees which of them makes sense."""
    (tmp_path / "t.csv").write_bytes(TEXT.encode("gb18030"))
    with pytest.raises(BadInput) as caught:
        read_columns(tmp_path / "t.csv")
    assert str(caught.value.problems[0]).startswith("line 1: is not UTF-8: byte 0xC1")
    assert "    gb18030       qid,\u9886\u57df,m\n" in caught.value.hint
    # Commands that read documents have no such option, so the hint may not lean on it.
    assert caught.value.hint.startswith(
        "save the file as UTF-8, or set --encoding if the command has it; line 1 "
    )


def test_a_wrong_encoding_is_told(tmp_path: Path) -> None:
    """With the place of the first byte that does not belong to it; so is one that is none."""
    (tmp_path / "t.csv").write_bytes(b"qid,m\n\xff\xff,1\n")
    with pytest.raises(BadInput, match="is not gb18030: illegal multibyte sequence near byte 6"):
        read_columns(tmp_path / "t.csv", encoding="gb18030")
    for name in ("klingon", "base64", "hex"):
        with pytest.raises(BadUsage, match="unknown text encoding"):
            read_columns(tmp_path / "t.csv", encoding=name)


# GB 18030 has every character but halves of pairs; asking its codec for them takes seconds.
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@given(st.lists(st.text(ANY, min_size=1)))
def test_any_text_comes_through(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """Whatever the boundaries at which it is read."""
    path = tmp_path_factory.mktemp("encoded") / "t.jsonl"
    held = [*texts, "\u6cd5"]
    lines = [orjson.dumps({"a": text}).decode() for text in held]
    path.write_bytes("\n".join(lines).encode("gb18030"))
    assert [row.values["a"] for row in read_rows(path, encoding="gb18030")] == held
