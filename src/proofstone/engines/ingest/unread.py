"""Columns of a file that nobody reads: the values of a misspelt one would be lost unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from proofstone.ports import Row

__all__ = ["read_noting", "read_watched", "with_near"]

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
    made, unread, looked_for = read_noting(rows, read)
    if unread:
        tell(with_near(unread, looked_for))
    return made


def read_noting(
    rows: Iterable[Row], read: Callable[[Iterable[Row]], T]
) -> tuple[T, list[str], set[str]]:
    """What ``read`` makes of ``rows``, the columns that it never asked for, in the order of the
    file, and the names of columns that it asked for and that are not there."""
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
    return made, unread, looked_for - there.keys()


def with_near(names: Iterable[str], known: set[str]) -> list[str]:
    """Names, each with the one of ``known`` that may be meant."""
    return [_with_near(name, known) for name in names]


def _with_near(name: str, known: set[str]) -> str:
    near = get_close_matches(name.strip().lower().replace(" ", "_"), sorted(known), n=1, cutoff=0.8)
    return f"{name} ({near[0]}?)" if near else name
