"""Rows and keys: what makes a row, a step and a batch the same one as before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.identity import canonical_json, content_id
from proofstone.ports import BatchStep, PipelineRow, Step

__all__ = ["batch_key", "ids_digest", "make_row", "read_row", "step_key"]


def make_row(value: Struct) -> PipelineRow:
    """A struct as a row; its id is fixed by its content."""
    payload = canonical_json(value)
    return PipelineRow(sha256(b"pipeline_row\n" + payload).digest(), payload)


def read_row(row: PipelineRow, kind: type[Struct]) -> Any:
    """The struct of a row; ValidationError where the row is none of this type."""
    return _decoder(kind).decode(row.payload)


@cache
def _decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def step_key(step: Step | BatchStep, tools: Mapping[str, Any], seed: int) -> bytes:
    """The key of a step: its name, version and configuration; ``tools`` are the models behind the
    roles that it asks, with their settings, and the state of what it reads; the seed counts where
    it draws."""
    key: list[Any] = [step.name, step.version, step.config]
    used = {name: tools[name] for name in (*step.asks, *step.reads)}
    key += [used, seed if step.draws else None]
    return content_id("build_step", key)


def batch_key(step: bytes, inputs: bytes) -> bytes:
    """The key of a batch step over these very rows."""
    return sha256(b"build_batch\n" + step + inputs).digest()


def ids_digest(ids: Iterable[bytes]) -> bytes:
    """The hash of ids in their order."""
    state = sha256(b"pipeline_rows\n")
    for identity in ids:
        state.update(identity)
    return state.digest()
