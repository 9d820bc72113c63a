"""A method as everything else sees it: one record of data and functions, with named capabilities.

See docs/methods.md. Methods are found by name: the folders of ``proofstone.methods``, and entry
points of other packages.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage, NotFound
from proofstone.records.builds import ModelRole, StepBuilder
from proofstone.records.calls import Call, Judge, TokenCounter
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    OwnPrompt,
    Preset,
    PromptMethod,
    Unit,
)
from proofstone.records.knowledge import BankReader, BuiltFact, Fact, FactBuilder
from proofstone.records.options import Parameter
from proofstone.records.reviews import AnswerPolicy, CheckedAnswer, Review, ReviewTask, ReviewText
from proofstone.records.runs import Measure, Response, Run, Scale, Score, VerifiedRun
from proofstone.records.tables import Row, Sifter, Tabulation


class PayloadType(Struct, frozen=True, gc=False):
    """A payload struct with its schema version. Stored bytes of an older version go through
    ``upgrade(version, bytes)``; stored rows are never rewritten."""

    type: type[Struct]
    version: int = 1
    upgrade: Callable[[int, bytes], Struct] | None = None


class Later(Struct, frozen=True):
    """A part of a method that is not loaded yet: see ``later``."""

    given: str | Callable[[], Any]

    def load(self) -> Any:
        """The part, its module imported now."""
        if not isinstance(self.given, str):
            return self.given()
        module, _, name = self.given.partition(":")
        return getattr(importlib.import_module(module), name)


def later(given: str | Callable[[], Any]) -> Any:
    """A part of a method by where it stands (``package.module:name``) or by what makes it, loaded
    when it is first asked for: a stored row that only needs a payload's type loads no pipeline."""
    return Later(given)


class _Parts:
    """Loads what was given by ``later`` when it is first asked for."""

    def __getattribute__(self, name: str) -> Any:
        """The part of this name, loaded where it was given by ``later``."""
        held = object.__getattribute__(self, name)
        if isinstance(held, Later):
            held = held.load()
            object.__setattr__(self, name, held)
        return held


# What a method may offer besides; None where it does not.


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Questions that people answer by searching; their answers are set against those that facts
    hold. ``Reviewing.review_text`` then shows a question and nothing of an answer."""

    model_answers: Callable[[Fact], tuple[str, ...]]
    """The answer that a fact holds, and other ways to say that very answer."""
    same_answer: Callable[[Fact, str, str], bool]
    """Whether two people gave one answer, by the method's rule of sameness."""
    answer_policy: Callable[[Iterable[str], str], AnswerPolicy]
    """What answers must rest on; the lines of a person's own list, and the name of its file, change
    which sources are authoritative. Raises BadInput for a list that cannot be read."""
    check_answers: Callable[
        [Sequence[Fact], Iterable[Review], AnswerPolicy], Sequence[CheckedAnswer]
    ]
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Reviewing:
    """Facts that people can review in sheets."""

    review_text: Callable[[Fact], ReviewText]
    """The fact as a reviewer reads it, and which field a new wording goes into; nothing of what it
    is meant to be stands in ``text``."""
    answers: Answers | None = None
    compared: Mapping[str, ComparedQuestion] = field(default_factory=dict)
    """The questions to judges of builds that are also put to people, by name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Editing:
    """Facts and items that people can ``edit``. Fields are named as in files. What comes back is
    new versions that name the old ones (``corrects``), with their ids; nothing is stored here."""

    fact_fields: Callable[[BuiltFact], dict[str, Any]]
    """What of a fact can be changed, with its present values."""
    revise_fact: Callable[
        [
            BuiltFact,
            Mapping[str, Any],
            Sequence[BuiltFact],
            Mapping[bytes, Mapping[str, Any]] | None,
        ],
        Sequence[BuiltFact],
    ]
    """The fact with changes (None takes a field away), then those that name it, made to name the
    new version, with their own changes by their ids. Raises BadInput with every problem."""
    naming: Callable[[Fact, Iterable[Fact]], Sequence[Fact]]
    """Those of the facts that name this one and are made anew when it changes."""
    item_fields: Callable[[LoadedItem], dict[str, Any]]
    """What of an item can be changed, with its present values."""
    revise_item: Callable[[LoadedItem, Mapping[str, Any]], Item]
    """The item with changes. Raises BadInput with every problem."""
    rest_anew: Callable[[LoadedItem, Mapping[bytes, Fact]], Item]
    """The item on new versions of its facts (old id -> new fact), its answer made right again.
    Raises BadInput where it has none any more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FileGrades:
    """Responses and grades in files: ``grade FILE``."""

    read_responses: Callable[[Iterable[Row]], Sequence[Unit]]
    """A unit a row: what was asked, and the reply. Raises BadInput with every problem."""
    graded_row: Callable[[Mapping[str, Any], Sequence[Score]], dict[str, Any]]
    """A row with what became of its reply, by the scores of its unit; none where it waits for a
    judge."""
    item_columns: Callable[[LoadedItem], dict[str, Any]]
    """What of an item its graded rows are counted by: categories and the like."""
    metrics_of: Callable[[Iterable[Row], Sequence[str], str], dict[str, Any]]
    """The measures of rows that have a grade: ``overall``, and by the values of columns; with the
    name of a column of grades that people gave also how far the grades agree with those. Raises
    BadInput with every grade that is none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnPrompts:
    """Prompt templates of people's own (``run --prompt-template FILE``). ``Method.ask`` then puts
    each question by ``prompt_method.own_prompt`` where that is set, worked examples too; what it
    reads of replies, and how it scores them, stays the same."""

    variables: Mapping[str, str]
    """What a template may use: the name of each variable and what it holds. Plain values alone, and
    nothing of the right answer."""
    check: Callable[[OwnPrompt, str, ItemSet], None]
    """Raises BadInput with every problem of a template, or where it does not show all that a model
    must see of the set's items in this way."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """Scores shown by groups of items that are no strata, and strata by names of their own.
    Measures with ``by_group`` stand beside the headline there."""

    names: tuple[str, ...]
    """Names of groupings (``answer type``) that ``groups_of`` tells."""
    level_names: Mapping[str, str]
    """What strata are called here: ``{"discipline": "primary category"}``."""
    groups_of: Callable[[LoadedItem], Mapping[str, str]]
    """An item's group in each grouping; empty where nobody said."""


class Contrast(Struct, frozen=True, gc=False, kw_only=True):
    """A text of one of two kinds that nobody should tell apart without knowledge: ``row`` is the
    fact or item it stands in, ``source`` what it was taken from."""

    text: str
    is_second: bool
    source: str
    row: bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class Contrasts:
    """Two kinds of texts of facts, and of items, to be checked for give-aways: true and falsified
    statements, right and other options."""

    kinds: Mapping[Literal["fact", "item"], tuple[str, str]]
    """What the two are called, the second being what a model is to find out."""
    of_facts: Callable[[Iterable[Fact]], Iterator[Contrast]]
    """The texts of facts; none where they are all of one nature."""
    of_items: Callable[[Iterable[LoadedItem]], Iterator[Contrast]]
    """The texts that items offer for choice."""


def _never(_columns: Iterable[str]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True, eq=False)
class Verifying(_Parts):
    """Replies that hold what judges verify against a reference, such as triples: a scoring of its
    own kind, with a leaderboard and a page of its own. ``session`` and ``store`` are those of an
    open workspace."""

    called: str
    """What is verified, in the singular."""
    settings: type[Struct]
    """How a sample is drawn; its fields with an ``Opt`` are options of ``score``."""
    verify: Callable[..., Sequence[VerifiedRun]]
    """``(session, runs, *, judge, reference, settings, again, max_connections, cache, budget,
    watch, on_interrupt)``: what became of each run. Raises what stopped a judge once all that it
    said is kept."""
    forecast: Callable[..., Any]
    """The same without asking anybody: ``(session, runs, *, judge, reference, settings, again,
    max_connections)``."""
    check_judged: Callable[[Run], None]
    """Raises BadUsage for a run of which judges decide nothing without a reference."""

    has_reference: Callable[[Iterable[str]], bool]
    """Whether a file with these columns holds a reference, which ``read_facts`` reads."""
    reference_columns: str
    """Which those are, as people read it where a file has none."""
    listed_in: Callable[[Row], int]
    """How many a row of a reference lists, empty and repeated ones among them."""
    is_listed: Callable[[Fact], bool]
    """Whether a fact of a reference is one; else it is a text."""

    show_response: Callable[[LoadedItem, Mapping[str, Response]], str]
    """What was read of an item's replies (by step), and what was left, as people read it."""
    verdicts_shown: Callable[[Any, int, int, int], Iterable[str]]
    """``(store, run, item, sample)``, by keys: what was verified of a reply, a text a scoring."""
    counts_shown: Callable[[Any, int], str]
    """``(store, scoring)``: what a scoring came to, as one line; empty where it has nothing."""
    statistics: Callable[[Any, Any, Sequence[tuple[int, Run]]], Sequence[Tabulation]]
    """``(store, method, runs)``: tables of what runs said."""
    settings_shown: Callable[[bytes], Mapping[str, str]]
    """The settings of a stored scoring in words: its ``judges``, ``reference`` and how it was
    ``drawn``."""
    said_rows: Callable[[Any, Any, Mapping[str, Any]], Iterable[dict[str, Any]]]
    """``(session, found, options)``: what a run said, a row each (``export --what triples``)."""
    verdict_rows: Callable[[Any, Any, Mapping[str, Any]], Iterable[dict[str, Any]]]
    """``(session, found, options)``: a row a verdict (``export --what verdicts``)."""

    ranked: Callable[[Sequence[Run]], frozenset[int]]
    """The places of runs (one a setting of a model) that a leaderboard ranks, one a model."""
    board: Callable[..., Any]
    """``(session, selection, **options)``: the leaderboard of what was verified, None where nothing
    is."""
    show_board: Callable[..., bool]
    """``(session, targets, shared, by, people, *, as_json)``: prints it; False, and how to verify,
    where nothing is."""
    show_analysis: Callable[..., None]
    """``(session, analysis, forms, *, quiet)``: prints a study of what was verified."""
    write_page: Callable[..., Any]
    """``(session, selection, path, beside, *, options, control, command)``: what was written of its
    page; None where nothing is verified."""
    compare: Callable[..., Any]
    """``(store, method, selection, before, after, view, *, confidence, seed)``: two runs, by what
    was verified of them; None where neither is."""

    recognizes_file: Callable[[Iterable[str]], bool] = _never
    """Return True for columns of a file that ``grade FILE`` verifies."""
    file_options: type[Struct] | None = None
    """Further options of ``grade FILE``; its fields carry an ``Opt``."""
    grade_file: Callable[..., int] | None = None
    """``(file, reference, *, settings, options, asked, call)``: verifies a file, prints the figures
    and returns the exit code (``run/cli_files.py``)."""


def _no_tables(_rows: Iterable[Any], _tokens: TokenCounter) -> Sequence[Tabulation]:
    return ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Method(_Parts):
    """How a benchmark is built, asked and scored: one folder, one of these.

    A kind of fact or item is named ``method.kind``, so that the store finds the payload's type
    without importing any other method. Any part may be given by ``later``.
    """

    name: str
    title: str
    scorer_version: int
    payloads: Mapping[str, PayloadType]
    prompt_methods: Mapping[str, str]
    measures: tuple[Measure, ...]
    headline: str

    recipe: Callable[[Mapping[str, Any]], dict[str, Any]]
    """All parameters, completed by defaults and checked, with the composer's version, as plain JSON
    values. Raises BadUsage naming every parameter that cannot be."""
    compose: Callable[[BankReader, Mapping[str, Any], int], Iterator[Item]]
    """The items of one form of a bank, by recipe and seed, streamed. Raises BadInput where the bank
    cannot make them."""
    read_facts: Callable[[Iterable[Row]], Sequence[BuiltFact]]
    """Facts from the rows of a file, checked whole. Raises BadInput with every problem."""
    write_fact: Callable[[BuiltFact, Mapping[bytes, Fact]], dict[str, Any]]
    """The row from which ``read_facts`` makes this very fact again."""
    read_items: Callable[[Iterable[Row]], Sequence[Item]]
    """Items from a form made elsewhere, checked whole. Raises BadInput with every problem."""
    write_item: Callable[[LoadedItem], dict[str, Any]]
    """The row of an item with its texts, for export; ``read_items`` takes it back."""
    settings: Callable[[str], dict[str, Any]]
    """Default settings of a way of asking (``max_tokens``, ``temperature``)."""
    prepare: Callable[[str, int, ItemSet, BankReader | None], PromptMethod]
    """A way of asking with so many shots, ready to use. Raises BadUsage for an unknown way, or for
    shots that cannot be made."""
    ask: Callable[[LoadedItem, PromptMethod, Call], Coroutine[Any, Any, None]]
    """Asks one item: any number of calls, each with a step name, ending with
    ``prompt_method.last_step``. Replies are kept by the caller."""
    units: Callable[[LoadedItem, Mapping[str, Response], int], Sequence[Unit]]
    """What is scored of one item's replies (by step) in one sample."""
    score: Callable[[Sequence[Unit], Judge | None], Coroutine[Any, Any, Sequence[Score]]]
    """One score or more a unit; Score.unit is the place in the units. A unit that only a judge can
    decide has none where there is no judge, or where it was not heard."""
    answer_key: Callable[[Unit], tuple[str, int]]
    """The right label of a unit and the number of its choices ("" and 0 where it has none)."""
    show: Callable[[LoadedItem], str]
    """The item as a person reads it, its answer marked."""
    fact_statistics: Callable[[Iterable[Fact], TokenCounter], Sequence[Tabulation]] = _no_tables
    """Tables that describe a bank, its facts read once; none where there is nothing to say."""
    item_statistics: Callable[[Iterable[LoadedItem], TokenCounter], Sequence[Tabulation]] = (
        _no_tables
    )
    """Tables that describe a form, its items read once; none where there is nothing to say."""

    parameters: tuple[Parameter, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    presets: Mapping[str, Preset] = field(default_factory=dict)
    builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]] = field(default_factory=dict)
    pipelines: Mapping[str, StepBuilder] = field(default_factory=dict)
    """Facts built in steps (``build KIND``), with models or without: docs/pipelines.md."""
    sift: Sifter | None = None

    sections: Sequence[Callable[[Any], Any]] = ()
    """Sections of its own on the page of its runs: each takes the page's evidence, and gives a
    section or None."""
    analyses: Mapping[str, str] = field(default_factory=dict)
    """Studies of its own (``report --analysis``), by name, with what each shows."""
    make_analysis: Callable[..., Any] | None = None
    """``(session, name, selection, view, *, population, confidence)``: one of ``analyses``. Raises
    BadUsage for runs that it cannot stand on."""

    commands: Mapping[str, Any] = field(default_factory=dict)
    """Click commands of a method of another package, by the names that users type."""

    items_called: str = "questions"
    """In the plural. Sets of these are listed and imported as such."""
    facts_called: str = "questions"
    """In the plural. Banks of these are imported as such."""
    bank_run: str | None = None
    """Of a method whose questions are its facts as they stand, the options that a run of a bank
    wants besides the model, as people type them: a bank without a form is then asked by the form of
    seed 0, which is made at once. Else None."""
    ranges: Sequence[str] = ()
    """How much a reply can be asked for (``run --range``), the default first. A way with a range is
    named ``PROMPT_METHOD@RANGE``."""
    recognises: Callable[[Iterable[str]], bool] = _never
    """Whether a file with these columns holds items that ``read_items`` reads, so that ``run``
    takes it. Of the methods that there are, at most one may say so of a file."""
    recognises_facts: Callable[[Iterable[str]], bool] = _never
    """The same of facts that ``read_facts`` reads, for ``import --as bank``."""
    query: Callable[[LoadedItem], str] | None = None
    """What an item asks, to search by (``run --context retrieved``): no instruction, and nothing
    that its prompt does not show."""

    grouping: Grouping | None = None
    reviewing: Reviewing | None = None
    editing: Editing | None = None
    contrasts: Contrasts | None = None
    grading_files: FileGrades | None = None
    prompts: OwnPrompts | None = None
    verifying: Verifying | None = None


# The registry: methods by name.

GROUP = "proofstone.methods"
_BUNDLED = "proofstone.methods"

USUAL_METHOD = "encyclo_k"  # of files that no method knows by their columns


def method_names() -> list[str]:
    """The names of all methods that are installed, in alphabetical order; imports none."""
    return sorted({*bundled_names(), *_entry_points()})


def bundled_names() -> list[str]:
    """The names of the methods of this package."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(importlib.import_module(_BUNDLED).__path__)
        if module.ispkg
    )


def every_method() -> Iterator[Method]:
    """All methods that are installed, imported now."""
    yield from map(find_method, method_names())


def outside_methods() -> Iterator[Method]:
    """The methods of other packages, imported now."""
    yield from map(find_method, sorted(_entry_points()))


@cache
def find_method(name: str) -> Method:
    """The method of this name, imported now. Raises NotFound where there is none."""
    outside = _entry_points().get(name)
    if outside is not None:
        method: Method = outside.load()
    elif name in method_names():
        method = importlib.import_module(f"{_BUNDLED}.{name}.method").METHOD
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


class Asked(Struct, frozen=True):
    """What a command takes besides its inputs, and the models that it asks, by their roles."""

    parameters: tuple[Parameter, ...]
    roles: Mapping[str, ModelRole] = {}


def read_asked(package: str, name: str) -> Asked:
    """The parameters and roles of ``NAME.toml`` in a folder of a method."""
    return msgspec.toml.decode(
        resources.files(package).joinpath(f"{name}.toml").read_bytes(), type=Asked
    )


@cache
def read_defaults(package: str) -> dict[str, Any]:
    """The tables of ``defaults.toml`` in a method's folder."""
    return tomllib.loads(resources.files(package).joinpath("defaults.toml").read_text("utf-8"))


def check_prompt_method(prompt_method: str, prompt_methods: Mapping[str, str]) -> None:
    """Raises BadUsage for a way of asking that is none of these."""
    if prompt_method not in prompt_methods:
        raise BadUsage(
            f"no way of asking is named {prompt_method!r}; there is {', '.join(prompt_methods)}"
        )


def read_presets(package: str, shared: str = "") -> dict[str, Preset]:
    """The presets of ``presets.toml`` in a method's folder, by name: each one's own choices, then
    those of the table ``shared``, which is no preset itself."""
    text = resources.files(package).joinpath("presets.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    more = tables.pop(shared, [])
    return {
        name: msgspec.convert(
            {**entry, "name": name, "choices": [*entry["choices"], *more]}, Preset
        )
        for name, entry in tables.items()
    }


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
