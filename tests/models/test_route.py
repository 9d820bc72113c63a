"""The way to an endpoint against real servers: proxies, private CAs, and the exceptions to both."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme
import truststore

from proofstone.errors import BadInput, EgressRefused, EndpointUnusable
from proofstone.models.client import ChatEndpoint
from proofstone.models.config import ModelConfig, resolve
from proofstone.models.connections import Trust, choose_proxy, choose_trust, tls_context
from proofstone.models.egress import EgressGate
from proofstone.models.entries import Entry
from proofstone.models.names import Destination, parse_model_name
from proofstone.models.retries import SystemClock
from proofstone.records.calls import Attempt, Message, ModelRequest
from proofstone.records.ids import canonical_json, digest
from scripted_proxy import ScriptedProxy
from scripted_server import Act, ScriptedServer

HOST = "models.test"  # a name that no DNS knows: only the proxy leads there
LOGIN, PASSWORD = "clerk", "p@ss/w0rd-of-the-proxy"
PROMPT = canonical_json((Message("user", "Which?"),))
ELSEWHERE = Destination("api.example.com", 443)


async def ask(url: str, environment: dict[str, str], **fields: Any) -> Attempt:
    """One attempt at a model behind ``url``, whose host is permitted."""
    gate = EgressGate()
    for port in (80, 443, int(url.split(":")[2].split("/", maxsplit=1)[0])):
        gate.permit(Destination(HOST, port))
    entry = Entry(base_url=url, timeout_s=60.0, **fields)
    config = ModelConfig(providers={"acme": entry}, models={}, environment=environment, gate=gate)
    model = ChatEndpoint(resolve(parse_model_name("acme/m"), config), clock=SystemClock())
    request = ModelRequest(
        messages=(Message("user", "Which?"),), prompt=PROMPT, prompt_hash=digest(PROMPT)
    )
    try:
        return await model.collect(await model.submit(request))
    finally:
        await model.close()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A CA that no system knows."""
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "corp.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def tls(authority: trustme.CA) -> Iterator[ssl.SSLContext]:
    """A server's context for localhost, 127.0.0.1 and the name behind the proxy."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1", HOST).configure_cert(context)
    return (yield context)


# ---------------------------------------------------------------- private CAs


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
async def test_a_variable_names_the_private_ca(
    tls: ssl.SSLContext, ca_file: Path, variable: str
) -> None:
    async with ScriptedServer(tls=tls) as server:
        attempt = await ask(server.url, {variable: str(ca_file)})
    assert attempt.response is not None, attempt.detail
    assert server.requests == 1


async def test_an_entrys_ca_file_wins_over_the_variable(tls: ssl.SSLContext, ca_file: Path) -> None:
    others = {"SSL_CERT_FILE": "/there/is/no/such.pem"}
    async with ScriptedServer(tls=tls) as server:
        attempt = await ask(server.url, others, ca_file=str(ca_file))
    assert attempt.response is not None


async def test_without_the_ca_it_is_a_bad_certificate_and_nothing_is_asked(
    tls: ssl.SSLContext,
) -> None:
    async with ScriptedServer(tls=tls) as server:
        attempt = await ask(server.url, {})
    assert attempt.error == "bad_certificate"
    assert "unable to get local issuer certificate" in attempt.detail
    assert server.requests == 0


async def test_a_certificate_for_another_name_is_a_bad_certificate(
    authority: trustme.CA, ca_file: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("somebody-else.test").configure_cert(context)
    async with ScriptedServer(tls=context) as server:
        attempt = await ask(server.url, {"SSL_CERT_FILE": str(ca_file)})
    assert attempt.error == "bad_certificate"
    assert server.requests == 0


async def test_a_ca_file_that_cannot_be_read_says_which(tmp_path: Path) -> None:
    for name, text in (("gone.pem", None), ("empty.pem", "no certificate")):
        path = tmp_path / name
        if text is not None:
            path.write_text(text, encoding="utf-8")
        with pytest.raises(EndpointUnusable, match=f"SSL_CERT_FILE names .*{name}") as caught:
            await ask("https://127.0.0.1:9/v1", {"SSL_CERT_FILE": str(path)})
        assert "PEM" in caught.value.hint


def test_a_folder_of_certificates_may_be_named(tmp_path: Path) -> None:
    assert choose_trust("", {"SSL_CERT_DIR": str(tmp_path)}, "x").origin == "SSL_CERT_DIR"
    assert tls_context(Trust(str(tmp_path), "SSL_CERT_DIR")).verify_mode == ssl.CERT_REQUIRED


def test_the_systems_store_is_believed_where_nothing_is_named() -> None:
    trust = choose_trust("", {}, "x")
    context = tls_context(trust)
    assert str(trust) == "the system's trust store"
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert tls_context(trust) is context  # read once a process


async def test_the_store_of_other_systems_works_with_the_client(
    tls: ssl.SSLContext, ca_file: Path
) -> None:
    """``truststore``, which macOS and Windows use, refuses and believes as it should."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    async with ScriptedServer(tls=tls) as server:
        for is_known in (False, True):
            if is_known:
                context.load_verify_locations(ca_file)
            connector = aiohttp.TCPConnector(ssl=context)
            async with aiohttp.ClientSession(connector=connector) as session:
                if is_known:
                    async with session.post(server.url, data=b"{}") as response:
                        assert response.status == 200
                else:
                    with pytest.raises(aiohttp.ClientConnectorCertificateError):
                        await session.post(server.url, data=b"{}")


# ---------------------------------------------------------------- proxies


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
async def test_https_goes_through_a_tunnel(
    tls: ssl.SSLContext, ca_file: Path, variable: str
) -> None:
    """The proxy sees CONNECT with host and port, and nothing of the request."""
    async with ScriptedServer(tls=tls) as server, ScriptedProxy() as proxy:
        environment = {variable: f"http://{proxy.address}", "SSL_CERT_FILE": str(ca_file)}
        place = f"{HOST}:{server.port}"
        attempt = await ask(f"https://{place}/v1", environment)
    assert attempt.response is not None, attempt.detail
    assert proxy.seen == [f"CONNECT {place} HTTP/1.1"]
    assert server.seen[0].headers["host"] == place


async def test_behind_a_tunnel_the_certificate_is_checked_too(tls: ssl.SSLContext) -> None:
    async with ScriptedServer(tls=tls) as server, ScriptedProxy() as proxy:
        environment = {"HTTPS_PROXY": f"http://{proxy.address}"}
        attempt = await ask(f"https://{HOST}:{server.port}/v1", environment)
    assert (attempt.error, server.requests) == ("bad_certificate", 0)


async def test_plain_http_is_handed_to_the_proxy_whole() -> None:
    async with ScriptedServer() as server, ScriptedProxy() as proxy:
        url = f"http://{HOST}:{server.port}/v1"
        attempt = await ask(url, {"http_proxy": f"http://{proxy.address}"})
    assert attempt.response is not None, attempt.detail
    assert proxy.seen == [f"POST {url}/chat/completions HTTP/1.1"]


async def test_a_proxys_login_is_sent_to_it_and_to_nobody_else(
    tls: ssl.SSLContext, ca_file: Path
) -> None:
    escaped = "p%40ss%2Fw0rd-of-the-proxy"
    async with ScriptedServer(tls=tls) as server, ScriptedProxy(login=f"{LOGIN}:{PASSWORD}") as it:
        environment = {
            "HTTPS_PROXY": f"http://{LOGIN}:{escaped}@{it.address}", "SSL_CERT_FILE": str(ca_file)
        }  # fmt: skip
        attempt = await ask(f"https://{HOST}:{server.port}/v1", environment)
    assert attempt.response is not None, attempt.detail
    assert "proxy-authorization" not in server.seen[0].headers


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_wants_another_login_refuses(scheme: str) -> None:
    async with ScriptedProxy(login=f"{LOGIN}:another") as proxy:
        variable = {f"{scheme}_proxy": f"http://{LOGIN}:{PASSWORD[:1]}x9x9x9@{proxy.address}"}
        attempt = await ask(f"{scheme}://{HOST}:7/v1", variable)
    assert attempt.error == "proxy_refused"
    assert "x9x9x9" not in attempt.detail


async def test_a_proxy_that_cannot_reach_the_host_leaves_it_unreachable() -> None:
    async with ScriptedProxy(status=502) as proxy:
        attempt = await ask(f"https://{HOST}:7/v1", {"https_proxy": f"http://{proxy.address}"})
    assert attempt.error == "unreachable"


async def test_a_proxy_that_is_not_there_is_told_apart_from_the_endpoint() -> None:
    async with ScriptedProxy() as proxy:
        address = proxy.address
    gone = await ask(f"http://{HOST}:7/v1", {"HTTP_PROXY": f"http://{address}"})
    nameless = await ask(f"http://{HOST}:7/v1", {"HTTP_PROXY": "http://proxy.invalid:3128"})
    direct = await ask(f"http://{HOST}:7/v1", {})
    assert (gone.error, nameless.error) == ("proxy_unreachable", "proxy_unreachable")
    assert direct.error == "no_such_host"


async def test_this_machine_is_reached_directly_unless_a_proxy_is_asked_for() -> None:
    async with ScriptedServer() as server, ScriptedProxy() as proxy:
        environment = {"HTTP_PROXY": f"http://{proxy.address}", "MINE": proxy.address}
        assert (await ask(server.url, environment)).response is not None
        assert proxy.seen == []
        assert (await ask(server.url, environment, proxy="$MINE")).response is not None
        assert len(proxy.seen) == 1


async def test_localhost_behind_a_proxy_elsewhere_is_not_this_machine() -> None:
    with pytest.raises(EgressRefused, match=r"proxy\.example\.com:3128"):
        await ask("http://localhost:7/v1", {}, proxy="http://proxy.example.com:3128")


async def test_an_entry_may_go_directly_where_the_environment_has_a_proxy() -> None:
    async with ScriptedProxy() as proxy:
        environment = {"HTTP_PROXY": f"http://{proxy.address}"}
        attempt = await ask(f"http://{HOST}:7/v1", environment, proxy="")
    assert (attempt.error, proxy.seen) == ("no_such_host", [])


@pytest.mark.parametrize(
    ("exceptions", "is_direct"),
    [
        ("", False),
        ("*", True),
        ("api.example.com", True),
        ("API.Example.com.", True),
        ("example.com", True),
        (".example.com", True),
        ("*.example.com", True),
        ("ample.com", False),
        ("other.org, example.com", True),
        ("other.org example.com", True),
        ("api.example.com:443", True),
        ("api.example.com:8443", False),
        ("10.0.0.0/8", False),
    ],
)
def test_no_proxy_names_exceptions(exceptions: str, is_direct: bool) -> None:
    environment = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": exceptions}
    found = choose_proxy(ELSEWHERE, "https", environment, None, "x")
    assert (found is None) == is_direct


def test_no_proxy_names_addresses_and_networks() -> None:
    environment = {"http_proxy": "proxy:3128", "no_proxy": "10.1.0.0/16,192.0.2.7"}
    for host, is_direct in (("10.1.2.3", True), ("192.0.2.7", True), ("10.2.0.1", False)):
        found = choose_proxy(Destination(host, 80), "http", environment, None, "x")
        assert (found is None) == is_direct


def test_the_lower_case_spelling_wins_and_a_bare_address_is_http() -> None:
    environment = {"https_proxy": "lower:1", "HTTPS_PROXY": "http://upper:2"}
    found = choose_proxy(ELSEWHERE, "https", environment, None, "x")
    assert found is not None
    assert (found.url, found.origin) == ("http://lower:1", "https_proxy")


@pytest.mark.parametrize("text", ["socks5://h:1", "https://h:1", "http://h:notaport", "http://"])
def test_a_proxy_of_another_kind_is_refused_unseen(text: str) -> None:
    with_login = text.replace("://", f"://{LOGIN}:hunter2hunter2@")
    with pytest.raises(EndpointUnusable, match="HTTPS_PROXY") as caught:
        choose_proxy(ELSEWHERE, "https", {"HTTPS_PROXY": with_login}, None, "x")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(BadInput, match="HOST:PORT") as refused:
        choose_proxy(ELSEWHERE, "https", {}, with_login, "x")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(EndpointUnusable, match="not set"):
        choose_proxy(ELSEWHERE, "https", {}, "$NOWHERE", "x")


def test_a_proxys_password_prints_as_stars() -> None:
    found = choose_proxy(ELSEWHERE, "https", {}, f"http://{LOGIN}:s3cr3t-s3cr3t@h:1", "x")
    assert found is not None
    assert "s3cr3t" not in repr(found)
    assert {s.reveal() for s in found.secrets} == {"s3cr3t-s3cr3t", f"{LOGIN}:s3cr3t-s3cr3t"}


async def test_a_redirect_is_not_followed() -> None:
    async with ScriptedServer() as elsewhere:
        away = Act(b"", 307, {"Location": f"http://localhost:{elsewhere.port}/v1"})
        async with ScriptedServer(away) as server:
            attempt = await ask(server.url, {})
    assert (attempt.error, attempt.status) == ("not_an_api", 307)
    assert elsewhere.requests == 0
