"""Define a method: one record of data and functions, with optional capabilities.

See docs/tutorials/write-a-method.md. Methods are found by name: folders of ``proofstone.methods``,
and entry points of other packages.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
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
    ContextName,
    Item,
    ItemSet,
    LoadedItem,
    OwnPrompt,
    Preset,
    PromptMethod,
    Unit,
)
from proofstone.records.knowledge import BankReader, BuiltFact, Fact, FactBuilder, Span
from proofstone.records.options import Parameter
from proofstone.records.reviews import AnswerPolicy, CheckedAnswer, Review, ReviewTask, ReviewText
from proofstone.records.runs import Measure, Response, Run, Scale, Score, VerifiedRun
from proofstone.records.tables import Library, PlacedRows, Row, Sifter, Tabulation


class PayloadType(Struct, frozen=True, gc=False):
    """Hold a payload struct with its schema version.

    Stored bytes of an older version are converted by ``upgrade(version, bytes)``; stored rows are
    never rewritten. ``called`` is the plural name of facts of this kind where it is not the
    method's ``facts_called``.
    """

    type: type[Struct]
    version: int = 1
    upgrade: Callable[[int, bytes], Struct] | None = None
    called: str = ""


class Later(Struct, frozen=True):
    """Defer loading of a part of a method: see ``later``."""

    given: str | Callable[[], Any]

    def load(self) -> Any:
        """Import the module and return the part."""
        if not isinstance(self.given, str):
            return self.given()
        module, _, name = self.given.partition(":")
        return getattr(importlib.import_module(module), name)


def later(given: str | Callable[[], Any]) -> Any:
    """Defer loading of a part, given by ``package.module:name`` or a factory, until first use.

    A stored row that only needs a payload's type then loads no pipeline.
    """
    return Later(given)


class _Parts:
    """Load deferred parts on first use."""

    def __getattribute__(self, name: str) -> Any:
        """Return the part of this name, loading it if it was deferred by ``later``."""
        held = object.__getattribute__(self, name)
        if isinstance(held, Later):
            held = held.load()
            object.__setattr__(self, name, held)
        return held


# Optional capabilities of a method; None if not available.


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Collect people's answers to questions, and compare them with stored answers.

    Annotators search for each answer. ``Reviewing.review_text`` then shows a question without its
    answer.
    """

    model_answers: Callable[[Fact], tuple[str, ...]]
    """The answer that a fact holds, and its aliases."""
    same_answer: Callable[[Fact, str, str], bool]
    """Whether two people gave the same answer, by the method's rule."""
    answer_policy: Callable[[Iterable[str], str], AnswerPolicy]
    """Evidence requirements of answers. The lines of a user's list, and its file name, change which
    sources are authoritative. Raises BadInput for a list that cannot be read.
    """
    check_answers: Callable[
        [Sequence[Fact], Iterable[Review], AnswerPolicy], Sequence[CheckedAnswer]
    ]
    """The state of each question, in order: a pure function of all reviews."""


class JudgedText(Struct, frozen=True):
    """Hold the judges' input as a reviewer sees it, with the ids of its passage and source.

    Ids are empty if there are none.
    """

    text: ReviewText
    passage: bytes
    source: bytes


class ComparedQuestion(Struct, frozen=True, kw_only=True):
    """Describe a judge question of a build that people also answer when asked for ``task``.

    ``labels`` are those of the judges, the one that keeps a row first. ``people`` maps a person's
    verdict to a label; other verdicts are ignored. ``takes`` is the type of the judged rows.
    ``judged`` returns the row's input to the question, None if it was not judged.
    """

    task: ReviewTask
    labels: tuple[str, ...]
    people: Mapping[str, str]
    takes: type[Struct]
    judged: Callable[[Any], JudgedText | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reviewing:
    """Support reviews of facts in review spreadsheets."""

    review_text: Callable[[Fact], ReviewText]
    """The fact for a reviewer, and the field for a new wording; ``text`` does not reveal the
    intended truth.
    """
    answers: Answers | None = None
    compared: Mapping[str, ComparedQuestion] = field(default_factory=dict)
    """Judge questions of builds that people also answer, by name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Editing:
    """Support ``edit`` of facts and items.

    Fields are named as in files. Results are new versions with ids that refer to the old ones
    (``corrects``); nothing is stored here.
    """

    fact_fields: Callable[[BuiltFact], dict[str, Any]]
    """Editable fields of a fact, with current values."""
    revise_fact: Callable[
        [
            BuiltFact,
            Mapping[str, Any],
            Sequence[BuiltFact],
            Mapping[bytes, Mapping[str, Any]] | None,
        ],
        Sequence[BuiltFact],
    ]
    """The fact with changes (None removes a field), then updated versions of those that refer to
    it, with their own changes by id. Raises BadInput with every problem.
    """
    naming: Callable[[Fact, Iterable[Fact]], Sequence[Fact]]
    """Facts that refer to this one and are rebuilt when it changes."""
    item_fields: Callable[[LoadedItem], dict[str, Any]]
    """Editable fields of an item, with current values."""
    revise_item: Callable[[LoadedItem, Mapping[str, Any]], Item]
    """The item with changes. Raises BadInput with every problem."""
    rest_anew: Callable[[LoadedItem, Mapping[bytes, Fact]], Item]
    """The item on new versions of its facts (old id -> new fact), with its answer key updated.
    Raises BadInput if no answer is left.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class FileGrades:
    """Grade responses in files: ``grade FILE``."""

    read_responses: Callable[[Iterable[Row]], Sequence[Unit]]
    """One unit per row: the question and the response. Raises BadInput with every problem."""
    graded_row: Callable[[Mapping[str, Any], Sequence[Score]], dict[str, Any]]
    """A row with its outcome by the scores of its unit; none if it waits for a judge."""
    item_columns: Callable[[LoadedItem], dict[str, Any]]
    """Fields of an item that its graded rows are grouped by, such as categories."""
    metrics_of: Callable[[Iterable[Row], Sequence[str], str], dict[str, Any]]
    """Measures of graded rows: ``overall``, and by the values of columns. With the name of a column
    of human grades, also the agreement with them. Raises BadInput with every invalid grade.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnPrompts:
    """Support users' prompt templates (``run --prompt-template FILE``).

    If ``prompt_method.own_prompt`` is set, ``Method.ask`` renders each question and few-shot
    example with it. Parsing and scoring of responses stay the same.
    """

    variables: Mapping[str, str]
    """Available variables by name, with descriptions. Plain values only, and nothing of the answer
    key.
    """
    check: Callable[[OwnPrompt, str, ItemSet], None]
    """Raises BadInput with every problem of a template, or if it lacks required variables of the
    set's items.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """Group scores by item properties other than strata, and rename strata.

    Measures with ``by_group`` are shown with the headline there.
    """

    names: tuple[str, ...]
    """Names of groupings (``answer type``) that ``groups_of`` returns."""
    level_names: Mapping[str, str]
    """Names of strata in this method: ``{"discipline": "primary category"}``."""
    groups_of: Callable[[LoadedItem], Mapping[str, str]]
    """The item's group in each grouping; empty if unknown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Results of people that are recorded with the items, shown below ranked models."""

    names: tuple[str, ...]
    """Names of the rows that ``results`` returns."""
    note: str
    """Where the results come from, and what follows from that."""
    results: Callable[[LoadedItem], Mapping[str, float]]
    """1 (correct) or 0 by row; empty if unknown."""


class Contrast(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a text of one of two kinds that must not be separable without knowledge.

    ``row`` is its fact or item, ``source`` the source of that.
    """

    text: str
    is_second: bool
    source: str
    row: bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class Contrasts:
    """Provide two kinds of texts of facts, and of items, for artifact checks.

    For example true and false statements, or correct and other options.
    """

    kinds: Mapping[Literal["fact", "item"], tuple[str, str]]
    """Names of the two kinds; the second is the one to detect."""
    of_facts: Callable[[Iterable[Fact]], Iterator[Contrast]]
    """The texts of facts; none if all are of one kind."""
    of_items: Callable[[Iterable[LoadedItem]], Iterator[Contrast]]
    """The texts of options in items."""


class RuleFinding(Struct, frozen=True, gc=False):
    """What a rule found in a question: its name, the place, what is there, and how to fix it."""

    rule: str
    where: str
    found: str
    fix: str


class RuleSubject(Struct, frozen=True, gc=False, kw_only=True):
    """A screened question: the id of its fact or item, its text for comparisons, the findings."""

    row: bytes
    text: str
    findings: tuple[RuleFinding, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemRules:
    """Screen questions by named rules: ``check BANK --rules``."""

    rules: Mapping[str, str]
    """What each rule requires, by name, in the order of the report."""
    lists: Mapping[str, tuple[str, ...]]
    """Lists of words and names that users may replace, by name."""
    of_facts: Callable[[Iterable[Fact], Mapping[str, tuple[str, ...]]], Iterator[RuleSubject]]
    """The questions among facts, screened with these lists."""
    of_items: Callable[[Iterable[LoadedItem], Mapping[str, tuple[str, ...]]], Iterator[RuleSubject]]
    """The questions of items, screened with these lists."""
    near: str = ""
    """The rule against near duplicates, which is checked over all questions; empty: none."""
    most_alike: float = 0.8
    """The cosine of two questions that breaks it."""


class ShownOptions(Struct, frozen=True):
    """Hold the options of a question as shown, and the places of the correct ones, ascending.

    ``several``: the question says that more than one may be correct.
    """

    options: tuple[str, ...]
    right: tuple[int, ...]
    several: bool = False


class ErrorLabel(Struct, frozen=True, kw_only=True):
    """A label of wrong responses, with its meaning as a clause by language.

    ``needs``: only offered for a response with readable reasoning, or with passages of a search.
    """

    name: str
    needs: Literal["", "reasoning", "passages"] = ""
    meanings: Mapping[str, str]


class ErrorLabels(Struct, frozen=True):
    """The labels of wrong responses, and the task of judges by language (``en``, ``zh``)."""

    task: Mapping[str, str]
    labels: tuple[ErrorLabel, ...]


def _never(_columns: Iterable[str]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True, eq=False)
class Verifying(_Parts):
    """Verify responses against a reference with judges, such as triples.

    Scorings, leaderboard and page are method-specific. ``session`` and ``store`` belong to an
    open workspace.
    """

    called: str
    """The verified unit, in the singular."""
    settings: type[Struct]
    """Sampling settings; fields with an ``Opt`` are options of ``score``."""
    verify: Callable[..., Sequence[VerifiedRun]]
    """``(session, runs, *, judge, reference, settings, again, max_connections, cache, budget,
    watch, on_interrupt)``: the result for each run. Raises a judge's error after all its verdicts
    were stored.
    """
    forecast: Callable[..., Any]
    """The same as an estimate without API calls: ``(session, runs, *, judge, reference, settings,
    again, max_connections)``.
    """
    check_judged: Callable[[Run], None]
    """Raises BadUsage for a run that judges cannot verify without a reference."""

    has_reference: Callable[[Iterable[str]], bool]
    """Whether the columns are those of a reference, which ``read_facts`` reads."""
    reference_columns: str
    """These columns in words, for a file without them."""
    listed_in: Callable[[Row], int]
    """How many facts a row of a reference lists, including empty and repeated ones."""
    is_listed: Callable[[Fact], bool]
    """Whether a fact of a reference is a unit to verify; otherwise it is a text."""

    show_response: Callable[[LoadedItem, Mapping[str, Response]], str]
    """The parsed and the unparsed parts of an item's responses (by step), for display."""
    verdicts_shown: Callable[[Any, int, int, int], Iterable[str]]
    """``(store, run, item, sample)``, by keys: the verified units of a response, one text per
    scoring.
    """
    counts_shown: Callable[[Any, int], str]
    """``(store, scoring)``: the verdict counts of a scoring as one line; empty without any."""
    statistics: Callable[[Any, Any, Sequence[tuple[int, Run]]], Sequence[Tabulation]]
    """``(store, method, runs)``: tables of the elicited units of runs."""
    settings_shown: Callable[[bytes], Mapping[str, str]]
    """The settings of a stored scoring in words: ``judges``, ``reference`` and sampling
    (``drawn``).
    """
    said_rows: Callable[[Any, Any, Mapping[str, Any]], Iterable[dict[str, Any]]]
    """``(session, found, options)``: the elicited units of a run as rows (``export --what
    triples``).
    """
    verdict_rows: Callable[[Any, Any, Mapping[str, Any]], Iterable[dict[str, Any]]]
    """``(session, found, options)``: one row per verdict (``export --what verdicts``)."""

    ranked: Callable[[Sequence[Run]], frozenset[int]]
    """The places of runs (one per model setting) that a leaderboard ranks, one per model."""
    board: Callable[..., Any]
    """``(session, selection, **options)``: the leaderboard of verified units, None without any."""
    show_board: Callable[..., bool]
    """``(session, targets, shared, by, people, *, as_json)``: prints it. Returns False, and prints
    how to verify, if nothing is verified.
    """
    show_analysis: Callable[..., None]
    """``(session, analysis, forms, *, quiet)``: prints an analysis of verified units."""
    write_page: Callable[..., Any]
    """``(session, selection, path, beside, *, options, control, command)``: writes the page and
    returns the written files; None if nothing is verified.
    """
    compare: Callable[..., Any]
    """``(store, method, selection, before, after, view, *, confidence, seed)``: compares two runs
    by verified units; None if neither is verified.
    """

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
    """Describe how a benchmark is built, prompted and scored: one folder, one record.

    A kind of fact or item is named ``method.kind``, so the store finds the payload's type without
    importing other methods. Any part may be deferred by ``later``.
    """

    name: str
    title: str
    scorer_version: int
    payloads: Mapping[str, PayloadType]
    prompt_methods: Mapping[str, str]
    measures: tuple[Measure, ...]
    headline: str

    recipe: Callable[[Mapping[str, Any]], dict[str, Any]]
    """All parameters, checked, with defaults and the composer's version, as plain JSON values.
    Raises BadUsage with every invalid parameter.
    """
    compose: Callable[[BankReader, Mapping[str, Any], int], Iterator[Item]]
    """The items of one form of a bank, by recipe and seed, streamed. Raises BadInput if the bank is
    not suitable.
    """
    read_facts: Callable[[Iterable[Row]], Sequence[BuiltFact]]
    """Facts from the rows of a file, checked whole. Raises BadInput with every problem."""
    write_fact: Callable[[BuiltFact, Mapping[bytes, Fact]], dict[str, Any]]
    """The row of a fact; ``read_facts`` reads it back unchanged."""
    read_items: Callable[[Iterable[Row]], Sequence[Item]]
    """Items from an imported form, checked whole. Raises BadInput with every problem."""
    write_item: Callable[[LoadedItem], dict[str, Any]]
    """The row of an item with its texts, for export; ``read_items`` reads it back."""
    settings: Callable[[str], dict[str, Any]]
    """Default settings of a prompting method (``max_tokens``, ``temperature``)."""
    prepare: Callable[[str, int, ItemSet, BankReader | None], PromptMethod]
    """A prompting method with its few-shot examples, ready to use. Raises BadUsage for an unknown
    one, one that these items do not fit, or if the examples cannot be made.
    """
    ask: Callable[[LoadedItem, PromptMethod, Call], Coroutine[Any, Any, None]]
    """Prompts for one item: any number of calls, each with a step name, ending with
    ``prompt_method.last_step``. The caller stores responses.
    """
    units: Callable[[LoadedItem, Mapping[str, Response], int], Sequence[Unit]]
    """The scored units of one item's responses (by step) in one sample."""
    score: Callable[[Sequence[Unit], Judge | None], Coroutine[Any, Any, Sequence[Score]]]
    """One score or more per unit; Score.unit is the unit's place. A unit that needs a judge has
    none if no judge responded.
    """
    answer_key: Callable[[Unit], tuple[str, int]]
    """The answer key of a unit and its number of choices ("" and 0 if it has none)."""
    show: Callable[[LoadedItem], str]
    """The item for display, its answer marked."""
    fact_statistics: Callable[[Iterable[Fact], TokenCounter], Sequence[Tabulation]] = _no_tables
    """Tables that describe a bank, its facts read once; empty if not available."""
    item_statistics: Callable[[Iterable[LoadedItem], TokenCounter], Sequence[Tabulation]] = (
        _no_tables
    )
    """Tables that describe a form, its items read once; empty if not available."""

    parameters: tuple[Parameter, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    presets: Mapping[str, Preset] = field(default_factory=dict)
    builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]] = field(default_factory=dict)
    pipelines: Mapping[str, StepBuilder] = field(default_factory=dict)
    """Facts built in steps (``build KIND``), with models or without."""
    sift: Sifter | None = None

    sections: Sequence[Callable[[Any], Any]] = ()
    """Method-specific page sections: each takes the page's evidence, and returns a section or None.
    """
    analyses: Mapping[str, str] = field(default_factory=dict)
    """Method-specific analyses (``report --analysis``), by name, with a description."""
    make_analysis: Callable[..., Any] | None = None
    """``(session, name, selection, view, *, population, confidence)``: one of ``analyses``. Raises
    BadUsage for unsuitable runs.
    """

    games: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Payment schemes of the publication as games (``review incentives``), by name."""

    commands: Mapping[str, Any] = field(default_factory=dict)
    """Click commands of another package's method, by command name."""

    items_called: str = "questions"
    """Plural name of its items, for listing and importing sets."""
    facts_called: str = "questions"
    """Plural name of its facts, for importing banks."""
    bank_run: str | None = None
    """Options that ``run BANK`` needs in addition to the model, if the method's questions are its
    facts unchanged. A bank without a form then gets the form of seed 0. Otherwise None.
    """
    ranges: Sequence[str] = ()
    """Response sizes to request (``run --range``), the default first. A prompting method with a
    range is named ``PROMPT_METHOD@RANGE``.
    """
    recognises: Callable[[Iterable[str]], bool] = _never
    """Whether the columns are those of items that ``read_items`` reads, so that ``run`` accepts the
    file. At most one installed method may accept a file.
    """
    recognises_facts: Callable[[Iterable[str]], bool] = _never
    """The same for facts that ``read_facts`` reads, for ``import --as bank``."""
    query: Callable[[LoadedItem], str] | None = None
    """The search query of an item (``run --context retrieved``): no instructions, and nothing that
    its prompt does not show.
    """

    web_query: Callable[[LoadedItem], str] | None = None
    """The query of an item for a search of the web, where it differs from ``query``."""

    usual_context: ContextName = "none"
    """The context of a run that names none (``--context``)."""
    place_evidence: Callable[[Iterable[Row], Library], PlacedRows] | None = None
    """Completes rows for ``read_facts`` with their documents and the places of their quotes.
    Problems and warnings are returned, not raised.
    """
    evidence: Callable[[Fact], Sequence[Span]] | None = None
    """The parts of a source that a fact depends on, in reading order. None: its whole passage."""

    options_shown: Callable[[LoadedItem], ShownOptions | None] | None = None
    """The options of a question to choose from; None for an item without any."""
    error_labels: ErrorLabels | None = None
    """Labels of wrong responses to these questions (``report --analysis errors``)."""

    grouping: Grouping | None = None
    people: People | None = None
    reviewing: Reviewing | None = None
    editing: Editing | None = None
    contrasts: Contrasts | None = None
    rules: ItemRules | None = None
    grading_files: FileGrades | None = None
    prompts: OwnPrompts | None = None
    verifying: Verifying | None = None


# The registry: methods by name.

GROUP = "proofstone.methods"
_BUNDLED = "proofstone.methods"

USUAL_METHOD = "encyclo_k"  # for files whose columns match no method


def method_names() -> list[str]:
    """Return the names of all installed methods in alphabetical order, without importing them."""
    return sorted({*bundled_names(), *_entry_points()})


def bundled_names() -> list[str]:
    """Return the names of the methods of this package."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(importlib.import_module(_BUNDLED).__path__)
        if module.ispkg
    )


def every_method() -> Iterator[Method]:
    """Import and return all installed methods."""
    yield from map(find_method, method_names())


def outside_methods() -> Iterator[Method]:
    """Import and return the methods of other packages."""
    yield from map(find_method, sorted(_entry_points()))


@cache
def find_method(name: str) -> Method:
    """Import and return the method of this name. Raises NotFound if there is none."""
    outside = _entry_points().get(name)
    if outside is not None:
        method: Method = outside.load()
    elif name in method_names():
        method = importlib.import_module(f"{_BUNDLED}.{name}.method").METHOD
    else:
        raise NotFound(
            f"unknown method {name!r}", hint=f"expected one of: {', '.join(method_names())}"
        )
    return method


def find_payload(kind: str) -> PayloadType:
    """Return the type of a payload kind (``method.kind``) from its method."""
    method = find_method(kind.partition(".")[0])
    if kind not in method.payloads:
        raise NotFound(
            f"method {method.name} has no payload {kind!r}",
            hint="the row was written by another version of the method",
        )
    return method.payloads[kind]


def name_facts(kinds: Iterable[str]) -> str:
    """Return the plural name of facts of these kinds; "facts" where they have none in common."""
    names = {
        find_payload(kind).called or find_method(kind.partition(".")[0]).facts_called
        for kind in kinds
    }
    return names.pop() if len(names) == 1 else "facts"


def find_preset(method: Method, name: str) -> Preset:
    """Return the method's preset of this name. Raises NotFound with the available ones."""
    if name not in method.presets:
        known = ", ".join(method.presets) or "none"
        raise NotFound(f"{method.name} has no preset {name!r}", hint=f"there is: {known}")
    return method.presets[name]


class Asked(Struct, frozen=True):
    """Hold a command's parameters and the roles of its models."""

    parameters: tuple[Parameter, ...]
    roles: Mapping[str, ModelRole] = {}


def read_asked(package: str, name: str) -> Asked:
    """Read the parameters and roles of ``NAME.toml`` in a method's folder."""
    return msgspec.toml.decode(
        resources.files(package).joinpath(f"{name}.toml").read_bytes(), type=Asked
    )


@cache
def read_defaults(package: str) -> dict[str, Any]:
    """Read the tables of ``defaults.toml`` in a method's folder."""
    return tomllib.loads(resources.files(package).joinpath("defaults.toml").read_text("utf-8"))


def check_prompt_method(prompt_method: str, prompt_methods: Mapping[str, str]) -> None:
    """Raise BadUsage for an unknown prompting method."""
    if prompt_method not in prompt_methods:
        raise BadUsage(
            f"unknown prompting method {prompt_method!r}",
            hint=f"choose from: {', '.join(prompt_methods)}",
        )


def read_presets(package: str, shared: str = "") -> dict[str, Preset]:
    """Read the presets of ``presets.toml`` in a method's folder, by name.

    Each has its own choices and those of the table ``shared``, which is not a preset.
    """
    text = resources.files(package).joinpath("presets.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    more = tables.pop(shared, [])
    return {
        name: msgspec.convert(
            {**entry, "name": name, "choices": [*entry["choices"], *more]}, Preset
        )
        for name, entry in tables.items()
    }


def read_error_labels(package: str) -> ErrorLabels:
    """Read the labels of wrong responses of ``errors.toml`` in a method's folder."""
    tables = tomllib.loads(resources.files(package).joinpath("errors.toml").read_text("utf-8"))
    labels = tuple(
        ErrorLabel(name=each.pop("name"), needs=each.pop("needs"), meanings=each)
        for each in tables["labels"]
    )
    return ErrorLabels(tables["task"], labels)


def read_games(package: str) -> dict[str, Mapping[str, Any]]:
    """Read the games of ``games.toml`` in a method's folder, by name."""
    return tomllib.loads(resources.files(package).joinpath("games.toml").read_text("utf-8"))


def _entry_points() -> dict[str, EntryPoint]:
    return _entry_points_on(tuple(sys.path))


@cache
def _entry_points_on(_path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points that packages on this path declare, read once per path."""
    return {point.name: point for point in entry_points(group=GROUP)}
