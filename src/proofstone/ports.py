"""Small protocols, each named for its user, through which the layers meet.

An engine or a method receives these and never constructs them; ``wiring`` does. Nothing here
imports an engine, a client library or a database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from proofstone.records import (
    Fact,
    Item,
    ItemSet,
    LoadedItem,
    Measure,
    Message,
    Oracle,
    Preset,
    Purpose,
    Reply,
    Role,
    Row,
    Scale,
    Score,
    SiftedRows,
    Source,
    Tabulation,
    Unit,
    Usage,
    Way,
)

__all__ = [
    "Attempt",
    "BankReader",
    "BuiltFact",
    "Call",
    "CallRecord",
    "CallStore",
    "Clock",
    "FactBuilder",
    "Judge",
    "Limits",
    "Method",
    "Model",
    "ModelRequest",
    "Parameter",
    "PayloadType",
    "Recorder",
    "Revises",
    "Row",
    "Sifter",
    "Ticket",
    "TokenCounter",
]


# ---------------------------------------------------------------- asking a model


class Call(Protocol):
    """One request to the run's respondent, as a method's ``ask`` sees it.

    Cached, limited, retried and recorded by whoever hands it in. ``step`` names the request
    within its item. Raises CallFailed when no reply came; let it pass.
    """

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply: ...


class ModelRequest(Struct, frozen=True, gc=False, kw_only=True):
    """What one call asks of a model.

    ``settings`` are those that should reach the model; ``prompt_hash`` is the SHA-256 of the
    canonical JSON of ``messages`` (``prompt``). ``draw_key`` fixes a simulated respondent's
    draws; ``oracle`` is for it alone. Neither reaches an endpoint or the hash.
    """

    messages: tuple[Message, ...]
    prompt: bytes
    prompt_hash: bytes
    settings: Mapping[str, Any] = {}
    sample: int = 0
    reask: int = 0
    replicate: str = ""
    purpose: Purpose = "ask"
    oracle: Oracle | None = None
    draw_key: str = ""


class Ticket(Struct, frozen=True, gc=False):
    """A request handed in. ``reference`` is the provider's name for it where it outlives the
    connection (a batch), else empty; then the row ``submitted`` is stored before collecting."""

    request: ModelRequest
    body: bytes = b""
    reference: str = ""


class Attempt(Struct, frozen=True, gc=False, kw_only=True):
    """What came of one attempt, before anything is decided about it.

    ``raw`` is the body as it came, kept before parsing. ``reply`` is None where none could be
    read; then ``error`` names the kind and ``detail`` quotes the scrubbed cause.
    """

    raw: bytes = b""
    status: int = 0
    reply: Reply | None = None
    error: str = ""
    detail: str = ""
    retry_after_s: float | None = None
    latency_s: float = 0.0


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """What a model takes, as far as somebody says: ``window`` tokens of prompt and reply together
    (of the prompt alone, where ``counts_reply`` is not), and whether it takes images."""

    window: int | None = None
    counts_reply: bool = True
    images: bool | None = None


class Model(Protocol):
    """A respondent behind one endpoint.

    ``submit`` hands a request in and ``collect`` takes its attempt out: one connection for an
    online endpoint, hours apart for a batch interface. Neither raises for what an endpoint does.
    """

    name: str
    simulated: bool
    wire: str
    endpoint: str
    served_as: str
    limits: Limits

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The settings that will be sent, and the names of those dropped."""

    async def submit(self, request: ModelRequest) -> Ticket: ...

    async def collect(self, ticket: Ticket) -> Attempt: ...

    async def close(self) -> None: ...


class CallRecord(Struct, frozen=True, gc=False, kw_only=True):
    """One row of the call table: a request and its kept attempt.

    ``attempt`` counts kept rows of one request hash from 0; ``attempts`` how many times the
    endpoint was tried for this row. ``cost_usd`` is None where no price is known.
    ``estimated_tokens`` is None where the endpoint said what it counted or billed nothing; else the
    most tokens that it may have billed, prompt and output, and ``cost_usd`` is an estimate too.
    """

    request_hash: bytes
    attempt: int = 0
    purpose: Purpose = "ask"
    model: str
    endpoint: str
    wire: str
    prompt_hash: bytes
    prompt: bytes = b""
    sample: int = 0
    settings_asked: Mapping[str, Any] = {}
    settings_sent: Mapping[str, Any] = {}
    settings_dropped: tuple[str, ...] = ()
    state: Literal["submitted", "complete", "failed"]
    simulated: bool = False
    error: str = ""
    detail: str = ""
    status: int = 0
    raw: bytes = b""
    usage: Usage = Usage()
    cost_usd: float | None = None
    estimated_tokens: int | None = None
    served_model: str = ""
    fingerprint: str = ""
    latency_s: float = 0.0
    attempts: int = 1
    started_at: float = 0.0
    reference: str = ""


class CallStore(Protocol):
    """The cache: complete calls by request hash."""

    def find_call(self, request_hash: bytes) -> tuple[int, CallRecord] | None:
        """The key and row of a complete call with this hash, or None."""

    def known_hashes(self, model: str) -> Container[bytes]:
        """The request hashes of this model's complete calls, as a quick filter: it may hold a
        hash that is not stored, and never lacks one that is."""

    def image(self, digest: bytes) -> bytes:
        """The bytes of an image that a prompt names. Raises NotFound."""

    def newest_served(self, model: str, endpoint: str) -> str:
        """The model that the newest complete call at this endpoint says answered it, or ""."""


class Clock(Protocol):
    """Time as an effect: seconds since the epoch, a monotonic count, and sleep."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Judge(Protocol):
    """A closed-label verdict on a text; recorded with its call. Comes with the judging engine."""

    async def __call__(self, question: str, labels: Sequence[str]) -> str: ...


# ---------------------------------------------------------------- reading knowledge


class BankReader(Protocol):
    """A bank as its composer reads it: facts in the order of their ids (the bank's own order)."""

    id: bytes
    name: str

    def facts(self) -> Sequence[Fact]: ...


class TokenCounter(Protocol):
    """Counts the tokens of texts; ``name`` says by which vocabulary."""

    name: str

    def __call__(self, text: str) -> int: ...


class BuiltFact(Struct, frozen=True, gc=False):
    """A fact as a builder yields it, with its source and the models that had a hand in it."""

    fact: Fact
    source: Source | None = None
    roles: tuple[Role, ...] = ()


class FactBuilder(Protocol):
    """Builds facts from inputs (fact tables, later passages): ``build KIND INPUT...``."""

    def __call__(
        self, inputs: Sequence[str], params: Mapping[str, Any], seed: int
    ) -> Iterable[BuiltFact]: ...


class Sifter(Protocol):
    """A method's filters over the rows of a file, before its facts are read."""

    def __call__(self, rows: Iterable[Row]) -> SiftedRows: ...


# ---------------------------------------------------------------- a method


class PayloadType(Struct, frozen=True, gc=False):
    """A payload struct with its schema version. Stored bytes of an older version go through
    ``upgrade(version, bytes)``; stored rows are never rewritten."""

    type: type[Struct]
    version: int = 1
    upgrade: Callable[[int, bytes], Struct] | None = None


class Parameter(Struct, frozen=True, gc=False, kw_only=True):
    """One parameter of a builder or composer: commands, help and checks are made from it.

    ``range`` is written LOW-HIGH or a single number and read as a pair of integers.
    """

    name: str
    kind: Literal["int", "float", "range", "flag", "choice", "text"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()


class Method(Protocol):
    """The shape everyone copies: one folder, one of these. See docs/methods.md.

    A kind of fact or item is named ``method.kind`` (``encyclo_k.statement``), so that the store
    finds the payload's type without importing any other method.
    """

    name: str
    title: str
    scorer_version: int
    payloads: Mapping[str, PayloadType]
    ways: Mapping[str, str]
    scales: Mapping[str, Scale]
    measures: tuple[Measure, ...]
    headline: str
    builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]]
    parameters: tuple[Parameter, ...]
    presets: Mapping[str, Preset]
    sift: Sifter | None

    def recipe(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, completed by defaults and checked, with the composer's version, as
        plain JSON values. Raises BadUsage naming every parameter that cannot be."""

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        """The items of one form, streamed. Raises BadInput where the bank cannot make them."""

    def read_facts(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        """Facts from the rows of a file, checked whole. Raises BadInput with every problem."""

    def write_fact(self, built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
        """The row from which ``read_facts`` makes this very fact again."""

    def read_items(self, rows: Iterable[Row]) -> Sequence[Item]:
        """Items from a form made elsewhere, checked whole. Raises BadInput with every problem."""

    def write_item(self, item: LoadedItem) -> dict[str, Any]:
        """The row of an item with its texts, for export; ``read_items`` takes it back."""

    def settings(self, way: str) -> dict[str, Any]:
        """Default settings of a way of asking (``max_tokens``, ``temperature``)."""

    def prepare(self, way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
        """A way of asking, ready to use. Raises BadUsage for an unknown way, or for shots that
        cannot be made."""

    async def ask(self, item: LoadedItem, way: Way, call: Call) -> None:
        """Asks one item: any number of calls, each with a step name, ending with
        ``way.last_step``. Replies are kept by the caller."""

    def units(self, item: LoadedItem, replies: Mapping[str, Reply], sample: int) -> Sequence[Unit]:
        """What is scored of one item's replies (by step) in one sample."""

    async def score(self, units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
        """One score or more a unit; Score.unit is the place in ``units``."""

    def gold(self, unit: Unit) -> tuple[str, int]:
        """The right label of a unit and the number of its choices ("" and 0 where it has none)."""

    def show(self, item: LoadedItem) -> str:
        """The item as a person reads it, its answer marked."""

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        """Tables that describe a bank, its facts read once; none where there is nothing to say."""

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        """Tables that describe a form, its items read once; none where there is nothing to say."""


@runtime_checkable
class Revises(Protocol):
    """What a method may have besides, so that people can ``edit`` its facts and items.

    Fields are named as in files. What comes back is new versions that name the old ones
    (``corrects``), with their ids; nothing is stored here.
    """

    def fact_fields(self, fact: BuiltFact) -> dict[str, Any]:
        """What of a fact can be changed, with its present values."""

    def revise_fact(
        self, fact: BuiltFact, changes: Mapping[str, Any], naming: Sequence[BuiltFact]
    ) -> Sequence[BuiltFact]:
        """The fact with ``changes`` (None takes a field away), then those that name it, made to
        name the new version. Raises BadInput with every problem."""

    def naming(self, fact: Fact, facts: Iterable[Fact]) -> Sequence[Fact]:
        """Those of ``facts`` that name this one and are made anew when it changes."""

    def item_fields(self, item: LoadedItem) -> dict[str, Any]:
        """What of an item can be changed, with its present values."""

    def revise_item(self, item: LoadedItem, changes: Mapping[str, Any]) -> Item:
        """The item with ``changes``. Raises BadInput with every problem."""

    def rest_anew(self, item: LoadedItem, facts: Mapping[bytes, Fact]) -> Item:
        """The item on new versions of its facts (old id -> new fact), its answer made right
        again. Raises BadInput where it has none any more."""


Recorder = Callable[[CallRecord], Awaitable[None]]
