"""Nothing in the package reaches a network but ``http_session``, which passes the egress gate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tools.resolved import ROOT

PACKAGE = ROOT / "src" / "proofstone"
GATE = PACKAGE / "models" / "http_session.py"
# Names that open or hold a connection, whichever module they are taken from.
OPENERS = frozenset(
    [
        "ClientSession",
        "TCPConnector",
        "UnixConnector",
        "BaseConnector",
        "NamedPipeConnector",
        "ws_connect",
        "open_connection",
        "open_unix_connection",
        "create_connection",
        "create_datagram_endpoint",
        "sock_connect",
        "urlopen",
        "urlretrieve",
        "HTTPConnection",
        "HTTPSConnection",
        "build_opener",
    ]
)
# Modules that can reach a network by themselves.
CLIENTS = frozenset(
    [
        "http.client",
        "urllib.request",
        "urllib3",
        "httpx",
        "requests",
        "pycurl",
        "ftplib",
        "smtplib",
        "imaplib",
        "poplib",
        "telnetlib",
        "xmlrpc",
        "websockets",
        "websocket",
        "grpc",
        "openai",
        "anthropic",
        "boto3",
        "botocore",
        "huggingface_hub",
    ]
)


_LAST_PARTS = {name.rpartition(".")[2] for name in CLIENTS}  # "from http import client"


def trespasses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that name an opener or import a client."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OPENERS and not _annotates(node):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "aiohttp.request":
            yield node.lineno, "aiohttp.request"
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            yield from ((node.lineno, name) for name in names if _is_client(name))
            yield from ((node.lineno, a.name) for a in node.names if a.name in OPENERS)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, a.name) for a in node.names if _is_client(a.name))


def _is_client(module: str) -> bool:
    return any(module == client or module.startswith(f"{client}.") for client in CLIENTS)


def _annotates(node: ast.Attribute) -> bool:
    return getattr(node, "annotates", False)


def parsed(text: str) -> ast.AST:
    """The tree, with what stands in annotations marked: a type opens nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            for below in ast.walk(getattr(node, field, None) or ast.Pass()):
                below.annotates = True  # type: ignore[attr-defined]
    return tree


def test_only_the_gate_opens_connections() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    words = re.compile("|".join(map(re.escape, [*OPENERS, *CLIENTS, *_LAST_PARTS, "aiohttp"])))
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, text in texts.items()
        if path != GATE and words.search(text)  # most files name none, and are quickly done with
        for line, name in trespasses(parsed(text))
    ]
    assert found == []


def test_the_gate_is_passed_before_a_session_is_made() -> None:
    """In ``open_session`` the check of the gate stands before the construction."""
    tree = ast.parse(GATE.read_text(encoding="utf-8"))
    (function,) = [
        n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "open_session"
    ]
    calls = [ast.unparse(n.func) for n in ast.walk(function) if isinstance(n, ast.Call)]
    assert "route.gate.check" in calls
    lines = {ast.unparse(n.func): n.lineno for n in ast.walk(function) if isinstance(n, ast.Call)}
    assert lines["route.gate.check"] < lines["aiohttp.ClientSession"]


@pytest.mark.parametrize(
    "text",
    [
        "import aiohttp\nasync def f(): return aiohttp.ClientSession()",
        "from aiohttp import TCPConnector",
        "import aiohttp\naiohttp.request('GET', 'x')",
        "def f():\n    import urllib.request",
        "from urllib import request",
        "from http import client",
        "import requests",
        "import asyncio\nasync def f(): await asyncio.open_connection('h', 1)",
        "async def f(loop): await loop.create_connection(None, 'h', 1)",
        "import socket\nsocket.create_connection(('h', 1))",
    ],
)
def test_each_other_way_would_be_found(text: str) -> None:
    assert list(trespasses(parsed(text)))


def test_a_type_in_an_annotation_is_no_way_out() -> None:
    assert not list(
        trespasses(parsed("def f(s: aiohttp.ClientSession) -> asyncio.open_connection: ..."))
    )
