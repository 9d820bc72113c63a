"""What an endpoint's error means: the body decides first, the status only where the body is mute.

Providers disagree on statuses (exhausted credit comes as 402, 403 and 429; a content filter as
400), so the rules read the codes and words of the body in order, and the status is the rest.
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

# The kinds of failure: is each worth another try, does it stop the model, and what to do.

FailureKind = Literal[
    "rate_limited", "overloaded", "timeout", "dropped", "server_error", "unreadable", "malformed",
    "unreachable", "bad_certificate", "bad_key", "no_credit", "unknown_model",
    "unsupported_parameter", "not_an_api", "too_long", "content_filter", "bad_request",
    "not_running", "no_logprobs", "no_echo", "no_such_host", "proxy_unreachable", "proxy_refused",
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
    "no_logprobs": Treatment(
        False,
        True,
        "likelihood prompting methods need log-probabilities, which {model} at {endpoint} does not "
        "return; use --prompt-method direct, or an endpoint that returns them",
    ),
    "no_echo": Treatment(True, False, "the endpoint does not score given texts by echo"),
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


# The rules by which an error's words and codes become a kind stand in failures.toml.


class Rule(Struct, frozen=True):
    """A row: it holds where a code, type or status text is one of ``codes``, or where the message
    has all words of one of ``phrases``; lower case. ``statuses`` limits it, empty does not."""

    kind: FailureKind
    codes: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    statuses: frozenset[int] = frozenset()


@cache
def rules() -> tuple[Rule, ...]:
    """The rules in their order: what is said most exactly stands first."""
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


_MESSAGE_CHARS = 2000  # an error that quotes a whole prompt is not searched to its end


_ROUTE_MISSING = frozenset(
    {"not found", "404 page not found", "404 not found", "file not found", "resource not found"}
)


# Finish reasons by which a provider says that it broke off.
BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})


_CHUNK = re.compile(rb'"(?:delta|text)"\s*:\s*(?:"[^"]|\{)')  # of a stream: text that was written


_COUNTED = re.compile(rb'"completion_tokens"\s*:\s*[1-9]')


_STREAM = (b"data:", b"event:", b": ")  # server-sent events, which nobody asked for


class ErrorBody(NamedTuple):
    """What a body says went wrong, from whichever shape it has; all empty where it says nothing.

    ``kind`` is what the rules make of it, None where none holds. ``status`` is one that the body
    names itself (OpenRouter answers 200 and puts it there), else 0.
    """

    kind: FailureKind | None = None
    code: str = ""
    message: str = ""
    status: int = 0


class Failure(NamedTuple):
    """An attempt's failure: its kind, and the endpoint's own words."""

    kind: FailureKind
    detail: str


def classify(status: int, raw: bytes) -> Failure:
    """What a status and body that hold no reply mean. ``status`` 200 is a body without a reply."""
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
    """Whether a body of status 200 is JSON, but nothing that an endpoint of ours answers."""
    return isinstance(body, dict) and bool(body) and not body.keys() & {"choices", "data", "error"}


def _is_billed(body: Any, raw: bytes) -> bool:
    """Whether a body of status 200 without a readable reply holds one that a model wrote: a choice
    without a message, or a stream that began. Asking again would be billed again."""
    if is_stream(raw):
        return _CHUNK.search(raw) is not None
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices:
        return False
    # A router that could not reach the model says so in the choice: only counted tokens cost then.
    choice = choices[0]
    is_broken_off = isinstance(choice, dict) and (
        bool(choice.get("error")) or choice.get("finish_reason") in BROKEN_OFF
    )
    return not is_broken_off or _COUNTED.search(raw) is not None


def read_error(body: Any, status: int = 0) -> ErrorBody:
    """The error in a decoded body, classified by the rules that hold for this status."""
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
    """What a body that is no JSON may say of an error: a stream's error event, decoded, or a plain
    text; None for a page, a stream without one, and JSON that broke off (it may quote a prompt)."""
    start = raw[:256].lstrip(b"\xef\xbb\xbf \t\r\n")
    if is_stream(raw):
        return _error_event(raw)
    if not start or start.startswith((b"{", b"[", b"<")):
        return None
    return raw[:_MESSAGE_CHARS].decode("utf-8", "replace").strip()


def _decoded(status: int, raw: bytes) -> Any:
    """The body as JSON, the error event of a stream, or the words of an error that is neither."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if status < 300 or is_stream(raw):
            said = error_text(raw)
            return said if isinstance(said, dict) else None
        return raw[:_MESSAGE_CHARS].decode("utf-8", "replace").strip()


def _error_event(raw: bytes) -> Any:
    """The first event that holds an error; None where no event does."""
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
    """Whether a body is a stream of server-sent events."""
    return raw.lstrip().startswith(_STREAM)


def is_html(raw: bytes) -> bool:
    """Whether a body is a page for people rather than an API's answer."""
    start = raw[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<title", b"<!--"))


def _is_route_missing(words: str) -> bool:
    """Whether a 404 is about the address, not the model."""
    return words in _ROUTE_MISSING or words.startswith(("invalid url", "http 404"))


def _holds(rule: Rule, codes: list[str], words: str, status: int) -> bool:
    if rule.statuses and status not in rule.statuses:
        return False
    if not rule.codes.isdisjoint(codes):
        return True
    return any(all(word in words for word in phrase.split(" & ")) for phrase in rule.phrases)


def _error_fields(body: Any) -> dict[str, Any]:
    """code, type, status, innercode and message, out of the shapes in which providers nest them."""
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
    """An error object with the provider's own words behind a router's, and the inner code up."""
    fields = dict(error)
    inner = error.get("innererror")
    if isinstance(inner, dict):
        fields["innercode"] = inner.get("code")
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        fields["message"] = f"{error.get('message') or ''}: {metadata['raw']}"
    return fields


def _error_behind(fields: dict[str, Any], status: int) -> ErrorBody | None:
    """What a provider's own body says that a router quotes whole, where the rules know it."""
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
    """The names of the quotas that Google says were passed (``...PerDayPerProject...``)."""
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
    """FastAPI's ``detail``: a text, or a list of objects with ``msg``."""
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
    """A page: a gateway's where the status is transient, or says that this request is too large;
    else not the API that was meant."""
    kind = _by_status(status)
    if (not KINDS[kind].retried and kind != "too_long") or kind == "unreadable":
        kind = "not_an_api"
    start = raw.lower().find(b"<title")
    title = raw[start : start + 200].partition(b">")[2].partition(b"<")[0] if start >= 0 else b""
    words = " ".join(title.decode("utf-8", "replace").split())
    return Failure(kind, f"an HTML page, HTTP {status}" + (f": {words}" if words else ""))
