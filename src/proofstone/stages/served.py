"""Who answered a run, in words: said where it was more than one model, or one that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from proofstone.engines.store import Found, ServedShare, Store
from proofstone.identity import short
from proofstone.records import Run

__all__ = ["note_of_run", "served_models", "served_note", "shares_of"]


def shares_of(store: Store, key: int, run: Run) -> tuple[ServedShare, ...]:
    """The shares of a run's replies by who answered; none for a simulated respondent, which is
    what its name says."""
    return () if run.simulated else store.served.of_run(key)


def note_of_run(store: Store, found: Found) -> str:
    """The note on a run as a line of its own; empty for what is no run, or has none."""
    if found.kind != "run":
        return ""
    note = served_note(shares_of(store, *store.runs.run(found.id)))
    return f"run:{short(found.id)} was {note}" if note else ""


def served_models(shares: Iterable[ServedShare]) -> dict[str, int]:
    """The replies of each model that answered, in the order in which they began to."""
    models: dict[str, int] = {}
    for share in shares:
        models[share.model] = models.get(share.model, 0) + share.replies
    return models


def served_note(shares: Sequence[ServedShare]) -> str:
    """What to say of a run whose endpoint changed model or serving under it; else nothing."""
    models = served_models(shares)
    if len(models) > 1:
        parts = [f"{model} ({_spell(model, shares)})" for model in models]
        return f"answered by {len(models)} models: {', '.join(parts)}"
    prints = list(dict.fromkeys(share.fingerprint for share in shares if share.fingerprint))
    if len(prints) > 1:
        (model,) = models
        shown = ", ".join(prints[:3]) + (", ..." if len(prints) > 3 else "")
        return f"answered by {model} with {len(prints)} system fingerprints: {shown}"
    return ""


def _spell(model: str, shares: Sequence[ServedShare]) -> str:
    """How many replies of a model, and when."""
    own = [share for share in shares if share.model == model]
    n = sum(share.replies for share in own)
    first, last = min(s.first_at for s in own), max(s.last_at for s in own)
    noun = "reply" if n == 1 else "replies"
    times = dict.fromkeys((_minute(first), _minute(last)))
    return f"{n:,} {noun}, {' to '.join(times)} UTC"


def _minute(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
