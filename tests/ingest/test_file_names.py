"""Names of files that are no UTF-8, or more than a line: read, and named in one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from proofstone.documents.folders import find_files
from proofstone.documents.reader import GuardedReader, Job, Opened, Refused
from proofstone.documents.sources import readable_name

pytestmark = pytest.mark.skipif(
    sys.platform in {"win32", "darwin"}, reason="file systems there hold Unicode names only"
)

TEXT = "Copper melts at 1,085 degrees Celsius and has been in use for ten thousand years. "
WEB = f"<html><body><p>{TEXT * 3}</p></body></html>"
TEX = f"\\documentclass{{article}}\\begin{{document}}{TEXT * 3}\\end{{document}}"


def written(folder: Path, name: bytes, text: str) -> Path:
    file = Path(os.fsdecode(os.path.join(os.fsencode(folder), name)))  # noqa: PTH118
    file.write_text(text, encoding="utf-8")
    return file


def test_gbk_names_are_read_and_named(tmp_path: Path) -> None:
    """Of texts, web pages and LaTeX; a title out of a name is the name as its author wrote it."""
    name = "手册".encode("gbk")
    files = [
        written(tmp_path, name + b".txt", TEXT * 3),
        written(tmp_path, name + b".html", WEB),
        written(tmp_path, name + b".tex", TEX),
        written(tmp_path, b"R\xe9sum\xe9.txt", TEXT * 3),
    ]
    with GuardedReader(n_processes=2) as reader:
        events = [event for _, event in reader.read([Job(path=str(each)) for each in files])]
    assert [each.message for each in events if isinstance(each, Refused)] == []
    titles = [each.title for each in events if isinstance(each, Opened)]
    assert titles == ["手册", "手册", "手册", "R\\xE9sum\\xE9"]
    assert {each.inside for each in find_files([tmp_path]).files} == {
        "手册.txt", "手册.html", "手册.tex", "R\\xE9sum\\xE9.txt",
    }  # fmt: skip


def test_a_refusal_names_the_file(tmp_path: Path) -> None:
    broken = written(tmp_path, "试验".encode("gbk") + b".docx", "no document")
    with GuardedReader(n_processes=1) as reader:
        ((_, refused),) = reader.read([Job(path=str(broken))])
    assert isinstance(refused, Refused)
    assert refused.message.startswith("试验.docx is damaged")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain.txt", "plain.txt"),
        ("手册.txt".encode(), "手册.txt"),
        ("手册.txt".encode("gbk"), "手册.txt"),
        (b"R\xe9sum\xe9.txt", "R\\xE9sum\\xE9.txt"),
        (b"two\nlines\x1b[2J.txt", "two lines [2J.txt"),
    ],
)
def test_a_name_is_one_line_of_text(raw: bytes, shown: str) -> None:
    assert readable_name(os.fsdecode(raw)) == shown


def test_what_keeps_a_file_from_being_read_is_raised_where_answers_are_read(
    tmp_path: Path,
) -> None:
    """An unforeseen fault of a reading thread neither hangs nor loses files in silence."""
    written(tmp_path, b"a.txt", TEXT * 3)
    broken = Job(path=str(tmp_path / "a.txt"), title="\udc80")  # which no message can carry
    with GuardedReader(n_processes=1) as reader, pytest.raises(UnicodeEncodeError):
        list(reader.read([broken]))


def test_links_out_of_the_folder_are_left_out_and_counted(tmp_path: Path) -> None:
    inside = tmp_path / "folder"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text(TEXT)
    (inside / "own.txt").write_text(TEXT)
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "near.md").symlink_to(inside / "own.txt")
    found = find_files([inside])
    assert [each.inside for each in found.files] == ["near.md"]  # the same file as own.txt
    assert found.others == {"(links out of the folder)": 1}
    assert [each.inside for each in find_files([inside / "link.txt"]).files] == ["link.txt"]
