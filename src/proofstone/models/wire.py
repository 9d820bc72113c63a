"""What reaches a model on the wire: settings under their names, and messages as endpoints take
them.

The settings are an allow list: nothing but these, and the extra fields of the configuration, is
ever sent or stored as a setting.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.records.calls import ImagePart, Message, TextPart

# Settings that take fractions, each from its least to its greatest value: what any provider takes.
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


# How many tokens longer a reply may be where a model is told to think and its entry says no other
# number: cut short in its thinking, it would count as wrong.
THINKING_TOKENS = 16_384


_NONE: Mapping[str, Mapping[str, Any]] = {}


def sent_settings(
    asked: Mapping[str, Any],
    extra: Mapping[str, Any],
    unsupported: frozenset[str],
    thinking: Mapping[str, Mapping[str, Any]] = _NONE,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings that reach the model (over ``extra``), and the sorted names of those dropped.

    None means unset. Numbers are floats, so that 0 and 0.0 are one request and one hash.
    ``thinking`` are the fields that switch it, by ``on`` and ``off``: they are sent, not the word,
    over those of ``extra`` key by key, however deep.
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
    """Fields over fields: tables that both have are laid over each other, all else is replaced."""
    both = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            both[name] = _laid_over(below[name], above[name])
    return both


def check_range(name: str, value: Any) -> None:
    """Raises BadUsage where a setting that takes a fraction has a value that no provider takes."""
    if name not in _RANGES:
        return
    low, high = _RANGES[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and low <= value <= high and math.isfinite(value)):
        most = "up" if high == math.inf else f"to {high:g}"
        raise BadUsage(f"{name} takes a number from {low:g} {most}, not {value!r}")


def checked_stop(value: Any) -> tuple[str, ...]:
    """The stop sequences that a setting ``stop`` names: a text or several, none where it is unset.

    Raises BadUsage for anything else, and for an empty text, which would end every reply at once.
    """
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(
        isinstance(text, str) and text for text in texts
    ):
        raise BadUsage(
            f"stop takes texts that end a reply, not {value!r}",
            hint="--stop TEXT, once for each text",
        )
    return tuple(texts)


def wire_fields(sent: Mapping[str, Any], max_tokens_field: str) -> dict[str, Any]:
    """The body's fields: a ``schema`` becomes the response format that asks for it strictly, a
    ``likelihood`` the request for the most probable next tokens."""
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
    """The schema's title as far as a name may be, else ``response``."""
    kept = "".join(c for c in str(schema.get("title", "")) if c.isascii() and c.isalnum())
    return kept[:64] or "response"


# Conversations as one text, for models that only go on with a text.
#
# A method writes the whole text itself where it can (``Way.as_text``); then there is one user
# message and it is sent as it is. What else is asked (a system message, earlier turns) is put as
# blocks of question and answer, and the model goes on behind the last answer's head.

# Another form of the blocks would send another text under an old hash: it needs new names here.
TEXT_WIRES = frozenset({"openai-completions", "local-completions"})


_HEADS = {"user": "Question: ", "assistant": "Answer: ", "system": ""}


def prompt_text(messages: Sequence[Message]) -> str:
    """The text that is sent: a sole user message as it is; else system texts as they are, turns
    under their heads, and the head of the answer wanted."""
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].text
    blocks = [_HEADS[message.role] + message.text for message in messages]
    return "\n\n".join([*blocks, _HEADS["assistant"].rstrip()])


ImageReader = Callable[[bytes], bytes]


def messages_with_images(messages: Sequence[Message], read: ImageReader) -> list[dict[str, Any]]:
    """The messages as JSON values, each image read by its digest."""
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
    """What is said of a model that takes no images, before anything is sent."""
    return BadUsage(
        f"{model} takes no images, and these questions show some",
        hint=f'ask another model, or correct images = false of [models."{model}"]',
    )


def _part(part: TextPart | ImagePart, read: ImageReader) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    encoded = b64encode(read(part.digest)).decode()
    url = f"data:{part.media_type};base64,{encoded}"
    return {"type": "image_url", "image_url": {"url": url}}
