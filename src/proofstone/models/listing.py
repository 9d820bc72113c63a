"""Which models an endpoint says it serves: the bodies that ``GET /models`` brings, read by shape.

OpenAI and its likes give ``{"data": [{"id": ...}]}``, some in pages; Together a bare list; Google
and Ollama ``{"models": [{"name": ...}]}``, of which Google's begin with ``models/``. Azure lists
what its region could serve, not what is deployed, so its list says nothing of a model.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

ListedState = Literal["listed", "not listed", "no list"]


_AZURE = re.compile(r"\.(openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.\w+$")


_NEAR = 3


class Listing(Struct, frozen=True, kw_only=True):
    """The ids of an endpoint's models; ``problem`` says why there is no list. ``next_page`` is the
    query that brings the rest, empty behind the last."""

    ids: frozenset[str] = frozenset()
    problem: str = ""
    next_page: str = ""

    def state_of(self, served_as: str) -> ListedState:
        """Whether the model of this name stands in the list, if there is one."""
        if self.problem:
            return "no list"
        return "listed" if served_as.casefold() in self._names else "not listed"

    def near(self, served_as: str) -> tuple[str, ...]:
        """Up to three ids that a mistyped name may have meant."""
        return tuple(difflib.get_close_matches(served_as, sorted(self.ids), n=_NEAR, cutoff=0.7))

    @property
    def _names(self) -> set[str]:
        """The ids, and what they may be called beside that, without regard to case."""
        plain = {name.casefold() for name in self.ids}
        return plain | {_without_prefix(name) for name in plain} | {_untagged(n) for n in plain}


def list_is_telling(identity: str) -> bool:
    """Whether an endpoint's list says which models it answers for: not Azure's."""
    return _AZURE.search(urlsplit(identity).hostname or "") is None


def read_listing(raw: bytes) -> Listing:
    """The listing in a body, or one with a problem where the body is no list of models."""
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return Listing(problem="the answer is not JSON")
    rows = body
    if isinstance(body, dict):
        rows = body.get("data", body.get("models"))
    if not isinstance(rows, list):
        return Listing(problem="the answer holds no list of models")
    ids = frozenset(_ids(rows))
    if rows and not ids:
        return Listing(problem="the list names no model")
    return Listing(ids=ids, next_page=_next_page(body))


def _ids(rows: Iterable[Any]) -> Iterable[str]:
    for row in rows:
        name = row.get("id", row.get("name")) if isinstance(row, dict) else row
        if isinstance(name, str) and name:
            yield name


def _next_page(body: Any) -> str:
    """Anthropic's lists come in pages that name their last id."""
    if isinstance(body, dict) and body.get("has_more") is True:
        last = body.get("last_id")
        return f"after_id={last}" if isinstance(last, str) and last else ""
    return ""


def _without_prefix(name: str) -> str:
    return name.removeprefix("models/")


def _untagged(name: str) -> str:
    """Ollama's ``qwen3:latest`` is what it answers for as ``qwen3``."""
    return name.removesuffix(":latest")
