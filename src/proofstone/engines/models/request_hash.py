"""The identity of a request: two with the same hash are one question to the same model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.identity import content_id
from proofstone.ports import Model, ModelRequest

__all__ = ["request_hash"]


def request_hash(model: Model, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
    """SHA-256 of wire format, endpoint identity, model name sent, prompt hash, the settings that
    reach the model, sample, re-ask and replicate.

    Time limits, concurrency, prices and headers are not in it: they change no reply.
    """
    where = [model.wire, model.endpoint, model.served_as]
    what = [request.prompt_hash, sent, request.sample, request.reask, request.replicate]
    return content_id("request", where + what)
