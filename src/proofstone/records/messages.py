"""What is said to a model: messages of text, or of texts and images."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, get_args

from msgspec import Struct

from proofstone.errors import BadInput

__all__ = [
    "IMAGE_TYPES",
    "MAX_IMAGE_BYTES",
    "ImagePart",
    "ImageType",
    "Message",
    "TextPart",
    "image_part",
]

ImageType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
IMAGE_TYPES: tuple[ImageType, ...] = get_args(ImageType)
MAX_IMAGE_BYTES = 20 * 1024 * 1024  # the most that the larger endpoints take in one image


class TextPart(Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """A text between images."""

    text: str


class ImagePart(Struct, frozen=True, gc=False, tag_field="type", tag="image"):
    """An image by the SHA-256 of its bytes, which the store keeps; so a prompt stays small, and
    its hash holds the very image."""

    digest: bytes
    media_type: ImageType


class Message(Struct, frozen=True, gc=False):
    """One message of a chat; the content is text, or parts in their order. A text alone is never
    written as a part, so that it has one encoding and one hash."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        """The content as people read it, an image as its type and the first digits of its hash."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_shown(part) for part in self.content)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The images of the content, in order."""
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if isinstance(part, ImagePart))


def image_part(data: bytes, where: str = "the image") -> ImagePart:
    """The part of an image's bytes; its type is read from them, not from a name.

    Raises BadInput for what is none of PNG, JPEG, WebP and GIF, and for more than 20 MB.
    """
    media_type = _type_of(data)
    if media_type is None:
        raise BadInput(
            f"{where} is no PNG, JPEG, WebP or GIF image: it begins with {data[:8]!r}",
            hint="save it in one of these formats",
        )
    if len(data) > MAX_IMAGE_BYTES:
        raise BadInput(
            f"{where} has {len(data):,} bytes; endpoints take up to {MAX_IMAGE_BYTES:,}",
            hint="save it smaller or more compressed",
        )
    return ImagePart(sha256(data).digest(), media_type)


def _type_of(data: bytes) -> ImageType | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _shown(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[{part.media_type}, sha256 {part.digest.hex()[:8]}]"
