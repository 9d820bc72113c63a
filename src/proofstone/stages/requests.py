"""What a run asks of its model, one call at a time: the same from the run loop and a dry run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.identity import canonical_json, digest
from proofstone.ports import ModelRequest
from proofstone.records import OUR_SETTINGS, LoadedItem, Message, Oracle, Run

__all__ = ["request_of", "sent_to_model"]


def request_of(
    run: Run,
    settings: Mapping[str, Any],
    item: LoadedItem,
    sample: int,
    step: str,
    messages: Sequence[Message],
    *,
    oracle: Oracle | None = None,
    schema: Mapping[str, Any] | None = None,
) -> ModelRequest:
    """The request of one step of one (item, sample). ``settings`` are ``sent_to_model`` of the
    run's, made once: clients keep what the same object comes to."""
    prompt = canonical_json(messages)
    return ModelRequest(
        messages=tuple(messages),
        prompt=prompt,
        prompt_hash=digest(prompt),
        settings=settings if schema is None else {**settings, "schema": schema},
        sample=sample,
        replicate=run.replicate,
        oracle=oracle,
        draw_key=f"{item.item.id.hex()}:{step}" if oracle is not None else "",
    )


def sent_to_model(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run that are a model's; the others say how often and where it is asked."""
    return {name: value for name, value in settings.items() if name not in OUR_SETTINGS}
