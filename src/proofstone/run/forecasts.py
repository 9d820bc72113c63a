"""What a dry run says: how much is left of runs or of a build, and the ranges of what it takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proofstone.records.runs import Spent

CONFIDENCE = 0.95


class Range(Struct, frozen=True):
    """From ``low`` to ``high``; ``likely`` is None where no number between is likelier."""

    low: float
    high: float
    likely: float | None = None

    def __add__(self, other: Range) -> Range:
        """Both together, each end with its like."""
        likely = None
        if self.likely is not None and other.likely is not None:
            likely = self.likely + other.likely
        return Range(self.low + other.low, self.high + other.high, likely)


class Amounts(Struct, frozen=True, kw_only=True):
    """What is still to be asked takes: ``requests`` with retries, ``tokens`` of prompt and reply,
    ``cost_usd``, ``seconds`` at the connections allowed. None where it cannot be told: no price, or
    too few questions of a pilot that say something."""

    requests: Range | None = None
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None


class Part(Struct, frozen=True, kw_only=True):
    """One model in one way, one model in all its ways (``way`` empty), or all (``model`` too).

    Of ``questions`` left when the dry run began (each sample counts) the cache answers ``cached``,
    the pilot answered ``asked`` anew, and ``to_ask`` remain, which take ``amounts``. ``sampled``
    questions of the pilot say what one takes, ``failed`` have no reply, by cause. ``reasoning`` is
    the share of their reply's tokens, ``prompt`` that of the prompt in all. ``longest`` is what
    the rest would take if every reply were as long as it may be, without retries. Where some of it
    is ``unpriced``, money is that of the others.
    """

    model: str = ""
    way: str = ""
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
        """Whether it can be told how many tokens are to come."""
        return self.amounts.tokens is not None


class Reach(Struct, frozen=True, kw_only=True):
    """Whether a budget covers what is left. The last call needs its worst case, so that is counted.

    ``low`` and ``high`` are the shares of what is left that it reaches, between 0 and 1.
    """

    budget: str
    verdict: Literal["covers", "may cover", "does not cover", "unknown"]
    low: float = 0.0
    high: float = 1.0


class DryRun(Struct, frozen=True, kw_only=True):
    """What runs would take. ``pilot`` is the number of questions asked of each model and way, 0
    where nobody was asked; ``spent`` what that took, in how many ``requests``, ``again`` those
    after a first one.

    ``models`` are sums over ways, of those asked in several. ``call_usd`` and ``call_tokens`` are
    the worst case of one call, which one that breaks is charged; ``broken`` did in the pilot.
    ``one_request``: where nobody was asked, whether a question takes no more than the request that
    was counted. ``unpriced`` are models of which no price is known.
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
    """One step of a build: the ``rows`` that enter it in all, by which ``models`` it asks, and what
    is left of it takes."""

    name: str
    models: tuple[str, ...] = ()
    rows: Range | None = None
    amounts: Amounts


class BuildForecast(Struct, frozen=True, kw_only=True):
    """What a build would take. Of ``n_inputs`` rows ``left`` are not through yet; ``sampled`` of
    the ``pilot`` rows say what one takes, the calls of the others ``failed``, by kind. ``rows`` are
    those behind the last step, of all. ``left_out`` are batch steps: a sample says nothing of them.
    ``spent`` is what the pilot took; ``unpriced`` are models of which no price is known."""

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
    stopped: str = ""
    over_budget: bool = False
    interrupted: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it can be told what is left takes."""
        return self.total.tokens is not None
