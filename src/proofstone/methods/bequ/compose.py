"""There is no bank to compose from: a list of entities is imported as it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.ports import BankReader, BuiltFact, Row
from proofstone.records import Fact, Item

__all__ = ["compose", "read_facts", "recipe", "write_fact"]

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


def read_facts(_rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Raises BadUsage: entities are items, not facts."""
    raise BadUsage("entities are no bank of facts", hint=_HINT)


def write_fact(_built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Raises BadUsage: there are no facts."""
    raise BadUsage("entities are no bank of facts", hint=_HINT)
