"""Keys stay out of everything that is kept or shown, even where an endpoint repeats them."""

from __future__ import annotations

import json
import logging
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from proofstone.api import open_workspace
from proofstone.store.calls import decompress
from scripted_proxy import ScriptedProxy
from scripted_server import Act, ScriptedServer, Seen, answer, error
from serving import configure, running, serving
from told import Proofstone, page_with_files

KEY = "tr0ub4dor-and-3-of-its-friends"
IN_ADDRESS = "correct-horse-battery"
IN_FRONT = 'staple"of@the/horse'
OF_TEAM = "team-token-of-the-nine"
WRITTEN = "literal-token-in-the-file"
OF_PROXY = "p@ss/word+of:the-proxy"
USERS = {IN_FRONT: "me", OF_PROXY: "clerk"}
SECRETS = (KEY, IN_ADDRESS, IN_FRONT, OF_TEAM, WRITTEN, OF_PROXY)


def forms(secret: str) -> set[bytes]:
    """A secret as it may appear: plain, in JSON, in an address, in base64, with its user before."""
    texts = {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret)}
    texts.add(b64encode(secret.encode()).decode())
    if secret in USERS:
        texts.add(b64encode(f"{USERS[secret]}:{secret}".encode()).decode())
    return {text.encode() for text in texts}


def repeating(seen: Seen) -> Act:
    """A third of the answers are errors; each repeats the whole request's head, and all secrets in
    every form."""
    told = f"you sent {dict(seen.headers)} to {seen.path}: {' '.join(SECRETS)} "
    told += " ".join(form.decode() for secret in SECRETS for form in sorted(forms(secret)))
    if seen.number % 3 == 0:
        return error(400, {"error": {"message": told}})
    return answer(f"{told}\nAnswer: A")


@pytest.fixture
def keyed(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THEIR_KEY", KEY)
    monkeypatch.setenv("TEAM_TOKEN", OF_TEAM)
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def beyond(keyed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ScriptedServer]]:
    """The workspace, set up for a host that is reached through a proxy with a password; every way
    of giving a secret is used."""
    login = f"clerk:{OF_PROXY}"
    with serving(repeating) as server, running(ScriptedProxy(login=login)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://clerk:{quote(OF_PROXY, safe='')}@{proxy.address}")
        front = f"http://me:{quote(IN_FRONT, safe='')}@models.test:{server.port}/v1"
        headers = f'headers = {{ X-Team-Token = "$TEAM_TOKEN", X-Auth = "{WRITTEN}" }}'
        configure(
            keyed, f"{front}?api_key={IN_ADDRESS}", 'api_key_env = "THEIR_KEY"', headers,
            "[egress]", 'hosts = ["models.test"]',
        )  # fmt: skip
        yield keyed, server


def kept_in(folder: Path) -> bytes:
    """All that a workspace holds: its files, those in zips unpacked, and every row of every table
    with the bodies in it unpacked."""
    parts = []
    with open_workspace(folder) as workspace, workspace.store.database.reading() as connection:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
        for table in connection.exec_driver_sql(listed).scalars().all():
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            parts += [repr(row).encode() for row in rows]
            parts += [cell for row in rows for cell in row if isinstance(cell, bytes)]
        for query in ("SELECT raw FROM call", "SELECT body FROM prompt"):
            parts += map(decompress, connection.exec_driver_sql(query).scalars())
    for file in folder.rglob("*"):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as bundle:
                parts += [bundle.read(name) for name in bundle.namelist()]
        # The settings are the person's own file, and a backup holds it as it is.
        elif file.is_file() and file.name not in ("proofstone.toml", "backup.sqlite"):
            parts.append(file.read_bytes())
    return b"\n".join(parts)


def test_no_key_is_kept_or_shown(
    beyond: tuple[Path, ScriptedServer], proofstone: Proofstone, caplog: pytest.LogCaptureFixture
) -> None:
    """A key in the environment, in a header, in the address and its query, a password before the
    host and one of the proxy: in no file of the workspace, row, log, stdout, stderr, JSON, page,
    export, backup or bundle, though every reply and every error repeats all of them."""
    folder, server = beyond
    caplog.set_level(logging.DEBUG)
    said = ""
    asked = ("old-books", "-m", "scripted/one")
    commands: list[tuple[object, ...]] = [
        ("run", *asked, "--save", folder / "saved.toml"),
        ("run", *asked, "--replicate", "b", "--json"),
        ("models", "list"),
        ("models", "list", "--json"),
        ("models", "check", "scripted/one"),
        ("models", "check", "scripted/one", "--json"),
        ("models", "price", "scripted/one", "--json"),
        ("status",),
        ("status", "--json"),
        ("doctor",),
        ("doctor", "--json"),
        ("doctor", "--online"),
        ("doctor", "--online", "-m", "scripted/one", "--json"),
        ("doctor", "--egress"),
        ("doctor", "--egress", "--json"),
        ("doctor", "--bundle", folder / "bundle.zip"),
        ("doctor", "--config", "--", *asked),
        ("doctor", "--config", "--json", "--", *asked),
        ("leaderboard", "old-books"),
        ("leaderboard", "old-books", "--json"),
        ("show", *asked, "--outcome", "answered", "-n", "8"),
        ("show", *asked, "--outcome", "answered", "--json"),
        ("list", "run", "--json"),
        ("export", "old-books", "-o", folder / "bank.jsonl"),
        ("report", "old-books", "-o", folder / "page.html"),
        ("report", "old-books", "-o", folder / "public.html", "--audience", "public"),
        ("audit", "old-books", "-o", folder / "audited.html", "--json"),
        ("audit", "old-books", "--audience", "public", "--json"),
        ("workspace", "backup", folder / "backup.sqlite"),
    ]
    for command in commands:
        place = command.index("--") if "--" in command else len(command)
        told = proofstone(*command[:place], "-w", folder, *command[place:])
        assert "Traceback" not in told.err
        assert told.code in (0, 3, 5), (command, told.err)
        said += told.out + told.err
    headers = dict(server.seen[0].headers)
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["x-team-token"], headers["x-auth"]) == (OF_TEAM, WRITTEN)
    assert IN_ADDRESS in server.seen[0].path
    assert said.count("you sent") > 4
    kept = kept_in(folder)
    assert kept.count(b"you sent") > 8
    assert "you sent" in page_with_files(folder / "page.html")
    pages = ("public.html", "audited.html")
    for name in (*pages, "bundle.zip", "saved.toml", "bank.jsonl", "backup.sqlite"):
        assert (folder / name).is_file()
    backup = (folder / "backup.sqlite").read_bytes()
    for secret in (KEY, OF_TEAM, OF_PROXY):  # of the environment, which no backup holds
        assert not [form for form in forms(secret) if form in backup]
    for where, text in (("said", said.encode()), ("kept", kept), ("log", caplog.text.encode())):
        for secret in SECRETS:
            found = [form for form in forms(secret) if form in text]
            assert not found, (where, found, _around(text, found))


def _around(text: bytes, found: list[bytes]) -> bytes:
    place = text.index(found[0]) if found else 0
    return text[max(0, place - 120) : place + 120]


def test_a_proxys_password_shows_in_no_error(
    beyond: tuple[Path, ScriptedServer], proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a proxy that refuses it, one that is gone, and one whose address cannot be read."""
    folder, _server = beyond
    said = ""
    with running(ScriptedProxy(login="clerk:another")) as proxy:
        refusing = proxy.address
        monkeypatch.setenv("HTTP_PROXY", f"http://clerk:{quote(OF_PROXY, safe='')}@{refusing}")
        said += "".join(proofstone("doctor", "--online", "-w", folder)[1:])
        assert "proxy_refused" in said
    for address in (refusing, "nowhere.invalid:3128", "h:notaport"):
        monkeypatch.setenv("HTTP_PROXY", f"http://clerk:{quote(OF_PROXY, safe='')}@{address}")
        for command in (("doctor", "--online"), ("run", "old-books", "-m", "scripted/one")):
            said += "".join(proofstone(*command, "-w", folder)[1:])
    assert "proxy_unreachable" in said
    assert "not a valid proxy" in said
    for secret in (OF_PROXY, KEY, IN_FRONT, IN_ADDRESS):
        assert not [form for form in forms(secret) if form in said.encode()]
