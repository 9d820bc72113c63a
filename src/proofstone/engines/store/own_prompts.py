"""Prompt templates of people's own, kept among the prompts by the hash of their text."""

from __future__ import annotations

import zstandard
from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.calls import PROMPT, decompress
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing
from proofstone.records import OwnPrompt

__all__ = ["OwnPromptStore"]


class OwnPromptStore:
    """Keeps templates and gives their texts back; purged and merged as prompts are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, prompt: OwnPrompt) -> None:
        """Stores a template's text; one that is there stays."""
        row = (prompt.hash, zstandard.ZstdCompressor(level=1).compress(prompt.text.encode()))
        with self._database.writing() as connection:
            insert_missing(connection, schema.prompt, PROMPT, {prompt.hash: row})

    def text(self, identity: bytes) -> str | None:
        """The text of a template; None where it is not here, or was purged."""
        query = select(schema.prompt.c.body).where(schema.prompt.c.hash == identity)
        with self._database.reading() as connection:
            body = connection.execute(query).scalar_one_or_none()
        return decompress(body).decode() if body else None
