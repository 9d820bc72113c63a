"""There is no bank to compose from: a list of entities is imported as it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofstone.errors import BadUsage
from proofstone.ports import BankReader
from proofstone.records import Item

__all__ = ["compose", "recipe"]

_HINT = "a list of entities is asked as it is: proofstone import FILE --as entities"


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """The composer's version. Raises BadUsage for any parameter: there are none."""
    unknown = sorted(params.keys() - {"composer"})
    if unknown:
        raise BadUsage(f"no parameter is named {', '.join(unknown)}", hint=_HINT)
    return {"composer": 1}


def compose(_bank: BankReader, _recipe: Mapping[str, Any], _seed: int) -> Iterator[Item]:
    """Raises BadUsage: entities come from lists."""
    raise BadUsage("forms of entities are not composed from banks", hint=_HINT)
