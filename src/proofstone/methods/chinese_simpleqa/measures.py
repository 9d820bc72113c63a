"""What each outcome counts as, in one table: CO, NA, IN, CGA and F (section 4.3 of the paper).

``answered`` is a reply that was graded CORRECT (1) or INCORRECT (0), ``refused`` and ``truncated``
one that gave no answer: NOT_ATTEMPTED. ``unparsed`` is a reply on which its judges came to no
label, or one to a question over options that chooses none of them; it counts nowhere, and its
rate is shown. With A correct, B incorrect and C not attempted,
over n = A + B + C: CO = A / n, NA = C / n, IN = B / n, CGA = A / (A + B), and F, the harmonic mean
of CO and CGA, is 2A / (2A + 2B + C).
"""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.records import STATED_CONFIDENCE, Measure, Outcome, Worth
from proofstone.wording import noted

__all__ = ["BY_RULE", "GRADED", "HEADLINE", "MEASURES", "SURE"]

HEADLINE = "correct"
GRADED = "correct"
BY_RULE = "by_rule"
SURE = STATED_CONFIDENCE

_ALL = noted("all replies with a grade")
_NOWHERE: Mapping[Outcome, Worth] = {
    "answered": None,
    "refused": None,
    "unparsed": None,
    "truncated": None,
}
_RIGHT: Mapping[Outcome, Worth] = {
    **_NOWHERE,
    "answered": "value",
    "refused": 0.0,
    "truncated": 0.0,
}
_STATED: Mapping[Outcome, Worth] = {**_NOWHERE, "answered": "value"}

MEASURES = (
    Measure(name=HEADLINE, of=GRADED, counts=_RIGHT, denominator=_ALL, judged=True),
    Measure(
        name="not_attempted",
        of=GRADED,
        counts={**_NOWHERE, "answered": 0.0, "refused": 1.0, "truncated": 1.0},
        denominator=_ALL,
        label="NA",
        judged=True,
        by_group=True,
    ),
    Measure(
        name="incorrect",
        of=GRADED,
        counts={**_NOWHERE, "answered": "rest", "refused": 0.0, "truncated": 0.0},
        denominator=_ALL,
        label="IN",
        judged=True,
        by_group=True,
    ),
    Measure(
        name="correct_given_attempted",
        of=GRADED,
        counts=_STATED,
        weights={"answered": 1.0},
        denominator=noted("all replies graded correct or incorrect"),
        label="CGA",
        judged=True,
        by_group=True,
    ),
    Measure(
        name="f_score",
        of=GRADED,
        counts=_RIGHT,
        weights={"answered": 2.0},
        denominator=noted("all replies with a grade, those that give an answer counting twice"),
        label="F",
        judged=True,
        by_group=True,
    ),
    Measure(
        name=BY_RULE,
        of=BY_RULE,
        counts=_STATED,
        denominator=noted("all replies that were looked at"),
        label=noted("by rule"),
    ),
    Measure(
        name=SURE,
        of=SURE,
        counts=_STATED,
        denominator=noted("all replies that state how sure they are"),
        label=noted("sure"),
    ),
)
