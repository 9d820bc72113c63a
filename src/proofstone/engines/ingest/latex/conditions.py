"""Conditions in a LaTeX document: of each the part that holds, as far as that can be told without
a run of TeX. What cannot be told does not hold."""

from __future__ import annotations

import re

from proofstone.engines.ingest.latex.state import Handler, State

__all__ = ["SWITCHES", "condition", "switch"]

_BOOLEAN = re.compile(r"(\\not\s*)?\\(?:boolean|toggle)\s*\{\s*([^{}]*?)\s*\}")
_NO_CONDITION = {"iff", "ifthenelse", "iftoggle"}


def condition(state: State, name: str) -> None:
    """Reads a condition: one with its parts in groups (\\ifthenelse), or up to its \\fi."""
    if name == "else":
        _skip(state, stop_at_else=False)
    elif name not in {"fi", "iff"} and state.source.has_group():
        _choose(state, name)
    elif name.startswith("if") and not (
        name == "iftrue" or state.macros.switches.get(name[2:], False)
    ):
        _skip(state, stop_at_else=True)


def _choose(state: State, name: str) -> None:
    groups: list[str] = []
    while len(groups) < 4 and state.source.has_group():
        groups.append(state.source.argument())
        if len(groups) == 3 and name in _NO_CONDITION:
            break
    if len(groups) < 3:
        return
    found = _BOOLEAN.search(groups[0])
    toggle = found[2] if found else groups[0].strip()
    holds = state.macros.switches.get(toggle, False) != bool(found and found[1])
    state.source.push(groups[-2] if holds else groups[-1])


def _skip(state: State, *, stop_at_else: bool) -> None:
    """Passes over the part that does not hold."""
    depth = 0
    while (came := state.source.token()) is not None:
        word = came[1:] if came[0] == "\\" else ""
        if word == "fi":
            if not depth:
                return
            depth -= 1
        elif word == "else" and not depth and stop_at_else:
            return
        elif word.startswith("if") and word not in _NO_CONDITION:
            depth += 1


def switch(state: State, name: str) -> None:
    """Sets a switch where a command does that: \\drafttrue."""
    for ending, holds in (("true", True), ("false", False)):
        if name.endswith(ending) and name.removesuffix(ending) in state.macros.switches:
            state.macros.switches[name.removesuffix(ending)] = holds


def _new(state: State, _name: str) -> None:
    state.macros.switches[state.source.argument().strip()] = False


def _set(state: State, name: str) -> None:
    switch_name = state.source.argument().strip()
    if name in {"toggletrue", "togglefalse"}:
        state.macros.switches[switch_name] = name == "toggletrue"
    else:
        state.macros.switches[switch_name] = state.source.argument().strip() == "true"


SWITCHES: dict[str, Handler] = {
    **dict.fromkeys(("newboolean", "provideboolean", "newtoggle", "providetoggle"), _new),
    **dict.fromkeys(("setboolean", "settoggle", "setbool", "toggletrue", "togglefalse"), _set),
}
