"""Call judges in one or several label orders, retry a bounded number of times, and count votes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.judging.question import ResponseForm, arrangements, label_schema, pose, read_label
from proofstone.judging.verdicts import decide
from proofstone.records.builds import Drop, Kept, Step, StepCall, StepContext, slots_of
from proofstone.records.calls import Message
from proofstone.records.ids import digest
from proofstone.records.options import Parameter
from proofstone.records.runs import Response
from proofstone.records.verdicts import (
    Exhibit,
    Heard,
    JudgeQuestion,
    JudgeVote,
    Label,
    Majority,
    PanelRules,
    PanelVerdict,
    RowVerdict,
)
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import LANGUAGES, bundled_text, bundled_words

# The model of a role in a build step, used as a judge.


class RowJudge:
    """Wrap a step's call for one row as a ``JudgeModel``; its votes are samples."""

    takes_schema = True  # the client omits the schema if the endpoint does not support it

    def __init__(self, call: StepCall, question: str, *, name: str) -> None:
        self.name = name
        self.failure: CallFailed | None = None
        self._call = call
        self._question = question

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Response:
        """Call the judge, see ``StepCall``.

        A failure is stored: a panel has one vote less, and a build judges the row again.
        """
        try:
            return await self._call(
                self._question, messages, schema=schema, reask=reask, sample=vote
            )
        except CallFailed as failure:
            self.failure = failure
            raise


# A panel's ranking, and the rankings without each judge.
#
# If a single judge determines a ranking, it is not the panel's. So each cell is decided again
# without each member, by the same rules, and rank ranges are compared.

Codes = NDArray[np.int64]


Floats = NDArray[np.float64]


_SAME = 1e-12


class PanelStanding(Struct, frozen=True):
    """Hold a model's standing.

    ``score`` is the mean worth of the decisions in ``n`` of its cells (NaN if n is 0). Its rank is
    ``best`` to ``worst``, a range if others have the same score.
    """

    score: float
    n: int
    best: int
    worst: int


class LeftOut(Struct, frozen=True):
    """Hold the panel's result without ``judge``.

    ``otherwise`` counts changed decisions, including new and lost ones. ``moved`` are the places of
    models whose ranks no longer overlap with those by all judges. ``reversed_pairs`` are pairs of
    models in reverse order (ties do not count).
    """

    judge: str
    standings: tuple[PanelStanding, ...]
    otherwise: int
    moved: tuple[int, ...]
    reversed_pairs: tuple[tuple[int, int], ...]


class PanelRanking(Struct, frozen=True):
    """Hold the standings by the full panel, in model order, and those without each judge."""

    standings: tuple[PanelStanding, ...]
    without: tuple[LeftOut, ...]


def decide_cells(votes: Codes, n_labels: int, rules: PanelRules, tie: int = -1) -> Codes:
    """Decide votes (..., judges) by cell (...), like ``votes.decide`` for one cell.

    Labels are codes from 0; -1 means no vote or no decision. ``tie`` is the code that ties result
    in, -1 without a tie rule. Raises BadUsage for a quorum below 1.
    """
    if rules.quorum < 1:
        raise BadUsage(f"the quorum of a panel must be 1 or more, got {rules.quorum}")
    counts = np.stack([(votes == code).sum(axis=-1) for code in range(n_labels)], axis=-1)
    cast, most = counts.sum(axis=-1), counts.max(axis=-1)
    suffices = (counts == most[..., None]).sum(axis=-1) == 1
    if rules.majority == "all":
        suffices &= most == cast
    elif rules.majority == "half":
        suffices &= 2 * most > cast
    decided = np.where(suffices, counts.argmax(axis=-1), tie)
    return np.where(cast >= rules.quorum, decided, -1)


def leave_each_out(
    votes: Codes, worth: Sequence[float], judges: Sequence[str], rules: PanelRules, tie: int = -1
) -> PanelRanking:
    """Return the ranking by ``votes``, and those without each of the ``judges``.

    ``votes`` has shape (models, items, judges), with codes of labels from 0 and -1 for none. Label
    k is worth ``worth[k]``. Without a judge, the quorum is one less if all were required, as in
    ``votes.without``. Raises BadUsage for fewer than two judges, and for an invalid quorum.
    """
    if len(judges) < 2:
        raise BadUsage(f"leaving one judge out needs two or more, got {len(judges)}")
    values, n_labels = np.asarray(worth, dtype=np.float64), len(worth)
    decided = decide_cells(votes, n_labels, rules, tie)
    standings = _standings(decided, values)
    fewer = PanelRules(
        quorum=min(rules.quorum, len(judges) - 1), majority=rules.majority, tie=rules.tie
    )
    found = []
    for place, judge in enumerate(judges):
        others = decide_cells(np.delete(votes, place, axis=-1), n_labels, fewer, tie)
        then = _standings(others, values)
        found.append(
            LeftOut(
                judge=judge,
                standings=then,
                otherwise=int((others != decided).sum()),
                moved=_moved(standings, then),
                reversed_pairs=_reversed(standings, then),
            )
        )
    return PanelRanking(standings, tuple(found))


def _standings(decided: Codes, worth: Floats) -> tuple[PanelStanding, ...]:
    """Return standings in model order.

    Scores within 1e-12 are equal, so the order of summation has no effect.
    """
    is_decided = decided >= 0
    n = is_decided.sum(axis=1)
    total = np.where(is_decided, worth[decided], 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        scores = np.where(n > 0, total / n, np.nan)
    ranked = scores[~np.isnan(scores)]
    return tuple(
        PanelStanding(
            float(score),
            int(count),
            int((ranked > score + _SAME).sum()) + 1,
            int((ranked > score - _SAME).sum()),
        )
        if count
        else PanelStanding(float("nan"), 0, 0, 0)
        for score, count in zip(scores, n, strict=True)
    )


def _moved(first: Sequence[PanelStanding], then: Sequence[PanelStanding]) -> tuple[int, ...]:
    return tuple(
        place
        for place, (one, other) in enumerate(zip(first, then, strict=True))
        if one.n and other.n and (one.worst < other.best or other.worst < one.best)
    )


def _reversed(
    first: Sequence[PanelStanding], then: Sequence[PanelStanding]
) -> tuple[tuple[int, int], ...]:
    """Return pairs in reverse order; a model without a score is in none."""
    return tuple(
        (one, other)
        for one in range(len(first))
        for other in range(one + 1, len(first))
        if _side(first[one], first[other]) * _side(then[one], then[other]) < 0
    )


def _side(one: PanelStanding, other: PanelStanding) -> int:
    """Return 1 if ``one`` ranks above ``other``, -1 below, 0 for a tie or a missing score."""
    if not one.n or not other.n:
        return 0
    return (one.worst < other.best) - (other.worst < one.best)


class JudgeModel(Protocol):
    """Describe a model as a judge; caching, limits, budget and recording are up to the caller.

    ``takes_schema``: its endpoint enforces a JSON schema. Raises CallFailed without a response.
    """

    name: str
    takes_schema: bool

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Response:
        """Return the response to one request; ``reask`` and ``vote`` distinguish it in the
        cache."""
        ...


class JudgingRules(Struct, frozen=True, kw_only=True):
    """Set how each judge is called.

    Each gives ``votes``, each in several ``orders`` of labels and compared texts. ``reasks`` is the
    number of retries per order after an unparsed label.
    """

    votes: int = 1
    orders: int = 1
    reasks: int = 2


class Panel:
    """Hold one judge or several, and their decision rules.

    Raises BadUsage for no judge, a duplicate, or an impossible quorum.
    """

    def __init__(
        self,
        judges: Sequence[JudgeModel],
        *,
        asking: JudgingRules | None = None,
        rules: PanelRules | None = None,
    ) -> None:
        self._judges = tuple(judges)
        self._asking = asking or JudgingRules()
        self.rules = rules or PanelRules()
        _check(self._judges, self._asking, self.rules)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the judges' names, in order."""
        return tuple(judge.name for judge in self._judges)

    async def decide(self, question: JudgeQuestion) -> PanelVerdict:
        """Call all judges at once, and return their verdict.

        Raises BadUsage for a question without two different labels, or a tie rule that is not one
        of them. Raises NotAsked after all have ended, if one was not called: that is not the
        judge's failure.
        """
        _check_labels(question, self.rules)
        asked = (_judge_vote(judge, question, self._asking) for judge in self._judges)
        return decide(await _all(asked), self.rules)


async def _all(asked: Iterable[Awaitable[JudgeVote]]) -> list[JudgeVote]:
    """Return the votes of all judges; the first exception is raised after all have ended."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    judge_votes = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        judge_votes.append(each)
    return judge_votes


async def _judge_vote(judge: JudgeModel, question: JudgeQuestion, rules: JudgingRules) -> JudgeVote:
    """Return one judge's vote; a failure in any of its calls means no vote."""
    votes = await asyncio.gather(
        *(_vote(judge, question, vote, rules) for vote in range(rules.votes))
    )
    heard = tuple(each for responses, _trouble in votes for each in responses)
    trouble = next((trouble for _responses, trouble in votes if trouble), "")
    if trouble:
        return JudgeVote(judge=judge.name, state="failed", trouble=trouble, heard=heard)
    return _counted(JudgeVote(judge=judge.name, state="unparsed", heard=heard), rules.votes)


async def _vote(
    judge: JudgeModel, question: JudgeQuestion, vote: int, rules: JudgingRules
) -> tuple[list[Heard], str]:
    """Return the labels of one vote, and the kind of failure, if any."""
    heard: list[Heard] = []
    try:
        for order, arranged in enumerate(arrangements(question, rules.orders)):
            heard += await _hear(judge, arranged, vote, order, rules.reasks)
    except NotAsked:
        raise
    except CallFailed as failure:
        return heard, failure.kind
    return heard, ""


async def _hear(
    judge: JudgeModel, question: JudgeQuestion, vote: int, order: int, reasks: int
) -> list[Heard]:
    form: ResponseForm = "json" if judge.takes_schema else "line"
    schema = label_schema(question) if judge.takes_schema else None
    heard: list[Heard] = []
    for reask in range(reasks + 1):
        posed = pose(question, form, is_again=reask > 0)
        response = await judge(posed, schema=schema, reask=reask, vote=vote)
        read = read_label(response, question.names, form, question.citing)
        listed_at = question.names.index(read.label) if read.label else -1
        heard.append(
            Heard(
                order=order,
                reask=reask,
                label=read.label,
                reason=read.reason,
                trouble=read.trouble,
                listed_at=listed_at,
                vote=vote,
                cited=read.cited,
            )
        )
        if read.label:
            break
    return heard


def _counted(judge_vote: JudgeVote, n_votes: int) -> JudgeVote:
    """Return the vote of a judge from its labels.

    Each vote is the majority over label orders with a label. The result is the majority of all
    votes, all of which must exist.
    """
    votes = []
    for vote in range(n_votes):
        heard = [each for each in judge_vote.heard if each.vote == vote]
        labels = [each.label for each in heard if each.label]
        if not labels:
            return structs.replace(judge_vote, trouble=heard[-1].trouble if heard else "")
        votes.append(_of_most(labels))
    label = _of_most(votes) if all(votes) else ""
    if not label:
        return structs.replace(judge_vote, state="split")
    first = next(heard for heard in judge_vote.heard if heard.label == label)
    return structs.replace(
        judge_vote, state="voted", label=label, reason=first.reason, cited=first.cited
    )


def _of_most(labels: Sequence[str]) -> str:
    """Return the majority label, or none."""
    label, n = Counter(labels).most_common(1)[0]
    return label if 2 * n > len(labels) else ""


def _check(judges: Sequence[JudgeModel], asking: JudgingRules, rules: PanelRules) -> None:
    names = [judge.name for judge in judges]
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if not names:
        raise BadUsage("a panel needs a judge", hint="add one: --judge provider/model")
    if twice:
        raise BadUsage(f"duplicate judge {', '.join(twice)}; each judge has one vote")
    if rules.quorum > len(names):
        raise BadUsage(f"a quorum of {rules.quorum} is not possible with {len(names)} judges")
    if asking.votes < 1 or asking.orders < 1 or asking.reasks < 0:
        raise BadUsage("votes and orders must be 1 or more, reasks 0 or more")


def _check_labels(question: JudgeQuestion, rules: PanelRules) -> None:
    folded = {name.casefold() for name in question.names}
    if len(folded) < 2 or len(folded) < len(question.names) or not all(question.names):
        raise BadUsage(f"labels must be two or more different words, got {question.names}")
    if rules.tie and rules.tie not in question.names:
        raise BadUsage(f"the tie rule {rules.tie!r} is not one of {question.names}")


# The judges of a build: a model per slot of a role, and one verdict per row.

_ROLE = "judge"


UNJUDGED, TIED = "not judged", "judges tied"


_REASKS = 2


class JudgeSlots(Struct, frozen=True, kw_only=True):
    """Hold the judges of a build in a ``role``: a model per slot, and the decision rules.

    A single judge is its own quorum and has no ties.
    """

    slots: dict[str, str]
    role: str = _ROLE
    votes: int = 1
    orders: int = 1
    quorum: int = 1
    majority: Majority = "half"
    tie: str = "drop"

    @property
    def is_panel(self) -> bool:
        """Return True if more than one judge is configured."""
        return len(self.slots) > 1

    @property
    def asks(self) -> tuple[str, ...]:
        """Return the slots that their steps call; the role if no model is set."""
        return tuple(self.slots) or (self.role,)

    @property
    def silent(self) -> tuple[str, ...]:
        """Return the reasons for dropping undecided rows."""
        return (UNJUDGED, TIED) if self.is_panel and self.tie == "drop" else (UNJUDGED,)

    def config(self) -> dict[str, Any]:
        """Return what their steps depend on, except question, votes and models.

        Defaults are omitted, so a single judge's steps keep their ids from before panels existed.
        """
        found: dict[str, Any] = {"reasks": _REASKS}
        if self.orders > 1:
            found["orders"] = self.orders
        if self.is_panel:
            found |= {"quorum": self.quorum, "majority": self.majority, "tie": self.tie}
        return found

    async def ask(
        self,
        context: StepContext,
        name: str,
        question: JudgeQuestion,
        *,
        votes: int = 1,
        kept_by_tie: str = "",
    ) -> PanelVerdict:
        """Return their verdict on a ``question`` named ``name``, and store it with the row.

        ``kept_by_tie`` is the label of a tie if ties keep rows. A failed call does not count as a
        vote. If the others can decide without it, their decision holds; otherwise raises
        CallFailed, and the row waits.
        """
        tie = kept_by_tie if self.is_panel and self.tie == "keep" else ""
        panel = Panel(
            [RowJudge(context.calls[slot], name, name=model) for slot, model in self.slots.items()],
            asking=JudgingRules(votes=votes, orders=self.orders, reasks=_REASKS),
            rules=PanelRules(quorum=self.quorum, majority=self.majority, tie=tie),
        )
        verdict = await panel.decide(question)
        failed = next((each for each in verdict.judge_votes if each.state == "failed"), None)
        if failed is not None and (verdict.state != "decided" or verdict.by_rule):
            raise CallFailed(failed.trouble, f"judge {failed.judge} did not respond")
        context.verdicts.append(RowVerdict(question=name, verdict=verdict))
        return verdict


def panel_parameters(*, votes: str, orders: str, tie: str, usual_tie: str) -> tuple[Parameter, ...]:
    """Return the parameters of a build with an optional panel of judges, with help texts."""
    return (
        Parameter(name="votes", kind="int", default=1, help=votes),
        Parameter(name="orders", kind="int", default=1, help=orders),
        Parameter(
            name="quorum",
            kind="int",
            default=0,
            help="Judges of a panel that must have voted; 0: all.",
        ),
        Parameter(
            name="majority",
            kind="choice",
            default="half",
            choices=("half", "most", "all"),
            help="Panel decision rule: more than half of the votes cast, the most votes, or "
            "unanimity.",
        ),
        Parameter(name="tie", kind="choice", default=usual_tie, choices=("drop", "keep"), help=tie),
    )


def judge_slots(
    params: Mapping[str, Any], models: Mapping[str, str], role: str = _ROLE
) -> JudgeSlots:
    """Return the judges of a role among a build's models, by ``panel_parameters``.

    Raises BadUsage for invalid parameters.
    """
    slots = slots_of(role, models)
    for name in ("votes", "orders"):
        if params[name] < 1:
            raise BadUsage(f"--{name} must be 1 or more, got {params[name]}")
    n = max(1, len(slots))
    if not 0 <= params["quorum"] <= n:
        judges = "1 judge" if n == 1 else f"{n} judges"
        raise BadUsage(f"a quorum of {params['quorum']} is not possible with {judges}")
    return JudgeSlots(
        slots=slots,
        role=role,
        quorum=params["quorum"] or n,
        **{name: params[name] for name in ("votes", "orders", "majority", "tie")},
    )


def why_undecided(verdict: PanelVerdict) -> str:
    """Return the reason for dropping an undecided row."""
    return TIED if verdict.state == "tied" else UNJUDGED


# Judge questions from the files ``questions.en.toml`` and ``questions.zh.toml`` of a package.


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    names: dict[str, str]


class WordedQuestions(Struct, frozen=True):
    """Load the questions in the files ``file.en.toml`` and ``file.zh.toml`` of ``package``.

    ``keeps`` is the label of each question that keeps a row, used for ties if ties keep rows.
    """

    package: str
    keeps: Mapping[str, str]
    file: str = "questions"

    def config(self, judges: JudgeSlots, name: str, votes: int = 1) -> dict[str, Any]:
        """Return what a step with this question depends on, except its row and the models."""
        texts = [bundled_text(self.package, f"{self.file}.{code}.toml") for code in LANGUAGES]
        words = digest("".join(texts).encode()).hex()
        return {"question": name, "votes": votes, "words": words, **judges.config()}

    def question(
        self,
        name: str,
        language: str,
        texts: Mapping[str, str],
        values: Mapping[str, str] | None = None,
    ) -> JudgeQuestion:
        """Return the question about ``texts`` by name, in Chinese for Chinese, otherwise in
        English.

        ``{name}`` in its task is replaced by a value. Raises KeyError for an unknown question.
        """
        asked = bundled_words(self.package, self.file, language, dict[str, _Question])[name]
        task = asked.task
        for key, value in (values or {}).items():
            task = task.replace(f"{{{key}}}", value)
        return JudgeQuestion(
            task=task,
            labels=tuple(Label(label, meaning) for label, meaning in asked.labels.items()),
            exhibits=tuple(Exhibit(asked.names[part], text) for part, text in texts.items()),
            language="zh" if is_chinese(language) else "en",
        )

    async def ask(
        self,
        judges: JudgeSlots,
        context: StepContext,
        name: str,
        question: JudgeQuestion,
        *,
        votes: int = 1,
    ) -> PanelVerdict:
        """Return the judges' verdict on a question of this name. See ``JudgeSlots.ask``."""
        return await judges.ask(
            context, name, question, votes=votes, kept_by_tie=self.keeps.get(name, "")
        )


def judged_step(
    judges: JudgeSlots,
    questions: WordedQuestions,
    of: str,
    asked: Callable[[Any], tuple[str, JudgeQuestion] | None],
    *,
    name: str,
    takes: type[Struct],
    drops: Mapping[str, str],
    found: Callable[[Any], str],
    votes: int = 1,
    version: int = 1,
    config: Mapping[str, Any] | None = None,
) -> Step:
    """Return a step that keeps rows with the keeping label.

    The step depends on the question ``of``. ``asked`` returns the question about a row, with its
    name; None passes the row unchanged. ``drops`` are the reasons by other label, ``found`` quotes
    a dropped row.
    """

    async def check(row: Any, context: StepContext) -> Kept:
        put = asked(row)
        if put is None:
            return row  # type: ignore[no-any-return]
        called, question = put
        verdict = await questions.ask(judges, context, called, question, votes=votes)
        if verdict.label == questions.keeps[called]:
            return row  # type: ignore[no-any-return]
        return Drop(drops.get(verdict.label) or why_undecided(verdict), found(row))

    return Step(
        name=name,
        version=version,
        takes=takes,
        work=check,
        reasons=(*dict.fromkeys(drops.values()), *judges.silent),
        config={**questions.config(judges, of, votes), **(config or {})},
        asks=judges.asks,
    )
