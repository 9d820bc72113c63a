"""Which images go with a purged source: those that the purged prompts show."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.calls import decompress
from proofstone.engines.store.rows import chunks

__all__ = ["images_in"]

_CHUNK = 400
_NAMED = re.compile(rb'"digest":"([A-Za-z0-9+/]{43}=)","media_type":"image/')  # keys are sorted


def images_in(connection: Connection, prompts: Iterable[int]) -> Iterator[int]:
    """The keys of the images, as far as they are here, that prompts with these keys show."""
    prompt, image = schema.prompt, schema.image
    for chunk in chunks(prompts, _CHUNK):
        bodies = connection.scalars(select(prompt.c.body).where(prompt.c.id.in_(chunk))).all()
        named = {b64decode(name) for body in bodies for name in _NAMED.findall(decompress(body))}
        for hashes in chunks(named, _CHUNK):
            here = image.c.hash.in_(hashes) & (func.length(image.c.body) > 0)
            yield from connection.scalars(select(image.c.id).where(here))
