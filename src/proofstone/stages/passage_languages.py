"""Passages by their language: folders may mix them, and what is built may be of some alone."""

from __future__ import annotations

from collections.abc import Collection

from proofstone.engines.ingest import UNDETERMINED

__all__ = ["in_languages", "main_language"]


def main_language(code: str) -> str:
    """The first part of a language's code, ``zh`` of ``zh-Hant``; ``und`` where none is known."""
    return code.partition("-")[0] or UNDETERMINED


def in_languages(code: str, languages: Collection[str]) -> bool:
    """Whether a text of this language is wanted; every one is where ``languages`` is empty."""
    return not languages or main_language(code) in languages
