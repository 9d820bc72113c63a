"""Recorded error bodies by provider: one answer of an endpoint a line of
``models/bodies/PROVIDER.jsonl``.

``source`` is where it was seen. ``how`` is ``quoted`` where the whole body stands there, ``words``
where the source gives the provider's words, and the form around them is that of its other errors.
Ids and keys were cut out.

Recorded replies of providers, wikis and searches: one a file of ``recorded_responses/FOLDER``, each
with its source and licence. All of them, of which these are a few, lie outside of the repository;
where that folder is there, its files are replayed too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from proofstone.models.failures import FailureKind
from scripted_server import Act

__all__ = [
    "ALL_RESPONSES",
    "PROVIDERS",
    "Recorded",
    "RecordedResponse",
    "recorded",
    "recorded_responses",
    "responses_by_name",
]

BODIES = Path(__file__).parent / "models" / "bodies"
PROVIDERS = (
    "anthropic", "azure", "dashscope", "deepseek", "google", "openai", "openrouter", "vllm"
)  # fmt: skip

BUNDLED_RESPONSES = Path(__file__).parent / "recorded_responses"
ALL_RESPONSES = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "recorded"


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


class RecordedResponse(msgspec.Struct, frozen=True, rename={"license": "licence"}):
    """A reply as it was recorded, what it was asked, and how a careful reader reads it."""

    source: str
    license: str
    request: Mapping[str, Any]
    status: int
    headers: Mapping[str, str]
    body: Any
    note: str | None = None
    name: str = ""
    expected: Mapping[str, Any] = {}

    @property
    def raw(self) -> bytes:
        """The body's bytes: a text as it is, a value as JSON."""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    def act(self) -> Act:
        """The scripted server's answering so."""
        headers = {name: text for name, text in self.headers.items() if name != "content-type"}
        return Act(self.raw, self.status, headers)


def recorded_responses(*folders: str) -> list[RecordedResponse]:
    """The replies of these folders by their names: all where they lie beside the repository, else
    the carried ones."""
    found: dict[str, RecordedResponse] = {}
    for place in (BUNDLED_RESPONSES, ALL_RESPONSES):
        if not place.exists():
            continue
        expected = json.loads((place / "expected.json").read_text(encoding="utf-8"))
        for file in sorted(file for folder in folders for file in (place / folder).glob("*.json")):
            name = f"{file.parent.name}/{file.stem}"
            response = msgspec.json.decode(file.read_bytes(), type=RecordedResponse)
            found[name] = msgspec.structs.replace(
                response, name=name, expected=expected.get(name, {})
            )
    return [found[name] for name in sorted(found)]


def responses_by_name(*folders: str) -> dict[str, RecordedResponse]:
    """The same, by name."""
    return {response.name: response for response in recorded_responses(*folders)}
