"""``--tables``: every table of a page as files in a folder, and nothing of anybody else touched."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from proofstone.files.tables import read_rows
from told import Proofstone

WIDE = "qid,book,gpt,qwen\n" + "".join(f"q{i},b{i // 2},1,{i % 2}\n" for i in range(20))


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_tables_stand_in_a_folder_beside_the_page(proofstone: Proofstone, wide: Path) -> None:
    """All of them as both kinds, an index of what each is, and a document that shows them."""
    page = wide.with_name("r.html")
    told = proofstone("audit", wide, "-o", page, "--tables", "tex,csv")
    folder = wide.with_name("r-tables")
    names = sorted(path.name for path in folder.iterdir())
    n = len(names) - 1
    said = " ".join(told.out.split())
    assert said.endswith(f"tables {folder} {n} files, listed in tables.json")
    assert {"leaderboard.csv", "leaderboard.tex", "pairs-1.csv", "tables.tex"} <= set(names)
    index = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    assert sorted([*(file["name"] for file in index["files"]), "tables.json"]) == names
    first = next(iter(read_rows(folder / "leaderboard.csv"))).values
    assert (first["model"], first["accuracy_value"], first["accuracy_n"]) == ("gpt", "1.0", "20")


def test_a_folder_alone_is_enough(proofstone: Proofstone, wide: Path) -> None:
    """No page, both kinds; of one kind alone there is only that."""
    told = proofstone("audit", wide, "--tables-to", wide.with_name("t"))
    assert told.code == 0
    suffixes = {path.suffix for path in wide.with_name("t").iterdir()}
    assert suffixes == {".csv", ".tex", ".json", ".txt"}
    proofstone("audit", wide, "--tables-to", wide.with_name("c"), "--tables", "csv")
    assert {path.suffix for path in wide.with_name("c").iterdir()} == {".csv", ".json", ".txt"}


def test_a_place_and_a_kind_are_needed(proofstone: Proofstone, wide: Path) -> None:
    """Each refusal says what to add."""
    assert "-o report.html, or --tables-to DIR" in proofstone("audit", wide, "--tables", "csv").err
    told = proofstone("audit", wide, "--tables", "xlsx", "-o", wide.with_name("r.html"))
    assert "'xlsx': expected csv or tex" in told.err
    assert not wide.with_name("r.html").exists()


def test_the_same_again_replaces_what_it_wrote(proofstone: Proofstone, wide: Path) -> None:
    """What is no longer a table of the page is gone; what others put there stays."""
    folder = wide.with_name("t")
    proofstone("audit", wide, "--tables-to", folder)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    assert (folder / "pairs-1.csv").exists()
    told = proofstone("audit", wide, "--tables-to", folder, "--model-cols", "gpt")
    assert told.code == 0
    assert not (folder / "pairs-1.csv").exists()
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["leaderboard.tex", "tables.json", "tables.tex"])
def test_no_file_of_anybody_else_is_overwritten(
    proofstone: Proofstone, wide: Path, name: str
) -> None:
    """Neither one that was there nor one that was changed since; the page is not written either."""
    folder, page = wide.with_name("r-tables"), wide.with_name("r.html")
    folder.mkdir()
    (folder / name).write_text("mine", encoding="utf-8")
    told = proofstone("audit", wide, "-o", page, "--tables", "tex")
    assert (told.code, page.exists()) == (2, False)
    assert f"not as they were written here: {name}" in told.err
    assert [path.name for path in folder.iterdir()] == [name]


def test_a_table_that_was_edited_is_not_lost(proofstone: Proofstone, wide: Path) -> None:
    """Until it is moved away."""
    folder = wide.with_name("t")
    proofstone("audit", wide, "--tables-to", folder)
    edited = folder / "leaderboard.tex"
    edited.write_text("% my caption", encoding="utf-8")
    assert "leaderboard.tex" in proofstone("audit", wide, "--tables-to", folder).err
    assert edited.read_text(encoding="utf-8") == "% my caption"
    edited.unlink()
    assert proofstone("audit", wide, "--tables-to", folder).code == 0


def test_a_folder_that_cannot_be_is_refused(proofstone: Proofstone, wide: Path) -> None:
    """Below no folder, or in the place of a file."""
    nowhere = wide.with_name("no") / "t"
    assert "there is no folder" in proofstone("audit", wide, "--tables-to", nowhere).err
    assert proofstone("audit", wide, "--tables-to", wide).code == 2


def test_the_page_holds_the_files_of_its_leaderboard(proofstone: Proofstone, wide: Path) -> None:
    """The links at its head are the bytes of the files, which are the same every time."""
    page, folder, again = wide.with_name("r.html"), wide.with_name("t"), wide.with_name("u")
    proofstone("audit", wide, "-o", page, "--tables-to", folder)
    proofstone("audit", wide, "--tables-to", again)
    text = page.read_text(encoding="utf-8")
    for name in ("leaderboard.csv", "leaderboard.tex"):
        written = (folder / name).read_bytes()
        assert written == (again / name).read_bytes()
        packed = re.search(rf'href="data:[^"]*base64,([^"]*)" download="{name}"', text)
        assert packed is not None
        assert base64.b64decode(packed[1]) == written


def test_chosen_columns_are_in_every_kind_of_table(proofstone: Proofstone, made: Path) -> None:
    """``report --columns`` adds fields of model cards to page, CSV and LaTeX."""
    folder = made / "t"
    options = ("-w", made, "--tables-to", folder, "--columns", "lab,kind")
    told = proofstone("report", "old-books", *options)
    assert told.code == 0, told.err
    for name in ("leaderboard.csv", "leaderboard.tex"):
        head = (folder / name).read_text(encoding="utf-8")
        assert "kind" in head
        assert "lab" in head
