"""Builds in steps, and their funnels: rows entered, kept and dropped per step, and cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from msgspec import Struct

from proofstone.records.calls import EmbeddingModel, Judge, Message, Searcher
from proofstone.records.ids import Draws, content_id
from proofstone.records.items import Oracle
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, WholeDocument
from proofstone.records.options import Parameter
from proofstone.records.runs import Purpose, Response, Spent
from proofstone.records.tables import Tabulation
from proofstone.records.verdicts import RowVerdict

# Interfaces for builds whose rows come from live wikis and web searches.
#
# Online content is fetched before the steps begin and stored. Reading it again sends nothing.


class OnlineWanted(Struct, frozen=True, kw_only=True):
    """Online content a build needs.

    From the wiki whose API is at ``wiki``: the article of each list of ``names`` (the first name
    that has one), and ``n_drawn`` random articles, identified by ``seed``. With ``statements`` also
    the number of Wikidata statements of each. From ``search``: the first ``n_pages`` pages for each
    query. Empty names skip either source.
    """

    wiki: str = ""
    names: tuple[tuple[str, ...], ...] = ()
    n_drawn: int = 0
    seed: int = 0
    statements: bool = False
    search: str = ""
    queries: tuple[str, ...] = ()
    n_pages: int = 20


class WikiText(Struct, frozen=True, kw_only=True):
    """An article as fetched.

    ``date`` is the day of its revision, ``content`` the hex SHA-256 of its text, ``asked`` the name
    that led to it. ``statements`` is None if their number is unknown. ``trouble`` is the reason if
    there is no text.
    """

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
    """A web page found by a search: its full text, or the ``problem`` that prevented reading it.

    ``shown`` is the snippet from the search, ``date`` the day it was fetched, ``content`` the hex
    SHA-256 of its bytes. ``source`` is the id of the stored source.
    """

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
    """Fetched online texts, which can be read repeatedly."""

    def title(self, names: Sequence[str]) -> str:
        """Return the title of the article of the first name that has one, or ""."""

    def article(self, names: Sequence[str]) -> WikiText | None:
        """Return the article of the first name that has one, or None."""

    def drawn(self) -> Iterator[WikiText]:
        """Yield the random articles from the wiki."""

    def pages(self, query: str) -> Sequence[WebText]:
        """Return the pages for a query, best first, including pages that could not be read."""


class OnlineRows(Struct, frozen=True, kw_only=True):
    """How online rows enter a build.

    ``wants`` returns the content needed for the build's inputs, parameters, ``--per-input`` and
    seed (None: nothing). ``rows`` then yields the rows, each with the id of the source of its text
    (empty if none). ``names`` are plain input names with an online meaning.
    """

    wants: Callable[[Sequence[str], Mapping[str, Any], int | None, int], OnlineWanted | None]
    rows: Callable[
        [Sequence[str], Mapping[str, Any], int | None, int, OnlineTexts],
        Iterable[tuple[Struct, bytes]],
    ]
    names: tuple[str, ...] = ()


class StepName(Struct, frozen=True, gc=False):
    """A build step: its key, known before its rows are, and its reasons for dropping rows."""

    name: str
    version: int
    key: bytes
    reasons: tuple[str, ...] = ()
    is_batch: bool = False


class Build(Struct, frozen=True, gc=False, kw_only=True):
    """A pipeline over certain rows. The same steps over the same rows are the same build.

    ``inputs`` hashes the ids of the ``n_inputs`` rows in order. ``models`` maps judge slots (a
    panel's are numbered) to models. ``simulated`` is True if one of them is a simulated model.
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
    """Return the id of a build: a hash of its kind, method, steps and inputs."""
    return content_id(
        "build", [build.kind, build.method, [step.key for step in build.steps], build.inputs]
    )


class StepFunnel(Struct, frozen=True, gc=False, kw_only=True):
    """Row counts of one step.

    Of the rows that ``entered``, some were kept or transformed (``kept`` counts the output), some
    ``dropped`` by reason, and some are ``pending``: not processed yet, or ``failed``, by kind.
    ``spent`` is the cost of its calls.
    """

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
        """Return the number of dropped rows, over all reasons."""
        return sum(self.dropped.values())

    @property
    def passed(self) -> float | None:
        """Return the share of the processed rows that were not dropped; None without any."""
        processed = self.entered - self.pending
        return 1 - self.n_dropped / processed if processed else None


class BuildFunnel(Struct, frozen=True, gc=False):
    """Row counts of a build by step; ``n_steps`` includes steps not reached yet."""

    entered: int
    steps: tuple[StepFunnel, ...]
    n_steps: int

    @property
    def left(self) -> int:
        """Return the number of rows after the last step reached, or that entered if none was."""
        return self.steps[-1].kept if self.steps else self.entered

    @property
    def pending(self) -> int:
        """Return the number of pending rows."""
        return sum(step.pending for step in self.steps)

    @property
    def complete(self) -> bool:
        """Return True if every row has passed every step or was dropped."""
        return len(self.steps) == self.n_steps and not self.pending

    @property
    def spent(self) -> Spent:
        """Return the cost of the calls of all steps."""
        return sum((step.spent for step in self.steps), Spent())


# Judge slots: if a build role has several models, each has a numbered slot.
#
# A single model uses the role's own name, so the id of a build with one judge has no slot number.


def seated(role: str, models: Sequence[str]) -> dict[str, str]:
    """Return models by slot: ``judge`` for one of them, ``judge 1``, ``judge 2``, ... for
    several.
    """
    if len(models) == 1:
        return {role: models[0]}
    return {f"{role} {number}": model for number, model in enumerate(models, 1)}


def slots_of(role: str, models: Mapping[str, str]) -> dict[str, str]:
    """Return a role's slots with their models, in order; empty if it has no model."""
    return {slot: model for slot, model in models.items() if role_of_slot(slot) == role}


def role_of_slot(slot: str) -> str:
    """Return the role of a slot."""
    role, _space, number = slot.rpartition(" ")
    return role if role and number.isdigit() else slot


# Interfaces for step-wise builds: steps, their results and the journal.
#
# A row is any frozen struct that JSON can represent. Rows with equal content are the same row.


class Drop(Struct, frozen=True, gc=False):
    """Result of a step that drops its row: one of the step's ``reasons``; ``found`` quotes the
    evidence.
    """

    reason: str
    found: str = ""


# A step's result: the row itself, another row, several rows (at least one), or a reason to drop it.
Kept = Struct | Sequence[Struct] | Drop


class StepCall(Protocol):
    """One request to the model of a role, for one row.

    The caller caches, limits, retries and records it. ``name`` distinguishes a step's requests for
    people. ``reask`` counts repeats after an unusable response and ``sample`` votes; either makes
    it a different request. Raises CallFailed without a response; do not catch it.
    """

    async def __call__(
        self,
        name: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        reask: int = 0,
        sample: int = 0,
        oracle: Oracle | None = None,
    ) -> Response: ...


@dataclass(frozen=True, slots=True)
class StepContext:
    """Context of a step for one row (or for the batch).

    ``calls`` has one call for each role that the step ``asks``. They are cached, limited, budgeted
    and recorded. They raise CallFailed without a response; do not catch it, and the row is retried
    next time. ``search``, ``banks`` (facts by bank name), ``document`` (a source's whole text) and
    ``embedding`` are set for a step that ``reads`` them. ``verdicts`` collects panel verdicts on
    the row, stored with its outcome.
    """

    row: bytes
    calls: Mapping[str, StepCall]
    seed: int = 0
    judge: Judge | None = None
    search: Searcher | None = None
    banks: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    document: Callable[[bytes], WholeDocument] | None = None
    embedding: EmbeddingModel | None = None
    verdicts: list[RowVerdict] = field(default_factory=list)

    @property
    def call(self) -> StepCall:
        """Return the call of a step with exactly one role; KeyError otherwise."""
        if len(self.calls) != 1:
            raise KeyError(
                f"expected a step with one role, got {', '.join(self.calls) or 'none'}: "
                "name the role"
            )
        return next(iter(self.calls.values()))

    def draws(self, purpose: str) -> Draws:
        """Return this row's random stream for a purpose, fixed by the seed and the row's content.

        Only for steps that declare ``draws``.
        """
        return Draws(self.seed, int.from_bytes(self.row[:8], "big"), purpose)


class _AnyStep(Struct, frozen=True, kw_only=True):
    """Common fields of steps over single rows and over all rows."""

    name: str
    version: int
    takes: type[Struct]
    reasons: tuple[str, ...] = ()
    config: Mapping[str, Any] = {}
    asks: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    draws: bool = False


class Step(_AnyStep, frozen=True, kw_only=True):
    """A step over single rows: returns rows or a reason to drop.

    ``work`` is a function of its row, ``config`` and, where it asks, of models. Anything else it
    depends on must be in ``config`` (a prompt's hash, a threshold). Raise ``version`` when a code
    change alters the output. A coroutine function processes up to ``at_once`` rows concurrently; a
    plain function is called row by row and must be fast. ``takes`` is the type of its rows.
    ``asks`` names model roles. ``reads`` names what it reads: ``search:bm25`` (or dense, hybrid) in
    the workspace, ``search:brave`` on the web, ``bank:NAME``, ``embeddings``: the bundled encoder,
    ``documents``: whole documents, whose text its rows must fix. ``draws`` means that it uses
    random numbers, so the seed is part of its key.
    """

    work: Callable[[Any, StepContext], Kept | Awaitable[Kept]]
    at_once: int = 64


class BatchRows(Protocol):
    """All rows that reached a batch step, each once, in order; each iteration reads them again."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


class BatchStep(_AnyStep, frozen=True, kw_only=True):
    """A step that needs all rows together, such as near-duplicate removal.

    ``work`` returns results for the rows that it changes, by index; the others are kept. A plain
    function runs in a separate thread. It is rerun whenever one of the rows changes. The rest is as
    in ``Step``.
    """

    work: Callable[[BatchRows, StepContext], Mapping[int, Kept] | Awaitable[Mapping[int, Kept]]]


class Pipeline(Struct, frozen=True, kw_only=True):
    """Steps in order, and the conversion of the last step's rows, which are of type ``gives``.

    Rows are in the order in which they entered. They become ``facts`` of a bank, or ``places`` of
    sources. ``notes`` are sentences about what the pipeline skips.
    """

    steps: tuple[Step | BatchStep, ...]
    gives: type[Struct]
    facts: Callable[[Iterable[Any]], Iterable[BuiltFact]] | None = None
    places: Callable[[Iterable[Any]], Iterable[SourcePlace]] | None = None
    notes: tuple[str, ...] = ()


class SourcePlace(Struct, frozen=True, gc=False):
    """A source with its label in a taxonomy."""

    source: bytes
    stratum: Stratum
    taxonomy: str


class ModelRole(Struct, frozen=True, kw_only=True):
    """A model role in a build, with its default settings (max_tokens, ...).

    ``optional``: used only if a model is given for it. A ``panel`` may have several models, each in
    its own slot (``slots_of``); their step ``asks`` the slots. ``has_option``: its models are given
    by an option of the role's name, such as ``--panel A,B``.
    """

    help: str
    purpose: Purpose = "build"
    settings: Mapping[str, Any] = {}
    optional: bool = False
    panel: bool = False
    has_option: bool = False


class FileRows(Struct, frozen=True, kw_only=True):
    """How files of later-stage rows enter a build whose inputs are otherwise sources.

    ``rows`` reads the files and ``make`` returns the remaining steps.
    """

    make: Callable[[Mapping[str, Any], Mapping[str, str]], Pipeline]
    rows: Callable[[Sequence[str], Mapping[str, Any]], Iterable[Struct]]


class BuildTables(Struct, frozen=True):
    """Tables on the rows that a complete build kept, which are of type ``takes``."""

    takes: type[Struct]
    of: Callable[[Sequence[Any]], Sequence[Tabulation]]


class StepBuilder(Struct, frozen=True, kw_only=True):
    """How a method builds facts of one kind in steps: ``build KIND INPUT...``.

    ``make`` returns the pipeline for parameters and the models by slot (the role, if one model has
    it). ``rows`` reads the input rows, again at each call. Without it, inputs name sources of the
    workspace; their passages enter as ``SourcedPassage``, or the sources themselves (``enters``) as
    ``SampledSource``, or with their whole text as ``WholeDocument``. ``regions`` names the
    parameter for page regions, which enter as ``PageRegion`` if it is set, and the role whose model
    sees them. ``drawn`` returns ``n`` random rows of one input by seed, where that is cheaper than
    reading all; a larger ``n`` keeps the previous rows. With ``files``, file inputs enter by those.

    With ``lists`` an input may also name an item list or a bank of the method, whose rows are then
    read as a file's. ``documents`` names the parameter for ``private`` sources: with ``auto``,
    those whose license does not permit publication. ``tables`` describes the rows of a
    complete build, for ``show --statistics``. ``suffix`` is appended to the first input's
    name for a bank without a name. ``next`` is the command people run with a bank of this kind,
    without ``proofstone``, where it is not a form or run. ``example`` are the words after the kind
    in the example of its help.
    """

    make: Callable[[Mapping[str, Any], Mapping[str, str]], Pipeline]
    roles: Mapping[str, ModelRole] = {}
    parameters: tuple[Parameter, ...] = ()
    rows: Callable[[Sequence[str], Mapping[str, Any]], Iterable[Struct]] | None = None
    enters: Literal["passages", "sources", "documents"] = "passages"
    regions: tuple[str, str] | None = None
    drawn: Callable[[str, Mapping[str, Any], int, int], Iterable[Struct]] | None = None
    files: FileRows | None = None
    online: OnlineRows | None = None
    lists: bool = False
    documents: str = ""
    tables: BuildTables | None = None
    suffix: str = ""
    next: str = ""
    help: str = ""
    example: str = ""


class Maker(Protocol):
    """Anything that builds in steps: a method, or the taxonomy labeling of sources."""

    @property
    def name(self) -> str: ...

    @property
    def pipelines(self) -> Mapping[str, StepBuilder]:
        """Return step builders by kind of fact."""


class PipelineRow(Struct, frozen=True, gc=False):
    """A row in a pipeline: canonical JSON, and the id that hashes it."""

    id: bytes
    payload: bytes


class Outcome(Struct, frozen=True, gc=False):
    """Outcome of a step for a row.

    A ``reason`` if it was dropped, otherwise the rows ``kept`` in its place; None if the row is
    unchanged. ``verdicts`` are the judges' verdicts, written with it and read separately.
    """

    kept: tuple[PipelineRow, ...] | None = None
    reason: str = ""
    found: str = ""
    verdicts: tuple[RowVerdict, ...] = ()


class Journal(Protocol):
    """Record of finished work: (step key, row id) -> outcome. The first outcome written is
    final.
    """

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """Return the known outcomes of these rows, written by this process or another."""

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Queue outcomes; wait while too many are unsaved."""

    async def flush(self) -> None:
        """Wait until everything written is saved."""


class Costs(Protocol):
    """Cost and failures of the calls that steps made for rows."""

    def spent(self, step: bytes, rows: Sequence[bytes]) -> Spent:
        """Return the sum over these rows, each call counted once."""

    def errors(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the kind of the newest failure of each of these rows that has one."""
