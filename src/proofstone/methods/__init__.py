"""Methods: one folder a paper, all of one shape. See docs/methods.md.

A method is found in this package or by the entry point group ``proofstone.methods``, and imported
only when it is named. A broken one fails loudly.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from proofstone.errors import NotFound
from proofstone.ports import Method, PayloadType
from proofstone.records import Preset

__all__ = ["carried_names", "find_method", "find_payload", "find_preset", "method_names"]

GROUP = "proofstone.methods"


def method_names() -> list[str]:
    """The names of all methods that are installed, in alphabetical order; imports none."""
    return sorted({*carried_names(), *_entry_points()})


def carried_names() -> list[str]:
    """The names of the methods of this package."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


@cache
def find_method(name: str) -> Method:
    """The method of this name, imported now. Raises NotFound where there is none."""
    outside = _entry_points().get(name)
    if outside is not None:
        method: Method = outside.load()
    elif name in method_names():
        method = importlib.import_module(f"{__name__}.{name}").METHOD
    else:
        raise NotFound(
            f"no method is named {name!r}", hint=f"there is: {', '.join(method_names())}"
        )
    return method


def find_payload(kind: str) -> PayloadType:
    """The type of a payload kind (``method.kind``), from the method that it names."""
    method = find_method(kind.partition(".")[0])
    if kind not in method.payloads:
        raise NotFound(
            f"method {method.name} has no payload {kind!r}",
            hint="the row was written by another version of the method",
        )
    return method.payloads[kind]


def find_preset(method: Method, name: str) -> Preset:
    """The method's preset of this name. Raises NotFound with those there are."""
    if name not in method.presets:
        known = ", ".join(method.presets) or "none"
        raise NotFound(f"{method.name} has no preset {name!r}", hint=f"there is: {known}")
    return method.presets[name]


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
