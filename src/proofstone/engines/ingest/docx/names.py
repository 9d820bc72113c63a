"""Elements and attributes of OOXML by their local names: its two dialects differ in namespaces."""

from __future__ import annotations

from typing import Any

__all__ = ["attribute", "child", "is_on", "local", "value"]


def local(element: Any) -> str:
    """The name of an element without its namespace; empty for a comment or instruction."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """An attribute by its local name; empty where it is absent."""
    for key, text in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(text)
    return ""


def child(element: Any, *path: str) -> Any:
    """The first child of a name, of that its first child of the next name, ...; else None."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def value(element: Any, *path: str) -> str:
    """The ``val`` of what stands at a path of names; empty where there is none."""
    found = child(element, *path)
    return "" if found is None else attribute(found, "val")


def is_on(element: Any, *path: str) -> bool:
    """Whether the switch at a path of names is there and not switched off."""
    found = child(element, *path)
    return found is not None and attribute(found, "val") not in {"0", "false", "off"}
