"""Names of models as a page may show them: without the folders of the machine that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["shown_names"]

# ``local//opt/me/x.gguf``, ``~/x``, ``C:\x`` or ``hf/../x``: a path, mostly behind a provider.
_PATH = re.compile(
    r"(?P<provider>(?:[\w.+-]+[/=])*?)(?:/|~|[A-Za-z]:[\\/]|\.\.?[\\/]).*?(?P<file>[^\\/]*)[\\/]*"
)


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Each name with what stands for it: itself, or where it is a path that begins at a root, at
    home or with dots, its provider and its last part (``local/x.gguf``). Different names stay
    different: a second of one kind is ``local/x.gguf (2)``."""
    given = list(dict.fromkeys(names))
    taken = {name for name in given if _without_folder(name) == name}
    shown = {}
    for name in given:
        base = _without_folder(name)
        number, text = 1, base
        while text in taken and text != name:
            number += 1
            text = f"{base} ({number})"
        taken.add(text)
        shown[name] = text
    return shown


def _without_folder(name: str) -> str:
    found = _PATH.fullmatch(name)
    return name if found is None else found["provider"] + found["file"]
