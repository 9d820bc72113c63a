"""Texts as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Texts as vectors of length 1 (texts, dimensions), near each other where meanings are."""

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]: ...
