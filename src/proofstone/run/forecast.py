"""Estimate what runs take, as ranges: requests, tokens, money and time.

With a pilot, a range is the 95% prediction interval of ``forecast_total``. It uses what the pilot's
questions took as billed, retries and reasoning included. Without a pilot, a range extends from
prompts alone to the longest possible responses, without retries; no value in it is more likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.models.budget import Budget, money, price_lines, shown
from proofstone.page.text import aligned, printable
from proofstone.records.calls import ImagePart, Message
from proofstone.records.ids import short
from proofstone.records.runs import Spent
from proofstone.session.progress import duration, spent_text

CONFIDENCE = 0.95


class Range(Struct, frozen=True):
    """A range from ``low`` to ``high``; ``likely`` is None if no value between is more likely."""

    low: float
    high: float
    likely: float | None = None

    def __add__(self, other: Range) -> Range:
        """Add both ends."""
        likely = None
        if self.likely is not None and other.likely is not None:
            likely = self.likely + other.likely
        return Range(self.low + other.low, self.high + other.high, likely)


class Amounts(Struct, frozen=True, kw_only=True):
    """Hold what remaining questions take: ``requests`` (with retries), ``tokens``, ``cost_usd``.

    ``tokens`` cover prompt and response. ``seconds`` assume the allowed connections. None means
    unknown: no price, or too few informative questions in the pilot.
    """

    requests: Range | None = None
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None


class Part(Struct, frozen=True, kw_only=True):
    """Describe one model and prompting method, one model, or all models.

    ``prompt_method`` is empty for all prompting methods of a model, ``model`` for all models.

    ``questions`` were left when the dry run began; each sample counts. Of these the cache answers
    ``cached``, the pilot answered ``asked``, and ``to_ask`` remain, which take ``amounts``.
    ``sampled`` pilot questions are informative; ``failed`` have no response, by cause.
    ``reasoning`` is the share of reasoning in response tokens, ``prompt`` that of prompts in all
    tokens. ``longest`` is the cost of the rest if every response had the maximum length, without
    retries. If some of it is ``unpriced``, money covers the others only.
    """

    model: str = ""
    prompt_method: str = ""
    settings: str = ""
    simulated: bool = False
    unpriced: bool = False
    questions: int
    cached: int
    asked: int
    to_ask: int
    sampled: int = 0
    failed: dict[str, int] = {}
    stopped: str = ""
    over_budget: bool = False
    reasoning: float = 0.0
    prompt: float = 0.0
    amounts: Amounts
    longest: Amounts

    @property
    def is_known(self) -> bool:
        """Return True if the number of remaining tokens can be estimated."""
        return self.amounts.tokens is not None


class Reach(Struct, frozen=True, kw_only=True):
    """State whether a budget covers what is left, including the worst case of the last call.

    ``low`` and ``high`` are the shares (0 to 1) of what is left that it covers.
    """

    budget: str
    verdict: Literal["covers", "may cover", "does not cover", "unknown"]
    low: float = 0.0
    high: float = 1.0


class DryRun(Struct, frozen=True, kw_only=True):
    """Hold the estimate of what runs would take.

    ``pilot`` is the number of questions asked of each model and prompting method (0: no API calls).
    ``spent`` is the pilot's cost, ``requests`` its requests, and ``again`` the retries among them.

    ``models`` are sums over prompting methods, for models with several. ``call_usd`` and
    ``call_tokens`` are the worst case of one call, charged if a connection breaks; ``broken`` did
    so in the pilot. ``one_request`` (without a pilot): True if each question takes only the counted
    request. ``unpriced`` are models without a known price.
    """

    parts: tuple[Part, ...]
    models: tuple[Part, ...]
    total: Part
    pilot: int
    confidence: float = CONFIDENCE
    spent: Spent = Spent()
    requests: int = 0
    again: int = 0
    reach: Reach | None = None
    call_usd: float = 0.0
    call_tokens: int = 0
    broken: int = 0
    unpriced: tuple[str, ...] = ()
    one_request: bool = True
    interrupted: bool = False


class StepForecast(Struct, frozen=True, kw_only=True):
    """Hold one step of a build: the ``rows`` that enter it, its ``models``, and what is left."""

    name: str
    models: tuple[str, ...] = ()
    rows: Range | None = None
    amounts: Amounts


class NextRequests(Struct, frozen=True, kw_only=True):
    """Hold the requests of a step that depend on no response to come, with the most tokens that
    they take (None: the length of responses is not limited)."""

    step: str
    models: tuple[str, ...]
    requests: int
    prompt_tokens: int
    completion_tokens: int | None


class BuildForecast(Struct, frozen=True, kw_only=True):
    """Hold the estimate of what a build would take.

    Of ``n_inputs`` rows ``left`` are unfinished. ``sampled`` of the ``pilot`` rows are informative;
    the calls of the others ``failed``, by kind. ``rows`` leave the last step. ``left_out`` are
    batch steps, about which a sample says nothing. ``spent`` is the pilot's cost. ``unpriced`` are
    models without a known price. Without a pilot, ``next_requests`` are those of the first
    ``next_of`` rows that can be sent now.
    """

    steps: tuple[StepForecast, ...]
    total: Amounts
    rows: Range | None
    n_inputs: int
    left: int
    pilot: int
    sampled: int
    left_out: tuple[str, ...] = ()
    failed: dict[str, int] = {}
    spent: Spent = Spent()
    confidence: float = CONFIDENCE
    simulated: bool = False
    unpriced: tuple[str, ...] = ()
    reach: Reach | None = None
    next_requests: tuple[NextRequests, ...] = ()
    next_of: int = 0
    stopped: str = ""
    over_budget: bool = False
    interrupted: bool = False

    @property
    def is_known(self) -> bool:
        """Return True if what is left can be estimated."""
        return self.total.tokens is not None


class JudgeForecast(Struct, frozen=True, kw_only=True):
    """Hold what one judge takes; ``unpriced``: no price is known, and no cost is given."""

    judge: str
    amounts: Amounts
    unpriced: bool = False


class JudgingForecast(Struct, frozen=True, kw_only=True):
    """Hold what judging takes: ``responses`` of ``of`` responses go to judges.

    Exact if the responses exist; otherwise a range from 0 (rules may settle all) to all.
    """

    of: int
    responses: Range
    judges: tuple[JudgeForecast, ...]

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Return the judges without a known price."""
        return tuple(each.judge for each in self.judges if each.unpriced)


class SentAs(Struct, frozen=True, kw_only=True):
    """Name the model a prompt goes to, the settings sent with it, and those it does not take."""

    model: str
    settings: Mapping[str, Any]
    dropped: tuple[str, ...] = ()


class RenderedPrompt(Struct, frozen=True, kw_only=True):
    """Hold the first request of one item and prompting method; image parts appear by digest.

    Later requests of a prompting method in steps depend on responses.
    """

    prompt_method: str
    form: str
    item: bytes
    step: str
    messages: tuple[Message, ...]
    to: tuple[SentAs, ...]


def reach_of(budget: Budget, needed: Range | None, worst: float, *, is_left: bool) -> Reach:
    """Return whether a budget covers what is ``needed``, if one call may take up to ``worst``."""
    text = shown(budget.unit, budget.amount)
    if needed is None:
        return Reach(budget=text, verdict="unknown")
    if not is_left or not needed.high:
        return Reach(budget=text, verdict="covers", low=1.0)
    has = budget.amount / money(1.0) if budget.unit == "USD" else float(budget.amount)
    usable = max(0.0, has - worst)
    if usable >= needed.high:
        return Reach(budget=text, verdict="covers", low=1.0)
    low, high = usable / needed.high, min(1.0, usable / needed.low) if needed.low else 1.0
    return Reach(
        budget=text, verdict="may cover" if high == 1.0 else "does not cover", low=low, high=high
    )


# Text output: one row per model and prompting method, then notes.

_UNKNOWN = "?"


def forecast_lines(found: DryRun) -> list[str]:
    """Return the table, the basis of its ranges, the budget and missing prices."""
    return [
        *_table(found),
        *_pilot(found),
        *_ranges(found),
        *budget_lines(found.reach),
        *price_notes(found.unpriced),
    ]


def talk(found: DryRun) -> Iterator[str]:
    """Yield what went wrong, and possible next steps."""
    for part in found.parts:
        if part.stopped:
            code = (BudgetReached if part.over_budget else EndpointUnusable).code
            yield f"error[{code}]: {part.stopped}"
    for part in found.parts:
        if part.failed:
            kinds = ", ".join(f"{kind} {n}" for kind, n in part.failed.items())
            failed = _n(sum(part.failed.values()))
            yield f"note: {' '.join(_who(part))}: {failed} of the pilot failed: {kinds}"
        if found.pilot and not part.is_known and not part.stopped:
            yield (
                f"note: {' '.join(_who(part))}: no estimate per question from "
                f"{_n(part.sampled)}; check why they fail, or raise --pilot"
            )


def prompt_lines(prompts: Sequence[RenderedPrompt]) -> Iterator[str]:
    """Yield the rendered prompts, each followed by the settings sent with it."""
    told: set[tuple[str, str]] = set()
    for prompt in prompts:
        names = ", ".join(dict.fromkeys(to.model for to in prompt.to))
        item = f"item:{short(prompt.item)}"
        yield f"=== {prompt.prompt_method}   {prompt.form}   {item}   to {printable(names)}"
        for to in prompt.to:
            settings = msgspec.json.encode(to.settings).decode()
            line = f"--- settings of {printable(to.model)}: {settings}"
            line += f"; not sent: {', '.join(to.dropped)}" if to.dropped else ""
            if (prompt.prompt_method, line) not in told:
                told.add((prompt.prompt_method, line))
                yield line
        for message in prompt.messages:
            yield f"--- {message.role}"
            yield message_text(message)
        yield ""


def _table(found: DryRun) -> list[str]:
    rows = [["", "", "cached", "to ask", "requests", "tokens", "USD", "time"]]
    sums = {part.model: part for part in found.models}
    for place, part in enumerate(found.parts):
        rows.append(_row(part, *_who(part)))
        is_last = place + 1 == len(found.parts) or found.parts[place + 1].model != part.model
        if is_last and part.model in sums:
            rows.append(_row(sums[part.model], "", "all ways"))
    if len({part.model for part in found.parts}) > 1:
        rows.append(_row(found.total, "total", ""))
    if all(row[-1] in ("time", "") for row in rows):
        rows = [row[:-1] for row in rows]
    return aligned(rows, left=(0, 1))


def _row(part: Part, model: str, prompt_method: str) -> list[str]:
    amounts = part.amounts
    return [
        model,
        prompt_method,
        f"{part.cached + part.asked:,}",
        f"{part.to_ask:,}",
        _shown_range(amounts.requests, _amount),
        _shown_range(amounts.tokens, _amount),
        _shown_range(amounts.cost_usd, _usd) + ("+" if amounts.cost_usd and part.unpriced else ""),
        "" if amounts.seconds is None else shown_range(amounts.seconds, "time"),
    ]


def _shown_range(amount: Range | None, text: Callable[[float], str]) -> str:
    """Return ``likely [low, high]``, ``low .. high`` without a likely value, or one number."""
    if amount is None:
        return _UNKNOWN
    low, high = text(amount.low), text(amount.high)
    if low == high:
        return low
    return f"{low} .. {high}" if amount.likely is None else f"{text(amount.likely)} [{low}, {high}]"


def _pilot(found: DryRun) -> Iterator[str]:
    if found.requests:
        again = f" ({found.again:,} of them retries)" if found.again else ""
        answered = f"{_n(found.total.asked)} answered in {found.requests:,} request"
        plural = "" if found.requests == 1 else "s"
        yield f"pilot    {answered}{plural}{again}: {spent_text(found.spent)}"
        if found.total.asked:
            yield "         responses are stored: the run takes them from the cache"
    elif found.total.sampled:
        yield f"pilot    {_n(found.total.sampled)}, all from the cache: no API calls"


def _ranges(found: DryRun) -> Iterator[str]:
    if not found.total.to_ask:
        yield "nothing is left to ask"
    elif found.pilot:
        yield from _from_pilot(found)
    else:
        yield (
            "from prompts alone to responses of max_tokens, without retries; no API calls were made"
        )
        if not found.one_request:
            yield "the first request of each question only: later ones depend on responses"


def _from_pilot(found: DryRun) -> Iterator[str]:
    if not any(part.is_known for part in found.parts if part.to_ask):
        yield "too few pilot questions were answered to estimate the rest"
        return
    yield (
        f"{found.confidence:.0%} prediction intervals for what is left to ask, with reasoning "
        "and retries as in the pilot"
    )
    if found.total.reasoning >= 0.005:
        yield f"{found.total.reasoning:.0%} of response tokens are reasoning"
    longest, in_usd = found.total.longest, found.total.longest.cost_usd is not None
    amount = longest.cost_usd if in_usd else longest.tokens
    if amount is not None and amount.high:
        call = f"{_usd(found.call_usd)} USD" if in_usd else f"{_amount(found.call_tokens)} tokens"
        high = f"{_usd(amount.high)} USD" if in_usd else f"{_amount(amount.high)} tokens"
        yield f"if every response had the maximum length: {high}"
        met = f"{found.broken:,} broke in the pilot" if found.broken else "none broke in the pilot"
        yield f"a broken connection may be billed as well, up to {call} each: {met}"


def budget_lines(reach: Reach | None, what: str = "ask") -> Iterator[str]:
    """Yield whether the budget covers what is left to ``what``."""
    if reach is None:
        return
    low, high = f"{reach.low:.0%}", f"{reach.high:.0%}"
    share = low if low == high else f"{low} to {high}"
    said = {
        "covers": f"covers what is left to {what}",
        "may cover": f"may fall short: it covers {low} to all of what is left to {what}",
        "does not cover": f"falls short: it covers {share} of what is left to {what}",
    }.get(reach.verdict)
    yield f"budget   {reach.budget}" + (f" {said}" if said else ": coverage is unknown")


def price_notes(unpriced: Sequence[str]) -> Iterator[str]:
    """Yield the configuration lines to add for missing prices."""
    if not unpriced:
        return
    yield f"no price is known for {', '.join(unpriced)}; to estimate the cost,"
    yield from price_lines(unpriced)


def shown_range(amount: Range | None, kind: Literal["amount", "usd", "time"]) -> str:
    """Return a range as a table cell; empty if no time is needed."""
    if kind == "time" and amount is not None and not amount.high:
        return ""
    texts: dict[str, Callable[[float], str]] = {
        "amount": _amount,
        "usd": _usd,
        "time": lambda seconds: duration(seconds) if seconds >= 1 else "<1 s" if seconds else "0 s",
    }
    return _shown_range(amount, texts[kind])


def _who(part: Part) -> tuple[str, str]:
    return printable(part.model), printable(f"{part.prompt_method} {part.settings}".strip())


def _amount(amount: float) -> str:
    """Return ``812``, ``80.4k`` or ``1.13M``: three significant digits."""
    sizes = (("", 1.0), ("k", 1e3), ("M", 1e6))
    unit, size = next((pair for pair in sizes if amount / pair[1] < 999.5), ("G", 1e9))
    scaled = amount / size
    places = 0 if not unit or scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    return f"{scaled:,.{places}f}{unit}"


def _usd(amount: float) -> str:
    """Return ``0.0123`` or ``12.35``: three significant digits, and at least cents."""
    if not amount:
        return "0"
    return f"{amount:,.{max(2, 2 - floor(log10(amount)))}f}"


def _n(n: int) -> str:
    return f"{n:,} question{'' if n == 1 else 's'}"


def message_text(message: Message) -> str:
    """A message line by line; images by type and digest, what moves a cursor made visible."""
    parts = [message.content] if isinstance(message.content, str) else message.content
    texts = []
    for part in parts:
        if isinstance(part, ImagePart):
            texts.append(f"[{part.media_type}, sha256 {part.digest.hex()}]")
        else:
            texts.append(part if isinstance(part, str) else part.text)
    lines = "\n".join(texts).split("\n")
    return "\n".join("\t".join(printable(cell) for cell in line.split("\t")) for line in lines)


_SEVERAL = {"response": "responses", "triple": "triples"}


def judging_lines(found: JudgingForecast, what: str = "response") -> Iterator[str]:
    """Yield how many responses (or triples) judges get, a row per judge, and the ranges' basis."""
    responses = found.responses
    of = f"{found.of:,} {what if found.of == 1 else _SEVERAL[what]}"
    if not responses.high:
        yield f"judging  no judge is needed for {of}"
        return
    if responses.likely is not None:
        n = shown_range(responses, "amount")
        yield f"judging  {n} of {of} need judges; rules settle the rest"
    else:
        yield f"judging  up to {responses.high:,.0f} of {of} need judges; rules settle some"
    rows = [["", "requests", "tokens", "USD"]]
    rows += [
        [
            printable(each.judge),
            shown_range(each.amounts.requests, "amount"),
            shown_range(each.amounts.tokens, "amount"),
            shown_range(each.amounts.cost_usd, "usd"),
        ]
        for each in found.judges
    ]
    yield from aligned(rows, left=(0,))
    yield ("from prompts alone to responses of max_tokens, without retries; no API calls were made")
    yield from price_notes(found.unpriced)
