"""Prepare settings and messages as endpoints accept them.

The settings are an allow list: only these, and the extra fields of the configuration, are ever sent
or stored as settings.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.records.calls import ImagePart, Message, TextPart

# Settings with fractions, each with the widest range of any provider.
_RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2), "top_p": (0, 1), "min_p": (0, 1), "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2), "repetition_penalty": (0, math.inf),
}  # fmt: skip


NUMBER_SETTINGS = frozenset(_RANGES)


_OTHERS = frozenset(
    {"max_tokens", "top_k", "seed", "stop", "logprobs", "top_logprobs", "reasoning_effort",
     "response_format", "schema", "thinking", "likelihood"}
)  # fmt: skip


SETTINGS = NUMBER_SETTINGS | _OTHERS  # every setting that may be sent


THINKING = ("on", "off")


# Endpoints that score a given text token by token. The others list the most probable next tokens.
SCORING_WIRES = frozenset({"openai-completions", "local-completions", "local", "sim"})


MOST_LISTED = 20  # next tokens; as many as endpoints list


# Extra response tokens with thinking on, if the model's entry gives no number: a response truncated
# while thinking would count as wrong.
THINKING_TOKENS = 16_384


_NONE: Mapping[str, Mapping[str, Any]] = {}


def sent_settings(
    asked: Mapping[str, Any],
    extra: Mapping[str, Any],
    unsupported: frozenset[str],
    thinking: Mapping[str, Mapping[str, Any]] = _NONE,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings that reach the model (over ``extra``), and the sorted names of those
    dropped.

    They are merged over ``extra``. None means unset. Numbers are floats, so that 0 and 0.0 are one
    request and one hash. ``thinking`` are the fields that switch it, by ``on`` and ``off``. They
    are sent instead of the word, merged over those of ``extra`` at any depth.
    """
    sent = dict(extra)
    dropped = []
    for name, value in asked.items():
        if value is None:
            continue
        if name == "thinking" and value in thinking:
            sent = _laid_over(sent, thinking[value])
            continue
        if name not in SETTINGS or name in unsupported or name == "thinking":
            dropped.append(name)
        else:
            sent[name] = float(value) if name in NUMBER_SETTINGS else value
    return sent, tuple(sorted(dropped))


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge fields over fields: tables in both are merged, all else is replaced."""
    both = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            both[name] = _laid_over(below[name], above[name])
    return both


def check_range(name: str, value: Any) -> None:
    """Raise BadUsage if a setting with fractions is outside the range of every provider."""
    if name not in _RANGES:
        return
    low, high = _RANGES[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and low <= value <= high and math.isfinite(value)):
        most = "up" if high == math.inf else f"to {high:g}"
        raise BadUsage(f"{name} takes a number from {low:g} {most}, got {value!r}")


def checked_stop(value: Any) -> tuple[str, ...]:
    """Return the stop sequences of a setting ``stop``: a text or several, none if unset.

    Raises BadUsage for other values, and for an empty text, which would end every response
    immediately.
    """
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(
        isinstance(text, str) and text for text in texts
    ):
        raise BadUsage(
            f"stop takes texts that end a response, got {value!r}",
            hint="--stop TEXT, once for each text",
        )
    return tuple(texts)


def wire_fields(sent: Mapping[str, Any], max_tokens_field: str) -> dict[str, Any]:
    """Return the body's fields.

    A ``schema`` becomes the response format that enforces it, a ``likelihood`` the request for the
    most probable next tokens.
    """
    fields = dict(sent)
    if fields.pop("likelihood", None):
        fields["logprobs"] = True
        fields.setdefault("top_logprobs", MOST_LISTED)
    if max_tokens_field != "max_tokens" and "max_tokens" in fields:
        fields[max_tokens_field] = fields.pop("max_tokens")
    schema = fields.pop("schema", None)
    if schema is not None:
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": _schema_name(schema), "strict": True, "schema": schema},
        }
    return fields


def _schema_name(schema: Mapping[str, Any]) -> str:
    """Return the schema's title as a valid name, or ``response``."""
    kept = "".join(c for c in str(schema.get("title", "")) if c.isascii() and c.isalnum())
    return kept[:64] or "response"


# Conversations as one text, for text-completion models.
#
# A method writes the whole text itself if it can (``Way.as_text``); the single user message is then
# sent as it is. Other conversations (a system message, earlier turns) become blocks of question and
# answer, and the model continues after the last answer's heading.

# Another form of the blocks would send another text under an old hash: it needs new names here.
TEXT_WIRES = frozenset({"openai-completions", "local-completions"})


_HEADS = {"user": "Question: ", "assistant": "Answer: ", "system": ""}


def prompt_text(messages: Sequence[Message]) -> str:
    """Return the text that is sent.

    A single user message is sent as it is. Otherwise: system texts, turns under their headings, and
    the heading of the requested answer.
    """
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].text
    blocks = [_HEADS[message.role] + message.text for message in messages]
    return "\n\n".join([*blocks, _HEADS["assistant"].rstrip()])


ImageReader = Callable[[bytes], bytes]


def messages_with_images(messages: Sequence[Message], read: ImageReader) -> list[dict[str, Any]]:
    """Return the messages as JSON values, each image read by its digest."""
    return [
        {
            "role": message.role,
            "content": message.content
            if isinstance(message.content, str)
            else [_part(part, read) for part in message.content],
        }
        for message in messages
    ]


def no_images(model: str) -> BadUsage:
    """Return the error for a model without image input, before anything is sent."""
    return BadUsage(
        f"{model} takes no images, and these questions show some",
        hint=f'use another model, or correct images = false of [models."{model}"]',
    )


def _part(part: TextPart | ImagePart, read: ImageReader) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    encoded = b64encode(read(part.digest)).decode()
    url = f"data:{part.media_type};base64,{encoded}"
    return {"type": "image_url", "image_url": {"url": url}}
