"""The defaults of ``defaults.toml``, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["default_settings"]


@cache
def _defaults() -> dict[str, Any]:
    text = files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def default_settings(way: str) -> dict[str, Any]:
    """The default settings of a way of asking; KeyError where there is no such way."""
    return dict(_defaults()["settings"][way])
