"""A prompt template of a person's own, in place of the method's: every row it made says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proofstone.identity import digest, short

__all__ = ["PROMPT", "PROMPT_NAME", "OwnPrompt", "own_prompt_of"]

# Settings of a run that was asked so: the template's hash, which makes the run another one, and the
# name of its file, which only says how people call it.
PROMPT = "prompt"
PROMPT_NAME = "prompt_name"


class OwnPrompt(Struct, frozen=True, gc=False):
    """A template: the ``name`` of its file, without any folder, and its text. ``file`` is where it
    lies on this machine, for commands to name; no run, export or merge has it."""

    name: str
    text: str
    file: str = ""

    @property
    def hash(self) -> bytes:
        """SHA-256 of the text in UTF-8."""
        return digest(self.text.encode())

    def __str__(self) -> str:
        return _label(self.name, self.hash)


def own_prompt_of(settings: Mapping[str, Any]) -> str:
    """How the rows of a run with these settings are marked: ``mine.jinja (3f2a91bc)``; empty where
    the method's own prompt asked."""
    if PROMPT not in settings:
        return ""
    return _label(settings.get(PROMPT_NAME, ""), bytes.fromhex(settings[PROMPT]))


def _label(name: str, identity: bytes) -> str:
    return f"{name} ({short(identity)})".lstrip()
