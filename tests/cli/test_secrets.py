"""Keys stay out of everything that is kept or shown, even where an endpoint repeats them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofstone.engines.store.calls import decompress
from proofstone.wiring import open_workspace
from scripted_server import Act, Seen, answer, error
from serving import configure, serving
from told import Proofstone

KEY = "tr0ub4dor-and-3-of-its-friends"
IN_ADDRESS = "correct-horse-battery"
IN_FRONT = "staple-of-the-horse"


def repeating(seen: Seen) -> Act:
    """A third of the answers are errors; each repeats the whole request's head."""
    told = f"you sent {dict(seen.headers)} to {seen.path}, {KEY}, {IN_ADDRESS} and {IN_FRONT}"
    if seen.number % 3 == 0:
        return error(400, {"error": {"message": told}})
    return answer(f"{told}\nAnswer: A")


@pytest.fixture
def keyed(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THEIR_KEY", KEY)
    return made


def kept_in(folder: Path) -> bytes:
    """All that a workspace holds: its files, and every row with the bodies in it unpacked."""
    parts = []
    with open_workspace(folder) as workspace, workspace.store.database.reading() as connection:
        for table in ("call", "prompt", "profile", "failure", "run"):
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            parts += [repr(row).encode() for row in rows]
        for query in ("SELECT raw FROM call", "SELECT body FROM prompt"):
            parts += map(decompress, connection.exec_driver_sql(query).scalars())
    # The settings are the person's own file.
    files = [file for file in folder.rglob("*") if file.is_file()]
    parts += [file.read_bytes() for file in files if file.name != "proofstone.toml"]
    return b"\n".join(parts)


def test_no_key_is_kept_or_shown(keyed: Path, proofstone: Proofstone) -> None:
    """A key in the environment, one in the address and a password: not in the workspace's files,
    stdout, stderr, JSON or page, though every reply and every error repeats all three."""
    said = ""
    with serving(repeating) as server:
        address = server.url.replace("http://", f"http://me:{IN_FRONT}@") + f"?api_key={IN_ADDRESS}"
        configure(keyed, address, 'api_key_env = "THEIR_KEY"')
        commands = [
            ("run", "old-books", "-m", "scripted/one"),
            ("models", "list"),
            ("models", "check", "scripted/one"),
            ("status",),
            ("doctor",),
            ("leaderboard", "old-books"),
            ("leaderboard", "old-books", "--json"),
            ("show", "old-books", "-m", "scripted/one", "--outcome", "answered", "-n", "8"),
            ("show", "old-books", "-m", "scripted/one", "--outcome", "answered", "--json"),
            ("list", "run", "--json"),
            ("report", "old-books", "-o", keyed / "page.html"),
        ]
        for command in commands:
            told = proofstone(*command, "-w", keyed)
            assert "Traceback" not in told.err
            said += told.out + told.err
        headers = dict(server.seen[0].headers)
        assert headers["authorization"] == f"Bearer {KEY}"
        assert IN_ADDRESS in server.seen[0].path
    assert "you sent" in said
    kept = kept_in(keyed)
    assert kept.count(b"you sent") > 8
    everything = said.encode() + kept
    assert b"you sent" in (keyed / "page.html").read_bytes()
    for secret in (KEY, IN_ADDRESS, IN_FRONT):
        for form in (secret, json.dumps(secret)[1:-1]):
            assert form.encode() not in everything
