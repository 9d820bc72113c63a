"""Recorded error bodies by provider: one answer of an endpoint a line of
``models/bodies/PROVIDER.jsonl``.

``source`` is where it was seen. ``how`` is ``quoted`` where the whole body stands there, ``words``
where the source gives the provider's words, and the form around them is that of its other errors.
Ids and keys were cut out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from proofstone.engines.models.failure_kinds import FailureKind
from scripted_server import Act

__all__ = ["PROVIDERS", "Recorded", "recorded"]

BODIES = Path(__file__).parent / "models" / "bodies"
PROVIDERS = (
    "anthropic", "azure", "dashscope", "deepseek", "google", "openai", "openrouter", "vllm"
)  # fmt: skip


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An endpoint's answer and what it means."""

    kind: str
    status: int
    headers: Mapping[str, str]
    body: Any
    source: str
    how: Literal["quoted", "words"]
    note: str = ""

    @property
    def raw(self) -> bytes:
        """The body's bytes: a text as it is, all else as JSON."""
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body, ensure_ascii=False).encode()

    def act(self) -> Act:
        """The scripted server's doing it."""
        return Act(self.raw, self.status, self.headers)


def recorded(*providers: str) -> list[Recorded]:
    """The recordings of these providers, or of all with the gateways."""
    files = [BODIES / f"{name}.jsonl" for name in providers] or sorted(BODIES.glob("*.jsonl"))
    found = []
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        found += [msgspec.json.decode(line, type=Recorded) for line in lines]
    assert all(row.kind in get_args(FailureKind) for row in found)
    return found
