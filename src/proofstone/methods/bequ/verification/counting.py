"""Verdicts as columns of small numbers: millions of them are counted without being held."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from proofstone.records.triples import DIRECTIONS, Verified

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OUTCOMES", "Codes", "Counted"]

# What a triple of either direction came to; the place is the code.
OUTCOMES = (
    "waiting", "unparsed", "entailment", "contradiction", "neutral", "no reference", "covered",
    "not covered",
)  # fmt: skip
_CODE = {name: code for code, name in enumerate(OUTCOMES)}


class Codes:
    """Texts as numbers, in order of first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The texts by their numbers."""
        return list(self._numbers)

    def of(self, name: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(name, len(self._numbers))


class Counted:
    """The columns of verified triples, one entry a triple: about 20 bytes each."""

    def __init__(self) -> None:
        self.families, self.sources = Codes(), Codes()
        self._direction, self._outcome = array("b"), array("b")
        self._group, self._entity = array("i"), array("i")
        self._family, self._source = array("i"), array("i")

    def __len__(self) -> int:
        return len(self._outcome)

    def add(self, found: Verified) -> None:
        """Counts a triple."""
        self._direction.append(DIRECTIONS.index(found.direction))
        self._outcome.append(_CODE[_outcome(found)])
        self._group.append(found.group)
        self._entity.append(found.entity)
        self._family.append(self.families.of(found.family))
        self._source.append(self.sources.of(found.source))

    def column(self, name: str) -> NDArray[np.integer]:
        """direction, outcome, group, entity, family or source of each triple."""
        import numpy as np  # noqa: PLC0415

        held: array[int] = getattr(self, f"_{name}")
        return np.frombuffer(held, dtype=np.int8 if held.typecode == "b" else np.intc)


def _outcome(found: Verified) -> str:
    verdict = found.verdict
    if verdict.basis == "no reference":
        return verdict.basis
    return verdict.label or verdict.basis
