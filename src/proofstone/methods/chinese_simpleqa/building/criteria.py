"""What a pair must be, each criterion by its name: as authors are told and checkers are asked."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from proofstone.identity import digest
from proofstone.methods.chinese_simpleqa.prompting import is_chinese

__all__ = ["CRITERIA", "criteria_digest", "criteria_in"]

CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")


def criteria_in(language: str, as_of: str) -> dict[str, str]:
    """The criteria in the words of a language, by name, in the order of ``CRITERIA``; ``as_of`` is
    the day on which an answer must have been known."""
    words = _read("zh" if is_chinese(language) else "en")
    return {name: words[name].replace("{as_of}", as_of) for name in CRITERIA}


def criteria_digest() -> str:
    """What a step depends on that states them."""
    return digest(_bytes("en") + _bytes("zh")).hex()


@cache
def _read(kind: str) -> dict[str, str]:
    return tomllib.loads(_bytes(kind).decode())


@cache
def _bytes(kind: str) -> bytes:
    return (files(__package__) / f"criteria.{kind}.toml").read_bytes()
