"""The method's presets, one an experiment of the paper, read from presets.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec

from proofstone.records import Preset

__all__ = ["presets"]

_IN_ALL = "all"


@cache
def presets() -> Mapping[str, Preset]:
    """Each preset by its name: its own choices, then those that all share."""
    text = resources.files(__package__).joinpath("presets.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    shared = tables.pop(_IN_ALL)
    return {
        name: msgspec.convert(
            {**entry, "name": name, "choices": [*entry["choices"], *shared]}, Preset
        )
        for name, entry in tables.items()
    }
