"""Images by the hash of their bytes, each once: prompts and items name them."""

from __future__ import annotations

from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing
from proofstone.errors import NotFound
from proofstone.identity import short
from proofstone.records import ImagePart, image_part

__all__ = ["ImageStore"]

_IMAGE = ("hash", "media_type", "body")


class ImageStore:
    """Keeps images and gives them back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, data: bytes, where: str = "the image") -> ImagePart:
        """Keeps an image, checked by ``image_part``, and returns the part that names it."""
        part = image_part(data, where)
        with self._database.writing() as connection:
            row = (part.digest, part.media_type, data)
            insert_missing(connection, schema.image, _IMAGE, {part.digest: row})
        return part

    def image(self, digest: bytes) -> bytes:
        """The bytes of an image. Raises NotFound where it is not here."""
        query = select(schema.image.c.body).where(schema.image.c.hash == digest)
        with self._database.reading() as connection:
            body = connection.execute(query).scalar_one_or_none()
        if body is None:
            raise NotFound(
                f"image {short(digest)} is not in this workspace",
                hint="it came from another one: merge that workspace, or import its source again",
            )
        return bytes(body)
