"""Anybody's results as a score table: which column means what, and what every cell is worth."""

from proofstone.engines.tables.accuracy_tables import (
    joined_accuracies,
    read_accuracies,
    with_counts,
)
from proofstone.engines.tables.annotator_labels import annotator_labels
from proofstone.engines.tables.assembly import assemble
from proofstone.engines.tables.choosing import chosen
from proofstone.engines.tables.guessing import guess_layout
from proofstone.engines.tables.hands_named import HandNamed
from proofstone.engines.tables.inspect_logs import inspect_columns
from proofstone.engines.tables.judged_labels import judged_labels
from proofstone.engines.tables.layout import Kind, Layout
from proofstone.engines.tables.lm_eval import (
    LmEvalResults,
    is_lm_eval,
    lm_eval_accuracies,
    lm_eval_columns,
    lm_eval_results,
    model_of,
    task_of,
    time_of,
)
from proofstone.engines.tables.model_facts import model_facts
from proofstone.engines.tables.scores_in import ScoresIn, no_scores, scores_in

__all__ = [
    "HandNamed",
    "Kind",
    "Layout",
    "LmEvalResults",
    "ScoresIn",
    "annotator_labels",
    "assemble",
    "chosen",
    "guess_layout",
    "inspect_columns",
    "is_lm_eval",
    "joined_accuracies",
    "judged_labels",
    "lm_eval_accuracies",
    "lm_eval_columns",
    "lm_eval_results",
    "model_facts",
    "model_of",
    "no_scores",
    "read_accuracies",
    "scores_in",
    "task_of",
    "time_of",
    "with_counts",
]
