"""A damaged store is said to be one, a read-only one is read, and a store is its owner's alone."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from told import Proofstone

STORE = ".proofstone/store.sqlite"


def test_a_damaged_store_is_a_finding(
    made: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``doctor`` exits with 2, with and without -w, and other commands say what is wrong."""
    store = made / STORE
    store.write_bytes(b"x" * 200 + store.read_bytes()[200:])
    monkeypatch.chdir(made)
    for told in (proofstone("doctor", "-w", made), proofstone("doctor")):
        assert told.code == 2
        assert "MEND    workspace          cannot open the database" in told.out
        assert "file is not a database" in told.out
    assert proofstone("status", "-w", made).code == 2


@pytest.mark.parametrize("damage", ["emptied", "deleted"])
def test_a_lost_store_is_no_new_one(made: Path, proofstone: Proofstone, damage: str) -> None:
    """Else a failed copy would pass for a workspace in which nothing was ever run."""
    store = made / STORE
    store.unlink()
    if damage == "emptied":
        store.touch()
    for command in (["status"], ["doctor"], ["leaderboard", "old-books"]):
        told = proofstone(*command, "-w", made)
        assert told.code == 2
        assert ("it is empty" if damage == "emptied" else "is missing") in told.out + told.err
        assert store.exists() == (damage == "emptied")
    assert proofstone("init", made).code == 0
    assert proofstone("status", "-w", made).code == 0


def test_a_store_is_its_owners(tmp_path: Path, proofstone: Proofstone, made: Path) -> None:
    """The hidden folder 0700, the database and its backups 0600; pages as the umask says."""
    assert proofstone("init", tmp_path / "fresh").code == 0
    assert proofstone("workspace", "backup", tmp_path / "copy.sqlite", "-w", made).code == 0
    assert proofstone("report", "old-books", "-o", tmp_path / "page.html", "-w", made).code == 0
    modes = [
        stat.S_IMODE((tmp_path / name).stat().st_mode)
        for name in ("fresh/.proofstone", f"fresh/{STORE}", "copy.sqlite")
    ]
    assert modes == [0o700, 0o600, 0o600]
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / "page.html").stat().st_mode == plain.stat().st_mode


@pytest.fixture
def sealed(made: Path) -> Path:
    """A workspace that may be read and not written."""
    for path in [*made.rglob("*"), made]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    return made


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="root may write whatever it likes")
@pytest.mark.parametrize(
    "command",
    ["status", "list bank", "show old-books", "leaderboard old-books", "list run", "doctor"],
)
def test_a_readonly_workspace_can_be_read(sealed: Path, command: str) -> None:
    """Each command that only reads works, and leaves nothing beside the database."""
    before = sorted(sealed.rglob("*"))
    told = as_an_ordinary_user(*command.split(), "-w", str(sealed))
    assert told.returncode == 0, told.stderr
    assert told.stdout
    assert sorted(sealed.rglob("*")) == before


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="root may write whatever it likes")
def test_what_writes_to_a_readonly_workspace_says_why_it_cannot(sealed: Path) -> None:
    told = as_an_ordinary_user("run", "old-books", "-m", "sim/new", "-w", str(sealed))
    assert told.returncode == 3
    assert "make the workspace writable" in told.stderr
    assert "Traceback" not in told.stderr


def as_an_ordinary_user(*words: str) -> subprocess.CompletedProcess[str]:
    """The command without root's power to write what may not be written."""
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    return subprocess.run(
        [*drop, sys.executable, "-m", "proofstone", *words],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
