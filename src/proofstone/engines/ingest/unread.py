"""Columns of a file that nobody reads: the values of a misspelt one would be lost unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from proofstone.ports import Row

__all__ = ["read_watched"]

T = TypeVar("T")


class _Watched(dict[str, Any]):
    """Values that note in ``looked_for`` by which names they were asked for."""

    __slots__ = ("_looked_for",)

    def __init__(self, values: dict[str, Any], looked_for: set[str]) -> None:
        super().__init__(values)
        self._looked_for = looked_for

    def get(self, name: str, default: Any = None) -> Any:
        self._looked_for.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self._looked_for.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._looked_for.add(str(name))
        return super().__contains__(name)


def read_watched(
    rows: Iterable[Row],
    read: Callable[[Iterable[Row]], T],
    tell: Callable[[Sequence[str]], None],
) -> T:
    """What ``read`` makes of ``rows``. ``tell`` gets the columns that ``read`` never asked
    for, each with the name that may be meant (``disipline (discipline?)``), if any."""
    looked_for: set[str] = set()
    there: dict[str, None] = {}

    def watched() -> Iterator[Row]:
        for row in rows:
            if row.values.keys() <= looked_for:  # looking on costs time
                yield row
                continue
            there.update(dict.fromkeys(row.values))
            yield Row(row.place, _Watched(row.values, looked_for))

    made = read(watched())
    unread = [name for name in there if name not in looked_for]
    if unread:
        tell([_with_near(name, looked_for - there.keys()) for name in unread])
    return made


def _with_near(name: str, known: set[str]) -> str:
    near = get_close_matches(name.strip().lower().replace(" ", "_"), sorted(known), n=1, cutoff=0.8)
    return f"{name} ({near[0]}?)" if near else name
