"""Telling a person what is about to leave this machine, and asking where nobody has allowed it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from proofstone.session.terminal import say

if TYPE_CHECKING:
    from proofstone.session.permits import Leaving, Outgoing
    from proofstone.store.provenance import Origin


_SHOWN = 8


class TerminalEgress:
    """Talks on stderr. What is new is asked at a terminal, permitted by ``--yes``, else refused."""

    def __init__(self, *, yes: bool = False, quiet: bool = False) -> None:
        self._yes = yes
        self._quiet = quiet

    def __call__(self, leaving: Leaving) -> str:
        """How a person permitted it, "" where nobody did."""
        is_new = leaving.state == "new"
        say(describe(leaving), quiet=self._quiet and not is_new)
        if not is_new:
            return ""
        if self._yes:
            return "--yes"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return ""
        if leaving.asked == leaving.outgoing.origins:
            question = f"Nothing of this has gone to {leaving.to} from here. Send it?"
        else:
            new = _titles(leaving.asked)
            question = f"New for {leaving.to}: {new}. Send it?"
        return "asked" if click.confirm(question, err=True) else ""


def describe(leaving: Leaving) -> str:
    """What is about to be sent, in a few lines."""
    from proofstone.page.text import aligned, printable

    models = ", ".join(leaving.models)
    if leaving.state == "probe":
        return f"to {leaving.to} ({models}): a short test, nothing of this workspace"
    out = leaving.outgoing
    lines = [
        f"to {leaving.to} ({models}): {_n(out.requests, 'request')} with "
        f"{_n(out.items, out.noun)}{_length(out)}{', from' if out.origins else ''}"
    ]
    if out.passages and out.characters and out.noun == "question":
        lines.insert(0, f"{_n(out.passages, 'passage')} of the sources' own text go with questions")
    rows = [
        (f"  {printable(origin.title)}", _share(origin, out), origin.licence or "no licence named")
        for origin in out.origins[:_SHOWN]
    ]
    lines += aligned(rows, left=(0, 2))
    if len(out.origins) > _SHOWN:
        lines.append(f"  and {len(out.origins) - _SHOWN} more sources")
    return "\n".join(lines)


def _share(origin: Origin, out: Outgoing) -> str:
    if not origin.n_items:
        return "worked examples" if out.noun == "question" else "in its own words"
    return f"{origin.n_items:,} of {_n(out.items, out.noun)}"


def _length(out: Outgoing) -> str:
    return f", about {out.characters:,} characters" if out.characters else ""


def _n(count: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def _titles(origins: tuple[Origin, ...]) -> str:
    more = f" and {len(origins) - _SHOWN} more" if len(origins) > _SHOWN else ""
    return ", ".join(origin.title for origin in origins[:_SHOWN]) + more
