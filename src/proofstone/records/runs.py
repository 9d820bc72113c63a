"""Runs, calls, replies, scores and estimates: what was asked, what came back, what it is worth."""

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


# What an outcome counts as: the score's own value, what that lacks to 1, a number, or nothing.
Worth: TypeAlias = Literal["value", "rest"] | float | None


# A run's setting: the format in which answers stand (``regex:PATTERN`` or ``json:PATH``).
ANSWER_FORMAT = "answer_format"


# Of a run's settings those that are no model's: how often, where, by which template and with what
# beside the question it is asked, and how its responses are read.
OUR_SETTINGS = frozenset(
    {"samples", "shots", "endpoint", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS, ANSWER_FORMAT}
)


# Scores of this name are no worth: how sure a reply says that it is, from 0 to 1.
STATED_CONFIDENCE = "confidence"


CallState = Literal["submitted", "complete", "failed"]


Purpose = Literal["ask", "judge", "build", "control"]


Finish = Literal["stop", "length", "content_filter", "tool_calls", "other", ""]


class Usage(Struct, frozen=True, gc=False):
    """Tokens as the endpoint counted them; None where it did not say."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class Response(Struct, frozen=True, gc=False, kw_only=True):
    """A model's reply to one call, read from its raw body.

    ``text`` is what it said without its reasoning; ``reasoning`` the text of ``reasoning_content``
    or of a ``<think>`` block. ``thinking_unclosed``: a ``<think>`` block never ended, so ``text``
    is not an answer and is never parsed. ``mean_logprob`` is the mean natural-log probability of
    the completion's tokens where the endpoint gave them. ``is_extracted``: ``text`` is what a
    stated format of answers found in the response, empty where it found nothing.

    Of a scored text ``token_logprobs`` has the natural-log probability of each token, and nothing
    was generated. ``next_tokens`` are the most probable first tokens with theirs, where listed.
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
    token_logprobs: tuple[float, ...] = ()
    next_tokens: tuple[tuple[str, float], ...] = ()


class Run(Struct, frozen=True, gc=False, kw_only=True):
    """An item set asked of one respondent in one way with one group of settings.

    ``settings`` are those asked of the model (temperature, max_tokens, ...) with ``samples``,
    ``shots`` and the endpoint's identity; ``prompt_hash`` covers templates and worked examples.
    An (item, sample) is finished once it has a reply at ``last_step``.
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
    """The way in which a run was asked, marked where it was by a template of a person's own:
    ``direct, own prompt: mine.jinja (3f2a91bc)``, or with passages: ``direct context=evidence``."""
    return _marked(run, [run.prompt_method, context_label(run.settings)])


def run_label(run: Run) -> str:
    """Who was asked and how, with what sets a run apart from others of its model:
    ``acme/large direct 3-shot thinking=on, own prompt: mine.jinja (3f2a91bc)``."""
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
    """The scale that scores are on: two of one kind compare item by item; "" is the items' own."""
    if scale is None:
        return ""
    return scale.name if scale.values_as is None else scale.values_as


def responses_wanted(run: Run, n_items: int) -> int:
    """How many (item, sample) a run is to finish, of a set of ``n_items``: those that it leaves out
    are not among them."""
    return (n_items - left_out_of(run.settings)) * int(run.settings.get("samples", 1))


def _marked(run: Run, parts: Sequence[str]) -> str:
    own = own_prompt_of(run.settings)
    return " ".join(filter(None, parts)) + (f", own prompt: {own}" if own else "")


def run_id(run: Run) -> bytes:
    """The id of a run: all its fields, so that the same command names the same run; of a prompt
    template its hash, not the name of its file, and not how many items had no passages to show."""
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
    """The id of how a run was asked: way, prompts and settings, whoever was asked and of what. Two
    runs with one such id differ in their respondent or their items alone."""
    not_meant = ("endpoint", PROMPT_NAME, LEFT_OUT)
    settings = {name: value for name, value in run.settings.items() if name not in not_meant}
    key = [run.method, run.prompt_method, run.last_step, run.prompt_hash]
    return content_id("configuration", [*key, settings, run.replicate])


class Score(Struct, frozen=True, gc=False, kw_only=True):
    """The worth of one unit's replies. ``value`` in [0, 1] for ``answered``, else None.

    ``answer`` is what was extracted, even where it is no valid choice; ``basis`` how (the tier).
    ``verdict`` is what judges said, where they were asked; it is kept beside the score.
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
    """A named quantity over scores: what each outcome counts as, and so its denominator.

    ``counts`` maps an outcome to "value" (the score's own value), "rest" (what that lacks to 1), a
    number, or None: left out of numerator and denominator. ``failed`` is never a key: it is no
    score. With ``weights`` scores of an outcome count so many times each (once where none is
    given), and the measure is a ratio of sums; a headline has none. ``unit`` is the kind of
    unit whose scores are meant; with ``answer_keys`` only units of these right labels. Where
    ``says`` is given, "value" is 1 for that answer and 0 for another, right or wrong. A measure
    with a ``label`` has a column of that name beside the headline's. ``judged``: judges give its
    scores where no rule does, so that an unparsed one is a judge's reply that held no label.
    ``by_group``: it is shown by groups of items beside the headline.
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
    """What the headline's scores are in a way of asking whose scores do not compare with those of
    the other ways: ranked apart, under a ``name``, with ``what`` they are as a clause, against a
    ``chance`` of their own (None: that of the items).

    ``values_as`` names the scale whose values the scores are, where only what they show is another
    thing; "" is the items' own. Such scores are ranked apart, and compare item by item."""

    name: str
    what: str
    chance: float | None
    values_as: str | None = None


class FormPart(Struct, frozen=True, gc=False, kw_only=True):
    """What of a form a run with a limit was asked: the first ``n_asked`` of ``n_items``;
    ``unasked`` replies would be those to the rest."""

    n_asked: int
    n_items: int
    unasked: int


class Estimate(Struct, frozen=True, gc=False, kw_only=True):
    """A number with what is needed to defend it.

    ``low`` and ``high`` bound the interval at ``level``; ``population`` says of what; ``made_by``
    how; ``resampled`` the unit treated as drawn. ``effective_n`` is the number of independent
    units that would give the same interval. ``flags`` say what limits it. NaN where undefined.
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


# What calls took, in money and tokens, with the part that is an estimate.


class Spent(Struct, frozen=True, gc=False, kw_only=True):
    """The sum over ``calls``. Tokens are as endpoints counted them.

    Of ``estimated_calls`` the endpoint did not say what it counted (no usage, a connection that
    broke): ``estimated_tokens`` is the most that it may have been, besides the other tokens, and
    ``estimated_usd`` what that costs, within ``cost_usd``. ``unpriced`` calls had no price and are
    not in ``cost_usd``.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
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
    def tokens(self) -> int:
        """All tokens, those estimated too."""
        return self.prompt_tokens + self.completion_tokens + self.estimated_tokens

    @property
    def cost_text(self) -> str:
        """The cost for a cell of a table: ``~`` where a part is estimated, ``+`` behind it where
        some calls have no price, ``?`` where none has; empty where nothing was called."""
        if not self.calls:
            return ""
        if self.unpriced and not self.cost_usd:
            return "?"
        some = "~" if self.estimated_usd else ""
        return f"{some}{usd(self.cost_usd)}{'+' if self.unpriced else ''}"


def usd(amount: float) -> str:
    """US dollars with at least four places, more where that would leave fewer than three digits."""
    if amount >= 100:
        return f"{amount:,.2f}"
    if amount >= 0.01 or not amount:
        return f"{amount:.4f}"
    places = 2
    while places < 12 and amount * 10**places < 100:
        places += 1
    return f"{amount:.{places}f}"


# How many questions were answered, and how fast replies came.


class Pace(Struct, frozen=True, gc=False, kw_only=True):
    """``n_questions`` have a reply (an item asked twice is two); half of the replies looked at came
    within ``median_latency_s`` seconds a call, None where no call is known."""

    n_questions: int = 0
    median_latency_s: float | None = None


# A plan: what will be looked at and when to stop, frozen before anything is asked.


class VerifiedRun(Struct, frozen=True, kw_only=True):
    """A run that was verified against a reference: its scoring, of how much there is a verdict and
    how much waits, and what came of it by direction and label."""

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
    """What is taken for true of two respondents before anything was asked.

    ``accuracy`` of both. ``repeatability``: the share of the variance of one right-or-wrong answer
    that lies between items, the rest being between samples of the same item; 1 where a model
    always answers alike. ``correlation`` of the two respondents' chances over items.
    ``design_effect``: how many times shared facts multiply the variance.
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
        """The variance of one unit's difference between two means of ``samples`` answers."""
        own = self.accuracy * (1.0 - self.accuracy)
        items = self.repeatability * (1.0 - self.correlation)
        chance = (1.0 - self.repeatability) / samples
        return 2.0 * own * (items + chance) * self.design_effect


class PlanAsked(Struct, frozen=True, kw_only=True):
    """What a user fixes of a plan. An empty ``measure`` is the method's headline, an empty
    ``stopping`` when every reply is there; ``n_items`` of None are those of the target."""

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
            flags=("--stop",), metavar="TEXT",
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
    """The analysis of a form's or a bank's runs, and what it can find.

    ``comparisons`` are pairs of respondents by name; ``exclusions`` and ``stopping`` are rules in
    words. ``resolves`` is the smallest true difference, as a share, that ``n_items`` of ``samples``
    answers find with ``power``, each of the comparisons corrected for all; NaN with too few. It
    rests on what is ``assumed``: accuracy, repeatability, correlation and design effect. ``at`` is
    when it was frozen.
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
    """The id of a plan: all its fields, the time among them."""
    fields = structs.asdict(plan)
    del fields["id"]
    return content_id("plan", fields)


# What limits an estimate: a closed set of short codes, each with the sentence a reader sees.

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
    "no-scores": "no scores: there is nothing to estimate from",
    "no-keys": "it is not known what the items rest on, so they were taken as independent",
    "no-spread": (
        "all scores are alike, so items that share knowledge were taken to stand or fall together"
    ),
    "few-values": "few scores differ from the rest, so the interval is a conservative one",
    "few-groups": "fewer than 50 effective independent groups: the interval is approximate",
    "one-group": "fewer than two effective independent groups: nothing bounds the value",
    "lone-units": "a group without spread of its own was given the spread between groups",
    "too-few-models": "too few models to say what others would do",
    "order-hidden": (
        "models stand closer together than the items' noise, which lowers agreement: it is likely "
        "to be higher than the interval says"
    ),
}


_NAMES: Mapping[Population, str] = {
    "bank": "this item bank",
    "domain": "the domain of this item bank",
}


FEW_GROUPS = 50.0


def group_flags(n: int, groups: float, *, is_alike: bool = False) -> tuple[Flag, ...]:
    """What limits ``n`` scores of so many effective groups; ``is_alike``: nothing moves them."""
    if not n:
        return ("no-scores",)
    found: list[Flag] = ["no-spread"] if is_alike else []
    if groups < FEW_GROUPS:
        found.append("one-group" if groups < 2.0 else "few-groups")
    return tuple(found)


def population_name(population: Population) -> str:
    """The estimand's name as every interval states it."""
    return _NAMES[population]


def resampled_unit(*, is_shared: bool) -> str:
    """The unit that counts as sampled: clusters where any two items share a key that the estimand
    takes as sampled, items elsewhere."""
    return "clusters" if is_shared else "items"
