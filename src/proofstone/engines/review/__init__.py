"""Reviews by people and judges: who reads what, what they are asked, and what follows from it.

Pure: rules come in as data, records go in and out, and nothing is stored here.
"""

from proofstone.engines.review.agreed import Ratings, rate, shared_targets
from proofstone.engines.review.answers import Answer, ReadSheets, SheetOf, read_answers
from proofstone.engines.review.assigning import Assignment, assign
from proofstone.engines.review.deciding import decide, latest
from proofstone.engines.review.rows import (
    StatedReview,
    read_reviews,
    write_decision,
    write_review,
)
from proofstone.engines.review.sampling import draw_by_stratum, size_for
from proofstone.engines.review.sheets import SheetRow, make_workbook, row_key
from proofstone.engines.review.tasks import TASKS, Task
from proofstone.engines.review.truth import Found, found_otherwise
from proofstone.engines.review.unseen import unseen_sign

__all__ = [
    "TASKS",
    "Answer",
    "Assignment",
    "Found",
    "Ratings",
    "ReadSheets",
    "SheetOf",
    "SheetRow",
    "StatedReview",
    "Task",
    "assign",
    "decide",
    "draw_by_stratum",
    "found_otherwise",
    "latest",
    "make_workbook",
    "rate",
    "read_answers",
    "read_reviews",
    "row_key",
    "shared_targets",
    "size_for",
    "unseen_sign",
    "write_decision",
    "write_review",
]
