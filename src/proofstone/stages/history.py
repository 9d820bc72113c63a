"""What was done to a fact, item or form, and what was ruled, in lines that people read."""

from __future__ import annotations

from proofstone.engines.store import Found, Store
from proofstone.identity import short
from proofstone.records import Correction, Ruling
from proofstone.stages.dates import minute

__all__ = ["history_lines", "ruling_line"]

_VERBS = {"edit": "edited", "retire": "retired", "restore": "restored"}


def history_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """The version that a row corrects, each correction of it, oldest first, and the versions that
    correct it: (what, which or by whom and why)."""
    former = store.corrections.former(found.kind, found.key)
    lines = [] if former is None else [("corrects", f"{found.kind}:{short(former)}")]
    lines += [
        (_VERBS[done.action], _told(done)) for done in store.corrections.of(found.kind, found.key)
    ]
    newer = store.corrections.newer(found.kind, found.key)
    return lines + [("corrected by", f"{found.kind}:{short(identity)}") for identity in newer]


def ruling_line(ruling: Ruling) -> str:
    """``ruled correct by actor 3f2a77c0, 2026-03-01 14:05 UTC: reason``."""
    by = f"by actor {short(ruling.actor)}, {minute(ruling.at)}"
    return f"ruled {ruling.verdict} {by}: {ruling.reason}"


def _told(done: Correction) -> str:
    return f"by actor {short(done.actor)}, {minute(done.at)}: {done.reason}"
