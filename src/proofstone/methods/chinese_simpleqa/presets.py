"""The method's presets, read from presets.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec

from proofstone.records import Preset

__all__ = ["presets"]


@cache
def presets() -> Mapping[str, Preset]:
    """Return each preset by its name."""
    text = resources.files(__package__).joinpath("presets.toml").read_text(encoding="utf-8")
    return {
        name: msgspec.convert({"name": name, **entry}, Preset)
        for name, entry in tomllib.loads(text).items()
    }
