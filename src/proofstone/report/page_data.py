"""All that a results page shows besides the leaderboard; plain records, filled by the caller."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.audience import Audience
from proofstone.records.messages import Message
from proofstone.records.results import Outcome, Usage
from proofstone.records.score_table import DocumentPages
from proofstone.report.audited import FileRead
from proofstone.report.board import Leaderboard
from proofstone.report.manifest import Manifest
from proofstone.report.opening.opening import Opening
from proofstone.report.sections.section import Section
from proofstone.report.trust.trust import TrustLine

__all__ = ["Asked", "Control", "FormShown", "PageData", "Provenance", "QuestionShown"]


class FormShown(Struct, frozen=True, kw_only=True):
    """An item set that was asked: ``seed`` is None for an imported one; ``recipe`` in words."""

    name: str
    id: str
    n_items: int
    seed: int | None = None
    recipe: tuple[tuple[str, str], ...] = ()


class Asked(Struct, frozen=True, kw_only=True):
    """How one respondent was asked, and what the endpoint said of itself.

    ``settings`` as sent, ``dropped`` those it does not take. ``usage`` sums tokens over ``calls``
    (None where the endpoint never said); ``cost_usd`` is None where no price is known, and
    ``estimated_usd`` the part of it for calls that the endpoint did not count;
    ``mean_logprob`` the mean natural-log probability of reply tokens, evidence that it was asked.
    """

    label: str
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    served_models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    estimated_usd: float = 0.0
    mean_logprob: float | None = None
    median_latency_s: float | None = None
    first_call: str = ""
    last_call: str = ""


class Control(Struct, frozen=True, kw_only=True):
    """A simple completion that any working model manages: what came, and whether it fits."""

    label: str
    prompt: str
    reply: str
    expected: str
    is_as_expected: bool


class QuestionShown(Struct, frozen=True, kw_only=True):
    """One question as one respondent saw it: the exact messages, the raw reply, what was read.

    ``value`` is None where the outcome carries none; ``basis`` is how the answer was found;
    ``documents`` are those that the question rests on, with its pages in them.
    """

    label: str
    item: str
    messages: tuple[Message, ...]
    reply: str
    outcome: Outcome
    reasoning: str = ""
    answer: str = ""
    basis: str = ""
    gold: str = ""
    value: float | None = None
    flags: tuple[str, ...] = ()
    documents: tuple[DocumentPages, ...] = ()


class Provenance(Struct, frozen=True, kw_only=True):
    """Which version made the page, from which runs, and when (as printed, with its zone)."""

    version: str
    made_at: str
    runs: tuple[str, ...] = ()
    command: str = ""


class PageData(Struct, frozen=True, kw_only=True):
    """A results page: its title, the leaderboard, what follows from it, and the evidence beside it.

    ``opening`` is the half page at the top, ``trust`` how far to believe all of it. ``sections``
    are the parts after the leaderboard. ``files`` are those of other people's results, of which
    nothing else is known; of our own runs there are ``forms``, ``asked`` and the others.

    ``notes`` stand above everything else (what the data are, what is partial). ``card_columns`` are
    facts of the models' cards to show on the leaderboard. ``audience``: a page for the public shows
    no ``questions``, whatever stands there, and no replies to ``controls``.
    ``seed`` is that of all draws. ``manifest`` is what is recorded of how runs of our own came
    about; None for other people's results.
    """

    title: str
    board: Leaderboard
    provenance: Provenance
    seed: int | None = None
    manifest: Manifest | None = None
    opening: Opening = Opening()
    trust: tuple[TrustLine, ...] = ()
    sections: tuple[Section, ...] = ()
    files: tuple[FileRead, ...] = ()
    notes: tuple[str, ...] = ()
    card_columns: tuple[str, ...] = ()
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    questions: tuple[QuestionShown, ...] = ()
    audience: Audience = "internal"
