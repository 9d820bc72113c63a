"""Builds in steps, and their funnels: what entered each step, what it kept, dropped and cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from msgspec import Struct

from proofstone.records.calls import Judge, Message, Searcher
from proofstone.records.ids import Draws, content_id
from proofstone.records.items import Oracle
from proofstone.records.knowledge import BuiltFact, Fact, Stratum
from proofstone.records.options import Parameter
from proofstone.records.runs import Purpose, Response, Spent
from proofstone.records.verdicts import RowVerdict

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


def slots_of(role: str, models: Mapping[str, str]) -> dict[str, str]:
    """The seats of a role with their models, in order; none where nobody holds it."""
    return {slot: model for slot, model in models.items() if role_of_slot(slot) == role}


def role_of_slot(slot: str) -> str:
    """The role that a seat belongs to."""
    role, _space, number = slot.rpartition(" ")
    return role if role and number.isdigit() else slot


# What meets where banks are built in steps: steps, what they make of a row, the journal.
#
# A row is any frozen struct that JSON can hold; it is the same row wherever it has the same
# content.


class Drop(Struct, frozen=True, gc=False):
    """That a step drops its row: one of the step's ``reasons``; ``found`` quotes what gave it."""

    reason: str
    found: str = ""


# What a step makes of a row: the row itself, another one, several (not none), or a reason.
Kept = Struct | Sequence[Struct] | Drop


class StepCall(Protocol):
    """One request to the model behind a role, for one row.

    Cached, limited, retried and recorded by whoever hands it in. ``name`` tells the requests of a
    step apart for people; ``reask`` counts requests that are made again because a reply could not
    be used, ``sample`` votes: either makes it another request than the one before. Raises
    CallFailed when no reply came; let it pass.
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
    """What a step is handed for one row (of a batch step: for the batch).

    ``calls`` are cached, limited, budgeted and recorded, one for each role that the step ``asks``;
    they raise CallFailed when no reply came: let it pass, and the row is tried again next time.
    ``search`` and ``banks`` (their facts, by name) are there for a step that ``reads`` them.
    ``verdicts`` takes what panels said of the row: they are kept with what became of it.
    """

    row: bytes
    calls: Mapping[str, StepCall]
    seed: int = 0
    judge: Judge | None = None
    search: Searcher | None = None
    banks: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    verdicts: list[RowVerdict] = field(default_factory=list)

    @property
    def call(self) -> StepCall:
        """The call of a step that asks one role; KeyError where it asks none or several."""
        if len(self.calls) != 1:
            raise KeyError(f"this step asks {', '.join(self.calls) or 'nobody'}: name the role")
        return next(iter(self.calls.values()))

    def draws(self, purpose: str) -> Draws:
        """The draws of this row for a purpose, fixed by the seed and the row's content; for steps
        that declare ``draws``."""
        return Draws(self.seed, int.from_bytes(self.row[:8], "big"), purpose)


class _AnyStep(Struct, frozen=True, kw_only=True):
    """What a step over single rows and one over all of them have in common."""

    name: str
    version: int
    takes: type[Struct]
    reasons: tuple[str, ...] = ()
    config: Mapping[str, Any] = {}
    asks: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    draws: bool = False


class Step(_AnyStep, frozen=True, kw_only=True):
    """One row in; rows or a reason to drop it out.

    ``work`` is a function of its row, ``config`` and, where it asks, of models: whatever else it
    depends on goes into ``config`` (a prompt's hash, a threshold), and ``version`` is raised where
    the code changes what comes out. A coroutine function works on up to ``at_once`` rows at a time;
    a plain function is called row by row and must be quick. ``takes`` is the type of its rows.
    ``asks`` names roles of models; ``reads`` what it reads of the workspace: ``search:bm25`` (or
    dense, hybrid), of the web ``search:brave``, ``bank:NAME``; ``draws`` says that it draws, so
    that the seed counts.
    """

    work: Callable[[Any, StepContext], Kept | Awaitable[Kept]]
    at_once: int = 64


class BatchRows(Protocol):
    """All rows that reached a batch step, each once, in order: read anew by each iteration."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


class BatchStep(_AnyStep, frozen=True, kw_only=True):
    """A step that must see all rows together: near-duplicates, what only shows among all.

    ``work`` gives what it makes of the rows that it touches, by their place; the others stay as
    they are. A plain function works in a thread of its own. It is done again whenever one of the
    rows is another; the rest is as of ``Step``.
    """

    work: Callable[[BatchRows, StepContext], Mapping[int, Kept] | Awaitable[Mapping[int, Kept]]]


class Pipeline(Struct, frozen=True, kw_only=True):
    """Steps in their order, and what is made of the rows behind the last one, which are of type
    ``gives``, in the order of the rows that entered: ``facts``, which become a bank, or the
    ``places`` of sources. ``notes`` are sentences on what it leaves out that it could do."""

    steps: tuple[Step | BatchStep, ...]
    gives: type[Struct]
    facts: Callable[[Iterable[Any]], Iterable[BuiltFact]] | None = None
    places: Callable[[Iterable[Any]], Iterable[SourcePlace]] | None = None
    notes: tuple[str, ...] = ()


class SourcePlace(Struct, frozen=True, gc=False):
    """A source, and where in which taxonomy it stands."""

    source: bytes
    stratum: Stratum
    taxonomy: str


class ModelRole(Struct, frozen=True, kw_only=True):
    """What a model is asked for in a build, with its default settings (max_tokens, ...).
    ``optional``: only where a model is named for it. A ``panel`` may be several models, each at a
    seat of its own (``slots_of``); a step of theirs ``asks`` the seats. ``has_option``: its models
    are named by an option of its name, as ``--panel A,B``."""

    help: str
    purpose: Purpose = "build"
    settings: Mapping[str, Any] = {}
    optional: bool = False
    panel: bool = False
    has_option: bool = False


class FileRows(Struct, frozen=True, kw_only=True):
    """How files of rows that are further on enter a build whose inputs are sources else: what
    ``rows`` reads of them, and the steps (``make``) that are left for such."""

    make: Callable[[Mapping[str, Any], Mapping[str, str]], Pipeline]
    rows: Callable[[Sequence[str], Mapping[str, Any]], Iterable[Struct]]


class StepBuilder(Struct, frozen=True, kw_only=True):
    """How a method builds facts of one kind in steps: ``build KIND INPUT...``.

    ``make`` gives the pipeline for parameters and for the models by seat (the role, where one model
    holds it). ``rows`` reads what
    enters from the inputs, anew at each call; without it, inputs name sources of the workspace, and
    their passages enter as ``SourcedPassage``, or they themselves (``enters``) as
    ``SampledSource``. ``regions`` names the parameter that says which regions of their
    pages enter instead, where it says any, as ``PageRegion``, and the role whose model sees
    them. ``drawn`` gives ``n`` rows of one input, drawn by a seed, where that is cheaper than to
    read all; a larger ``n`` keeps those drawn. With ``files``, inputs that are files enter by
    those.
    With ``lists`` an input may also name a list of items or a bank of the method, whose
    rows are then read as a file's. ``documents`` names the parameter that says whether sources are
    ``private``: where it is ``auto``, those whose license permits no publication are. ``suffix``
    stands behind the name of the first input in the name of a bank that gets none: it is no list of
    the same name.
    ``next`` is what people do with a bank of this kind, as they type it behind ``proofstone``,
    where that is no form or run.
    """

    make: Callable[[Mapping[str, Any], Mapping[str, str]], Pipeline]
    roles: Mapping[str, ModelRole] = {}
    parameters: tuple[Parameter, ...] = ()
    rows: Callable[[Sequence[str], Mapping[str, Any]], Iterable[Struct]] | None = None
    enters: Literal["passages", "sources"] = "passages"
    regions: tuple[str, str] | None = None
    drawn: Callable[[str, Mapping[str, Any], int, int], Iterable[Struct]] | None = None
    files: FileRows | None = None
    online: OnlineRows | None = None
    lists: bool = False
    documents: str = ""
    suffix: str = ""
    next: str = ""
    help: str = ""


class Maker(Protocol):
    """Whoever builds in steps: a method, or what places sources."""

    @property
    def name(self) -> str: ...

    @property
    def pipelines(self) -> Mapping[str, StepBuilder]:
        """By kind of fact."""


class PipelineRow(Struct, frozen=True, gc=False):
    """A row on its way: canonical JSON, and the id that hashes it."""

    id: bytes
    payload: bytes


class Outcome(Struct, frozen=True, gc=False):
    """What a step made of a row: a ``reason`` where it was dropped, else the rows ``kept`` in its
    place; None where the row went on as it was. ``verdicts`` are what judges said on the way: they
    are written with it, and read apart from it."""

    kept: tuple[PipelineRow, ...] | None = None
    reason: str = ""
    found: str = ""
    verdicts: tuple[RowVerdict, ...] = ()


class Journal(Protocol):
    """What was done: (key of a step, id of a row) -> outcome. The first one written holds."""

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """The outcomes that are known of these rows, written by this process or another."""

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Queues outcomes; waits while too many are not kept yet."""

    async def flush(self) -> None:
        """Returns once all that was written is kept."""


class Costs(Protocol):
    """What the calls that steps made for rows took, and why they failed."""

    def spent(self, step: bytes, rows: Sequence[bytes]) -> Spent:
        """The sum over these rows, each call counted once."""

    def errors(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, str]:
        """The kind of the newest failure of each of these rows that has one."""
