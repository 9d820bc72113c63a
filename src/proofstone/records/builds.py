"""Builds in steps, and their funnels: what entered each step, what it kept, dropped and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from proofstone.records.ids import content_id
from proofstone.records.runs import Spent

# What a row of filters left of what entered, in counts: no text of what was dropped.


class FunnelStep(Struct, frozen=True, gc=False):
    """How many rows a reason took, by group, in the order of the funnel's groups."""

    reason: str
    dropped: tuple[int, ...]


class Funnel(Struct, frozen=True, gc=False, kw_only=True):
    """Each row counts once: at the first reason that took it, or among those left.

    ``filters`` names the filters and their version. Counts are by ``groups`` of rows (correct and
    falsified statements); every reason is listed in its order, also where it took none.
    ``changed`` counts rows that are left with a text changed.
    """

    filters: str
    groups: tuple[str, ...]
    entered: tuple[int, ...]
    steps: tuple[FunnelStep, ...]
    changed: tuple[int, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """The rows that no reason took, by group."""
        dropped = [sum(counts) for counts in zip(*(s.dropped for s in self.steps), strict=True)]
        return tuple(n - gone for n, gone in zip(self.entered, dropped, strict=True))


# What meets where rows of a build come from live wikis and searches of the web.
#
# What is asked of them is asked before the steps begin, and kept: reading it again sends nothing.


class OnlineWanted(Struct, frozen=True, kw_only=True):
    """What a build wants: of the wiki whose API is at ``wiki`` the article of each list of
    ``names`` (that of the first name that leads to one), and ``n_drawn`` that the wiki draws, known
    by ``seed``; with ``statements`` how much Wikidata says of each. Of ``search`` the first
    ``n_pages`` pages for each query. Empty names mean that neither is asked."""

    wiki: str = ""
    names: tuple[tuple[str, ...], ...] = ()
    n_drawn: int = 0
    seed: int = 0
    statements: bool = False
    search: str = ""
    queries: tuple[str, ...] = ()
    n_pages: int = 20


class WikiText(Struct, frozen=True, kw_only=True):
    """An article as it was when it was fetched: ``date`` is the day of its revision, ``content``
    the hex SHA-256 of its text, ``asked`` the name that led to it. ``statements`` is None where
    their number is not known; ``trouble`` says why there is no text."""

    asked: str
    title: str
    text: str = ""
    page_id: str = ""
    url: str = ""
    date: str = ""
    content: str = ""
    language: str = ""
    wikidata: str = ""
    statements: int | None = None
    is_meanings: bool = False
    trouble: str = ""


class WebText(Struct, frozen=True, kw_only=True):
    """A page that a search found: its whole text, or the ``problem`` for which it has none.
    ``shown`` is what the search showed of it, ``date`` the day on which it was fetched, ``content``
    the hex SHA-256 of its bytes, ``source`` the id of the source that it is kept as."""

    url: str
    title: str
    shown: str = ""
    text: str = ""
    date: str = ""
    content: str = ""
    language: str = ""
    source: bytes = b""
    problem: str = ""
    detail: str = ""


class OnlineTexts(Protocol):
    """What was found, as often as it is read."""

    def title(self, names: Sequence[str]) -> str:
        """The title of the article to which the first name leads that leads to one; empty where
        none does."""

    def article(self, names: Sequence[str]) -> WikiText | None:
        """That article; None where there is none."""

    def drawn(self) -> Iterator[WikiText]:
        """The articles that the wiki drew."""

    def pages(self, query: str) -> Sequence[WebText]:
        """The pages for a query, best first, those among them that could not be read."""


class OnlineRows(Struct, frozen=True, kw_only=True):
    """How rows that enter a build come from online: what is wanted for its inputs, parameters,
    ``--per-input`` and seed (None: nothing), and then the rows, each with the id of the source
    that its text is of (empty for none). ``names`` are inputs that mean something online by a plain
    name."""

    wants: Callable[[Sequence[str], Mapping[str, Any], int | None, int], OnlineWanted | None]
    rows: Callable[
        [Sequence[str], Mapping[str, Any], int | None, int, OnlineTexts],
        Iterable[tuple[Struct, bytes]],
    ]
    names: tuple[str, ...] = ()


class StepName(Struct, frozen=True, gc=False):
    """A step of a build: its key before it is known which rows reach it, and why it drops."""

    name: str
    version: int
    key: bytes
    reasons: tuple[str, ...] = ()
    is_batch: bool = False


class Build(Struct, frozen=True, gc=False, kw_only=True):
    """A pipeline over certain rows: the same steps over the same rows are the same build.

    ``inputs`` hashes the ids of the ``n_inputs`` rows in their order; ``models`` are those behind
    the roles that its steps ask, by seat (several of a panel are numbered); ``simulated``: one of
    them is made up.
    """

    id: bytes = b""
    kind: str
    method: str
    name: str = ""
    steps: tuple[StepName, ...]
    inputs: bytes
    n_inputs: int
    seed: int = 0
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    simulated: bool = False


def build_id(build: Build) -> bytes:
    """The id of a build: its kind, method, steps and inputs."""
    return content_id(
        "build", [build.kind, build.method, [step.key for step in build.steps], build.inputs]
    )


class StepFunnel(Struct, frozen=True, gc=False, kw_only=True):
    """A step in counts of rows: those that ``entered`` were kept as they were or made into others
    (``kept`` counts what came out), ``dropped`` for a reason, or are ``pending``: not worked on
    yet, or ``failed``, by kind. ``spent`` is what its calls took when they were asked."""

    name: str
    version: int
    entered: int = 0
    kept: int = 0
    dropped: dict[str, int] = {}
    pending: int = 0
    failed: dict[str, int] = {}
    spent: Spent = Spent()

    @property
    def n_dropped(self) -> int:
        """The rows that were dropped, for whatever reason."""
        return sum(self.dropped.values())


class BuildFunnel(Struct, frozen=True, gc=False):
    """A build in counts, step by step. ``n_steps`` may be more than were reached."""

    entered: int
    steps: tuple[StepFunnel, ...]
    n_steps: int

    @property
    def left(self) -> int:
        """The rows behind the last step reached; those that entered where none was."""
        return self.steps[-1].kept if self.steps else self.entered

    @property
    def pending(self) -> int:
        """The rows that are held up somewhere."""
        return sum(step.pending for step in self.steps)

    @property
    def complete(self) -> bool:
        """Whether every row is through every step, or dropped."""
        return len(self.steps) == self.n_steps and not self.pending

    @property
    def spent(self) -> Spent:
        """What the calls of all steps took."""
        return sum((step.spent for step in self.steps), Spent())


# Seats: where a role of a build is held by several models, each has a numbered seat of its own.
#
# One model sits at the role itself, so a build with one judge is the build that it always was.


def seated(role: str, models: Sequence[str]) -> dict[str, str]:
    """Models by seat: ``judge`` for one of them, ``judge 1``, ``judge 2``, ... for several."""
    if len(models) == 1:
        return {role: models[0]}
    return {f"{role} {number}": model for number, model in enumerate(models, 1)}


def seats_of(role: str, models: Mapping[str, str]) -> dict[str, str]:
    """The seats of a role with their models, in order; none where nobody holds it."""
    return {seat: model for seat, model in models.items() if role_of_seat(seat) == role}


def role_of_seat(seat: str) -> str:
    """The role that a seat belongs to."""
    role, _space, number = seat.rpartition(" ")
    return role if role and number.isdigit() else seat
