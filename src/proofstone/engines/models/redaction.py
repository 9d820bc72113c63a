"""A configuration that may be shown to others: its shape whole, its secrets and titles left out."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from proofstone.engines.models.config import ModelConfig, resolve
from proofstone.engines.models.entries import Entry, Tables
from proofstone.engines.models.names import parse_model_name
from proofstone.engines.models.secret import Scrubber, Secret, scrub
from proofstone.errors import ProofstoneError

__all__ = ["redacted_settings", "scrubber_of"]

_SECRET_NAME = re.compile(r"(?i)key|token|secret|password|passwd|credential|auth|cookie|proxy")
_SHORTEST = 6  # a variable's shorter value would blank out half of every text


def redacted_settings(config: ModelConfig) -> list[dict[str, Any]]:
    """The tables of each file that was read, in the order in which they count; not the built-in
    ones. Of the egress policy the hosts, and of sources only how many have rules."""
    return [_layer(table) for table in config.layers[1:]]


def scrubber_of(config: ModelConfig) -> Scrubber:
    """Replaces every secret that this configuration knows: keys, headers, credentials in addresses
    and proxies, and whatever stands in a variable that is named like a secret."""
    secrets = [
        Secret(value)
        for name, value in config.environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
    ]
    for name in [*config.models, *(f"{provider}/any" for provider in config.providers)]:
        try:
            secrets += resolve(parse_model_name(name), config).secrets
        except ProofstoneError:
            continue  # its key is not set, so there is none to hide
    for entry in [*config.models.values(), *config.providers.values()]:
        given = {} if entry.headers is UNSET else entry.headers
        secrets += [Secret(text) for text in given.values() if not text.startswith("$")]
    return Scrubber(secrets)


def _layer(table: Tables) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "file": table.where,
        "providers": {name: _entry(entry) for name, entry in table.providers.items()},
        "models": {name: _entry(entry) for name, entry in table.models.items()},
    }
    if table.egress is not None:
        rules = len(table.egress.sources)
        shown["egress"] = {"hosts": table.egress.hosts, "sources_with_rules": rules}
    return shown


def _entry(entry: Entry) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(entry)
    if "headers" in shown:
        shown["headers"] = {
            name: text if text.startswith("$") else "***" for name, text in shown["headers"].items()
        }
    for name in ("base_url", "proxy"):
        if name in shown and not shown[name].startswith("$"):
            shown[name] = scrub(shown[name].partition("?")[0])
    if "body" in shown:
        shown["body"] = sorted(shown["body"])  # names of extra fields; their values may be anything
    return shown
