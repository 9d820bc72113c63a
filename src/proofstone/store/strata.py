"""Levels of a taxonomy as codes and names: a stratum is its path, and shown by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LEVELS = ("discipline", "field", "subfield", "book", "language")


_ABOVE: Mapping[str, tuple[str, ...]] = {
    "field": ("discipline",),
    "subfield": ("discipline", "field"),
}


_Path = tuple[str, ...]


def coded_levels(
    units: Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, NDArray[np.int32]]]:
    """By level the names of its strata in alphabetical order, and each unit's code among them.

    Two fields of one name in different disciplines are two strata, and so are subfields. Such a
    name is followed by what it belongs to: ``History (Arts)``. What is not given is one stratum.
    """
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    names: dict[str, tuple[str, ...]] = {}
    codes: dict[str, NDArray[np.int32]] = {}
    for level in LEVELS:
        columns = [units[above] for above in (*_ABOVE.get(level, ()), level)]
        paths = [path if path[-1] else () for path in zip(*columns, strict=True)]
        shown = _shown(set(paths))
        order = sorted(shown, key=lambda path: (shown[path], path))
        place = {path: code for code, path in enumerate(order)}
        names[level] = tuple(shown[path] for path in order)
        codes[level] = np.array([place[path] for path in paths], dtype=np.int32)
    return names, codes


def _shown(paths: set[_Path]) -> dict[_Path, str]:
    """Each path's last name, with those above it where another path has the same."""
    shared = Counter(path[-1] for path in paths if path)
    return {path: _name(path, is_shared=bool(path) and shared[path[-1]] > 1) for path in paths}


def _name(path: _Path, *, is_shared: bool) -> str:
    if not path:
        return ""
    above = " / ".join(part for part in path[:-1] if part)
    return f"{path[-1]} ({above})" if is_shared and above else path[-1]
