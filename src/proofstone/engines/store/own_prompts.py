"""Prompt templates of people's own, kept among the prompts by the hash of their text."""

from __future__ import annotations

from pathlib import Path

import zstandard
from sqlalchemy import delete, insert, select

from proofstone.engines.store import schema
from proofstone.engines.store.calls import PROMPT, decompress
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing
from proofstone.records import OwnPrompt

__all__ = ["OwnPromptStore"]

_FILE = "prompt file "  # of the workspace's own facts, which are of this machine


class OwnPromptStore:
    """Keeps templates and gives their texts back; purged and merged as prompts are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, prompt: OwnPrompt) -> None:
        """Stores a template's text, where one that is there stays, and where its file lies."""
        row = (prompt.hash, zstandard.ZstdCompressor(level=1).compress(prompt.text.encode()))
        with self._database.writing() as connection:
            insert_missing(connection, schema.prompt, PROMPT, {prompt.hash: row})
            if prompt.file:
                table, key = schema.workspace, _FILE + prompt.hash.hex()
                connection.execute(delete(table).where(table.c.key == key))
                connection.execute(insert(table).values(key=key, value=prompt.file))

    def file(self, identity: bytes) -> Path | None:
        """Where the file of a template lay when it was last read on this machine; None where it
        never was."""
        table = schema.workspace
        query = select(table.c.value).where(table.c.key == _FILE + identity.hex())
        with self._database.reading() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else Path(found)

    def text(self, identity: bytes) -> str | None:
        """The text of a template; None where it is not here, or was purged."""
        query = select(schema.prompt.c.body).where(schema.prompt.c.hash == identity)
        with self._database.reading() as connection:
            body = connection.execute(query).scalar_one_or_none()
        return decompress(body).decode() if body else None
