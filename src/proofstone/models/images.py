"""Messages with images as OpenAI-compatible endpoints take them: ``data:`` URLs among the texts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.records.calls import ImagePart, Message, TextPart

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
