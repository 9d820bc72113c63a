"""The table by which an error's words and codes become a kind.

Extending it to another provider is another code or phrase in a row, tested with a recorded body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from proofstone.engines.models.failure_kinds import FailureKind

__all__ = ["BY_STATUS", "RULES", "Rule"]


class Rule(NamedTuple):
    """A row: it holds where a code, type or status text is one of ``codes``, or where the message
    has all words of one of ``phrases``; lower case. ``statuses`` limits it, empty does not."""

    kind: FailureKind
    codes: frozenset[str] = frozenset()
    phrases: tuple[tuple[str, ...], ...] = ()
    statuses: frozenset[int] = frozenset()


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


# In order: what is said most exactly stands first.
RULES: tuple[Rule, ...] = (
    Rule(
        "content_filter",
        _codes(
            "content_filter content_policy_violation responsibleaipolicyviolation"
            " data_inspection_failed datainspectionfailed sensitive_words_detected 1301"
            " invalid_prompt prohibited_content"
        ),
        (
            ("content management policy",),
            ("content filtering policy",),
            ("flagged", "usage policy"),
            ("content exists risk",),
            ("inappropriate content",),
            ("flagged", "moderation"),
            ("requires moderation",),
        ),
        # Never from a broken server: the words might be an echo of the prompt.
        frozenset({0, 200, 400, 403, 422, 451}),
    ),
    Rule(
        "no_credit",
        _codes(
            "insufficient_quota billing_hard_limit_reached billing_not_active arrearage"
            " insufficient_balance insufficientbalance insufficient_credits account_overdue"
            " accountoverdueerror allocationquota.freetieronly billing_error 1113"
        ),
        (
            ("insufficient balance",),
            ("insufficient credit",),
            ("credit balance is too low",),
            ("requires more credits",),
            ("out of credits",),
            ("account", "overdue"),
            ("billing", "hard limit"),
            ("credits are depleted",),
            ("free tier", "exhausted"),
            # The quota of a day, or one of nothing: no pause of ours outlasts it.
            ("free-models-per-day",),
            ("quota exceeded", "limit: 0,"),
            ("perday",),
        ),
    ),
    # Google's words for a limit of a minute are OpenAI's for an empty account: its code is read.
    Rule("rate_limited", _codes("resource_exhausted")),
    Rule("no_credit", phrases=(("exceeded your current quota", "billing"),)),
    Rule(
        "too_long",
        _codes(
            "context_length_exceeded string_above_max_length request_too_large"
            " too_many_prompt_tokens"
        ),
        (
            ("maximum context length",),
            ("context window",),
            ("context length", "exceed"),
            ("context size", "exceed"),
            ("prompt is too long",),
            ("input is too long",),
            ("input token count", "exceed"),
            ("input tokens", "exceed"),
            ("length of all messages is too long",),
            ("range of input length",),
            ("max_model_len",),
            ("exceed context limit",),
            ("must be at least 1, got -",),
            # One request above the limit of a whole minute: no pause makes it fit.
            ("request too large", "must be reduced"),
        ),
    ),
    Rule("overloaded", phrases=(("experiencing high demand",),)),
    Rule(
        "rate_limited",
        _codes(
            "rate_limit_exceeded rate_limit_error rate_limit_reached rate_limited throttling"
            " throttling.ratequota throttling.allocationquota throttling.burstrate"
            " limit_requests limit_burst_rate tokens requests too_many_requests 1302 1303 1305"
        ),
        (("rate limit", "reached"), ("rate limit", "exceeded"), ("too many requests",)),
        frozenset({0, 200, 400, 403, 429, 503}),
    ),
    Rule(
        "bad_key",
        _codes(
            "invalid_api_key invalidapikey api_key_invalid incorrect_api_key authentication_error"
            " authenticationerror unauthenticated unauthorized accessdenied access_denied"
            " permission_denied permission_error permissiondenied"
            " unsupported_country_region_territory"
        ),
        (
            ("incorrect api key",),
            ("invalid api key",),
            ("api key not valid",),
            ("invalid api-key",),
            ("no auth credentials",),
            ("user not found",),
            ("authentication fails",),
            ("invalid subscription key",),
            ("user location is not supported",),
        ),
        frozenset({0, 200, 400, 401, 403}),
    ),
    Rule(
        "unknown_model",
        _codes(
            "model_not_found modelnotfound deploymentnotfound model_not_supported"
            " operationnotsupported modelnotopen not_found_error invalid_model model_decommissioned"
            " invalidendpointormodel.notfound"
        ),
        (
            ("model", "does not exist"),
            ("model", "not found"),
            ("not a valid model",),
            ("model identifier is invalid",),
            ("model", "is not supported", "supported models"),
            ("model not exist",),
            ("models/", "is not found"),
            ("model", "has been deprecated"),
            ("model", "decommissioned"),
            ("no endpoints found for",),
        ),
        frozenset({0, 200, 400, 403, 404, 410, 422}),
    ),
    Rule(
        "unsupported_parameter",
        _codes("unsupported_parameter unsupported_value unknown_parameter"),
        (
            ("unsupported parameter",),
            ("unrecognized request argument",),
            ("extra inputs are not permitted",),
            ("extra fields not permitted",),
            ("unknown parameter",),
            ("unknown name", "cannot find field"),
            ("does not support", "parameter"),
            ("parameter", "is not supported"),
            ("no endpoints found that can handle the requested parameters",),
            ("no endpoints found that support",),
            ("must be set to false for non-streaming calls",),
            ("enable thinking", "stream="),
            ("only support stream mode",),
            ("invalid max_tokens value",),
            ("range of max_tokens should be",),
            ("max_tokens is too large", "supports at most"),
            ("greater than max allowed",),
            ("is not a multimodal model",),
        ),
        frozenset({0, 200, 400, 404, 422}),
    ),
    Rule(
        "overloaded",
        _codes(
            "overloaded_error overloaded server_overloaded engine_overloaded service_unavailable"
            " serviceunavailable unavailable modeloverloaded"
        ),
        (("overloaded",), ("no capacity",), ("over capacity",), ("server is busy",)),
        frozenset({0, 200, 429, 498, 500, 502, 503, 529}),
    ),
    # Behind status 200, where no status says so.
    Rule(
        "server_error",
        _codes("upstream_error api_error server_error internal_server_error internal_error"),
        statuses=frozenset({0, 200}),
    ),
)

BY_STATUS: Mapping[int, FailureKind] = {
    400: "bad_request",
    401: "bad_key",
    402: "no_credit",
    403: "bad_key",
    404: "unknown_model",
    405: "not_an_api",
    407: "proxy_refused",
    408: "timeout",
    409: "server_error",
    410: "unknown_model",
    413: "too_long",
    422: "bad_request",
    425: "server_error",
    429: "rate_limited",
    451: "content_filter",
    498: "overloaded",
    502: "overloaded",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
