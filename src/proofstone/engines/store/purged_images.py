"""Which images go with a purged source: those that purged prompts show, and those of its pages that
entered a build."""

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


def images_in(
    connection: Connection, prompts: Iterable[int], rows: Iterable[bytes] = ()
) -> Iterator[int]:
    """The keys of the images, as far as they are here, that prompts with these keys and rows of
    builds with these bodies show."""
    prompt = schema.prompt
    for chunk in chunks(prompts, _CHUNK):
        bodies = connection.scalars(select(prompt.c.body).where(prompt.c.id.in_(chunk))).all()
        yield from _here(connection, map(decompress, bodies))
    yield from _here(connection, rows)


def _here(connection: Connection, bodies: Iterable[bytes]) -> Iterator[int]:
    image = schema.image
    named = {b64decode(name) for body in bodies for name in _NAMED.findall(body)}
    for hashes in chunks(named, _CHUNK):
        here = image.c.hash.in_(hashes) & (func.length(image.c.body) > 0)
        yield from connection.scalars(select(image.c.id).where(here))
