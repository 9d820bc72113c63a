"""Who builds in steps, by the name that builds are stored under."""

from __future__ import annotations

from proofstone.methods import find_method
from proofstone.ports import Maker
from proofstone.stages.placing import PLACING

__all__ = ["find_maker"]


def find_maker(name: str) -> Maker:
    """The method of this name, or what places sources. Raises as ``find_method``."""
    return PLACING if name == PLACING.name else find_method(name)
