"""A file's records by columns, every value a text and every text held once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofstone.records.frames import Coded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FileColumns", "TextCodes", "coded_texts"]


class TextCodes(dict[str, int]):
    """Gives each text a code in the order of its first coming; the empty text is -1, missing."""

    def __init__(self) -> None:
        super().__init__({"": -1})
        self.characters = 0

    def __missing__(self, text: str) -> int:
        self.characters += len(text)
        code = self[text] = len(self) - 1
        return code

    def names(self) -> tuple[str, ...]:
        """The texts by their codes."""
        return tuple(text for text in self if text)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """N records of the file ``name``: columns by their names in the file's order.

    ``codes`` of a column (N) index its ``names``, -1 where the cell is empty. ``lines`` (N) say
    where each record begins, counted in ``unit`` ("line", "row"). ``unread`` are columns whose
    texts are too long to hold and no key of anything: replies, prompts.
    """

    name: str
    columns: Mapping[str, Coded]
    lines: NDArray[np.int64]
    unit: str = "line"
    unread: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)


def coded_texts(texts: Sequence[str]) -> Coded:
    """A sequence of texts as a column; empty ones are missing."""
    import numpy as np  # noqa: PLC0415

    codes = TextCodes()
    column = np.fromiter(map(codes.__getitem__, texts), dtype=np.int32, count=len(texts))
    return Coded(column, codes.names())
