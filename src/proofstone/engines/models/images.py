"""Messages with images as OpenAI-compatible endpoints take them: ``data:`` URLs among the texts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.records import ImagePart, Message, TextPart

__all__ = ["ImageReader", "messages_with_images", "no_images"]

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
