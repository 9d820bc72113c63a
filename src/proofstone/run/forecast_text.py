"""A dry run as people read it: a row a model and way, and what to know besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10
from typing import TYPE_CHECKING, Literal

import msgspec

from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.models.budget import price_lines
from proofstone.page.text import aligned, printable
from proofstone.records.calls import ImagePart, Message
from proofstone.records.ids import short
from proofstone.run.dry_run import RenderedPrompt
from proofstone.run.forecast import DryRun, Part, Range, Reach
from proofstone.run.judges import JudgingForecast
from proofstone.session.costs import spent_text
from proofstone.session.progress import duration

if TYPE_CHECKING:
    from collections.abc import Callable


_UNKNOWN = "?"


def forecast_lines(found: DryRun) -> list[str]:
    """The result: the table, how its ranges came about, the budget, missing prices."""
    return [
        *_table(found),
        *_pilot(found),
        *_ranges(found),
        *budget_lines(found.reach),
        *price_notes(found.unpriced),
    ]


def talk(found: DryRun) -> Iterator[str]:
    """What went wrong, and what may be done next."""
    for part in found.parts:
        if part.stopped:
            code = (BudgetReached if part.over_budget else EndpointUnusable).code
            yield f"error [{code}] {part.stopped}"
    for part in found.parts:
        if part.failed:
            kinds = ", ".join(f"{kind} {n}" for kind, n in part.failed.items())
            failed = _n(sum(part.failed.values()))
            yield f"note: {_label(part)}: {failed} of the pilot failed: {kinds}"
        if found.pilot and not part.is_known and not part.stopped:
            yield (
                f"note: {_label(part)}: what a question takes cannot be told from "
                f"{_n(part.sampled)}; look at why they fail, or ask more with --pilot"
            )


def prompt_lines(prompts: Sequence[RenderedPrompt]) -> Iterator[str]:
    """Prompts as they would be sent, and behind those of each way the settings sent with them."""
    told: set[tuple[str, str]] = set()
    for prompt in prompts:
        names = ", ".join(dict.fromkeys(to.model for to in prompt.to))
        item = f"item:{short(prompt.item)}"
        yield f"=== {prompt.way}   {prompt.form}   {item}   to {printable(names)}"
        for to in prompt.to:
            settings = msgspec.json.encode(to.settings).decode()
            line = f"--- settings of {printable(to.model)}: {settings}"
            line += f"; not sent: {', '.join(to.dropped)}" if to.dropped else ""
            if (prompt.way, line) not in told:
                told.add((prompt.way, line))
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


def _row(part: Part, model: str, way: str) -> list[str]:
    amounts = part.amounts
    return [
        model,
        way,
        f"{part.cached + part.asked:,}",
        f"{part.to_ask:,}",
        _shown_range(amounts.requests, _amount),
        _shown_range(amounts.tokens, _amount),
        _shown_range(amounts.cost_usd, _usd) + ("+" if amounts.cost_usd and part.unpriced else ""),
        "" if amounts.seconds is None else shown_range(amounts.seconds, "time"),
    ]


def _shown_range(amount: Range | None, text: Callable[[float], str]) -> str:
    """``likely [low, high]``, ``low .. high`` where none is likelier, one number where it is."""
    if amount is None:
        return _UNKNOWN
    low, high = text(amount.low), text(amount.high)
    if low == high:
        return low
    return f"{low} .. {high}" if amount.likely is None else f"{text(amount.likely)} [{low}, {high}]"


def _pilot(found: DryRun) -> Iterator[str]:
    if found.requests:
        again = f" ({found.again:,} of them again)" if found.again else ""
        answered = f"{_n(found.total.asked)} answered in {found.requests:,} request"
        plural = "" if found.requests == 1 else "s"
        yield f"pilot    {answered}{plural}{again}: {spent_text(found.spent)}"
        if found.total.asked:
            yield "         its replies are kept: the run takes them from the cache"
    elif found.total.sampled:
        yield f"pilot    {_n(found.total.sampled)}, all from the cache: nobody was asked"


def _ranges(found: DryRun) -> Iterator[str]:
    if not found.total.to_ask:
        yield "nothing is left to ask"
    elif found.pilot:
        yield from _from_pilot(found)
    else:
        yield "from prompts alone to replies of max_tokens, no request made twice; nobody was asked"
        if not found.one_request:
            yield "the first request of each question only: later ones depend on its replies"


def _from_pilot(found: DryRun) -> Iterator[str]:
    if not any(part.is_known for part in found.parts if part.to_ask):
        yield "too few questions of the pilot were answered to say what the others take"
        return
    yield (
        f"{found.confidence:.0%} prediction intervals for what is left to ask, reasoning and "
        "retries counted as the pilot met them"
    )
    if found.total.reasoning >= 0.005:
        yield f"{found.total.reasoning:.0%} of the reply tokens are reasoning"
    longest, in_usd = found.total.longest, found.total.longest.cost_usd is not None
    amount = longest.cost_usd if in_usd else longest.tokens
    if amount is not None and amount.high:
        call = f"{_usd(found.call_usd)} USD" if in_usd else f"{_amount(found.call_tokens)} tokens"
        high = f"{_usd(amount.high)} USD" if in_usd else f"{_amount(amount.high)} tokens"
        yield f"if every reply were as long as it may be: {high}"
        met = f"{found.broken:,} did in the pilot" if found.broken else "none did in the pilot"
        yield f"a connection that breaks may be billed besides, up to {call} each: {met}"


def budget_lines(reach: Reach | None, what: str = "ask") -> Iterator[str]:
    """Whether the budget covers what is left to ``what``."""
    if reach is None:
        return
    if reach.verdict == "covers":
        yield f"budget   {reach.budget} covers what is left to {what}"
    elif reach.verdict == "unknown":
        yield f"budget   {reach.budget}: whether it does cannot be told"
    elif reach.verdict == "may cover":
        share = f"{reach.low:.0%} to all"
        yield f"budget   {reach.budget} may not do: it reaches {share} of what is left to {what}"
    else:
        low, high = f"{reach.low:.0%}", f"{reach.high:.0%}"
        share = low if low == high else f"{low} to {high}"
        yield f"budget   {reach.budget} does not do: it reaches {share} of what is left to {what}"


def price_notes(unpriced: Sequence[str]) -> Iterator[str]:
    """The lines to add to the configuration where prices are missing."""
    if not unpriced:
        return
    yield f"no price is known of {', '.join(unpriced)}; to see money,"
    yield from price_lines(unpriced)


def shown_range(amount: Range | None, kind: Literal["amount", "usd", "time"]) -> str:
    """A range as a cell of a table, which is empty where no time at all is needed."""
    if kind == "time" and amount is not None and not amount.high:
        return ""
    texts = {"amount": _amount, "usd": _usd, "time": _time}
    return _shown_range(amount, texts[kind])


def _who(part: Part) -> tuple[str, str]:
    return printable(part.model), printable(f"{part.way} {part.settings}".strip())


def _label(part: Part) -> str:
    return " ".join(_who(part))


def _amount(amount: float) -> str:
    """``812``, ``80.4k``, ``1.13M``: the three digits that matter, a forecast knows no more."""
    sizes = (("", 1.0), ("k", 1e3), ("M", 1e6))
    unit, size = next((pair for pair in sizes if amount / pair[1] < 999.5), ("G", 1e9))
    scaled = amount / size
    places = 0 if not unit or scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    return f"{scaled:,.{places}f}{unit}"


def _usd(amount: float) -> str:
    """``0.0123``, ``12.35``: three digits that matter, and never less than cents."""
    if not amount:
        return "0"
    return f"{amount:,.{max(2, 2 - floor(log10(amount)))}f}"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 1 else "<1 s" if seconds else "0 s"


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


_SEVERAL = {"reply": "replies", "triple": "triples"}


def judging_lines(found: JudgingForecast, what: str = "reply") -> Iterator[str]:
    """How many replies (or triples) are for judges, a row a judge, and where the ranges come
    from."""
    replies = found.replies
    of = f"{found.of:,} {what if found.of == 1 else _SEVERAL[what]}"
    if not replies.high:
        yield f"judging  no judge is needed for {of}"
        return
    if replies.likely is not None:
        n = shown_range(replies, "amount")
        yield f"judging  {n} of {of} are for judges; rules settle the rest"
    else:
        yield f"judging  up to {replies.high:,.0f} of {of} are for judges; rules settle some"
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
    yield "from prompts alone to replies of max_tokens, no request made twice; nobody was asked"
    yield from price_notes(found.unpriced)
