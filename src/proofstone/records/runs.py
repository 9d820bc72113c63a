"""Runs, calls, responses, scores and estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args

from msgspec import Struct, structs

from proofstone.records.ids import content_id
from proofstone.records.items import (
    CONTEXT_SETTINGS,
    LEFT_OUT,
    PROMPT,
    PROMPT_NAME,
    context_label,
    left_out_of,
    own_prompt_of,
)
from proofstone.records.options import Opt
from proofstone.records.verdicts import PanelVerdict

Outcome = Literal["answered", "refused", "unparsed", "truncated", "failed"]


OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


# The value of an outcome: the score's own, 1 minus it, a number, or none.
Worth: TypeAlias = Literal["value", "rest"] | float | None


# Run setting: the answer format (``regex:PATTERN`` or ``json:PATH``).
ANSWER_FORMAT = "answer_format"


# Run settings that are not model settings: samples, endpoint, template, context, and answer format.
OUR_SETTINGS = frozenset(
    {"samples", "shots", "endpoint", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS, ANSWER_FORMAT}
)


# Scores of this name are stated confidences from 0 to 1, not correctness.
STATED_CONFIDENCE = "confidence"


CallState = Literal["submitted", "complete", "failed"]


Purpose = Literal["ask", "judge", "build", "control"]


Finish = Literal["stop", "length", "content_filter", "tool_calls", "other", ""]


class Usage(Struct, frozen=True, gc=False):
    """Tokens as reported by the endpoint; None if not reported."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class Response(Struct, frozen=True, gc=False, kw_only=True):
    """A model's response to one call, parsed from its raw body.

    ``text`` is the response without its reasoning; ``reasoning`` the text of ``reasoning_content``
    or of a ``<think>`` block. ``thinking_unclosed``: a ``<think>`` block never ended, so ``text``
    is not an answer and is never parsed. ``mean_logprob`` is the mean natural-log probability of
    the completion's tokens, if the endpoint returned them. ``is_extracted``: ``text`` is what the
    set answer format matched in the response, empty without a match.

    ``latency_s`` is what the request took, 0 if that is not known.

    For a scored text ``token_logprobs`` has the natural-log probability of each token, and nothing
    was generated. ``next_tokens`` are the most probable first tokens with theirs, if listed.

    ``searches`` counts the queries of the provider's own web search, None where it is not reported;
    ``citations`` are the addresses that the text cites.
    """

    text: str
    finish: Finish = ""
    reasoning: str = ""
    thinking_unclosed: bool = False
    refusal: str = ""
    usage: Usage = Usage()
    model: str = ""
    fingerprint: str = ""
    mean_logprob: float | None = None
    is_extracted: bool = False
    latency_s: float = 0.0
    token_logprobs: tuple[float, ...] = ()
    next_tokens: tuple[tuple[str, float], ...] = ()
    searches: int | None = None
    citations: tuple[str, ...] = ()


class Run(Struct, frozen=True, gc=False, kw_only=True):
    """An item set run on one model with one prompting method and one group of settings.

    ``settings`` are the requested model settings (temperature, max_tokens, ...) with ``samples``,
    ``shots`` and the endpoint's identity. ``prompt_hash`` covers templates and few-shot examples.
    An (item, sample) is finished once it has a response at ``last_step``.
    """

    id: bytes = b""
    item_set: bytes
    method: str
    respondent: str
    prompt_method: str
    last_step: str = "answer"
    prompt_hash: bytes
    settings: dict[str, Any] = {}
    replicate: str = ""
    simulated: bool = False


def asked_as(run: Run) -> str:
    """Return a run's prompting method, marked if it uses a user's template or a context.

    Examples: ``direct, own prompt: mine.jinja (3f2a91bc)``, ``direct context=evidence``.
    """
    return _marked(run, [run.prompt_method, context_label(run.settings)])


def run_label(run: Run) -> str:
    """Return a run's model and prompting method, with what distinguishes it from the model's other
    runs.

    For example ``acme/large direct 3-shot thinking=on, own prompt: mine.jinja (3f2a91bc)``.
    """
    parts = [run.respondent, run.prompt_method]
    if run.settings.get("shots"):
        parts.append(f"{run.settings['shots']}-shot")
    if run.settings.get("thinking"):
        parts.append(f"thinking={run.settings['thinking']}")
    parts.append(context_label(run.settings))
    if run.replicate:
        parts.append(f"replicate={run.replicate}")
    return _marked(run, parts)


def values_kind(scale: Scale | None) -> str:
    """Return the kind of scale: two of one kind are comparable by item; "" is the items' own."""
    if scale is None:
        return ""
    return scale.name if scale.values_as is None else scale.values_as


def responses_wanted(run: Run, n_items: int) -> int:
    """Return how many (item, sample) pairs a run should finish of ``n_items``.

    Items that it leaves out do not count.
    """
    return (n_items - left_out_of(run.settings)) * int(run.settings.get("samples", 1))


def _marked(run: Run, parts: Sequence[str]) -> str:
    own = own_prompt_of(run.settings)
    return " ".join(filter(None, parts)) + (f", own prompt: {own}" if own else "")


def run_id(run: Run) -> bytes:
    """Return the id of a run: all its fields, so the same command has the same run.

    Of a prompt template only the hash counts, not its file name. The number of items without
    passages does not count.
    """
    key = [
        run.item_set,
        run.method,
        run.respondent,
        run.prompt_method,
        run.last_step,
        run.prompt_hash,
    ]
    said_only = (PROMPT_NAME, LEFT_OUT)
    settings = {name: value for name, value in run.settings.items() if name not in said_only}
    return content_id("run", [*key, settings, run.replicate])


def configuration_id(run: Run) -> bytes:
    """Return the id of a run's prompting method, prompts and settings.

    Two runs with the same id differ in their model or their items only.
    """
    not_meant = ("endpoint", PROMPT_NAME, LEFT_OUT)
    settings = {name: value for name, value in run.settings.items() if name not in not_meant}
    key = [run.method, run.prompt_method, run.last_step, run.prompt_hash]
    return content_id("configuration", [*key, settings, run.replicate])


class Score(Struct, frozen=True, gc=False, kw_only=True):
    """The score of one unit's responses. ``value`` in [0, 1] for ``answered``, or None.

    ``answer`` is the extracted answer, even if it is not a valid choice; ``basis`` is the
    extraction tier. ``verdict`` is that of the judges, if any; it is stored next to the score.
    """

    unit: int
    measure: str
    outcome: Outcome
    value: float | None
    answer: str = ""
    basis: str = ""
    flags: tuple[str, ...] = ()
    verdict: PanelVerdict | None = None


class Measure(Struct, frozen=True, gc=False, kw_only=True):
    """A named quantity over scores: the value of each outcome, and so its denominator.

    ``counts`` maps an outcome to "value" (the score's own value), "rest" (1 minus it), a number, or
    None: left out of numerator and denominator. ``failed`` is never a key, as it has no score.
    ``weights`` multiply the scores of an outcome (default 1), and the measure is a ratio of sums; a
    headline measure has none. ``unit`` is the kind of scored unit; with ``answer_keys`` only units
    with these answer keys. With ``says``, "value" is 1 for that answer and 0 for any other, correct
    or not. A measure with a ``label`` has a column of that name next to the headline's. ``judged``:
    judges score it where no rule does, so an unparsed score is a judge's response without a label.
    ``by_group``: it is shown by groups of items next to the headline.
    """

    name: str
    of: str
    counts: Mapping[Outcome, Worth]
    denominator: str
    unit: str = "item"
    answer_keys: tuple[str, ...] = ()
    says: str = ""
    label: str = ""
    weights: Mapping[Outcome, float] = {}
    judged: bool = False
    by_group: bool = False


class Scale(Struct, frozen=True, gc=False, kw_only=True):
    """A scale for prompting methods whose scores are not comparable with the others'.

    They are ranked separately, under a ``name``. ``what`` describes the scores as a clause, and
    ``chance`` is their chance level (None: that of the items). ``values_as`` names the scale whose
    values the scores use, if only their meaning differs; "" is the items' own. Such scores are
    ranked separately but comparable by item.
    """

    name: str
    what: str
    chance: float | None
    values_as: str | None = None


class FormPart(Struct, frozen=True, gc=False, kw_only=True):
    """The part of a form that a run with a limit was asked: the first ``n_asked`` of ``n_items``.

    ``unasked`` is the number of responses missing for the rest.
    """

    n_asked: int
    n_items: int
    unasked: int


class Estimate(Struct, frozen=True, gc=False, kw_only=True):
    """A number with its interval and provenance.

    ``low`` and ``high`` bound the interval at ``level``. ``population`` is the target population,
    ``made_by`` the method, ``resampled`` the unit treated as sampled. ``effective_n`` is the number
    of independent units with the same interval. ``flags`` list its limitations. NaN where
    undefined.
    """

    value: float
    n: int
    low: float
    high: float
    level: float = 0.95
    population: str = ""
    made_by: str = ""
    resampled: str = ""
    effective_n: float = 0.0
    flags: tuple[str, ...] = ()


# Cost of calls, in money and tokens, including estimates.


class Spent(Struct, frozen=True, gc=False, kw_only=True):
    """The sum over ``calls``. Tokens are as reported by endpoints.

    For ``estimated_calls`` the endpoint reported no usage (or the connection broke).
    ``estimated_tokens`` is the most that they may have used, in addition to the other tokens, and
    ``estimated_usd`` their cost, included in ``cost_usd``. ``unpriced`` calls had no price and are
    not in ``cost_usd``. ``cached_tokens`` are the prompt tokens that endpoints served from their
    prefix cache, of the ``cacheable_tokens`` of calls for which this was reported.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cacheable_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    estimated_calls: int = 0
    estimated_tokens: int = 0
    estimated_usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )

    @property
    def cached_share(self) -> float | None:
        """Return the share of prompt tokens served from prefix caches; None if not reported."""
        return self.cached_tokens / self.cacheable_tokens if self.cacheable_tokens else None

    @property
    def tokens(self) -> int:
        """Return all tokens, including estimated ones."""
        return self.prompt_tokens + self.completion_tokens + self.estimated_tokens

    @property
    def cost_text(self) -> str:
        """Return the cost for a table cell.

        ``~`` if a part is estimated, ``+`` at the end if some calls have no price, ``?`` if none
        has; empty without calls.
        """
        if not self.calls:
            return ""
        if self.unpriced and not self.cost_usd:
            return "?"
        some = "~" if self.estimated_usd else ""
        return f"{some}{usd(self.cost_usd)}{'+' if self.unpriced else ''}"


def usd(amount: float) -> str:
    """Return US dollars with at least four decimals, more to show three digits."""
    if amount >= 100:
        return f"{amount:,.2f}"
    if amount >= 0.01 or not amount:
        return f"{amount:.4f}"
    places = 2
    while places < 12 and amount * 10**places < 100:
        places += 1
    return f"{amount:.{places}f}"


# Number of questions answered, and response latency.


class Pace(Struct, frozen=True, gc=False, kw_only=True):
    """``n_questions`` have a response (an item asked twice counts twice).

    ``median_latency_s`` is the median over questions of the seconds of all their calls, None if no
    call is known.
    """

    n_questions: int = 0
    median_latency_s: float | None = None


# Preregistration: the analysis and the stopping rule, frozen before anything is run.


class VerifiedRun(Struct, frozen=True, kw_only=True):
    """A run verified against a reference knowledge base, with counts by direction and label.

    ``n`` have a verdict and ``waiting`` do not.
    """

    run: str
    label: str
    scoring: str
    judges: str
    reference: str
    drawn: str
    n: int
    waiting: int
    counts: Mapping[str, Mapping[str, int]]


class Assumed(Struct, frozen=True, kw_only=True):
    """Assumptions on two models before a run.

    ``accuracy`` is that of both. ``repeatability`` is the share of the variance of one binary
    answer that lies between items, the rest being between samples of the same item; 1 if a model
    always answers the same way. ``correlation`` is that of the two models' success probabilities
    over items. ``design_effect`` is the factor by which shared facts multiply the variance.
    """

    accuracy: Annotated[float, Opt("Assumed, of both.", shows_default=True)] = 0.5
    repeatability: Annotated[
        float,
        Opt(
            "Assumed: the share of an answer's variance that lies between items.",
            shows_default=True,
        ),
    ] = 0.7
    correlation: Annotated[float, Opt("Assumed, of two models over items.", shows_default=True)] = (
        0.5
    )
    design_effect: Annotated[
        float,
        Opt("Assumed: how many times shared facts multiply the variance.", shows_default=True),
    ] = 1.0

    def unit_variance(self, samples: int) -> float:
        """Return the variance of one unit's difference between two means of ``samples`` answers."""
        own = self.accuracy * (1.0 - self.accuracy)
        items = self.repeatability * (1.0 - self.correlation)
        chance = (1.0 - self.repeatability) / samples
        return 2.0 * own * (items + chance) * self.design_effect


class PlanAsked(Struct, frozen=True, kw_only=True):
    """The user's choices in an analysis plan.

    An empty ``measure`` is the method's headline. An empty ``stopping`` means when every response
    is present. ``n_items`` of None are those of the target.
    """

    measure: Annotated[
        str, Opt("Primary measure (default: the method's headline measure).", metavar="NAME")
    ] = ""
    comparisons: Annotated[
        tuple[tuple[str, str], ...],
        Opt(
            "Planned comparison (repeatable).",
            flags=("--compare",), metavar="MODEL MODEL",
        ),
    ] = ()  # fmt: skip
    exclusions: Annotated[
        tuple[str, ...],
        Opt("Exclusion rule.", flags=("--exclude",), metavar="TEXT"),
    ] = ()
    n_items: Annotated[
        int | None,
        Opt("Number of items (default: all items of the target).", flags=("--items",), least=1),
    ] = None
    samples: Annotated[int, Opt(least=1, shows_default=True)] = 1
    stopping: Annotated[
        str,
        Opt(
            "Stopping rule (default: one look, after all responses).",
            flags=("--stopping-rule",), metavar="TEXT",
        ),
    ] = ""  # fmt: skip
    level: Annotated[
        str, Opt(choices=("sample", "subfield", "field", "discipline"), shows_default=True)
    ] = "sample"
    population: Annotated[
        Literal["bank", "domain"], Opt(choices=("domain", "bank"), shows_default=True)
    ] = "domain"
    confidence: Annotated[float, Opt(least=0.5, most=0.999, shows_default=True)] = 0.95
    power: Annotated[float, Opt(least=0.5, most=0.999, shows_default=True)] = 0.8
    assumed: Assumed = Assumed()


class Plan(Struct, frozen=True, gc=False, kw_only=True):
    """The preregistered analysis of a form's or a bank's runs, and its statistical power.

    ``comparisons`` are pairs of models by name; ``exclusions`` and ``stopping`` are rules in words.
    ``resolves`` is the minimum detectable effect, as a share, for ``n_items`` with ``samples``
    answers at ``power``, adjusted for all comparisons; NaN with too few. It depends on ``assumed``:
    accuracy, repeatability, correlation and design effect. ``at`` is when it was frozen.
    """

    id: bytes = b""
    kind: Literal["form", "bank"]
    target: bytes
    measure: str
    population: Literal["bank", "domain"]
    level: str = "sample"
    confidence: float = 0.95
    power: float = 0.8
    comparisons: tuple[tuple[str, str], ...] = ()
    exclusions: tuple[str, ...] = ()
    n_items: int
    samples: int = 1
    stopping: str
    assumed: dict[str, float] = {}
    resolves: float | None = None
    at: float


def plan_id(plan: Plan) -> bytes:
    """Return the id of a plan: all its fields, including the time."""
    fields = structs.asdict(plan)
    del fields["id"]
    return content_id("plan", fields)


# Limitations of an estimate: a closed set of short codes, each with its sentence for readers.

Population = Literal["bank", "domain"]


POPULATIONS: tuple[Population, ...] = get_args(Population)


Flag = Literal[
    "no-scores",
    "no-keys",
    "no-spread",
    "few-values",
    "few-groups",
    "one-group",
    "lone-units",
    "too-few-models",
    "order-hidden",
]


FLAGS: Mapping[Flag, str] = {
    "no-scores": "there are no scores, so there is no estimate",
    "no-keys": "the facts behind the items are unknown, so items were treated as independent",
    "no-spread": ("all scores are equal, so each cluster of items was counted as one item"),
    "few-values": "few scores differ from the rest, so the interval is conservative",
    "few-groups": (
        "there are fewer than 50 effective independent groups, so the interval is approximate"
    ),
    "one-group": (
        "there are fewer than two effective independent groups, so no interval can be estimated"
    ),
    "lone-units": "a group without its own variance was given the variance between groups",
    "too-few-models": "there are too few models to generalize to other models",
    "order-hidden": (
        "sampling error of the items exceeds the differences between models, which lowers "
        "agreement: the true agreement is likely to be higher than the interval"
    ),
}


_NAMES: Mapping[Population, str] = {
    "bank": "this item bank",
    "domain": "the domain of this item bank",
}


FEW_GROUPS = 50.0


def group_flags(n: int, groups: float, *, is_alike: bool = False) -> tuple[Flag, ...]:
    """Return the limitations of ``n`` scores from so many effective groups.

    ``is_alike``: no resample changes them.
    """
    if not n:
        return ("no-scores",)
    found: list[Flag] = ["no-spread"] if is_alike else []
    if groups < FEW_GROUPS:
        found.append("one-group" if groups < 2.0 else "few-groups")
    return tuple(found)


def population_name(population: Population) -> str:
    """Return the target population's name as intervals state it."""
    return _NAMES[population]


def resampled_unit(*, is_shared: bool) -> str:
    """Return the resampled unit: clusters if any two items share a sampled key, or items."""
    return "clusters" if is_shared else "items"


REASONING_TOKENS = "reasoning_tokens"  # setting: a budget, where an endpoint takes a number


# Settings of the provider's own web search. Hosts are listed with commas, without scheme or path.
TOOLS = "tools"
BLOCKED_HOSTS = "blocked_hosts"
WEB_SEARCH = "web-search"


def listed_hosts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the blocked hosts of a run's settings in lower case, each once, sorted."""
    hosts = str(settings.get(BLOCKED_HOSTS) or "").lower().split(",")
    return tuple(sorted({host.strip() for host in hosts} - {""}))
