"""Classify an endpoint's error by its body first, and by its status otherwise.

Providers disagree on statuses: exhausted credit comes as 402, 403 and 429, a content filter as 400.
The rules therefore read the codes and words of the body in order; the status is the fallback.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

import msgspec
import orjson
from msgspec import Struct

# Kinds of failure: whether to retry, whether to stop the model, and the advice.

FailureKind = Literal[
    "rate_limited", "overloaded", "timeout", "dropped", "server_error", "unreadable", "malformed",
    "unreachable", "bad_certificate", "bad_key", "no_credit", "unknown_model",
    "unsupported_parameter", "not_an_api", "too_long", "content_filter", "bad_request",
    "not_running", "no_logprobs", "no_echo", "no_such_host", "proxy_unreachable", "proxy_refused",
]  # fmt: skip


class Treatment(NamedTuple):
    """How a kind is treated. ``advice`` may contain {model}, {endpoint}, {key} and {entry}."""

    retried: bool
    stops: bool
    advice: str


_LATER = "the endpoint was busy or broken at the time: resume the run later"


KINDS: Mapping[str, Treatment] = {
    "rate_limited": Treatment(
        True,
        False,
        "send fewer concurrent requests (--max-connections), or resume when the limit is reset",
    ),
    "overloaded": Treatment(True, False, _LATER),
    "timeout": Treatment(True, False, "raise timeout_s in {entry}, or lower --max-tokens"),
    "dropped": Treatment(True, False, _LATER),
    "server_error": Treatment(True, False, _LATER),
    "unreadable": Treatment(True, False, "see the raw response with proofstone show"),
    # Billed, and most likely the same again: the endpoint streams, or leaves the message out.
    "malformed": Treatment(False, False, "see the raw response with proofstone show"),
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
        "the proxy lets no request to {endpoint} through: check its address, its user and "
        "password (http://USER:PASSWORD@HOST:PORT), or name the host in NO_PROXY",
    ),
    "bad_certificate": Treatment(
        False,
        True,
        "the certificate of {endpoint} is not trusted here: if your network has its own CA, "
        "name its file as ca_file in {entry} or in SSL_CERT_FILE; otherwise check the address",
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
        False, True, "the process of {model} ends too often or never starts: see its last messages"
    ),
    "no_logprobs": Treatment(
        False,
        True,
        "likelihood prompting methods need log-probabilities, which {model} at {endpoint} does not "
        "return; use --prompt-method direct, or an endpoint that returns them",
    ),
    "no_echo": Treatment(True, False, "the endpoint does not score given texts by echo"),
    "too_long": Treatment(
        False,
        False,
        "the prompt does not fit the model's context window: lower --max-tokens or --shots",
    ),
    "content_filter": Treatment(False, False, "the endpoint's content filter refused the prompt"),
    "bad_request": Treatment(False, False, "see the endpoint's message with proofstone show"),
}


# No connection to the endpoint. Before its first answer, rather a wrong setting than a temporary
# fault.
UNREACHED = frozenset({"unreachable", "no_such_host", "proxy_unreachable"})


# No part of a prompt is sent with these (an https proxy that refuses sees host and port only).
NOT_SENT = UNREACHED | {"bad_certificate", "not_running"}


_UNKNOWN_KIND = Treatment(False, False, "")


_WITHOUT_KEY: Mapping[str, str] = {
    "bad_key": "no key is set: name its variable as api_key_env in {entry}",
    "no_credit": "add credit at {endpoint}, then resume the run",
}


def treatment(kind: str) -> Treatment:
    """Return how a kind is treated; an unlisted one is final for its call and stops nothing."""
    return KINDS.get(kind, _UNKNOWN_KIND)


def advise(kind: str, *, model: str, endpoint: str, key: str, entry: str) -> str:
    """Return the advice for a kind.

    ``key`` says where the key comes from; empty if none is set, and then the advice is to set one.
    """
    advice = treatment(kind).advice if key else _WITHOUT_KEY.get(kind, treatment(kind).advice)
    return advice.format(model=model, endpoint=endpoint, key=key, entry=entry)


# The rules that map an error's words and codes to a kind are in failures.toml.


class Rule(Struct, frozen=True):
    """A rule: it applies to one of ``codes``, or to a message with all words of one of ``phrases``.

    ``codes`` are compared with code, type and status text, all in lower case. ``statuses`` limits
    the rule; empty does not.
    """

    kind: FailureKind
    codes: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    statuses: frozenset[int] = frozenset()


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in their order, the most specific first."""
    text = (resources.files(__package__) / "failures.toml").read_text(encoding="utf-8")
    read = msgspec.toml.decode(text, type=dict[str, tuple[Rule, ...]])
    return read["rules"]


_STATUSES: Mapping[FailureKind, tuple[int, ...]] = {
    "bad_request": (400, 422), "bad_key": (401, 403), "no_credit": (402,),
    "unknown_model": (404, 410), "not_an_api": (405,), "proxy_refused": (407,),
    "timeout": (408, 504, 524), "server_error": (409, 425), "too_long": (413,),
    "rate_limited": (429,), "content_filter": (451,), "overloaded": (498, 502, 503, 529),
}  # fmt: skip


BY_STATUS = {status: kind for kind, statuses in _STATUSES.items() for status in statuses}


_MESSAGE_CHARS = 2000  # only the start of an error that quotes a whole prompt is searched


_ROUTE_MISSING = frozenset(
    {"not found", "404 page not found", "404 not found", "file not found", "resource not found"}
)


# Finish reasons by which a provider reports that it aborted.
BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})


_CHUNK = re.compile(rb'"(?:delta|text)"\s*:\s*(?:"[^"]|\{)')  # of a stream: text that was written


_COUNTED = re.compile(rb'"completion_tokens"\s*:\s*[1-9]')


_STREAM = (b"data:", b"event:", b": ")  # server-sent events, although no stream was requested


class ErrorBody(NamedTuple):
    """The error in a body, in any of the known structures; empty if it reports none.

    ``kind`` is the result of the rules, None if none applies. ``status`` is one given in the body
    (OpenRouter answers 200 and puts it there), otherwise 0.
    """

    kind: FailureKind | None = None
    code: str = ""
    message: str = ""
    status: int = 0


class Failure(NamedTuple):
    """The failure of an attempt: its kind, and the endpoint's message."""

    kind: FailureKind
    detail: str


def classify(status: int, raw: bytes) -> Failure:
    """Classify a status and a body without a response; ``status`` may be 200."""
    if is_html(raw):
        return _classify_html(status, raw)
    body = _decoded(status, raw)
    error = read_error(body, status)
    detail = error.message or error.code or f"HTTP {status}"
    if status == 404 and _is_route_missing(detail.lower()):
        return Failure("not_an_api", detail)
    kind = error.kind or _by_status(error.status or status)
    if status == 200 and KINDS[kind].retried and _is_billed(body, raw):
        return Failure("malformed", detail)
    if kind == "unreadable" and not error.message and _is_foreign(body):
        keys = ", ".join(sorted(body)[:5])
        return Failure("not_an_api", f"JSON of another interface, with {keys}")
    return Failure(kind, detail)


def _is_foreign(body: Any) -> bool:
    """Return True if a body of status 200 is JSON of an unknown interface."""
    return isinstance(body, dict) and bool(body) and not body.keys() & {"choices", "data", "error"}


def _is_billed(body: Any, raw: bytes) -> bool:
    """Return True if a body of status 200 without a readable response holds text by a model.

    This is a choice without a message, or a stream that began. Asking again would be billed again.
    """
    if is_stream(raw):
        return _CHUNK.search(raw) is not None
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices:
        return False
    # A router that could not reach the model reports it in the choice; it costs only counted
    # tokens.
    choice = choices[0]
    is_broken_off = isinstance(choice, dict) and (
        bool(choice.get("error")) or choice.get("finish_reason") in BROKEN_OFF
    )
    return not is_broken_off or _COUNTED.search(raw) is not None


def read_error(body: Any, status: int = 0) -> ErrorBody:
    """Return the error in a decoded body, classified by the rules for this status."""
    fields = _error_fields(body)
    if not fields:
        return ErrorBody()
    behind = _error_behind(fields, status)
    if behind is not None:
        return behind
    codes = [
        str(fields[name]).lower()
        for name in ("code", "type", "status", "innercode")
        if isinstance(fields.get(name), str | int)
    ]
    message = str(fields.get("message") or "")[:_MESSAGE_CHARS]
    own = fields.get("code")
    own_status = own if type(own) is int and 400 <= own < 600 else 0
    words = message.lower() + _quotas(fields.get("details"))
    meant = own_status or status
    kind = next((rule.kind for rule in rules() if _holds(rule, codes, words, meant)), None)
    return ErrorBody(kind, codes[0] if codes else "", message, own_status)


def error_text(raw: bytes) -> Any:
    """Return the possible error in a body that is not JSON.

    This is a stream's error event, decoded, or a plain text. None for an HTML page, a stream
    without an error, and truncated JSON (it may quote a prompt).
    """
    start = raw[:256].lstrip(b"\xef\xbb\xbf \t\r\n")
    if is_stream(raw):
        return _error_event(raw)
    if not start or start.startswith((b"{", b"[", b"<")):
        return None
    return raw[:_MESSAGE_CHARS].decode("utf-8", "replace").strip()


def _decoded(status: int, raw: bytes) -> Any:
    """Return the body as JSON, the error event of a stream, or plain text."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if status < 300 or is_stream(raw):
            said = error_text(raw)
            return said if isinstance(said, dict) else None
        return raw[:_MESSAGE_CHARS].decode("utf-8", "replace").strip()


def _error_event(raw: bytes) -> Any:
    """Return the first event that holds an error; None if no event does."""
    for line in raw.splitlines():
        field, _, value = line.partition(b":")
        if field.strip() == b"data" and b"error" in value:
            try:
                body = orjson.loads(value)
            except orjson.JSONDecodeError:
                continue
            if _error_fields(body):
                return body
    return None


def is_stream(raw: bytes) -> bool:
    """Return True if a body is a stream of server-sent events."""
    return raw.lstrip().startswith(_STREAM)


def is_html(raw: bytes) -> bool:
    """Return True if a body is an HTML page rather than an API response."""
    start = raw[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<title", b"<!--"))


def _is_route_missing(words: str) -> bool:
    """Return True if a 404 concerns the address, not the model."""
    return words in _ROUTE_MISSING or words.startswith(("invalid url", "http 404"))


def _holds(rule: Rule, codes: list[str], words: str, status: int) -> bool:
    if rule.statuses and status not in rule.statuses:
        return False
    if not rule.codes.isdisjoint(codes):
        return True
    return any(all(word in words for word in phrase.split(" & ")) for phrase in rule.phrases)


def _error_fields(body: Any) -> dict[str, Any]:
    """Return code, type, status, innercode and message from any provider's error structure."""
    if isinstance(body, list) and body:
        body = body[0]  # Google wraps its errors in a list
    if isinstance(body, str):
        return {"message": body}
    if not isinstance(body, dict):
        return {}
    error = body.get("error") or body.get("errors") or _error_of_choice(body)
    if isinstance(error, str):
        return {**body, "message": f"{error} {body.get('message') or ''}".strip()}
    if isinstance(error, dict):
        return _flattened(error)
    if "detail" in body:
        return {"message": _detail(body["detail"])}
    return body if "choices" not in body and ("message" in body or "code" in body) else {}


def _flattened(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error with the provider's message after a router's, and the inner code moved up."""
    fields = dict(error)
    inner = error.get("innererror")
    if isinstance(inner, dict):
        fields["innercode"] = inner.get("code")
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        fields["message"] = f"{error.get('message') or ''}: {metadata['raw']}"
    return fields


def _error_behind(fields: dict[str, Any], status: int) -> ErrorBody | None:
    """Return the classified error of a provider's body quoted by a router, or None."""
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str) or not raw.lstrip().startswith(("{", "[")):
        return None
    try:
        behind = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    code = fields.get("code")
    meant = code if type(code) is int and 400 <= code < 600 else status
    error = read_error(behind, meant)
    return error._replace(status=error.status or meant) if error.kind is not None else None


def _quotas(details: Any) -> str:
    """Return the names of exceeded quotas in Google's details (``...PerDayPerProject...``)."""
    if not isinstance(details, list):
        return ""
    violations = [
        violation
        for detail in details
        if isinstance(detail, dict) and isinstance(detail.get("violations"), list)
        for violation in detail["violations"]
        if isinstance(violation, dict)
    ]
    return "".join(f" {violation.get('quotaId', '')}" for violation in violations).lower()


def _error_of_choice(body: dict[str, Any]) -> Any:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0].get("error")
    return None


def _detail(detail: Any) -> str:
    """Return the text of FastAPI's ``detail``: a text, or a list of objects with ``msg``."""
    if isinstance(detail, list):
        return "; ".join(str(part.get("msg", part)) for part in detail if isinstance(part, dict))
    if isinstance(detail, dict):
        return str(detail.get("message") or detail)
    return str(detail)


def _by_status(status: int) -> FailureKind:
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500:
        return "server_error"
    if status >= 400:
        return "bad_request"
    return "not_an_api" if status >= 300 else "unreadable"


def _classify_html(status: int, raw: bytes) -> Failure:
    """Classify an HTML page: by a transient status, a too large request, or not an API."""
    kind = _by_status(status)
    if (not KINDS[kind].retried and kind != "too_long") or kind == "unreadable":
        kind = "not_an_api"
    start = raw.lower().find(b"<title")
    title = raw[start : start + 200].partition(b">")[2].partition(b"<")[0] if start >= 0 else b""
    words = " ".join(title.decode("utf-8", "replace").split())
    return Failure(kind, f"an HTML page, HTTP {status}" + (f": {words}" if words else ""))
