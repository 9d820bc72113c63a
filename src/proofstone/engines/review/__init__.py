"""Reviews by people and judges: who reads what, what they are asked, and what follows from it.

Pure: rules come in as data, records go in and out, and nothing is stored here.
"""

from proofstone.engines.review.addresses import (
    NoAddress,
    WebAddress,
    is_of_site,
    pages_of,
    read_address,
    read_site,
    split_addresses,
)
from proofstone.engines.review.agreed import Ratings, rate, shared_targets
from proofstone.engines.review.answers import (
    Answer,
    ReadSheets,
    SheetOf,
    read_answers,
    sheets_named,
)
from proofstone.engines.review.assigning import Assignment, assign
from proofstone.engines.review.deciding import decide, latest
from proofstone.engines.review.rows import (
    StatedReview,
    read_reviews,
    write_decision,
    write_review,
)
from proofstone.engines.review.sampling import draw_by_stratum, size_for
from proofstone.engines.review.sheets import SheetRow, is_private, make_workbook, row_key
from proofstone.engines.review.tasks import QUESTIONS, TASKS, Task
from proofstone.engines.review.truth import Found, found_otherwise
from proofstone.engines.review.unseen import unseen_sign

__all__ = [
    "QUESTIONS",
    "TASKS",
    "Answer",
    "Assignment",
    "Found",
    "NoAddress",
    "Ratings",
    "ReadSheets",
    "SheetOf",
    "SheetRow",
    "StatedReview",
    "Task",
    "WebAddress",
    "assign",
    "decide",
    "draw_by_stratum",
    "found_otherwise",
    "is_of_site",
    "is_private",
    "latest",
    "make_workbook",
    "pages_of",
    "rate",
    "read_address",
    "read_answers",
    "read_reviews",
    "read_site",
    "row_key",
    "shared_targets",
    "sheets_named",
    "size_for",
    "split_addresses",
    "unseen_sign",
    "write_decision",
    "write_review",
]
