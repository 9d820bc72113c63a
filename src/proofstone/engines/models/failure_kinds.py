"""The kinds of failure: is each worth another try, does it stop the model, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["KINDS", "NOT_SENT", "UNREACHED", "FailureKind", "Treatment", "advise", "treatment"]

FailureKind = Literal[
    "rate_limited", "overloaded", "timeout", "dropped", "server_error", "unreadable", "malformed",
    "unreachable", "bad_certificate", "bad_key", "no_credit", "unknown_model",
    "unsupported_parameter", "not_an_api", "too_long", "content_filter", "bad_request",
    "not_running", "no_such_host", "proxy_unreachable", "proxy_refused",
]  # fmt: skip


class Treatment(NamedTuple):
    """How a kind is treated. ``advice`` may name {model}, {endpoint}, {key} and {entry}."""

    retried: bool
    stops: bool
    advice: str


_LATER = "the endpoint was busy or broken at the time: resume the run later"
KINDS: Mapping[str, Treatment] = {
    "rate_limited": Treatment(
        True, False, "ask less at once (--max-connections), or resume when the limit is reset"
    ),
    "overloaded": Treatment(True, False, _LATER),
    "timeout": Treatment(True, False, "raise timeout_s in {entry}, or lower --max-tokens"),
    "dropped": Treatment(True, False, _LATER),
    "server_error": Treatment(True, False, _LATER),
    "unreadable": Treatment(True, False, "see the raw reply with proofstone show"),
    # Billed, and most likely the same again: the endpoint streams, or leaves the message out.
    "malformed": Treatment(False, False, "see the raw reply with proofstone show"),
    "unreachable": Treatment(
        True, False, "check base_url in {entry} ({endpoint}), that its server runs, and the network"
    ),
    "no_such_host": Treatment(
        True, False, "check the spelling of base_url in {entry} ({endpoint}), and the network's DNS"
    ),
    "proxy_unreachable": Treatment(
        True, False, "check HTTPS_PROXY, HTTP_PROXY or proxy in {entry}; NO_PROXY names exceptions"
    ),
    "proxy_refused": Treatment(
        False,
        True,
        "the proxy lets no request to {endpoint} through: check its address, its user "
        "and password (http://USER:PASSWORD@HOST:PORT), or name the host in NO_PROXY",
    ),
    "bad_certificate": Treatment(
        False,
        True,
        "the certificate of {endpoint} is not trusted here: where your network has a "
        "CA of its own, name its file as ca_file in {entry} or in SSL_CERT_FILE; else check the "
        "address",
    ),
    "bad_key": Treatment(
        False, True, "check the key in {key}, and that it may use {model} at {endpoint}"
    ),
    "no_credit": Treatment(
        False, True, "add credit or raise the quota of the key in {key}, then resume the run"
    ),
    "unknown_model": Treatment(
        False, True, "check the spelling of {model}, and base_url in {entry} ({endpoint})"
    ),
    "unsupported_parameter": Treatment(
        False,
        True,
        'change it, or name it in unsupported = ["..."] of {entry}, so that it is not sent',
    ),
    "not_an_api": Treatment(
        False, True, "check base_url in {entry} ({endpoint}): it often ends in /v1"
    ),
    "not_running": Treatment(
        False, True, "the process of {model} ends too often or never starts: its last words say why"
    ),
    "too_long": Treatment(
        False, False, "the prompt does not fit the model's window: lower --max-tokens or --shots"
    ),
    "content_filter": Treatment(False, False, "the endpoint refused the prompt by its filter"),
    "bad_request": Treatment(False, False, "see the endpoint's words with proofstone show"),
}
# No connection to the endpoint came about. Before it has ever answered, rather a wrong setting
# than a fault that passes.
UNREACHED = frozenset({"unreachable", "no_such_host", "proxy_unreachable"})
# Nothing of a prompt has left with these (an https proxy that refuses sees a host and port only).
NOT_SENT = UNREACHED | {"bad_certificate", "not_running"}
_UNKNOWN_KIND = Treatment(False, False, "")
_WITHOUT_KEY: Mapping[str, str] = {
    "bad_key": "no key is set: name the variable that holds one as api_key_env in {entry}",
    "no_credit": "add credit at {endpoint}, then resume the run",
}


def treatment(kind: str) -> Treatment:
    """How a kind is treated; one that no row names is final for its call and stops nothing."""
    return KINDS.get(kind, _UNKNOWN_KIND)


def advise(kind: str, *, model: str, endpoint: str, key: str, entry: str) -> str:
    """Return what to do about a kind. ``key`` says where the key comes from; empty if none is set,
    and then no advice speaks of checking one."""
    advice = treatment(kind).advice if key else _WITHOUT_KEY.get(kind, treatment(kind).advice)
    return advice.format(model=model, endpoint=endpoint, key=key, entry=entry)
