"""What a command came to: exit code, stdout, stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Proofstone", "Told"]


class Told(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its result, where ``--json`` was given."""
        return json.loads(self.out)


Proofstone = Callable[..., Told]
