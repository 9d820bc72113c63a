"""Thinking of hybrid models: whether it can be switched, and the room that a reply has for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.models.settings import THINKING
from proofstone.records.calls import Limits, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json, digest
from proofstone.records.items import LoadedItem, Oracle
from proofstone.records.runs import OUR_SETTINGS, Run

# Of a request's settings the one that says how many tokens longer a reply may be where the model is
# told to think: a number, or AUTO for what its entry says. What is sent is ``max_tokens``.
THINKING_TOKENS = "thinking_tokens"


AUTO = "auto"


def with_room(asked: Mapping[str, Any], said: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """The settings with ``max_tokens`` raised where thinking is on: by what ``said`` names (what a
    person said, without the method's defaults), else by what the model's entry has, unless a person
    named ``max_tokens``.

    Of a known window at least half is left to the prompt, unless a number was named. Raises
    BadUsage for a room that is no number.
    """
    settings = {name: value for name, value in asked.items() if name != THINKING_TOKENS}
    room = said.get(THINKING_TOKENS, 0 if "max_tokens" in said else AUTO)
    if room != AUTO and (isinstance(room, bool) or not isinstance(room, int) or room < 0):
        raise BadUsage(f"{THINKING_TOKENS} takes a whole number from 0 up, or auto, not {room!r}")
    most = settings.get("max_tokens")
    if settings.get("thinking") != "on" or most is None:
        return settings
    raised = most + (limits.thinking_tokens if room == AUTO else room)
    if room == AUTO and limits.window is not None and limits.counts_reply:
        raised = max(most, min(raised, limits.window // 2))
    return {**settings, "max_tokens": raised}


def check_thinking(model: Model, settings: Mapping[str, Any]) -> None:
    """Raises BadUsage for a word that is neither on nor off, and for a model of which nobody has
    said how its thinking is switched: two runs that are the same would be compared."""
    wanted = settings.get("thinking")
    if wanted is None:
        return
    if wanted not in THINKING:
        raise BadUsage(f"thinking is {' or '.join(THINKING)}, not {wanted!r}")
    if model.simulated:
        return
    if "thinking" in model.sent_settings(settings)[1]:
        raise BadUsage(
            f"nothing is known of how {model.name} is told to think or not",
            hint=f'add to proofstone.toml [models."{model.name}".thinking] with the fields that '
            "its provider names, such as on = { enable_thinking = true } and "
            "off = { enable_thinking = false }",
        )


def thinking_note(model: Model, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What to say before a run that tells a simulated respondent to think."""
    if settings.get("thinking") is None or not model.simulated:
        return ()
    return (
        f"{model.name} does not think: a simulated respondent answers alike with --thinking on "
        "and off",
    )


# What a run asks of its model, one call at a time: the same from the run loop and a dry run.


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
