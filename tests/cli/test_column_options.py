"""Columns of files named on the command line, wherever files of results are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from told import Proofstone

ODD = "frage,wer,note,lauf\n" + "".join(
    f"q{i},a,{100 * (i % 3 > 0)},{run}\n" for i in range(30) for run in (1, 2)
)
NAMED = (
    "--item-col",
    "frage",
    "--model-col",
    "wer",
    "--score-col",
    "note",
    "--sample-col",
    "lauf",
    "--percent",
)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.csv"
    path.write_text(ODD, encoding="utf-8")
    return path


def test_compare_and_gate_take_the_options_of_audit(proofstone: Proofstone, odd: Path) -> None:
    """For both files."""
    copy = odd.with_name("copy.csv")  # one file is no comparison with itself
    copy.write_bytes(odd.read_bytes())
    assert proofstone("compare", odd, copy).code == 2
    told = proofstone("compare", odd, copy, *NAMED, "--json")
    assert told.code == 0
    assert "30 common items" in proofstone("compare", odd, copy, *NAMED).out
    gated = proofstone("compare", copy, odd, "--gate", "--max-drop", 20, *NAMED)
    assert gated.code == 0


def test_column_options_without_a_file_are_refused(made: Path, proofstone: Proofstone) -> None:
    """They would mean nothing."""
    told = proofstone("compare", "old-books", "old-books", "--item-col", "x", "-w", made)
    assert told.code == 2
    assert "--item-col: of files of results, and none is named here" in told.err


def test_an_encoding_is_named(proofstone: Proofstone, tmp_path: Path) -> None:
    """The error without it names the option, and how the line reads in each that may be meant."""
    path = tmp_path / "gb.csv"
    path.write_bytes("qid,\u9886\u57df,m\nq1,\u6cd5,1\nq2,\u533b,0\n".encode("gb18030"))
    told = proofstone("audit", path)
    assert "set --encoding if the command has it" in told.err
    assert "    gb18030       qid,\u9886\u57df,m\n" in told.err
    told = proofstone("audit", path, "--encoding", "gb18030", "--group-col", "\u9886\u57df")
    assert (told.code, told.err) == (0, "")
    assert "strata: \u9886\u57df" in told.out


def test_roles_are_named_for_all_items_or_some(proofstone: Proofstone, tmp_path: Path) -> None:
    """A family's member is marked as well; a filter's bias needs items that it did not see."""
    path = tmp_path / "r.csv"
    rows = [
        f"q{i},{'kept' if i < 30 else 'all'},{i % 3 > 0:d},{i % 2},{i % 5 > 1:d}" for i in range(60)
    ]
    head = "qid,split,acme/large,acme/small,other/x"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    told = proofstone("audit", path, "--role", "filtered=acme/large@split=kept")
    assert "* acme/large: filtered 30 of the 60 items" in told.out
    assert "The filter by acme/large changes acme/large" in told.out
    every = proofstone("audit", path, "--role", "wrote=other/x")
    assert "* other/x: wrote 60 of the 60 items; no item is unaffected" in every.out
    assert (
        "no item has split 'no'"
        in proofstone("audit", path, "--role", "wrote=other/x@split=no").err
    )
    assert "ROLE=MODEL" in proofstone("audit", path, "--role", "painted=other/x").err


@pytest.mark.parametrize("command", ["audit", "compare", "gate"])
def test_percent_and_shares_at_once_are_refused(
    proofstone: Proofstone, odd: Path, command: str
) -> None:
    """Two things said of the same scores; alone each is taken."""
    more = ("--gate", "--max-drop", 20) if command == "gate" else ()
    files = ("audit", odd) if command == "audit" else ("compare", odd, odd)
    told = proofstone(*files, *more, *NAMED, "--shares")
    assert told.code == 2
    assert "--percent and --shares say two things of the same scores" in told.err
