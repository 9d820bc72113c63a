"""A method as stages see it, and what it may offer besides: see docs/methods.md."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from proofstone.errors import NotFound
from proofstone.records.banks import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.records.calls import Call, Judge
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt, Preset, Unit, Way
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import AnswerPolicy, CheckedAnswer, Review, ReviewTask, ReviewText
from proofstone.records.runs import Measure, Reply, Scale, Score
from proofstone.records.tables import Row, Tabulation
from proofstone.records.triples import EntityFacts, TripleText


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
        """One score or more a unit; Score.unit is the place in ``units``. A unit that only a judge
        can decide has none where there is no ``judge``, or where it was not heard."""

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
class AsksBanks(Protocol):
    """What a method may have besides, whose questions are its facts as they stand: a bank without
    a form is asked by the form of seed 0, which is made then. ``bank_run`` are the options that a
    run of it wants besides the model, as people type them."""

    bank_run: str


@runtime_checkable
class Queried(Protocol):
    """What a method may have besides, so that its items can be asked with what a search finds for
    them (``run --context retrieved``)."""

    def query(self, item: LoadedItem) -> str:
        """What an item asks, to search by: no instruction, and nothing that its prompt does not
        show."""


@runtime_checkable
class Revises(Protocol):
    """What a method may have besides, so that people can ``edit`` its facts and items.

    Fields are named as in files. What comes back is new versions that name the old ones
    (``corrects``), with their ids; nothing is stored here.
    """

    def fact_fields(self, fact: BuiltFact) -> dict[str, Any]:
        """What of a fact can be changed, with its present values."""

    def revise_fact(
        self,
        fact: BuiltFact,
        changes: Mapping[str, Any],
        naming: Sequence[BuiltFact],
        theirs: Mapping[bytes, Mapping[str, Any]] | None = None,
    ) -> Sequence[BuiltFact]:
        """The fact with ``changes`` (None takes a field away), then those that name it, made to
        name the new version, with the changes of ``theirs`` by their ids. Raises BadInput with
        every problem."""

    def naming(self, fact: Fact, facts: Iterable[Fact]) -> Sequence[Fact]:
        """Those of ``facts`` that name this one and are made anew when it changes."""

    def item_fields(self, item: LoadedItem) -> dict[str, Any]:
        """What of an item can be changed, with its present values."""

    def revise_item(self, item: LoadedItem, changes: Mapping[str, Any]) -> Item:
        """The item with ``changes``. Raises BadInput with every problem."""

    def rest_anew(self, item: LoadedItem, facts: Mapping[bytes, Fact]) -> Item:
        """The item on new versions of its facts (old id -> new fact), its answer made right
        again. Raises BadInput where it has none any more."""


@runtime_checkable
class TakesPrompts(Protocol):
    """What a method may have besides, so that people can ask by a prompt template of their own
    (``run --prompt FILE``). Its ``ask`` then puts each question by ``way.own_prompt`` where that is
    set, worked examples too; what it reads of replies, and how it scores them, stays the same.
    """

    prompt_variables: Mapping[str, str]
    """What a template may use: the name of each variable and what it holds. Plain values alone, and
    nothing of the right answer."""

    def check_prompt(self, prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
        """Raises BadInput with every problem of a template, or where it does not show all that a
        model must see of the set's items in this way."""


@runtime_checkable
class ReadsQuestions(Protocol):
    """What a method may have besides, so that ``run`` takes a file of its questions."""

    def recognises(self, columns: Iterable[str]) -> bool:
        """Whether a file with these columns holds items that ``read_items`` reads. Of the methods
        that there are, at most one may say so of a file."""


@runtime_checkable
class ReadsFacts(Protocol):
    """What a method may have besides, so that ``import --as bank`` knows a file of its facts."""

    def recognises_facts(self, columns: Iterable[str]) -> bool:
        """Whether a file with these columns holds facts that ``read_facts`` reads. Of the methods
        that there are, at most one may say so of a file."""


@runtime_checkable
class GroupsItems(Protocol):
    """What a method may have besides, so that its scores are shown by groups of items that are no
    strata, and its strata by names of its own. Measures with ``by_group`` stand beside the headline
    there.
    """

    groupings: tuple[str, ...]
    """Names of groupings (``answer type``) that ``groups_of`` tells."""
    level_names: Mapping[str, str]
    """What strata are called here: ``{"discipline": "primary category"}``."""

    def groups_of(self, item: LoadedItem) -> Mapping[str, str]:
        """An item's group in each of ``groupings``; empty where nobody said."""


@runtime_checkable
class GradesFiles(Protocol):
    """What a method may have besides, so that replies and grades of other people's files can be
    read: ``grade FILE`` and ``metrics FILE``."""

    def read_replies(self, rows: Iterable[Row]) -> Sequence[Unit]:
        """A unit a row: what was asked, and the reply. Raises BadInput with every problem."""

    def graded_row(self, values: Mapping[str, Any], scores: Sequence[Score]) -> dict[str, Any]:
        """A row with what became of its reply, by the scores of its unit; none where it waits for
        a judge."""

    def item_columns(self, item: LoadedItem) -> dict[str, Any]:
        """What of an item its graded rows are counted by: categories and the like."""

    def metrics_of(
        self, rows: Iterable[Row], by: Sequence[str], against: str = ""
    ) -> dict[str, Any]:
        """The measures of rows that have a grade: ``overall``, and ``by`` the values of columns;
        with ``against`` also how far the grades agree with those of that column, which people
        gave. Raises BadInput with every grade that is none."""


GROUP = "proofstone.methods"
_CARRIED = "proofstone.methods"


def method_names() -> list[str]:
    """The names of all methods that are installed, in alphabetical order; imports none."""
    return sorted({*carried_names(), *_entry_points()})


def carried_names() -> list[str]:
    """The names of the methods of this package."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(importlib.import_module(_CARRIED).__path__)
        if module.ispkg
    )


@cache
def find_method(name: str) -> Method:
    """The method of this name, imported now. Raises NotFound where there is none."""
    outside = _entry_points().get(name)
    if outside is not None:
        method: Method = outside.load()
    elif name in method_names():
        method = importlib.import_module(f"{_CARRIED}.{name}.method").METHOD
    else:
        raise NotFound(
            f"no method is named {name!r}", hint=f"there is: {', '.join(method_names())}"
        )
    return method


def find_payload(kind: str) -> PayloadType:
    """The type of a payload kind (``method.kind``), from the method that it names."""
    method = find_method(kind.partition(".")[0])
    if kind not in method.payloads:
        raise NotFound(
            f"method {method.name} has no payload {kind!r}",
            hint="the row was written by another version of the method",
        )
    return method.payloads[kind]


def find_preset(method: Method, name: str) -> Preset:
    """The method's preset of this name. Raises NotFound with those there are."""
    if name not in method.presets:
        known = ", ".join(method.presets) or "none"
        raise NotFound(f"{method.name} has no preset {name!r}", hint=f"there is: {known}")
    return method.presets[name]


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


# What a method may have besides whose items are entities, and whose replies hold triples; and what
# its items and facts are called.


@runtime_checkable
class NamesItems(Protocol):
    """What a method may have besides: what its items are called where they are no questions."""

    items_called: str
    """In the plural: ``entities``. Sets of these are listed and imported as such."""


@runtime_checkable
class NamesFacts(Protocol):
    """What a method may have besides: what its facts are called, where its items are called
    otherwise."""

    facts_called: str
    """In the plural: ``statements``. Banks of these are imported as such."""


@runtime_checkable
class CountsTriples(Protocol):
    """What a method may have besides whose banks hold triples and texts: what a file states, to be
    held against what was stored of it."""

    def triples_in(self, row: Row) -> int:
        """How many triples a row of a reference lists, empty and repeated ones among them."""

    def is_triple(self, fact: Fact) -> bool:
        """Whether a fact of a reference is a triple; else it is a text."""


@runtime_checkable
class TakesRanges(Protocol):
    """What a method may have besides: how much a reply is asked for (``run --range``)."""

    ranges: Sequence[str]
    """The names there are, the default first. A way with a range is named ``WAY@RANGE``."""


@runtime_checkable
class Elicits(Protocol):
    """What a method may have besides, whose replies hold triples."""

    def show_reply(self, item: LoadedItem, replies: Mapping[str, Reply]) -> str:
        """What was read of an item's replies (by step), and what was left, as people read it."""

    def triple_rows(
        self, item: LoadedItem, replies: Mapping[str, Reply]
    ) -> Sequence[dict[str, Any]]:
        """A row a triple: subject, predicate, object, subject_name, and where it stands."""


@runtime_checkable
class Verifies(Protocol):
    """What a method may have besides, whose triples are verified against a reference."""

    def triple_text(self, entity: str, payload: Any) -> TripleText:
        """What a unit's payload says of the entity of this name."""

    def entity_facts(self, item: LoadedItem) -> EntityFacts:
        """What is known of an entity that was asked about."""


# What a method may have besides, so that people can review its facts in sheets, and so that they
# and the judges of its builds can be compared.


@runtime_checkable
class Reviews(Protocol):
    """What a reviewer is shown of a fact, and which field a new wording goes into."""

    def review_text(self, fact: Fact) -> ReviewText:
        """The fact as a reviewer reads it; nothing of what it is meant to be stands in ``text``."""


@runtime_checkable
class ReviewsAnswers(Reviews, Protocol):
    """A method whose questions people answer by searching; their answers are set against those that
    its facts hold. ``review_text`` shows a question and nothing of an answer."""

    def model_answers(self, fact: Fact) -> tuple[str, ...]:
        """The answer that a fact holds, and other ways to say that very answer."""

    def same_answer(self, fact: Fact, first: str, second: str) -> bool:
        """Whether two people gave one answer, by the method's rule of sameness."""

    def answer_policy(self, lines: Iterable[str] = (), name: str = "") -> AnswerPolicy:
        """What answers must rest on; ``lines`` of a person's own list, the file ``name``, change
        which sources are authoritative. Raises BadInput for a list that cannot be read."""

    def check_answers(
        self, facts: Sequence[Fact], reviews: Iterable[Review], policy: AnswerPolicy
    ) -> Sequence[CheckedAnswer]:
        """Where each question stands, in their order: pure, and of all reviews."""


class JudgedText(Struct, frozen=True):
    """What judges had before them, as a reviewer would be shown the fact that it became; with the
    ids of its passage and source, empty where there is none."""

    text: ReviewText
    passage: bytes
    source: bytes


class ComparedQuestion(Struct, frozen=True, kw_only=True):
    """A question to the judges of a build that people answer too when asked for ``task``.

    ``labels`` are those of the judges, the one that keeps a row first. ``people`` gives the label
    that a verdict of a person amounts to; verdicts that it lacks say nothing here. ``takes`` is the
    type of the rows that were judged, ``judged`` what of such a row the question was about, None
    where it was not asked.
    """

    task: ReviewTask
    labels: tuple[str, ...]
    people: Mapping[str, str]
    takes: type[Struct]
    judged: Callable[[Any], JudgedText | None]


@runtime_checkable
class JudgesCompared(Protocol):
    """A method that says which questions to its judges are also put to people, by name."""

    compared: Mapping[str, ComparedQuestion]


# What a method may have besides, so that its facts and items can be checked for give-aways.


class Contrast(Struct, frozen=True, gc=False, kw_only=True):
    """A text of one of two kinds that nobody should tell apart without knowledge: ``row`` is the
    fact or item it stands in, ``source`` what it was taken from."""

    text: str
    is_second: bool
    source: str
    row: bytes


@runtime_checkable
class Contrasts(Protocol):
    """Two kinds of texts of facts, and of items: true and falsified statements, right and other
    options. ``kinds`` names them, the second being what a model is to find out."""

    kinds: Mapping[Literal["fact", "item"], tuple[str, str]]

    def fact_contrasts(self, facts: Iterable[Fact]) -> Iterator[Contrast]:
        """The texts of facts; none where they are all of one nature."""

    def item_contrasts(self, items: Iterable[LoadedItem]) -> Iterator[Contrast]:
        """The texts that items offer for choice."""
