"""The page's script: hand-written, in pieces of one idea each, and the words it shows."""

from __future__ import annotations

from functools import cache
from importlib import resources

from markupsafe import Markup

from proofstone.wording import noted, word

__all__ = ["page_script", "script_words"]

# In this order: the last sets the others to work.
_PIECES = ("says", "sorting", "filtering", "asking", "copying", "regions", "printing", "page")


@cache
def page_script() -> str:
    """All pieces as the text of one module."""
    folder = resources.files("proofstone.report") / "script"
    return "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in _PIECES)


# What the script says; it fills the places in braces itself.
_WORDS = {
    "search": noted("Search"),
    "any": noted("any"),
    "reset": noted("Reset"),
    "all-rows": noted("{all} rows"),
    "shown-rows": noted("{shown} of {all} rows"),
    "all-questions": noted("{all} questions"),
    "shown-questions": noted("{shown} of {all} questions"),
    "only": noted("Only: {what}"),
    "copy": noted("Copy"),
    "copied": noted("Copied"),
    "selected": noted("Selected: copy it now"),
    "tools": noted("Search and filter: {name}"),
}


def script_words() -> Markup:
    """The words of the script, as attributes ``data-says-...`` of an element."""
    return Markup(" ").join(
        Markup('data-says-{}="{}"').format(name, word(said)) for name, said in _WORDS.items()
    )
