"""What a pair must be, each criterion by its name: as authors are told and checkers are asked."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from msgspec import Struct

from proofstone.identity import digest
from proofstone.methods.chinese_simpleqa.prompting import is_chinese

__all__ = ["CRITERIA", "Scope", "criteria_digest", "criteria_in"]

CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")
_DATED = "lasting_dated"


class Scope(Struct, frozen=True, kw_only=True):
    """Which knowledge is asked for: what the world knew on the day ``as_of``, or what private
    documents say."""

    as_of: str = ""
    is_private: bool = False


def criteria_in(language: str, scope: Scope, valid_at: str = "") -> dict[str, str]:
    """The criteria in the words of a language, by name, in the order of ``CRITERIA``; ``valid_at``
    is the date at which a private document is valid, empty where nobody said."""
    words = _read("zh" if is_chinese(language) else "en", is_private=scope.is_private)
    if scope.is_private and valid_at:
        words = {**words, "lasting": words[_DATED]}
    return {
        name: words[name].replace("{as_of}", scope.as_of).replace("{valid_at}", valid_at)
        for name in CRITERIA
    }


def criteria_digest(scope: Scope) -> str:
    """What a step depends on that states them."""
    own = scope.is_private
    return digest(_bytes("en", is_private=own) + _bytes("zh", is_private=own)).hex()


@cache
def _read(kind: str, *, is_private: bool) -> dict[str, str]:
    return tomllib.loads(_bytes(kind, is_private=is_private).decode())


@cache
def _bytes(kind: str, *, is_private: bool) -> bytes:
    name = "private_criteria" if is_private else "criteria"
    return (files(__package__) / f"{name}.{kind}.toml").read_bytes()
