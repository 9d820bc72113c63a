"""What is known at any point of the reading of a LaTeX document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from proofstone.engines.ingest.latex.files import Sources
from proofstone.engines.ingest.latex.flow import Flow
from proofstone.engines.ingest.latex.lexing import Input
from proofstone.engines.ingest.latex.macros import Macros
from proofstone.errors import Problem

__all__ = ["Handler", "State"]


@dataclass
class State:
    """The text that is still to be read, the blocks so far, and what the document has defined.

    ``said`` is its title, author and date; ``absent`` the files that it inputs in vain; ``ends``
    what its own environments that are open stand for at their end; ``depth`` counts readings
    within readings. ``inline`` is how the text of an argument is read.
    """

    files: Sources
    source: Input
    flow: Flow
    inline: Callable[[str], str]
    macros: Macros = field(default_factory=Macros)
    said: dict[str, str] = field(default_factory=dict)
    absent: list[Problem] = field(default_factory=list)
    ends: list[tuple[str, str]] = field(default_factory=list)
    in_preamble: bool = False
    depth: int = 0
    cited: int = 0


Handler = Callable[[State, str], None]
