"""Input that cannot be used: a clear error with its place and the next step, and nothing stored."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from small_bank import BOOKS, rows, write_bank, write_lines
from told import Proofstone

GOOD = json.dumps({"text": "Leaf 1 is green.", "correct": True, "book": "Herbal"})


def holds_nothing(proofstone: Proofstone, folder: Path) -> bool:
    """Whether the workspace has no row of any kind."""
    counts = proofstone("status", "-w", folder, "--json").json["counts"]
    return not any(counts.values())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "line 1: the file has no rows"),
        (b"\n \n", "line 1: the file has no rows"),
        (f"{GOOD}\n{{".encode(), "line 2: is not valid JSON"),
        (f"{GOOD}\n[1]\n".encode(), "line 2: expected a JSON object, got a list"),
        (f"{GOOD[:20]}\0{GOOD[20:]}\n".encode(), "line 1: contains a NUL at offset 20"),
        (GOOD.encode().replace(b"green", b"gr\xfcn"), "line 1: is not UTF-8: byte 0xFC"),
        (GOOD.encode("utf-16"), "line 1: is UTF-16 text; save it as UTF-8"),
        (f"{GOOD}\n{GOOD}\n".encode(), "line 2, field text: repeats the statement of line 1"),
        (b'{"text": "x"}\n', "line 1, field correct: is missing"),
    ],
    ids=["empty", "blank", "cut off", "list", "NUL", "Latin-1", "UTF-16", "twice", "no verdict"],
)  # fmt: skip
def test_a_bank_that_cannot_be_read_is_refused_whole(
    empty: Path, tmp_path: Path, proofstone: Proofstone, content: bytes, says: str
) -> None:
    """Exit 2, the line and what is wrong with it, and none of it is stored."""
    file = tmp_path / "bank.jsonl"
    file.write_bytes(content)
    told = proofstone("import", file, "--as", "bank", "-w", empty)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-202]: ")
    assert says in told.err
    assert holds_nothing(proofstone, empty)


def test_every_problem_of_a_file_is_named_at_once(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Three problems in one file: three lines with their places."""
    first, second, third = rows()[:3]
    bad = [
        {**first, "correct": "perhaps"},
        {**second, "origin": "nowhere"},
        {**third, "id": second["id"]},
    ]
    told = proofstone("import", write_lines(tmp_path / "b.jsonl", bad), "--as", "bank", "-w", empty)
    assert "has 3 problems; nothing was imported" in told.err
    assert "line 1, field correct: expected true or false" in told.err
    assert "line 2, field origin: no row has the id" in told.err
    assert f'line 3, field id: "{second["id"]}" is already the id of line 2' in told.err
    assert holds_nothing(proofstone, empty)


def test_a_line_without_breaks_is_refused_and_not_held(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """50 MB in one line: its length and what is read at most."""
    file = tmp_path / "long.jsonl"
    with file.open("wb") as out:
        out.write(b'{"text": "')
        out.write(b"x" * 50_000_000)
        out.write(b'", "correct": true, "book": "b"}\n')
    told = proofstone("import", file, "--as", "bank", "-w", empty)
    assert told.code == 2
    assert "line 1: expected at most 8,388,608 bytes, got 50,000,043" in told.err
    assert holds_nothing(proofstone, empty)


@pytest.mark.parametrize(
    ("mark", "end"), [(b"\xef\xbb\xbf", b"\n"), (b"", b"\r\n"), (b"\xef\xbb\xbf", b"\r\n")],
    ids=["BOM", "CRLF", "both"],
)  # fmt: skip
def test_what_editors_of_windows_add_is_no_problem(
    empty: Path, tmp_path: Path, proofstone: Proofstone, mark: bytes, end: bytes
) -> None:
    """A byte-order mark and CRLF give the very same bank."""
    plain = write_bank(tmp_path)
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(mark + plain.read_bytes().replace(b"\n", end))
    first = proofstone("import", plain, "--as", "bank", "-w", empty, "--json")
    assert proofstone("import", marked, "--as", "bank", "-w", empty, "--json").json == first.json


@pytest.mark.parametrize("field", ["passage", "corrects"])
def test_a_statement_of_what_is_not_here_is_refused(
    empty: Path, tmp_path: Path, proofstone: Proofstone, field: str
) -> None:
    """A passage or a corrected fact, by a content id that this workspace does not have."""
    lines: list[dict[str, Any]] = rows()
    lines[4][field] = "ab" * 32
    told = proofstone(
        "import", write_lines(tmp_path / "b.jsonl", lines), "--as", "bank", "-w", empty
    )
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-202]: these facts refer to missing rows")
    assert "abababab" in told.err
    assert "is not in this workspace" in told.err
    assert holds_nothing(proofstone, empty)


def test_a_correction_of_a_correction_is_stored(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """A chain within one file, in any order of its lines."""
    nine, eight = "There are 9 planets.", "There are 8 planets."
    lines = [
        {"id": "c", "text": nine, "correct": False, "corrects": "b", "book": "Sky"},
        {"id": "b", "text": nine, "correct": True, "corrects": "a", "book": "Sky"},
        {"id": "a", "text": eight, "correct": True, "book": "Sky"},
    ]
    file = write_lines(tmp_path / "bank.jsonl", lines)
    told = proofstone("import", file, "--as", "bank", "-w", empty, "--json")
    assert told.code == 0, told.err
    assert told.json["rows"] == 3


def test_a_book_with_too_few_statements_is_named(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The form is refused, with each such book and what may be done; --skip-small leaves it out."""
    few = [row for row in rows() if row["book"] == BOOKS[0] or row["id"].endswith("-1")]
    bank = write_lines(tmp_path / "few.jsonl", few)
    assert proofstone("import", bank, "--as", "bank", "-w", empty).code == 0
    told = proofstone("build", "form", "few", "--questions", 6, "-w", empty)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-202]: ")
    assert BOOKS[1] in told.err
    assert f"  {BOOKS[0]}" not in told.err
    assert proofstone("list", "form", "-w", empty, "--json").json == []
    skipping = proofstone("build", "form", "few", "--questions", 6, "--skip-small", "-w", empty)
    assert skipping.code == 0, skipping.err


def test_parameters_that_cannot_be_are_refused_together(made: Path, proofstone: Proofstone) -> None:
    """Each with what was expected; no form is made."""
    told = proofstone(
        "build", "form", "old-books", "--statements", "3-2", "--options", "x", "-w", made
    )
    assert (told.code, told.out) == (2, "")
    assert "statements: expected a number or LOW-HIGH, got '3-2'" in told.err
    assert "options: expected a number or LOW-HIGH, got 'x'" in told.err
    assert len(proofstone("list", "form", "-w", made, "--json").json) == 1


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (("show", "old-boks"), "is named 'old-boks'", "there is: old-books-"),
        (("leaderboard", "form:beef"), "no form is named 'beef'", "there is: old-books-"),
        (("grade", "run:beef"), "no run is named 'beef'", "there is: run:"),
        (("run", "run:beef", "-m", "sim/a"), "no run is named 'beef'", "there is: run:"),
        (("grade", "bank:beef"), "no bank is named 'beef'", "there is: old-books-"),
        (
            ("run", "old-books", "-m", "opnai/gpt"),
            "unknown provider 'opnai'",
            "did you mean 'openai'",
        ),
        (("run", "old-books", "-m", "gpt"), "has no slash", "expected provider/model"),
        (
            ("run", "old-books", "-m", "sim/a", "--prompt-method", "loud"),
            "unknown prompting method 'loud'",
            "direct, cot",
        ),
        (
            ("run", "old-books", "-m", "sim/a", "--prompt-method", "dirct"),
            "unknown prompting method 'dirct'",
            "did you mean 'direct'",
        ),
        (
            ("run", "old-books", "-m", "local/smolm2-135m"),
            "no model file 'smolm2-135m'",
            "did you mean 'smollm2-135m'",
        ),
        (("show", "old-bokss"), "is named 'old-bokss'", "did you mean 'old-books-"),
        (("run", "old-books", "-m", "sim/a?skill=1"), "unknown parameter 'skill'", "ability"),
        (
            ("export", "old-books", "-o", "x.xyz"),
            'unsupported table format ".xyz"',
            "use one of .jsonl",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_unknown_name_lists_what_is_near(
    made_once: Path, proofstone: Proofstone, arguments: tuple[str, ...], says: str, hint: str
) -> None:
    """Exit 2, one coded error, and what could have been meant."""
    told = proofstone(*arguments, "-w", made_once)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[")
    assert says in told.err
    assert hint in told.err


def test_a_key_that_is_not_set_is_an_endpoints_matter(
    made_once: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5, the variable's name and how to set it; nothing is asked of any other model."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = proofstone("run", "old-books", "-m", "openai/gpt-5.1,sim/new", "-w", made_once)
    assert (told.code, told.out) == (5, "")
    assert told.err.startswith("error[PS-501]: openai/gpt-5.1 needs")
    assert "export OPENAI_API_KEY=" in told.err
    assert len(proofstone("list", "run", "-w", made_once, "--json").json) == 4


# ---------------------------------------------------------------- workspaces


def test_no_workspace_is_said_with_how_to_make_one(tmp_path: Path, proofstone: Proofstone) -> None:
    """Neither here nor above; and a folder that is not there is not taken for its parent."""
    told = proofstone("status", "-w", tmp_path)
    assert (told.code, told.out) == (2, "")
    assert told.err == (
        f"error[PS-204]: no workspace at or above {tmp_path}\n"
        "  help: make one with 'proofstone init', or name one with -w FOLDER\n"
    )


def test_a_mistyped_folder_is_not_its_parent(made_once: Path, proofstone: Proofstone) -> None:
    """-w with a name that does not exist, inside a workspace."""
    told = proofstone("status", "-w", made_once / "nowhere")
    assert (told.code, told.out) == (2, "")
    assert "there is no folder" in told.err


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://me:pw-planted@host/x", "PROOF_DB holds no URL of a PostgreSQL database"),
        ("just text pw-planted", "PROOF_DB holds no URL of a PostgreSQL database"),
        ("postgresql://me:pw-planted@host:port/x", "cannot parse the URL of the database"),
        ("postgresql://me:pw-planted@127.0.0.1:1/x", "check that the server is running"),
    ],
)
def test_a_database_that_cannot_be_is_said_without_its_password(
    empty: Path,
    proofstone: Proofstone,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    says: str,
) -> None:
    pytest.importorskip("psycopg")
    settings = '[workspace]\ndatabase_env = "PROOF_DB"\n'
    (empty / "proofstone.toml").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("PROOF_DB", url)
    told = proofstone("status", "-w", empty)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-204]: ")
    assert says in told.err
    assert "pw-planted" not in told.err


def test_a_folder_beside_a_workspace_is_not_in_it(made_once: Path) -> None:
    """From within a workspace, ../other stands for the folder beside it and not for this one."""
    (made_once.parent / "other").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "proofstone", "status", "-w", "../other"]
    done = subprocess.run(command, cwd=made_once, capture_output=True, text=True, check=False)
    beside = made_once.parent.resolve() / "other"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error[PS-204]: no workspace at or above {beside}\n")


def test_a_folder_cannot_be_made_where_a_file_stands(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """init below a file."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    told = proofstone("init", tmp_path / "file" / "work")
    assert told.code == 2
    assert told.err.startswith("error[PS-204]: cannot make a workspace in ")


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing is unwritable for this user"
)
def test_an_unwritable_workspace_says_so(made: Path, proofstone: Proofstone) -> None:
    """Database and folder read-only: exit 2 or 3 with a coded error, no traceback."""
    (made / ".proofstone" / "store.sqlite").chmod(0o444)
    (made / ".proofstone").chmod(0o555)
    try:
        told = proofstone("run", "old-books", "-m", "sim/new", "-w", made)
    finally:
        (made / ".proofstone").chmod(0o755)
    assert told.code in {2, 3}
    assert told.err.startswith("error[")


NO_ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from proofstone.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
@pytest.mark.parametrize("command", ["init {0}/new", "run old-books -m sim/new -w {0}"])
def test_a_disk_that_takes_nothing_is_said(made: Path, command: str) -> None:
    """Not one byte can be written: exit 2 with a coded error, and no half-made workspace."""
    arguments = command.format(made).split()
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[PS-204]: cannot ")
    assert "Traceback" not in done.stderr
    assert not (made / "new" / ".proofstone").exists()


def test_a_database_that_is_none_is_left_alone(empty: Path, proofstone: Proofstone) -> None:
    """Bytes that are no database, and a folder in its place."""
    file = empty / ".proofstone" / "store.sqlite"
    file.write_bytes(b"not a database at all, but long enough to be looked at" * 20)
    before = file.read_bytes()
    told = proofstone("status", "-w", empty)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-204]: cannot open the database")
    assert file.read_bytes() == before
    file.unlink()
    file.mkdir()
    assert proofstone("status", "-w", empty).code == 2


def test_a_database_of_a_newer_version_is_left_untouched(
    made: Path, proofstone: Proofstone
) -> None:
    """Exit 2, both versions named, and how to go on."""
    file = made / ".proofstone" / "store.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = file.read_bytes()
    told = proofstone("status", "-w", made)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-205]: ")
    assert "has schema 9999" in told.err
    assert "upgrade Proofstone" in told.err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[workspace\n", "is not TOML"),
        (b"[workspace]\ndatabase = 1\n", "has unknown keys: database"),
        (b"workspace = 3\n", "must be a table"),
        (b"# gr\xfcn\n", "cannot be read"),
        (b'[models."a/b"]\nbase_ul = "x"\n', "unknown key 'base_ul'; did you mean 'base_url'?"),
        (
            b'[models."a/b"]\nbase_url = "ftp://x"\n',
            "expected an endpoint address with http:// or https://",
        ),
    ],
    ids=["no TOML", "unknown key", "no table", "Latin-1", "mistyped", "address"],
)
def test_settings_that_cannot_be_read_are_named(
    made: Path, proofstone: Proofstone, content: bytes, says: str
) -> None:
    """The file, the place, and what was expected."""
    (made / "proofstone.toml").write_bytes(content)
    told = proofstone("run", "old-books", "-m", "a/b", "-w", made)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error[PS-20")
    assert "proofstone.toml" in told.err
    assert says in told.err


def test_settings_may_begin_with_a_byte_order_mark(made: Path, proofstone: Proofstone) -> None:
    """As editors of Windows write them."""
    (made / "proofstone.toml").write_bytes(b"\xef\xbb\xbf[workspace]\r\n")
    assert proofstone("status", "-w", made).code == 0


def test_who_reads_may_have_enough(made_once: Path) -> None:
    """A closed pipe (``| head``) ends a command without a traceback."""
    command = [sys.executable, "-m", "proofstone", "show", "old-books", "-n", "48", "--outcome",
               "right", "-w", str(made_once)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        words = process.stderr.read()
    assert b"Traceback" not in words, words
