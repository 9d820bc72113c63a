"""Define review requests: assignment of statements to reviewers, and the decision policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct, UnsetType, structs

from proofstone.errors import BadUsage
from proofstone.records.options import Opt
from proofstone.records.reviews import ReviewPolicy


class SheetsAsked(Struct, frozen=True, kw_only=True):
    """Request review spreadsheets. Raises BadUsage if ``per_person`` and ``people`` differ.

    ``overlap`` is the share of statements (default: a fifth) with several reviews, by
    ``reviewers_each`` people each (default: all). Questions are always answered by two people each.
    ``undecided``: only what ``policy`` (or the current one) leaves open, for people who have not
    reviewed it.
    """

    per_person: Annotated[int | None, Opt(
        "Number of reviewers, one file each ('reviewer 1', ...); alternatively name them with "
        "--people.",
        metavar="N", least=1,
    )] = None  # fmt: skip
    people: Annotated[tuple[str, ...], Opt(
        "Names of reviewers: Anna,Ben,Chen.", metavar="NAMES", once="each reader has one file",
    )] = ()  # fmt: skip
    overlap: Annotated[float | None, Opt(
        "Share of statements with several reviews, to measure "
        "agreement; 100% as in the paper.  [default: 20%]", flags=("--shared",), metavar="SHARE",
        is_share=True,
    )] = None  # fmt: skip
    reviewers_each: Annotated[int | None, Opt(
        "Reviewers per shared statement (2: in pairs; default: all).",
        metavar="N", least=1,
    )] = None  # fmt: skip
    most: Annotated[int | None, Opt(
        "Maximum number of statements per reviewer.", metavar="N", least=1,
    )] = None  # fmt: skip
    fact_check: Annotated[int | None, Opt(
        "Check the truth of N statements instead of the format, sampled "
        "in proportion to discipline and source.", metavar="N", least=1,
    )] = None  # fmt: skip
    half_width: Annotated[float | None, Opt(
        "Like --fact-check, with the size chosen so that the 95% CI of a 5% error rate has this "
        "half width, such as 0.02.",
        metavar="SHARE", least=0.0, most=0.5, is_open=True,
    )] = None  # fmt: skip
    only: Annotated[Literal["true", "false", ""], Opt(
        "Only statements with this answer key.", flags=("--answer-key",),
    )] = ""  # fmt: skip
    undecided: Annotated[bool, Opt(
        "Only undecided rows, each for a reviewer who has not seen it.",
    )] = False  # fmt: skip
    policy: ReviewPolicy | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.people and self.per_person not in (None, len(self.people)):
            raise BadUsage(
                f"--per-person {self.per_person} conflicts with {len(self.people)} names in "
                "--people"
            )

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Return the reviewers: those named, or numbered ones."""
        return self.people or tuple(f"reader {n}" for n in range(1, (self.per_person or 0) + 1))


class PolicyAsked(Struct, frozen=True, kw_only=True):
    """Hold policy options; None if not given."""

    quorum: Annotated[int | None, Opt(
        "Minimum number of reviewers for a decision (the paper's review "
        "has 3).  [default: last decision's, or 1]", metavar="N", least=1,
    )] = None  # fmt: skip
    drop: Annotated[Literal["any", "majority", "all"] | None, Opt(
        "How many reviewers must vote to drop a statement.  [default: last decision's, or "
        "majority]",
    )] = None  # fmt: skip
    tie: Annotated[Literal["open", "keep", "drop"] | None, Opt(
        "Decision on a tie; open asks one more reviewer (default: as decided last, otherwise "
        "open).",
    )] = None  # fmt: skip
    fix: Annotated[Literal["any", "majority", "all"] | None, Opt(
        "How many of those who keep a statement must request a change.  [default: last "
        "decision's, or any]",
    )] = None  # fmt: skip
    sources: Annotated[Path | None, Opt(
        "For questions answered by reviewers: changes to the list of authoritative sites. One "
        "per line: SITE adds, -SITE removes. Default: as decided last, otherwise the bundled "
        "list.",
        metavar="FILE",
    )] = None  # fmt: skip

    def over(self, usual: ReviewPolicy) -> ReviewPolicy:
        """Return the policy with defaults from ``usual``, which includes changes by ``sources``.

        Raises BadUsage for options that do not apply to questions.
        """
        named = {name: value for name, value in structs.asdict(self).items() if value is not None}
        named.pop("sources", None)
        if named and not isinstance(usual.answers, UnsetType):
            raise BadUsage(
                f"{', '.join(f'--{name}' for name in named)}: questions are decided by two "
                "answers each, and a third if they differ",
                hint="--sources FILE lists the authoritative sites",
            )
        return structs.replace(usual, **named)
